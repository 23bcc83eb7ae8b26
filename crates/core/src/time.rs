//! The type of a point in time, as the host hands it in.

use serde::Deserialize;
use serde::Serialize;

/// Milliseconds since the Unix epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// Milliseconds in a second.
    pub const SECOND: i64 = 1_000;
    /// Milliseconds in a minute.
    pub const MINUTE: i64 = 60 * Self::SECOND;
    /// Milliseconds in an hour.
    pub const HOUR: i64 = 60 * Self::MINUTE;
    /// Milliseconds in a day.
    pub const DAY: i64 = 24 * Self::HOUR;

    /// Returns the milliseconds since `earlier`; zero if the clock went back.
    pub fn since(self, earlier: Timestamp) -> i64 {
        self.0.saturating_sub(earlier.0).max(0)
    }

    /// Returns the moment `milliseconds` later.
    pub fn plus(self, milliseconds: i64) -> Timestamp {
        Timestamp(self.0.saturating_add(milliseconds))
    }

    /// Returns the moment `milliseconds` earlier.
    pub fn minus(self, milliseconds: i64) -> Timestamp {
        Timestamp(self.0.saturating_sub(milliseconds))
    }

    /// Formats the moment in UTC, to the millisecond: `2026-11-15T20:42:43.038Z`.
    pub fn rfc3339(self) -> String {
        let utc = self.utc();
        format!("{}.{:03}Z", utc.trim_end_matches('Z'), self.0.rem_euclid(Self::SECOND))
    }

    /// Formats the moment in UTC, to the second: `2026-11-15T20:42:43Z`.
    pub fn utc(self) -> String {
        let (days, seconds) = (self.0.div_euclid(Self::DAY), self.0.rem_euclid(Self::DAY) / Self::SECOND);
        let (hours, minutes, seconds) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
        // Years that begin in March have their leap day at the end; any 400 of them have the same
        // length.
        let days = days + 719_468;
        let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
        let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
        let day = day - (365 * year + year / 4 - year / 100);
        let month = (5 * day + 2) / 153;
        let (day, month) = (day - (153 * month + 2) / 5 + 1, if month < 10 { month + 3 } else { month - 9 });
        let year = era * 400 + year + i64::from(month <= 2);
        format!("{year:04}-{month:02}-{day:02}T{hours:02}:{minutes:02}:{seconds:02}Z")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        let day = |days: i64| Timestamp(days * Timestamp::DAY).utc()[..10].to_owned();
        assert_eq!(Timestamp(1_794_775_363_038).utc(), "2026-11-15T20:42:43Z");
        assert_eq!(Timestamp(1_794_775_363_038).rfc3339(), "2026-11-15T20:42:43.038Z");
        assert_eq!(day(0), "1970-01-01");
        assert_eq!(day(-1), "1969-12-31");
        assert_eq!((day(11_016), day(11_017)), ("2000-02-29".into(), "2000-03-01".into()));
        assert_eq!((day(47_540), day(47_541)), ("2100-02-28".into(), "2100-03-01".into()));
        assert_eq!((day(20_453), day(20_454)), ("2025-12-31".into(), "2026-01-01".into()));
    }
}
