//! Stores trails in the side files: each session's trail in its log, and the topics of all sessions in one
//! table of slots. **The log of another session is read only if its topics are near.**

use std::fmt::Write as _;
use std::path::Path;
use std::path::PathBuf;

use crate::Timestamp;
use crate::convergence::FileVisit;
use crate::convergence::KEPT_PROMPTS;
use crate::convergence::TopicSummary;
use crate::convergence::Trail;
use crate::convergence::TrailStep;
use crate::engine::StoreError;
use crate::presence::SessionId;
use crate::project::ProjectId;
use crate::side_files::Log;
use crate::side_files::LogLine;
use crate::side_files::SessionState;
use crate::side_files::SideFiles;
use crate::side_files::TOPICS;
use crate::side_files::escaped;
use crate::side_files::unescaped;

/// Most files of a prompt that are kept, for reads and for writes.
const MOST_FILES: usize = 12;

/// Separates the prompts of a session in its slot.
const STEP: char = '\u{1e}';

/// Most bytes of topics in a session's slot.
const LONGEST_TOPICS: usize = 700;

impl dyn SideFiles + '_ {
    /// Begins the trail of a session, or continues an earlier one.
    pub fn begin_or_continue_trail(
        &self,
        session: &SessionId,
        project: &ProjectId,
        worktree: &Path,
    ) -> Result<(), StoreError> {
        // A session that comes back keeps its trail, unless it is in another project now.
        let log = self.read_log(session);
        let former = log.trail().filter(|former| former.project.as_ref() == Some(project));
        let steps = former.map_or_else(Vec::new, |former| former.steps);
        let (session, project) = (session.clone(), Some(project.clone()));
        let trail = Trail { session, project, worktree: worktree.to_owned(), steps };
        let text = trail.render();
        // The length tells whether there was no log, or one that cannot be read.
        if log.is_empty() && self.append(&trail.session, &text)? == Some(text.len() as u64) {
            return Ok(());
        }
        // Others may have added to it since.
        self.replace_log(&trail.session, &(text + &self.read_log(&trail.session).without_trail()));
        if trail.steps.is_empty() { Ok(()) } else { self.put_topics(&trail) }
    }

    /// Writes the last step of a trail, and calls `look` for every session of its project that uses one of
    /// the words in `interests`, which must be sorted.
    pub fn add_step(
        &self,
        trail: &Trail,
        interests: &[&str],
        look: &mut dyn FnMut(&TopicSummary<'_>),
    ) -> Result<(), StoreError> {
        let Some(step) = trail.steps.last() else { return Ok(()) };
        let mut line = String::new();
        write_step(&mut line, step);
        self.add(&trail.session, &LogLine::Trail(line))?;
        if let Some(project) = &trail.project {
            self.look_through(project, Some(interests), look);
        }
        self.put_topics(trail)
    }

    /// Adds to a session's trail that a tool has read or written a file.
    pub fn add_visit(&self, session: &SessionId, path: &Path, at: Timestamp, written: bool) {
        let mut line = String::new();
        write_visit(&mut line, &path.to_string_lossy(), at, written);
        let _ = self.add(session, &LogLine::Trail(line));
    }

    /// Reads the trail of a session that has not ended.
    pub fn trail(&self, session: &SessionId) -> Option<Trail> {
        self.state(session).ok()?.filter(SessionState::is_begun)?;
        self.last_trail(session)
    }

    /// Reads the trail of a session from its log, even if the session has ended.
    pub fn last_trail(&self, session: &SessionId) -> Option<Trail> {
        self.read_log(session).trail().filter(|trail| trail.session == *session)
    }

    /// Calls `look` for the topics of every session of a project.
    pub fn each_topic_summary(&self, project: &ProjectId, look: &mut dyn FnMut(&TopicSummary<'_>)) {
        self.look_through(project, None, look);
    }

    /// Frees the topics slot of a session that has ended.
    pub fn end_trail(&self, session: &SessionId) {
        self.free_slot(TOPICS, &escaped(session.as_str()));
    }

    /// Removes the notes about a session that has ended, except its trail, which is kept for a handoff.
    pub fn end_notes(&self, session: &SessionId) {
        let _ = self.end_session(session);
        match self.last_trail(session) {
            Some(trail) => self.replace_log(session, &trail.render()),
            None => self.remove_session(session.path_part().as_str()),
        }
    }

    /// Removes the trails of ended sessions whose last prompt was before `before`, or that have no prompt.
    pub fn forget_trails(&self, before: Timestamp) {
        for files in self.sessions().into_iter().filter(|files| !files.has_state) {
            let last = Log(files.log).trail().and_then(|trail| Some(trail.steps.last()?.at));
            if last.is_none_or(|last| last < before) {
                self.remove_session(&files.name);
            }
        }
    }

    /// Ends the trails of all sessions that are not in `here`.
    pub fn end_trails_except(&self, here: &[SessionId]) {
        let here: Vec<String> = here.iter().map(|session| session.path_part().to_string()).collect();
        for files in self.sessions() {
            if files.has_state && !here.contains(&files.name) {
                match Log(files.log).trail() {
                    Some(trail) => {
                        self.end_trail(&trail.session);
                        self.end_notes(&trail.session);
                    }
                    None => self.remove_session(&files.name),
                }
            }
        }
    }

    /// Removes the texts of prompts from all trails, or from those of a worktree.
    pub fn forget_prompts(&self, worktree: Option<&Path>) {
        for files in self.sessions() {
            let log = Log(files.log);
            let Some(mut trail) = log.trail() else { continue };
            let is_meant = worktree.is_none_or(|worktree| trail.worktree == worktree);
            if is_meant && trail.steps.iter().any(|step| step.prompt.is_some()) {
                trail.steps.iter_mut().for_each(|step| step.prompt = None);
                self.replace_log(&trail.session, &(trail.render() + &log.without_trail()));
            }
        }
    }

    /// Writes the topics of a session into its slot; the oldest prompts are left out if there is not enough
    /// room.
    fn put_topics(&self, trail: &Trail) -> Result<(), StoreError> {
        let project = escaped(trail.project.as_ref().map_or("", |project| project.as_str()));
        let mut steps: Vec<String> = trail.steps.iter().map(|step| step.topics.join(" ")).collect();
        while steps.iter().map(|step| step.len() + 1).sum::<usize>() > LONGEST_TOPICS {
            steps.remove(0);
        }
        let value = format!("{project}\t{}", steps.join(&STEP.to_string()));
        self.set_slot(TOPICS, &escaped(trail.session.as_str()), &value)
    }

    /// Calls `look` for every session of a project, or only for those that use one of the words in
    /// `interests`, which must be sorted.
    fn look_through(
        &self,
        project: &ProjectId,
        interests: Option<&[&str]>,
        look: &mut dyn FnMut(&TopicSummary<'_>),
    ) {
        let interests = interests.map(WordFilter::new);
        self.each_slot(TOPICS, &mut |session, value| {
            let Some((of, steps)) = value.split_once('\t') else { return };
            let is_near = || interests.as_ref().is_none_or(|interests| interests.has_any_of(steps));
            if unescaped(of) == project.as_str() && is_near() {
                let steps =
                    steps.split(STEP).map(|step| step.split(' ').filter(|word| !word.is_empty()).collect());
                look(&TopicSummary { session: unescaped(session), steps: steps.collect() });
            }
        });
    }
}

/// A filter that finds words in the topics of many sessions. Nearly all topics are none of the words, which
/// a bit for each hash tells in one pass over the text.
struct WordFilter<'a> {
    words: &'a [&'a str],
    bits: [u64; 64],
}

