//! Finds the files that programs would write which are given them as operands or
//! options: `touch`, `rm`, `tee`.

use crate::Extent;
use crate::Needs;
use crate::programs::args::Args;
use crate::programs::args::Options;
use crate::walk::Walk;
use crate::words::Word;

pub(super) fn run(walk: &mut Walk<'_>, name: &str, words: &[Word]) -> bool {
    match name {
        "tee" => each(walk, name, words, &Options::NONE, Extent::File),
        "rm" => remove(walk, words),
        // rmdir removes only empty directories.
        "rmdir" => walk.note_unknown_write(),
        "unlink" | "sponge" => each(walk, name, words, &Options::NONE, Extent::File),
        "truncate" => {
            each(walk, name, words, &Options::with("sr", &["--size", "--reference"]), Extent::File);
        }
        "touch" => {
            let options = Options::with("drt", &["--date", "--reference", "--time"]);
            let is_careful = Args::read(words, &options).has(&["-c", "--no-create", "-h"]);
            let by = if is_careful { "chmod" } else { name };
            each(walk, by, words, &options, Extent::File);
        }
        "shred" => {
            let options = Options::with("ns", &["--iterations", "--size", "--random-source"]);
            each(walk, name, words, &options, Extent::File);
        }
        "mkdir" => each(walk, name, words, &Options::with("m", &["--mode"]), Extent::File),
        "mkfifo" | "mknod" => each(walk, name, words, &Options::with("m", &["--mode"]), Extent::File),
        "mktemp" => mktemp(walk, words),
        "fallocate" => each(walk, name, words, &Options::with("lo", &["--length", "--offset"]), Extent::File),
        "chmod" | "chown" | "chgrp" => change_mode(walk, name, words),
        "gzip" | "gunzip" | "bzip2" | "bunzip2" | "xz" | "unxz" | "zstd" | "unzstd" | "lzma" => {
            compress(walk, name, words);
        }
        "openssl" => {
            let out = words.iter().skip_while(|word| word.text() != Some("-out")).nth(1);
            out.into_iter().for_each(|file| walk.write(file, Extent::File, name));
            walk.note_unknown_write();
        }
        "ssh-keygen" => {
            let out = words.iter().skip_while(|word| word.text() != Some("-f")).nth(1);
            if let Some(file) = out {
                walk.write(file, Extent::File, name);
                walk.write(&file.append(".pub"), Extent::File, name);
            }
        }
        "dd" => dd(walk, words),
        "link" => {
            let args = Args::read(words, &Options::NONE);
            args.operands
                .get(1)
                .into_iter()
                .for_each(|file| walk.write_if(file, Extent::File, name, Needs::Absent));
        }
        "setfacl" | "chattr" | "setfattr" => each_after_first(walk, name, words),
        "dos2unix" | "unix2dos" | "mac2unix" | "unix2mac" | "fromdos" | "todos" => {
            let args = Args::read(words, &Options::with("n", &["--newfile"]));
            args.operands.iter().for_each(|file| walk.write(file, Extent::File, name));
        }
        "rename" | "prename" | "file-rename" | "perl-rename" => rename(walk, words),
        "split" => {
            let args = Args::read(
                words,
                &Options::with("abClnt", &["--lines", "--bytes", "--number", "--suffix-length"]),
            );
            let prefix = args.operands.get(1).copied().cloned().unwrap_or(Word::Text("x".into()));
            parts(walk, name, &prefix, if args.has(&["-d", "--numeric-suffixes"]) { "00" } else { "aa" });
        }
        "csplit" => {
            let args = Args::read(words, &Options::with("fbn", &["--prefix", "--suffix-format", "--digits"]));
            let prefix = args.value(&["-f", "--prefix"]).cloned().unwrap_or(Word::Text("xx".into()));
            parts(walk, name, &prefix, "00");
        }
        "patch" => patch(walk, words),
        "curl" => curl(walk, words),
        "wget" => wget(walk, words),
        "base64" | "iconv" | "shuf" | "sort" | "tree" => output_option(walk, name, words),
        "uniq" | "xxd" => second_operand(walk, name, words),
        _ => return false,
    }
    true
}

fn rename(walk: &mut Walk<'_>, words: &[Word]) {
    let args = Args::read(words, &Options::with("e", &["--expr"]));
    if args.has(&["-n", "--nono", "--no-act", "--dry-run"]) {
        return;
    }
    let skip = if args.has(&["-e", "--expr"]) { 0 } else { 1 };
    let files = args.operands.iter().skip(skip);
    files.for_each(|file| walk.write_if(file, Extent::File, "mv", Needs::Present));
    walk.note_unknown_write();
}

