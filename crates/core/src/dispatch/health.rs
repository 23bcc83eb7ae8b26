//! Judges whether a run is well, stale or dead, by its signs of life. Pure; **nothing is ended on a
//! guess**: the verdict is only shown and reported.

use serde::Serialize;

use crate::Timestamp;

/// A run without a sign of life for longer than this is stale.
const STALE: i64 = 60 * Timestamp::SECOND;

/// A run without a sign of life for longer than this is as good as dead.
pub const DEAD_AFTER: i64 = 120 * Timestamp::SECOND;

/// The health of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RunHealth {
    Well,
    Stale,
    Dead,
}

/// The last sign of life of a run, as its supervisor wrote it down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LifeSign {
    /// Time at which the sign was written.
    pub at: Timestamp,
    /// Milliseconds for which the worker had been silent by then; 0 while processes that it started
    /// are at work.
    pub quiet: i64,
}

impl RunHealth {
    /// Judges by the last sign: a supervisor that has stopped writes none, and one whose worker is
    /// silent writes that down.
    pub fn of(sign: LifeSign, now: Timestamp) -> Self {
        match now.since(sign.at).max(sign.quiet) {
            silent if silent > DEAD_AFTER => Self::Dead,
            silent if silent > STALE => Self::Stale,
            _ => Self::Well,
        }
    }

    /// Returns the name in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Well => "well",
            Self::Stale => "stale",
            Self::Dead => "dead",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_gives_no_sign_is_stale_and_then_dead() {
        let of = |since: i64, quiet: i64| {
            let at = Timestamp(1_000_000);
            RunHealth::of(
                LifeSign { at, quiet: quiet * Timestamp::SECOND },
                at.plus(since * Timestamp::SECOND),
            )
        };
        assert_eq!([of(0, 0), of(60, 0), of(10, 60)], [RunHealth::Well; 3]);
        assert_eq!([of(61, 0), of(120, 0), of(10, 61), of(5, 120)], [RunHealth::Stale; 4]);
        assert_eq!([of(121, 0), of(10, 121)], [RunHealth::Dead; 2]);
        // The clock was set back.
        assert_eq!(of(-500, 0), RunHealth::Well);
    }
}
