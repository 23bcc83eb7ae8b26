//! Knowledge verbs that request another look at a record, and that pass the request on to the next
//! session which touches its file.

use std::collections::BTreeSet;
use std::path::Path;
use std::path::PathBuf;

use crate::App;
use crate::knowledge::Kind;
use crate::knowledge::KnowledgeError;
use crate::knowledge::KnowledgeIndex;
use crate::knowledge::Known;
use crate::knowledge::RenewRequest;
use crate::knowledge::RenewalRequest;
use crate::knowledge::RenewalRequests;
use crate::knowledge::Scope;
use crate::knowledge::digest;
use crate::knowledge::resolve_path::split_line;
use crate::presence::Caller;
use crate::presence::SessionId;

/// The most requests that are made or kept at once.
const MOST: usize = 100;

impl App {
    /// Asks the next session that touches its file to look again at a record, or at everything that
    /// is stale.
    pub fn ask_renewal(&mut self, request: &RenewRequest) -> Result<RenewalRequests, KnowledgeError> {
        let by = match self.caller(&request.caller)? {
            Caller::Agent(agent) => Some(agent.name.to_string()),
            Caller::Person => None,
            Caller::Anonymous(why) => return Err(why.into()),
        };
        let index = self.knowledge_seen_from(&request.scope, &request.worktree, &request.cwd)?;
        let mut found = Vec::new();
        // Relationships are looked at with the things that they tie together.
        for kind in Kind::NAMED {
            match &request.name {
                Some(name) => found.extend(index.known(&request.scope, kind, name)?),
                None => index.each(&request.scope, kind, &mut |row| {
                    if row.stale_since().is_some() && found.len() < MOST {
                        found.push(row.decode());
                    }
                })?,
            }
        }
        if let (Some(name), true) = (&request.name, found.is_empty()) {
            return Err(KnowledgeError::Unknown { name: name.clone(), elsewhere: false });
        }
        let (mut asked, mut nowhere) = (Vec::new(), Vec::new());
        for known in &found {
            let paths = paths(&*index, request, known)?;
            if paths.is_empty() {
                nowhere.push(known.name.clone());
            }
            asked.extend(paths.into_iter().map(|path| RenewalRequest {
                path,
                about: digest::shown_as(known),
                says: known.text(known.kind.fields()[1].name).to_owned(),
                name: known.name.clone(),
                by: by.clone(),
            }));
        }
        let side_files = self.engine.side_files();
        for repository in self.clones(&request.scope, &request.worktree) {
            let mut all = side_files.renewals(&repository);
            all.retain(|one| !asked.iter().any(|new| new.path == one.path && new.name == one.name));
            all.extend(asked.iter().cloned());
            all.truncate(MOST);
            side_files.set_renewals(&repository, &all);
        }
        Ok(RenewalRequests { asked, nowhere, found: found.len() })
    }

    /// Returns the repositories of a project on this machine: sessions in all of them read the same
    /// notes.
    fn clones(&mut self, scope: &Scope, worktree: &Path) -> BTreeSet<PathBuf> {
        let project = scope.project();
        let known = project.and_then(|project| self.engine.read().ok()?.repositories(project).ok());
        let here = self.host.locate(&worktree.join("x")).repository;
        here.into_iter().chain(known.unwrap_or_default()).collect()
    }

    /// Takes the requests about files that a session has just touched, so that no other session
    /// gets them.
    pub fn take_renewals(&mut self, session: &SessionId, paths: &[PathBuf]) -> Vec<String> {
        let side_files = self.engine.side_files();
        let mut told = Vec::new();
        for path in paths {
            let located = self.host.locate(path);
            let Some(repository) = &located.repository else { continue };
            let all = side_files.renewals(repository);
            let (these, rest): (Vec<_>, Vec<_>) = all.into_iter().partition(|one| one.path == located.path);
            if these.is_empty() {
                continue;
            }
            side_files.set_renewals(repository, &rest);
            // The request was made in every clone, and is answered in one.
            let project = self.engine.read().ok().and_then(|tx| tx.agent(session).ok()?);
            if let Some((agent, _)) = project {
                for clone in self.clones(&Scope::Project(agent.project.id), path) {
                    let mut left = side_files.renewals(&clone);
                    left.retain(|one| !these.contains(one));
                    side_files.set_renewals(&clone, &left);
                }
            }
            let texts = these.iter().map(RenewalRequest::asked);
            told.extend(texts.filter(|text| !side_files.note_notified(session, text)));
        }
        told
    }
}

/// Returns the files that a record depends on: the file itself, its locations, and the files that
/// it is tied to; if any of them has changed, only those.
fn paths(
    index: &dyn KnowledgeIndex,
    request: &RenewRequest,
    known: &Known,
) -> Result<Vec<String>, KnowledgeError> {
    if known.kind == Kind::File {
        return Ok(vec![known.name.clone()]);
    }
    let places = known.texts("locations").chain(Some(known.text("location")));
    let mut paths: BTreeSet<String> = places.map(|place| split_line(place).0.to_owned()).collect();
    paths.remove("");
    let mut changed = Vec::new();
    let links = index.links(&request.scope, &known.name)?;
    let ends = links.iter().flat_map(|link| ["from", "to"].map(|end| link.text(end).to_owned()));
    for name in ends.chain(paths.clone()) {
        if let Some(file) = index.known(&request.scope, Kind::File, &name)? {
            changed.extend(file.stale.map(|_| file.name.clone()));
            paths.insert(file.name);
        }
    }
    Ok(if changed.is_empty() { paths.into_iter().collect() } else { changed })
}
