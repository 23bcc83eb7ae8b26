//! What is learned: recorded, asked for, told, shared through git.

#![expect(clippy::unwrap_used, reason = "a helper that cannot go on should stop the test")]

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
    world.run_as(session, &["act", "../batch.json"])
}

fn ask(world: &Sealed, expression: &str) -> String {
    let ran = world.run_as(None, &["ask", expression]);
    assert_eq!(ran.stderr, "", "{ran}");
    ran.stdout.trim_end().to_owned()
}

/// What is asked, without quotation marks.
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
    assert!(recorded.stdout.starts_with("#4: recorded principle contagious-materialization; "), "{recorded}");
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
        ("(overview)", "(dict :principles 2 :patterns 1 :decisions 1 :files 1 :relationships 1)"),
        ("(names \"principles\")", "(contagious-materialization one-writer)"),
        (
            "(get-relationships-from \"contagious-materialization\")",
            "(relationships (from to type)\n (contagious-materialization src/model.rs implements))\n",
        ),
        ("(map :name (get-neighbours \"src/model.rs\"))", "(contagious-materialization)"),
        ("(map :name (about-file \"src/model.rs\"))", "(src/model.rs model contagious-materialization nil)"),
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
    let failed = world.run_as(None, &["ask", "(length (get-principles)) (get-principels)"]);
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
    for said in ["#4: recorded principle a\n", "Recorded before as #4.\n"] {
        fs::write(
            world.path().join("batch.json"),
            r#"[["record-principle", {"name": "a", "description": "d"}]]"#,
        )
        .unwrap();
        assert_eq!(world.run_as(Some("s1"), &["act", "../batch.json", "--key", "k"]).stdout, said);
    }
    assert_eq!(
        world.run_as(Some("s1"), &["record", "principle", "a", "confidence=0.3", "tags=x", "tags=y"]).stdout,
        "#5: updated principle a\n"
    );
    assert_eq!(bare(&world, "(@ (get-principle \"a\") :tags)"), "(x y)");
    // Yours alone is another shelf.
    world.run_as(None, &["record", "principle", "mine", "everywhere", "--global"]);
    assert_eq!(bare(&world, "(map :name (get-principles))"), "(a)");
    assert_eq!(
        world.run_as(None, &["ask", "--global", "(map :name (get-principles))"]).stdout,
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
                    let ran = world.run_as(None, &["record", "principle", &name, "one of eight hundred"]);
                    assert_eq!(ran.code, 0, "{ran}");
                }
            });
        }
    });
    assert_eq!(ask(&world, "(length (get-principles))"), "800");
    // The index is never the truth.
    for damage in [b"".as_slice(), b"no database at all"] {
        fs::remove_file(world.data().join("knowledge.db-wal")).ok();
        fs::write(world.data().join("knowledge.db"), damage).unwrap();
        assert_eq!(ask(&world, "(length (get-principles))"), "800");
    }
}

#[test]
fn the_past_can_be_asked() {
    let world = world();
    world.run_as(Some("s1"), &["record", "principle", "a", "first words"]);
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    world.git(&["commit", "-q", "--allow-empty", "-m", "between"]);
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    world.run_as(Some("s2"), &["record", "principle", "a", "second words"]);
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
    // What history tells can be asked for.
    let first = ask(&world, "(@ (first (history \"a\")) :at)");
    assert_eq!(then(first.trim_matches('"')), "\"first words\"\n");
}

/// A store that was put back to what it was has an index that knows too much.
#[test]
fn an_index_that_is_ahead_is_made_anew() {
    let world = world();
    let record = |name: &str| world.run_as(None, &["record", "principle", name, "some words"]);
    let store = ["consort.db", "consort.db-wal"].map(|file| world.data().join(file));
    record("before");
    let kept = store.each_ref().map(|file| fs::read(file).unwrap_or_default());
    record("after");
    assert_eq!(ask(&world, "(map :name (get-principles))"), "(\"after\" \"before\")");
    for (file, kept) in store.iter().zip(kept) {
        fs::write(file, kept).unwrap();
    }
    assert_eq!(ask(&world, "(map :name (get-principles))"), "(\"before\")");
    // Also where as much was said since, and something else.
    record("instead");
    assert_eq!(ask(&world, "(map :name (get-principles))"), "(\"before\" \"instead\")");
}

