//! What programs that pack and unpack archives would write: `tar`, `zip`, `unzip`. What
//! comes out of an archive, its name does not tell.

use crate::Extent;
use crate::programs::args::Args;
use crate::programs::args::Options;
use crate::walk::Walk;
use crate::words::Word;

pub(super) fn run(walk: &mut Walk<'_>, name: &str, words: &[Word]) -> bool {
    match name {
        "tar" | "gtar" | "bsdtar" => tar(walk, name, words),
        "unzip" => {
            let args = Args::read(words, &Options::with("dx", &[]));
            if !args.has(&["-l", "-t", "-p", "-v", "-Z"]) {
                args.values(&["-d"]).for_each(|directory| unpack(walk, directory, name));
                walk.doubt();
            }
        }
        "zip" => {
            let args = Args::read(words, &Options::with("x", &[]));
            let (archive, files) =
                args.operands.split_first().map_or((None, &[][..]), |(one, rest)| (Some(one), rest));
            archive.into_iter().for_each(|file| walk.write(file, Extent::File, name));
            if args.has(&["-m", "--move"]) {
                files.iter().for_each(|file| walk.write(file, Extent::Tree, name));
            }
        }
        "split" | "csplit" => walk.doubt(),
        _ => return false,
    }
    true
}

fn tar(walk: &mut Walk<'_>, name: &str, words: &[Word]) {
    let mut words = words.to_vec();
    // `tar xzf a.tgz`: the letters need no dash.
    if let Some(Word::Text(letters)) = words.first_mut()
        && !letters.starts_with('-')
    {
        if letters.find('f').is_some_and(|at| at + 1 != letters.len()) {
            return walk.doubt();
        }
        letters.insert(0, '-');
    }
    let args = Args::read(&words, &Options::with("fCTXbg", &["--file", "--directory", "--exclude"]));
    let reads = args.has(&["-t", "--list", "-d", "--diff", "--compare"]);
    let packs = args.has(&["-c", "--create", "-r", "--append", "-u", "--update", "-A"]);
    let is_plain = !args.has(&["-x", "--extract", "--get", "--delete", "--remove-files", "-g"]);
    match args.value(&["-f", "--file"]) {
        _ if reads && is_plain => {}
        Some(file) if packs && is_plain => {
            if file.text() != Some("-") {
                walk.write(file, Extent::File, name);
            }
        }
        None if packs && is_plain => {}
        _ => {
            if args.has(&["-x", "--extract", "--get"]) {
                args.values(&["-C", "--directory"]).for_each(|directory| unpack(walk, directory, name));
            }
            walk.doubt();
        }
    }
}

/// Something comes to be in that directory.
fn unpack(walk: &mut Walk<'_>, directory: &Word, by: &str) {
    if directory.text().is_some_and(|directory| directory != ".") {
        walk.write(&directory.append("/*"), Extent::File, by);
    }
}
