//! Reads the model, the usage and the time zone of the last turn from Codex's own log of a session. Codex's
//! output has none of these: its counts there are for the whole session.

use std::fs::File;
use std::io::BufRead as _;
use std::io::BufReader;
use std::path::Path;

use consort_core::Timestamp;
use consort_core::dispatch::Usage;
use serde_json::Value;

use super::rollout;

/// The longest line that is read; longer ones, such as results of tools, are skipped.
const LINE: usize = 256 << 10;

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct RunLog {
    pub(super) model: Option<String>,
    pub(super) usage: Option<Usage>,
    /// The offset of Codex's local time from UTC, in milliseconds.
    pub(super) ahead: i64,
}

impl RunLog {
    pub(super) fn find(config_dir: &Path, session: &str) -> Option<Self> {
        let path = rollout(config_dir, session)?;
        let mut log = Self { ahead: ahead(&path, session).unwrap_or(0), ..Self::default() };
        let mut lines = BufReader::new(File::open(&path).ok()?);
        let mut line = Vec::new();
        while lines.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
            if line.len() < LINE {
                log.take_in(&line);
            }
            line.clear();
            line.shrink_to(LINE);
        }
        Some(log)
    }

    fn take_in(&mut self, line: &[u8]) {
        // Most lines are long and about something else, so only a line's beginning is searched.
        let has = |word: &[u8]| line.windows(word.len()).take(200).any(|part| part == word);
        if has(b"\"task_started\"") {
            self.usage = None;
        } else if has(b"\"token_count\"") {
            let Ok(event) = serde_json::from_slice::<Value>(line) else { return };
            let last = &event["payload"]["info"]["last_token_usage"];
            if last.is_object() {
                let step = Usage { turns: Some(1), ..usage(last) };
                self.usage = Some(self.usage.unwrap_or_default().with(&step));
            }
        } else if has(b"\"turn_context\"") {
            let Ok(event) = serde_json::from_slice::<Value>(line) else { return };
            self.model = event["payload"]["model"].as_str().map(str::to_owned).or(self.model.take());
        }
    }
}

/// Reads Codex's token counts, in which `input_tokens` includes the cached tokens.
pub(super) fn usage(usage: &Value) -> Usage {
    let count = |name: &str| usage[name].as_u64();
    let (read, written) = (count("cached_input_tokens"), count("cache_write_input_tokens"));
    let kept = read.unwrap_or(0).saturating_add(written.unwrap_or(0));
    Usage {
        input: count("input_tokens").map(|input| input.saturating_sub(kept)),
        output: count("output_tokens"),
        cache_read: read,
        cache_write: written,
        ..Usage::default()
    }
}

/// Returns the offset of local time from UTC: the log's name has the session's start in local time, and the
/// session's id has it in UTC.
fn ahead(path: &Path, session: &str) -> Option<i64> {
    let name = path.file_name()?.to_str()?;
    let local = name.strip_prefix("rollout-")?.get(..19)?;
    let (date, time) = local.split_once('T')?;
    let local = crate::failure::at_time(&format!("{date}T{}Z", time.replace('-', ":")))?;
    let hex: String = session.chars().filter(|c| *c != '-').take(12).collect();
    let utc = i64::from_str_radix(&hex, 16).ok()?;
    // Zones differ by quarters of an hour.
    const QUARTER: i64 = 15 * Timestamp::MINUTE;
    Some((local.0 - utc + QUARTER / 2).div_euclid(QUARTER) * QUARTER)
}

