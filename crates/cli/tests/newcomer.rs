//! Tests of texts that people and models who are new here stumble over: each says what is
//! meant and what to do next.

use consort_testkit::Sealed;
use expect_test::Expect;
use expect_test::expect;
use serde_json::Value;
use serde_json::json;

fn world() -> Sealed {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    let world = world.with_falcon_and_raven();
    std::fs::write(world.project().join("spec.md"), "- [ ] T-1: first\n- [ ] T-2: second\n").unwrap();
    world
}

fn check(world: &Sealed, session: Option<&str>, words: &[&str], expected: &Expect) {
    expected.assert_eq(&world.run_as(session, words).to_string());
}

/// Messages, reservations, claims of tasks and entries are numbered separately.
#[test]
fn a_number_says_what_it_counts() {
    let world = world();
    for (words, said) in [
        (&["send", "Raven", "hello"][..], "Sent message #1 to Raven."),
        (&["reserve", "src/"], "Reserved src/ (reservation #1)."),
        (&["holds", "list"], "reservation #1"),
        (&["task", "next", "--spec", "spec.md"], "Claimed T-1: first (claim #1)."),
        (&["task", "--spec", "spec.md"], "claim #1"),
        (&["know", "add", "note", "be kind"], "Entry #1: recorded note"),
        (&["agent", "handoff", "Falcon"], "message #1 Falcon to Raven: hello"),
    ] {
        let ran = world.run_as(Some("s1"), words);
        assert!(ran.stdout.contains(said), "{words:?}: {ran}");
    }
    assert!(world.run_as(Some("s2"), &["inbox"]).stdout.starts_with("Message #1 info, from Falcon"));
    assert!(world.run("journal tail").stdout.contains("message #1 info: hello"));
}

