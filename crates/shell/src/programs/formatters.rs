//! Finds the files that source formatters would write, by a table of their options: `rustfmt`,
//! `prettier`, `black`.

use crate::Extent;
use crate::braces;
use crate::walk::Walk;
use crate::words;
use crate::words::Word;
use crate::words::WordChar;

struct Formatter {
    name: &'static str,
    /// The subcommands that format, if the program has subcommands.
    verbs: &'static [&'static str],
    /// Options without which it writes nothing; empty if it needs none.
    writes_with: &'static [&'static str],
    /// Options with which it only checks or prints.
    looks_with: &'static [&'static str],
    /// Options whose value is the next word.
    values: &'static [&'static str],
    /// The files that it formats when no path is given.
    bare: Bare,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Bare {
    /// No files, or the standard input.
    Nothing,
    /// All files below the current directory.
    Everything,
}

const fn formatter(
    name: &'static str,
    verbs: &'static [&'static str],
    writes_with: &'static [&'static str],
    looks_with: &'static [&'static str],
    values: &'static [&'static str],
    bare: Bare,
) -> Formatter {
    Formatter { name, verbs, writes_with, looks_with, values, bare }
}

const CHECK: &[&str] = &["--check", "--diff"];
const FMT: &[&str] = &["fmt"];

