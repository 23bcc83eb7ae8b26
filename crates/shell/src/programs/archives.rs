//! Finds the files that archive programs would write: `tar`, `zip`, `unzip`, `cpio`, `7z`. The
//! members of an archive are known if the text itself has packed it.

use crate::Extent;
use crate::Needs;
use crate::globs;
use crate::input::Input;
use crate::programs::args::Args;
use crate::programs::args::Options;
use crate::walk::Walk;
use crate::words::Word;

pub(super) fn run(walk: &mut Walk<'_>, name: &str, words: &[Word]) -> bool {
    match name {
        "tar" | "gtar" | "bsdtar" => tar(walk, name, words),
        "unzip" => unzip(walk, words),
        "zip" => zip(walk, words),
        "7z" | "7za" | "7zr" => seven(walk, words),
        "jar" | "unrar" => {
            let packs = words.first().and_then(Word::text).is_some_and(|verb| verb.contains(['c', 'u', 'a']));
            words.get(1).into_iter().filter(|_| packs).for_each(|file| walk.write(file, Extent::File, name));
            walk.note_unknown_write();
        }
        "cpio" | "pax" => cpio(walk, name, words),
        _ => return false,
    }
    true
}

/// The rules by which the members of an archive become files.
struct Unpacking<'a> {
    by: &'a str,
    directory: Word,
    /// Number of leading directories that are removed from a member's path.
    strip: usize,
    /// Whether only the last part of a member's path is used.
    is_flat: bool,
    needs: Needs,
    excluded: Vec<String>,
}

impl Unpacking<'_> {
    fn write(&self, walk: &mut Walk<'_>, member: &Word) {
        let Some(path) = member.shape() else { return walk.note_unknown_write() };
        let is_out =
            |pattern: &String| globs::matches(pattern, path) || path.starts_with(&format!("{pattern}/"));
        if self.excluded.iter().any(is_out) {
            return;
        }
        let path = path.trim_start_matches("./");
        let kept: Vec<&str> = match self.is_flat {
            true => path.rsplit('/').take(1).collect(),
            false => path.trim_end_matches('/').split('/').skip(self.strip).collect(),
        };
        let Some(directory) = self.directory.text() else { return walk.note_unknown_write() };
        let name = kept.join("/");
        // A directory in the archive exists already, or is made for the files in it.
        if name.is_empty() || path.ends_with('/') {
            return;
        }
        walk.write_if(&member.with(&format!("{directory}/{name}")), Extent::Tree, self.by, self.needs);
    }

    /// Writes all members of an archive; if they are not known, something in the target directory.
    fn write_all(&self, walk: &mut Walk<'_>, members: Option<Vec<Word>>) {
        walk.note_unknown_write();
        match members {
            Some(members) => members.iter().for_each(|member| self.write(walk, member)),
            // `/*` stands for a new file of any name.
            None if self.directory.text().is_some_and(|directory| directory != ".") => {
                walk.write(&self.directory.append("/*"), Extent::File, self.by);
            }
            None => {}
        }
    }
}

/// Returns the members of an archive that the text itself has packed.
pub(super) fn members(walk: &Walk<'_>, archive: &str) -> Option<Vec<Word>> {
    walk.packed.get(&walk.place.path(archive)?).cloned()
}

fn tar(walk: &mut Walk<'_>, name: &str, words: &[Word]) {
    let mut words = words.to_vec();
    // `tar xzf a.tgz`: the letters need no dash.
    if let Some(Word::Text(letters)) = words.first_mut()
        && !letters.starts_with('-')
    {
        if letters.find('f').is_some_and(|at| at + 1 != letters.len()) {
            return walk.note_unknown_write();
        }
        letters.insert(0, '-');
    }
    const LONG: &[&str] = &[
        "--file",
        "--directory",
        "--exclude",
        "--strip-components",
        "--strip",
        "--transform",
        "--files-from",
        "--mtime",
        "--owner",
        "--group",
        "--mode",
    ];
    let args = Args::read(&words, &Options::with("fCTXbgIFsK", LONG));
    if args.has(&["-I", "-F", "-T", "--files-from", "-g", "--listed-incremental"]) {
        walk.note_unknown_write();
    }
    let file = args.value(&["-f", "--file"]).filter(|file| file.text() != Some("-")).cloned();
    if args.has(&["-x", "--extract", "--get"]) {
        return extract(walk, name, &args, file);
    }
    if args.has(&["-t", "--list", "-d", "--diff", "--compare"]) {
        return;
    }
    if args.has(&["--remove-files"]) {
        args.operands.iter().for_each(|file| walk.write(file, Extent::Tree, name));
    }
    if args.has(&["--delete"]) || !args.has(&["-c", "--create", "-r", "--append", "-u", "--update", "-A"]) {
        walk.note_unknown_write();
    }
    if let Some(file) = file {
        walk.write(&file, Extent::File, name);
        walk.pack(&file, packed(&args.operands));
    }
}

/// Returns the operands as the members of the archive they are packed into.
pub(crate) fn packed(operands: &[&Word]) -> Vec<Word> {
    operands.iter().map(|word| (*word).clone()).collect()
}

