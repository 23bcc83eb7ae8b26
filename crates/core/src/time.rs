//! Points in time, as the host hands them in.

use serde::Deserialize;
use serde::Serialize;

/// Milliseconds since the Unix epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(pub i64);

impl Timestamp {
    pub const SECOND: i64 = 1_000;
    pub const MINUTE: i64 = 60 * Self::SECOND;
    pub const HOUR: i64 = 60 * Self::MINUTE;
    pub const DAY: i64 = 24 * Self::HOUR;

    /// Milliseconds from `earlier` to here; zero when the clock went back.
    pub fn since(self, earlier: Timestamp) -> i64 {
        self.0.saturating_sub(earlier.0).max(0)
    }

    pub fn plus(self, milliseconds: i64) -> Timestamp {
        Timestamp(self.0.saturating_add(milliseconds))
    }

    pub fn minus(self, milliseconds: i64) -> Timestamp {
        Timestamp(self.0.saturating_sub(milliseconds))
    }
}
