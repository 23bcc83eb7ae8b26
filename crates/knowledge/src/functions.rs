//! Implements the functions of the query language: searches and lists over the knowledge index.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::collections::BTreeSet;

use consort_core::engine::StoreError;
use consort_core::knowledge::EditChange;
use consort_core::knowledge::FieldType;
use consort_core::knowledge::Kind;
use consort_core::knowledge::KnowledgeIndex;
use consort_core::knowledge::Known;
use consort_core::knowledge::Row;
use consort_core::knowledge::Scope;
use consort_core::knowledge::StampedEdit;
use consort_scheme::Error;
use consort_scheme::HostFunctions;
use consort_scheme::Meter;
use consort_scheme::Signature;
use consort_scheme::Value;
use consort_scheme::apply;

use crate::notes;
use crate::past::Past;
use crate::record::EncodedRecords;
use crate::record::EncodedRecordsBuilder;
use crate::record::value;
use crate::signatures::FUNCTIONS;

/// Number of results of a search or of `recent`, unless the query gives another.
const USUAL: usize = 10;

/// Most names that are compared with a name that was not found.
const MOST_COMPARED: usize = 5_000;

/// Most values of a field that a note lists, if none is similar to the value that was asked for.
const FEW: usize = 12;

pub(crate) struct KnowledgeFunctions<'a> {
    pub(crate) index: &'a dyn KnowledgeIndex,
    pub(crate) scope: &'a Scope,
    pub(crate) past: &'a mut dyn Past,
    /// The lists of all records of a kind that this query has read so far.
    pub(crate) read: RefCell<BTreeMap<Kind, Value>>,
    /// The error with which the index could not be read.
    pub(crate) failure: RefCell<Option<StoreError>>,
    /// Notes on functions that found nothing: the names they may have meant.
    pub(crate) notes: RefCell<Vec<String>>,
}

impl KnowledgeFunctions<'_> {
    /// Turns an error of the store into an error of the query, and remembers it in `failure`.
    fn told<T>(&self, asked: Result<T, StoreError>) -> Result<T, Error> {
        asked.map_err(|error| {
            let told = Error::new(format!("what is known cannot be read: {error}"));
            *self.failure.borrow_mut() = Some(error);
            told
        })
    }

    fn shown(&self, known: &Known) -> Value {
        Value::record(EncodedRecords::of(known, self.past.now()))
    }

    fn list(&self, all: &[Known]) -> Value {
        Value::list(all.iter().map(|known| self.shown(known)).collect())
    }
}

type Called = Result<Value, Error>;

impl HostFunctions for KnowledgeFunctions<'_> {
    fn functions(&self) -> &'static [Signature] {
        FUNCTIONS
    }

    fn call(&mut self, name: &str, arguments: &[Value], meter: &mut Meter) -> Called {
        let text = |place: usize| {
            let key = arguments.get(place).and_then(Value::as_key).map(ToString::to_string);
            key.ok_or_else(|| Error::new(format!("`{name}` wants a name in its place {}", place + 1)))
        };
        let number = |place: usize| match arguments.get(place) {
            Some(Value::Int(number)) => usize::try_from(*number).unwrap_or(0),
            _ => USUAL,
        };
        match name {
            "get-principles" => self.all(Kind::Principle, meter),
            "get-patterns" => self.all(Kind::Pattern, meter),
            "get-decisions" => self.all(Kind::Decision, meter),
            "get-files" => self.all(Kind::File, meter),
            "get-notes" => self.all(Kind::Note, meter),
            "get-relationships" => self.all(Kind::Relationship, meter),
            "get-principle" => self.one(Kind::Principle, &text(0)?),
            "get-pattern" => self.one(Kind::Pattern, &text(0)?),
            "get-decision" => self.one(Kind::Decision, &text(0)?),
            "get-note" => self.one(Kind::Note, &text(0)?),
            "get-file-understanding" => self.one(Kind::File, &text(0)?),
            "get-entity" => {
                Ok(self.entities(&text(0)?)?.first().map_or(Value::Nil, |known| self.shown(known)))
            }
            "get-principles-by-tag" => self.those(Kind::Principle, "tags", &text(0)?, meter),
            "get-notes-by-tag" => self.those(Kind::Note, "tags", &text(0)?, meter),
            "get-patterns-by-tag" => self.those(Kind::Pattern, "tags", &text(0)?, meter),
            "get-patterns-by-type" => self.those(Kind::Pattern, "type", &text(0)?, meter),
            "get-decisions-by-status" => self.by_status(&text(0)?, meter),
            "get-relationships-by-type" => self.those(Kind::Relationship, "type", &text(0)?, meter),
            "get-relationships-from" => self.links(&text(0)?, |link, name| link.text("from") == name),
            "get-relationships-to" => self.links(&text(0)?, |link, name| link.text("to") == name),
            "get-neighbours" => self.neighbours(&text(0)?),
            "get-related-files" => self.related_files(&text(0)?, meter),
            "about-file" => Ok(self.list(&self.told(self.index.about_file(self.scope, &text(0)?))?)),
            "search-knowledge" => {
                let found = self.told(self.index.search(Some(self.scope), &text(0)?, number(1).min(200)))?;
                Ok(Value::list(found.iter().map(|(_, known)| self.shown(known)).collect()))
            }
            "get-stale" => self.stale(meter),
            "get-current" => {
                let Some(Value::List(all)) = arguments.first() else { return Ok(Value::list(Vec::new())) };
                let is_current = |one: &Value| !one.field("stale").is_true();
                Ok(Value::list(all.iter().filter(|one| is_current(one)).cloned().collect()))
            }
            "recent" => self.recent(number(0).min(200), meter),
            "overview" => self.overview(),
            "names" => {
                let kind = text(0)?;
                let singular = kind.strip_suffix('s').unwrap_or(&kind);
                let kind = Kind::named(singular).ok_or_else(|| {
                    Error::new(format!("there is no kind `{kind}`"))
                        .hint(Kind::ALL.map(Kind::as_str).join(", "))
                })?;
                let names = self.told(self.index.names(self.scope, kind))?;
                meter.charge_cells(names.len())?;
                Ok(Value::list(names.into_iter().map(Value::string).collect()))
            }
            "history" => self.history(&text(0)?, meter),
            "as-of" => self.as_of(&text(0)?, arguments, meter),
            _ => Err(Error::new(format!("there is no `{name}`"))),
        }
    }
}