impl<'a> WordFilter<'a> {
    /// Builds the filter; `words` must be sorted.
    fn new(words: &'a [&'a str]) -> Self {
        let mut bits = [0; 64];
        for word in words {
            let (at, bit) = Self::place(word.bytes().fold(0, Self::add));
            bits[at] |= bit;
        }
        Self { words, bits }
    }

    /// Tells whether any topic in a session's slot is one of the words.
    fn has_any_of(&self, steps: &str) -> bool {
        let (mut hash, mut start) = (0, 0);
        for (end, byte) in steps.bytes().enumerate() {
            // Between words there is a space or [`STEP`].
            if byte > b' ' {
                hash = Self::add(hash, byte);
                continue;
            }
            if self.has(hash, &steps[start..end]) {
                return true;
            }
            (hash, start) = (0, end + 1);
        }
        self.has(hash, &steps[start..])
    }

    fn has(&self, hash: u64, word: &str) -> bool {
        let (at, bit) = Self::place(hash);
        self.bits[at] & bit != 0 && self.words.binary_search(&word).is_ok()
    }

    fn add(hash: u64, byte: u8) -> u64 {
        // This takes two processor steps, where a multiplication takes four: each prompt hashes the topics of
        // all sessions.
        hash.rotate_left(5) ^ u64::from(byte)
    }

    /// Returns the position of a hash's bit.
    fn place(hash: u64) -> (usize, u64) {
        let mixed = hash.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        ((mixed >> 58) as usize, 1 << (mixed >> 52 & 63))
    }
}

