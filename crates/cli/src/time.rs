//! Reads and formats times and durations for the command line.

use std::path::Path;
use std::time::Duration;

use consort_core::Timestamp;

use crate::error::CommandError;

/// Formats a time in the local time zone, to the second.
pub(crate) fn local(at: Timestamp) -> String {
    match jiff::Timestamp::from_millisecond(at.0) {
        Ok(at) => at.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S").to_string(),
        Err(_) => at.0.to_string(),
    }
}

/// Returns the minute of the day in the local time zone.
pub(crate) fn minute_of_day(at: Timestamp) -> u32 {
    let here = jiff::Timestamp::from_millisecond(at.0).map(|at| at.to_zoned(jiff::tz::TimeZone::system()));
    here.map_or(0, |here| here.hour() as u32 * 60 + here.minute() as u32)
}

/// Parses a span back from now, a moment, or a local day or time.
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

/// Parses the same as [`parse_since`], or the name of a commit as its time. A named day or second is meant to
/// its end.
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

const EXPECTED: &str = "expected a time, as in `30s`, `5m`, `2h30m` or `1d`";

/// Parses `30s`, `5m`, `1h30m`, `1d`; a bare number counts seconds.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    if let Ok(seconds) = text.parse() {
        return Ok(Duration::from_secs(seconds));
    }
    // Days come first, and are the one unit that jiff's parser leaves to calendars.
    let (days, rest) = match text.split_once('d') {
        Some((days, rest)) => (days.trim().parse::<u64>().map_err(|_| EXPECTED)?, rest.trim()),
        None => (0, text),
    };
    let days = Duration::from_secs(days.checked_mul(24 * 60 * 60).ok_or(EXPECTED)?);
    if rest.is_empty() && text != rest {
        return Ok(days);
    }
    let span = rest.parse::<jiff::SignedDuration>().ok();
    let span = span.and_then(|span| Duration::try_from(span).ok());
    span.and_then(|span| span.checked_add(days)).ok_or_else(|| EXPECTED.into())
}

/// Parses the end of a limit from a CLI's own words: `7pm (Europe/Berlin)`, `3:04 PM`,
/// `Nov 17th, 2026 3:04 PM`, `in 2 hours 5 minutes`, seconds since 1970. A time without a day is the next
/// such time.
pub(crate) fn parse_reset(told: &str, now: Timestamp) -> Option<Timestamp> {
    if let Some(span) = told.strip_prefix("in ") {
        return Some(now.plus(span_in_words(span)?));
    }
    if let Ok(seconds) = told.trim().parse::<i64>().map(|seconds| seconds.checked_mul(1_000)) {
        return seconds.map(Timestamp).filter(|at| *at > Timestamp(0));
    }
    let (time, zone) = match told.split_once('(') {
        Some((time, zone)) => (time, jiff::tz::TimeZone::get(zone.split(')').next()?.trim()).ok()?),
        None => (told, jiff::tz::TimeZone::system()),
    };
    let now = jiff::Timestamp::from_millisecond(now.0).ok()?.to_zoned(zone.clone());
    let words = time.trim().trim_end_matches('.').replace(',', " ").to_lowercase();
    let mut words: Vec<String> =
        words.split_whitespace().filter(|word| *word != "at").map(str::to_owned).collect();
    let half = words.pop_if(|word| word == "am" || word == "pm");
    let clock = words.pop()? + &half.unwrap_or_default();
    let of_day = ["%I:%M%p", "%I%p", "%H:%M"];
    let of_day = of_day.iter().find_map(|format| jiff::civil::Time::strptime(format, &clock).ok());
    let of_day = of_day.or_else(|| on_the_hour(&clock))?;
    let day = match words.as_slice() {
        [] => None,
        words => Some(day(words, now.year())?),
    };
    let at = match day {
        Some(day) => day.to_datetime(of_day).to_zoned(zone).ok()?,
        None => {
            let today = now.date().to_datetime(of_day).to_zoned(zone).ok()?;
            if today > now { today } else { today.checked_add(jiff::Span::new().days(1)).ok()? }
        }
    };
    Some(Timestamp(at.timestamp().as_millisecond()))
}

