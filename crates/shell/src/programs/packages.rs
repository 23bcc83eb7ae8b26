//! Package managers: the manifests and lock files that they write.

use crate::Extent;
use crate::programs::args::Args;
use crate::programs::args::Options;
use crate::walk::Walk;
use crate::words::Word;

pub(super) fn run(walk: &mut Walk<'_>, name: &str, words: &[Word]) -> bool {
    match name {
        "npm" => npm(walk, words),
        "cargo" => return cargo(walk, words),
        _ => return false,
    }
    true
}

fn npm(walk: &mut Walk<'_>, words: &[Word]) {
    let args = Args::read(words, &Options::with("C", &["--prefix", "--workspace"]));
    let write = |walk: &mut Walk<'_>, file: &str| match args.value(&["--prefix", "-C"]) {
        Some(directory) => walk.write(&directory.append(&format!("/{file}")), Extent::File, "npm"),
        None => walk.write(&Word::Text(file.into()), Extent::File, "npm"),
    };
    let verbs: Vec<Option<&str>> = args.operands.iter().map(|word| word.text()).collect();
    match verbs.as_slice() {
        [Some("pkg"), Some("set" | "delete" | "fix"), ..] => write(walk, "package.json"),
        [Some("version"), Some(_), ..] | [Some("set-script"), ..] => {
            write(walk, "package.json");
            write(walk, "package-lock.json");
        }
        [Some("init"), ..] => write(walk, "package.json"),
        [
            Some("install" | "i" | "add" | "uninstall" | "remove" | "rm" | "un" | "update" | "up"),
            Some(_),
            ..,
        ] => {
            write(walk, "package.json");
            write(walk, "package-lock.json");
        }
        [Some("install" | "i" | "update" | "dedupe" | "shrinkwrap"), ..] => write(walk, "package-lock.json"),
        [
            Some(
                "ls" | "list" | "view" | "info" | "outdated" | "root" | "prefix" | "bin" | "help" | "whoami"
                | "search" | "pkg" | "config" | "get" | "explain" | "why" | "fund" | "ping",
            ),
            ..,
        ] => return,
        [] if args.has(&["-v", "--version"]) => return,
        _ => {}
    }
    walk.doubt();
}

fn cargo(walk: &mut Walk<'_>, words: &[Word]) -> bool {
    let args =
        Args::read(words, &Options::with("pZF", &["--manifest-path", "--package", "--features", "--git"]));
    let verb = args.operands.iter().find_map(|word| word.text().filter(|word| !word.starts_with('+')));
    if !matches!(verb, Some("add" | "remove" | "rm" | "set-version" | "update" | "generate-lockfile")) {
        return false;
    }
    let manifest = args.value(&["--manifest-path"]).cloned().unwrap_or(Word::Text("Cargo.toml".into()));
    if !matches!(verb, Some("update" | "generate-lockfile")) && !args.has(&["--dry-run", "-n"]) {
        walk.write(&manifest, Extent::File, "cargo");
    }
    if !args.has(&["--dry-run", "-n"]) {
        walk.write(&Word::Text("Cargo.lock".into()), Extent::File, "cargo");
    }
    true
}
