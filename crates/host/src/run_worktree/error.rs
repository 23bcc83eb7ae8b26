//! The reasons why a worktree of a run cannot be made, merged or removed.

use std::path::PathBuf;

use consort_core::explain::ErrorKind;
use consort_core::explain::Explain;
use thiserror::Error;

#[derive(Debug, Error)]
pub enum WorktreeError {
    #[error("{} is no worktree of a git repository", path.display())]
    NoRepository { path: PathBuf },
    #[error("the repository has no commit yet")]
    NoCommit,
    #[error("git {found} cannot merge without a worktree")]
    OldGit { found: String },
    #[error("`{branch}` is no name for a branch")]
    NoBranchName { branch: String },
    #[error("{} exists already", path.display())]
    Exists { path: PathBuf },
    #[error("{} has conflicts that are not resolved: {}", path.display(), paths.join(", "))]
    Unresolved { path: PathBuf, paths: Vec<String> },
    #[error("a {what} is under way in {}", path.display())]
    UnderWay { path: PathBuf, what: &'static str },
    #[error("{name} cannot be copied into the worktree: {why}")]
    Copy { name: String, why: String },
    #[error("{} belongs to another repository", path.display())]
    OtherRepository { path: PathBuf },
    #[error("{} is not the worktree that was made for this run", path.display())]
    NotTheTree { path: PathBuf },
    #[error("another merge into this repository is under way")]
    Locked,
    #[error("{} changes all the time", path.display())]
    KeepsChanging { path: PathBuf },
    #[error("a merge of this worktree was interrupted, and is not finished")]
    HalfMerged,
    #[error("not everything in {} is merged: {}", path.display(), what.join(", "))]
    Unmerged { path: PathBuf, what: Vec<String> },
    #[error("git {doing} failed: {said}")]
    Git { doing: String, said: String },
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: std::io::Error },
}

impl WorktreeError {
    pub(super) fn file(path: &std::path::Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { path, source }
    }
}

impl Explain for WorktreeError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Locked | Self::KeepsChanging { .. } => ErrorKind::Busy,
            Self::Unmerged { .. } | Self::HalfMerged => ErrorKind::Conflict,
            Self::Git { .. } | Self::File { .. } => ErrorKind::Internal,
            _ => ErrorKind::User,
        }
    }

    fn hints(&self) -> Vec<String> {
        vec![match self {
            Self::NoRepository { .. } => "start the run without a worktree, or `git init` here".into(),
            Self::NoCommit => "make one, for instance `git commit --allow-empty -m start`".into(),
            Self::OldGit { .. } => "git 2.38 or newer is needed".into(),
            Self::NoBranchName { .. } => "`git check-ref-format --help` says what one looks like".into(),
            Self::Exists { .. } => "nothing there was touched; move it away if it is not needed".into(),
            Self::Unresolved { .. } => "resolve them and `git add` the files, then try again".into(),
            Self::UnderWay { .. } => "finish or abort it (`git status` says how), then try again".into(),
            Self::Copy { .. } => {
                "name files and directories of the repository, by their path from its top".into()
            }
            Self::OtherRepository { .. } => "merge into a worktree of the repository it was made of".into(),
            Self::NotTheTree { .. } => "`git worktree list` says which there are".into(),
            Self::Locked | Self::KeepsChanging { .. } => "try again in a moment".into(),
            Self::HalfMerged => "merge it again: that goes on where it was interrupted".into(),
            Self::Unmerged { path, .. } => {
                format!("merge it, or look into {} and its branch", path.display())
            }
            Self::Git { .. } | Self::File { .. } => return Vec::new(),
        }]
    }
}
