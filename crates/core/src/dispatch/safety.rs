//! How much a run may do by itself.

use serde::Deserialize;
use serde::Serialize;

/// From the strictest to the loosest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Safety {
    /// It reads, and says what it would do.
    Suggest,
    /// It edits files and runs commands, and destroys nothing.
    #[default]
    AutoEdit,
    /// It does all but what nothing brings back.
    FullAuto,
}

impl Safety {
    pub const ALL: [Self; 3] = [Self::Suggest, Self::AutoEdit, Self::FullAuto];

    /// Its name on the command line and in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Suggest => "suggest",
            Self::AutoEdit => "auto-edit",
            Self::FullAuto => "full-auto",
        }
    }

    /// The one of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|safety| safety.as_str() == name)
    }
}
