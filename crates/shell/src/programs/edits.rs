//! What programs that edit files in place by a script would write: `sed`, `perl`,
//! `awk`, `yq`.

use crate::Extent;
use crate::programs::args::Args;
use crate::programs::args::Options;
use crate::programs::inline;
use crate::walk::Walk;
use crate::words::Word;

pub(super) fn run(walk: &mut Walk<'_>, name: &str, words: &[Word]) -> bool {
    match name {
        "sed" | "gsed" => sed(walk, name, words),
        "perl" => perl(walk, words),
        "awk" | "gawk" | "mawk" | "nawk" => awk(walk, name, words),
        "yq" => yq(walk, words),
        "ed" | "red" | "ex" | "vi" | "vim" | "nvim" | "view" | "emacs" => editor(walk, name, words),
        _ => return false,
    }
    true
}

fn sed(walk: &mut Walk<'_>, name: &str, words: &[Word]) {
    const LONG: &[&str] = &["--expression", "--file", "--line-length"];
    let args = Args::read(words, &Options { values: "efl", suffixes: "i", long: LONG });
    let is_in_place = args.has(&["-i", "--in-place"]);
    let mut operands = args.operands.as_slice();
    // On a Mac the suffix of `-i` is a word of its own, and often an empty one.
    if is_in_place && operands.first().and_then(|word| word.text()).is_some_and(is_suffix) {
        if operands.first().and_then(|word| word.text()).is_some_and(|suffix| !suffix.is_empty()) {
            walk.doubt();
        }
        operands = &operands[1..];
    }
    let mut scripts: Vec<&Word> = args.values(&["-e", "--expression"]).collect();
    let has_file = args.has(&["-f", "--file"]);
    if scripts.is_empty() && !has_file {
        let Some((script, files)) = operands.split_first() else { return };
        scripts.push(script);
        operands = files;
    }
    for script in scripts.iter().filter_map(|script| script.text()) {
        files_written(script).for_each(|file| walk.write(&Word::Text(file.to_owned()), Extent::File, name));
    }
    if has_file
        || scripts.iter().any(|script| script.text().is_some_and(|text| files_written(text).count() > 0))
    {
        walk.doubt();
    }
    if is_in_place {
        edit(walk, name, operands, args.value(&["-i", "--in-place"]));
    }
}

fn is_suffix(word: &str) -> bool {
    word.is_empty() || word.starts_with('.')
}

/// The files of each `w` in a script of sed that is a command or a flag.
fn files_written(script: &str) -> impl Iterator<Item = &str> {
    let bytes = script.as_bytes();
    let is_command = move |at: usize| {
        let before = at.checked_sub(1).map_or(b';', |before| bytes[before]);
        before.is_ascii_digit() || b" \t\n;/|#,{}$!gpiI".contains(&before)
    };
    let is_write = move |at: &usize| {
        matches!(bytes[*at], b'w' | b'W')
            && matches!(bytes.get(at + 1), Some(b' ' | b'\t'))
            && is_command(*at)
    };
    (0..bytes.len()).filter(is_write).filter_map(|at| script[at + 1..].lines().next()).map(str::trim)
}

/// The files, and the copies that are kept of them.
fn edit(walk: &mut Walk<'_>, by: &str, files: &[&Word], suffix: Option<&Word>) {
    for file in files {
        walk.write(file, Extent::File, by);
        match suffix {
            None => {}
            // `*` stands for the name, and a slash for another directory.
            Some(Word::Text(suffix)) if !suffix.contains(['*', '/']) => {
                walk.write(&file.append(suffix), Extent::File, by);
            }
            Some(_) => walk.doubt(),
        }
    }
}

fn perl(walk: &mut Walk<'_>, words: &[Word]) {
    let args = Args::read(words, &Options { values: "eEIMm", suffixes: "iFCDx", long: &[] });
    let mut scripts = args.values(&["-e", "-E"]).peekable();
    if scripts.peek().is_none() {
        return walk.doubt();
    }
    if !scripts.all(|script| script.text().is_some_and(only_computes)) {
        walk.doubt();
    }
    if args.has(&["-i"]) {
        edit(walk, "perl", &args.operands, args.value(&["-i"]));
    }
}