fn each(walk: &mut Walk<'_>, name: &str, words: &[Word], options: &Options, extent: Extent) {
    let args = Args::read(words, options);
    let files = args.operands.iter().filter(|word| word.text() != Some("-"));
    files.for_each(|file| walk.write(file, extent, name));
}

fn remove(walk: &mut Walk<'_>, words: &[Word]) {
    let args = Args::read(words, &Options::NONE);
    let is_recursive = args.has(&["-r", "-R", "--recursive"]);
    let extent = if is_recursive { Extent::Tree } else { Extent::File };
    args.operands.iter().for_each(|file| walk.write(file, extent, "rm"));
}

/// Writes a file with that prefix; the names of the others are not known.
fn parts(walk: &mut Walk<'_>, name: &str, prefix: &Word, first: &str) {
    walk.write(&prefix.append(first), Extent::File, name);
    walk.note_unknown_write();
}

/// Writes all operands after the first, which is the change to make to them.
fn each_after_first(walk: &mut Walk<'_>, name: &str, words: &[Word]) {
    let files = words.iter().filter(|word| !word.shape().is_some_and(|shape| shape.starts_with('-')));
    files.skip(1).for_each(|file| walk.write(file, Extent::Tree, name));
    walk.note_unknown_write();
}

fn mktemp(walk: &mut Walk<'_>, words: &[Word]) {
    let args = Args::read(words, &Options::with("p", &["--tmpdir", "--suffix"]));
    // Without a template, mktemp makes its file in a directory for temporary files.
    let place =
        walk.names().value("TMPDIR").filter(|_| args.operands.is_empty() && walk.variables.is_set("TMPDIR"));
    place.into_iter().for_each(|place| walk.write(&place.append("/tmp.x"), Extent::File, "mktemp"));
    let is_below = args.has(&["-p", "--tmpdir", "-t"]);
    args.operands.iter().filter(|_| !is_below).for_each(|file| walk.write(file, Extent::File, "mktemp"));
    args.values(&["-p", "--tmpdir"]).for_each(|file| walk.write(&file.append("/x"), Extent::File, "mktemp"));
}

/// Writes all operands after the first, which is the mode or the owner unless `--reference` gives it.
fn change_mode(walk: &mut Walk<'_>, name: &str, words: &[Word]) {
    // `-w` is a mode, not an option.
    let is_mode = |word: &&Word| {
        word.shape()
            .is_some_and(|shape| shape.starts_with('-') && shape[1..].starts_with(['r', 'w', 'x', 's', 't']))
    };
    let mode = words.iter().position(|word| is_mode(&word));
    let rest: Vec<Word> =
        words.iter().enumerate().filter(|(at, _)| Some(*at) != mode).map(|(_, word)| word.clone()).collect();
    let args = Args::read(&rest, &Options::with("", &[]));
    let has_mode = mode.is_some() || args.has(&["--reference"]);
    let extent = if args.has(&["-R", "--recursive"]) { Extent::Tree } else { Extent::File };
    let files = args.operands.iter().skip(usize::from(!has_mode));
    files.for_each(|file| walk.write(file, extent, name));
}

/// Writes each file, which is removed unless it is kept, and one with another ending.
fn compress(walk: &mut Walk<'_>, name: &str, words: &[Word]) {
    let args = Args::read(words, &Options::with("oST", &["--suffix"]));
    if args.has(&["-c", "--stdout", "--to-stdout", "-l", "--list", "-t", "--test"]) {
        return;
    }
    args.values(&["-o"]).for_each(|file| walk.write(file, Extent::File, name));
    if args.has(&["-o"]) {
        return;
    }
    let keeps = args.has(&["-k", "--keep"]) || name.ends_with("zstd");
    for file in args.operands.iter().filter(|word| word.text() != Some("-")) {
        if !keeps {
            walk.write(file, Extent::File, name);
        }
        for ending in [".gz", ".bz2", ".xz", ".zst"] {
            let made = match file.shape().and_then(|shape| shape.strip_suffix(ending)) {
                Some(stem) => file.with(stem),
                None => file.append(ending),
            };
            walk.write(&made, Extent::File, name);
        }
    }
}

fn dd(walk: &mut Walk<'_>, words: &[Word]) {
    for word in words {
        match word.shape() {
            Some(shape) => match shape.strip_prefix("of=") {
                // It is no longer known whether this `~` was quoted.
                Some(file) if file.starts_with('~') => walk.note_unknown_write(),
                Some(file) => walk.write(&word.with(file), Extent::File, "dd"),
                None => {}
            },
            None => walk.note_unknown_write(),
        }
    }
}

