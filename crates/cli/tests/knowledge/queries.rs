//! Tests of queries as models write them: the examples, copies of them, and misspelled ones.

use std::fs;

use serde_json::Value;
use serde_json::json;

use super::act;
use super::ask;
use super::world;

/// Returns the batch of the first description, for a project without knowledge.
fn batch() -> Value {
    json!({
        "projectId": "shop",
        "actions": [
            ["record-principle", {
                "name": "contagious-materialization",
                "description": "Syncing spreads from root automatically",
                "confidence": 0.95,
                "locations": ["plexus/README.md:28"],
                "evidence": ["tested-in-production", "documented-extensively"],
                "tags": ["plexus", "sync"]
            }],
            ["link-entities", {
                "from": "contagious-materialization",
                "to": "world-state-tree",
                "type": "implements",
                "description": "Root materialization triggers child sync"
            }],
            ["record-pattern", {
                "name": "plexus-model-with-decorators",
                "type": "plexus-model",
                "description": "Class extends PlexusModel with @syncing decorators",
                "location": "plexus/src/PlexusModel.ts:15",
                "confidence": 0.9,
                "tags": ["plexus", "pattern"]
            }],
            ["record-file-understanding", {
                "path": "plexus/src/PlexusModel.ts",
                "hash": "abc123...",
                "summary": "Base class for all Plexus entities",
                "concepts": ["decorators", "CRDT", "reactivity"],
                "importantSymbols": ["PlexusModel", "@syncing"],
                "relatedFiles": ["plexus/src/Plexus.ts"]
            }],
            ["record-decision", {
                "name": "use-stage3-decorators",
                "description": "Use Stage 3 TC39 decorators for Plexus tracking",
                "rationale": "Native browser support, type-safe, automatic tracking",
                "status": "active",
                "impact": 9,
                "locations": ["plexus/README.md:45"]
            }]
        ]
    })
}

#[test]
fn every_example_is_answered_and_the_page_has_them() {
    let world = world();
    fs::write(world.path().join("batch.json"), batch().to_string()).unwrap();
    let recorded = world.run_as(Some("s1"), &["know", "apply", "../batch.json"]);
    assert_eq!(recorded.code, 0, "{recorded}");
    assert!(recorded.stdout.contains("(nothing is known of world-state-tree yet)"), "{recorded}");
    act(
        &world,
        Some("s1"),
        &json!([["record-principle", { "name": "relief-driven-development", "confidence": 0.8 }]]),
    );

    let examples = world.run("know query --examples").stdout;
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/queries.md")).unwrap();
    assert!(page.contains(&examples), "docs/queries.md has other examples");
    let mut seen = 0;
    for example in examples.lines().filter(|line| line.starts_with("(") && !line.contains("sure")) {
        let ran = world.run_as(None, &["know", "query", example]);
        let may_be_empty = ["get-stale", "get-neighbours"].iter().any(|name| example.contains(name));
        assert_eq!(ran.code, 0, "{example}: {ran}");
        assert!(may_be_empty || !matches!(ran.stdout.trim(), "()" | "nil"), "{example}: {ran}");
        assert!(!ran.stdout.contains("did you mean"), "{example}: {ran}");
        seen += 1;
    }
    assert!(seen > 20);
    // Several expressions in one argument, and in several arguments.
    let all = world.run_as(None, &["know", "query", &examples]);
    assert!(all.code == 0 && all.stdout.ends_with("(\"contagious-materialization\")\n"), "{all}");
    let two = world.run_as(None, &["know", "query", "(define x 1)", "(+ x 1)"]);
    assert_eq!(two.stdout, "x\n2\n");
}

#[test]
fn a_batch_for_a_project_that_is_not_known_is_refused() {
    let world = world();
    let mut batch = batch();
    batch["projectId"] = json!("foundation");
    fs::write(world.path().join("batch.json"), batch.to_string()).unwrap();
    let refused = world.run_as(Some("s1"), &["know", "apply", "../batch.json"]);
    assert!(refused.code != 0 && refused.stderr.contains("foundation"), "{refused}");
    assert_eq!(ask(&world, "(get-principles)"), "()");
}