impl Trail {
    /// Formats the trail as lines of a log.
    pub(crate) fn render(&self) -> String {
        let project = self.project.as_ref().map_or("", |project| project.as_str());
        let worktree = self.worktree.to_string_lossy();
        let mut text =
            format!("of\t{}\t{}\t{}\n", escaped(project), escaped(self.session.as_str()), escaped(&worktree));
        for step in &self.steps {
            write_step(&mut text, step);
            for (visits, written) in [(&step.read, false), (&step.written, true)] {
                for visit in &visits[visits.len().saturating_sub(MOST_FILES)..] {
                    write_visit(&mut text, &visit.path, visit.at, written);
                }
            }
        }
        text
    }
}

fn write_step(text: &mut String, step: &TrailStep) {
    let prompt = step.prompt.as_deref().map(escaped).unwrap_or_default();
    let _ = writeln!(text, "prompt\t{}\t{:x}\t{}\t{prompt}", step.at.0, step.hash, step.topics.join(" "));
}

fn write_visit(text: &mut String, path: &str, at: Timestamp, written: bool) {
    let _ = writeln!(text, "{}\t{}\t{}", if written { "wrote" } else { "read" }, at.0, escaped(path));
}

impl Log {
    /// Returns the lines of the log that do not belong to the trail.
    fn without_trail(&self) -> String {
        let is_trail = |line: &str| {
            matches!(line.split('\t').next(), Some("of" | "prompt" | "read" | "wrote"))
                || !line.ends_with('\n')
        };
        self.0.split_inclusive('\n').filter(|line| !is_trail(line)).collect()
    }

    pub(crate) fn trail(&self) -> Option<Trail> {
        let mut trail: Option<Trail> = None;
        for line in self.0.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')) {
            let Some((tag, rest)) = line.split_once('\t') else { continue };
            match (tag, &mut trail) {
                ("of", _) => trail = read_of(rest).or(trail),
                ("prompt", Some(trail)) => {
                    trail.steps.extend(read_step(rest));
                    let extra = trail.steps.len().saturating_sub(KEPT_PROMPTS);
                    trail.steps.drain(..extra);
                }
                ("read" | "wrote", Some(trail)) => {
                    let worktree = trail.worktree.to_str().unwrap_or_default().trim_end_matches('/');
                    let visit = read_visit(rest, worktree);
                    let (Some(step), Some(visit)) = (trail.steps.last_mut(), visit) else { continue };
                    let visits = if tag == "wrote" { &mut step.written } else { &mut step.read };
                    visits.retain(|known| known.path != visit.path);
                    visits.push(visit);
                }
                _ => {}
            }
        }
        trail
    }
}

/// Parses the line that begins a trail; the steps follow in other lines.
fn read_of(cells: &str) -> Option<Trail> {
    let mut cells = cells.splitn(3, '\t').map(unescaped);
    let (project, session, worktree) = (cells.next()?, cells.next()?, cells.next()?);
    Some(Trail {
        session: session.into_owned().into(),
        project: (!project.is_empty()).then(|| project.into_owned().into()),
        worktree: PathBuf::from(&*worktree),
        steps: Vec::new(),
    })
}

fn read_step(cells: &str) -> Option<TrailStep> {
    let mut cells = cells.splitn(4, '\t');
    let (at, hash, topics) = (cells.next()?, cells.next()?, cells.next()?);
    let prompt = cells.next().filter(is_cell)?;
    Some(TrailStep {
        at: Timestamp(at.parse().ok()?),
        hash: u64::from_str_radix(hash, 16).unwrap_or_default(),
        topics: topics.split(' ').filter(|topic| !topic.is_empty()).map(str::to_owned).collect(),
        prompt: (!prompt.is_empty()).then(|| unescaped(prompt).into_owned()),
        ..TrailStep::default()
    })
}

/// Tells whether a text is a single cell: a half-written line is merged with the next line, and has more
/// tabs.
fn is_cell(text: &&str) -> bool {
    !text.contains('\t')
}

/// Parses a visit; the path is made relative to the worktree if the file is inside.
fn read_visit(cells: &str, worktree: &str) -> Option<FileVisit> {
    let (at, path) = cells.split_once('\t').filter(|(_, path)| is_cell(path))?;
    let path = unescaped(path);
    let inside = path.strip_prefix(worktree).and_then(|path| path.strip_prefix('/'));
    Some(FileVisit { path: inside.unwrap_or(&path).to_owned(), at: Timestamp(at.parse().ok()?) })
}
