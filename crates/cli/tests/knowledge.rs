//! Tests of knowledge: recorded, asked for, told to sessions, shared through git.

mod files;
mod forms;
mod git;
mod json;
mod queries;
mod replicas;

use std::fs;

use consort_testkit::Sealed;
use expect_test::expect;
use serde_json::Value;
use serde_json::json;

fn world() -> Sealed {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    world.with_falcon_and_raven()
}

fn act(world: &Sealed, session: Option<&str>, actions: &Value) -> consort_testkit::Ran {
    fs::write(world.path().join("batch.json"), json!({ "actions": actions }).to_string()).unwrap();
    world.run_as(session, &["know", "apply", "../batch.json"])
}

fn ask(world: &Sealed, expression: &str) -> String {
    let ran = world.run_as(None, &["know", "query", expression]);
    assert_eq!(ran.stderr, "", "{ran}");
    ran.stdout.trim_end().to_owned()
}

/// Returns the answer of a query, without quotation marks.
fn bare(world: &Sealed, expression: &str) -> String {
    ask(world, expression).replace('"', "")
}

fn some() -> Value {
    json!([
        ["record-principle", {
            "name": "contagious-materialization", "description": "Syncing spreads from root automatically",
            "confidence": 0.95, "locations": ["plexus/README.md:28"], "evidence": ["tested-in-production"], "tags": ["plexus", "sync"],
        }],
        ["record-principle", { "name": "one-writer", "description": "One process writes at a time", "confidence": 0.6 }],
        ["record-pattern", { "name": "model", "type": "plexus-model", "description": "A class with decorators", "location": "src/model.rs:15" }],
        ["record-decision", { "name": "use-sqlite", "description": "One file, no daemon", "rationale": "local first", "impact": 9 }],
        ["record-file-understanding", { "path": "src/model.rs", "summary": "Base of all entities", "relatedFiles": ["src/lib.rs"] }],
        ["link-entities", { "from": "contagious-materialization", "to": "src/model.rs", "type": "implements" }],
    ])
}