#[test]
fn what_is_copied_from_an_answer_finds_it_again() {
    let world = world();
    fs::write(world.path().join("batch.json"), batch().to_string()).unwrap();
    assert_eq!(world.run_as(Some("s1"), &["know", "apply", "../batch.json"]).code, 0);
    for found in [
        "(length (filter (lambda (p) (member 'sync (@ p :tags))) (get-principles)))",
        "(length (filter (lambda (p) (equal? (@ p :name) 'contagious-materialization)) (get-principles)))",
        "(length (get-principles-by-tag 'sync))",
    ] {
        assert_eq!(ask(&world, found), "1", "{found}");
    }
    let bare = world.run_as(None, &["know", "query", "(get-principle contagious-materialization)"]);
    assert!(bare.stdout.contains(r#":hint "a text stands in quotes"#), "{bare}");
    // Hashes are shown only if asked for.
    assert!(!ask(&world, "(get-files)").contains("hash"));
    assert_ne!(ask(&world, "(map :hash (get-files))"), "(nil)");
}

#[test]
fn a_slip_of_the_pen_is_told() {
    let world = world();
    fs::write(world.path().join("batch.json"), batch().to_string()).unwrap();
    assert_eq!(world.run_as(Some("s1"), &["know", "apply", "../batch.json"]).code, 0);
    for (asked, told) in [
        ("(get-principle \"contagious-materialisation\")", "did you mean \"contagious-materialization\"?"),
        (
            "(get-patterns-by-type \"plexus-modle\")",
            "no pattern has the type \"plexus-modle\"; did you mean \"plexus-model\"?",
        ),
        (
            "(get-principles-by-tag \"plexsu\")",
            "no principle has the tag \"plexsu\"; did you mean \"plexus\"?",
        ),
        ("(get-patterns-by-type \"zebra\")", "no pattern has the type \"zebra\"; there are "),
        ("(get-decisions-by-status \"activ\")", "did you mean \\\"active\\\"?"),
        ("(get-decisions-by-status \"odd\")", "there are active, deprecated, superseded"),
        (
            "(map :confidance (get-principles))",
            "no record has a field :confidance; did you mean :confidence?",
        ),
        ("(get-principels)", "did you mean `get-principles`?"),
    ] {
        let ran = world.run_as(None, &["know", "query", asked]);
        assert!(ran.stdout.contains(told), "{asked}: {ran}");
    }
    let json = world.run_as(None, &["know", "query", "--json", "(map :confidance (get-principles))"]);
    assert!(json.stdout.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()), "{json}");
}

#[test]
fn things_are_found_before_the_links_between_them_each_on_its_line() {
    let world = world();
    fs::write(world.path().join("batch.json"), batch().to_string()).unwrap();
    assert_eq!(world.run_as(Some("s1"), &["know", "apply", "../batch.json"]).code, 0);
    let found = ask(&world, "(search-knowledge \"materialization\")");
    let lines: Vec<&str> = found.lines().collect();
    assert_eq!(lines.len(), 2, "{found}");
    assert!(lines[0].starts_with("((principle \"contagious-materialization\""), "{found}");
    assert!(lines[1].starts_with(" (relationship "), "{found}");
    for (words, first) in [
        // Searches by all words, by the beginning of a word, by any of the words.
        ("spreads syncing", "contagious-materialization"),
        ("contag", "contagious-materialization"),
        ("how do we track with stage3 in the browser", "use-stage3-decorators"),
    ] {
        let found = ask(&world, &format!("(map :name (search-knowledge \"{words}\"))"));
        assert!(found.starts_with(&format!("(\"{first}\"")), "{words}: {found}");
    }
}

/// A later record of a batch is more recent, whatever its kind and its name.
#[test]
fn the_most_recent_comes_first_within_a_batch_too() {
    let world = world();
    act(&world, None, &json!([["record-principle", { "name": "before", "description": "d" }]]));
    let said = ["m", "z", "a", "k"];
    let batch: Vec<Value> = said
        .iter()
        .zip(["principle", "note", "principle", "note"])
        .map(|(name, kind)| json!([format!("record-{kind}"), { "name": name, "description": "d" }]))
        .collect();
    let ran = act(&world, None, &json!(batch));
    assert!(ran.code == 0, "{ran:?}");
    assert_eq!(ask(&world, "(map :name (recent 5))"), r#"("k" "a" "z" "m" "before")"#);
    assert_eq!(ask(&world, "(map :name (recent 2))"), r#"("k" "a")"#);
    assert_eq!(ask(&world, "(recent 0)"), "()");
}

/// The `cdr` of a pair is its second element, as association lists need it.
#[test]
fn pairs_are_taken_apart_as_they_were_made() {
    let world = world();
    for (asked, answered) in [
        ("(cdr (cons \"a\" 3))", "3"),
        ("(cadr (cons \"a\" 3))", "3"),
        ("(cdr (assoc \"b\" '((\"a\" . 1) (\"b\" . 2))))", "2"),
        ("(cdr (cdr (cons 1 (cons 2 3))))", "3"),
        ("(cdr (list \"a\" 3))", "(3)"),
        ("(cdr (cons \"a\" (list 1 2)))", "(1 2)"),
        ("(map cdr (count-by odd? (list 1 2 3)))", "(2 1)"),
        ("(format \"~a: ~a\" (car (cons 1 2)) (cdr (cons 1 2)))", "\"1: 2\""),
        ("(@ (list (cons \"a\" 3)) \"a\")", "3"),
    ] {
        assert_eq!(ask(&world, asked), answered, "{asked}");
    }
    assert!(ask(&world, "'(1 . 2 3)").contains("a dot stands only in a pair"));
}

/// Files are related both ways, and an unknown name is told apart from one without links.
#[test]
fn files_are_related_both_ways() {
    let world = world();
    for file in ["one.rs", "two.rs"] {
        fs::write(world.project().join(file), "x\n").unwrap();
    }
    let file = |path: &str, related: &[&str]| {
        let fields = json!({ "path": path, "summary": "s", "relatedFiles": related });
        json!(["record-file-understanding", fields])
    };
    act(&world, None, &json!([file("one.rs", &["two.rs", "three.rs"]), file("two.rs", &[])]));
    assert_eq!(ask(&world, "(map :path (get-related-files \"two.rs\"))"), r#"("one.rs")"#);
    let both = ask(&world, "(get-related-files \"one.rs\")");
    assert!(both.contains("two.rs") && both.contains("\"three.rs\""), "{both}");
    for asked in
        ["(get-related-files \"two.r\")", "(get-neighbours \"two.r\")", "(get-relationships-to \"two.r\")"]
    {
        let told = ask(&world, asked);
        assert!(told.contains("nothing is called \"two.r\"; did you mean \"two.rs\"?"), "{asked}: {told}");
    }
    let first = "(first (get-files))";
    assert_eq!(ask(&world, &format!("(@ {first} :summary)")), "\"s\"");
}

/// A query for half of a path, or for the wrong kind, gets a hint.
#[test]
fn a_near_miss_is_told() {
    let world = world();
    fs::create_dir_all(world.project().join("src")).unwrap();
    fs::write(world.project().join("src/one.rs"), "x\n").unwrap();
    act(
        &world,
        None,
        &json!([
            ["record-file-understanding", { "path": "src/one.rs", "summary": "s" }],
            ["record-note", { "name": "ask-olga", "description": "d", "tags": ["people"] }],
        ]),
    );
    let told = ask(&world, "(get-file-understanding \"one.rs\")");
    assert!(told.contains("no file is \"one.rs\"; did you mean \"src/one.rs\"?"), "{told}");
    assert!(ask(&world, "(get-principle \"ask-olga\")").contains("\"ask-olga\" is a note"));
    assert_eq!(ask(&world, "(map :name (get-notes-by-tag \"people\"))"), r#"("ask-olga")"#);
    assert!(ask(&world, "(get-files-by-concept \"x\")").contains("there is no such function"));
}