#[rustfmt::skip]
const FORMATTERS: &[Formatter] = &[
    formatter("autopep8", &[], &["-i", "--in-place"], &["-d", "--diff"],
        &["--max-line-length", "--select", "--ignore", "-j", "--jobs", "-p", "--global-config", "--indent-size"], Bare::Nothing),
    formatter("biome", &["format", "check", "lint"], &["--write", "--fix", "--apply", "--apply-unsafe"], &[],
        &["--config-path", "--max-diagnostics", "--log-level", "--only", "--skip", "--since", "--reporter"], Bare::Everything),
    formatter("black", &[], &[], &["--check", "--diff", "-c", "--code"],
        &["-l", "--line-length", "-t", "--target-version", "--include", "--exclude", "--extend-exclude", "--force-exclude",
          "--config", "-W", "--workers", "--stdin-filename", "-c", "--code", "--line-ranges"], Bare::Nothing),
    formatter("cargo", FMT, &[], &["--check"], &["-p", "--package", "--manifest-path", "--message-format"], Bare::Everything),
    formatter("clang-format", &[], &["-i"], &["-n", "--dry-run"], &[], Bare::Nothing),
    formatter("dart", &["format"], &[], &["-o", "--output"], &["-l", "--line-length", "-o", "--output"], Bare::Nothing),
    formatter("deno", FMT, &[], &["--check"],
        &["--ext", "--ignore", "-c", "--config", "--line-width", "--indent-width"], Bare::Everything),
    formatter("dprint", FMT, &[], &["--diff"], &["-c", "--config", "--excludes", "--plugins"], Bare::Everything),
    formatter("eslint", &[], &["--fix"], &["--fix-dry-run"],
        &["-c", "--config", "--ext", "--rule", "--ignore-path", "--ignore-pattern", "-f", "--format", "--parser",
          "--plugin", "--cache-location", "--max-warnings", "--env", "--global", "--parser-options", "--fix-type"],
        Bare::Everything),
    formatter("gofmt", &[], &["-w"], &[], &["-r", "-cpuprofile"], Bare::Nothing),
    formatter("gofumpt", &[], &["-w"], &[], &["-lang", "-modpath"], Bare::Nothing),
    formatter("goimports", &[], &["-w"], &[], &["-local", "-srcdir"], Bare::Nothing),
    formatter("google-java-format", &[], &["-i", "-r", "--replace"], &["-n", "--dry-run"],
        &["--lines", "-lines", "--offset", "--length"], Bare::Nothing),
    formatter("isort", &[], &[], &["-c", "--check", "--check-only", "--diff"],
        &["-l", "--line-length", "-w", "--line-width", "--profile", "--sp", "--settings-path", "-p", "--project",
          "--src", "-s", "--skip", "--sg", "--skip-glob", "--py", "-m", "--multi-line", "-j", "--jobs"], Bare::Nothing),
    formatter("ktlint", &[], &["-F", "--format"], &[], &["--reporter", "-R", "--ruleset", "--editorconfig"], Bare::Everything),
    formatter("nixfmt", &[], &[], &["-c", "--check"], &["-w", "--width"], Bare::Nothing),
    formatter("php-cs-fixer", &["fix"], &[], &["--dry-run"], &["--config", "--rules", "--cache-file"], Bare::Everything),
    formatter("prettier", &[], &["--write", "-w"], &[],
        &["--config", "--ignore-path", "--parser", "--plugin", "--log-level", "--print-width", "--tab-width",
          "--config-precedence", "--end-of-line", "--prose-wrap", "--trailing-comma", "--cache-location"], Bare::Nothing),
    formatter("rubocop", &[], &["-a", "-A", "--autocorrect", "--autocorrect-all", "-x"], &[],
        &["-c", "--config", "--only", "--except", "-f", "--format"], Bare::Everything),
    formatter("ruff", &["format"], &[], CHECK,
        &["--config", "--line-length", "--target-version", "--exclude", "--stdin-filename", "--cache-dir", "--range"],
        Bare::Everything),
    formatter("ruff", &["check"], &["--fix", "--fix-only", "--add-noqa"], &["--diff"],
        &["--config", "--line-length", "--target-version", "--exclude", "--stdin-filename", "--cache-dir", "--select",
          "--ignore", "--extend-select", "--output-format", "--per-file-ignores", "--fixable", "--unfixable"],
        Bare::Everything),
    formatter("rustfmt", &[], &[], &["--check", "--emit=stdout", "--print-config"],
        &["--edition", "--config", "--config-path", "--color", "--style-edition", "--emit", "--print-config"], Bare::Nothing),
    formatter("shfmt", &[], &["-w", "--write"], &["-d", "--diff"],
        &["-i", "--indent", "-ln", "--language-dialect", "--filename"], Bare::Nothing),
    formatter("stylelint", &[], &["--fix"], &[],
        &["--config", "--config-basedir", "--custom-syntax", "-f", "--formatter", "--ignore-path", "--max-warnings"],
        Bare::Nothing),
    formatter("stylua", &[], &[], &["--check"], &["-f", "--config-path", "-g", "--glob", "--color"], Bare::Nothing),
    formatter("swiftformat", &[], &[], &["--lint", "--dryrun"],
        &["--rules", "--disable", "--enable", "--config", "--exclude", "--swiftversion", "--indent", "--cache",
          "--lintonly", "--maxwidth", "--header", "--self", "--report", "--reporter", "--commas", "--wraparguments"],
        Bare::Nothing),
    formatter("taplo", &["fmt", "format"], &[], CHECK, &["-c", "--config", "-o", "--option"], Bare::Everything),
    formatter("terraform", FMT, &[], &["-check", "-write=false"], &[], Bare::Everything),
    formatter("tofu", FMT, &[], &["-check", "-write=false"], &[], Bare::Everything),
    formatter("yapf", &[], &["-i", "--in-place"], &["-d", "--diff", "-q", "--quiet"],
        &["--style", "-e", "--exclude", "-l", "--lines"], Bare::Nothing),
    formatter("sqlfluff", &["fix", "format"], &[], &[], &["--dialect", "--config", "-d", "--rules", "-r"], Bare::Nothing),
    formatter("markdownlint", &[], &["--fix", "-f"], &[], &["-c", "--config", "-i", "--ignore", "-o"], Bare::Nothing),
    formatter("markdownlint-cli2", &[], &["--fix"], &[], &["--config"], Bare::Nothing),
    formatter("mdformat", &[], &[], &["--check"], &["--wrap", "--number"], Bare::Nothing),
    formatter("oxlint", &[], &["--fix"], &[], &["-c", "--config", "-A", "-D", "-W"], Bare::Everything),
    formatter("standard", &[], &["--fix"], &[], &["--plugin", "--env"], Bare::Everything),
    formatter("xo", &[], &["--fix"], &[], &["--space", "--env"], Bare::Everything),
    formatter("pyupgrade", &[], &[], &[], &[], Bare::Nothing),
    formatter("autoflake", &[], &["-i", "--in-place"], &["-c", "--check"], &["--imports", "--exclude"], Bare::Nothing),
    formatter("djlint", &[], &["--reformat"], &["--check"], &["--profile", "--indent"], Bare::Nothing),
    formatter("buildifier", &[], &[], &["-mode=check", "--mode=check", "-mode=diff"], &[], Bare::Nothing),
    formatter("ormolu", &[], &["-i", "--mode=inplace"], &[], &["-o", "--ghc-opt"], Bare::Nothing),
    formatter("scalafmt", &[], &[], &["--check", "--test"], &["-c", "--config"], Bare::Everything),
    formatter("elm-format", &[], &[], &["--validate"], &["--output"], Bare::Nothing),
    formatter("mix", &["format"], &[], &["--check-formatted", "--dry-run"], &["--dot-formatter"], Bare::Everything),
    formatter("go", FMT, &[], &["-n"], &[], Bare::Everything),
    formatter("nix", FMT, &[], &["--check"], &[], Bare::Everything),
    formatter("typos", &[], &["-w", "--write-changes"], &["--diff"], &["--config", "--exclude"], Bare::Everything),
    formatter("codespell", &[], &["-w", "--write-changes"], &[], &["-L", "-S", "-I", "--skip", "--ignore-words"], Bare::Everything),
    formatter("golangci-lint", &["run"], &["--fix"], &[], &["-c", "--config", "--timeout", "-E", "-D"], Bare::Everything),
    formatter("pint", &[], &[], &["--test"], &["--config", "--preset"], Bare::Everything),
    formatter("phpcbf", &[], &[], &[], &["--standard", "-d"], Bare::Nothing),
    formatter("zig", FMT, &[], &["--check"], &["--exclude"], Bare::Nothing),
];

