//! Follows the commands that wrapper programs run: `sudo`, `env`, `timeout`, `xargs`, `npx`.

use crate::Extent;
use crate::programs;
use crate::programs::archives;
use crate::programs::args::Args;
use crate::programs::args::Options;
use crate::programs::formatters;
use crate::programs::packages;
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
        "strace" | "ltrace" => {
            let (args, rest) = Args::leading(words, &Options::with("oepsSaPuE", &["--output", "--trace"]));
            args.values(&["-o", "--output"]).for_each(|file| walk.write(file, Extent::File, name));
            programs::run(walk, rest);
            walk.note_unknown_write();
        }
        "perf" | "valgrind" | "rr" | "gdb" => walk.note_unknown_write(),
        "watch" => plain(walk, words, &Options::with("nd", &["--interval"])),
        "parallel" => parallel(walk, words),
        "fd" | "fdfind" => fd(walk, words),
        "xargs" => xargs(walk, words),
        "npx" | "bunx" | "uvx" | "pnpm" | "yarn" | "poetry" | "uv" | "pipx" | "bundle" => {
            runner(walk, name, words)
        }
        "python" | "python3" => python(walk, words),
        "busybox" | "toybox" | "doppler" | "direnv" | "dotenv" | "mise" | "asdf" | "proxychains"
        | "firejail" => {
            let at = words.iter().position(|word| matches!(word.text(), Some("--" | "run" | "exec")));
            programs::run(walk, &words[at.map_or(0, |at| at + 1)..]);
            walk.note_unknown_write();
        }
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
        return walk.note_unknown_write();
    }
    match args.value(&["-D", "--chdir"]) {
        Some(directory) => walk.within(directory, |walk| programs::run(walk, rest)),
        None => programs::run(walk, rest),
    }
}

fn env(walk: &mut Walk<'_>, words: &[Word]) {
    let (args, rest) = Args::leading(words, &Options::with("uCS", &["--unset", "--chdir", "--split-string"]));
    if let Some(line) = args.value(&["-S", "--split-string"]) {
        match line.text().map(str::to_owned) {
            Some(line) => walk.aside(|walk| walk.script(&line)),
            None => walk.note_unknown_write(),
        }
    }
    let rest = rest.strip_prefix(&[Word::Text("-".into())]).unwrap_or(rest);
    let before = walk.variables.clone();
    for (name, value) in rest.iter().map_while(|word| word.text()?.split_once('=')) {
        walk.variables.set(name, Word::Text(value.to_owned()));
    }
    let rest = without_assignments(walk, rest);
    match args.value(&["-C", "--chdir"]) {
        Some(directory) => walk.within(directory, |walk| programs::run(walk, rest)),
        None => programs::run(walk, rest),
    }
    walk.variables = before;
}

/// Handles `parallel command ::: words`, or with the words from its input.
fn parallel(walk: &mut Walk<'_>, words: &[Word]) {
    let long =
        &["--jobs", "--arg-file", "--colsep", "--delay", "--joblog", "--results", "--tmpdir", "--max-args"];
    let (args, rest) = Args::leading(words, &Options::with("jaINnCS", long));
    if args.has(&["--dry-run", "--version"]) {
        return;
    }
    let sign = rest.iter().position(|word| matches!(word.text(), Some(":::" | "::::" | ":::+")));
    let (command, given) = rest.split_at(sign.unwrap_or(rest.len()));
    let values = match sign {
        Some(at) if rest[at].text() == Some(":::") => Some(walk.names().all_expanded(given[1..].to_vec())),
        Some(_) => None,
        None => walk.input.words(),
    };
    walk.note_unknown_write();
    let Some(values) = values else {
        return walk.aside(|walk| programs::run(walk, &scripts::with_unknown(command, "{}")));
    };
    for value in &values {
        let has_mark = command.iter().any(|word| word.shape().is_some_and(|shape| shape.contains("{}")));
        let mut line = scripts::with_word(command, "{}", value);
        line.extend((!has_mark).then(|| value.clone()));
        // A command that is a single word is a whole shell command.
        match line.as_slice() {
            [Word::Text(script)] if script.contains(' ') => walk.aside(|walk| walk.script(script)),
            [Word::Text(script), value] if script.contains(' ') => {
                let words: Vec<Word> =
                    script.split_whitespace().map(|word| Word::Text(word.into())).collect();
                walk.aside(|walk| programs::run(walk, &[words, vec![value.clone()]].concat()));
            }
            line => walk.aside(|walk| programs::run(walk, line)),
        }
    }
}

/// Handles `fd pattern directory -x command`.
fn fd(walk: &mut Walk<'_>, words: &[Word]) {
    let is_run = |word: &Word| matches!(word.text(), Some("-x" | "-X" | "--exec" | "--exec-batch"));
    let Some(at) = words.iter().position(is_run) else {
        if words.contains(&Word::Unknown) {
            walk.note_unknown_write();
        }
        return;
    };
    let (search, command) = (&words[..at], &words[at + 1..]);
    let args =
        Args::read(search, &Options::with("eEtdgSc", &["--extension", "--exclude", "--type", "--max-depth"]));
    let roots: Vec<&str> = args.operands.iter().skip(1).filter_map(|word| word.text()).collect();
    let roots = if roots.is_empty() { vec!["."] } else { roots };
    let name = match args.value(&["-e", "--extension"]).and_then(Word::text) {
        Some(ending) => format!("*.{ending}"),
        None => "*".to_owned(),
    };
    // The text does not tell which files the pattern matches.
    let is_all = args.operands.first().is_none_or(|word| matches!(word.text(), Some("" | ".")));
    walk.note_unknown_write();
    for root in roots {
        let found = if is_all { Word::Glob(format!("{root}/**/{name}")) } else { Word::Unknown };
        let has_mark = command.iter().any(|word| word.shape().is_some_and(|shape| shape.contains("{}")));
        let mut line = scripts::with_word(command, "{}", &found);
        line.extend((!has_mark).then_some(found));
        walk.aside(|walk| programs::run(walk, &line));
    }
}

