//! Tests of knowledge about files that change.

use std::fs;

use serde_json::json;

use super::act;
use super::ask;
use super::bare;
use super::some;
use super::world;

/// Knowledge about a file is stale when the file has changed, and so is knowledge that
/// depends on it, until somebody looks again.
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
        world.hook_text("s2", "PostToolUse", &tool);
    };
    // A write of the same content changes nothing.
    edit("one");
    assert_eq!(ask(&world, "(get-stale)"), "()");
    edit("two");
    let stale = bare(&world, "(map :name (get-stale))");
    assert_eq!(
        stale,
        "(contagious-materialization model src/model.rs contagious-materialization implements src/model.rs)",
        "{stale}"
    );
    assert!(ask(&world, "(get-file-understanding \"src/model.rs\")").contains(":stale true"));
    assert!(bare(&world, "(map :name (get-current (get-principles)))") == "(one-writer)");
    let entries = || world.run("journal tail -n 100").stdout.lines().count();
    let before = entries();
    edit("three");
    assert_eq!(entries(), before, "it is marked once");
    let told = world.hook_text("s9", "SessionStart", &json!({ "source": "startup" })).unwrap();
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
    // With the content that it had when it was confirmed, the file is not stale.
    edit("three");
    assert_eq!(ask(&world, "(get-stale)"), "()");
    assert_eq!(world.run("journal verify").code, 0);
}

#[test]
fn changes_that_no_agent_made_are_noticed_too() {
    use std::io::BufRead as _;
    let world = world();
    fs::create_dir_all(world.project().join("src")).unwrap();
    let path = world.project().join("src/model.rs");
    fs::write(&path, "one").unwrap();
    act(&world, Some("s1"), &some());
    assert_eq!(world.run("know watch --once").stdout, "");
    let mut watcher = world.consort(["know", "watch"]).stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut lines = std::io::BufReader::new(watcher.stdout.take().unwrap()).lines();
    std::thread::sleep(std::time::Duration::from_millis(300));
    fs::write(&path, "another").unwrap();
    let noticed = "src/model.rs has changed: what is known of it is stale.";
    assert_eq!(lines.next().unwrap().unwrap(), noticed);
    // Changes are noticed however they are made: as editors save, and with whole directories.
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
    world.move_away(&aside);
    fs::rename(&src, &aside).unwrap();
    fs::rename(&aside, &src).unwrap();
    again(&|| fs::write(&path, "a sixth, in one that went and came back").unwrap());
    watcher.kill().unwrap();
    watcher.wait().unwrap();
    assert!(bare(&world, "(map :name (get-stale))").contains("contagious-materialization"));
    // A change while nobody watched is found as well.
    act(&world, Some("s1"), &json!([["confirm", { "path": "src/model.rs" }]]));
    fs::remove_file(&path).unwrap();
    assert!(world.run("know watch --once").stdout.contains("src/model.rs has changed"));
}

#[test]
fn results_are_kept_by_content() {
    let world = world();
    fs::write(world.project().join("a.rs"), "fn a() {}").unwrap();
    let mut put = world.consort(["know", "cache", "put", "a.rs", "symbols"]);
    assert_eq!(world.ran_with(&mut put, b"a").code, 0);
    assert_eq!(world.run("know cache get a.rs symbols").stdout, "a");
    assert_eq!(world.run("know cache size").stdout, "1 result, 1 byte\n");
    fs::write(world.project().join("a.rs"), "fn b() {}").unwrap();
    assert_eq!(world.run("know cache get a.rs symbols").code, 1);
    assert_eq!(world.run("know cache clear").code, 0);
}