/// Formatters that write more than the given paths, with the options for that; empty if they always do.
const REACHES_FURTHER: &[(&str, &[&str])] = &[
    // rustfmt follows a file to its modules.
    ("rustfmt", &[]),
    ("cargo", &["-p", "--package", "--manifest-path"]),
    ("eslint", &["-o", "--output-file"]),
    ("ruff", &["-o", "--output-file"]),
];

const EXPANDS: &[&str] = &["eslint", "ktlint", "prettier", "stylelint"];

/// Whether a program is a formatter that many machines do not have.
pub(super) fn is_one(name: &str) -> bool {
    name != "cargo" && FORMATTERS.iter().any(|formatter| formatter.name == name)
}

pub(super) fn run(walk: &mut Walk<'_>, name: &str, words: &[Word]) -> bool {
    let mut kin = FORMATTERS.iter().filter(|formatter| formatter.name == name).peekable();
    if kin.peek().is_none() {
        return false;
    }
    // `cargo +nightly fmt`
    let is_toolchain = |word: &Word| name == "cargo" && word.text().is_some_and(|text| text.starts_with('+'));
    let words = if words.first().is_some_and(is_toolchain) { &words[1..] } else { words };
    let verb = words.first().and_then(Word::text).unwrap_or_default();
    let Some(formatter) = kin.find(|one| one.verbs.is_empty() || one.verbs.contains(&verb)) else {
        // Another subcommand is not described here; these options write nothing.
        return matches!(verb, "--version" | "-V" | "--help");
    };
    let (by, words) = match formatter.verbs {
        [] => (name.to_owned(), words),
        _ => (format!("{name} {verb}"), &words[1..]),
    };
    let (flags, mut paths) = split(words, formatter.values);
    // Operands after `cargo fmt --` are for rustfmt, and no paths.
    if name == "cargo" {
        paths.clear();
    }
    let has = |names: &[&str]| {
        flags.iter().any(|flag| names.contains(flag) || names.contains(&before_equals(flag)))
    };
    let writes = formatter.writes_with.is_empty() || has(formatter.writes_with);
    let prints = flags.windows(1).any(|flag| flag[0] == "--emit")
        && words.iter().any(|word| word.text() == Some("stdout"));
    let only_tells = prints || has(&["--version", "--help", "-h", "-V"]);
    if !writes || only_tells || has(formatter.looks_with) {
        return true;
    }
    let reaches = |(one, flags): &(&str, &[&str])| *one == name && (flags.is_empty() || has(flags));
    if REACHES_FURTHER.iter().any(reaches) && !(paths.is_empty() && formatter.bare == Bare::Nothing) {
        walk.note_unknown_write();
        if name == "cargo" {
            return true;
        }
    }
    if name == "cargo" {
        // cargo also looks for a package in the directories above.
        walk.note_unknown_write();
    }
    match formatter.bare {
        Bare::Everything if paths.is_empty() => write(walk, &Word::Text(".".into()), name, &by),
        _ => paths.iter().for_each(|path| write(walk, path, name, &by)),
    }
    true
}