/// Whether a script does nothing but change text, as far as its words tell.
fn only_computes(script: &str) -> bool {
    const REACHES_OUT: &[&str] = &[
        "open",
        "system",
        "exec",
        "unlink",
        "rename",
        "require",
        "use ",
        "eval",
        "qx",
        "`",
        ">",
        "mkdir",
        "link",
        "copy",
        "move",
        "remove_tree",
        "truncate",
        "chmod",
        "utime",
        "make_path",
        "syswrite",
        "glob",
    ];
    !REACHES_OUT.iter().any(|word| script.contains(word))
}

fn awk(walk: &mut Walk<'_>, name: &str, words: &[Word]) {
    const LONG: &[&str] = &["--file", "--field-separator", "--assign", "--include"];
    let args = Args::read(words, &Options::with("fFvi", LONG));
    let is_in_place = args
        .values(&["-i", "--include"])
        .any(|library| matches!(library.text(), Some("inplace" | "inplace.awk")));
    let (program, files) = match args.operands.split_first() {
        Some((program, files)) if !args.has(&["-f", "--file"]) => (program.text(), files),
        _ => (None, args.operands.as_slice()),
    };
    if !program.is_some_and(only_prints) {
        let set = args.values(&["-v", "--assign"]).filter_map(|word| word.text()?.split_once('='));
        inline::awk(walk, name, program.unwrap_or_default(), &set.collect::<Vec<_>>());
        walk.doubt();
    }
    if is_in_place {
        edit(walk, name, files, None);
    }
}

/// Whether a program of awk writes only to where its output goes.
fn only_prints(program: &str) -> bool {
    !program.contains(['>', '@']) && !program.contains("system") && !program.replace("||", "").contains('|')
}

/// An editor writes the files it is given, unless it is told not to.
fn editor(walk: &mut Walk<'_>, name: &str, words: &[Word]) {
    // To an editor of lines `-s` says that nobody looks; to vim, where its keys are.
    let is_of_lines = matches!(name, "ed" | "red" | "ex") || words.iter().filter_map(Word::text).any(is_ex);
    let values = if is_of_lines { "cuSpPwWTiU" } else { "cuSspPwWTiU" };
    let args = Args::read(words, &Options { values, suffixes: "", long: &["--cmd", "--eval"] });
    if name == "view" || args.has(&["-R", "-M", "--version"]) {
        return;
    }
    let is_plus = |word: &&Word| word.text().is_some_and(|text| text.starts_with('+'));
    let plus = args.operands.iter().copied().filter(is_plus);
    let commands: Vec<&str> = args.values(&["-c"]).chain(plus).filter_map(Word::text).collect();
    let is_script = name != "ed" && args.has(&["-c"]);
    let is_telling = |command: &str| command.contains(['w', 'x']) || command.contains("up");
    if is_script && !commands.iter().any(|command| saves(command)) {
        // A script in vim's own language may do anything.
        if commands.iter().any(|command| is_telling(command)) {
            walk.doubt();
        }
        return;
    }
    if is_of_lines && walk.input.text().is_some_and(|keys| !keys.lines().any(saves)) {
        return;
    }
    for file in args.operands.iter().filter(|word| !word.shape().is_some_and(|shape| shape.starts_with('+')))
    {
        walk.write(file, Extent::File, name);
    }
    walk.doubt();
}

/// Whether a command of an editor of lines writes its file.
fn saves(command: &str) -> bool {
    let is_address = |c: char| c.is_ascii_digit() || "%,.;$ ".contains(c);
    command.split('|').any(|command| {
        let command = command.trim_start_matches('+').trim_start_matches(is_address);
        let name = command.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
        matches!(
            name,
            "w" | "W" | "wq" | "wqa" | "wa" | "write" | "x" | "xa" | "xit" | "up" | "update" | "exit"
        )
    })
}

/// `-e`, alone or with other letters.
fn is_ex(word: &str) -> bool {
    word.starts_with('-') && !word.starts_with("--") && word.contains('e')
}

fn yq(walk: &mut Walk<'_>, words: &[Word]) {
    let args =
        Args::read(words, &Options::with("pos", &["--input-format", "--output-format", "--split-exp"]));
    if args.has(&["-s", "--split-exp"]) {
        walk.doubt();
    }
    if args.has(&["-i", "--inplace", "--in-place"])
        && let Some((_, files)) = args.operands.split_first()
    {
        edit(walk, "yq", files, None);
    }
}
