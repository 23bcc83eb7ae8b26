//! The paths on this machine of our data and configuration directories, and of the
//! files in them.

use std::path::Path;
use std::path::PathBuf;

use crate::env;

/// The directories of one user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paths {
    /// The directory of the store and of the files beside it.
    pub data: PathBuf,
    /// The directory of `config.toml`.
    pub config: PathBuf,
    /// The person's home directory.
    pub home: PathBuf,
}

impl Paths {
    /// Reads the directories from the environment; `None` without `CONSORT_HOME` and `HOME`. A relative
    /// `HOME` does not count: it would be another directory wherever one is.
    pub fn from_environment() -> Option<Self> {
        let home = env::get("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
        if let Some(all) = env::get(env::CONSORT_HOME).map(PathBuf::from) {
            let all = std::path::absolute(&all).unwrap_or(all);
            return Some(Self { data: all.clone(), home: home.unwrap_or_else(|| all.clone()), config: all });
        }
        let home = home?;
        let xdg = |variable: &str, fallback: &str| {
            // The specification says to ignore relative paths.
            let base = env::get(variable).map(PathBuf::from).filter(|path| path.is_absolute());
            base.unwrap_or_else(|| home.join(fallback)).join("consort")
        };
        Some(Self {
            data: xdg("XDG_DATA_HOME", ".local/share"),
            config: xdg("XDG_CONFIG_HOME", ".config"),
            home,
        })
    }

    /// Returns the file of the database.
    pub fn store(&self) -> PathBuf {
        self.data.join("consort.db")
    }

    /// Returns the directory in which waiting processes have their pipes.
    pub fn listeners(&self) -> PathBuf {
        listeners(&self.data)
    }

    /// Returns the file with the token that a caller over HTTP has to show.
    pub fn token(&self) -> PathBuf {
        self.data.join("token")
    }

    /// Returns the file with the token of a caller over HTTP that may only read.
    pub fn token_read(&self) -> PathBuf {
        self.data.join("token-read")
    }

    /// Returns the log of failures that hooks could not print.
    pub fn hook_log(&self) -> PathBuf {
        self.data.join("hook.log")
    }

    /// Returns the directory of copies of other tools' files from before we changed them.
    pub fn backups(&self) -> PathBuf {
        self.data.join("backups")
    }

    /// Returns the directory of notes about temporary files that exist right now.
    pub fn temporary_notes(&self) -> PathBuf {
        self.data.join("pending")
    }

    /// Returns the directory of the tokens that `consort token` has made.
    pub fn tokens(&self) -> PathBuf {
        self.config.join("tokens")
    }

    /// Returns the user's own configuration file.
    pub fn user_config(&self) -> PathBuf {
        self.config.join("config.toml")
    }

    /// Returns the file of the user's own roles.
    pub fn user_roles(&self) -> PathBuf {
        self.config.join("roles.toml")
    }
}

/// Returns the directory, in a data directory, in which waiting processes have their pipes.
pub(crate) fn listeners(data: &Path) -> PathBuf {
    data.join("listeners")
}
