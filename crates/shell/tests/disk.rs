//! Tests commands whose writes depend on the disk: a write that surely does not happen is not
//! reported, and one that may happen makes the reading uncertain.

use consort_shell::ShellContext;
use consort_shell::read;

const FILES: &[(&str, &str)] = &[
    ("mod.rs", "pub mod login;\n"),
    ("package.json", "{ \"version\": \"1.2.0\" }\n"),
    ("fits.patch", "--- a/mod.rs\n+++ b/mod.rs\n@@ -1 +1 @@\n-pub mod login;\n+pub mod user;\n"),
    ("sh.sh", "#!/bin/sh\nv=${1:?usage}\nrm x\n"),
    ("/bin/rsync", ""),
];

/// Returns the paths that a command writes, in order; with a question mark if there may be more.
fn written(command: &str) -> String {
    let file = |path: &str| {
        let path = path.strip_prefix("/home/me/").unwrap_or(path);
        FILES.iter().find(|(name, _)| *name == path).map(|(_, text)| (*text).to_owned())
    };
    let is_dir = |path: &str| matches!(path, "." | "src" | "/tmp");
    let is_there = |path: &str| is_dir(path) || file(path).is_some();
    let variable = |name: &str| (name == "PATH").then(|| "/usr/bin:/bin".to_owned());
    let here = ShellContext {
        read: Some(&file),
        is_dir: Some(&is_dir),
        is_there: Some(&is_there),
        variable: Some(&variable),
        cwd: Some("/home/me"),
        worktree: Some("/home/me"),
        ..ShellContext::default()
    };
    let reading = read(command, here);
    let mut paths: Vec<&str> = reading.writes.iter().map(|write| write.path.as_str()).collect();
    paths.extend((!reading.is_certain).then_some("?"));
    paths.join(" ")
}

#[test]
fn what_is_surely_not_done_is_no_write() {
    for (command, expected) in [
        // The file answers `grep`.
        ("grep -q 'mod login' mod.rs || rm x", ""),
        ("grep -q '^pub mod user' mod.rs && rm x", ""),
        ("grep -qF login mod.rs && rm x", "x"),
        ("grep -q 'l.gin' mod.rs && rm x", "?"),
        ("sed -i s/login/user/ mod.rs; grep -q user mod.rs && rm x", "mod.rs ?"),
        ("[ -s mod.rs ] && rm x", "x"),
        // A directory that does not exist, or is made first.
        ("echo x > deep/nested/file", "deep/nested/file ?"),
        ("mkdir -p deep/nested; echo x > deep/nested/file", "deep/nested deep/nested/file"),
        ("cp -r src deep; echo x > deep/nested/file", "deep deep/nested/file"),
        ("echo x > src/file", "src/file"),
        // Programs that are not installed, and one that is.
        ("prettier --write mod.rs", "?"),
        ("rename s/a/b/ mod.rs", "?"),
        ("rsync -a src/x mod.rs", "mod.rs"),
        // A script without its argument.
        ("./sh.sh", "?"),
        ("./sh.sh 1", "x ?"),
        // npm versions, and patches that do not fit.
        ("npm version 1.2.0", "?"),
        ("npm version 1.3.0 --no-git-tag-version", "package.json package-lock.json ?"),
        ("npm install --offline lodash", "?"),
        ("npm install --offline ./lib", "package.json package-lock.json ?"),
        ("git apply fits.patch", "/home/me/mod.rs"),
        ("git apply -R fits.patch", "?"),
        // Code in other languages.
        ("awk '/user/ { print > \"x\" }' mod.rs", "?"),
        ("awk '/login/{ print > \"x\" }' mod.rs", "x ?"),
        ("node -e \"if (process.env.WRITE) fs.writeFileSync('x', '')\"", "?"),
        ("python3 -c \"s = open('mod.rs').read()\nassert 'user' in s\nopen('x', 'w')\"", "?"),
        ("python3 -c \"s = open('mod.rs').read()\nassert 'login' in s\nopen('x', 'w')\"", "x ?"),
    ] {
        assert_eq!(written(command), expected, "{command}");
    }
    if cfg!(target_os = "linux") {
        assert_eq!(written("[[ $(uname) == Darwin ]] && rm x"), "");
        assert_eq!(written("[ \"$(uname -s)\" = Linux ] && rm x"), "x");
    }
}