/// Returns the words after assignments `NAME=value`.
fn without_assignments<'w>(walk: &mut Walk<'_>, words: &'w [Word]) -> &'w [Word] {
    let is_assignment = |word: &&Word| word.shape().is_some_and(|shape| shape.contains('='));
    let count = words.iter().take_while(is_assignment).count();
    if words[..count].iter().filter_map(Word::shape).any(programs::moves_git) {
        walk.note_unknown_write();
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

/// Handles `xargs`: if its input is not known, it adds one unknown argument, so a program that only
/// reads stays harmless.
fn xargs(walk: &mut Walk<'_>, words: &[Word]) {
    const LONG: &[&str] =
        &["--max-args", "--max-procs", "--max-lines", "--delimiter", "--arg-file", "--max-chars"];
    let (args, rest) = Args::leading(words, &Options { values: "InPLsdaE", suffixes: "iel", long: LONG });
    let mark = match (args.value(&["-I", "-i", "--replace"]), args.has(&["-i", "--replace"])) {
        (Some(mark), _) => Some(mark.text()),
        (None, true) => Some(Some("{}")),
        (None, false) => None,
    };
    let words = match args.value(&["-a", "--arg-file"]) {
        Some(file) => {
            let text = file.text().and_then(|path| walk.file(path));
            text.map(|text| text.split_whitespace().map(|word| Word::Text(word.into())).collect())
        }
        None => walk.input.words(),
    };
    if args.has(&["-r", "--no-run-if-empty"]) && words.as_ref().is_some_and(Vec::is_empty) {
        return;
    }
    let inner: Vec<Vec<Word>> = match (mark, words) {
        (Some(Some(mark)), Some(words)) if !mark.is_empty() => {
            words.iter().map(|word| scripts::with_word(rest, mark, word)).collect()
        }
        (Some(Some(mark)), None) if !mark.is_empty() => vec![scripts::with_unknown(rest, mark)],
        (Some(_), _) => return walk.note_unknown_write(),
        (None, _) if rest.is_empty() => return,
        (None, Some(words)) => vec![rest.iter().cloned().chain(words).collect()],
        (None, None) => vec![rest.iter().cloned().chain([Word::Unknown]).collect()],
    };
    inner.iter().for_each(|command| walk.aside(|walk| programs::run(walk, command)));
}

/// Runs a program out of a package: only formatters are known.
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
        None => return walk.note_unknown_write(),
    }
    let program = rest.first().and_then(Word::text);
    // `prettier@3` is a version of prettier.
    let program = program.map(|name| name.split_once('@').map_or(name, |(name, _)| name));
    // Offline, npx cannot fetch a package that is missing, so it does nothing.
    if let (true, Some(program)) = (name == "npx" && packages::is_offline(walk, &args), program)
        && !is_local(walk, program)
    {
        return walk.note_unknown_write();
    }
    let is_known = !args.has(&["-c", "--call"])
        && program.is_some_and(|program| formatters::run(walk, program, &rest[1..]));
    if !is_known {
        walk.note_unknown_write();
    }
}

/// Whether the project, or a directory above it, has that program in `node_modules`.
fn is_local(walk: &Walk<'_>, program: &str) -> bool {
    let is_here = |above: usize| {
        let path = walk.place.path(&format!("{}node_modules/.bin/{program}", "../".repeat(above)));
        path.zip(walk.here.is_there).is_none_or(|(path, is_there)| is_there(&path))
    };
    (0..8).any(is_here)
}

fn python(walk: &mut Walk<'_>, words: &[Word]) {
    let is_known = match words {
        [Word::Text(option), Word::Text(module), rest @ ..] if option == "-m" => {
            formatters::run(walk, module, rest) || module_run(walk, module, rest)
        }
        [Word::Text(option)] => matches!(option.as_str(), "--version" | "-V"),
        _ => false,
    };
    if !is_known {
        walk.note_unknown_write();
    }
}

/// Handles modules of Python that write files they are given.
fn module_run(walk: &mut Walk<'_>, module: &str, words: &[Word]) -> bool {
    let args = Args::read(words, &Options::with("ec", &["--indent"]));
    match (module, args.operands.as_slice()) {
        ("json.tool", [_, target]) => walk.write(target, Extent::File, module),
        ("json.tool", _) | ("timeit" | "this" | "site" | "platform", _) => {}
        ("venv" | "virtualenv", [.., directory]) => walk.write(directory, Extent::Tree, module),
        ("zipfile" | "tarfile", [directory]) => {
            let archive = args.value(&["-e"]).and_then(Word::text).map(str::to_owned);
            let members = archive.and_then(|archive| archives::members(walk, &archive));
            for member in members.unwrap_or_default() {
                if let (Some(directory), Some(path)) = (directory.text(), member.shape()) {
                    walk.write(&member.with(&format!("{directory}/{path}")), Extent::File, module);
                }
            }
            walk.note_unknown_write();
        }
        _ => return false,
    }
    true
}
