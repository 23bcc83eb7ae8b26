//! Classifies an agent CLI's error message: the kind of failure, and the time at which a limit ends.
//!
//! CLIs have no reliable error codes. The words that are searched for are those that CLIs and their providers
//! are known to use.

use consort_core::Timestamp;
use consort_core::dispatch::Failure;
use consort_core::dispatch::FailureKind;
use consort_core::text;
use serde_json::Value;

/// The most characters that are kept of a message.
const MESSAGE: usize = 600;

/// The words that identify each kind of failure, in the order in which they are searched for.
const WORDS: &[(FailureKind, &[&str])] = &[
    (
        FailureKind::Argument,
        &[
            "unexpected argument",
            "unknown option",
            "unknown argument",
            "unrecognized option",
            "unknown arguments",
        ],
    ),
    (
        FailureKind::Limit,
        &[
            "rate limit",
            "rate_limit",
            "ratelimit",
            "usage limit",
            "usage_limit",
            "too many requests",
            "hit your limit",
            "limit reached",
            "quota",
            "resource_exhausted",
            "resource exhausted",
        ],
    ),
    (
        FailureKind::NotLoggedIn,
        &[
            "not logged in",
            "please run /login",
            "log in",
            "login",
            "api key",
            "api_key",
            "apikey",
            "unauthorized",
            "unauthenticated",
            "authentication",
            "auth method",
            "no auth",
            "credential",
        ],
    ),
    (
        FailureKind::Provider,
        &[
            "overloaded",
            "high demand",
            "internal server error",
            "server error",
            "service unavailable",
            "bad gateway",
            "gateway timeout",
            "connection",
            "econnrefused",
            "econnreset",
            "fetch failed",
            "stream disconnected",
            "timed out",
            "timeout",
        ],
    ),
];

/// Classifies a message; `status` is the HTTP status of the provider's answer, if it is known.
pub(crate) fn read(status: Option<u16>, message: &str, now: Timestamp) -> Failure {
    let lower = message.to_lowercase();
    let kind = status.or_else(|| status_in(&lower)).and_then(of_status);
    let of_words = || {
        let is_it = |words: &&[&str]| words.iter().any(|word| lower.contains(word));
        WORDS.iter().find(|(_, words)| is_it(words)).map(|(kind, _)| *kind)
    };
    let kind = kind.or_else(of_words).unwrap_or(FailureKind::Other);
    let until = (kind == FailureKind::Limit).then(|| until(message, now)).flatten();
    Failure { kind, message: text::one_line(message, MESSAGE), until }
}

/// Classifies a message by its words and by an HTTP status in it.
pub fn read_failure(message: &str, now: Timestamp) -> Failure {
    read(None, message, now)
}

/// Makes a failure of no known kind.
pub(crate) fn other(message: &str) -> Failure {
    of_kind(FailureKind::Other, message)
}

pub(crate) fn of_kind(kind: FailureKind, message: &str) -> Failure {
    Failure { kind, message: text::one_line(message, MESSAGE), until: None }
}

fn of_status(status: u16) -> Option<FailureKind> {
    match status {
        401 | 403 => Some(FailureKind::NotLoggedIn),
        429 => Some(FailureKind::Limit),
        500..=599 => Some(FailureKind::Provider),
        _ => None,
    }
}

/// Returns the HTTP status in a message: a number at its start, or right after a word such as `status`.
fn status_in(message: &str) -> Option<u16> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words: Vec<&str> = message.split(|c| !is_part(c)).filter(|word| !word.is_empty()).collect();
    let is_status =
        |word: &str| ["status", "error", "code", "statuscode", "http", "rejected"].contains(&word);
    let number = |word: &str| word.parse().ok().filter(|number| (400..600).contains(number));
    let first = message.trim_start().split([' ', ':']).next().and_then(number);
    first.or_else(|| words.windows(2).find_map(|two| number(two[1]).filter(|_| is_status(two[0]))))
}

