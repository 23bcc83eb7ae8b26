//! What programs that run another one would write: `sudo`, `env`, `timeout`, `xargs`,
//! `npx`.

use crate::Extent;
use crate::programs;
use crate::programs::args::Args;
use crate::programs::args::Options;
use crate::programs::formatters;
use crate::programs::scripts;
use crate::walk::Walk;
use crate::words::Word;

pub(super) fn run(walk: &mut Walk<'_>, name: &str, words: &[Word]) -> bool {
    match name {
        "sudo" | "doas" => sudo(walk, words),
        "env" => env(walk, words),
        "nohup" | "builtin" | "setsid" => plain(walk, words, &Options::NONE),
        "setpriv" | "runuser" | "prlimit" => plain(walk, words, &Options::NONE),
        "nice" => plain(walk, words, &Options::with("n", &["--adjustment"])),
        "ionice" => plain(walk, words, &Options::with("cn", &["--class", "--classdata"])),
        "stdbuf" => plain(walk, words, &Options::with("ioe", &["--input", "--output", "--error"])),
        "exec" => plain(walk, words, &Options::with("a", &[])),
        "time" => time(walk, words),
        "timeout" => timeout(walk, words),
        "flock" => flock(walk, words),
        "chronic" | "unbuffer" | "catchsegv" | "faketime" => plain(walk, words, &Options::NONE),
        "command" => command(walk, words),
        "xargs" => xargs(walk, words),
        "npx" | "bunx" | "uvx" | "pnpm" | "yarn" | "poetry" | "uv" | "pipx" | "bundle" => {
            runner(walk, name, words)
        }
        "python" | "python3" => python(walk, words),
        _ => return false,
    }
    true
}

fn plain(walk: &mut Walk<'_>, words: &[Word], options: &Options) {
    let (_, rest) = Args::leading(words, options);
    programs::run(walk, rest);
}

fn sudo(walk: &mut Walk<'_>, words: &[Word]) {
    const LONG: &[&str] =
        &["--user", "--group", "--host", "--prompt", "--chdir", "--chroot", "--command-timeout"];
    let (args, rest) = Args::leading(words, &Options::with("ughpCDRTUrt", LONG));
    let rest = without_assignments(walk, rest);
    if args.has(&["-i", "-s", "--login", "--shell", "-e", "--edit", "-R", "--chroot"]) {
        return walk.doubt();
    }
    match args.value(&["-D", "--chdir"]) {
        Some(directory) => walk.within(directory, |walk| programs::run(walk, rest)),
        None => programs::run(walk, rest),
    }
}

fn env(walk: &mut Walk<'_>, words: &[Word]) {
    let (args, rest) = Args::leading(words, &Options::with("uCS", &["--unset", "--chdir", "--split-string"]));
    if args.has(&["-S", "--split-string"]) {
        return walk.doubt();
    }
    let rest = rest.strip_prefix(&[Word::Text("-".into())]).unwrap_or(rest);
    let rest = without_assignments(walk, rest);
    match args.value(&["-C", "--chdir"]) {
        Some(directory) => walk.within(directory, |walk| programs::run(walk, rest)),
        None => programs::run(walk, rest),
    }
}

/// What follows `NAME=value`.
fn without_assignments<'w>(walk: &mut Walk<'_>, words: &'w [Word]) -> &'w [Word] {
    let is_assignment = |word: &&Word| word.shape().is_some_and(|shape| shape.contains('='));
    let count = words.iter().take_while(is_assignment).count();
    if words[..count].iter().filter_map(Word::shape).any(programs::moves_git) {
        walk.doubt();
    }
    &words[count..]
}

fn time(walk: &mut Walk<'_>, words: &[Word]) {
    let (args, rest) = Args::leading(words, &Options::with("of", &["--output", "--format"]));
    if let Some(file) = args.value(&["-o", "--output"]) {
        walk.write(file, Extent::File, "time");
    }
    programs::run(walk, rest);
}

