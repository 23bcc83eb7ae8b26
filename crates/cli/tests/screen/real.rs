//! Tests of the screen with real CLIs: their permissions and questions, answered from the screen.

use serde_json::json;

use super::stage::Screen;
use crate::panes_stage::IDLE;
use crate::panes_stage::Stage;
use consort_testkit::Step;
use consort_testkit::until;

const SIZE: (&str, &str) = ("120", "40");

fn a_real_permission_is_allowed(cli: &'static str) {
    let stage = Stage::open(cli, SIZE);
    stage.is("ready", IDLE);
    let screen = Screen::open(&stage.world.world, stage.world.environment(), "up --here --yes");
    screen.shows("? help");
    stage.say("please make it", [stage.permission_step()]);
    screen.shows("◆ permission");
    screen.shows("touch made.txt");
    screen.press(&[".", "a"]);
    // Waits, because the answer to a question that has just come would need Enter too.
    std::thread::sleep(std::time::Duration::from_secs(1));
    screen.press(&["1"]);
    let is_made = || (stage.world.project().join("made.txt").exists(), screen.text());
    until("the file", is_made, |(is_made, _)| *is_made);
    screen.hides("◆ permission");
    screen.quit();
}

#[test]
fn a_permission_of_claude_is_allowed() {
    a_real_permission_is_allowed("claude");
}

#[test]
fn a_permission_of_codex_is_allowed() {
    a_real_permission_is_allowed("codex");
}

#[test]
fn a_permission_of_gemini_is_allowed() {
    a_real_permission_is_allowed("gemini");
}

#[test]
fn a_permission_of_opencode_is_allowed() {
    a_real_permission_is_allowed("opencode");
}

#[test]
fn a_permission_of_copilot_is_allowed() {
    a_real_permission_is_allowed("copilot");
}

/// A real agent writes and gets answers, and its reservations and changes are shown.
#[test]
fn a_real_agent_is_heard_and_told() {
    let stage = Stage::open_with("claude", SIZE, &["--permission-mode", "default", "--allowedTools", "Bash"]);
    stage.is("ready", IDLE);
    std::fs::write(stage.world.project().join("login.rs"), "fn login() {}\n").unwrap();
    let screen = Screen::open(&stage.world.world, stage.world.environment(), "up --here --yes");
    screen.shows("Falcon");
    let program = stage.world.world.program().display().to_string();
    let steps = ["send user 'May I merge?'", "reserve login.rs --reason cookies"]
        .map(|words| Step::bash(&format!("{program} {words}")));
    stage.say("please ask", steps.into_iter().chain([Step::say("Asked.")]));
    let has_heard = |text: &'static str| {
        until(
            text,
            || stage.model.turn_requests(),
            |turns| turns.iter().any(|turn| turn.to_string().contains(text)),
        );
    };
    screen.shows("May I merge?");
    stage.is("asked", IDLE);
    screen.press(&[".", "a"]);
    screen.type_text("yes, merge it");
    screen.press(&["Enter"]);
    has_heard("yes, merge it");
    stage.is("answered", IDLE);
    screen.press(&["b"]);
    screen.type_text("lunch is at noon");
    screen.press(&["Enter"]);
    has_heard("lunch is at noon");
    screen.press(&["4"]);
    screen.shows("cookies");
    screen.press(&["o"]);
    let word = screen.word();
    screen.type_text(&word);
    screen.press(&["Enter"]);
    screen.shows("open to everyone for now");
    screen.press(&["u"]);
    screen.hides("open to everyone for now");
    screen.press(&["1", "/"]);
    screen.type_text("falcon");
    screen.press(&["Enter", "Right", "Right", "Right"]);
    screen.shows("+fn login() {}");
    screen.quit();
}

