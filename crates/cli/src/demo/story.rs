//! The story of the demo, scene by scene. A scene that does not go as it should is an error: everything that
//! is shown has happened.

use std::time::Duration;
use std::time::Instant;

use consort_core::monitor::StallResponse;
use consort_core::presence::CallerFacts;
use consort_core::presence::Proof;
use serde::Serialize;
use serde_json::json;

use super::Played;
use super::Stage;
use super::actor::DemoAgent;
use super::stall;

/// The events of the demo, counted.
#[derive(Default, Serialize)]
pub(crate) struct Summary {
    agents: usize,
    messages: usize,
    writes_refused: usize,
    writes_shielded: usize,
    collisions_foreseen: usize,
    questions_answered: usize,
    stalls_triaged: usize,
    notes_reused: usize,
}

impl Summary {
    /// Formats the counts in one sentence.
    pub(crate) fn told(&self) -> String {
        format!(
            "{} agents, {} message heard, {} write refused, {} shielded, {} collision foreseen, {} question \
             answered, {} stall triaged, {} note reused.",
            self.agents,
            self.messages,
            self.writes_refused,
            self.writes_shielded,
            self.collisions_foreseen,
            self.questions_answered,
            self.stalls_triaged,
            self.notes_reused
        )
    }
}

/// Longest time a scene waits for something that must come.
const PATIENCE: Duration = Duration::from_secs(20);

/// Plays all scenes.
pub(crate) fn tell(stage: &Stage<'_>) -> Played<Summary> {
    let mut summary = Summary::default();
    stage.say("Agents without a model, in a project and a store of their own. What they do is scripted;")?;
    stage.say("what Consort says to them, word by word, is not.")?;
    let (mut falcon, mut raven) = presence(stage, &mut summary)?;
    message(stage, &mut falcon, &mut raven, &mut summary)?;
    conflict(stage, &mut falcon, &mut raven, &mut summary)?;
    shield(stage, &mut raven, &mut summary)?;
    collision(stage, &mut falcon, &mut raven, &mut summary)?;
    question(stage, &mut raven, &mut summary)?;
    stalled(stage, &mut summary)?;
    knowledge(stage, &mut falcon, &mut summary)?;
    Ok(summary)
}

fn presence(stage: &Stage<'_>, summary: &mut Summary) -> Played<(DemoAgent, DemoAgent)> {
    stage.scene(1, "They see each other")?;
    let (mut falcon, _) = stage.enter("Falcon", "claude")?;
    stage.say("   Falcon (Claude Code) starts, then Raven (Codex). Raven's model reads:")?;
    let (raven, told) = stage.enter("Raven", "codex")?;
    stage.quote(&told)?;
    expect(told.contains("- Falcon (claude)"), "Raven hears of Falcon", &told)?;
    let told = falcon.hook("UserPromptSubmit", json!({ "prompt": "shorten the lifetime" }))?;
    expect(told.contains("Raven"), "Falcon hears of Raven", &told)?;
    summary.agents = 2;
    Ok((falcon, raven))
}

fn message(
    stage: &Stage<'_>,
    falcon: &mut DemoAgent,
    raven: &mut DemoAgent,
    summary: &mut Summary,
) -> Played<()> {
    stage.scene(2, "They talk")?;
    stage.say("   Falcon runs: consort send Raven 'I am changing how sessions end.'")?;
    done(falcon, &["send", "Raven", "I am changing how sessions end."])?;
    stage.say("   With its next tool, Raven's model reads:")?;
    let told =
        raven.hook("PostToolUse", json!({ "tool_name": "Bash", "tool_input": { "command": "ls" } }))?;
    stage.quote(&told)?;
    expect(told.contains("I am changing how sessions end."), "Raven hears the message", &told)?;
    summary.messages = 1;
    Ok(())
}

