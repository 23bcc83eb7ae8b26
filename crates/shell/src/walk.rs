//! What is known on the way through a command: where it stands, what it wrote,
//! and whether all of that is sure.

use crate::Extent;
use crate::Reading;
use crate::Write;
use crate::guard;
use crate::heredocs::Trimmed;
use crate::place::Place;
use crate::words::Word;

/// `bash -c "bash -c …"` and substitutions in substitutions are followed so far.
const DEEPEST: usize = 8;
/// More writes than this are not told one by one.
const MOST_WRITES: usize = 1000;

pub(crate) struct Walk<'a> {
    pub(crate) home: Option<&'a str>,
    /// Where the commands that follow would run.
    pub(crate) place: Place,
    writes: Vec<Write>,
    is_certain: bool,
    functions: Vec<Function>,
    depth: usize,
    /// How many here-documents this script had so far.
    pub(crate) heredocs: usize,
}

struct Function {
    name: String,
    defined_at: Place,
    moves: bool,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(home: Option<&'a str>) -> Self {
        Self {
            home,
            place: Place::start(),
            writes: Vec::new(),
            is_certain: true,
            functions: Vec::new(),
            depth: 0,
            heredocs: 0,
        }
    }

    pub(crate) fn into_reading(self) -> Reading {
        Reading { writes: self.writes, is_certain: self.is_certain }
    }

    /// Something may write what the text does not tell.
    pub(crate) fn doubt(&mut self) {
        self.is_certain = false;
    }

    /// `by` writes `word`, if it is known which file that is.
    pub(crate) fn write(&mut self, word: &Word, extent: Extent, by: &str) {
        let (path, extent) = match word {
            Word::Text(text) if text.is_empty() => return,
            Word::Text(text) => (self.place.path(text), extent),
            Word::Glob(pattern) => (self.place.glob(pattern), Extent::Glob),
            Word::Unknown => (None, extent),
        };
        match path {
            Some(path) if is_device(&path) => {}
            Some(path) if self.writes.len() < MOST_WRITES => {
                let write = Write { path, extent, by: by.into() };
                if !self.writes.contains(&write) {
                    self.writes.push(write);
                }
            }
            Some(_) | None => self.doubt(),
        }
    }

    /// `by` writes at the place where it runs.
    pub(crate) fn write_here(&mut self, extent: Extent, by: &str) {
        self.write(&Word::Text(".".into()), extent, by);
    }

    /// What `~` stands for.
    pub(crate) fn home(&self) -> Place {
        self.home.map_or(Place::unknown(), |home| Place::start().enter(home))
    }

    /// Does `work`, and comes back to where it was.
    pub(crate) fn aside(&mut self, work: impl FnOnce(&mut Self)) {
        let place = self.place.clone();
        work(self);
        self.place = place;
    }

    /// Does `work` in `directory`.
    pub(crate) fn within(&mut self, directory: &Word, work: impl FnOnce(&mut Self)) {
        self.aside(|walk| {
            walk.place = directory.text().map_or(Place::unknown(), |directory| walk.place.enter(directory));
            work(walk);
        });
    }

    /// Whether `name` is a function of this text. Its body was read where it
    /// is defined.
    pub(crate) fn calls(&mut self, name: &str) -> bool {
        let Some(function) = self.functions.iter().rev().find(|function| function.name == name) else {
            return false;
        };
        let (is_elsewhere, moves) = (function.defined_at != self.place, function.moves);
        if is_elsewhere {
            self.doubt();
        }
        if moves {
            self.place = Place::unknown();
        }
        true
    }

    /// Reads a script: the whole command, or what `bash -c` is given.
    pub(crate) fn script(&mut self, text: &str) {
        self.deeper(|walk| {
            let Some(tamed) = guard::tame(text) else { return walk.doubt() };
            if guard::with_room(&tamed.text, || walk.read(&tamed)).is_none() {
                walk.doubt();
            }
        });
    }

    /// Does `work` one level down, if that is not too deep.
    pub(crate) fn deeper(&mut self, work: impl FnOnce(&mut Self)) {
        if self.depth >= DEEPEST {
            return self.doubt();
        }
        self.depth += 1;
        work(self);
        self.depth -= 1;
    }

    /// Takes note of a function: `work` walks its body.
    pub(crate) fn define(&mut self, name: &str, work: impl FnOnce(&mut Self)) {
        let defined_at = self.place.clone();
        let at = self.functions.len();
        self.functions.push(Function { name: name.into(), defined_at: defined_at.clone(), moves: false });
        work(self);
        self.functions[at].moves = self.place != defined_at;
        self.place = defined_at;
    }

    fn read(&mut self, tamed: &Trimmed) {
        let Ok(nodes) = rable::parse(&tamed.text, false) else { return self.doubt() };
        let known = self.writes.len();
        let outer = std::mem::take(&mut self.heredocs);
        for node in &nodes {
            self.walk(node);
        }
        let found = std::mem::replace(&mut self.heredocs, outer);
        if tamed.emptied.is_some_and(|emptied| emptied != found) {
            self.writes.truncate(known);
            self.doubt();
        }
        if tamed.had_commands {
            self.doubt();
        }
    }
}

fn is_device(path: &str) -> bool {
    matches!(
        path,
        "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/stdin" | "/dev/tty" | "/dev/zero" | "/dev/full"
    ) || ["/dev/fd/", "/dev/tcp/", "/dev/udp/", "/dev/pts/"].iter().any(|start| path.starts_with(start))
}
