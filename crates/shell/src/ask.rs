//! Which programs of a command may be run to learn what they print: those that surely
//! write nothing, run nothing else and end by themselves. What is asked is what the
//! command itself would ask a moment later.

use rable::Node;
use rable::NodeKind;

use crate::Printed;
use crate::Question;
use crate::input::Input;
use crate::variables::Names;
use crate::words;
use crate::words::ANY;
use crate::words::Word;

/// Longer outputs are not followed.
const LONGEST: usize = 64 << 10;

/// A program that only reads.
struct Reader {
    name: &'static str,
    /// Options that make it do more; of the short ones the letter.
    but: &'static [&'static str],
    /// What it is given before all else, to be safe.
    before: &'static [&'static str],
}

const fn reader(name: &'static str, but: &'static [&'static str]) -> Reader {
    Reader { name, but, before: &[] }
}

#[rustfmt::skip]
const READERS: &[Reader] = &[
    reader("basename", &[]), reader("cat", &[]), reader("comm", &[]), reader("cut", &[]), reader("diff", &[]),
    reader("dirname", &[]), reader("egrep", &[]), reader("fgrep", &[]), reader("grep", &[]), reader("head", &[]),
    reader("join", &[]), reader("ls", &[]), reader("nl", &[]), reader("paste", &[]), reader("readlink", &[]),
    reader("realpath", &[]), reader("rev", &[]), reader("seq", &[]), reader("stat", &[]), reader("tac", &[]),
    reader("tail", &["f", "F", "--follow", "--retry"]), reader("tr", &[]), reader("wc", &[]),
    reader("uniq", &[]), reader("uname", &[]), reader("whoami", &[]), reader("id", &[]), reader("arch", &[]),
    reader("sort", &["o", "T", "--output", "--compress-program", "--temporary-directory"]),
    reader("find", &["-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls"]),
    Reader { name: "sed", but: &["i", "--in-place", "f", "--file"], before: &["--sandbox"] },
    reader("rg", &["--pre", "--hostname-bin", "--pre-glob"]), reader("ag", &["--pager"]), reader("ack", &["--pager"]),
    reader("tar", &["I", "F", "--use-compress-program", "--to-command", "--checkpoint-action", "--info-script", "--rsh-command"]),
    reader("unzip", &[]),
];

/// Commands of git that only read, whatever they are given but these.
const GIT: &[&str] = &[
    "cat-file",
    "describe",
    "diff",
    "diff-files",
    "diff-index",
    "diff-tree",
    "for-each-ref",
    "format-patch",
    "grep",
    "log",
    "ls-files",
    "ls-tree",
    "merge-base",
    "name-rev",
    "rev-list",
    "rev-parse",
    "show",
    "status",
];
const GIT_BUT: &[&str] = &[
    "O",
    "--open-files-in-pager",
    "--output",
    "o",
    "--output-directory",
    "--ext-diff",
    "--textconv",
    "--exec-path",
    "--filters",
];
/// Those that would run what the repository's configuration names.
const GIT_DIFFS: &[&str] = &["diff", "log", "show", "format-patch", "diff-files", "diff-index", "diff-tree"];
const GIT_BEFORE: &[&str] =
    &["--no-optional-locks", "--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"];

impl Names<'_> {
    /// What a command prints, asked for real.
    pub(crate) fn asked(&self, node: &Node, input: &Input) -> Option<Printed> {
        self.here.ask.filter(|_| self.may_ask)?;
        let NodeKind::Command { words, redirects, assignments } = &node.kind else { return None };
        let is_quiet = |redirect: &Node| match &redirect.kind {
            NodeKind::Redirect { op, fd, .. } => op.starts_with('<') || *fd == 2 || op == "&>" || op == ">",
            _ => true,
        };
        if !assignments.is_empty() || !redirects.iter().all(is_quiet) {
            return None;
        }
        let words: Vec<Word> = words.iter().flat_map(|word| words::fields(word, self)).collect();
        let words: Option<Vec<String>> = self.all_expanded(words).iter().map(known).collect();
        let (program, arguments) =
            words.as_deref()?.split_first().map(|(one, rest)| (one.clone(), rest.to_vec()))?;
        let given = self.input_of(redirects);
        let input = match given.as_ref().unwrap_or(input) {
            Input::Unknown => None,
            told => Some(told.listed(self)?),
        };
        self.put(&program, &arguments, input.as_deref())
    }

    /// What a program prints with these arguments, if it succeeds.
    pub(crate) fn ask_for(&self, program: &str, arguments: &[String], input: Option<&str>) -> Option<String> {
        self.put(program, arguments, input).filter(|printed| printed.is_success).map(|printed| printed.text)
    }

    fn put(&self, program: &str, arguments: &[String], input: Option<&str>) -> Option<Printed> {
        let arguments = question(program, arguments)?;
        let directory = self.place.path(".")?;
        let question = Question { directory: &directory, program, arguments: &arguments, input };
        self.here.ask?(&question).filter(|printed| printed.text.len() <= LONGEST)
    }

    /// What the last of several commands prints that read one from another.
    pub(crate) fn asked_in_turn(&self, commands: &[Node], input: &Input) -> Input {
        let mut input = input.clone();
        let text = Names { may_ask: false, ..*self };
        for command in commands {
            let told = text.output(command, &input);
            input = match told {
                Input::Text(_) => told,
                _ => match self.asked(command, &input) {
                    Some(printed) => Input::Text(printed.text),
                    None => return Input::Unknown,
                },
            };
        }
        input
    }
}

