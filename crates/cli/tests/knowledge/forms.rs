//! Tests of knowledge in the forms that people and other programs read and write.

use std::fs;
use std::process::Command;

use consort_testkit::Sealed;
use serde_json::Value;
use serde_json::json;

use super::act;
use super::ask;
use super::bare;
use super::some;
use super::world;

/// An import is recorded as a whole, names links without an end, and keeps authors and times.
#[test]
fn an_import_is_all_or_nothing_and_keeps_authors() {
    let (one, other) = (world(), world());
    act(&one, Some("s1"), &some());
    let exported = one.run("know export").stdout;
    // More records than a batch may have, and one with a wrong value.
    let mut lines: Vec<String> = exported.lines().map(str::to_owned).collect();
    for number in 0..120 {
        let fields = json!({ "name": format!("p{number}"), "description": "one of many" });
        lines.push(json!({ "kind": "principle", "fields": fields }).to_string());
    }
    let bad =
        json!({ "kind": "principle", "fields": { "name": "bad", "description": "d", "confidence": 99 } });
    let import = |lines: &[String]| {
        fs::write(other.path().join("all.json"), lines.join("\n")).unwrap();
        other.run_as(None, &["know", "import", "../all.json"])
    };
    let refused = import(&[&lines[..], &[bad.to_string()]].concat());
    assert_eq!(refused.code, 1, "{refused}");
    assert!(
        refused.stderr.contains("nothing was recorded") && refused.stderr.contains("0 to 1"),
        "{refused}"
    );
    assert_eq!(ask(&other, "(length (get-principles))"), "0");
    let dangling =
        json!({ "type": "relation", "from": "one-writer", "to": "nowhere", "relationType": "uses" });
    let recorded = import(&[&lines[..], &[dangling.to_string()]].concat());
    assert_eq!(
        recorded.stdout,
        "Recorded 127 actions.\nNothing is known yet of an end of it: one-writer uses nowhere\n",
        "{recorded}"
    );
    assert_eq!(ask(&other, "(length (get-principles))"), "122");
    for expression in ["(@ (get-principle \"one-writer\") :by)", "(@ (get-principle \"one-writer\") :time)"] {
        assert_eq!(ask(&one, expression), ask(&other, expression), "{expression}");
    }
    assert_eq!(bare(&other, "(@ (get-principle \"one-writer\") :via)"), "import");
    assert_eq!(other.run("journal verify").code, 0);
}

/// The changes that a person makes in exported pages can be imported.
#[test]
fn markdown_goes_out_and_comes_back() {
    let world = world();
    act(&world, Some("s1"), &some());
    let export = || world.run_as(None, &["know", "export", "--markdown", "--to", "../pages"]);
    assert!(export().stdout.starts_with("Wrote 6 files to "), "{}", export());
    let page = world.path().join("pages/principles/contagious-materialization.md");
    let text = fs::read_to_string(&page).unwrap();
    for line in [
        "kind: principle\nname: \"contagious-materialization\"\nconfidence: 0.95\n",
        "evidence: [\"tested-in-production\"]\n",
        "\"kind\":\"claude\",\"name\":\"Falcon\"}\n",
        "\n---\n\nSyncing spreads from root automatically\n",
    ] {
        assert!(text.contains(line), "{line}{text}");
    }
    let back = || world.run_as(None, &["know", "import", "../pages"]);
    assert_eq!(back().stdout, "Nothing is new in it.\n");
    let text = text.replace("spreads from root", "begins at the root").replace("\"plexus\",", "");
    fs::write(&page, text).unwrap();
    fs::write(
        world.path().join("pages/principles/new.md"),
        "---\nkind: principle\nname: new\ntags: [\"x\"]\n---\n\nWritten by hand\n",
    )
    .unwrap();
    assert_eq!(back().stdout, "Recorded 2 actions.\n");
    let read =
        |field: &str| bare(&world, &format!("(@ (get-principle \"contagious-materialization\") :{field})"));
    assert_eq!(read("description"), "Syncing begins at the root automatically");
    assert_eq!((read("tags"), read("by")), ("(sync)".into(), "you".into()));
    assert_eq!(bare(&world, "(@ (get-principle \"new\") :description)"), "Written by hand");
    assert_eq!(back().stdout, "Nothing is new in it.\n");
    fs::write(&page, "no page of ours").unwrap();
    assert_eq!(back().code, 1);
}