fn extract(walk: &mut Walk<'_>, by: &str, args: &Args<'_>, file: Option<Word>) {
    if args.has(&["-O", "--to-stdout"]) {
        return;
    }
    let strip = args.value(&["--strip-components", "--strip"]);
    let strip = strip.map_or(Some(0), |count| count.text()?.parse().ok());
    let is_careful = args.has(&["-k", "--keep-old-files", "--skip-old-files"]);
    let unpacking = Unpacking {
        by,
        directory: args.value(&["-C", "--directory"]).cloned().unwrap_or(Word::Text(".".into())),
        strip: strip.unwrap_or_default(),
        is_flat: false,
        needs: if is_careful { Needs::Absent } else { Needs::Nothing },
        excluded: args.values(&["--exclude"]).filter_map(|word| word.shape().map(str::to_owned)).collect(),
    };
    // The new names of the members are not known.
    if strip.is_none() || args.has(&["--transform", "--xform", "-s"]) {
        return walk.note_unknown_write();
    }
    if !args.operands.is_empty() {
        args.operands.iter().for_each(|member| unpacking.write(walk, member));
        return walk.note_unknown_write();
    }
    let members = match (file.as_ref().map(Word::text), &walk.input) {
        (Some(Some(archive)), _) => members(walk, archive),
        (None, Input::File(archive)) => members(walk, &archive.clone()),
        (None, Input::Packed(words)) => Some(words.clone()),
        _ => None,
    };
    unpacking.write_all(walk, members);
}

fn unzip(walk: &mut Walk<'_>, words: &[Word]) {
    let args = Args::read(words, &Options::with("dx", &[]));
    if args.has(&["-l", "-t", "-p", "-v", "-Z", "-z"]) {
        return;
    }
    // Without `-o`, unzip overwrites nothing unless somebody confirms it.
    let is_forced = args.has(&["-o"]);
    let unpacking = Unpacking {
        by: "unzip",
        directory: args.value(&["-d"]).cloned().unwrap_or(Word::Text(".".into())),
        strip: 0,
        is_flat: args.has(&["-j"]),
        needs: if is_forced || args.has(&["-u", "-f"]) { Needs::Nothing } else { Needs::Absent },
        excluded: args.values(&["-x"]).filter_map(|word| word.shape().map(str::to_owned)).collect(),
    };
    let Some((archive, only)) = args.operands.split_first() else { return };
    if only.is_empty() {
        let archives = walk.names().all_expanded(vec![(*archive).clone()]);
        for archive in archives {
            let members = archive.text().and_then(|archive| members(walk, archive));
            unpacking.write_all(walk, members);
        }
        return;
    }
    for member in only {
        // In patterns of unzip, `*` also matches `/`.
        match member.text().filter(|text| text.contains(['*', '?'])) {
            Some(pattern) => unpacking.write(walk, &Word::Glob(pattern.replace('*', "**"))),
            None => unpacking.write(walk, member),
        }
    }
    walk.note_unknown_write();
}

fn zip(walk: &mut Walk<'_>, words: &[Word]) {
    let args = Args::read(words, &Options::with("xtnTb", &[]));
    let Some((archive, files)) = args.operands.split_first() else { return };
    walk.write(archive, Extent::File, "zip");
    walk.pack(archive, packed(files));
    if args.has(&["-m", "--move"]) {
        files.iter().for_each(|file| walk.write(file, Extent::Tree, "zip"));
    }
}

fn seven(walk: &mut Walk<'_>, words: &[Word]) {
    let is_option = |word: &&Word| word.shape().is_some_and(|shape| shape.starts_with('-'));
    let operands: Vec<&Word> = words.iter().filter(|word| !is_option(word)).collect();
    let out = words.iter().find_map(|word| word.text()?.strip_prefix("-o")).unwrap_or(".");
    match (operands.first().and_then(|word| word.text()), operands.get(1)) {
        (Some("l" | "t"), _) => return,
        (Some("x" | "e"), Some(archive)) => {
            let unpacking = Unpacking {
                by: "7z",
                directory: Word::Text(out.to_owned()),
                strip: 0,
                is_flat: operands[0].text() == Some("e"),
                needs: Needs::Nothing,
                excluded: Vec::new(),
            };
            let members = archive.text().and_then(|archive| members(walk, archive));
            unpacking.write_all(walk, members);
        }
        (_, Some(archive)) => walk.write(archive, Extent::File, "7z"),
        _ => {}
    }
    walk.note_unknown_write();
}

/// Handles `cpio`: with `-p directory`, it copies the files named by its input into the directory.
fn cpio(walk: &mut Walk<'_>, by: &str, words: &[Word]) {
    let args = Args::read(words, &Options::with("DEFHICMORs", &["--directory", "--file"]));
    if args.has(&["-t", "--list"]) {
        return;
    }
    if let (true, Some(directory), Some(names)) =
        (args.has(&["-p", "--pass-through", "-rw"]), args.operands.last(), walk.input.words())
    {
        for name in &names {
            if let (Some(directory), Some(path)) = (directory.text(), name.shape()) {
                walk.write(&name.with(&format!("{directory}/{path}")), Extent::File, by);
            }
        }
    }
    walk.note_unknown_write();
}
