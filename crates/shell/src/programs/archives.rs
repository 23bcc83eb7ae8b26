//! Programs that pack and unpack. What comes out of an archive, its name does
//! not tell.

use crate::Extent;
use crate::programs::args::Args;
use crate::programs::args::Options;
use crate::walk::Walk;
use crate::words::Word;

pub(super) fn run(walk: &mut Walk<'_>, name: &str, words: &[Word]) -> bool {
    match name {
        "tar" | "gtar" | "bsdtar" => tar(walk, name, words),
        "unzip" => {
            if !Args::read(words, &Options::with("dx", &[])).has(&["-l", "-t", "-p", "-v", "-Z"]) {
                walk.doubt();
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
        _ => walk.doubt(),
    }
}