/// The lines of a file of instructions are offered as candidates, not recorded.
#[test]
fn instructions_are_candidates() {
    let world = world();
    let page = "# Style\n\n- Use four spaces everywhere\n- Name tests after\n  what they show\n\n```\n- not this one here\n```\n\nDeploys happen on Tuesdays only.\n";
    fs::write(world.project().join("CLAUDE.md"), page).unwrap();
    let listed = world.run_as(None, &["know", "import", "CLAUDE.md"]).stdout;
    assert!(listed.starts_with("1 (line 3) Use four spaces everywhere\n2 (line 4) Name tests after what they show\n3 (line 11) Deploys"), "{listed}");
    assert_eq!(ask(&world, "(get-notes)"), "()");
    assert_eq!(world.run_as(None, &["know", "import", "CLAUDE.md", "--take", "4"]).code, 1);
    assert_eq!(
        world.run_as(None, &["know", "import", "CLAUDE.md", "--take", "1,3"]).stdout,
        "Recorded 2 actions.\n"
    );
    assert_eq!(
        bare(&world, "(map (lambda (n) (list (@ n :name) (@ n :locations))) (get-notes))"),
        "((deploys-happen-on-tuesdays-only (CLAUDE.md:11)) (use-four-spaces-everywhere (CLAUDE.md:3)))"
    );
    let listed = world.run_as(None, &["know", "import", "CLAUDE.md"]).stdout;
    assert!(
        listed.starts_with("2 (line 4) Name tests after what they show\n1 candidate;"),
        "what is known is offered no more: {listed}"
    );
}

/// A secret is neither recorded nor sent, and not printed in errors.
#[test]
fn secrets_are_refused() {
    let world = world();
    let secret = format!("ghp_{}", "A1b2C3d4E5f6".repeat(3));
    let says = |ran: &consort_testkit::Ran| {
        assert!(!ran.stderr.contains(&secret) && !ran.stdout.contains(&secret), "{ran}");
        (ran.code, ran.stderr.contains("looks like a GitHub token, at character 9"))
    };
    let text = format!("It is: \n{secret}");
    assert_eq!(says(&act(&world, Some("s1"), &json!([["record-note", { "description": text }]]))), (1, true));
    let recorded = world.run_as(Some("s1"), &["know", "add", "note", "n", &text, "--even-so"]);
    assert_eq!(says(&recorded), (1, true), "an agent cannot insist");
    assert_eq!(ask(&world, "(get-notes)"), "()");
    assert_eq!(says(&world.run_as(Some("s1"), &["send", "Raven", &text])), (1, true));
    assert_eq!(world.run_as(None, &["know", "add", "note", "n", &text, "--even-so"]).code, 0);
    assert_eq!(world.run_as(None, &["send", "Raven", &text, "--even-so"]).code, 0);
}

/// Evidence changes the confidence, by a rule that the manual gives.
#[test]
fn evidence_moves_confidence() {
    let world = world();
    let add = |more: Value| {
        let mut props = json!({ "name": "p" });
        props.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        act(&world, Some("s1"), &json!([["add-evidence", props]]));
        bare(&world, "(@ (get-principle \"p\") :confidence)")
    };
    world.run_as(None, &["know", "add", "principle", "p", "some words"]);
    assert_eq!(add(json!({ "evidence": "seen in tests" })), "0.6");
    assert_eq!(add(json!({ "evidence": ["seen in production", "seen in tests"] })), "0.68");
    assert_eq!(add(json!({ "evidence": "not on Windows", "against": true })), "0.54");
    assert_eq!(add(json!({ "evidence": "seen in tests" })), "0.54", "it was said before");
}