fn known(word: &Word) -> Option<String> {
    word.text().filter(|text| !text.contains(ANY) && !is_foreign(text)).map(str::to_owned)
}

/// What is no plain file may never answer, or answer once.
fn is_foreign(path: &str) -> bool {
    ["/dev/", "/proc/", "/sys/"].iter().any(|start| path.starts_with(start)) && path != "/dev/null"
}

/// The arguments to ask with; `None` for what is not asked.
fn question(program: &str, arguments: &[String]) -> Option<Vec<String>> {
    if program == "git" {
        return git(arguments);
    }
    let reader = READERS.iter().find(|reader| reader.name == program)?;
    if arguments.iter().any(|word| is_one_of(word, reader.but, program == "find")) {
        return None;
    }
    let is_list = |letters: &str| arguments.first().is_some_and(|first| first.contains(letters));
    match program {
        "tar" if !is_list("t") || is_list("x") || is_list("c") => return None,
        "unzip" if !is_list("Z") && !is_list("l") && !is_list("p") => return None,
        _ => {}
    }
    Some(reader.before.iter().map(|word| (*word).to_owned()).chain(arguments.iter().cloned()).collect())
}

fn git(arguments: &[String]) -> Option<Vec<String>> {
    let (verb, rest) = arguments.split_first()?;
    let is_plain = match (verb.as_str(), rest.first().map(String::as_str)) {
        ("branch", Some("--list" | "-l" | "--show-current" | "--format" | "-a" | "-r" | "--contains")) => {
            true
        }
        ("tag", Some("-l" | "--list")) => true,
        ("stash", Some("show" | "list")) => true,
        ("config", Some("--get")) => true,
        ("clean", Some(_)) => rest.iter().any(|word| word == "-n"),
        ("archive", _) => false,
        ("format-patch", _) => rest.iter().any(|word| word == "--stdout"),
        (verb, _) => GIT.contains(&verb),
    };
    if !is_plain || verb != "clean" && rest.iter().any(|word| is_one_of(word, GIT_BUT, false)) {
        return None;
    }
    let safe: &[&str] = match verb.as_str() {
        verb if GIT_DIFFS.contains(&verb) => &["--no-ext-diff", "--no-textconv"],
        _ => &[],
    };
    let before = GIT_BEFORE.iter().map(|word| (*word).to_owned());
    let safe = safe.iter().map(|word| (*word).to_owned());
    Some(before.chain([verb.clone()]).chain(safe).chain(rest.iter().cloned()).collect())
}

/// Whether a word is one of these options. Where options are words, no letter is one.
fn is_one_of(word: &str, options: &[&str], are_words: bool) -> bool {
    options.iter().any(|option| match option.strip_prefix("--") {
        Some(long) => word.strip_prefix("--").is_some_and(|word| {
            let word = word.split('=').next().unwrap_or(word);
            // GNU programs take the beginning of a long option for it.
            word.len() >= 2 && long.starts_with(word)
        }),
        None if are_words => word == *option,
        None => word.starts_with('-') && !word.starts_with("--") && word.contains(option),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_asked(command: &str) -> bool {
        let mut words = command.split_whitespace().map(str::to_owned);
        let program = words.next().unwrap();
        question(&program, &words.collect::<Vec<_>>()).is_some()
    }

    #[test]
    fn only_what_reads_is_asked() {
        for command in [
            "grep -rl TODO src",
            "git diff --name-only main",
            "git ls-files -m",
            "sed s/a/b/",
            "find . -name x",
            "head -n 1",
            "git stash show -p",
            "tar tzf a.tgz",
            "git clean -n -d",
            "sort -u",
        ] {
            assert!(is_asked(command), "{command}");
        }
        for command in [
            "rm x",
            "sort -o x",
            "sort --compress-prog=x",
            "find . -delete",
            "find . -exec rm {} ;",
            "git grep -Oless x",
            "git diff --output=x",
            "git diff --ext-diff",
            "sed -i s/a/b/ x",
            "sed -f x",
            "tail -f x",
            "git branch x",
            "tar xf x",
            "tar tf x --checkpoint-action=exec=y",
            "git clean -f",
            "git checkout x",
            "git stash pop",
            "git format-patch main",
            "git -c x=y log",
            "unzip x",
            "awk 1",
        ] {
            assert!(!is_asked(command), "{command}");
        }
    }
}
