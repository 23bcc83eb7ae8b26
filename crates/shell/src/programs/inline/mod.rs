//! Finds the files that code in other languages would write: `python -c`, `node -e`, `perl -e`, a
//! here-document, or a script. The code is not understood; but a path that a call names as its
//! target is surely written if the call runs. **Anything else the code does is unknown.**

mod awk;
mod dead_code;
mod tokens;
mod values;

pub(super) use awk::awk;
use dead_code::Around;
pub(crate) use dead_code::exit_code;
use tokens::Token;
use tokens::tokens;
use values::Values;

use crate::Extent;
use crate::Needs;
use crate::programs::archives;
use crate::programs::args::Args;
use crate::programs::args::Options;
use crate::walk::Walk;
use crate::words::Word;

/// Names of calls that write their first argument; the lists below are for the second, both, and trees.
const FIRST: &[&str] = &[
    // Python.
    "remove",
    "unlink",
    "truncate",
    "makedirs",
    "mkdir",
    "chmod",
    "utime",
    "mkfifo",
    "removedirs",
    "rmdir",
    // Node, with and without `Sync`.
    "writeFile",
    "appendFile",
    "unlink",
    "rm",
    "truncate",
    "mkdir",
    "createWriteStream",
    "chmod",
    "utimes",
    // Perl and Ruby.
    "write",
    "remove_tree",
    "rm_rf",
    "rm_r",
    "make_path",
    "mkdir_p",
    "touch",
    "delete",
    // PHP, and widely used libraries.
    "file_put_contents",
    "to_csv",
    "to_json",
    "to_excel",
    "to_parquet",
    "savefig",
    "writeJson",
    "writeJSON",
    "outputFile",
    "outputJson",
    "ensureFile",
    "emptyDir",
    "removeSync",
    "writeTextFile",
    "FileHandler",
    "RotatingFileHandler",
    "connect",
    "writestr",
];
const SECOND: &[&str] = &[
    "copy",
    "copy2",
    "copyfile",
    "copytree",
    "copyFile",
    "cp",
    "symlink",
    "link",
    "cp_r",
    "copy_tree",
    "copyfileobj",
];
const BOTH: &[&str] = &["rename", "replace", "move", "renames", "mv"];
const TREES: &[&str] =
    &["rmtree", "remove_tree", "rm_rf", "rm_r", "rm", "copytree", "cp", "cp_r", "copy_tree", "emptyDir"];
/// Methods of path objects that write the path.
const METHODS: &[&str] = &[
    "write_text",
    "write_bytes",
    "touch",
    "unlink",
    "mkdir",
    "rmdir",
    "chmod",
    "rename",
    "replace",
    "symlink_to",
    "hardlink_to",
];

pub(super) fn run(walk: &mut Walk<'_>, name: &str, words: &[Word]) -> bool {
    let (code, is_from_input) = match name {
        "python" | "python3" | "python2" => (&["-c"][..], true),
        "node" | "nodejs" | "bun" => (&["-e", "--eval", "-p", "--print"][..], true),
        "ruby" => (&["-e"][..], true),
        "perl" => (&["-e", "-E"][..], true),
        "php" => (&["-r"][..], false),
        _ => return false,
    };
    let options = match name {
        "perl" => Options { values: "eEIMm", suffixes: "iFCDx0l", long: &[] },
        "python" | "python3" | "python2" => Options::with("cWXm", &[]),
        _ => Options::with("ceErp", &["--eval", "--print", "--require", "--import", "--loader"]),
    };
    // Words after the code or the script are arguments of the program.
    let (args, rest) = Args::leading(words, &options);
    if args.has(&["--check", "--syntax-check"])
        || args.has(&["-c"]) && matches!(name, "perl" | "ruby" | "node")
    {
        return true;
    }
    let texts: Vec<String> = args.values(code).filter_map(|word| word.text().map(str::to_owned)).collect();
    let is_node = matches!(name, "node" | "nodejs" | "bun");
    let first = usize::from(!matches!(name, "perl" | "ruby"));
    let mut source =
        Source { values: Values { first, arguments: rest.to_vec(), ..Values::default() }, by: name };
    if texts.is_empty() && !args.has(&["-m"]) {
        let script = rest.first().filter(|word| word.text() != Some("-"));
        source.values.arguments = rest.get(1..).unwrap_or_default().to_vec();
        source.values.first = if is_node { 2 } else { first };
        match script {
            Some(script) => source.file(walk, script),
            None if is_from_input => {
                let typed = walk.input.text().map(str::to_owned);
                typed.iter().for_each(|text| source.scan(walk, text));
            }
            None => {}
        }
    }
    for text in &texts {
        source.scan(walk, text);
    }
    // `ruby -pi -e …`
    if name == "ruby"
        && words
            .iter()
            .filter_map(Word::text)
            .any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains('i'))
    {
        rest.iter().for_each(|file| walk.write_if(file, Extent::File, "perl", Needs::File));
    }
    // `edits.rs` goes on with Perl, and tells whether the code only computes.
    if name == "perl" {
        return false;
    }
    let only_asks =
        matches!(words, [Word::Text(option)] if matches!(option.as_str(), "--version" | "-V" | "-v"));
    if name.starts_with("python") && args.has(&["-m"]) || only_asks {
        return false;
    }
    walk.note_unknown_write();
    true
}