/// The next session that touches a file is asked to look again at stale knowledge about it, and no
/// other session; it can then confirm the knowledge.
#[test]
fn what_is_stale_is_renewed_by_the_next_who_touches_it() {
    let world = world();
    fs::write(world.project().join("README.md"), "one").unwrap();
    world.run_as(None, &["know", "add", "file", "README.md", "What it is"]);
    world.run_as(None, &["know", "add", "principle", "plain", "some words", "locations=README.md:1"]);
    assert_eq!(world.run("know renew").stdout, "Nothing is stale.\n");
    fs::write(world.project().join("README.md"), "two").unwrap();
    assert!(bare(&world, "(map :name (get-stale))").contains("README.md"));

    let asked = world.run("know renew").stdout;
    assert!(asked.contains("touches README.md is asked to look again at file README.md"), "{asked}");
    assert!(asked.contains("look again at principle plain"), "{asked}");
    let told = read(&world, "s1", "README.md").unwrap_or_default();
    assert!(told.contains("Your user asks you to look again"), "{told}");
    assert!(told.contains("consort know renew --holds 'README.md'"), "{told}");
    assert!(!read(&world, "s2", "README.md").unwrap_or_default().contains("look again"));

    let holds = world.run_as(Some("s1"), &["know", "renew", "--holds", "README.md"]);
    assert!(holds.stdout.contains("confirmed file README.md"), "{holds}");
    let unknown = world.run("know renew nothing");
    assert!(unknown.code == 1 && unknown.stderr.contains("nothing called `nothing` is known"), "{unknown}");
    world.run_as(None, &["know", "add", "note", "n", "leans on nothing"]);
    assert!(world.run("know renew n").stdout.contains("leans on no file"));
}

/// All worktrees and clones of a project read the same notes: the first session that touches
/// the file, in any of them, is asked, and nobody is asked again.
#[test]
fn a_session_that_touches_it_in_another_worktree_or_clone_is_asked_too() {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    world.git(&["remote", "add", "origin", "https://example.com/shop.git"]);
    let world = world.with_falcon_and_raven();
    fs::write(world.project().join("README.md"), "one").unwrap();
    world.git(&["add", "."]);
    world.git(&["commit", "-qm", "more"]);
    world.git(&["worktree", "add", "-q", "-b", "side", "../side"]);
    world.git(&["clone", "-q", ".", "../other"]);
    let [side, other] = ["../side", "../other"].map(|dir| world.project().join(dir).canonicalize().unwrap());
    world.git(&["-C", "../other", "remote", "set-url", "origin", "https://example.com/shop.git"]);
    for (session, dir) in [("s3", &side), ("s4", &other)] {
        let joining = ["agent", "join", "--pid", "$OTHER", "--kind", "claude", "--session", session];
        assert_eq!(world.ran(world.consort(joining).current_dir(dir)).code, 0);
    }
    world.run("who");
    world.run_as(None, &["know", "add", "file", "README.md", "What it is"]);
    let touch = |session: &str, dir: &std::path::Path| {
        let input = json!({ "file_path": dir.join("README.md") });
        let tool = json!({ "cwd": dir, "tool_name": "Read", "tool_input": input, "tool_response": {} });
        world.hook_text(session, "PostToolUse", &tool).unwrap_or_default()
    };
    for (session, dir) in [("s3", &side), ("s4", &other)] {
        assert_eq!(world.run("know renew README.md").code, 0);
        let told = touch(session, dir);
        assert!(told.contains("Your user asks you to look again"), "{session}: {told}");
        for (session, dir) in [("s1", &world.project()), ("s3", &side), ("s4", &other)] {
            let again = touch(session, dir);
            assert!(!again.contains("look again"), "{session}: {again}");
        }
    }
}

/// One rule decides the order in a search, in the text of a session's start, and in queries.
#[test]
fn what_counts_for_more_comes_first() {
    let world = world();
    fs::write(world.project().join("README.md"), "one").unwrap();
    for (name, confidence) in [("unsure", "0.2"), ("sure", "0.9"), ("middling", "0.5")] {
        let fields = [&format!("confidence={confidence}"), "locations=README.md"];
        let said = format!("retry with care, says {name}");
        world.run_as(None, &["know", "add", "principle", name, &said, fields[0], fields[1]]);
    }
    let found = |lines: &str| -> Vec<String> {
        let names = ["unsure", "sure", "middling"];
        let name =
            |line: &str| names.iter().find(|name| line.contains(&format!("principle {name}"))).copied();
        lines.lines().filter_map(name).map(str::to_owned).collect()
    };
    let order = ["sure", "middling", "unsure"];
    assert_eq!(found(&world.run("know search retry").stdout), order);
    assert_eq!(
        bare(&world, "(map :name (sort-by :weight (get-principles) :desc))"),
        "(sure middling unsure)"
    );
    let start = world.hook_text("s9", "SessionStart", &json!({ "source": "startup" })).unwrap_or_default();
    assert_eq!(found(&start), order, "{start}");
    assert_eq!(bare(&world, "(@ (get-principle \"sure\") :weight)"), "0.9");
    // Knowledge that depends on a changed file has a quarter of its weight.
    world.run_as(None, &["know", "add", "file", "README.md", "What it is"]);
    act(
        &world,
        None,
        &json!([["link-entities", { "from": "sure", "to": "README.md", "type": "implements" }]]),
    );
    fs::write(world.project().join("README.md"), "two").unwrap();
    assert_eq!(bare(&world, "(@ (get-principle \"sure\") :weight)"), "0.225");
    assert_eq!(bare(&world, "(@ (get-principle \"sure\") :confidence)"), "0.9");
}

