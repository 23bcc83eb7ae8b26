//! Tests that git carries knowledge, whichever door it is recorded and read through.

use std::fs;
use std::io::BufRead as _;
use std::io::BufReader;
use std::io::Write as _;
use std::path::Path;

use consort_testkit::Sealed;
use serde_json::Value;
use serde_json::json;

use super::ask;
use super::bare;

/// Makes two clones of one repository, on machines that share nothing else.
fn clones() -> (Sealed, Sealed) {
    let clones = (clone(), clone());
    let origin = clones.0.path().join("origin.git");
    git(&clones.0, &["init", "-q", "--bare", "-b", "main", &origin.display().to_string()]);
    for (world, is_first) in [(&clones.0, true), (&clones.1, false)] {
        git(world, &["init", "-q", "-b", "main"]);
        git(world, &["remote", "add", "origin", &origin.display().to_string()]);
        if is_first {
            fs::write(world.project().join("README.md"), "A project\n").unwrap();
            world.run("init --git-merge --yes");
            push(world);
        } else {
            git(world, &["pull", "-q", "origin", "main"]);
            world.run("init --git-merge --yes");
        }
        world.run_as(None, &["config", "set", "knowledge.save", "true"]);
    }
    clones
}

fn clone() -> Sealed {
    Sealed::new(env!("CARGO_BIN_EXE_consort"))
}

/// Runs git, which finds the merge driver as `consort`.
fn git(world: &Sealed, arguments: &[&str]) {
    let bin = world.program().parent().unwrap().display().to_string();
    let mut git = world.command("git");
    git.args(["-c", "user.name=x", "-c", "user.email=x@x", "-c", "pull.rebase=false"]).args(arguments);
    git.env("PATH", format!("{bin}:/usr/local/bin:/usr/bin:/bin"));
    let ran = world.ran(git.current_dir(world.project()));
    assert_eq!(ran.code, 0, "git {arguments:?}: {ran}");
}

fn push(world: &Sealed) {
    git(world, &["add", "-A"]);
    git(world, &["commit", "-q", "-m", "more"]);
    git(world, &["push", "-q", "origin", "main"]);
}

fn pull(world: &Sealed) {
    git(world, &["pull", "-q", "--no-edit", "origin", "main"]);
}

fn start(world: &Sealed, session: &str) -> String {
    world.hook_text(session, "SessionStart", &json!({ "source": "startup" })).unwrap_or_default()
}

fn prompt(world: &Sealed, session: &str) -> String {
    world.hook_text(session, "UserPromptSubmit", &json!({ "prompt": "go on" })).unwrap_or_default()
}

/// Calls a tool of a session's MCP server, ends the server, and returns the answer.
fn call(world: &Sealed, session: &str, tool: &str, arguments: &Value) -> String {
    let mut command = world.consort(["mcp"]);
    command.env("CONSORT_SESSION", session);
    let mut server = world.spawn_as_agent(&command);
    let mut input = server.stdin.take().unwrap();
    let mut output = BufReader::new(server.stdout.try_clone().unwrap());
    let mut ask = |id: u64, method: &str, params: Value| {
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        writeln!(input, "{request}").unwrap();
        loop {
            let mut line = String::new();
            assert_ne!(output.read_line(&mut line).unwrap(), 0, "the server has gone");
            let answer: Value = serde_json::from_str(&line).unwrap();
            if answer["id"] == json!(id) {
                return answer;
            }
        }
    };
    let client = json!({ "name": "probe", "version": "1" });
    ask(
        1,
        "initialize",
        json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client }),
    );
    let answer = ask(2, "tools/call", json!({ "name": tool, "arguments": arguments }));
    drop(input);
    server.wait();
    answer["result"]["content"][0]["text"].as_str().unwrap_or_default().to_owned()
}

fn record(world: &Sealed, session: &str, name: &str) {
    let action = json!(["record-principle", { "name": name, "description": format!("About {name}") }]);
    let told = call(world, session, "act", &json!({ "actions": [action] }));
    assert!(told.contains("recorded principle"), "{told}");
}

fn file(world: &Sealed) -> std::path::PathBuf {
    world.project().join(".consort/knowledge.yjs")
}