fn conflict(
    stage: &Stage<'_>,
    falcon: &mut DemoAgent,
    raven: &mut DemoAgent,
    summary: &mut Summary,
) -> Played<()> {
    stage.scene(3, "They stay out of each other's way")?;
    stage.say("   Falcon runs: consort reserve src/session.rs --reason 'shorter lifetime'")?;
    stage.say("   Raven is about to edit that file:")?;
    done(falcon, &["reserve", "src/session.rs", "--reason", "shorter lifetime"])?;
    let file = stage.file("src/session.rs");
    let edit = json!({ "tool_name": "Bash",
        "tool_input": { "command": format!("echo 'pub const LIFETIME: u64 = 60;' > {}", quoted(&file)) } });
    let told = raven.hook("PreToolUse", edit)?;
    stage.quote(&told)?;
    expect(told.contains("Falcon"), "the write is refused", &told)?;
    summary.writes_refused = 1;
    Ok(())
}

fn shield(stage: &Stage<'_>, raven: &mut DemoAgent, summary: &mut Summary) -> Played<()> {
    stage.scene(4, "Also where a command's text does not tell what it writes")?;
    stage.say("   Raven runs a script over src/*.rs, behind the shield:")?;
    let ran = raven.consort(&["shield", "--", "sh", "tidy.sh"])?;
    stage.quote(&format!("{}{}", ran.out, ran.error))?;
    let (held, free) = (read(stage, "src/session.rs")?, read(stage, "src/cart.rs")?);
    if free.contains("// tidy") && !held.contains("// tidy") {
        stage.say("   src/cart.rs was changed; src/session.rs, which Falcon has reserved, was not.")?;
        summary.writes_shielded = 1;
    } else {
        // Some systems have no namespaces for ordinary users.
        expect(!held.contains("// tidy"), "the reserved file is as it was", &ran.error)?;
        stage.say("   This system has no namespaces for it: the command was not run.")?;
    }
    Ok(())
}

fn collision(
    stage: &Stage<'_>,
    falcon: &mut DemoAgent,
    raven: &mut DemoAgent,
    summary: &mut Summary,
) -> Played<()> {
    stage.scene(5, "A collision is foreseen")?;
    stage.say(
        "   You ask both of them, in different words, for things that will meet. Raven's model reads:",
    )?;
    let prompts = [
        "rework the session cookie: login, banner, redirect",
        "the session cookie expires early on tablets, phones",
        "give the session cookie a shorter lifetime, harder name",
        "refresh the session cookie silently, hourly, quietly",
        "rotate the session cookie weekly, nightly, yearly",
        "sign the session cookie with ed25519, blake3, salt",
    ];
    let mut heard = String::new();
    for (turn, prompt) in prompts.iter().enumerate() {
        let agent = if turn % 2 == 0 { &mut *falcon } else { &mut *raven };
        let told = agent.hook("UserPromptSubmit", json!({ "prompt": prompt }))?;
        if told.contains("coordinate before you go on") {
            heard = told;
        }
    }
    stage.quote(&heard)?;
    expect(!heard.is_empty(), "the collision is foreseen", "nothing was said")?;
    summary.collisions_foreseen = 1;
    Ok(())
}

fn question(stage: &Stage<'_>, raven: &mut DemoAgent, summary: &mut Summary) -> Played<()> {
    stage.scene(6, "You answer from one place")?;
    let (mut heron, _) = stage.enter("Heron", "claude")?;
    summary.agents += 1;
    stage.say("   Heron (Claude Code) wants to run a command, and its own dialog is three windows away.")?;
    heron.begin_hook(
        "PermissionRequest",
        json!({ "tool_name": "Bash", "tool_input": { "command": "cargo test" }, "permission_suggestions": [] }),
    )?;
    let mut app = stage.app();
    let since = Instant::now();
    let asked = loop {
        if let Some(record) = app.open_asks()?.into_iter().next() {
            break record;
        }
        expect(since.elapsed() < PATIENCE, "Heron asks", "nothing was asked")?;
        std::thread::sleep(Duration::from_millis(10));
    };
    let shown = show_waiting(stage, raven);
    // The user who started the demo is its person, and the store is the demo's own. The question is answered
    // even if that person has interrupted the demo, or Heron would wait.
    let you = CallerFacts { proof: Proof::Typed, ..CallerFacts::default() };
    app.answer_ask(&you, asked.id, asked.read_answer(&["allow".to_owned()])?)?;
    let answer = heron.end()?;
    shown?;
    expect(answer.out.contains("\"allow\""), "Heron is allowed to", &answer.out)?;
    summary.questions_answered = 1;
    Ok(())
}

