//! Presence verbs that find the project of a directory, or one by name.

use std::path::Path;

use super::Identified;
use super::identify;
use crate::App;
use crate::engine::StoreError;
use crate::host::PlacedDirectory;
use crate::presence::PresenceError;
use crate::project::Project;
use crate::text;

impl App {
    /// Returns the project that a directory belongs to.
    pub fn project(&mut self, dir: &Path) -> Result<(Project, PlacedDirectory), StoreError> {
        let place = self.host.place(dir);
        let tx = self.engine.read()?;
        let Identified { project, .. } = identify(&*self.host, &*tx, &place)?;
        Ok((project, place))
    }

    /// Finds the project with this name or id.
    pub fn find_project(&mut self, named: &str) -> Result<Project, PresenceError> {
        let projects = self.engine.read()?.projects()?;
        let is_it = |project: &&Project| project.id.as_str() == named || project.name == named;
        if let Some(project) = projects.iter().find(is_it) {
            return Ok(project.clone());
        }
        let nearest = text::nearest(named, projects.iter().map(|project| project.name.as_str()));
        Err(PresenceError::NoSuchProject { named: named.to_owned(), nearest: nearest.map(str::to_owned) })
    }
}
