//! Finds the files that copying, moving and linking programs would write: `mv`,
//! `cp`, `ln`, `install`, `rsync`.

use crate::Extent;
use crate::Needs;
use crate::place::Place;
use crate::programs::args::Args;
use crate::programs::args::Options;
use crate::walk::Walk;
use crate::words::ANY;
use crate::words::Word;
use crate::words::escape;

pub(super) fn run(walk: &mut Walk<'_>, name: &str, words: &[Word]) -> bool {
    match name {
        "mv" => move_files(walk, name, words),
        "cp" => copy(walk, words),
        "ln" => link(walk, words),
        "install" => install(walk, words),
        "rsync" => sync(walk, words),
        _ => return false,
    }
    true
}

/// Handles `mv` and `git mv`.
pub(super) fn move_files(walk: &mut Walk<'_>, name: &str, words: &[Word]) {
    let args = Args::read(words, &Options::with("tS", &["--target-directory", "--suffix"]));
    let Some((sources, target)) = split(&args) else { return };
    let sources = &those_there(walk, sources, target)[..];
    let is_careful = args.has(&["-n", "--no-clobber"]);
    if is_careful {
        // If the target exists, nothing is moved.
        walk.note_unknown_write();
    } else {
        sources.iter().for_each(|source| walk.write_if(source, Extent::Tree, name, Needs::Present));
    }
    put(walk, name, &args, sources, target, Extent::Tree);
}

fn copy(walk: &mut Walk<'_>, words: &[Word]) {
    let args = Args::read(words, &Options::with("tS", &["--target-directory", "--suffix"]));
    let Some((sources, target)) = split(&args) else { return };
    let sources = &those_there(walk, sources, target)[..];
    let is_recursive = args.has(&["-r", "-R", "-a", "--recursive", "--archive"]);
    let extent = if is_recursive { Extent::Tree } else { Extent::File };
    put(walk, "cp", &args, sources, target, extent);
}

fn link(walk: &mut Walk<'_>, words: &[Word]) {
    let args = Args::read(words, &Options::with("tS", &["--target-directory", "--suffix"]));
    match split(&args) {
        Some((sources, target)) => {
            put(walk, "ln", &args, sources, target, Extent::File);
            sources.iter().for_each(|source| note_link(walk, &args, source, target));
        }
        // The link is made in the current directory, under the name of its target.
        None => {
            let here = Word::Text(".".into());
            args.operands.iter().for_each(|source| walk.write(&child(&here, source), Extent::File, "ln"));
        }
    }
}

/// Records a new link: a write to it is a write to its target.
fn note_link(walk: &mut Walk<'_>, args: &Args<'_>, source: &Word, target: &Word) {
    let Some(link) = target.text().and_then(|target| walk.place.path(target)) else { return };
    let is_directory = walk.here.is_dir.is_some_and(|is_dir| is_dir(&link)) && !args.has(&["-n", "-T"]);
    let link = match (is_directory, child(target, source).text()) {
        (true, Some(below)) => walk.place.path(below),
        (true, None) => None,
        (false, _) => Some(link),
    };
    let Some(link) = link else { return };
    let is_symbolic = args.has(&["-s", "--symbolic"]) && !args.has(&["-r", "--relative"]);
    let to = source.text().and_then(|source| match link.rsplit_once('/') {
        // The target of a symbolic link is relative to the link's directory.
        Some((directory, _)) if is_symbolic => Place::start().enter(directory).path(source),
        None if is_symbolic => Place::start().path(source),
        _ => walk.place.path(source),
    });
    // A link to its own path leads nowhere else.
    if to.as_ref() != Some(&link) {
        walk.links.push((link, to));
    }
}

fn install(walk: &mut Walk<'_>, words: &[Word]) {
    const LONG: &[&str] = &["--target-directory", "--suffix", "--mode", "--owner", "--group"];
    let args = Args::read(words, &Options::with("tSmog", LONG));
    if args.has(&["-d", "--directory"]) {
        return args.operands.iter().for_each(|directory| walk.write(directory, Extent::File, "mkdir"));
    }
    if let Some((sources, target)) = split(&args) {
        put(walk, "install", &args, sources, target, Extent::File);
    }
}

fn sync(walk: &mut Walk<'_>, words: &[Word]) {
    const LONG: &[&str] = &[
        "--exclude",
        "--include",
        "--filter",
        "--rsh",
        "--files-from",
        "--exclude-from",
        "--include-from",
        "--chmod",
        "--backup-dir",
        "--log-file",
        "--bwlimit",
        "--max-size",
        "--min-size",
        "--timeout",
        "--port",
        "--out-format",
        "--compare-dest",
        "--copy-dest",
        "--link-dest",
        "--partial-dir",
        "--temp-dir",
        "--suffix",
    ];
    let args = Args::read(words, &Options::with("efBTM", LONG));
    if args.has(&["-n", "--dry-run", "--list-only"]) {
        return;
    }
    // These options write more than the target.
    if args.has(&["--remove-source-files", "--backup-dir", "--log-file", "--partial-dir", "--write-batch"]) {
        walk.note_unknown_write();
    }
    match args.operands.as_slice() {
        [_, .., Word::Text(target)] if is_remote(target) => {}
        [_, .., target] => walk.write(target, Extent::Tree, "rsync"),
        _ => {}
    }
}

