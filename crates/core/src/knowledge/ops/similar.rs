//! Knowledge verb that finds the projects which are like this one.

use crate::App;
use crate::engine::StoreError;
use crate::knowledge::Kind;
use crate::knowledge::KnowledgeIndex;
use crate::knowledge::Scope;
use crate::knowledge::SimilarProject;
use crate::knowledge::similar;
use crate::project::ProjectId;

impl App {
    /// Other projects of this machine that know things of the same words, most alike first.
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
        Ok(ranked.into_iter().map(one).collect())
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