/// Two replicas meet through a file, whatever each has said.
#[test]
fn two_replicas_merge_through_git() {
    let (one, other) = (world(), world());
    act(&one, None, &some());
    act(
        &other,
        None,
        &json!([
            ["record-principle", { "name": "one-writer", "description": "Said elsewhere", "tags": ["elsewhere"] }],
            ["record-principle", { "name": "new", "description": "New here" }],
        ]),
    );
    let file = |world: &Sealed| world.project().join(".consort/knowledge.yjs");
    for world in [&one, &other] {
        assert!(world.run("know save").stdout.starts_with("Saved "));
    }
    let theirs = fs::read(file(&other)).unwrap();
    fs::write(one.path().join("theirs.yjs"), &theirs).unwrap();
    // What git would call.
    let ours = one.path().join("ours.yjs");
    fs::copy(file(&one), &ours).unwrap();
    let merged = one.run_as(None, &["know", "merge", "../ours.yjs", "../ours.yjs", "../theirs.yjs"]);
    assert_eq!(merged.code, 0, "{merged}");
    // It is taken in as soon as anyone asks, here and there, and both know the same.
    for world in [&one, &other] {
        fs::copy(&ours, file(world)).unwrap();
        assert_eq!(
            bare(world, "(map :name (get-principles))"),
            "(contagious-materialization new one-writer)"
        );
        assert_eq!(ask(world, "(@ (get-principle \"one-writer\") :description)"), "\"Said elsewhere\"");
        assert_eq!(bare(world, "(@ (get-principle \"one-writer\") :tags)"), "(elsewhere)");
        assert_eq!(world.run("journal verify").code, 0);
    }
    for world in [&one, &other] {
        world.run("know save");
    }
    assert_eq!(ask(&one, "(get-principles)"), ask(&other, "(get-principles)"));
    // What cannot be understood is left alone, and keeps nobody from the rest.
    fs::write(file(&one), "nonsense").unwrap();
    let asked = one.run_as(None, &["ask", "(length (get-principles))"]);
    assert_eq!((asked.stdout.as_str(), asked.code), ("3\n", 0), "{asked}");
    assert!(asked.stderr.contains("Warning: "), "{asked}");
}

#[test]
fn a_session_that_starts_is_told_what_was_learned() {
    let world = world();
    act(&world, Some("s1"), &some());
    let told = world.told("s9", "SessionStart", &json!({ "source": "startup" })).unwrap();
    assert!(told.contains("- principle contagious-materialization: Syncing spreads"), "{told}");
    assert!(told.contains("- decision use-sqlite: One file, no daemon"), "{told}");
    world.run_as(None, &["config", "set", "knowledge.digest_tokens", "0"]);
    let told = world.told("s10", "SessionStart", &json!({ "source": "startup" })).unwrap();
    assert!(!told.contains("contagious"), "{told}");
    // However much there is, it stays short.
    world.run_as(None, &["config", "set", "knowledge.digest_tokens", "400"]);
    let many: Vec<Value> = (0..50)
        .map(|n| json!(["record-principle", { "name": format!("p{n}"), "description": "x".repeat(300) }]))
        .collect();
    act(&world, Some("s1"), &json!(many));
    let told = world.told("s11", "SessionStart", &json!({ "source": "startup" })).unwrap();
    assert!(told.contains(" more)") && told.len() < 3_000, "{} {told}", told.len());
}

/// What is known of a file says so when the file has changed, and so does what
/// leans on it, until somebody looks again.
#[test]
fn what_is_known_of_a_file_that_changes_is_stale() {
    let world = world();
    fs::create_dir_all(world.project().join("src")).unwrap();
    let path = world.project().canonicalize().unwrap().join("src/model.rs");
    fs::write(&path, "one").unwrap();
    act(&world, Some("s1"), &some());
    assert_eq!(ask(&world, "(get-stale)"), "()");
    let edit = |text: &str| {
        fs::write(&path, text).unwrap();
        let tool = json!({ "tool_name": "Write", "tool_input": { "file_path": path }, "tool_response": {} });
        world.told("s2", "PostToolUse", &tool);
    };
    // Written, and as it was: nothing has changed.
    edit("one");
    assert_eq!(ask(&world, "(get-stale)"), "()");
    edit("two");
    let stale = bare(&world, "(map :name (get-stale))");
    assert_eq!(stale, "(contagious-materialization model src/model.rs nil)", "{stale}");
    assert!(ask(&world, "(get-file-understanding \"src/model.rs\")").contains(":stale true"));
    assert!(bare(&world, "(map :name (get-current (get-principles)))") == "(one-writer)");
    let entries = || world.run("journal tail -n 100").stdout.lines().count();
    let before = entries();
    edit("three");
    assert_eq!(entries(), before, "it is marked once");
    let told = world.told("s9", "SessionStart", &json!({ "source": "startup" })).unwrap();
    assert!(told.contains("contagious-materialization (stale)"), "{told}");

    act(
        &world,
        Some("s1"),
        &json!([["confirm", { "path": "src/model.rs" }], ["confirm", { "name": "model" }]]),
    );
    let stale = bare(&world, "(map :name (get-stale))");
    assert_eq!(stale, "()", "{stale}");
    edit("four");
    assert!(bare(&world, "(map :name (get-stale))").contains("model"));
    assert_eq!(world.run("journal verify").code, 0);
}