/// Parses `2 days 3 hours` or `2h 13m` into milliseconds.
fn span_in_words(text: &str) -> Option<i64> {
    let (mut total, mut number) = (0i64, None);
    for word in text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()) {
        let digits = word.find(|c: char| !c.is_ascii_digit()).unwrap_or(word.len());
        if digits > 0 {
            number = Some(word[..digits].parse::<i64>().ok()?);
        }
        let unit = match word[digits..].chars().next() {
            None => continue,
            Some('d') => Timestamp::DAY,
            Some('h') => Timestamp::HOUR,
            Some('m') => Timestamp::MINUTE,
            Some('s') => Timestamp::SECOND,
            Some(_) => break,
        };
        total = total.checked_add(number.take()?.checked_mul(unit)?)?;
    }
    (total > 0).then_some(total)
}

/// Parses `7pm`, which no format with minutes matches.
fn on_the_hour(clock: &str) -> Option<jiff::civil::Time> {
    let (hour, is_afternoon) = match clock.strip_suffix("pm") {
        Some(hour) => (hour, true),
        None => (clock.strip_suffix("am")?, false),
    };
    let hour: i8 = hour.trim().parse().ok().filter(|hour| (1..=12).contains(hour))?;
    jiff::civil::Time::new(hour % 12 + if is_afternoon { 12 } else { 0 }, 0, 0, 0).ok()
}

/// Parses `nov 17th 2026`, with or without the year.
fn day(words: &[String], this_year: i16) -> Option<jiff::civil::Date> {
    const MONTHS: [&str; 12] =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let month = MONTHS.iter().position(|month| words[0].starts_with(month))?;
    let day = words.get(1)?.trim_end_matches(|c: char| c.is_alphabetic()).parse().ok()?;
    let year = words.get(2).map_or(Some(this_year), |year| year.parse().ok())?;
    jiff::civil::Date::new(year, i8::try_from(month + 1).ok()?, day).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_limit_is_read_in_the_words_of_each_cli() {
        // 2026-11-17, 12:00 in UTC.
        let now = Timestamp(1_794_916_800_000);
        let at = |told: &str| parse_reset(told, now).map(Timestamp::rfc3339);
        for (told, expected) in [
            ("7pm (UTC)", "2026-11-17T19:00:00.000Z"),
            ("7pm (Europe/Berlin)", "2026-11-17T18:00:00.000Z"),
            ("3am (UTC)", "2026-11-18T03:00:00.000Z"),
            ("13:30 (UTC)", "2026-11-17T13:30:00.000Z"),
            ("Nov 20, 5pm (UTC)", "2026-11-20T17:00:00.000Z"),
            ("Nov 19th, 2026 3:04 PM (UTC)", "2026-11-19T15:04:00.000Z"),
            ("in 2 hours 5 minutes", "2026-11-17T14:05:00.000Z"),
            ("in 1 day 3h 20m", "2026-11-18T15:20:00.000Z"),
            ("1794920400", "2026-11-17T13:00:00.000Z"),
        ] {
            assert_eq!(at(told).as_deref(), Some(expected), "{told}");
        }
        for nothing in ["", "soon", "in a while", "in a minute or 2", "99999999999999999999", "later"] {
            assert_eq!(at(nothing), None, "{nothing}");
        }
    }

    #[test]
    fn durations_are_what_people_type() {
        let seconds = |text: &str| parse_duration(text).map(|time| time.as_secs()).ok();
        assert_eq!(seconds("90"), Some(90));
        assert_eq!(seconds("30s"), Some(30));
        assert_eq!(seconds("2h30m"), Some(9_000));
        assert_eq!(seconds("1d"), Some(86_400));
        assert_eq!(seconds("1d12h"), Some(129_600));
        for wrong in ["", "d", "-1d", "m", "5 apples", "-5m", "99999999999999999999d"] {
            assert_eq!(seconds(wrong), None, "{wrong}");
        }
    }
}