/// A file has one record, however its path is written.
#[test]
fn a_file_has_one_name_however_its_path_is_written() {
    let world = world();
    let src = world.project().canonicalize().unwrap().join("src");
    fs::create_dir_all(&src).unwrap();
    fs::write(src.join("model.rs"), "one").unwrap();
    std::os::unix::fs::symlink(&src, world.project().join("link")).unwrap();
    std::os::unix::fs::symlink("/etc", world.project().join("away")).unwrap();
    let absolute = src.join("model.rs").display().to_string();
    let record = |path: &str| {
        act(&world, None, &json!([["record-file-understanding", { "path": path, "summary": "The model" }]]))
    };
    for path in ["src/model.rs", "./src/model.rs", "src/../src/model.rs", "link/model.rs", &absolute] {
        let ran = record(path);
        assert!(ran.stdout.contains("file src/model.rs"), "{path}: {ran}");
    }
    // In a subdirectory, a path starts from there.
    let mut command = world.consort(["know", "add", "file", "model.rs", "The model"]);
    let ran = world.ran(command.current_dir(&src));
    assert!(ran.stdout.contains("updated file src/model.rs"), "{ran}");
    assert_eq!(bare(&world, "(names \"files\")"), "(src/model.rs)");
    assert_eq!(ask(&world, "(string-length (@ (get-file-understanding \"src/model.rs\") :hash))"), "32");
    for path in [absolute.as_str(), "./src/model.rs", "src/../src/model.rs", "link/model.rs"] {
        assert_eq!(bare(&world, &format!("(@ (get-file-understanding \"{path}\") :summary)")), "The model");
        assert_eq!(bare(&world, &format!("(map :path (about-file \"{path}\"))")), "(src/model.rs)");
        assert_eq!(world.run_as(None, &["know", "show", path]).code, 0, "{path}");
        let ran = act(&world, None, &json!([["confirm", { "name": path }]]));
        assert!(ran.stdout.contains("src/model.rs"), "{path}: {ran}");
    }
    let mut command = world.consort(["know", "show", "model.rs"]);
    assert_eq!(world.ran(command.current_dir(&src)).code, 0, "from a subdirectory");
    let moments =
        "(let ((f (get-file-understanding \"src/model.rs\"))) (equal? (@ f :lastAnalyzed) (@ f :at)))";
    assert_eq!(ask(&world, moments), "true");
    for path in ["/etc/passwd", "../outside.rs", "away/passwd", &format!("{}/..", src.display())] {
        let ran = record(path);
        assert_eq!(ran.code, 1, "{path}: {ran}");
        assert!(
            ran.stderr.contains("`path` is outside the project, which is ")
                || ran.stderr.contains("is the project's directory"),
            "{path}: {ran}"
        );
    }
    // Paths in locations and links are normalised too.
    let place = format!("{absolute}:12");
    act(
        &world,
        None,
        &json!([
            ["record-principle", { "name": "p", "description": "d", "locations": [place, "https://example.org/x:1"] }],
            ["link-entities", { "from": "p", "to": absolute, "type": "implements" }],
        ]),
    );
    let locations = bare(&world, "(@ (get-principle \"p\") :locations)");
    assert_eq!(locations, "(src/model.rs:12 https://example.org/x:1)");
    let elsewhere = json!([["record-principle", { "name": "p", "locations": ["/etc/passwd:1"] }]]);
    let ran = act(&world, None, &elsewhere);
    assert!(ran.stderr.contains("`locations`: `/etc/passwd` is outside the project, which is "), "{ran}");
    let above = json!([["record-principle", { "name": "p", "locations": ["../../nothing.rs"] }]]);
    let ran = act(&world, None, &above);
    assert!(ran.stderr.contains("`../../nothing.rs` is outside the project"), "{ran}");
    // A text that looks like a path but names no file, such as a route, is accepted.
    let route = json!([["record-principle", { "name": "p", "locations": ["/api/users"] }]]);
    assert_eq!(act(&world, None, &route).code, 0);
    assert_eq!(bare(&world, "(map :to (get-relationships-from \"p\"))"), "(src/model.rs)");
}

/// A note can hold anything, and needs no name.
#[test]
fn notes_are_free() {
    let world = world();
    let ran = act(
        &world,
        Some("s1"),
        &json!([["record-note", { "description": "The staging server restarts at night." }]]),
    );
    assert!(ran.stdout.contains("recorded note the-staging-server-restarts-at-night"), "{ran}");
    let ran = world.run_as(None, &["know", "add", "note", "deploys", "Only on Tuesdays", "tags=ops"]);
    assert_eq!(ran.code, 0, "{ran}");
    assert_eq!(bare(&world, "(names \"notes\")"), "(deploys the-staging-server-restarts-at-night)");
    assert_eq!(bare(&world, "(@ (get-note \"deploys\") :tags)"), "(ops)");
    assert!(world.run("know list notes").stdout.contains("Only on Tuesdays"));
    act(&world, None, &json!([["delete-note", { "name": "deploys" }]]));
    assert_eq!(bare(&world, "(get-note \"deploys\")"), "nil");
}

