//! Finds the files that package managers would write: manifests and lock files (`npm`, `cargo`).

use crate::Extent;
use crate::Needs;
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

/// A package manager, with the files that its verbs write.
struct Manager {
    name: &'static str,
    manifests: &'static [&'static str],
    locks: &'static [&'static str],
    /// Verbs that write the manifest, and the lock file with it.
    adds: &'static [&'static str],
    /// Verbs that write the lock file.
    locking: &'static [&'static str],
    /// Verbs that write the manifest only if a package is named, and the lock file always.
    either: &'static [&'static str],
}

const fn manager(
    name: &'static str,
    manifests: &'static [&'static str],
    locks: &'static [&'static str],
    adds: &'static [&'static str],
    locking: &'static [&'static str],
    either: &'static [&'static str],
) -> Manager {
    Manager { name, manifests, locks, adds, locking, either }
}

const PACKAGE: &[&str] = &["package.json"];
const PROJECT: &[&str] = &["pyproject.toml"];

#[rustfmt::skip]
const MANAGERS: &[Manager] = &[
    manager("pnpm", PACKAGE, &["pnpm-lock.yaml"], &["add", "remove", "rm", "un", "uninstall", "version", "pkg", "init"],
        &["dedupe", "fetch", "import"], &["install", "i", "update", "up", "upgrade"]),
    manager("yarn", PACKAGE, &["yarn.lock"], &["add", "remove", "version", "init", "up", "set"], &["install", "dedupe"], &["upgrade"]),
    manager("bun", PACKAGE, &["bun.lock", "bun.lockb"], &["add", "a", "remove", "rm", "init"], &[], &["install", "i", "update"]),
    manager("deno", &["deno.json"], &["deno.lock"], &["add", "remove"], &[], &["install"]),
    manager("ncu", PACKAGE, &[], &["-u", "--upgrade"], &[], &[]),
    manager("npm-check-updates", PACKAGE, &[], &["-u", "--upgrade"], &[], &[]),
    manager("poetry", PROJECT, &["poetry.lock"], &["add", "remove", "version", "init"], &["lock", "update", "install"], &[]),
    manager("uv", PROJECT, &["uv.lock"], &["add", "remove", "version", "init"], &["lock", "sync"], &[]),
    manager("pdm", PROJECT, &["pdm.lock"], &["add", "remove", "init"], &["lock", "update", "install", "sync"], &[]),
    manager("rye", PROJECT, &["requirements.lock", "requirements-dev.lock"], &["add", "remove", "init"], &["lock", "sync"], &[]),
    manager("hatch", PROJECT, &[], &["version", "new"], &[], &[]),
    manager("pipenv", &["Pipfile"], &["Pipfile.lock"], &["uninstall"], &["lock", "update", "sync"], &["install"]),
    manager("bundle", &["Gemfile"], &["Gemfile.lock"], &["add", "remove", "init"], &["install", "update", "lock"], &[]),
    manager("composer", &["composer.json"], &["composer.lock"], &["require", "remove", "config", "init", "bump"], &["install", "update"], &[]),
    manager("go", &["go.mod"], &["go.sum"], &["get"], &[], &[]),
    manager("pod", &["Podfile"], &["Podfile.lock"], &["init"], &["install", "update"], &[]),
    manager("flutter", &["pubspec.yaml"], &["pubspec.lock"], &[], &[], &[]),
    manager("mix", &["mix.exs"], &["mix.lock"], &[], &["deps.get", "deps.update"], &[]),
    manager("terraform", &[], &[".terraform.lock.hcl"], &[], &["init"], &[]),
    manager("helm", &["Chart.yaml"], &["Chart.lock"], &[], &["dependency", "dep"], &[]),
    manager("nix", &["flake.nix"], &["flake.lock"], &[], &[], &[]),
    manager("bumpversion", &[".bumpversion.cfg", "setup.cfg", "pyproject.toml"], &[], &["patch", "minor", "major"], &[], &[]),
    manager("bump2version", &[".bumpversion.cfg", "setup.cfg", "pyproject.toml"], &[], &["patch", "minor", "major"], &[], &[]),
    manager("standard-version", PACKAGE, &["package-lock.json", "CHANGELOG.md"], &[], &[], &[]),
    manager("release-it", PACKAGE, &["package-lock.json"], &["patch", "minor", "major"], &[], &[]),
    manager("lerna", PACKAGE, &["lerna.json"], &["version"], &[], &[]),
    manager("changeset", PACKAGE, &["CHANGELOG.md"], &["version"], &[], &[]),
    manager("rails", &["Gemfile"], &["Gemfile.lock"], &[], &[], &[]),
    manager("meson", &[], &[], &[], &[], &[]),
];