impl KnowledgeFunctions<'_> {
    /// Returns all records of a kind. They are copied once per query, and decoded field by field
    /// when they are looked at.
    fn all(&self, kind: Kind, meter: &mut Meter) -> Called {
        if let Some(known) = self.read.borrow().get(&kind) {
            return Ok(known.clone());
        }
        let (mut gathered, mut charged) = (EncodedRecordsBuilder::new(kind, self.past.now()), Ok(()));
        self.told(self.index.each(self.scope, kind, &mut |row: Row<'_>| {
            if charged.is_ok() {
                charged = meter.charge_cells(1);
                gathered.push(row.bytes());
            }
        }))?;
        charged?;
        let all = Value::list(gathered.into_values());
        self.read.borrow_mut().insert(kind, all.clone());
        Ok(all)
    }

    fn one(&self, kind: Kind, name: &str) -> Called {
        let known = self.told(self.index.known(self.scope, kind, name))?;
        if known.is_none() {
            let names = self.told(self.index.names(self.scope, kind))?;
            // Perhaps the name is the end of a file's path, or of another kind.
            let end = format!("/{name}");
            let file = names.iter().find(|path| kind == Kind::File && path.ends_with(&end));
            match (file, self.entities(name)?.first()) {
                (Some(path), _) => {
                    self.notes.borrow_mut().push(format!("no file is {name:?}; did you mean {path:?}?"));
                }
                (None, Some(other)) => {
                    self.notes.borrow_mut().push(format!("{name:?} is a {}", other.kind.as_str()));
                }
                (None, None) => self.note(kind, "name", name, names.iter().map(String::as_str)),
            }
        }
        Ok(known.as_ref().map_or(Value::Nil, |known| self.shown(known)))
    }

    /// Notes that no record has the value `wanted` in a field. Names the most similar value, or all
    /// values if none is similar and there are few.
    fn note<'n>(&self, kind: Kind, field: &str, wanted: &str, all: impl Iterator<Item = &'n str>) {
        let all: Vec<&str> = all.take(MOST_COMPARED).collect();
        let is_short = field != "name" && (1..=FEW).contains(&all.len());
        let few = || is_short.then(|| format!("there are {}", all.join(", ")));
        let near = notes::did_you_mean(wanted, all.iter().copied());
        if let Some(instead) = near.or_else(few) {
            let note = format!("no {} has the {field} {wanted:?}; {instead}", kind.as_str());
            self.notes.borrow_mut().push(note);
        }
    }

    /// Notes the most similar name, if nothing has this one.
    fn note_unknown(&self, name: &str) -> Result<(), Error> {
        if !self.entities(name)?.is_empty() {
            return Ok(());
        }
        let mut names = Vec::new();
        for kind in Kind::NAMED {
            names.extend(self.told(self.index.names(self.scope, kind))?);
        }
        let near = notes::did_you_mean(name, names.iter().take(MOST_COMPARED).map(String::as_str));
        let note = near.map(|near| format!("nothing is called {name:?}; {near}"));
        self.notes.borrow_mut().extend(note);
        Ok(())
    }

    fn entities(&self, name: &str) -> Result<Vec<Known>, Error> {
        let mut found = Vec::new();
        for kind in Kind::NAMED {
            found.extend(self.told(self.index.known(self.scope, kind, name))?);
        }
        Ok(found)
    }

    /// Returns the records whose field is `wanted`, or a list that contains it.
    fn those(&self, kind: Kind, field: &str, wanted: &str, meter: &mut Meter) -> Called {
        let Value::List(all) = self.all(kind, meter)? else { return Ok(Value::Nil) };
        let has = |one: &&Value| match one.field(field) {
            Value::List(members) => members.iter().any(|member| member.as_str() == Some(wanted)),
            one => one.as_str() == Some(wanted),
        };
        let found: Vec<Value> = all.iter().filter(has).cloned().collect();
        if found.is_empty() {
            let values: BTreeSet<String> = all.iter().flat_map(|one| texts(&one.field(field))).collect();
            let field = field.strip_suffix('s').filter(|_| field == "tags").unwrap_or(field);
            self.note(kind, field, wanted, values.iter().map(String::as_str));
        }
        Ok(Value::list(found))
    }

    /// Returns the decisions of a status. The statuses are fixed, so any other is an error.
    fn by_status(&self, wanted: &str, meter: &mut Meter) -> Called {
        let field = Kind::Decision.field("status");
        if let Some(FieldType::Choice(choices)) = field.map(|field| field.kind)
            && !choices.contains(&wanted)
        {
            let near = notes::did_you_mean(wanted, choices.iter().copied());
            let hint = near.unwrap_or_else(|| format!("there are {}", choices.join(", ")));
            return Err(Error::new(format!("there is no status {wanted:?}")).hint(hint));
        }
        self.those(Kind::Decision, "status", wanted, meter)
    }

    fn links(&self, name: &str, is_meant: impl Fn(&Known, &str) -> bool) -> Called {
        let links = self.told(self.index.links(self.scope, name))?;
        if links.is_empty() {
            self.note_unknown(name)?;
        }
        Ok(Value::list(
            links.iter().filter(|link| is_meant(link, name)).map(|link| self.shown(link)).collect(),
        ))
    }

    fn neighbours(&self, name: &str) -> Called {
        let mut names = BTreeSet::new();
        for link in self.told(self.index.links(self.scope, name))? {
            names.extend(["from", "to"].map(|end| link.text(end).to_owned()));
        }
        if names.is_empty() {
            self.note_unknown(name)?;
        }
        names.remove(name);
        let mut found = Vec::new();
        for name in names {
            found.extend(self.entities(&name)?);
        }
        Ok(self.list(&found))
    }

    /// Returns the files that a file names as related, that name it, or that a relationship ties to it.
    fn related_files(&self, path: &str, meter: &mut Meter) -> Called {
        let file = self.told(self.index.known(self.scope, Kind::File, path))?;
        let named: Vec<&str> = file.iter().flat_map(|file| file.texts("related")).collect();
        let mut tied = BTreeSet::new();
        let links = self.told(self.index.links(self.scope, path))?;
        for link in &links {
            tied.extend(["from", "to"].map(|end| link.text(end)));
        }
        if file.is_none() && links.is_empty() {
            self.note_unknown(path)?;
        }
        let mut found = Vec::new();
        let Value::List(all) = self.all(Kind::File, meter)? else { return Ok(Value::Nil) };
        for other in all.iter() {
            let own = other.field("path");
            let own = own.as_str().unwrap_or_default();
            let names_it = || texts(&other.field("related")).iter().any(|related| related == path);
            if own != path && (named.contains(&own) || tied.contains(own) || names_it()) {
                found.push(other.clone());
            }
        }
        // Files that are named as related, but of which nothing is known.
        for name in named {
            if self.told(self.index.known(self.scope, Kind::File, name))?.is_none() {
                found.push(Value::string(name));
            }
        }
        Ok(Value::list(found))
    }

    fn stale(&self, meter: &mut Meter) -> Called {
        let mut found = Vec::new();
        for kind in Kind::ALL {
            let Value::List(all) = self.all(kind, meter)? else { continue };
            found.extend(all.iter().filter(|one| one.field("stale").is_true()).cloned());
        }
        Ok(Value::list(found))
    }

    fn recent(&self, limit: usize, meter: &mut Meter) -> Called {
        let mut times = Vec::new();
        self.each(meter, |row| times.push(row.at()))?;
        times.sort_unstable_by_key(|at| Reverse(*at));
        let Some(oldest) = times.get(limit.saturating_sub(1)).or(times.last()).copied() else {
            return Ok(Value::list(Vec::new()));
        };
        let mut names = Vec::new();
        self.each(meter, |row| {
            if row.at() >= oldest {
                names.push((row.kind, row.decode().name));
            }
        })?;
        let mut found = Vec::new();
        for (kind, name) in names {
            found.extend(self.told(self.index.known(self.scope, kind, &name))?);
        }
        // All edits of a batch have the same time, but ascending ids.
        found.sort_by(|one, other| (other.at, other.ids.iter().max()).cmp(&(one.at, one.ids.iter().max())));
        found.truncate(limit);
        Ok(self.list(&found))
    }

    /// Visits all records of all kinds.
    fn each(&self, meter: &mut Meter, mut visit: impl FnMut(Row<'_>)) -> Result<(), Error> {
        let mut charged = Ok(());
        for kind in Kind::ALL {
            self.told(self.index.each(self.scope, kind, &mut |row: Row<'_>| {
                if charged.is_ok() {
                    charged = meter.charge_cells(1);
                    visit(row);
                }
            }))?;
        }
        charged
    }

    fn overview(&self) -> Called {
        let mut counts = Vec::new();
        for kind in Kind::ALL {
            let count = self.told(self.index.names(self.scope, kind))?.len();
            let count = i64::try_from(count).unwrap_or(i64::MAX);
            counts.push((format!("{}s", kind.as_str()).into(), Value::Int(count)));
        }
        Ok(Value::dict(counts))
    }

    /// Lists the edits of the records with a name, and of the relationships of that name.
    fn history(&mut self, name: &str, meter: &mut Meter) -> Called {
        let mut ids: Vec<String> = self.entities(name)?.into_iter().flat_map(|known| known.ids).collect();
        let mut links: BTreeMap<String, String> = BTreeMap::new();
        for link in self.told(self.index.links(self.scope, name))? {
            let tie = ["from", "type", "to"].map(|field| link.text(field)).join(" ");
            links.extend(link.ids.into_iter().map(|id| (id, tie.clone())));
        }
        ids.extend(links.keys().cloned());
        let said = self.past.history(&ids);
        let said = self.told(said)?;
        meter.charge_cells(said.len() * 4)?;
        Ok(Value::list(said.iter().filter_map(|stamped| row(stamped, &links)).collect()))
    }

    fn as_of(&mut self, when: &str, arguments: &[Value], meter: &mut Meter) -> Called {
        let Some(at) = self.past.moment(when) else {
            return Err(Error::new(format!("`{when}` is no moment")).hint("a date (2026-11-01) or a commit"));
        };
        let thunk = arguments.get(1).unwrap_or(&Value::Nil);
        if !matches!(thunk, Value::Function(_)) {
            return Err(Error::new("`as-of` wants a function that asks: what stands there was asked now")
                .hint("(as-of \"2026-11-01\" (lambda () (get-principles)))"));
        }
        let then = self.past.as_of(at);
        let then = self.told(then)?;
        let mut world = KnowledgeFunctions {
            index: then.as_ref(),
            scope: self.scope,
            past: &mut *self.past,
            read: RefCell::default(),
            failure: RefCell::default(),
            notes: RefCell::default(),
        };
        let answer = apply(thunk, &[], &mut world, meter);
        self.notes.borrow_mut().append(&mut world.notes.into_inner());
        answer
    }
}