/// Code, and the values in it that are known so far.
struct Source<'a> {
    values: Values,
    by: &'a str,
}

impl Source<'_> {
    /// Reads a script that the text itself has made. A script of the repository is not read: its
    /// effects depend on more than its text.
    fn file(&mut self, walk: &mut Walk<'_>, script: &Word) {
        let Some(path) = script.text().filter(|path| walk.has_made(path)) else { return };
        if let Some(text) = walk.file(path) {
            self.scan(walk, &text);
        }
    }

    fn scan(&mut self, walk: &mut Walk<'_>, code: &str) {
        let tokens = tokens(&running(walk, code, self.by), self.by);
        self.loops(&tokens);
        walk.aside(|walk| {
            for at in 0..tokens.len() {
                if !walk.may_step() {
                    return;
                }
                self.step(walk, &tokens, at);
            }
        });
    }

    /// Records the values that loops run over, beforehand, because a comprehension names them after its body.
    fn loops(&mut self, tokens: &[Token]) {
        for at in 0..tokens.len() {
            if let [Token::Name(name), Token::Name(over), ..] = &tokens[at..]
                && matches!(over.as_str(), "in" | "of")
                && let Some((words, _)) = self.values.read(tokens, at + 2)
            {
                self.values.set(name, words);
            }
        }
    }

    fn step(&mut self, walk: &mut Walk<'_>, tokens: &[Token], at: usize) {
        let Token::Name(name) = &tokens[at] else { return };
        let next = tokens.get(at + 1);
        // `p = Path("x")`, `f = 'x'`.
        if next == Some(&Token::Sign('='))
            && !matches!(tokens.get(at + 2), Some(Token::Sign('=' | '>' | '~')))
        {
            match self.values.read(tokens, at + 2) {
                // `text = path.read_text()` is no path.
                Some((_, end)) if tokens.get(end) == Some(&Token::Sign('.')) => self.values.forget(name),
                Some((words, _)) => self.values.set(name, words),
                None => {}
            }
            return;
        }
        // `for f in …`, `for (const f of …)`, `foreach my $f (…)`.
        if let Some(Token::Name(over)) = next
            && matches!(over.as_str(), "in" | "of")
        {
            if let Some((words, _)) = self.values.read(tokens, at + 2) {
                self.values.set(name, words);
            }
            return;
        }
        if matches!(name.as_str(), "for" | "foreach") && self.by == "perl" {
            let named = usize::from(next == Some(&Token::Name("my".into())));
            if let (Some(Token::Name(item)), Some((words, _))) =
                (tokens.get(at + 1 + named), self.values.read(tokens, at + 2 + named))
            {
                self.values.set(item, words);
            }
            return;
        }
        let is_perl_call =
            self.by == "perl" && !matches!(next, Some(Token::Sign('(' | ')' | ';' | ',')) | None);
        if next != Some(&Token::Sign('(')) && !is_perl_call {
            return;
        }
        let first_at = if next == Some(&Token::Sign('(')) { at + 2 } else { at + 1 };
        self.call(walk, tokens, at, name.strip_suffix("Sync").unwrap_or(name), first_at);
    }

    fn call(&mut self, walk: &mut Walk<'_>, tokens: &[Token], at: usize, name: &str, from: usize) {
        let arguments = self.values.arguments_of(tokens, from, 0);
        let receiver = self.receiver(tokens, at);
        let by = self.by;
        let extent = if TREES.contains(&name) { Extent::Tree } else { Extent::File };
        let write = |walk: &mut Walk<'_>, words: Option<&Option<Vec<Word>>>, needs: Needs| {
            let words = words.and_then(Option::as_ref);
            words.into_iter().flatten().for_each(|path| walk.write_if(path, extent, by, needs));
        };
        let (first, second) = (arguments.first(), arguments.get(1));
        match name {
            "open" | "fopen" => self.open(walk, tokens, at, &arguments, receiver),
            "system" | "exec" | "execFile" | "spawn" | "popen" | "Popen" | "call" | "check_call"
            | "check_output" | "run" | "shell_exec" | "passthru" => self.runs(walk, name, &arguments),
            // The first argument repeats the program's own name.
            "execvp" | "execv" | "execlp" => {
                let words = arguments.iter().flatten().flatten().filter_map(Word::text).skip(1);
                let line = quoted(words);
                walk.aside(|walk| walk.script(&line));
            }
            "chdir" => {
                if let Some(Some([Word::Text(directory)])) = first.map(Option::as_deref) {
                    walk.place = walk.place.enter(directory);
                }
            }
            "basicConfig" | "input"
                if argument_named(tokens, from, "filename").is_some() || name == "input" =>
            {
                let at = argument_named(tokens, from, "filename").unwrap_or(from);
                let is_edit = name == "basicConfig" || argument_named(tokens, from, "inplace").is_some();
                let words = self.values.read(tokens, at).map(|(words, _)| words);
                write(walk, Some(&words).filter(|_| is_edit), Needs::Nothing);
            }
            "extractall" | "extract" | "unpack_archive" => self.unpack(walk, tokens, at, name, &arguments),
            // These make a directory only if it does not exist.
            "makedirs" | "mkdir" | "mkdir_p" | "make_path" | "ensureDir" => {
                write(walk, Some(&receiver).filter(|one| one.is_some()).or(first), Needs::Absent);
            }
            "rmdir" | "removedirs" => {}
            _ if METHODS.contains(&name) && receiver.is_some() => {
                write(walk, Some(&receiver), Needs::Nothing);
                if matches!(name, "rename" | "replace") {
                    write(walk, first, Needs::Nothing);
                }
            }
            "rmtree" => {
                let words = first.and_then(Option::as_ref);
                words.into_iter().flatten().for_each(|path| walk.write(path, Extent::Tree, by));
            }
            _ if BOTH.contains(&name) && arguments.len() >= 2 => {
                arguments.iter().take(2).for_each(|one| write(walk, Some(one), Needs::Nothing));
            }
            _ if SECOND.contains(&name) => {
                let is_careful =
                    tokens[at..].iter().take(24).any(|token| *token == Token::Name("COPYFILE_EXCL".into()));
                write(walk, second, if is_careful { Needs::Absent } else { Needs::Nothing });
            }
            _ if FIRST.contains(&name) && by == "perl" => {
                arguments.iter().for_each(|one| write(walk, Some(one), Needs::Nothing));
            }
            // `f.write("text")` names no path, `File.write("path", "text")` does.
            "write" if arguments.len() < 2 => {}
            "connect" if !first.is_some_and(|one| one.iter().flatten().any(is_file)) => {}
            _ if FIRST.contains(&name) => {
                let is_careful = tokens[at..].iter().take(16).any(|token| *token == Token::Text("wx".into()));
                write(walk, first, if is_careful { Needs::Absent } else { Needs::Nothing });
            }
            _ => {}
        }
    }

    /// `open("x", "w")`, `Path("x").open("a")`; in Perl `open F, ">", "x"` and `open F, ">x"`.
    fn open(
        &self,
        walk: &mut Walk<'_>,
        tokens: &[Token],
        at: usize,
        arguments: &[Option<Vec<Word>>],
        receiver: Option<Vec<Word>>,
    ) {
        let texts = arguments.iter().flatten().flatten().filter_map(Word::text);
        if self.by == "perl" {
            let mut texts = texts;
            let Some(mode) = texts.find(|text| text.starts_with(['>', '+', '|'])) else { return };
            let path = mode.trim_start_matches(['>', '+', '<']).trim();
            let inner = (!path.is_empty()).then(|| vec![Word::Text(path.to_owned())]);
            let last = arguments.last().cloned().flatten();
            let words = inner.or(last).unwrap_or_default();
            return words.iter().for_each(|path| walk.write(path, Extent::File, self.by));
        }
        let is_mode =
            |text: &str| text.len() <= 3 && !text.is_empty() && text.chars().all(|c| "rwaxbt+".contains(c));
        let named = argument_named(tokens, at + 2, "mode").and_then(|at| self.values.read(tokens, at));
        let named = named.and_then(|(words, _)| words.first().and_then(Word::text).map(str::to_owned));
        let Some(mode) = named.or_else(|| texts.clone().find(|text| is_mode(text)).map(str::to_owned)) else {
            return;
        };
        if !mode.contains(['w', 'a', 'x', '+']) {
            return;
        }
        let needs = if mode.contains('x') { Needs::Absent } else { Needs::Nothing };
        let path = arguments.first().cloned().flatten();
        let is_on_path = receiver.is_some()
            && !path.iter().flatten().any(|word| word.text().is_some_and(|text| !is_mode(text)));
        let words = if is_on_path { receiver } else { path };
        words.into_iter().flatten().for_each(|path| walk.write_if(&path, Extent::File, self.by, needs));
    }

    /// Follows a command that the code runs. `exec` of Python runs code instead.
    fn runs(&mut self, walk: &mut Walk<'_>, name: &str, arguments: &[Option<Vec<Word>>]) {
        let words: Vec<&str> = arguments.iter().flatten().flatten().filter_map(Word::text).collect();
        match words.as_slice() {
            [code, ..] if name == "exec" && self.by.starts_with("python") => {
                let code = (*code).to_owned();
                walk.deeper(|walk| self.scan(walk, &code));
            }
            [script, ..] if script.contains(' ') => walk.aside(|walk| walk.script(script)),
            [_, ..] => walk.aside(|walk| walk.script(&quoted(words.iter().copied()))),
            [] => {}
        }
    }

    /// Writes the members that the code extracts from an archive.
    fn unpack(
        &self,
        walk: &mut Walk<'_>,
        tokens: &[Token],
        at: usize,
        name: &str,
        arguments: &[Option<Vec<Word>>],
    ) {
        let literals = tokens[..at].iter().rev().find_map(|token| match token {
            Token::Text(text) if text.contains('.') => Some(text.clone()),
            _ => None,
        });
        let one =
            |at: usize| arguments.get(at).and_then(|one| one.as_ref()?.first()?.text().map(str::to_owned));
        let (archive, directory, only) = match name {
            "unpack_archive" => (one(0), one(1), None),
            "extract" => (literals, one(1), one(0)),
            _ => (literals, one(0), None),
        };
        let members = match only {
            Some(only) => Some(vec![Word::Text(only)]),
            None => archive.and_then(|archive| archives::members(walk, &archive)),
        };
        let directory = directory.unwrap_or_else(|| ".".to_owned());
        for member in members.unwrap_or_default() {
            if let Some(path) = member.shape() {
                walk.write(&member.with(&format!("{directory}/{path}")), Extent::File, self.by);
            }
        }
    }

    /// Finds the path that a method is called on: `Path("x").touch()`, `p.touch()`, `(root / "x").touch()`.
    fn receiver(&self, tokens: &[Token], at: usize) -> Option<Vec<Word>> {
        if at < 2 || tokens[at - 1] != Token::Sign('.') {
            return None;
        }
        let end = at - 1;
        // The expression begins somewhere before the dot; the longest one that ends there is taken.
        let from = end.saturating_sub(24);
        let found = (from..end).find_map(|start| {
            let is_inside = start > 0 && matches!(tokens[start - 1], Token::Sign('.'));
            let (words, stop) = self.values.read(tokens, start).filter(|_| !is_inside)?;
            (stop == end).then_some(words)
        });
        found.filter(|words| !words.is_empty())
    }
}