fn show_waiting(stage: &Stage<'_>, raven: &mut DemoAgent) -> Played<()> {
    stage.say("   consort waiting says:")?;
    stage.quote(&raven.consort(&["waiting"])?.out)?;
    stage.say(
        "   You run: consort answer 1 allow. Or you press a and 1 in the screen, which `consort` opens.",
    )?;
    stage.say("   Heron's dialog is gone, and it goes on.")
}

fn stalled(stage: &Stage<'_>, summary: &mut Summary) -> Played<()> {
    stage.scene(7, "One that stands still is noticed")?;
    stage.say("   Heron's model hangs. Its spinner turns, but nothing else on its screen changes:")?;
    let claude = consort_agents::find("claude").ok_or("Claude Code is not known")?;
    let signature = consort_agents::screen::signature(claude.screen())?;
    let (steps, went_on) = stall::watch(&signature);
    let after = |wanted: StallResponse| {
        let at = steps.iter().filter(|step| step.what == wanted).map(|step| step.after_s);
        at.map(|at| format!("{}:{:02}", at / 60, at % 60)).collect::<Vec<_>>().join(", ")
    };
    let looks = after(StallResponse::Act);
    stage.say(&format!("   after {looks}  looks at its processes, and nudges it if you allow that"))?;
    let escalates = after(StallResponse::Escalate);
    stage.say(&format!("   after {escalates}  it is yours to decide: nudge, wait, close or take over"))?;
    expect(
        matches!(steps.last(), Some(step) if step.what == StallResponse::Escalate),
        "it is escalated",
        "",
    )?;
    expect(went_on, "a late answer is accepted", "it still counts as stalled")?;
    stage.say("   Nothing is killed on a guess; when it answers after all, that counts.")?;
    summary.stalls_triaged = 1;
    Ok(())
}

fn knowledge(stage: &Stage<'_>, falcon: &mut DemoAgent, summary: &mut Summary) -> Played<()> {
    stage.scene(8, "What one learns, the next one knows")?;
    stage.say("   Falcon runs: consort know add decision 'session lifetime' 'One hour: tablets sleep.'")?;
    done(falcon, &["know", "add", "decision", "session lifetime", "One hour: tablets sleep."])?;
    stage.say("   Owl (Gemini CLI) starts later, and asks. It reads:")?;
    let (mut owl, _) = stage.enter("Owl", "gemini")?;
    summary.agents += 1;
    let found = done(&mut owl, &["know", "search", "session lifetime"])?;
    stage.quote(&found)?;
    expect(found.contains("tablets sleep"), "Owl finds it", &found)?;
    summary.notes_reused = 1;
    Ok(())
}

/// Runs a command that has to succeed, and returns its output.
fn done(agent: &mut DemoAgent, words: &[&str]) -> Played<String> {
    let ran = agent.consort(words)?;
    expect(ran.code == Some(0), &format!("{} may {}", agent.name, words.join(" ")), &ran.error)?;
    Ok(ran.out)
}

fn read(stage: &Stage<'_>, name: &str) -> Played<String> {
    Ok(std::fs::read_to_string(stage.file(name))?)
}

fn expect(is_so: bool, what: &str, instead: &str) -> Played<()> {
    if is_so { Ok(()) } else { Err(format!("expected that {what}; {}", instead.trim()).into()) }
}

/// Quotes a path for a shell.
fn quoted(path: &std::path::Path) -> String {
    consort_core::text::shell_quoted(&path.to_string_lossy())
}