fn timeout(walk: &mut Walk<'_>, words: &[Word]) {
    let (_, rest) = Args::leading(words, &Options::with("sk", &["--signal", "--kill-after"]));
    programs::run(walk, rest.get(1..).unwrap_or_default());
}

fn flock(walk: &mut Walk<'_>, words: &[Word]) {
    let (_, rest) = Args::leading(words, &Options::with("wE", &["--wait", "--timeout"]));
    match rest.get(1..) {
        Some([Word::Text(option), Word::Text(script), ..]) if option == "-c" || option == "--command" => {
            walk.aside(|walk| walk.script(script));
        }
        Some(rest) => programs::run(walk, rest),
        None => {}
    }
}

fn command(walk: &mut Walk<'_>, words: &[Word]) {
    let (args, rest) = Args::leading(words, &Options::NONE);
    if !args.has(&["-v", "-V"]) {
        programs::run(walk, rest);
    }
}

/// What is read from the input is one more argument that the text does not
/// tell: a program that only reads it stays harmless.
fn xargs(walk: &mut Walk<'_>, words: &[Word]) {
    const LONG: &[&str] =
        &["--max-args", "--max-procs", "--max-lines", "--delimiter", "--arg-file", "--max-chars"];
    let (args, rest) = Args::leading(words, &Options { values: "InPLsdaE", suffixes: "iel", long: LONG });
    let mark = match (args.value(&["-I", "-i", "--replace"]), args.has(&["-i", "--replace"])) {
        (Some(mark), _) => Some(mark.text()),
        (None, true) => Some(Some("{}")),
        (None, false) => None,
    };
    let words = if args.has(&["-a", "--arg-file"]) { None } else { walk.input.words() };
    let inner: Vec<Vec<Word>> = match (mark, words) {
        (Some(Some(mark)), Some(words)) if !mark.is_empty() => {
            words.iter().map(|word| scripts::with_word(rest, mark, word)).collect()
        }
        (Some(Some(mark)), None) if !mark.is_empty() => vec![scripts::with_unknown(rest, mark)],
        (Some(_), _) => return walk.doubt(),
        (None, _) if rest.is_empty() => return,
        (None, Some(words)) => vec![rest.iter().cloned().chain(words).collect()],
        (None, None) => vec![rest.iter().cloned().chain([Word::Unknown]).collect()],
    };
    inner.iter().for_each(|command| walk.aside(|walk| programs::run(walk, command)));
}

/// Runs a program out of a package: one that is known is a formatter.
fn runner(walk: &mut Walk<'_>, name: &str, words: &[Word]) {
    let verbs: &[&str] = match name {
        "pnpm" => &["exec", "dlx"],
        "yarn" => &["exec", "dlx", "run"],
        "poetry" | "uv" | "pipx" => &["run"],
        "bundle" => &["exec"],
        _ => &[],
    };
    let options = Options::with("p", &["--package", "--from", "--with", "--python"]);
    let (args, mut rest) = Args::leading(words, &options);
    let verb = rest.first().and_then(Word::text).filter(|verb| verbs.contains(verb));
    match verb {
        Some(_) => rest = Args::leading(&rest[1..], &options).1,
        None if verbs.is_empty() || name == "yarn" => {}
        None => return walk.doubt(),
    }
    let program = rest.first().and_then(Word::text);
    // `prettier@3` is a version of prettier.
    let program = program.map(|name| name.split_once('@').map_or(name, |(name, _)| name));
    let is_known = !args.has(&["-c", "--call"])
        && program.is_some_and(|program| formatters::run(walk, program, &rest[1..]));
    if !is_known {
        walk.doubt();
    }
}

fn python(walk: &mut Walk<'_>, words: &[Word]) {
    let is_known = match words {
        [Word::Text(option), Word::Text(module), rest @ ..] if option == "-m" => {
            formatters::run(walk, module, rest)
        }
        [Word::Text(option)] => matches!(option.as_str(), "--version" | "-V"),
        _ => false,
    };
    if !is_known {
        walk.doubt();
    }
}