/// Returns the time at which a limit ends, if the message gives a time or a duration.
pub(crate) fn until(message: &str, now: Timestamp) -> Option<Timestamp> {
    at_time(message).or_else(|| after(message).map(|while_| now.plus(while_))).filter(|until| *until > now)
}

/// Reads the time at which a limit ends from a JSON field: a number since 1970, or a text.
pub(crate) fn until_of(value: &Value, now: Timestamp) -> Option<Timestamp> {
    let until = match value {
        Value::Number(number) => number.as_f64().and_then(epoch),
        Value::String(text) => at_time(text).or_else(|| text.trim().parse().ok().and_then(epoch)),
        _ => None,
    };
    until.filter(|until| *until > now)
}

/// Reads a number as seconds or milliseconds since 1970, if it is in a plausible range.
fn epoch(number: f64) -> Option<Timestamp> {
    // Both ranges are the years 2001 to 2286.
    match number {
        1e9..1e10 => Some(Timestamp((number * 1e3) as i64)),
        1e12..1e13 => Some(Timestamp(number as i64)),
        _ => None,
    }
}

/// Finds a time within a text: `limit reached|1794931200`, `resets at 2026-11-17T15:00:00Z`.
pub(crate) fn at_time(message: &str) -> Option<Timestamp> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-:.+".contains(c);
    let words = message.split(|c| !is_part(c));
    words.filter(|word| word.len() >= 10).find_map(|word| {
        let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
        if is_number { word.parse().ok().and_then(epoch) } else { rfc3339(word.trim_end_matches(['.', ':'])) }
    })
}

/// Parses a time such as `2026-11-17T15:00:00Z`, also with a fraction or an offset.
fn rfc3339(word: &str) -> Option<Timestamp> {
    let (date, time) = word.split_once('T')?;
    let mut date = date.splitn(3, '-').map(|part| part.parse::<i64>().ok());
    let (year, month, day) = (date.next()??, date.next()??, date.next()??);
    let zone = time.find(['Z', '+', '-'])?;
    let (clock, zone) = time.split_at(zone);
    let clock = clock.split('.').next()?;
    let mut clock = clock.splitn(3, ':').map(|part| part.parse::<i64>().ok());
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next().flatten().unwrap_or(0));
    let offset = match zone.split_at_checked(1)? {
        ("Z", _) => 0,
        (sign, rest) => {
            let (hours, minutes) = rest.split_once(':').or_else(|| rest.split_at_checked(2))?;
            let minutes = hours.parse::<i64>().ok()? * 60 + minutes.parse::<i64>().ok()?;
            if sign == "-" { -minutes } else { minutes }
        }
    };
    let is_sane = (1970..10_000).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
    let seconds = (days(year, month, day) * 24 + hour) * 3_600 + (minute - offset) * 60 + second;
    is_sane.then_some(Timestamp(seconds * Timestamp::SECOND))
}

/// Returns the days from 1970 to a date. The calculation begins years with March, so that a leap day comes
/// last.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let month = if month > 2 { month - 3 } else { month + 9 };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * month + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// The words after which a duration follows.
const WHILES: &[&str] = &[
    "retry-after",
    "retry after",
    "retry_after",
    "retryafter",
    "retrydelay",
    "retry in",
    "try again in",
    "again after",
    "reset after",
    "reset in",
    "resets in",
    "resets_in_seconds",
    "wait",
];

/// Finds a duration in a message, in milliseconds: `try again in 1h 2m`, `retry after 30 seconds`,
/// `"retryDelay":"34.5s"`. A number alone is seconds.
fn after(message: &str) -> Option<i64> {
    let lower = message.to_lowercase();
    let rest = WHILES.iter().find_map(|word| lower.find(word).map(|at| &lower[at + word.len()..]))?;
    let rest = rest.trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
    let mut total = None;
    let mut rest = rest.strip_prefix("about ").unwrap_or(rest);
    while let Some((while_, after)) = one_duration(rest) {
        *total.get_or_insert(0_i64) += while_;
        rest = after.trim_start_matches([' ', ',']);
        rest = rest.strip_prefix("and ").unwrap_or(rest);
    }
    total
}