/// Returns the texts of a field that holds one text or a list of them.
fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.to_string()],
        Value::List(all) => all.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

/// Number of characters of a commit's hash that are shown.
const SHORT_HASH: usize = 12;

/// Makes one line of a history. A relationship gets one line, although several edits record it.
fn row(stamped: &StampedEdit, links: &BTreeMap<String, String>) -> Option<Value> {
    let link = links.get(&stamped.edit.entity);
    let (field, said) = match (&stamped.edit.change, link) {
        (EditChange::Set { field, .. }, Some(tie)) if field == "type" => {
            ("link".to_owned(), Value::string(tie.as_str()))
        }
        (EditChange::Set { field, value: said }, Some(_)) if field == "description" => {
            ("link description".to_owned(), value(said))
        }
        (EditChange::Set { .. }, Some(_)) => return None,
        (EditChange::Set { field, .. }, _) if field == "kind" => return None,
        (EditChange::Set { field, value: said }, _) => (field.clone(), value(said)),
        (EditChange::Add { set, member, .. }, _) => (format!("+{set}"), Value::string(member.as_str())),
        (EditChange::Remove { set, member }, _) => (format!("-{set}"), Value::string(member.as_str())),
    };
    let commit = stamped.by.commit.as_deref();
    let commit =
        commit.map_or(Value::Nil, |commit| Value::string(commit.get(..SHORT_HASH).unwrap_or(commit)));
    Some(Value::dict(vec![
        ("at".into(), Value::string(stamped.at.utc())),
        ("by".into(), Value::string(stamped.by.shown())),
        ("field".into(), Value::string(field)),
        ("value".into(), said),
        ("commit".into(), commit),
    ]))
}