fn is_remote(target: &str) -> bool {
    target.split('/').next().is_some_and(|host| host.contains(':'))
}

/// Returns the sources and the target, which is the value of `-t` or the last operand.
fn split<'a, 'w>(args: &'a Args<'w>) -> Option<(&'a [&'w Word], &'a Word)> {
    if let Some(target) = args.value(&["-t", "--target-directory"]) {
        return Some((&args.operands, target));
    }
    match args.operands.split_last() {
        Some((target, sources)) if !sources.is_empty() => Some((sources, target)),
        _ => None,
    }
}

/// Writes each source to the target, or below it if that is a directory; both, if neither the text
/// nor the disk tells which.
fn put(walk: &mut Walk<'_>, by: &str, args: &Args<'_>, sources: &[&Word], target: &Word, extent: Extent) {
    if sources.is_empty() {
        return walk.note_unknown_write();
    }
    if args.has(&["-b", "--backup"]) {
        walk.note_unknown_write();
    }
    if args.has(&["--parents"]) {
        for source in sources {
            match (target, source.shape()) {
                (Word::Text(target), Some(path)) => {
                    walk.write(&source.with(&format!("{target}/{path}")), extent, by)
                }
                _ => walk.note_unknown_write(),
            }
        }
        return;
    }
    // Without `ln -f`, or with `-n`, existing files are not overwritten.
    let is_careful = match by {
        "ln" => !args.has(&["-f", "--force"]),
        _ => args.has(&["-n", "--no-clobber"]),
    };
    let needs = if is_careful { Needs::Absent } else { Needs::Nothing };
    // With these options, a date or a person decides whether a file is written.
    if args.has(&["-u", "--update", "-i", "--interactive"]) && !args.has(&["-f", "--force"]) {
        return walk.note_unknown_write();
    }
    // `--remove-destination` replaces a link instead of following it.
    let by = if by == "cp" && args.has(&["--remove-destination"]) { "ln" } else { by };
    // The disk tells whether the target is a directory, if the text has not changed that.
    let found = match (walk.here.is_dir, target.text().and_then(|target| walk.place.path(target))) {
        (Some(is_dir), Some(path)) if !walk.may_have_made(&path) && !path.contains(ANY) => {
            Some(is_dir(&path))
        }
        _ => None,
    };
    // No file can be written below another file.
    let is_below_file = found == Some(false)
        && target
            .text()
            .is_some_and(|path| path.ends_with('/') && !walk.is_absent(path.trim_end_matches('/')));
    if is_below_file && walk.here.entries.is_some() {
        return walk.note_unknown_write();
    }
    // A link to a directory is itself replaced; in a real directory the new link is made below it.
    let keeps_link = by == "ln" && args.has(&["-n", "--no-dereference"]);
    if keeps_link && found == Some(true) {
        walk.note_unknown_write();
    }
    let is_exact = keeps_link || args.has(&["-T", "--no-target-directory"]);
    let is_directory = !is_exact
        && (found == Some(true)
            || sources.len() > 1
            || matches!(sources, [Word::Glob(_)])
            || args.has(&["-t", "--target-directory"])
            || target.text().is_some_and(names_directory));
    if !is_directory {
        walk.write_if(target, extent, by, needs);
    }
    let is_device = target.text().is_some_and(|target| target.starts_with("/dev/"));
    let is_file = found == Some(false) && !is_directory;
    if !is_device && !is_file && !is_exact {
        for source in sources {
            walk.write_if(&child(target, source), extent, by, needs);
            // The names of the sources are not known: `/*` stands for a new file of any name.
            if let (Word::Text(directory), Word::Glob(_) | Word::Unknown) = (target, source) {
                walk.write(&Word::Text(format!("{directory}/*")), Extent::File, by);
            }
        }
    }
}

/// Returns the sources that may exist, without the target itself.
fn those_there<'w>(walk: &Walk<'_>, sources: &[&'w Word], target: &Word) -> Vec<&'w Word> {
    let is_gone = |word: &Word| word.text().is_some_and(|path| walk.is_absent(path));
    sources.iter().copied().filter(|source| *source != target && !is_gone(source)).collect()
}

fn names_directory(path: &str) -> bool {
    path.ends_with('/') || matches!(path.rsplit('/').next(), Some("." | ".."))
}

/// Returns the path of `source` under its own name in `directory`. `.` and `..` have no name: for
/// them it is the directory itself.
fn child(directory: &Word, source: &Word) -> Word {
    let Some(name) = source.shape().map(|shape| shape.trim_end_matches('/')) else { return Word::Unknown };
    let name = name.rsplit('/').next().unwrap_or(name);
    if matches!(name, "" | "." | "..") {
        return directory.clone();
    }
    match (directory, source) {
        (Word::Text(directory), Word::Text(_)) => Word::Text(format!("{directory}/{name}")),
        (Word::Text(directory), Word::Glob(_)) => Word::Glob(format!("{}/{name}", escape(directory))),
        // If the target is a pattern, it matches one directory, and the text does not tell which.
        _ => Word::Unknown,
    }
}