#[test]
fn what_is_known_is_printed_for_people() {
    let world = world();
    let say = |words: &[&str]| assert_eq!(world.run_as(Some("s1"), words).code, 0);
    say(&[
        "know",
        "add",
        "principle",
        "one-writer",
        "One process writes at a time",
        "confidence=0.9",
        "tags=store",
    ]);
    say(&["know", "add", "file", "src/a.rs", "Writes the store"]);
    let link = r#"[["link-entities", {"from": "one-writer", "to": "src/a.rs", "type": "implements"}]]"#;
    std::fs::write(world.project().join("link.json"), link).unwrap();
    say(&["know", "apply", "link.json"]);
    check(
        &world,
        None,
        &["know", "search", "writes"],
        &expect![[r#"
            principle one-writer: One process writes at a time (0.9; store)
            file src/a.rs: Writes the store
            relationship one-writer implements src/a.rs
            [exit 0]
        "#]],
    );
    check(
        &world,
        None,
        &["know", "list", "files"],
        &expect![[r#"
        file src/a.rs: Writes the store
        [exit 0]
    "#]],
    );
    check(
        &world,
        None,
        &["know", "search", "nothingatall"],
        &expect![[r#"
        Nothing found.
        [exit 0]
    "#]],
    );
    check(
        &world,
        None,
        &["know", "stale"],
        &expect![[r#"
        Nothing is stale.
        [exit 0]
    "#]],
    );
    let page = world.run("know show one-writer").stdout;
    let page: String =
        page.lines().filter(|line| !line.starts_with("by ")).map(|line| format!("{line}\n")).collect();
    expect![[r#"
        principle one-writer
        One process writes at a time
        confidence: 0.9
        tags: store
    "#]]
    .assert_eq(&page);
}

#[test]
fn a_text_that_is_missing_is_asked_for() {
    let world = world();
    check(
        &world,
        Some("s1"),
        &["know", "add", "principle", "one-writer"],
        &expect![[r#"
        [stderr] Error: the text is missing
        [stderr] Hint: consort know add principle 'one-writer' '…'
        [exit 2]
    "#]],
    );
    // A note needs no name.
    assert_eq!(world.run_as(Some("s1"), &["know", "add", "note", "pnpm works where npm fails"]).code, 0);
    assert!(world.run("know search pnpm").stdout.contains("pnpm works where npm fails"));
}

#[test]
fn who_names_itself_among_others_means_the_others() {
    let world = world();
    check(
        &world,
        Some("s1"),
        &["send", "Falcon,Raven", "hello"],
        &expect![[r#"
        Sent message #1 to Raven.
        [exit 0]
    "#]],
    );
    assert_eq!(world.run_as(Some("s1"), &["send", "Falcon", "hello"]).code, 1);
}

#[test]
fn hints_name_what_can_be_typed() {
    let world = world();
    check(
        &world,
        None,
        &["agent", "leave"],
        &expect![[r#"
        [stderr] Error: no agent is named, and you are not one
        [stderr] Hint: name it with `--agent <name>`; `consort who` lists them
        [exit 1]
    "#]],
    );
    check(
        &world,
        Some("s2"),
        &["task", "next"],
        &expect![[r#"
        [stderr] Error: no spec is given, and you have joined with none
        [stderr] Hint: `--spec <file>` names one, a Markdown file with lines like `- [ ] T-1: …`; `consort agent join --spec <file>` joins with one
        [exit 1]
    "#]],
    );
    assert_eq!(world.run_as(Some("s1"), &["task", "next", "--spec", "spec.md"]).code, 0);
    check(
        &world,
        Some("s2"),
        &["task", "next"],
        &expect![[r#"
        [stderr] Error: no spec is given, and you have joined with none
        [stderr] Hint: `consort task next --spec 'spec.md'` takes one that is worked on here
        [exit 1]
    "#]],
    );
    assert_eq!(world.run_as(Some("s1"), &["task", "done"]).code, 0);
    check(
        &world,
        Some("s1"),
        &["task", "next"],
        &expect![[r#"
        Claimed T-2: second (claim #2).
        [exit 0]
    "#]],
    );
    let up = world.ran(&mut world.consort(["up"])).stdout;
    assert!(
        up.ends_with(
            "Next: install an agent CLI (claude, codex, gemini, …); then `consort init` connects it\n"
        ),
        "{up}"
    );
    let status = world.run("status").stdout;
    assert!(
        status.contains("install an agent CLI (claude, codex, gemini, …); then `consort init`"),
        "{status}"
    );
}

/// A reservation outside the project is guarded as well, and says that it concerns all projects.
#[test]
fn a_path_outside_the_project_is_kept_from_everyone() {
    let world = world();
    let outside = world.path().join("elsewhere.txt");
    std::fs::write(&outside, "x").unwrap();
    let path = outside.to_str().unwrap();
    let ran = world.run_as(Some("s1"), &["reserve", path]);
    let note = "is in no git repository. Agents of every project are kept from writing it.";
    assert!(ran.stderr.contains(note), "{ran}");
    let payload = json!({
        "session_id": "s2", "cwd": world.project(), "hook_event_name": "PreToolUse", "tool_name": "Write",
        "tool_input": { "file_path": path, "content": "y" },
    });
    let ran = world.hook("PreToolUse", &payload);
    assert!(ran.stdout.contains("\"deny\""), "{ran}");
}

#[test]
fn a_wait_that_is_over_is_told_to_programs() {
    let world = world();
    world.run_as(Some("s1"), &["reserve", "src/"]);
    let ran = world.run_as(Some("s2"), &["reserve", "src/", "--wait", "--timeout", "1s", "--json"]);
    let told: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran}"));
    assert_eq!((ran.code, &told["error"]["kind"]), (7, &json!("timeout")), "{ran}");
    assert!(told["error"]["hints"][0].as_str().unwrap().contains("consort send Falcon"), "{ran}");
    let ran = world.run_as(Some("s2"), &["reserve", "src/", "--wait", "--timeout", "1s"]);
    assert!(ran.code == 7 && ran.stderr.contains("Error: `src/` is held by Falcon"), "{ran}");
}

/// A caller that may not disconnect anything is told that first, and diffs are shown only on request.
#[test]
fn uninit_is_short() {
    let world = world();
    assert_eq!(world.run("init --agent claude --agent codex --yes").code, 0);
    let by_agent = world.run_as(Some("s1"), &["uninit"]);
    assert!(by_agent.code == 1 && by_agent.stdout.is_empty(), "{by_agent}");
    assert!(world.run("uninit --dry-run").stdout.contains("--- "));
    let by_person = world.run("uninit");
    assert!(by_person.stdout.contains("Claude Code: $WORLD/home/.claude/settings.json"), "{by_person}");
    assert!(!by_person.stdout.contains("---") && by_person.stdout.lines().count() < 12, "{by_person}");
}

#[test]
fn results_of_files_are_kept_for_programs() {
    let world = world();
    std::fs::write(world.project().join("a.txt"), "x").unwrap();
    let told = |words: &[&str], input: &[u8]| {
        let ran = world.ran_with(&mut world.consort(words.iter().copied()), input);
        let json: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran}"));
        assert!(json["at"].is_string() || json["error"].is_object(), "{ran}");
        (ran.code, json)
    };
    let get = ["know", "cache", "get", "a.txt", "lines", "--json"];
    let (code, none) = told(&get, b"");
    assert_eq!((code, none["error"]["kind"].as_str()), (1, Some("user")));
    assert_eq!(told(&["know", "cache", "put", "a.txt", "lines", "--json"], b"one").1["result"]["bytes"], 3);
    assert_eq!(told(&get, b"").1["result"]["text"], "one");
    assert_eq!(told(&["know", "cache", "size", "--json"], b"").1["cache"]["results"], 1);
    assert_eq!(told(&["know", "cache", "clear", "--json"], b"").1["cache"]["results"], 0);
    let silent = world.run("know cache get a.txt lines");
    assert!(silent.code == 1 && silent.stderr.contains("nothing called `lines` is kept"), "{silent}");
}

/// `up` offers what `init` offers.
#[test]
fn up_and_init_offer_the_same() {
    let world = world();
    let bin = world.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    std::os::unix::fs::symlink("/bin/true", bin.join("claude")).unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let offered = |words: &[&str]| {
        let mut python = world.command("python3");
        python.args(["-c", "import pty, sys; pty.spawn(sys.argv[1:])"]).arg(world.program()).args(words);
        let shown = world.ran_with(python.env("TERM", "xterm").env("PATH", &path), b"n\nq\n").stdout;
        let line = shown.lines().find(|line| line.contains(" allow rules")).map(str::trim).map(str::to_owned);
        line.unwrap_or_else(|| panic!("{shown}"))
    };
    let by_init = offered(&["init", "--agent", "claude"]);
    assert!(by_init.contains("MCP server, primer"), "{by_init}");
    // `--here` keeps it in this terminal: a session of its own would outlive the test.
    assert_eq!(offered(&["up", "--here"]), by_init);
}

#[test]
fn an_override_is_said_to_its_author_and_to_who_reserves() {
    let world = world();
    assert_eq!(world.run("holds override src/ --for 10m").code, 0);
    let ran = world.run_as(Some("s1"), &["reserve", "src/auth/"]);
    assert!(ran.stderr.contains("Note: src/ is overridden: everyone may write it for another 10m."), "{ran}");
    assert_eq!(world.run_as(Some("s1"), &["reserve", "docs/"]).stderr, "", "nobody has overridden that");
    let explained = world.run("explain docs/a.md").stdout;
    assert!(explained.contains("You may write it: a reservation stops agents, not you."), "{explained}");
    assert!(world.run("holds list").stdout.contains("  src/  you, open to everyone"));
    let mut anonymous = world.command(world.program());
    let ran = anonymous.args(["holds", "list"]).output().unwrap();
    let told = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(told.contains("  src/  the person, open to everyone"), "{told}");
}

#[test]
fn reservations_that_are_counted_apart_are_told_apart() {
    let world = world();
    let outside = world.path().join("outside.txt");
    let ran = world.run_as(Some("s1"), &["reserve", outside.to_str().unwrap(), "src/"]);
    assert!(ran.stdout.contains("(reservation #1 outside projects)."), "{ran}");
    assert!(ran.stdout.contains("(reservation #1)."), "{ran}");
    let listed = world.run("holds list").stdout;
    assert!(listed.contains(", reservation #1 outside projects\n"), "{listed}");
    assert!(listed.contains(", reservation #1\n"), "{listed}");
}

#[test]
fn one_thing_that_is_wrong_has_no_number() {
    let world = world();
    let ran = world.run_as(Some("s1"), &["know", "add", "principle", "sure", "It is", "confidence=7"]);
    assert!(ran.stderr.contains("nothing was recorded: `confidence` is not a number from 0 to 1"), "{ran}");
    assert!(!ran.stderr.contains("action"), "{ran}");
}

/// A word has to be typed to weaken protection, but not to restore it.
#[test]
fn what_protects_more_takes_no_word() {
    let world = world();
    let set = |value: &str, types: bool| {
        let mut command = world.command(world.program());
        consort_testkit::attach_terminal(&mut command, types);
        world.ran(command.args(["config", "set", "claims.enforcement", value])).code
    };
    assert_eq!(set("block", false), 0, "as it is by default");
    assert_ne!(set("warn", false), 0);
    assert_eq!(set("warn", true), 0);
    assert_ne!(set("off", false), 0);
    assert_eq!(set("block", false), 0, "more than before");
    assert_eq!(world.run("config get claims.enforcement").stdout, "block\n");
}

/// An agent that was joined by hand has no hooks; its commands show that it is active.
#[test]
fn an_agent_without_hooks_is_active_when_it_runs_a_command() {
    let world = world();
    let active = || {
        let who: Value = serde_json::from_str(&world.run("who Raven --json").stdout).unwrap();
        who["agent"]["last_active_at"].as_str().unwrap().to_owned()
    };
    let before = active();
    assert_eq!(world.run_as(Some("s2"), &["send", "Falcon", "here"]).code, 0);
    assert!(active() > before);
}
