//! The state of a walk through a shell command: its directory, its variables, its writes so far,
//! and whether all of them are certain.

use std::collections::BTreeMap;

use rable::Node;

use crate::Extent;
use crate::Needs;
use crate::Reading;
use crate::ShellContext;
use crate::Write;
use crate::heredocs::EmptiedText;
use crate::input::Input;
use crate::outside::UnconfinedReason;
use crate::parse_limits;
use crate::place::Place;
use crate::program_traits;
use crate::variables::Names;
use crate::variables::Variables;
use crate::words;
use crate::words::ANY;
use crate::words::Word;

/// Deepest nesting that is followed: `bash -c "bash -c …"` and substitutions in substitutions.
const DEEPEST: usize = 8;
/// Most steps of a walk in all: loops, functions and scripts multiply each other.
const MOST_STEPS: usize = 20_000;
/// Most writes that are listed.
const MOST_WRITES: usize = 1000;
/// Most files that are recorded as shown: an agent that is shown more at once has hardly read them.
const MOST_READS: usize = 16;

pub(crate) struct Walk<'a> {
    pub(crate) here: ShellContext<'a>,
    pub(crate) variables: Variables,
    /// Whether the walk is in a script file: its writes under a condition are not reported, because
    /// its own text does not tell whether they happen.
    pub(crate) is_file: bool,
    pub(crate) conditions: usize,
    /// Number of conditions around that only the state of the machine decides:
    /// commands behind them may never run.
    pub(crate) unsure: usize,
    /// Number of conditions around the innermost loop.
    pub(crate) loop_conditions: Option<usize>,
    /// The commit that `git checkout` or `git switch` has changed to.
    pub(crate) head: Option<String>,
    /// The branches that the text has made, each with its commit.
    pub(crate) refs: BTreeMap<String, String>,
    /// Whether the text has stashed something.
    pub(crate) has_stashed: bool,
    /// Whether `set -C` is on; `ends_on_error` is the same for `set -e`.
    pub(crate) keeps_files: bool,
    pub(crate) ends_on_error: bool,
    /// Whether `git clean` works without `--force`.
    pub(crate) cleans_unforced: bool,
    /// The files that the text has made so far, with their text if it is known.
    pub(crate) made: Vec<(String, Option<String>)>,
    /// The links that the text has made, with their targets if these are known.
    pub(crate) links: Vec<(String, Option<String>)>,
    /// The archives that the text has packed, with their members.
    pub(crate) packed: BTreeMap<String, Vec<Word>>,
    /// The git aliases that the text has set, with their commands.
    pub(crate) aliases: Vec<(String, String)>,
    /// The script that runs when the shell ends (`trap … EXIT`).
    pub(crate) at_exit: Option<String>,
    /// Whether the script has surely ended.
    pub(crate) has_ended: bool,
    /// Whether the script may have ended.
    pub(crate) may_have_ended: bool,
    /// Whether the last `cd` went to a directory that does not exist.
    pub(crate) is_nowhere: bool,
    /// The standard input of the current command, as far as the text tells.
    pub(crate) input: Input,
    /// The directory that the next command runs in.
    pub(crate) place: Place,
    /// The directory before the last `cd`; `stacked` holds those that `pushd` has saved.
    pub(crate) before: Option<Place>,
    pub(crate) stacked: Vec<Place>,
    writes: Vec<Write>,
    reads: Vec<String>,
    is_certain: bool,
    outside: Option<UnconfinedReason>,
    pub(crate) leaves_job: bool,
    /// The functions that the text defines, by name; a body is walked where its function is called.
    functions: Vec<(String, Node)>,
    steps: usize,
    /// Number of programs that are running one another.
    pub(crate) programs: usize,
    depth: usize,
    /// Number of here-documents that the grammar has found in this script so far.
    pub(crate) heredocs: usize,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(here: ShellContext<'a>) -> Self {
        Self {
            here,
            // A command is started without arguments.
            variables: Variables::without_arguments(),
            is_file: false,
            conditions: 0,
            unsure: 0,
            loop_conditions: None,
            head: None,
            refs: BTreeMap::new(),
            has_stashed: false,
            keeps_files: false,
            ends_on_error: false,
            cleans_unforced: false,
            made: Vec::new(),
            links: Vec::new(),
            packed: BTreeMap::new(),
            aliases: Vec::new(),
            at_exit: None,
            has_ended: false,
            may_have_ended: false,
            is_nowhere: false,
            input: Input::Unknown,
            place: Place::start(),
            before: None,
            stacked: Vec::new(),
            writes: Vec::new(),
            reads: Vec::new(),
            is_certain: true,
            outside: None,
            leaves_job: false,
            functions: Vec::new(),
            steps: 0,
            programs: 0,
            depth: 0,
            heredocs: 0,
        }
    }

    pub(crate) fn into_reading(self) -> Reading {
        Reading {
            writes: self.writes,
            reads: self.reads,
            is_certain: self.is_certain,
            outside: self.outside,
            leaves_job: self.leaves_job,
        }
    }

    /// Counts one more step; returns whether it may be walked.
    pub(crate) fn may_step(&mut self) -> bool {
        self.steps += 1;
        if self.steps > MOST_STEPS {
            self.note_unknown_write();
        }
        self.steps <= MOST_STEPS
    }

    /// Records that a command must run on the machine as it is. Becoming another user is the stronger reason.
    pub(crate) fn note_outside(&mut self, outside: Option<UnconfinedReason>) {
        if outside == Some(UnconfinedReason::Elevates) || self.outside.is_none() {
            self.outside = outside.or(self.outside);
        }
    }

    /// Records that something may write files that the text does not tell.
    pub(crate) fn note_unknown_write(&mut self) {
        self.is_certain = false;
    }

    /// Records that `by` writes `word`, if it is known which file that is.
    pub(crate) fn write(&mut self, word: &Word, extent: Extent, by: &str) {
        self.write_if(word, extent, by, program_traits::needs(by, extent));
    }

    /// Records that `by` writes `word` if the path is in the state that `needs` describes.
    pub(crate) fn write_if(&mut self, word: &Word, extent: Extent, by: &str, needs: Needs) {
        if self.is_unsure() {
            return self.note_unknown_write();
        }
        if let Some(path) = word.shape().filter(|path| path.contains(ANY)) {
            self.note_unknown_write();
            if let Some(directory) = known_part(path) {
                self.write(&Word::Text(format!("{directory}/*")), Extent::File, by);
            }
            return;
        }
        let is_entry =
            program_traits::takes_links(by) && !word.shape().is_some_and(|path| path.ends_with('/'));
        // A pattern may match a directory, and everything in it is written.
        let below = match word {
            Word::Glob(pattern) if extent == Extent::Tree => Some(Word::Glob(format!("{pattern}/**"))),
            _ => None,
        };
        let (path, extent) = match word {
            Word::Text(text) if text.is_empty() => return,
            Word::Text(text) => (self.place.path(text), extent),
            Word::Glob(pattern) => (self.place.glob(pattern), Extent::Glob),
            Word::Unknown => (None, extent),
        };
        let path = match path {
            Some(path) => match self.behind_links(path, is_entry) {
                Some(path) => Some(path),
                None => return self.note_unknown_write(),
            },
            None => None,
        };
        match path {
            Some(path) if is_device(&path) => {}
            Some(path) if self.writes.len() < MOST_WRITES => {
                let is_entry = is_entry || self.is_removed(&path);
                let is_lacking = extent == Extent::File
                    && needs == Needs::Nothing
                    && program_traits::needs_directory(by)
                    && self.lacks_directory(&path);
                // The write will fail, unless the text was misread.
                let needs = if is_lacking { Needs::Directory } else { needs };
                self.is_certain &= !is_lacking;
                let write = Write { path, extent, by: by.into(), range: Vec::new(), is_entry, needs };
                if !self.writes.contains(&write) {
                    self.writes.push(write);
                }
            }
            Some(_) | None => self.note_unknown_write(),
        }
        if let Some(below) = below {
            self.write(&below, Extent::Glob, by);
        }
    }

    /// Whether the command that is being walked may never run.
    fn is_unsure(&self) -> bool {
        self.unsure > 0 || self.may_have_ended || self.is_file && self.conditions > 0
    }

    /// Records the members of an archive.
    pub(crate) fn pack(&mut self, archive: &Word, members: Vec<Word>) {
        if let Some(path) = archive.text().and_then(|path| self.place.path(path)) {
            self.packed.insert(path, members);
        }
    }

    /// Returns the number of writes so far.
    pub(crate) fn count_writes(&self) -> usize {
        self.writes.len()
    }

    /// Records that the writes from number `since` on take files from a revision.
    pub(crate) fn set_range(&mut self, since: usize, revision: &str) {
        self.writes.iter_mut().skip(since).for_each(|write| write.range = vec![revision.to_owned()]);
    }

    /// Whether anything may have been written so far.
    pub(crate) fn may_have_changed(&self) -> bool {
        !self.is_certain || self.has_written()
    }

    /// Whether anything was surely written so far.
    pub(crate) fn has_written(&self) -> bool {
        !self.writes.is_empty()
    }

    /// Whether the text has made a repository or worktree for whose path `is_so` holds.
    pub(crate) fn has_cloned(&self, is_so: impl Fn(&str) -> bool) -> bool {
        let is_made = |write: &Write| matches!(write.by.as_str(), "git clone" | "git worktree" | "git init");
        self.writes.iter().any(|write| is_made(write) && is_so(&write.path))
    }

    /// Whether the text has removed the entry before: then it is no link any more.
    fn is_removed(&self, path: &str) -> bool {
        self.writes.iter().any(|write| write.path == path && program_traits::removes(&write.by))
    }

    /// Whether the directory of a file does not exist, and nothing before can have made it.
    fn lacks_directory(&self, path: &str) -> bool {
        let Some((directory, _)) = path.rsplit_once('/').filter(|(above, _)| !above.is_empty()) else {
            return false;
        };
        let may_make = |write: &Write| {
            let is_above = directory.strip_prefix(&write.path).is_some_and(|rest| rest.starts_with('/'));
            write.extent != Extent::File || is_above
        };
        let is_made = self.may_have_made(directory) || self.writes.iter().any(may_make);
        !is_made && self.here.is_dir.is_some_and(|is_dir| !is_dir(directory))
    }

    /// Records that the text of a file is shown.
    pub(crate) fn note_read(&mut self, path: &str) {
        if let Some(path) = self.place.path(path)
            && self.reads.len() < MOST_READS
            && !self.reads.contains(&path)
            && !is_device(&path)
            && !path.contains(ANY)
        {
            self.reads.push(path);
        }
    }

    /// Records that `by` writes the current directory.
    pub(crate) fn write_here(&mut self, extent: Extent, by: &str) {
        self.write(&Word::Text(".".into()), extent, by);
    }

    /// Records that `by` brings the differences between commits into the current worktree.
    pub(crate) fn write_commits(&mut self, range: &[&str], by: &str) {
        let is_plain = |word: &&str| !word.starts_with('-') && !word.is_empty();
        match self.place.path(".") {
            Some(path) if range.iter().all(is_plain) && !self.is_unsure() => {
                let range = range.iter().map(|word| (*word).to_owned()).collect();
                let (extent, needs) = (Extent::Commits, Needs::Nothing);
                self.writes.push(Write { path, extent, by: by.into(), range, is_entry: false, needs });
            }
            _ => {}
        }
        // Git may not answer in time, and hooks of the repository may write more.
        self.note_unknown_write();
    }

    /// Returns the place that `~` stands for.
    pub(crate) fn home(&self) -> Place {
        self.here.home.map_or(Place::unknown(), |home| Place::start().enter(home))
    }

    /// Does `work` as in a subshell: directory and variables are restored afterwards.
    pub(crate) fn aside(&mut self, work: impl FnOnce(&mut Self)) {
        let (place, variables) = (self.place.clone(), self.variables.clone());
        let may_have_ended = self.may_have_ended;
        work(self);
        (self.place, self.variables, self.has_ended) = (place, variables, false);
        self.may_have_ended = may_have_ended;
    }

    /// Makes a pattern absolute, so that it means the same in any directory.
    pub(crate) fn absolute(&self, word: &Word) -> Word {
        match (word, self.here.cwd) {
            (Word::Glob(pattern), Some(cwd)) => match self.place.glob(pattern) {
                Some(path) if path.starts_with('/') => Word::Glob(path),
                Some(path) => Word::Glob(format!("{}/{path}", words::escape(cwd))),
                None => Word::Unknown,
            },
            _ => Word::Unknown,
        }
    }

    /// Returns what is needed to expand names at this point.
    pub(crate) fn names(&self) -> Names<'_> {
        Names {
            here: self.here,
            place: &self.place,
            variables: &self.variables,
            made: &self.made,
            before: self.before.as_ref(),
            writes: &self.writes,
            is_certain: self.is_certain,
        }
    }

    /// Returns the text of a file that the command would read.
    pub(crate) fn file(&self, path: &str) -> Option<String> {
        if matches!(path, "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0") {
            return self.input.text().map(str::to_owned);
        }
        self.names().file(path)
    }

    /// Returns the arguments that a word becomes.
    pub(crate) fn fields(&self, word: &Node) -> Vec<Word> {
        words::fields(word, &self.names())
    }

    /// Whether nothing exists at a path, and the text cannot have made it.
    pub(crate) fn is_absent(&self, path: &str) -> bool {
        let made = self.place.path(path).is_none_or(|path| path.contains(ANY) || self.may_have_made(&path));
        !made && self.names().is_there("-e", path) == Some(false)
    }

    /// Whether the text has made the file.
    pub(crate) fn has_made(&self, path: &str) -> bool {
        let is_input = matches!(path, "/dev/stdin" | "/dev/fd/0" | words::SUBSTITUTION_PATH);
        is_input || self.place.path(path).is_some_and(|path| self.made.iter().any(|(made, _)| *made == path))
    }

    /// Whether something in the text may have made the directory.
    pub(crate) fn may_have_made(&self, directory: &str) -> bool {
        let is_in = |path: &str| path == directory || path.starts_with(&format!("{directory}/"));
        !self.is_certain || self.writes.iter().any(|write| is_in(&write.path))
    }

    /// Does `work` in `directory`.
    pub(crate) fn within(&mut self, directory: &Word, work: impl FnOnce(&mut Self)) {
        self.aside(|walk| {
            walk.place = directory.text().map_or(Place::unknown(), |directory| walk.place.enter(directory));
            work(walk);
        });
    }

    /// Walks `name` with these arguments if it is a function of the text; returns whether it is one.
    pub(crate) fn call_function(&mut self, name: &str, arguments: &[Word]) -> bool {
        let Some((_, body)) = self.functions.iter().rev().find(|(known, _)| known == name) else {
            return false;
        };
        let body = body.clone();
        let outer = self.variables.enter(arguments.to_vec());
        let has_ended = self.has_ended;
        self.deeper(|walk| walk.walk(&body));
        self.has_ended = has_ended;
        self.variables.leave(outer);
        true
    }

    /// Whether the text has defined a function of that name so far.
    pub(crate) fn defines(&self, name: &str) -> bool {
        self.functions.iter().any(|(known, _)| known == name)
    }

    pub(crate) fn define(&mut self, name: &str, body: &Node) {
        self.functions.push((name.into(), body.clone()));
    }

    /// Does `work` under a condition of the text.
    pub(crate) fn if_so(&mut self, work: impl FnOnce(&mut Self)) {
        self.conditions += 1;
        work(self);
        self.conditions -= 1;
    }

    /// Walks a script: the whole command, or the text of `bash -c`.
    pub(crate) fn script(&mut self, text: &str) {
        if text.contains(ANY) {
            self.note_unknown_write();
        }
        self.deeper(|walk| {
            let Some(tamed) = parse_limits::tame(text) else { return walk.note_unknown_write() };
            if parse_limits::with_room(&tamed.text, || walk.read(&tamed)).is_none() {
                walk.note_unknown_write();
            }
        });
        // A script from elsewhere may end with a `return`.
        self.has_ended = false;
        if let Some(script) = self.at_exit.take() {
            self.aside(|walk| walk.script(&script));
        }
    }

    /// Does `work` one level deeper, unless that is too deep.
    pub(crate) fn deeper(&mut self, work: impl FnOnce(&mut Self)) {
        if self.depth >= DEEPEST {
            return self.note_unknown_write();
        }
        self.depth += 1;
        work(self);
        self.depth -= 1;
    }

    fn read(&mut self, tamed: &EmptiedText) {
        let Ok(nodes) = rable::parse(&tamed.text, false) else { return self.note_unknown_write() };
        let known = self.writes.len();
        let outer = std::mem::take(&mut self.heredocs);
        let input = std::mem::take(&mut self.input);
        for node in &nodes {
            self.walk(node);
        }
        self.input = input;
        let found = std::mem::replace(&mut self.heredocs, outer);
        if tamed.emptied.is_some_and(|emptied| emptied != found) {
            self.writes.truncate(known);
            self.note_unknown_write();
        }
        if tamed.had_commands {
            self.note_unknown_write();
        }
    }
}

/// Returns the directory of the first unknown part of a path.
fn known_part(path: &str) -> Option<&str> {
    let directory = &path[..path[..path.find(ANY)?].rfind('/')?];
    // A directory with a pattern in it is not known either.
    Some(directory).filter(|directory| !directory.contains(['*', '?', '[']))
}

fn is_device(path: &str) -> bool {
    matches!(
        path,
        "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/stdin" | "/dev/tty" | "/dev/zero" | "/dev/full"
    ) || ["/dev/fd/", "/dev/tcp/", "/dev/udp/", "/dev/pts/"].iter().any(|start| path.starts_with(start))
}