/// Two branches of one repository, merged by git itself.
#[test]
fn git_merges_two_branches_without_a_conflict() {
    let world = world();
    let git = |arguments: &[&str]| world.git(arguments);
    let bin = world.program().parent().unwrap().display().to_string();
    assert_eq!(world.run("init --git-merge --yes").code, 0);
    assert_eq!(
        fs::read_to_string(world.project().join(".gitattributes")).unwrap(),
        ".consort/knowledge.yjs merge=consort -text\n"
    );
    let save = |message: &str| {
        assert_eq!(world.run("know save").code, 0);
        git(&["add", "-A"]);
        git(&["commit", "-q", "-m", message]);
    };
    world.run_as(None, &["record", "principle", "base", "of both"]);
    save("base");
    git(&["checkout", "-q", "-b", "side"]);
    // Another replica works on the side: what it saves is not known here yet.
    let side = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    side.git_init();
    fs::create_dir_all(side.project().join(".consort")).unwrap();
    let (here, there) =
        (world.project().join(".consort/knowledge.yjs"), side.project().join(".consort/knowledge.yjs"));
    fs::copy(&here, &there).unwrap();
    side.run_as(None, &["record", "principle", "sides", "only there"]);
    side.run_as(None, &["record", "principle", "base", "said on the side", "tags=side"]);
    assert_eq!(side.run("know save").code, 0);
    fs::copy(&there, &here).unwrap();
    git(&["add", "-A"]);
    git(&["commit", "-q", "-m", "side"]);
    git(&["checkout", "-q", "main"]);
    world.run_as(None, &["record", "principle", "mains", "only here"]);
    save("main");
    let mut merge = world.command("git");
    merge
        .args(["-c", "user.name=x", "-c", "user.email=x@x", "merge", "-q", "side", "-m", "merged"])
        .env("PATH", format!("{bin}:/usr/local/bin:/usr/bin:/bin"));
    let merged = world.ran(merge.current_dir(world.project()));
    assert_eq!(merged.code, 0, "{merged}");
    // A clone that has nothing but the file knows all of it.
    let clone = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    clone.git_init();
    fs::create_dir_all(clone.project().join(".consort")).unwrap();
    fs::copy(&here, clone.project().join(".consort/knowledge.yjs")).unwrap();
    for world in [&world, &clone] {
        assert_eq!(bare(world, "(map :name (get-principles))"), "(base mains sides)");
        assert_eq!(bare(world, "(@ (get-principle \"base\") :description)"), "said on the side");
    }
    assert_eq!(world.run("uninit --git-merge --yes").code, 0);
    assert!(!world.project().join(".gitattributes").exists());
}

#[test]
fn it_goes_out_and_comes_in_in_forms_that_others_read() {
    let (one, other) = (world(), world());
    act(&one, None, &some());
    let page = one.run("know export --markdown").stdout;
    assert!(page.contains("## Principles\n\n### contagious-materialization\n\nSyncing spreads"), "{page}");
    assert!(page.contains("- contagious-materialization *implements* src/model.rs\n"), "{page}");
    fs::write(other.path().join("all.json"), one.run("know export").stdout).unwrap();
    assert_eq!(other.run_as(None, &["know", "import", "../all.json"]).stdout, "Recorded 6 actions.\n");
    assert_eq!(ask(&one, "(get-principles)"), ask(&other, "(get-principles)"));

    // What the official memory server keeps.
    let memory = r#"{"type":"entity","name":"Auth","entityType":"component","observations":["Uses JWT","Rotates keys"]}
{"type":"relation","from":"Auth","to":"Store","relationType":"uses"}
{"type":"entity","name":"Store","entityType":"component","observations":["SQLite"]}"#;
    fs::write(other.path().join("memory.jsonl"), memory).unwrap();
    assert_eq!(other.run_as(None, &["know", "import", "../memory.jsonl"]).stdout, "Recorded 3 actions.\n");
    assert_eq!(bare(&other, "(@ (get-principle \"Auth\") :evidence)"), "(Rotates keys)");
    assert_eq!(bare(&other, "(map :to (get-relationships-from \"Auth\"))"), "(Store)");
    let wrong = other.run_as(None, &["know", "import", "../batch.json"]);
    assert_eq!(wrong.code, 1, "{wrong}");

    // From one project to another.
    one.run_as(None, &["record", "principle", "mine", "Syncing is mine", "--global"]);
    assert_eq!(
        one.run_as(None, &["know", "similar", "syncing"]).stdout,
        "--global principle mine: Syncing is mine\n"
    );
    assert!(one.run_as(None, &["know", "adopt", "mine"]).stdout.contains("recorded principle mine"));
    assert_eq!(bare(&one, "(@ (get-principle \"mine\") :evidence)"), "(adopted from your own)");
    assert_eq!(one.run_as(None, &["know", "adopt", "nothing"]).code, 1);
}