/// Returns the part of code that may run.
fn running(walk: &Walk<'_>, code: &str, by: &str) -> String {
    let names = walk.names();
    let file = |path: &str| names.unchanged_file(path);
    let variable = walk.here.variable.map(|variable| {
        let is_set = |name: &str| names.value(name).and_then(|word| word.text().map(str::to_owned));
        move |name: &str| is_set(name).or_else(|| variable(name))
    });
    let variable = variable.as_ref().map(|variable| variable as &dyn Fn(&str) -> Option<String>);
    dead_code::without(code, by, &Around { variable, file: &file })
}

/// Whether a word may name a database file.
fn is_file(word: &Word) -> bool {
    word.text().is_some_and(|text| {
        !text.contains("://") && text.rsplit('/').next().is_some_and(|name| name.contains('.'))
    })
}

/// Finds the value of an argument that is given by its name.
fn argument_named(tokens: &[Token], from: usize, name: &str) -> Option<usize> {
    let found = tokens.iter().enumerate().skip(from).take(32).find(|(at, token)| {
        matches!(token, Token::Name(one) if one == name)
            && matches!(tokens.get(at + 1), Some(Token::Sign('=' | ':')))
    });
    found.map(|(at, _)| at + 2)
}

/// Makes a shell command of these words, each in quotes.
fn quoted<'w>(words: impl Iterator<Item = &'w str>) -> String {
    words.map(|word| format!("'{}'", word.replace('\'', "'\\''"))).collect::<Vec<_>>().join(" ")
}