/// Knowledge that is shown is compared with the file, because anyone may change it by any means.
#[test]
fn what_is_shown_is_compared_with_the_file_as_it_is() {
    let world = world();
    let path = world.project().join("src/model.rs");
    fs::create_dir_all(world.project().join("src")).unwrap();
    fs::write(&path, "one").unwrap();
    act(&world, Some("s1"), &some());
    let told = world.hook_text("s9", "SessionStart", &json!({ "source": "startup" })).unwrap();
    assert!(told.contains("- principle contagious-materialization, by "), "{told}");
    let is_stale = || bare(&world, "(map :name (get-stale))");
    assert_eq!(is_stale(), "()");
    // Changed by something that no hook reports: an editor, a formatter, git.
    fs::write(&path, "two").unwrap();
    assert_eq!(
        is_stale(),
        "(contagious-materialization model src/model.rs contagious-materialization implements src/model.rs)"
    );
    assert!(ask(&world, "(get-file-understanding \"src/model.rs\")").contains(":stale true"));
    assert!(bare(&world, "(map :name (filter :stale (search-knowledge \"syncs\")))").contains("contagious"));
    // A session that was told the old knowledge is told of the change, once.
    let prompt =
        || world.hook_text("s9", "UserPromptSubmit", &json!({ "prompt": "go on" })).unwrap_or_default();
    let told = prompt();
    assert!(
        told.contains("What you were told of principle contagious-materialization may no longer hold: src/model.rs has changed since."),
        "{told}"
    );
    assert!(!prompt().contains("may no longer hold"));
    // The file gets its old content back.
    fs::write(&path, "one").unwrap();
    assert_eq!(is_stale(), "()");
    let told = world.hook_text("s10", "SessionStart", &json!({ "source": "startup" })).unwrap();
    assert!(!told.contains("(stale)"), "{told}");
    fs::remove_file(&path).unwrap();
    assert!(is_stale().contains("src/model.rs"));
    assert_eq!(world.run("journal verify").code, 0);
}

/// This holds also for knowledge that a session has asked for itself.
#[test]
fn what_a_session_was_shown_and_became_stale_is_told_with_its_next_prompt() {
    let world = world();
    fs::create_dir_all(world.project().join("src")).unwrap();
    fs::write(world.project().join("src/model.rs"), "one").unwrap();
    act(&world, Some("s1"), &some());
    let shown = world.run_as(Some("s2"), &["know", "show", "src/model.rs"]);
    assert_eq!(shown.code, 0, "{shown}");
    world.hook_text("s2", "UserPromptSubmit", &json!({ "prompt": "go on" }));
    fs::write(world.project().join("src/model.rs"), "two").unwrap();
    world.run("know watch --once");
    let told = world.hook_text("s2", "UserPromptSubmit", &json!({ "prompt": "go on" })).unwrap_or_default();
    assert!(told.contains("What you were told of file src/model.rs may no longer hold"), "{told}");
    let other = world.hook_text("s1", "UserPromptSubmit", &json!({ "prompt": "go on" })).unwrap_or_default();
    assert!(!other.contains("file src/model.rs may no longer hold"), "{other}");
}

/// The change is told although nobody watches or asks, and no agent's tool has made it.
#[test]
fn what_nobody_saw_change_is_told_with_the_next_prompt() {
    let world = world();
    fs::create_dir_all(world.project().join("src")).unwrap();
    let path = world.project().join("src/model.rs");
    fs::write(&path, "one").unwrap();
    act(&world, Some("s1"), &some());
    let told = world.hook_text("s9", "SessionStart", &json!({ "source": "startup" })).unwrap();
    assert!(told.contains("contagious-materialization"), "{told}");
    let prompt =
        || world.hook_text("s9", "UserPromptSubmit", &json!({ "prompt": "go on" })).unwrap_or_default();
    assert!(!prompt().contains("may no longer hold"));
    fs::write(&path, "another").unwrap();
    let told = prompt();
    assert!(
        told.contains("What you were told of principle contagious-materialization may no longer hold: src/model.rs has changed since."),
        "{told}"
    );
    assert!(!prompt().contains("may no longer hold"), "once");
}