/// Writes the files of a package manager if it is asked to change them; returns whether it was.
pub(super) fn managed(walk: &mut Walk<'_>, name: &str, words: &[Word]) -> bool {
    let Some(manager) = MANAGERS.iter().find(|manager| manager.name == name) else { return false };
    let long =
        &["--prefix", "--dir", "--cwd", "--project", "--directory", "--group", "--working-dir", "--filter"];
    let args = Args::read(words, &Options::with("CGd", long));
    // `ncu -u` has an option instead of a verb.
    let verb = args.operands.first().and_then(|word| word.text());
    let option = words.iter().filter_map(Word::text).find(|word| manager.adds.contains(word));
    let Some(verb) = verb.or(option) else { return false };
    let is_go = name == "go" && verb == "mod" || matches!(verb, "version") && name == "standard-version";
    let adds = manager.adds.contains(&verb) || option.is_some_and(|one| one.starts_with('-')) || is_go;
    let either = manager.either.contains(&verb);
    if !adds && !either && !manager.locking.contains(&verb) {
        return false;
    }
    if args.has(&[
        "--dry-run",
        "--help",
        "-h",
        "--frozen-lockfile",
        "--immutable",
        "--locked",
        "--check",
        "--dry",
    ]) {
        walk.note_unknown_write();
        return true;
    }
    let place =
        args.value(&["-C", "--prefix", "--dir", "--cwd", "--project", "--directory", "--working-dir", "-d"]);
    let write = |walk: &mut Walk<'_>, file: &str| match place {
        Some(directory) => walk.write(&directory.append(&format!("/{file}")), Extent::File, name),
        None => walk.write(&Word::Text(file.into()), Extent::File, name),
    };
    let is_named = args.operands.len() > 1;
    let asks_version = verb == "version" && !is_named && args.operands.len() < 2 && option == Some("version");
    if (adds || either && is_named) && !asks_version {
        manager.manifests.iter().for_each(|file| write(walk, file));
    }
    manager.locks.iter().filter(|_| !asks_version).for_each(|file| write(walk, file));
    walk.note_unknown_write();
    true
}

fn npm(walk: &mut Walk<'_>, words: &[Word]) {
    let args = Args::read(words, &Options::with("Cc", &["--prefix", "--workspace", "--call"]));
    let write = |walk: &mut Walk<'_>, file: &str| match args.value(&["--prefix", "-C"]) {
        Some(directory) => walk.write(&directory.append(&format!("/{file}")), Extent::File, "npm"),
        None => walk.write(&Word::Text(file.into()), Extent::File, "npm"),
    };
    let verbs: Vec<Option<&str>> = args.operands.iter().map(|word| word.text()).collect();
    let is_run =
        matches!(verbs.first(), Some(Some("run" | "run-script" | "test" | "t" | "start" | "exec" | "x")));
    if args.has(&["--dry-run"]) && !is_run {
        return walk.note_unknown_write();
    }
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
        [Some("pkg"), Some("set" | "delete"), ..] => write(walk, "package.json"),
        // Only npm knows whether there is anything to fix.
        [Some("pkg"), Some("fix"), ..] => {}
        [Some("version"), Some(version), ..] if !changes_version(walk, &args, version) => {}
        [Some("version"), Some(_), ..] if commits_version(walk, &args) => {
            let manifest = Word::Text("package.json".into());
            walk.write_if(&manifest, Extent::File, "npm version", Needs::Clean);
        }
        [Some("version"), Some(_), ..] | [Some("set-script"), ..] => {
            write(walk, "package.json");
            write(walk, "package-lock.json");
        }
        [Some("init"), ..] => write(walk, "package.json"),
        // Only npm knows whether it has the packages in its cache.
        [Some("install" | "i" | "add"), Some(first), ..]
            if is_offline(walk, &args) && !first.contains('/') => {}
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
    walk.note_unknown_write();
}

/// Whether npm is told not to use the network.
pub(super) fn is_offline(walk: &Walk<'_>, args: &Args<'_>) -> bool {
    let value = walk.names().value("npm_config_offline");
    args.has(&["--offline"]) || value.is_some_and(|value| value.text() == Some("true"))
}

/// Whether `npm version` is given another version than the current one.
fn changes_version(walk: &Walk<'_>, args: &Args<'_>, version: &str) -> bool {
    let is_same = |manifest: String| manifest.contains(&format!("\"version\": \"{version}\""));
    args.has(&["--allow-same-version"]) || !walk.file("package.json").is_some_and(is_same)
}

/// Whether `npm version` makes a commit, which it does only in a worktree without changes: false if
/// the text may have changed files before.
fn commits_version(walk: &Walk<'_>, args: &Args<'_>) -> bool {
    let is_told = args.has(&["--no-git-tag-version", "--git-tag-version", "--force", "-f", "--prefix", "-C"]);
    !is_told && !walk.may_have_changed()
}

/// Follows a script of `package.json`.
fn run_script(walk: &mut Walk<'_>, name: &str, words: &[&Word]) {
    let Some(script) = walk.file("package.json").and_then(|text| script_named(&text, name)) else { return };
    let words: Option<Vec<&str>> = words.iter().map(|word| word.text()).collect();
    let is_plain = |word: &&str| word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./=:@".contains(c));
    match words.filter(|words| words.iter().all(is_plain)) {
        Some(words) => walk.aside(|walk| walk.script(&format!("{script} {}", words.join(" ")))),
        None => walk.note_unknown_write(),
    }
}

/// Finds the text of a script in a manifest with the usual layout.
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
    let args = Args::read(
        words,
        &Options::with(
            "pZF",
            &[
                "--manifest-path",
                "--package",
                "--features",
                "--git",
                "--vcs",
                "--name",
                "--edition",
                "--rename",
            ],
        ),
    );
    let verb = args.operands.iter().find_map(|word| word.text().filter(|word| !word.starts_with('+')));
    if let Some("new" | "init") = verb {
        let directory = args.operands.iter().filter_map(|word| word.text()).find(|word| Some(*word) != verb);
        let made = Word::Text(format!("{}/Cargo.toml", directory.unwrap_or(".")));
        let is_taken = verb == Some("new")
            && directory.is_some_and(|directory| !walk.is_absent(directory) && walk.here.entries.is_some());
        if !is_taken {
            walk.write(&made, Extent::File, "cargo");
        }
        walk.note_unknown_write();
        return true;
    }
    // These change sources, and the text does not tell which.
    if let Some("fix" | "clippy" | "vendor" | "release" | "set-version") = verb {
        walk.note_unknown_write();
        return true;
    }
    if !matches!(verb, Some("add" | "remove" | "rm" | "update" | "generate-lockfile" | "upgrade")) {
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