/// Sessions start and their agents call MCP tools, and no command is typed.
#[test]
fn agents_that_only_use_hooks_and_mcp_share_what_they_learn() {
    let (one, other) = clones();
    start(&one, "s1");
    start(&other, "s2");
    record(&one, "s1", "from-one");
    push(&one);
    pull(&other);
    let told = start(&other, "s3");
    assert!(told.contains("- principle from-one, by "), "{told}");

    record(&other, "s3", "from-other");
    push(&other);
    pull(&one);
    // A query takes in the file from git, as a starting session does.
    let told = call(&one, "s1", "query", &json!({ "expr": "(map :name (get-principles))" }));
    assert!(told.contains("from-one") && told.contains("from-other"), "{told}");
    let told = start(&one, "s4");
    assert!(told.contains("- principle from-other, by "), "{told}");

    // Both clones record something, git merges, and neither loses anything.
    record(&one, "s1", "again-one");
    record(&other, "s3", "again-other");
    push(&one);
    git(&other, &["add", "-A"]);
    git(&other, &["commit", "-q", "-m", "mine"]);
    pull(&other);
    let told = start(&other, "s5");
    assert!(told.contains("again-one") && told.contains("again-other"), "{told}");
}

/// The file, which is extended with every save, is the same as if it were written at once.
#[test]
fn what_is_saved_piece_by_piece_is_the_whole_document() {
    let (one, other) = clones();
    let is_whole = || {
        let saved = fs::read(file(&one)).unwrap();
        one.move_away(&one.project().join(".consort"));
        one.run("know save");
        assert!(saved == fs::read(file(&one)).unwrap(), "the bytes are others");
    };
    for name in ["a", "b", "c"] {
        one.run_as(None, &["know", "add", "principle", name, "first words", "tags=x"]);
    }
    is_whole();
    // Edits that replace a value, add a record and remove a tag.
    one.run_as(None, &["know", "add", "principle", "a", "second words"]);
    one.run_as(None, &["know", "add", "principle", "d", "first words"]);
    let removed = json!([["record-principle", { "name": "b", "tags": ["y"], "remove": { "tags": ["x"] } }]]);
    fs::write(one.path().join("batch.json"), removed.to_string()).unwrap();
    assert_eq!(one.run_as(None, &["know", "apply", "../batch.json"]).code, 0);
    is_whole();
    push(&one);
    pull(&other);
    let all = "(map (lambda (p) (list (@ p :name) (@ p :description))) (get-principles))";
    assert_eq!(ask(&one, all), ask(&other, all));
    assert!(ask(&other, all).contains("second words"));
    // Without the setting nothing is written.
    other.run_as(None, &["config", "set", "knowledge.save", "false"]);
    let before = fs::read(file(&other)).unwrap();
    other.run_as(None, &["know", "add", "principle", "e", "not saved"]);
    assert!(before == fs::read(file(&other)).unwrap());
}

/// A starting session does not wait for a long file to be read; it is told once somebody has read it.
#[test]
fn a_long_file_is_told_with_the_next_prompt() {
    let (one, other) = clones();
    start(&other, "s1");
    let long = "x".repeat(12 << 10);
    let many: Vec<Value> = (0..40)
        .map(|n| json!(["record-principle", { "name": format!("long-{n}"), "description": long }]))
        .collect();
    fs::write(one.path().join("batch.json"), json!(many).to_string()).unwrap();
    assert_eq!(one.run_as(None, &["know", "apply", "../batch.json"]).code, 0);
    assert!(fs::metadata(file(&one)).unwrap().len() > 256 << 10);
    push(&one);
    pull(&other);
    assert!(!start(&other, "s2").contains("long-"));
    assert!(!prompt(&other, "s2").contains("long-"));
    call(&other, "s1", "query", &json!({ "expr": "(overview)" }));
    let told = prompt(&other, "s2");
    assert!(told.contains("- principle long-"), "{told}");
    assert!(!prompt(&other, "s2").contains("long-"), "once");
    assert!(start(&other, "s3").contains("- principle long-"));
}

/// A running server writes the file a moment after the record, not only when it ends.
#[test]
fn a_server_does_not_wait_for_its_end() {
    let (one, _other) = clones();
    start(&one, "s1");
    let mut command = one.consort(["mcp"]);
    command.env("CONSORT_SESSION", "s1");
    let mut server = one.spawn_as_agent(&command);
    let mut input = server.stdin.take().unwrap();
    let client = json!({ "name": "probe", "version": "1" });
    let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
    writeln!(input, "{}", json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello }))
        .unwrap();
    let actions = json!([["record-principle", { "name": "a", "description": "some words" }]]);
    let call = json!({ "name": "act", "arguments": { "actions": actions } });
    writeln!(input, "{}", json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call }))
        .unwrap();
    appears(&file(&one));
    drop(input);
    server.wait();
}

