//! Tests that hostile trees cannot lead reads or writes astray, and that only our own files are
//! removed.

#![expect(clippy::unwrap_used, reason = "a helper that cannot go on should stop the test")]

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use consort_files::MARKER;
use consort_files::NewFileMode;
use consort_files::NoFollowTree;
use consort_files::OurDir;
use consort_files::TemporaryFiles;
use consort_files::read_regular_file;
use consort_files::replace;

const LIMIT: u64 = 1_000;

fn refused<T: std::fmt::Debug>(result: io::Result<T>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn a_tree_follows_no_link_and_opens_regular_files_only() {
    let temp = tempfile::tempdir().unwrap();
    let (root, outside) = (temp.path().join("repo"), temp.path().join("outside"));
    fs::create_dir_all(root.join("real")).unwrap();
    fs::create_dir_all(&outside).unwrap();
    fs::write(outside.join("secret"), "secret").unwrap();
    fs::write(root.join("real/file"), "text").unwrap();
    symlink(outside.join("secret"), root.join("link")).unwrap();
    symlink(&outside, root.join("dir")).unwrap();
    symlink("/dev/zero", root.join("zero")).unwrap();
    assert!(Command::new("mkfifo").arg(root.join("pipe")).status().unwrap().success());
    fs::write(root.join("long"), vec![b'x'; 2_000]).unwrap();

    let (tree, pending) = (NoFollowTree::new(&root), TemporaryFiles::new(&temp.path().join("pending")));
    let read = |path: &str| tree.read(Path::new(path), LIMIT);
    assert_eq!(read("real/file").unwrap().unwrap(), b"text");
    assert_eq!(read("./real/./file").unwrap().unwrap(), b"text");
    assert_eq!(read("missing").unwrap(), None);
    assert_eq!(read("missing/file").unwrap(), None);
    let link = "a symbolic link or a file is in its place";
    for (path, why) in [
        ("link", link),
        ("dir/secret", link),
        ("zero", link),
        ("pipe", "it is not a regular file"),
        ("real", "it is not a regular file"),
        ("long", "it is longer than 1000 bytes"),
        ("../outside/secret", "the path leads outside of its root"),
        ("/etc/passwd", "the path leads outside of its root"),
        ("", "the path leads outside of its root"),
    ] {
        assert_eq!(refused(read(path)), why, "{path}");
    }

    for path in ["link", "dir/secret", "zero", "pipe", "real", "../outside/secret"] {
        refused(tree.replace(Path::new(path), b"new", &pending, || Ok(())));
    }
    assert_eq!(fs::read(outside.join("secret")).unwrap(), b"secret");
    tree.replace(Path::new("made/deep/file"), b"new", &pending, || Ok(())).unwrap();
    assert_eq!(fs::read(root.join("made/deep/file")).unwrap(), b"new");
    tree.remove(Path::new("link")).unwrap();
    assert!(outside.join("secret").exists());
    refused(tree.remove(Path::new("dir/secret")));
}

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap().flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn what_a_killed_process_left_behind_is_removed() {
    let temp = tempfile::tempdir().unwrap();
    let (dir, notes) = (temp.path().join("theirs"), temp.path().join("pending"));
    fs::create_dir_all(&dir).unwrap();
    let pending = TemporaryFiles::new(&notes);
    pending.sweep();
    replace(&dir.join("file"), b"whole", NewFileMode::Shared, &pending, || {
        // Another process sweeps while this one is at work.
        pending.sweep();
        assert_eq!(names(&dir).len(), 1);
        // As if it were killed here.
        let note = names(&notes).into_iter().find(|name| name != MARKER).unwrap();
        fs::copy(notes.join(note), notes.join("copy")).map(drop)
    })
    .unwrap();
    let path = fs::read_to_string(notes.join("copy")).unwrap();
    fs::write(&path, "half").unwrap();
    fs::write(notes.join("strange"), dir.join("file").to_str().unwrap()).unwrap();
    pending.sweep();
    assert_eq!(names(&dir), ["file"]);
    assert_eq!(names(&notes), [MARKER]);
}

#[test]
fn a_file_is_replaced_as_a_whole_with_its_mode_kept() {
    let temp = tempfile::tempdir().unwrap();
    let file = temp.path().join("settings");
    fs::write(&file, "old").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("settings", temp.path().join("link")).unwrap();
    let pending = TemporaryFiles::new(&temp.path().join("pending"));
    replace(&temp.path().join("link"), b"new", NewFileMode::Shared, &pending, || Ok(())).unwrap();
    assert_eq!(fs::read(&file).unwrap(), b"new");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
    assert!(temp.path().join("link").is_symlink());

    refused(replace(
        &file,
        b"late",
        NewFileMode::Shared,
        &pending,
        || Err(io::ErrorKind::Interrupted.into()),
    ));
    assert_eq!(fs::read(&file).unwrap(), b"new");
    assert_eq!(names(temp.path()), ["link", "pending", "settings"]);

    assert!(Command::new("mkfifo").arg(temp.path().join("pipe")).status().unwrap().success());
    refused(read_regular_file(&temp.path().join("pipe"), LIMIT));
    refused(replace(&temp.path().join("pipe"), b"x", NewFileMode::Shared, &pending, || Ok(())));
}

#[test]
fn only_what_is_marked_as_ours_is_removed() {
    let temp = tempfile::tempdir().unwrap();
    let theirs = temp.path().join("mail");
    fs::create_dir_all(theirs.join("inbox")).unwrap();
    // The directory existed before `create`.
    OurDir::create(&theirs).unwrap();
    refused(OurDir::remove(&theirs));
    assert!(OurDir::open(&theirs).is_err());
    assert!(theirs.join("inbox").exists());

    let ours = temp.path().join("deep/ours");
    OurDir::create(&ours).unwrap();
    assert_eq!(fs::metadata(&ours).unwrap().permissions().mode() & 0o777, 0o700);
    fs::create_dir_all(ours.join("session/inner")).unwrap();
    fs::write(ours.join("session/inner/file"), "").unwrap();
    fs::write(ours.join("kept"), "").unwrap();
    symlink(&theirs, ours.join("session/link")).unwrap();
    let open = OurDir::open(&ours).unwrap();
    for name in ["", ".", "..", "/", "session/inner", "../mail", MARKER, "a\0b"] {
        refused(open.remove_entry(name));
    }
    open.remove_entry("session").unwrap();
    open.remove_entry("session").unwrap();
    assert!(theirs.join("inbox").exists());
    assert!(!ours.join("session").exists() && ours.join("kept").exists());

    symlink(&ours, temp.path().join("link")).unwrap();
    refused(OurDir::remove(&temp.path().join("link")));
    OurDir::remove(&ours).unwrap();
    OurDir::remove(&ours).unwrap();
    assert!(!ours.exists());
}
