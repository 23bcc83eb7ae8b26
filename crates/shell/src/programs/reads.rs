//! Records the files that reading programs show: `cat`, `sed -n`, `grep`.

use crate::programs::args::Args;
use crate::programs::args::Options;
use crate::walk::Walk;
use crate::words::Word;

/// Records the files that a program shows.
pub(super) fn note(walk: &mut Walk<'_>, name: &str, words: &[Word]) {
    const LINES: Options = Options::with("nc", &["--lines", "--bytes"]);
    const GREP: Options = Options::with(
        "efmABCgtT",
        &["--regexp", "--file", "--include", "--exclude", "--context", "--type", "--glob"],
    );
    let (options, has_script): (Options, &[&str]) = match name {
        "cat" | "tac" | "nl" | "less" | "more" | "bat" | "batcat" | "diff" | "zcat" => (Options::NONE, &[]),
        "head" | "tail" => (LINES, &[]),
        "sed" | "gsed" => {
            (Options::with("efl", &["--expression", "--file"]), &["-e", "-f", "--expression", "--file"])
        }
        "grep" | "egrep" | "fgrep" | "rg" | "ag" => (GREP, &["-e", "-f", "--regexp", "--file"]),
        "awk" | "gawk" | "mawk" => (Options::with("fFv", &["--file", "--assign"]), &["-f", "--file"]),
        "jq" | "yq" => (Options::with("f", &["--from-file"]), &["-f", "--from-file"]),
        _ => return,
    };
    let args = Args::read(words, &options);
    // The first operand is the script or pattern, unless an option gives it.
    let takes_script = !has_script.is_empty() && !args.has(has_script);
    let files = args.operands.iter().skip(usize::from(takes_script));
    files.filter_map(|word| word.text()).for_each(|path| walk.note_read(path));
}