/// Parses a number with its unit at the start of a text: the milliseconds, and the rest of the text.
fn one_duration(text: &str) -> Option<(i64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    let number: f64 = number.trim_end_matches('.').parse().ok()?;
    let rest = rest.strip_prefix(' ').unwrap_or(rest);
    let end = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
    let (unit, rest) = rest.split_at(end);
    let unit = match unit {
        "ms" | "milliseconds" => 1.0,
        "m" | "min" | "mins" | "minute" | "minutes" => 6e4,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3.6e6,
        "d" | "day" | "days" => 8.64e7,
        _ => 1e3,
    };
    Some(((number * unit) as i64, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_794_913_200_000);

    fn in_seconds(message: &str) -> Option<i64> {
        until(message, NOW).map(|until| until.since(NOW) / Timestamp::SECOND)
    }

    #[test]
    fn a_message_has_its_kind() {
        let kind = |message| read(None, message, NOW).kind;
        assert_eq!(kind("exceeded retry limit, last status: 429 Too Many Requests"), FailureKind::Limit);
        assert_eq!(kind("You’ve hit your usage limit. Try again later."), FailureKind::Limit);
        assert_eq!(kind("We’re currently experiencing high demand"), FailureKind::Provider);
        assert_eq!(kind("API Error: 529 Overloaded"), FailureKind::Provider);
        assert_eq!(kind("unexpected status 401 Unauthorized: no"), FailureKind::NotLoggedIn);
        assert_eq!(kind("Not logged in · Please run /login"), FailureKind::NotLoggedIn);
        assert_eq!(kind("error: unexpected argument '--full-auto' found"), FailureKind::Argument);
        assert_eq!(kind("error: unknown option '--quiet'"), FailureKind::Argument);
        assert_eq!(kind("prompt is too long: 500 words over"), FailureKind::Other);
        assert_eq!(kind("429: {\"message\":\"the model is away\"}"), FailureKind::Limit);
        assert_eq!(kind("503 the model is away"), FailureKind::Provider);
        assert_eq!(kind("4000 tokens are not enough"), FailureKind::Other);
        assert_eq!(read(Some(503), "?", NOW).kind, FailureKind::Provider);
        assert_eq!(read(Some(400), "bad thing", NOW).kind, FailureKind::Other);
    }

    #[test]
    fn a_limit_ends_when_the_message_says() {
        assert_eq!(in_seconds("Please try again in 1h 2m 3s."), Some(3_723));
        assert_eq!(in_seconds("try again in 2 days, 3 hours and 5 minutes"), Some(183_900));
        assert_eq!(in_seconds("Retry after 30 seconds"), Some(30));
        assert_eq!(in_seconds("retry-after: 12"), Some(12));
        assert_eq!(in_seconds(r#"{"retryDelay":"34.5s"}"#), Some(34));
        assert_eq!(in_seconds("Claude AI usage limit reached|1794916800"), Some(3_600));
        assert_eq!(in_seconds("resets at 2026-11-17T12:00:00Z."), Some(3_600));
        assert_eq!(in_seconds("resets at 2026-11-17T13:00:00.5+01:00"), Some(3_600));
        assert_eq!(in_seconds("try again later"), None);
        assert_eq!(in_seconds("was reset at 2026-11-16T12:00:00Z"), None);
    }

    #[test]
    fn a_message_of_anything_does_no_harm() {
        for message in
            ["retry after 99999999999999999999999 days", "T-", "9999-99-99T99:99Z", "wait é", "2026-11-17T"]
        {
            let _ = read(Some(429), message, NOW);
        }
    }
}
