//! Times and durations as people type and read them on the command line.

use std::path::Path;
use std::time::Duration;

use consort_core::Timestamp;

use crate::error::CommandError;

/// The time here, to the second.
pub(crate) fn local(at: Timestamp) -> String {
    match jiff::Timestamp::from_millisecond(at.0) {
        Ok(at) => at.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S").to_string(),
        Err(_) => at.0.to_string(),
    }
}

/// A span back from now, a moment, or a day or time here.
pub(crate) fn parse_since(text: &str, now: Timestamp) -> Result<Timestamp, CommandError> {
    let zone = jiff::tz::TimeZone::system;
    if let Ok(span) = text.parse::<jiff::Span>()
        && let Ok(now) = jiff::Timestamp::from_millisecond(now.0)
        && let Ok(then) = now.to_zoned(zone()).checked_sub(span.abs())
    {
        return Ok(Timestamp(then.timestamp().as_millisecond()));
    }
    if let Ok(moment) = text.parse::<jiff::Timestamp>() {
        return Ok(Timestamp(moment.as_millisecond()));
    }
    if let Ok(local) = text.parse::<jiff::civil::DateTime>()
        && let Ok(then) = local.to_zoned(zone())
    {
        return Ok(Timestamp(then.timestamp().as_millisecond()));
    }
    Err(CommandError::user(
        format!("`{text}` is not a time"),
        "use `2h`, `30m`, `3d`, `2026-11-01` or `2026-11-01T12:00`",
    ))
}

/// The same, or when a commit was made. A day or a second that is named is meant to its end.
pub(crate) fn moment(text: &str, now: Timestamp, worktree: &Path) -> Option<Timestamp> {
    if text.len() == "2026-11-01".len()
        && let Ok(day) = text.parse::<jiff::civil::Date>()
    {
        let next = day.tomorrow().ok()?.to_zoned(jiff::tz::TimeZone::system()).ok()?;
        return Some(Timestamp(next.timestamp().as_millisecond() - 1));
    }
    let second = |at: i64| Timestamp(at * Timestamp::SECOND + Timestamp::SECOND - 1);
    match parse_since(text, now) {
        Ok(at) if at.0 % Timestamp::SECOND != 0 || text.parse::<jiff::Span>().is_ok() => Some(at),
        Ok(at) => Some(second(at.0 / Timestamp::SECOND)),
        Err(_) => consort_host::commit_time(worktree, text).map(second),
    }
}

/// `30s`, `5m`, `1h30m`; a bare number counts seconds.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    if let Ok(seconds) = text.parse() {
        return Ok(Duration::from_secs(seconds));
    }
    let span = text.parse::<jiff::SignedDuration>().ok();
    span.and_then(|span| span.try_into().ok()).ok_or_else(|| "expected a time, as in `30s` or `5m`".into())
}