fn patch(walk: &mut Walk<'_>, words: &[Word]) {
    const LONG: &[&str] =
        &["--input", "--output", "--directory", "--strip", "--fuzz", "--reject-file", "--prefix"];
    let args = Args::read(words, &Options::with("iodpFrBDgVYz", LONG));
    if args.has(&["--dry-run", "-C"]) {
        return;
    }
    args.values(&["-o", "--output", "-r", "--reject-file"])
        .for_each(|file| walk.write(file, Extent::File, "patch"));
    if args.has(&["-o", "--output"]) {
        return;
    }
    if let Some(file) = args.operands.first() {
        return walk.write(file, Extent::File, "patch");
    }
    if !args.has(&["-i", "--input"]) && super::patches::from_git(walk, "patch") {
        return;
    }
    let given = args.value(&["-i", "--input"]).and_then(Word::text).map(|path| walk.file(path));
    let Some(text) = given.unwrap_or_else(|| walk.input.text().map(str::to_owned)) else {
        return walk.note_unknown_write();
    };
    let strip = args.value(&["-p", "--strip"]).and_then(Word::text).and_then(|count| count.parse().ok());
    let here = Word::Text(".".into());
    walk.within(args.value(&["-d", "--directory"]).unwrap_or(&here), |walk| {
        super::patches::write(walk, &text, strip, "patch");
    });
}

fn curl(walk: &mut Walk<'_>, words: &[Word]) {
    const WRITES: &[&str] = &[
        "-o",
        "--output",
        "-D",
        "--dump-header",
        "-c",
        "--cookie-jar",
        "--trace",
        "--trace-ascii",
        "--stderr",
        "--etag-save",
        "--hsts",
        "--alt-svc",
    ];
    const LONG: &[&str] = &[
        "--output",
        "--dump-header",
        "--cookie-jar",
        "--trace",
        "--trace-ascii",
        "--stderr",
        "--etag-save",
        "--hsts",
        "--alt-svc",
        "--config",
        "--output-dir",
        "--data",
        "--data-raw",
        "--data-binary",
        "--data-urlencode",
        "--json",
        "--header",
        "--user-agent",
        "--request",
        "--user",
        "--form",
        "--write-out",
        "--url",
        "--cookie",
        "--range",
    ];
    let args = Args::read(words, &Options::with("AbcCdDeEFHKmoPQrtTuUwxXyYz", LONG));
    if args.has(&["-O", "--remote-name", "--remote-name-all", "-K", "--config", "--output-dir"]) {
        return walk.note_unknown_write();
    }
    let files = args.values(WRITES).filter(|word| word.text() != Some("-"));
    files.for_each(|file| walk.write(file, Extent::File, "curl"));
    // An unknown operand may be an option.
    if args.operands.iter().any(|word| **word == Word::Unknown) && args.operands.len() > 1 {
        walk.note_unknown_write();
    }
}

fn wget(walk: &mut Walk<'_>, words: &[Word]) {
    const LONG: &[&str] =
        &["--output-document", "--output-file", "--append-output", "--header", "--user-agent"];
    let args = Args::read(words, &Options::with("OoaiPUtTwQeABDIlX", LONG));
    let logs = args.values(&["-o", "--output-file", "-a", "--append-output"]);
    logs.for_each(|file| walk.write(file, Extent::File, "wget"));
    match args.value(&["-O", "--output-document"]) {
        Some(file) if file.text() == Some("-") => {}
        Some(file) => walk.write(file, Extent::File, "wget"),
        None if args.has(&["--spider", "--version", "--help"]) => {}
        None => walk.note_unknown_write(),
    }
}

fn output_option(walk: &mut Walk<'_>, name: &str, words: &[Word]) {
    let letters = match name {
        "sort" => "oktST",
        "shuf" => "on",
        "base64" => "ow",
        "iconv" => "oft",
        _ => "oLPI",
    };
    let args = Args::read(words, &Options::with(letters, &["--output", "--key", "--field-separator"]));
    args.values(&["-o", "--output"]).for_each(|file| walk.write(file, Extent::File, name));
}

/// Writes the second operand; the first one is only read.
fn second_operand(walk: &mut Walk<'_>, name: &str, words: &[Word]) {
    let args = match name {
        "uniq" => {
            Args::read(words, &Options::with("fsw", &["--skip-fields", "--skip-chars", "--check-chars"]))
        }
        _ => Args::read(words, &Options::with("closgnR", &[])),
    };
    if let Some(file) = args.operands.get(1).filter(|word| word.text() != Some("-")) {
        walk.write(file, Extent::File, name);
    }
}
