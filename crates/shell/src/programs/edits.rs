//! Finds the files that programs would edit in place by a script: `sed`, `perl`, `awk`, `yq`, `sd`.

use crate::Extent;
use crate::Needs;
use crate::programs::args::Args;
use crate::programs::args::Options;
use crate::programs::inline;
use crate::programs::sed;
use crate::walk::Walk;
use crate::words::Word;

pub(super) fn run(walk: &mut Walk<'_>, name: &str, words: &[Word]) -> bool {
    match name {
        "sed" | "gsed" => sed(walk, name, words),
        "perl" => perl(walk, words),
        "awk" | "gawk" | "mawk" | "nawk" => awk(walk, name, words),
        "yq" => yq(walk, words),
        "sd" => {
            let args = Args::read(words, &Options::with("fn", &["--flags", "--max-replacements"]));
            if !args.has(&["-p", "--preview"]) {
                edit(walk, name, args.operands.get(2..).unwrap_or_default(), None);
            }
        }
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
    let has_script = args.has(&["-e", "--expression", "-f", "--file"]);
    let least = if has_script { 2 } else { 3 };
    let is_spare = operands.len() >= least || operands.first().and_then(|word| word.text()) == Some("");
    if is_in_place && is_spare && operands.first().and_then(|word| word.text()).is_some_and(is_suffix) {
        if operands.first().and_then(|word| word.text()).is_some_and(|suffix| !suffix.is_empty()) {
            walk.note_unknown_write();
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
    for script in &scripts {
        match script.text() {
            Some(text) => read_script(walk, text),
            None => walk.note_unknown_write(),
        }
    }
    if has_file {
        walk.note_unknown_write();
    }
    // Only with this option does `sed -i` follow a link.
    let by = if args.has(&["--follow-symlinks"]) { "sed --follow-symlinks" } else { name };
    if is_in_place {
        edit(walk, by, operands, args.value(&["-i", "--in-place"]));
    }
}

fn is_suffix(word: &str) -> bool {
    word.is_empty() || word.starts_with('.') && !word.contains('/')
}

/// Records the files that a script of sed writes, and follows the commands that it runs.
fn read_script(walk: &mut Walk<'_>, script: &str) {
    for step in sed::steps(script) {
        match step {
            sed::Step::Writes(file) => {
                walk.write(&Word::Text(file.to_owned()), Extent::File, ">");
                walk.note_unknown_write();
            }
            sed::Step::Runs(command) => {
                walk.aside(|walk| walk.script(command));
                walk.note_unknown_write();
            }
            // The commands are in the text that sed edits.
            sed::Step::RunsText => walk.note_unknown_write(),
        }
    }
}

/// Writes the files, and their backup copies with a suffix.
fn edit(walk: &mut Walk<'_>, by: &str, files: &[&Word], suffix: Option<&Word>) {
    for file in files {
        walk.write_if(file, Extent::File, by, Needs::File);
        match suffix {
            None => {}
            // In a suffix, `*` stands for the file's name, and a slash leads to another directory.
            Some(Word::Text(suffix)) if !suffix.contains(['*', '/']) => {
                walk.write(&file.append(suffix), Extent::File, by);
            }
            Some(_) => walk.note_unknown_write(),
        }
    }
}

fn perl(walk: &mut Walk<'_>, words: &[Word]) {
    let args = Args::read(words, &Options { values: "eEIMm", suffixes: "iFCDx", long: &[] });
    let mut scripts = args.values(&["-e", "-E"]).peekable();
    if scripts.peek().is_none() {
        return walk.note_unknown_write();
    }
    if !scripts.all(|script| script.text().is_some_and(only_computes)) {
        walk.note_unknown_write();
    }
    if args.has(&["-i"]) {
        edit(walk, "perl", &args.operands, args.value(&["-i"]));
    }
}

/// Whether a Perl script does nothing but change text, judging by the words in it.
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
        let program = program.filter(|program| !finds_nothing(walk, program, files));
        let set = args.values(&["-v", "--assign"]).filter_map(|word| word.text()?.split_once('='));
        inline::awk(walk, name, program.unwrap_or_default(), &set.collect::<Vec<_>>());
        walk.note_unknown_write();
    }
    if is_in_place {
        edit(walk, name, files, None);
    }
}

/// Whether an awk program is a single rule for a plain text that none of its files contains.
fn finds_nothing(walk: &Walk<'_>, program: &str, files: &[&Word]) -> bool {
    let Some((text, rule)) = program.trim().strip_prefix('/').and_then(|rest| rest.split_once('/')) else {
        return false;
    };
    let rule = rule.trim();
    let is_plain = !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_' || c == ' ');
    let is_one = rule.starts_with('{') && rule.ends_with('}') && rule.matches('{').count() == 1;
    let lacks = |file: &&Word| {
        let content = file.text().and_then(|path| walk.names().unchanged_file(path));
        content.is_some_and(|content| !content.contains(text))
    };
    is_plain && is_one && !files.is_empty() && files.iter().all(lacks)
}

/// Whether an awk program writes only to its standard output.
fn only_prints(program: &str) -> bool {
    !program.contains(['>', '@']) && !program.contains("system") && !program.replace("||", "").contains('|')
}

fn yq(walk: &mut Walk<'_>, words: &[Word]) {
    let args =
        Args::read(words, &Options::with("pos", &["--input-format", "--output-format", "--split-exp"]));
    if args.has(&["-s", "--split-exp"]) {
        walk.note_unknown_write();
    }
    if args.has(&["-i", "--inplace", "--in-place"])
        && let Some((_, files)) = args.operands.split_first()
    {
        edit(walk, "yq", files, None);
    }
}
