//! Tests that the page has every text that hooks put before a model, with its cost in tokens (o200k).
//! `UPDATE_EXPECT=1` writes the page.

use std::fs;
use std::path::Path;
use std::time::Duration;

use consort_testkit::Sealed;
use consort_testkit::tokens;
use expect_test::expect_file;
use serde_json::Value;
use serde_json::json;

/// Texts that no short story produces, as the room's own test has them.
const RARE: &str = include_str!("../../core/src/claims/rare_texts.txt");

struct Page {
    world: Sealed,
    text: String,
}

impl Page {
    fn new(world: Sealed) -> Self {
        Self { world, text: String::new() }
    }

    fn add(&mut self, what: &str, told: Option<String>) {
        let told = told.unwrap_or_else(|| panic!("{what}: nothing was told"));
        self.text.push_str(&counted(what, &told));
    }

    /// Returns what a session is told with its next prompt.
    fn prompted(&self, session: &str) -> Option<String> {
        self.world.hook_text(session, "UserPromptSubmit", &json!({ "prompt": "go on" }))
    }

    fn by(&self, session: &str, words: &[&str]) {
        let ran = self.world.run_as(Some(session), words);
        assert_eq!(ran.code, 0, "{ran}");
    }

    fn tool(&self, session: &str, event: &str, tool: &str, path: &str) -> Option<String> {
        let input = json!({ "file_path": self.world.project().join(path), "content": "x" });
        self.world.hook_text(
            session,
            event,
            &json!({ "tool_name": tool, "tool_input": input, "tool_response": {} }),
        )
    }

    /// Returns the reason why a session's write is refused.
    fn refused(&self, session: &str, path: &str) -> Option<String> {
        let input = json!({ "file_path": self.world.project().join(path), "content": "x" });
        let call = json!({ "session_id": session, "cwd": self.world.project(), "tool_name": "Write", "tool_input": input });
        let answer: Value = serde_json::from_str(&self.world.hook("PreToolUse", &call).stdout).ok()?;
        answer["hookSpecificOutput"]["permissionDecisionReason"].as_str().map(str::to_owned)
    }
}

/// Formats a text with its cost; parts that differ from run to run are replaced.
fn counted(what: &str, told: &str) -> String {
    let told = told.trim_end().replace("$WORLD", "/home/you");
    let told = match told.split_once("may be taken at ") {
        Some((before, after)) => format!("{before}may be taken at 09:41:00{}", &after["00:00:00".len()..]),
        None => told,
    };
    format!("## {what}: {} tokens\n{told}\n\n", tokens(&told))
}

fn world() -> Sealed {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    fs::create_dir_all(world.project().join("src")).unwrap();
    for file in ["src/a.rs", "src/b.rs", "src/c.rs", "README.md"] {
        fs::write(world.project().join(file), "first\n").unwrap();
    }
    world.git(&["add", "-A"]);
    world.git(&["commit", "-q", "-m", "files"]);
    world.with_falcon_and_raven()
}

/// Sleeps, because two changes in the same instant cannot be told apart, and the clock that dates files
/// lags some milliseconds behind.
fn a_moment_later() {
    std::thread::sleep(Duration::from_millis(60));
}

#[test]
fn every_text_has_its_cost() {
    let mut page = Page::new(world());
    presence(&mut page);
    messages(&mut page);
    let mut text = page.text;
    for room in [reservations, files, commands, convergence, finished, knowledge] {
        let mut page = Page::new(world());
        room(&mut page);
        text.push_str(&page.text);
    }
    text.push_str(&overlap());
    for rare in RARE.split("## ").skip(1) {
        let (what, told) = rare.split_once('\n').unwrap();
        text.push_str(&counted(what, told));
    }
    is_complete(&text);
    expect_file!["injected_texts.txt"].assert_eq(&text);
}

fn presence(page: &mut Page) {
    let start =
        |session: &str| page.world.hook_text(session, "SessionStart", &json!({ "source": "startup" }));
    let started = start("s9");
    page.add("a session starts beside two others", started.map(|told| named(&told)));
    let told = page.world.hook_text("s1", "PostToolUse", &json!({ "tool_name": "Look" }));
    page.add("another has joined", told.map(|told| named(&told)));
    page.world.run("config set context.mode minimal");
    let started = page.world.hook_text("s8", "SessionStart", &json!({ "source": "startup" }));
    page.add("the same, where little is wanted", started.map(|told| named(&told)));
    page.world.run("config set context.mode full");
    page.world.hear_who_came("s1");
    page.world.hear_who_came("s2");
}