#[test]
fn what_one_records_everyone_can_ask() {
    let world = world();
    let recorded = act(&world, Some("s1"), &some());
    assert!(
        recorded.stdout.starts_with("Entry #1: recorded principle contagious-materialization; "),
        "{recorded}"
    );
    expect![[r#"
        (principles (name description confidence locations evidence tags)
         (contagious-materialization "Syncing spreads from root automatically" 0.95 (plexus/README.md:28) (tested-in-production) (plexus sync))
         (one-writer "One process writes at a time" 0.6))
    "#]]
    .assert_eq(&(ask(&world, "(get-principles)") + "\n"));
    expect![[r#"
        (principle "contagious-materialization" "Syncing spreads from root automatically" :confidence 0.95 :locations ["plexus/README.md:28"] :evidence ["tested-in-production"] :tags ["plexus" "sync"])
    "#]]
    .assert_eq(&(ask(&world, "(get-principle \"contagious-materialization\")") + "\n"));
    for (expression, answer) in [
        (
            "(map :name (filter (lambda (p) (> (@ p :confidence) 0.8)) (get-principles)))",
            "(contagious-materialization)\n",
        ),
        ("(overview)", "(dict :principles 2 :patterns 1 :decisions 1 :files 1 :notes 0 :relationships 1)"),
        ("(names \"principles\")", "(contagious-materialization one-writer)"),
        (
            "(get-relationships-from \"contagious-materialization\")",
            "(relationships (from to type)\n (contagious-materialization src/model.rs implements))\n",
        ),
        ("(map :name (get-neighbours \"src/model.rs\"))", "(contagious-materialization)"),
        (
            "(map :name (about-file \"src/model.rs\"))",
            "(src/model.rs model contagious-materialization contagious-materialization implements src/model.rs)",
        ),
        ("(map :name (search-knowledge \"syncs\"))", "(contagious-materialization)"),
        ("(@ (get-decision \"use-sqlite\") :status)", "active"),
        ("(get-pattern \"nothing\")", "nil"),
        ("(map :name (get-patterns-by-type \"plexus-model\"))", "(model)"),
        ("(get-related-files \"src/model.rs\")", "(src/lib.rs)"),
        ("(@ (get-principle \"one-writer\") :by)", "Falcon"),
        ("(define xs (get-principles)) (length xs)", "xs\n2"),
    ] {
        assert_eq!(bare(&world, expression), answer.trim_end(), "{expression}");
    }
    let failed = world.run_as(None, &["know", "query", "(length (get-principles)) (get-principels)"]);
    assert_eq!((failed.code, failed.stdout.lines().next()), (1, Some("2")), "{failed}");
    assert!(failed.stdout.contains("(error ") && failed.stdout.contains("get-principles"), "{failed}");
    assert_eq!(world.run("journal verify").code, 0);
}

#[test]
fn a_batch_is_all_or_nothing_and_once_if_asked() {
    let world = world();
    let wrong = act(
        &world,
        Some("s1"),
        &json!([["record-principle", { "name": "a", "description": "d" }], ["fly", {}]]),
    );
    assert_eq!(wrong.code, 1);
    assert!(wrong.stderr.contains("action 1 (fly): there is no such action"), "{wrong}");
    assert_eq!(ask(&world, "(get-principles)"), "()");
    for said in ["Entry #1: recorded principle a\n", "Recorded before as entry #1.\n"] {
        fs::write(
            world.path().join("batch.json"),
            r#"[["record-principle", {"name": "a", "description": "d"}]]"#,
        )
        .unwrap();
        assert_eq!(world.run_as(Some("s1"), &["know", "apply", "../batch.json", "--key", "k"]).stdout, said);
    }
    assert_eq!(
        world
            .run_as(Some("s1"), &["know", "add", "principle", "a", "confidence=0.3", "tags=x", "tags=y"])
            .stdout,
        "Entry #2: updated principle a\n"
    );
    assert_eq!(bare(&world, "(@ (get-principle \"a\") :tags)"), "(x y)");
    // The person's own knowledge is kept apart from the project's.
    world.run_as(None, &["know", "add", "principle", "mine", "everywhere", "--global"]);
    assert_eq!(bare(&world, "(map :name (get-principles))"), "(a)");
    assert_eq!(
        world.run_as(None, &["know", "query", "--global", "(map :name (get-principles))"]).stdout,
        "(\"mine\")\n"
    );
}

#[test]
fn nothing_is_lost_with_eight_who_write_at_once() {
    let world = world();
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let world = &world;
            scope.spawn(move || {
                for number in 0..100 {
                    let name = format!("p-{writer}-{number}");
                    let ran =
                        world.run_as(None, &["know", "add", "principle", &name, "one of eight hundred"]);
                    assert_eq!(ran.code, 0, "{ran}");
                }
            });
        }
    });
    assert_eq!(ask(&world, "(length (get-principles))"), "800");
    // A damaged index is made again from the journal.
    for damage in [b"".as_slice(), b"no database at all"] {
        fs::remove_file(world.data().join("knowledge-13.db-wal")).ok();
        fs::write(world.data().join("knowledge-13.db"), damage).unwrap();
        assert_eq!(ask(&world, "(length (get-principles))"), "800");
    }
}

#[test]
fn the_past_can_be_asked() {
    let world = world();
    world.run_as(Some("s1"), &["know", "add", "principle", "a", "first words"]);
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    world.git(&["commit", "-q", "--allow-empty", "-m", "between"]);
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    world.run_as(Some("s2"), &["know", "add", "principle", "a", "second words"]);
    let then = |when: &str| {
        world.run_as(None, &["know", "as-of", when, "(@ (get-principle \"a\") :description)"]).stdout
    };
    assert_eq!(then("HEAD"), "\"first words\"\n");
    assert_eq!(then("1s"), "\"first words\"\n");
    assert_eq!(then("2020-01-01"), "nil\n");
    let history = world.run_as(None, &["know", "history", "a"]).stdout;
    assert!(
        history.contains("Falcon") && history.contains("first words") && history.contains("Raven"),
        "{history}"
    );
    assert!(world.run_as(None, &["know", "as-of", "never", "1"]).stdout.contains("is no moment"));
    // A time that `history` returns can be used in `as-of`.
    let first = ask(&world, "(@ (first (history \"a\")) :at)");
    assert_eq!(then(first.trim_matches('"')), "\"first words\"\n");
    // A date means the end of that day.
    assert!(then(&first.trim_matches('"')[..10]).contains("words"));
    // A link is one line of the history.
    act(&world, Some("s1"), &json!([["link-entities", { "from": "a", "to": "elsewhere", "type": "uses" }]]));
    let links = bare(&world, "(filter (lambda (h) (equal? (@ h :field) \"link\")) (history \"a\"))");
    assert!(links.contains("a uses elsewhere"), "{links}");
    assert!(!bare(&world, "(history \"a\")").contains("from-id"));
}

/// The index is ahead of a store that was restored from a backup.
#[test]
fn an_index_that_is_ahead_is_made_anew() {
    let world = world();
    let record = |name: &str| world.run_as(None, &["know", "add", "principle", name, "some words"]);
    let store = ["consort.db", "consort.db-wal"].map(|file| world.data().join(file));
    record("before");
    let kept = store.each_ref().map(|file| fs::read(file).unwrap_or_default());
    record("after");
    assert_eq!(ask(&world, "(map :name (get-principles))"), "(\"after\" \"before\")");
    for (file, kept) in store.iter().zip(kept) {
        fs::write(file, kept).unwrap();
    }
    assert_eq!(ask(&world, "(map :name (get-principles))"), "(\"before\")");
    // Also if the restored store has since got as many entries, with other content.
    record("instead");
    assert_eq!(ask(&world, "(map :name (get-principles))"), "(\"before\" \"instead\")");
}

#[test]
fn a_session_that_starts_is_told_what_was_learned() {
    let world = world();
    act(&world, Some("s1"), &some());
    let told = world.hook_text("s9", "SessionStart", &json!({ "source": "startup" })).unwrap();
    assert!(told.contains("- principle contagious-materialization, by Falcon: \"Syncing spreads"), "{told}");
    assert!(told.contains("- decision use-sqlite, by Falcon: \"One file, no daemon\""), "{told}");
    world.run_as(None, &["config", "set", "knowledge.digest_tokens", "0"]);
    let told = world.hook_text("s10", "SessionStart", &json!({ "source": "startup" })).unwrap();
    assert!(!told.contains("contagious"), "{told}");
    // The text stays short, however much is known.
    world.run_as(None, &["config", "set", "knowledge.digest_tokens", "400"]);
    let many: Vec<Value> = (0..50)
        .map(|n| json!(["record-principle", { "name": format!("p{n}"), "description": "x".repeat(300) }]))
        .collect();
    act(&world, Some("s1"), &json!(many));
    let told = world.hook_text("s11", "SessionStart", &json!({ "source": "startup" })).unwrap();
    assert!(told.contains(" more)") && told.len() < 3_000, "{} {told}", told.len());
}

/// Writers that are killed at any moment leave whole batches or none, and acknowledged batches
/// are there.
#[test]
fn writers_may_be_killed_at_any_moment() {
    let world = world();
    let batch: Vec<Value> = (0..10)
        .map(|n| json!(["record-principle", { "name": format!("BATCH-{n}"), "description": "one of ten" }]))
        .collect();
    let batch = json!(batch).to_string();
    let acknowledged: Vec<String> = std::thread::scope(|scope| {
        let writers = (0..4).map(|writer| {
            let (world, batch) = (&world, &batch);
            scope.spawn(move || {
                let mut acknowledged = Vec::new();
                for number in 0..15_u64 {
                    let name = format!("w{writer}n{number}");
                    let file = world.path().join(format!("{name}.json"));
                    fs::write(&file, batch.replace("BATCH", &name)).unwrap();
                    let mut command = world.consort(["know", "apply", file.to_str().unwrap()]);
                    let mut child = command.stdout(std::process::Stdio::null()).spawn().unwrap();
                    if number % 3 == 0 {
                        std::thread::sleep(std::time::Duration::from_micros(writer * 977 + number * 1_531));
                        let _ = child.kill();
                    }
                    if child.wait().unwrap().success() {
                        acknowledged.push(name);
                    }
                }
                acknowledged
            })
        });
        writers.collect::<Vec<_>>().into_iter().flat_map(|writer| writer.join().unwrap()).collect()
    });
    let names = bare(&world, "(map :name (get-principles))");
    let names: Vec<&str> = names.trim_matches(['(', ')']).split(' ').collect();
    assert_eq!(names.len() % 10, 0, "half a batch: {names:?}");
    for batch in &acknowledged {
        assert_eq!(names.iter().filter(|name| name.starts_with(&format!("{batch}-"))).count(), 10, "{batch}");
    }
    assert!(acknowledged.len() >= 40, "{}", acknowledged.len());
    assert_eq!(world.run("journal verify").code, 0);
}

/// Recorded text reaches no terminal with control characters.
#[test]
fn what_was_recorded_moves_no_cursor() {
    let world = world();
    let said = "line\nother \u{1b}]0;title\u{7} \u{202e}";
    act(
        &world,
        Some("s1"),
        &json!([["record-principle", { "name": "evil\u{1b}[31m", "description": said }]]),
    );
    for line in [
        &["know", "query", "(get-principles)"][..],
        &["know", "query", "--json", "(get-principles)"],
        &["know", "export", "--markdown"],
        &["know", "export"],
        &["know", "similar", "line"],
        &["know", "search", "line"],
        &["journal", "tail"],
    ] {
        let ran = world.run_as(None, line);
        assert!(!ran.to_string().contains(['\u{1b}', '\u{7}']), "{line:?}: {ran:?}");
    }
    let told = world.hook_text("s9", "SessionStart", &json!({ "source": "startup" })).unwrap();
    assert!(told.contains("evil") && !told.contains('\u{1b}'), "{told:?}");
}

/// Every copy of a record's text counts against a query's limits.
#[test]
fn a_long_text_cannot_be_multiplied_without_end() {
    let world = world();
    act(&world, None, &json!([["record-principle", { "name": "long", "description": "x".repeat(16_000) }]]));
    let copied =
        "(let ((p (get-principle \"long\"))) (length (map (lambda (i) (@ p :description)) (iota 900000))))";
    let ran = world.run_as(None, &["know", "query", copied]);
    assert!(ran.stdout.starts_with("(error \"stopped after"), "{ran}");
}