/// Writes a path or pattern; formatters made for the web expand patterns themselves.
fn write(walk: &mut Walk<'_>, path: &Word, name: &str, by: &str) {
    let text = path.text().filter(|text| text.contains(['*', '{', '!']));
    let Some(pattern) = text.filter(|_| EXPANDS.contains(&name)) else {
        return write_below(walk, path, name, by);
    };
    let pieces: Vec<WordChar> = pattern.chars().map(WordChar::Bare).collect();
    match braces::expand(&pieces) {
        Some(patterns) if !pattern.contains('!') => {
            for pattern in patterns {
                walk.write(&Word::Glob(pattern.into_iter().map(WordChar::char).collect()), Extent::Glob, by);
            }
        }
        _ => walk.note_unknown_write(),
    }
}

/// Returns the endings of the files that a formatter looks for in a directory; none if it takes all files.
#[rustfmt::skip]
fn endings(name: &str) -> &'static [&'static str] {
    match name {
        "autopep8" | "black" | "isort" | "ruff" | "yapf" => &["py", "pyi", "ipynb"],
        "cargo" | "rustfmt" => &["rs"],
        "clang-format" => &["c", "h", "cc", "cpp", "hpp", "m", "mm"],
        "dart" => &["dart"],
        "gofmt" | "gofumpt" | "goimports" => &["go"],
        "google-java-format" => &["java"],
        "ktlint" => &["kt", "kts"],
        "nixfmt" => &["nix"],
        "php-cs-fixer" => &["php"],
        "rubocop" => &["rb", "rake", "gemspec", "ru"],
        "shfmt" => &["sh", "bash"],
        "stylua" => &["lua"],
        "swiftformat" => &["swift"],
        "taplo" => &["toml"],
        "terraform" | "tofu" => &["tf", "tfvars"],
        "zig" => &["zig", "zon"],
        "eslint" => &["js", "jsx", "ts", "tsx", "mjs", "cjs", "mts", "cts", "vue", "svelte"],
        "stylelint" => &["css", "scss", "sass", "less"],
        "sqlfluff" => &["sql"],
        _ => &[],
    }
}

/// Writes a file, or all files of the formatter's kinds below a directory.
fn write_below(walk: &mut Walk<'_>, path: &Word, name: &str, by: &str) {
    let endings = endings(name);
    let last = path.shape().and_then(|shape| shape.rsplit('/').next()).unwrap_or_default();
    let is_file = last.rsplit_once('.').is_some_and(|(stem, ending)| !stem.is_empty() && !ending.is_empty());
    let Some(directory) = path.text().filter(|_| !is_file && !endings.is_empty()) else {
        return walk.write(path, Extent::Tree, by);
    };
    let directory = words::escape(directory.trim_end_matches('/'));
    for ending in endings {
        walk.write(&Word::Glob(format!("{directory}/**/*.{ending}")), Extent::File, by);
    }
}

/// Splits words into paths and options. The options are not parsed, as many formatters have long
/// options with one dash.
fn split<'w>(words: &'w [Word], values: &[&str]) -> (Vec<&'w str>, Vec<&'w Word>) {
    let (mut flags, mut paths) = (Vec::new(), Vec::new());
    let mut only_paths = false;
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.shape() {
            Some("-") => {}
            // `cargo fmt -- --check` passes the options on.
            Some("--") => {
                only_paths =
                    !words.as_slice().iter().any(|word| word.text().is_some_and(|word| word.starts_with('-')))
            }
            Some(flag) if flag.starts_with('-') && !only_paths => {
                flags.push(flag);
                if values.contains(&flag) {
                    words.next();
                }
            }
            _ => paths.push(word),
        }
    }
    (flags, paths)
}

fn before_equals(flag: &str) -> &str {
    flag.split_once('=').map_or(flag, |(name, _)| name)
}
