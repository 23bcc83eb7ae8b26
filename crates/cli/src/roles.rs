//! Reads the files of roles: the shipped ones, the user's, the project's.

use std::path::Path;
use std::path::PathBuf;

use consort_agents::run_files::Problem;
use consort_agents::run_files::SHIPPED_ROLES;
use consort_agents::run_files::read_roles;
use consort_core::config::Config;
use consort_core::dispatch::ResolvedRole;
use consort_core::dispatch::RoleLayer;
use consort_core::dispatch::RoleSource;
use consort_core::dispatch::Safety;
use consort_core::dispatch::resolve_roles;
use consort_core::text;
use consort_host::Paths;
use consort_host::env;

use crate::connect::TheirFile;
use crate::error::CommandError;

/// A file of roles with mistakes in it.
pub(crate) struct BadFile {
    pub(crate) path: PathBuf,
    pub(crate) problems: Vec<Problem>,
}

impl BadFile {
    /// Makes an error of the mistakes: one in a line, several on a line each.
    pub(crate) fn error(&self) -> CommandError {
        let path = self.path.display();
        match self.problems.as_slice() {
            [only] => {
                let place = format!("{path}, line {}, column {}", only.line, only.column);
                let hint = only.hint.clone().unwrap_or_else(|| "fix the file, then try again".into());
                CommandError::user(format!("{place}: {}", only.message), hint)
            }
            all => {
                let lines: String = all.iter().map(|problem| format!("\n  {problem}")).collect();
                let count = text::counted_noun(all.len(), "mistake");
                CommandError::user(format!("{path} has {count}:{lines}"), "fix the file, then try again")
            }
        }
    }
}

/// Loads all roles, resolved for this worktree. A file with a mistake is an error: a run must not start with
/// less than somebody has written down.
pub(crate) fn load(
    paths: &Paths,
    worktree: &Path,
    default: Safety,
) -> Result<Vec<ResolvedRole>, CommandError> {
    let (layers, bad) = layers(paths, worktree)?;
    match bad.first() {
        Some(bad) => Err(bad.error()),
        None => Ok(resolved(layers, default)),
    }
}

/// Resolves these layers into roles.
pub(crate) fn resolved(layers: Vec<RoleLayer>, default: Safety) -> Vec<ResolvedRole> {
    resolve_roles(layers, default, &env::get)
}

/// Returns the safety level of runs that name none.
pub(crate) fn default_safety(config: &Config) -> Safety {
    Safety::named(config.get("dispatch.safety")).unwrap_or_default()
}

/// Reads the layer of each roles file that exists, and collects the files that have mistakes.
pub(crate) fn layers(paths: &Paths, worktree: &Path) -> Result<(Vec<RoleLayer>, Vec<BadFile>), CommandError> {
    let (mut layers, mut bad) = (Vec::new(), Vec::new());
    let mut add = |source: RoleSource, path: PathBuf, text: &str| match read_roles(text, source) {
        Ok(layer) => layers.push(layer),
        Err(problems) => bad.push(BadFile { path, problems }),
    };
    add(RoleSource::Shipped, "roles.toml".into(), SHIPPED_ROLES);
    let (user, project) = (paths.user_roles(), project_file(worktree));
    let mut files = vec![(RoleSource::User(user.clone()), TheirFile::OfUser(user.clone()))];
    // In the home directory both may be one file; then it counts as the user's.
    if project != user {
        files.push((RoleSource::Project(project.clone()), TheirFile::in_repository(worktree, &project)));
    }
    for (source, file) in files {
        if let Some(text) = file.read()? {
            add(source, file.path(), &text);
        }
    }
    Ok((layers, bad))
}

/// Returns the path of a project's roles file.
pub(crate) fn project_file(worktree: &Path) -> PathBuf {
    worktree.join(".consort/roles.toml")
}

/// Returns a warning for each part of a role that does not count as its file says it.
pub(crate) fn notes(roles: &[ResolvedRole]) -> impl Iterator<Item = String> {
    roles.iter().flat_map(|role| {
        role.notes.iter().map(|note| format!("Warning: role {}: {note}", text::foreign(&role.role.name, 60)))
    })
}