/// Replaces generated names, which differ from run to run.
fn named(told: &str) -> String {
    let word = |word: &str| match word {
        word if word.starts_with(|c: char| c.is_uppercase())
            && word.chars().filter(|c| c.is_uppercase()).count() == 2
            && word.chars().all(|c| c.is_alphanumeric() || c == ';') =>
        {
            if word.ends_with(';') {
                "SwiftHeron;".to_owned()
            } else {
                "SwiftHeron".to_owned()
            }
        }
        word => word.to_owned(),
    };
    told.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

fn messages(page: &mut Page) {
    page.by("s2", &["send", "Falcon", "-t", "question", "May I rename login()?"]);
    let told = page.prompted("s1");
    page.add("a message from an agent", told);
    page.world.run_as(None, &["send", "Falcon", "Please stop for today."]);
    let told = page.prompted("s1");
    page.add("a message from the user", told);
    page.by("s2", &["send", "Falcon", "one"]);
    page.by("s2", &["send", "Falcon", "two"]);
    let told = page.prompted("s1");
    page.add("two messages from agents", told);
    page.world.run_as(None, &["send", "Falcon", "one"]);
    page.world.run_as(None, &["send", "Falcon", "two"]);
    let told = page.prompted("s1");
    page.add("two messages from the user", told);
    page.by("s2", &["send", "Falcon", "one"]);
    page.world.run_as(None, &["send", "Falcon", "two"]);
    let told = page.prompted("s1");
    page.add("messages from both", told);
    for _ in 0..3 {
        page.by("s2", &["send", "Falcon", &"long ".repeat(3_000)]);
    }
    let told = page.prompted("s1").map(|told| shortened(&told));
    page.add("messages that are cut, and more than fit (text shortened here)", told);
}

/// Shortens the long lines that others wrote.
fn shortened(told: &str) -> String {
    let line = |line: &str| if line.len() > 200 { format!("{}…", &line[..40]) } else { line.to_owned() };
    told.lines().map(line).collect::<Vec<_>>().join("\n")
}

fn reservations(page: &mut Page) {
    page.by("s2", &["reserve", "src/a.rs", "--reason", "login() becomes sign_in()"]);
    let told = page.refused("s1", "src/a.rs");
    page.add("a write is refused", told);
    page.by("s2", &["reserve", "--shared", "src/b.rs"]);
    let told = page.refused("s1", "src/b.rs");
    page.add("a write to what others share is refused", told);
    page.by("s2", &["reserve", "--advisory", "src/c.rs"]);
    let told = page.tool("s1", "PreToolUse", "Write", "src/c.rs");
    page.add("a write is warned about", told);
    page.by("s1", &["holds", "contest", "src/a.rs", "--reason", "a fix is waiting"]);
    let told = page.prompted("s2");
    page.add("another needs what you have", told);
    let released = page.world.run_as(None, &["release", "--force", "src/a.rs"]);
    assert_eq!(released.code, 0, "{released}");
    let told = page.prompted("s2");
    page.add("your user has released what you had", told);
    page.by("s1", &["reserve", "README.md"]);
    a_moment_later();
    fs::write(page.world.project().join("README.md"), "in an editor\n").unwrap();
    a_moment_later();
    let told = page.prompted("s1");
    page.add("your user has saved what you have reserved", told);
    page.by("s2", &["reserve", "docs/"]);
    let mut waits = page.world.consort(["reserve", "--wait", "README.md"]);
    let waiting = page.world.spawn_as_agent(waits.env("CONSORT_SESSION", "s2"));
    let log = page.world.data().join("sessions/s2/log");
    while !fs::read_to_string(&log).unwrap_or_default().lines().any(|line| line.starts_with("waits\t")) {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(page.world.run_as(Some("s1"), &["reserve", "--wait", "docs/"]).code, 4);
    waiting.output(b"");
    let told = page.prompted("s2");
    page.add("two wait for each other", told);
}

fn files(page: &mut Page) {
    page.tool("s1", "PostToolUse", "Read", "src/a.rs");
    a_moment_later();
    fs::write(page.world.project().join("src/a.rs"), "second\n").unwrap();
    page.tool("s2", "PostToolUse", "Edit", "src/a.rs");
    let told = page.world.hook_text("s1", "PreToolUse", &json!({ "tool_name": "Glob" }));
    page.add("a file changed since it was read", told);
    fs::write(page.world.project().join("src/b.rs"), "second\n").unwrap();
    page.tool("s2", "PostToolUse", "Edit", "src/b.rs");
    let told = page.tool("s1", "PreToolUse", "Edit", "src/b.rs");
    page.add("another has edited it and not committed", told);
    page.by("s2", &["reserve", "src/b.rs"]);
    page.world.git(&["add", "-A"]);
    let commit = page.world.run_as(Some("s1"), &["git-hook", "pre-commit"]);
    page.add("a commit of what others have", Some(commit.stderr + &commit.stdout));
}

fn commands(page: &mut Page) {
    page.by("s1", &["reserve", "src/"]);
    let run = |event: &str| {
        let input = json!({ "command": "./script.sh" });
        page.world.hook_text("s2", event, &json!({ "tool_use_id": "one", "tool_input": input }))
    };
    assert_eq!(run("PreToolUse"), None);
    a_moment_later();
    fs::write(page.world.project().join("src/a.rs"), "by a script\n").unwrap();
    let told = run("PostToolUse");
    page.add("a command has changed what others have reserved", told);
    let told = page.prompted("s1");
    page.add("the same, to whom had reserved it", told);
}

fn convergence(page: &mut Page) {
    let prompts = [
        ("s1", "store the session cookie in redis, memcached, sqlite"),
        ("s2", "check the session cookie on logout, login, signup"),
        ("s1", "encrypt the session cookie with aes, chacha, rsa"),
        ("s2", "refresh the session cookie silently, hourly, quietly"),
        ("s1", "rotate the session cookie weekly, nightly, yearly"),
        ("s2", "sign the session cookie with ed25519, blake3, salt"),
    ];
    let told = prompts
        .iter()
        .filter_map(|(who, text)| page.world.hook_text(who, "UserPromptSubmit", &json!({ "prompt": text })));
    let told = told.last();
    page.add("two are about to meet", told);
}

fn finished(page: &mut Page) {
    fs::write(page.world.project().join("spec.md"), "- [ ] T1: invoice export\n").unwrap();
    let prompt = |session: &str, text: &str| {
        page.world.hook_text(session, "UserPromptSubmit", &json!({ "prompt": text }))
    };
    for text in ["invoice export format", "invoice export columns", "invoice export header"] {
        prompt("s1", text);
    }
    page.by("s1", &["task", "claim", "T1", "--spec", "spec.md"]);
    prompt("s2", "customers want the invoice export as mail");
    page.by("s1", &["task", "done", "T1", "--spec", "spec.md"]);
    let [turned, finished] =
        ["s2", "s1"].map(|session| page.world.hook_text(session, "PostToolUse", &json!({})));
    page.add("another has finished what you turn to", turned);
    page.add("another turns to what you have finished", finished);
}

fn knowledge(page: &mut Page) {
    page.by(
        "s1",
        &["know", "add", "principle", "one-writer", "One process writes at a time", "locations=src/a.rs:1"],
    );
    page.by("s1", &["know", "add", "file", "src/a.rs", "Writes the store"]);
    let told = page.world.hook_text("s2", "SessionStart", &json!({ "source": "startup" }));
    let digest = told.and_then(|told| told.find("[consort] Notes").map(|at| told[at..].to_owned()));
    page.add("what earlier sessions learned", digest);
    assert_eq!(page.world.run("know renew one-writer").code, 0);
    let told = page.tool("s2", "PostToolUse", "Read", "src/a.rs");
    page.add("what is known of a file is to be looked at again", told);
    page.by("s2", &["know", "search", "store"]);
    a_moment_later();
    fs::write(page.world.project().join("src/a.rs"), "changed\n").unwrap();
    page.tool("s1", "PostToolUse", "Edit", "src/a.rs");
    let told = page.prompted("s2");
    page.add("what it was shown may no longer hold", told);
}

/// Tells the texts of agents in two worktrees of a repository.
fn overlap() -> String {
    let world = world();
    world.git(&["worktree", "add", "-q", "-b", "side", "../side"]);
    let side = world.path().join("side");
    let joining =
        ["agent", "join", "--pid", "$OTHER", "--kind", "claude", "--session", "s3", "--name", "Heron"];
    assert_eq!(world.ran(world.consort(joining).current_dir(&side)).code, 0);
    world.hear_who_came("s1");
    let edit = |session: &str, worktree: &Path| {
        fs::write(worktree.join("src/a.rs"), session).unwrap();
        let input = json!({ "file_path": worktree.join("src/a.rs") });
        world.hook_text(
            session,
            "PostToolUse",
            &json!({ "cwd": worktree, "tool_name": "Edit", "tool_input": input }),
        )
    };
    edit("s1", &world.project());
    let told = edit("s3", &side);
    let mut page = Page::new(world);
    page.add("two edit the same in different worktrees", told);
    page.text
}

/// Checks that every text for models in the sources is on the page.
fn is_complete(page: &str) {
    let core = Path::new(env!("CARGO_MANIFEST_DIR")).join("../core/src");
    let mut literals = Vec::new();
    for room in ["presence", "messages", "claims", "convergence", "knowledge"] {
        for file in ["wording.rs", "digest.rs", "renewal.rs", "ops/mark_stale.rs"] {
            let Ok(source) = fs::read_to_string(core.join(room).join(file)) else { continue };
            let parts = source.split("\"[consort] ").skip(1);
            literals.extend(parts.map(|part| part.lines().next().unwrap_or_default().to_owned()));
        }
    }
    assert!(literals.len() > 15, "{literals:#?}");
    for literal in literals {
        // Takes the first words that are not part of a placeholder.
        let words = literal.split(['"', '\\']).next().unwrap_or_default();
        let fixed = words.split('{').map(|part| part.split_once('}').map_or(part, |(_, rest)| rest));
        let Some(fixed) = fixed.map(str::trim).find(|part| part.len() > 3) else { continue };
        assert!(page.contains(fixed), "no story tells: {literal}");
    }
}
