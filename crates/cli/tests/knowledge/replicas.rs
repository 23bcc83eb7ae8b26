//! Tests of knowledge from elsewhere: through git, and in forms that others read.

use std::fs;

use consort_testkit::Sealed;
use serde_json::json;

use super::act;
use super::ask;
use super::bare;
use super::some;
use super::world;

/// Two replicas are merged through a file, whatever each has recorded.
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
    // Runs the merge as git would.
    let ours = one.path().join("ours.yjs");
    fs::copy(file(&one), &ours).unwrap();
    let merged = one.run_as(None, &["know", "merge", "../ours.yjs", "../ours.yjs", "../theirs.yjs"]);
    assert_eq!(merged.code, 0, "{merged}");
    // Each world takes in the merged file with its next query, and both know the same.
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
    // A file that cannot be understood is left alone, and other knowledge can still be read.
    fs::write(file(&one), "nonsense").unwrap();
    let asked = one.run_as(None, &["know", "query", "(length (get-principles))"]);
    assert_eq!((asked.stdout.as_str(), asked.code), ("3\n", 0), "{asked}");
    assert!(asked.stderr.contains("Warning: "), "{asked}");
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
    world.run_as(None, &["know", "add", "principle", "base", "of both"]);
    save("base");
    git(&["checkout", "-q", "-b", "side"]);
    // Another replica records on the branch, which is not known here yet.
    let side = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    side.git_init();
    fs::create_dir_all(side.project().join(".consort")).unwrap();
    let (here, there) =
        (world.project().join(".consort/knowledge.yjs"), side.project().join(".consort/knowledge.yjs"));
    fs::copy(&here, &there).unwrap();
    side.run_as(None, &["know", "add", "principle", "sides", "only there"]);
    side.run_as(None, &["know", "add", "principle", "base", "said on the side", "tags=side"]);
    assert_eq!(side.run("know save").code, 0);
    fs::copy(&there, &here).unwrap();
    git(&["add", "-A"]);
    git(&["commit", "-q", "-m", "side"]);
    git(&["checkout", "-q", "main"]);
    world.run_as(None, &["know", "add", "principle", "mains", "only here"]);
    save("main");
    let mut merge = world.command("git");
    merge
        .args(["-c", "user.name=x", "-c", "user.email=x@x", "merge", "-q", "side", "-m", "merged"])
        .env("PATH", format!("{bin}:/usr/local/bin:/usr/bin:/bin"));
    let merged = world.ran(merge.current_dir(world.project()));
    assert_eq!(merged.code, 0, "{merged}");
    // A clone that has nothing but the file has all knowledge.
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

    // Imports the format of the official memory server.
    let memory = r#"{"type":"entity","name":"Auth","entityType":"component","observations":["Uses JWT","Rotates keys"]}
{"type":"relation","from":"Auth","to":"Store","relationType":"uses"}
{"type":"entity","name":"Store","entityType":"component","observations":["SQLite"]}"#;
    fs::write(other.path().join("memory.jsonl"), memory).unwrap();
    assert_eq!(other.run_as(None, &["know", "import", "../memory.jsonl"]).stdout, "Recorded 3 actions.\n");
    assert_eq!(bare(&other, "(@ (get-principle \"Auth\") :evidence)"), "(Rotates keys)");
    assert_eq!(bare(&other, "(map :to (get-relationships-from \"Auth\"))"), "(Store)");
    let wrong = other.run_as(None, &["know", "import", "../batch.json"]);
    assert_eq!(wrong.code, 1, "{wrong}");

    // Finds and adopts knowledge from elsewhere.
    one.run_as(None, &["know", "add", "principle", "mine", "Syncing is mine", "--global"]);
    assert_eq!(
        one.run_as(None, &["know", "similar", "syncing"]).stdout,
        "--global principle mine: Syncing is mine\n"
    );
    assert!(one.run_as(None, &["know", "adopt", "mine"]).stdout.contains("recorded principle mine"));
    assert_eq!(bare(&one, "(@ (get-principle \"mine\") :evidence)"), "(adopted from your own)");
    assert_eq!(one.run_as(None, &["know", "adopt", "nothing"]).code, 1);
}