/// Returns the time that a message gives in local time: `try again at 12:29 PM.`, `try again at Nov 18th,
/// 2026 12:29 PM.`
pub(super) fn retry_time(message: &str, ahead: i64, now: Timestamp) -> Option<Timestamp> {
    let (_, told) = message.rsplit_once("try again at ")?;
    let words: Vec<&str> = told.split([' ', ',']).filter(|word| !word.is_empty()).collect();
    let clock = words.iter().position(|word| word.contains(':'))?;
    let (hour, minute) = words[clock].split_once(':')?;
    let (hour, minute): (i64, i64) = (hour.parse().ok()?, minute.trim_end_matches('.').parse().ok()?);
    let half = words.get(clock + 1).map(|half| half.trim_end_matches('.').to_uppercase());
    let hour = match half.as_deref() {
        Some("PM") => hour % 12 + 12,
        Some("AM") => hour % 12,
        _ => hour,
    };
    let of_day = (hour * 60 + minute) * Timestamp::MINUTE;
    let here = now.0 + ahead;
    let day = match words[..clock] {
        [month, day, year] => date(month, day, year)?,
        _ => here.div_euclid(Timestamp::DAY),
    };
    let told = day * Timestamp::DAY + of_day;
    // Without a date, the next time that the clock shows this time is meant.
    let told = if clock == 0 && told < here { told + Timestamp::DAY } else { told };
    Some(Timestamp(told - ahead)).filter(|until| *until > now)
}

/// Returns the day of a date such as `Nov 18th 2026`, counted from 1970.
fn date(month: &str, day: &str, year: &str) -> Option<i64> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let month = MONTHS.iter().position(|name| month.starts_with(name))? + 1;
    let day: u32 = day.trim_end_matches(|c: char| !c.is_ascii_digit()).parse().ok()?;
    let year: u32 = year.parse().ok()?;
    let at = crate::failure::at_time(&format!("{year:04}-{month:02}-{day:02}T00:00:00Z"))?;
    Some(at.0.div_euclid(Timestamp::DAY))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-17, 11:00 in UTC.
    const NOW: Timestamp = Timestamp(1_794_913_200_000);

    #[test]
    fn a_time_on_the_wall_is_one_in_its_zone() {
        let at =
            |message: &str, hours: i64| retry_time(message, hours * Timestamp::HOUR, NOW).map(Timestamp::utc);
        assert_eq!(at("or try again at 12:29 PM.", 0).as_deref(), Some("2026-11-17T12:29:00Z"));
        assert_eq!(at("or try again at 12:29 PM.", 1).as_deref(), Some("2026-11-17T11:29:00Z"));
        assert_eq!(at("try again at 1:05 AM.", 0).as_deref(), Some("2026-11-18T01:05:00Z"));
        assert_eq!(at("try again at 12:05 AM.", -8).as_deref(), Some("2026-11-18T08:05:00Z"));
        assert_eq!(at("try again at Nov 20th, 2026 3:04 PM.", 2).as_deref(), Some("2026-11-20T13:04:00Z"));
        assert_eq!(at("try again at Nov 1st, 2026 3:04 PM.", 0), None);
        assert_eq!(at("try again later.", 0), None);
        assert_eq!(at("try again at x:y", 0), None);
    }

    #[test]
    fn the_last_turn_alone_is_counted() {
        let home = tempfile::tempdir().unwrap();
        let session = "01a1e3ac-c6cf-74d0-8de0-e0759162b581";
        let dir = home.path().join("sessions/2026/11/16");
        std::fs::create_dir_all(&dir).unwrap();
        // The id has the time 09:25 in UTC.
        let log = dir.join(format!("rollout-2026-11-16T10-25-13-{session}.jsonl"));
        let count = |total: u64| {
            format!(
                r#"{{"timestamp":"t","type":"event_msg","payload":{{"type":"token_count","info":{{"total_token_usage":{{"input_tokens":{total}}},"last_token_usage":{{"input_tokens":100,"cached_input_tokens":40,"output_tokens":20}}}}}}}}"#
            )
        };
        let started = r#"{"type":"event_msg","payload":{"type":"task_started"}}"#;
        let context = r#"{"type":"turn_context","payload":{"model":"gpt-5.5"}}"#;
        let lines = [started, &count(100), started, context, &count(200), "not json", &count(300)].join("\n");
        std::fs::write(&log, lines).unwrap();
        let found = RunLog::find(home.path(), session).unwrap();
        let used = Usage { input: Some(120), output: Some(40), cache_read: Some(80), ..Usage::default() };
        assert_eq!(found.usage, Some(Usage { turns: Some(2), ..used }));
        assert_eq!(found.model.as_deref(), Some("gpt-5.5"));
        assert_eq!(found.ahead, Timestamp::HOUR);
        assert_eq!(RunLog::find(home.path(), "../x"), None);
    }
}