/// Another agent contests what a real agent has reserved, and takes its work over.
#[test]
fn what_a_real_agent_holds_and_does_goes_to_another() {
    let stage = Stage::open_with("claude", SIZE, &["--permission-mode", "default", "--allowedTools", "Bash"]);
    stage.is("ready", IDLE);
    let world = &stage.world.world;
    assert_eq!(world.run("agent join --pid $OTHER --kind test --session s2 --name Raven").code, 0);
    let screen = Screen::open(world, stage.world.environment(), "up --here --yes");
    screen.shows("Raven");
    let reserve = format!("{} reserve login.rs --reason cookies", world.program().display());
    stage.say("please reserve", [Step::bash(&reserve), Step::say("Reserved.")]);
    stage.is("reserved", IDLE);
    let contested = world.run_as(Some("s2"), &["holds", "contest", "login.rs", "--reason", "release"]);
    assert_eq!(contested.code, 0, "{contested}");
    screen.shows("wants login.rs");
    screen.press(&[".", "a"]);
    screen.shows("release it from Falcon: it is free to take (asks)");
    screen.press(&["2"]);
    let word = screen.word();
    screen.type_text(&word);
    screen.press(&["Enter"]);
    screen.shows("Released login.rs.");
    screen.press(&["1", "/"]);
    screen.type_text("falcon");
    screen.press(&["Enter", "H"]);
    screen.shows("Hand the work of Falcon over to");
    screen.press(&["1"]);
    screen.shows("Hand the work of Falcon over to Raven?");
    screen.press(&["y"]);
    screen.shows("Handed over to Raven as message #");
    let inbox = || world.run_as(Some("s2"), &["inbox", "--peek"]).stdout;
    until("the handoff", inbox, |inbox| inbox.contains("handoff"));
    screen.quit();
}

#[test]
fn a_real_run_is_started_and_its_result_read() {
    let stage = Stage::open("claude", SIZE);
    stage.is("ready", IDLE);
    let screen = Screen::open(&stage.world.world, stage.world.environment(), "up --here --yes");
    screen.shows("Falcon");
    stage.model.then(Step::say("the sum is nine"));
    screen.press(&["n", "1"]);
    screen.type_text("add four and five");
    screen.press(&["Enter"]);
    screen.shows("✓ to review");
    screen.press(&[".", "a"]);
    screen.shows("the sum is nine");
    screen.press(&["Escape"]);
    screen.quit();
}

#[test]
fn a_real_question_is_answered_with_a_text() {
    let stage = Stage::open("claude", SIZE);
    stage.is("ready", IDLE);
    let screen = Screen::open(&stage.world.world, stage.world.environment(), "up --here --yes");
    screen.shows("Falcon");
    let input = json!({ "questions": [{ "question": "Which colour?", "header": "Colour", "multiSelect": false,
        "options": [{ "label": "Red", "description": "warm" }, { "label": "Blue", "description": "cold" }] }] });
    stage.say("please ask me", [Step::Use { tool: "AskUserQuestion".into(), input }]);
    screen.shows("Which colour?");
    screen.press(&[".", "a"]);
    screen.type_text("rather green");
    screen.press(&["Enter"]);
    let turns = || stage.model.turn_requests().iter().any(|turn| turn.to_string().contains("rather green"));
    until("the answer", turns, |is_read| *is_read);
    screen.quit();
}

#[test]
fn a_real_agent_is_interrupted_and_its_pane_shown() {
    let stage = Stage::open("claude", SIZE);
    stage.is("ready", IDLE);
    let screen = Screen::open(&stage.world.world, stage.world.environment(), "up --here --yes");
    screen.shows("Falcon");
    stage.say("please think", [Step::Stall]);
    screen.shows("● 1 working");
    screen.press(&["x"]);
    screen.shows("Interrupt Falcon?");
    screen.press(&["y"]);
    stage.is("interrupted", &["ready", "finished", "suggestion", "error"]);
    screen.shows("○ 1 idle");
    screen.press(&["f"]);
    screen.hides("? help");
    screen.shows("[consort] 0:Falcon");
    // The tmux server in between takes the first C-b.
    screen.press(&["C-b", "C-b", "d"]);
    screen.shows("? help");
    screen.quit();
}
