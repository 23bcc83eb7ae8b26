//! What package managers would write: their manifests and lock files (`npm`, `cargo`).

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
    let args = Args::read(words, &Options::with("Cc", &["--prefix", "--workspace", "--call"]));
    let write = |walk: &mut Walk<'_>, file: &str| match args.value(&["--prefix", "-C"]) {
        Some(directory) => walk.write(&directory.append(&format!("/{file}")), Extent::File, "npm"),
        None => walk.write(&Word::Text(file.into()), Extent::File, "npm"),
    };
    let verbs: Vec<Option<&str>> = args.operands.iter().map(|word| word.text()).collect();
    match verbs.as_slice() {
        [Some("exec" | "x")] => {
            let call = args.value(&["-c", "--call"]).and_then(Word::text).map(str::to_owned);
            call.iter().for_each(|script| walk.aside(|walk| walk.script(script)));
        }
        [Some("run" | "run-script"), Some(name), ..] => {
            let directory = args.value(&["--prefix", "-C"]).cloned().unwrap_or(Word::Text(".".into()));
            walk.within(&directory, |walk| {
                run_script(walk, name, args.operands.get(2..).unwrap_or_default())
            });
        }
        [Some(name @ ("test" | "t" | "start" | "stop")), ..] => {
            run_script(
                walk,
                if *name == "t" { "test" } else { name },
                args.operands.get(1..).unwrap_or_default(),
            );
        }
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

/// What a script of `package.json` does.
fn run_script(walk: &mut Walk<'_>, name: &str, words: &[&Word]) {
    let Some(script) = walk.file("package.json").and_then(|text| script_named(&text, name)) else { return };
    let words: Option<Vec<&str>> = words.iter().map(|word| word.text()).collect();
    let is_plain = |word: &&str| word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./=:@".contains(c));
    match words.filter(|words| words.iter().all(is_plain)) {
        Some(words) => walk.aside(|walk| walk.script(&format!("{script} {}", words.join(" ")))),
        None => walk.doubt(),
    }
}

/// The text of a script, where the file is written as everybody writes it.
fn script_named(manifest: &str, name: &str) -> Option<String> {
    let scripts = &manifest[manifest.find("\"scripts\"")?..];
    let scripts = &scripts[..scripts.find('}')?];
    let value = &scripts[scripts.find(&format!("\"{name}\""))? + name.len() + 2..];
    let value = value.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
    let mut text = String::new();
    let mut chars = value.chars();
    loop {
        match chars.next()? {
            '"' => return Some(text),
            '\\' => text.push(chars.next()?),
            c => text.push(c),
        }
    }
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