fn appears(path: &Path) {
    let start = std::time::Instant::now();
    while !path.exists() {
        assert!(start.elapsed().as_secs() < 30, "{} does not come", path.display());
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

/// Values from another clone must pass the checks for values recorded here, and are marked with the
/// way they came.
#[test]
fn foreign_values_are_checked_and_marked() {
    let (one, other) = clones();
    one.run_as(None, &["know", "add", "principle", "theirs", "some words", "confidence=0.5"]);
    // Somebody writes the file with another program.
    let mut forged = consort_knowledge::document::Document::load(&fs::read(file(&one)).unwrap()).unwrap();
    let (id, entity) = forged.entities().into_iter().next().unwrap();
    let said = entity.registers["name"].at;
    let set = |field: &str, value: Value| consort_crdt::Edit {
        entity: id.clone(),
        change: consort_crdt::Change::Set { field: field.into(), value },
    };
    let edits = [
        set("confidence", json!(99)),
        set("description", json!("x".repeat(20 << 10))),
        set("rationale", json!(["no", "text"])),
        set("evidence-of-a-later-version", json!(1)),
    ];
    let by = json!({ "name": "you\u{1b}[31m", "kind": "claude" });
    forged.edit(&edits, &consort_crdt::Stamp { at: 4_000_000_000, writer: 77, by: by.clone() }).unwrap();
    let late = consort_crdt::Stamp { at: said + 1_000, writer: 77, by };
    forged.edit(&[set("confidence", json!(7)), set("name", json!("theirs"))], &late).unwrap();
    fs::create_dir_all(other.project().join(".consort")).unwrap();
    fs::write(file(&other), forged.state()).unwrap();
    assert_eq!(ask(&other, "(@ (get-principle \"theirs\") :confidence)"), "0.5");
    assert_eq!(ask(&other, "(@ (get-principle \"theirs\") :description)"), "\"some words\"");
    assert_eq!(ask(&other, "(@ (get-principle \"theirs\") :via)"), "\"git\"");
    let told = start(&other, "s1");
    assert!(
        told.contains("- principle theirs, by \"you [31m\" (git): ") && told.contains("(git): "),
        "{told:?}"
    );
    assert!(!told.contains('\u{1b}'), "{told:?}");
    assert_eq!(other.run("journal verify").code, 0);
}

/// If one clone renames a record and the other links something to the old name, the link survives.
#[test]
fn concurrent_renames_keep_their_links() {
    let (one, other) = clones();
    for name in ["a", "b"] {
        one.run_as(None, &["know", "add", "principle", name, "some words"]);
    }
    push(&one);
    pull(&other);
    assert_eq!(ask(&other, "(length (get-principles))"), "2");
    let act = |world: &Sealed, action: Value| {
        fs::write(world.path().join("batch.json"), json!([action]).to_string()).unwrap();
        let ran = world.run_as(None, &["know", "apply", "../batch.json"]);
        assert_eq!(ran.code, 0, "{ran}");
    };
    act(&one, json!(["rename", { "name": "a", "to": "renamed" }]));
    act(&other, json!(["link-entities", { "from": "a", "to": "b", "type": "supports" }]));
    push(&one);
    git(&other, &["add", "-A"]);
    git(&other, &["commit", "-q", "-m", "mine"]);
    pull(&other);
    git(&other, &["push", "-q", "origin", "main"]);
    pull(&one);
    for world in [&one, &other] {
        assert_eq!(super::bare(world, "(map :from (get-relationships-to \"b\"))"), "(renamed)");
        assert_eq!(super::bare(world, "(map :to (get-relationships-from \"renamed\"))"), "(b)");
        assert_eq!(ask(world, "(get-relationships-from \"a\")"), "()");
        // The link survives further renames.
        act(world, json!(["rename", { "name": "renamed", "to": "again" }]));
        assert_eq!(super::bare(world, "(map :from (get-relationships))"), "(again)");
        act(world, json!(["rename", { "name": "again", "to": "renamed" }]));
        assert_eq!(world.run("journal verify").code, 0);
    }
}

/// Without the merge driver git keeps one side; the next save has both, and tells how to install it.
#[test]
fn a_clone_without_the_merge_driver_loses_no_side() {
    let (one, other) = clones();
    one.run_as(None, &["know", "add", "principle", "base", "some words"]);
    push(&one);
    pull(&other);
    assert_eq!(ask(&other, "(length (get-principles))"), "1");
    other.run("uninit --git-merge --yes");
    let warned = other.run("know save").stderr;
    assert!(warned.contains("this clone cannot merge .consort/knowledge.yjs"), "{warned}");
    assert!(!one.run("know save").stderr.contains("cannot merge"));
    one.run_as(None, &["know", "add", "principle", "ones", "some words"]);
    push(&one);
    other.run_as(None, &["know", "add", "principle", "others", "some words"]);
    git(&other, &["checkout", "-q", "--", ".gitattributes"]);
    git(&other, &["add", "-A"]);
    git(&other, &["commit", "-q", "-m", "mine"]);
    let mut pull = other.command("git");
    pull.args(["-c", "user.name=x", "-c", "user.email=x@x", "-c", "pull.rebase=false"]);
    pull.args(["pull", "-q", "--no-edit", "origin", "main"]);
    assert_ne!(other.ran(pull.current_dir(other.project())).code, 0, "git cannot merge it");
    let saved = other.run("know save");
    assert!(saved.stderr.contains("both sides are in it now"), "{saved}");
    let fresh = clone();
    git(&fresh, &["init", "-q", "-b", "main"]);
    fs::create_dir_all(fresh.project().join(".consort")).unwrap();
    fs::copy(file(&other), file(&fresh)).unwrap();
    assert_eq!(super::bare(&fresh, "(names \"principles\")"), "(base ones others)");
}

/// Forgotten knowledge is nowhere afterwards: not in the journal, not in the file for git, not
/// in other clones that had it.
#[test]
fn what_is_forgotten_is_gone_everywhere() {
    let (one, other) = clones();
    start(&one, "s1");
    one.run_as(None, &["know", "add", "principle", "kept", "stays"]);
    one.run_as(
        None,
        &["know", "add", "principle", "slip", "first hunter2 words", "tags=hunter2tag", "tags=x"],
    );
    one.run_as(None, &["know", "add", "principle", "slip", "second hunter2 words"]);
    push(&one);
    pull(&other);
    assert_eq!(super::bare(&other, "(names \"principles\")"), "(kept slip)");
    other.run_as(None, &["know", "add", "principle", "slip", "third hunter2 words", "tags=hunter2again"]);
    push(&other);
    pull(&one);
    assert!(ask(&one, "(get-principle \"slip\")").contains("third hunter2"));
    let refused = one.run_as(Some("s1"), &["know", "forget", "slip"]);
    assert_eq!(refused.code, 1, "{refused}");
    let forgot = one.run_as(None, &["know", "forget", "slip"]);
    assert_eq!(forgot.code, 0, "{forgot}");
    // A record without lists can be forgotten too.
    one.run_as(None, &["know", "add", "note", "plain", "more hunter2 words"]);
    assert_eq!(one.run_as(None, &["know", "forget", "plain"]).code, 0);
    assert!(!contains(&fs::read(file(&one)).unwrap()), "the file for git, as it is written by itself");
    push(&one);
    pull(&other);
    for world in [&one, &other] {
        assert_eq!(super::bare(world, "(names \"principles\")"), "(kept)");
        world.run("know save");
        assert!(!contains(&fs::read(file(world)).unwrap()), "the file for git");
        let journal = world.run("journal tail -n 1000 --json").stdout;
        assert!(journal.contains("stays") && !contains(journal.as_bytes()), "the journal");
        assert_eq!(world.run("journal verify").code, 0);
        for name in ["consort.db", "consort.db-wal"] {
            let bytes = fs::read(world.data().join(name)).unwrap();
            assert!(!contains(&bytes), "{name}");
        }
    }
    // Both clones go on and still exchange knowledge.
    other.run_as(None, &["know", "add", "principle", "slip", "clean words"]);
    push(&other);
    pull(&one);
    assert_eq!(ask(&one, "(@ (get-principle \"slip\") :description)"), "\"clean words\"");
    one.run_as(None, &["know", "add", "principle", "kept", "goes on"]);
    push(&one);
    pull(&other);
    assert_eq!(ask(&other, "(@ (get-principle \"kept\") :description)"), "\"goes on\"");
    assert_eq!(one.run_as(None, &["know", "forget", "never"]).code, 1);
}

fn contains(bytes: &[u8]) -> bool {
    let hex: String = b"hunter2".iter().map(|byte| format!("{byte:02x}")).collect();
    bytes.windows(7).any(|piece| piece == b"hunter2")
        || bytes.windows(14).any(|piece| piece == hex.as_bytes())
}

/// The file has all knowledge; the journal records only what is new in it.
#[test]
fn what_is_known_already_is_not_recorded_again() {
    let (one, other) = clones();
    let words = "of some length ".repeat(200);
    for name in ["first", "second"] {
        assert_eq!(one.run_as(None, &["know", "add", "principle", name, &words]).code, 0);
    }
    push(&one);
    pull(&other);
    assert_eq!(ask(&other, "(length (get-principles))"), "2");
    assert_eq!(one.run_as(None, &["know", "add", "principle", "third", "short"]).code, 0);
    push(&one);
    pull(&other);
    assert_eq!(bare(&other, "(map :name (get-principles))"), "(first second third)");
    let journal: Value = serde_json::from_str(&other.run("journal tail --json").stdout).unwrap();
    let entries = journal["items"].as_array().unwrap();
    let lengths: Vec<usize> = entries.iter().map(|entry| entry.to_string().len()).collect();
    let (longest, last) = (lengths.iter().max().unwrap(), lengths.last().unwrap());
    assert!(*longest > words.len() && last * 3 < *longest, "{lengths:?}");
}