#[test]
fn changes_that_no_agent_made_are_noticed_too() {
    use std::io::BufRead as _;
    let world = world();
    fs::create_dir_all(world.project().join("src")).unwrap();
    let path = world.project().join("src/model.rs");
    fs::write(&path, "one").unwrap();
    act(&world, Some("s1"), &some());
    assert_eq!(world.run("watch-files --once").stdout, "");
    let mut watcher = world.consort(["watch-files"]).stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut lines = std::io::BufReader::new(watcher.stdout.take().unwrap()).lines();
    std::thread::sleep(std::time::Duration::from_millis(300));
    fs::write(&path, "another").unwrap();
    let noticed = "src/model.rs has changed: what is known of it is stale.";
    assert_eq!(lines.next().unwrap().unwrap(), noticed);
    // However it changes: as editors save it, and with all that is around it.
    let mut again = |change: &dyn Fn()| {
        act(&world, Some("s1"), &json!([["confirm", { "path": "src/model.rs" }]]));
        change();
        assert_eq!(lines.next().unwrap().unwrap(), noticed);
    };
    again(&|| {
        fs::write(path.with_extension("new"), "a third").unwrap();
        fs::rename(path.with_extension("new"), &path).unwrap();
    });
    let (src, aside) = (world.project().join("src"), world.project().join("aside"));
    again(&|| fs::rename(&src, &aside).unwrap());
    again(&|| {
        fs::create_dir(&src).unwrap();
        fs::write(&path, "a fourth").unwrap();
    });
    again(&|| fs::write(&path, "a fifth, in a directory that came later").unwrap());
    watcher.kill().unwrap();
    watcher.wait().unwrap();
    assert!(bare(&world, "(map :name (get-stale))").contains("contagious-materialization"));
    // What was known before anyone watched is found as well.
    act(&world, Some("s1"), &json!([["confirm", { "path": "src/model.rs" }]]));
    fs::remove_file(&path).unwrap();
    assert!(world.run("watch-files --once").stdout.contains("src/model.rs has changed"));
}

#[test]
fn results_are_kept_by_content() {
    let world = world();
    fs::write(world.project().join("a.rs"), "fn a() {}").unwrap();
    let mut put = world.consort(["cache", "put", "a.rs", "symbols"]);
    assert_eq!(world.ran_with(&mut put, b"a").code, 0);
    assert_eq!(world.run("cache get a.rs symbols").stdout, "a");
    assert_eq!(world.run("cache size").stdout, "1 result, 1 byte\n");
    fs::write(world.project().join("a.rs"), "fn b() {}").unwrap();
    assert_eq!(world.run("cache get a.rs symbols").code, 1);
    assert_eq!(world.run("cache clear").code, 0);
}

/// Writers that are killed at any moment leave whole batches or none, and what was
/// acknowledged is there.
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
                    let mut command = world.consort(["act", file.to_str().unwrap()]);
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

/// Whatever an agent has recorded, no terminal obeys it.
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
        &["ask", "(get-principles)"][..],
        &["ask", "--json", "(get-principles)"],
        &["know", "export", "--markdown"],
        &["know", "export"],
        &["know", "similar", "line"],
        &["know", "search", "line"],
        &["journal", "tail"],
    ] {
        let ran = world.run_as(None, line);
        assert!(!ran.to_string().contains(['\u{1b}', '\u{7}']), "{line:?}: {ran:?}");
    }
    let told = world.told("s9", "SessionStart", &json!({ "source": "startup" })).unwrap();
    assert!(told.contains("evil") && !told.contains('\u{1b}'), "{told:?}");
}
