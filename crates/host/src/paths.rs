//! The paths on this machine of our data and configuration directories, and of the
//! files in them.

use std::path::Path;
use std::path::PathBuf;

use crate::env;

/// The directories of one user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paths {
    /// The store and what belongs to it.
    pub data: PathBuf,
    /// `config.toml`.
    pub config: PathBuf,
    /// The person's home directory.
    pub home: PathBuf,
}

impl Paths {
    /// From the environment; `None` without `CONSORT_HOME` and `HOME`. A home that
    /// depends on where one is would be another one everywhere.
    pub fn from_environment() -> Option<Self> {
        let home = env::get("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
        if let Some(all) = env::get(env::HOME).map(PathBuf::from) {
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

    /// The database.
    pub fn store(&self) -> PathBuf {
        self.data.join("consort.db")
    }

    /// Where waiting processes have their pipes.
    pub fn listeners(&self) -> PathBuf {
        listeners(&self.data)
    }

    /// What a caller over HTTP has to show.
    pub fn token(&self) -> PathBuf {
        self.data.join("token")
    }

    /// The same, for one that may only read.
    pub fn token_read(&self) -> PathBuf {
        self.data.join("token-read")
    }

    /// What hooks could not say aloud.
    pub fn hook_log(&self) -> PathBuf {
        self.data.join("hook.log")
    }

    /// Copies of other tools' files from before we changed them.
    pub fn backups(&self) -> PathBuf {
        self.data.join("backups")
    }

    /// Notes of temporary files that exist right now.
    pub fn pending(&self) -> PathBuf {
        self.data.join("pending")
    }

    /// What `consort token` has made.
    pub fn tokens(&self) -> PathBuf {
        self.config.join("tokens")
    }

    /// The user's own configuration file.
    pub fn user_config(&self) -> PathBuf {
        self.config.join("config.toml")
    }

    /// The user's own roles.
    pub fn user_roles(&self) -> PathBuf {
        self.config.join("roles.toml")
    }
}

/// Where waiting processes have their pipes, in a data directory.
pub(crate) fn listeners(data: &Path) -> PathBuf {
    data.join("listeners")
}
