//! Knowledge verbs that find projects like this one, and what is known there.

use serde_json::Value;

use crate::App;
use crate::engine::StoreError;
use crate::knowledge::Kind;
use crate::knowledge::KnowledgeError;
use crate::knowledge::KnowledgeIndex;
use crate::knowledge::Known;
use crate::knowledge::Scope;
use crate::knowledge::SimilarProject;
use crate::knowledge::adopted;
use crate::knowledge::similar;
use crate::project::ProjectId;

/// The most results that are returned.
const FEW: usize = 20;

impl App {
    /// Returns other projects of this machine whose knowledge uses the same words, most alike
    /// first.
    pub fn similar_projects(&mut self, here: &ProjectId) -> Result<Vec<SimilarProject>, StoreError> {
        let index = self.knowledge()?;
        let mut others = Vec::new();
        for project in self.engine.read()?.projects()? {
            if project.id != *here {
                let words = vocabulary(&*index, &Scope::Project(project.id.clone()))?;
                others.push((project, words));
            }
        }
        let words = vocabulary(&*index, &Scope::Project(here.clone()))?;
        let ranked = similar::ranked(&words, &others);
        let one = |(project, likeness, shared): (crate::project::Project, f64, Vec<String>)| SimilarProject {
            project: project.id,
            name: project.name,
            likeness,
            shared,
        };
        Ok(ranked.into_iter().map(one).take(FEW).collect())
    }

    /// Returns principles and patterns that have these words, of other projects and the person's
    /// own.
    pub fn similar_things(
        &mut self,
        here: &ProjectId,
        words: &str,
    ) -> Result<Vec<(Scope, Known)>, StoreError> {
        let mut found = self.knowledge()?.search(None, words, FEW * 2)?;
        found.retain(|(scope, known)| {
            scope.project() != Some(here) && matches!(known.kind, Kind::Principle | Kind::Pattern)
        });
        found.truncate(FEW);
        Ok(found)
    }

    /// Returns the action that records here what is known in another scope.
    pub fn adoption(&mut self, name: &str, there: &Scope) -> Result<Value, KnowledgeError> {
        let index = self.knowledge()?;
        for kind in [Kind::Principle, Kind::Pattern, Kind::Decision] {
            if let Some(known) = index.known(there, kind, name)? {
                return Ok(adopted(&known, there));
            }
        }
        Err(KnowledgeError::Unknown { name: name.to_owned(), elsewhere: true })
    }
}

fn vocabulary(
    index: &dyn KnowledgeIndex,
    scope: &Scope,
) -> Result<std::collections::BTreeSet<String>, StoreError> {
    let mut all = Vec::new();
    for kind in [Kind::Principle, Kind::Pattern, Kind::Decision, Kind::File] {
        index.each(scope, kind, &mut |row| all.push(row.decode()))?;
    }
    Ok(similar::vocabulary(&all))
}