/// A file that several sessions had to read is suggested, and so is a decision in messages.
#[test]
fn what_was_found_out_is_suggested() {
    let world = world();
    for name in ["core.rs", "README.md"] {
        fs::write(world.project().join(name), "one").unwrap();
    }
    world.run_as(None, &["know", "add", "file", "README.md", "What it is"]);
    assert_eq!(world.run("know suggest").stdout, "Nothing stands out.\n");
    for session in ["s1", "s2"] {
        read(&world, session, "core.rs");
        read(&world, session, "README.md");
    }
    world.run_as(Some("s1"), &["send", "all", "I looked at both. We decided to keep SQLite for the store."]);
    world.run_as(Some("s1"), &["send", "all", "Shall we use pnpm?"]);
    let suggested = world.run("know suggest").stdout;
    let lines: Vec<&str> = suggested.lines().collect();
    assert_eq!(lines.len(), 2, "{suggested}");
    assert!(lines[0].starts_with("Message #1 of Falcon sounds like a decision; "), "{suggested}");
    assert!(lines[0].contains("'We decided to keep SQLite for the store.'"), "{suggested}");
    assert!(lines[1].starts_with("core.rs: 2 sessions have read it; "), "{suggested}");
    world.run_as(None, &["know", "add", "decision", "sqlite", "We decided to keep SQLite for the store"]);
    assert_eq!(world.run("know suggest").stdout.lines().count(), 1, "it was recorded");
}

/// Commands are kept only if the setting allows it, and never one with a secret in it.
#[test]
fn commands_that_failed_and_then_worked_are_suggested_where_they_are_kept() {
    let world = world();
    let ran = |command: &str, event: &str| {
        let tool = json!({ "tool_name": "Bash", "tool_input": { "command": command }, "tool_response": {} });
        world.hook_text("s1", event, &tool);
    };
    let try_both = || {
        ran("cargo test", "PostToolUseFailure");
        ran("export K=ghp_abcdefghijklmnopqrstuvwxyz0123456789", "PostToolUse");
        ran("cargo test --features all", "PostToolUse");
    };
    try_both();
    assert_eq!(world.run("know suggest").stdout, "Nothing stands out.\n");
    assert_eq!(world.run("config set privacy.store_commands true").code, 0);
    world.run("status");
    try_both();
    let suggested = world.run("know suggest").stdout;
    assert!(suggested.contains("'cargo test --features all works where cargo test fails'"), "{suggested}");
    let kept = Command::new("grep").args(["-rl", "ghp_abc"]).arg(world.data()).output().unwrap();
    assert!(kept.stdout.is_empty(), "{}", String::from_utf8_lossy(&kept.stdout));
    world.run("config set privacy.store_commands false");
    assert_eq!(world.run("know suggest").stdout, "Nothing stands out.\n");
}

/// Projects are similar if their knowledge has the same words.
#[test]
fn similar_projects_are_found_without_a_question() {
    let world = world();
    assert!(world.run("know similar").stdout.starts_with("No other project"));
    world.run_as(None, &["know", "add", "principle", "sync-spreads", "from the root", "tags=crdt"]);
    for (name, thing, tag) in [("twin", "sync-merges", "crdt"), ("far", "bread", "oven")] {
        let dir = world.path().join(name);
        fs::create_dir(&dir).unwrap();
        let mut add = world.consort(["know", "add", "principle", thing, "words", &format!("tags={tag}")]);
        let ran = world.ran(add.current_dir(&dir));
        assert_eq!(ran.code, 0, "{ran}");
    }
    let found = world.run("know similar").stdout;
    assert!(found.starts_with("twin ") && found.contains("crdt, sync"), "{found}");
    assert!(!found.contains("far"), "{found}");
}

fn read(world: &Sealed, session: &str, path: &str) -> Option<String> {
    let path = world.project().canonicalize().unwrap().join(path);
    let tool = json!({ "tool_name": "Read", "tool_input": { "file_path": path }, "tool_response": {} });
    world.hook_text(session, "PostToolUse", &tool)
}
