//! Tests of the published files that hooks read, when they no longer belong to the store.

use std::fs;
use std::io::Seek as _;
use std::io::SeekFrom;
use std::io::Write as _;

use consort_testkit::Sealed;
use serde_json::json;

fn world() -> Sealed {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    let world = world.with_falcon_and_raven();
    assert_eq!(world.run("who").code, 0);
    world
}

fn is_refused(world: &Sealed, path: &str) -> bool {
    let call = json!({ "session_id": "s2", "cwd": world.project(), "tool_name": "Edit",
                       "tool_input": { "file_path": world.project().join(path) } });
    world.hook("PreToolUse", &call).stdout.contains("deny")
}

fn reserve(world: &Sealed, path: &str) {
    assert_eq!(world.run_as(Some("s1"), &["reserve", path]).code, 0);
}

/// Reads files of the store, to put them back later.
fn copy(world: &Sealed, files: &[&str]) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let files = files.iter().map(|file| world.data().join(file));
    files.filter_map(|file| fs::read(&file).ok().map(|bytes| (file, bytes))).collect()
}

fn put_back(files: &[(std::path::PathBuf, Vec<u8>)]) {
    files.iter().for_each(|(file, bytes)| fs::write(file, bytes).unwrap());
}

#[test]
fn an_older_list_beside_a_newer_store_lets_nothing_through_and_is_reported() {
    let world = world();
    let older = copy(&world, &["published/store"]);
    reserve(&world, "src/auth/");
    assert!(is_refused(&world, "src/auth/a.rs"));
    put_back(&older);
    assert!(is_refused(&world, "src/auth/a.rs"));
    assert!(!is_refused(&world, "src/b.rs"));
    let verify = world.run("journal verify");
    assert_eq!(verify.code, 1, "{verify}");
    assert!(verify.stdout.contains("what hooks read beside the store is older than it"), "{verify}");
    let doctor = world.run("doctor");
    assert!(doctor.stdout.contains("warning  published: what hooks read"), "{doctor}");
    // Any command that reads the store writes the published file again.
    assert_eq!(world.run("who").code, 0);
    assert!(fs::read_to_string(world.data().join("published/store")).unwrap().contains("src/auth/"));
    assert_eq!(world.run("journal verify").code, 0);
    assert!(is_refused(&world, "src/auth/a.rs"));
}

#[test]
fn a_restored_store_has_the_last_word() {
    let world = world();
    let store = ["consort.db", "consort.db-wal", "published/store"];
    reserve(&world, "src/old/");
    let older = copy(&world, &store);
    assert_eq!(world.run_as(Some("s1"), &["release", "src/old/"]).code, 0);
    reserve(&world, "src/new/");
    // Puts back the database alone, as after a power cut or from a backup.
    put_back(&older[..2]);
    let _ = fs::remove_file(world.data().join("consort.db-shm"));
    assert!(is_refused(&world, "src/old/a.rs"));
    assert!(!is_refused(&world, "src/new/a.rs"));
    // Copies the whole directory elsewhere: other files with the same content.
    let (from, to) = (world.data(), world.path().join("copied"));
    let copied = world.command("cp").arg("-a").args([&from, &to]).status().unwrap();
    assert!(copied.success());
    let call = json!({ "session_id": "s2", "cwd": world.project(), "tool_name": "Edit",
                       "tool_input": { "file_path": world.project().join("src/old/x") } });
    let mut hook = world.consort(["hook", "claude", "PreToolUse"]);
    let ran = world.ran_with(hook.env("CONSORT_HOME", &to), call.to_string().as_bytes());
    assert!(ran.stdout.contains("deny"), "{ran}");
}

#[test]
fn a_damaged_index_is_made_again() {
    let world = world();
    for n in 0..200 {
        let name = format!("rule-{n}");
        let text = format!("text of rule {n} {}", "about everything ".repeat(20));
        assert_eq!(world.run_as(Some("s1"), &["know", "add", "principle", &name, &text]).code, 0);
    }
    let index = world.data().join("knowledge-13.db");
    for page in 0..60_u64 {
        let _ = fs::remove_file(world.data().join("knowledge-13.db-wal"));
        assert!(
            world.run("know query (length(get-principles))").stdout.contains("200"),
            "before page {page}"
        );
        let size = fs::metadata(&index).unwrap().len();
        if page * 16_384 >= size {
            assert!(page > 2);
            break;
        }
        let mut file = fs::OpenOptions::new().write(true).open(&index).unwrap();
        file.seek(SeekFrom::Start(page * 16_384)).unwrap();
        file.write_all(&vec![0; 16_384]).unwrap();
        let _ = fs::remove_file(world.data().join("knowledge-13.db-wal"));
        for arguments in [
            &["know", "search", "everything"][..],
            &["know", "query", "(length (get-principles))"],
            &["know", "show", "rule-7"],
            &["know", "add", "principle", "rule-7", "text of rule 7"],
        ] {
            let ran = world.run_as(Some("s1"), arguments);
            assert_eq!(ran.code, 0, "page {page}: {arguments:?}: {ran}");
        }
    }
    let hint = "mv ";
    for error in ["journal verify", "doctor"] {
        assert!(!world.run(error).to_string().contains(hint));
    }
}

#[test]
fn no_hint_tells_anyone_to_move_the_journal_away() {
    let world = world();
    fs::write(world.data().join("consort.db"), vec![7; 8_192]).unwrap();
    let _ = fs::remove_file(world.data().join("consort.db-wal"));
    for line in ["who", "journal verify", "doctor", "send Falcon hi", "status"] {
        let ran = world.run(line).to_string();
        assert!(!ran.contains("mv ") && ran.contains("cp -a"), "{line}: {ran}");
    }
}

#[test]
fn older_settings_beside_a_newer_store_are_not_followed() {
    let world = world();
    let older = copy(&world, &["published/store"]);
    assert_eq!(world.run("config set privacy.store_prompts false").code, 0);
    put_back(&older);
    let call = json!({ "session_id": "s2", "cwd": world.project(), "prompt": "Please look at the quarterly figures" });
    assert_eq!(world.hook("UserPromptSubmit", &call).code, 0);
    let kept = fs::read_to_string(world.data().join("sessions/s2/log")).unwrap();
    assert!(!kept.contains("Please look at"), "{kept}");
}
