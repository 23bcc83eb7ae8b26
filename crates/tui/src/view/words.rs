//! Short words and marks for statuses, money, numbers and durations.

use consort_core::presence::Status;
use ratatui_core::style::Style;

use super::theme::Theme;

/// Returns the mark of a status. Lists of agents show the word beside it, so nobody has to learn marks.
pub(crate) fn status_mark(status: Status) -> &'static str {
    match status {
        Status::Waiting => "◆",
        Status::Stuck => "▲",
        Status::Working => "●",
        Status::Idle => "○",
        Status::Away => "◌",
        Status::Gone => "·",
    }
}

pub(crate) fn status_word(status: Status) -> &'static str {
    match status {
        Status::Waiting => "waiting",
        Status::Stuck => "stuck",
        Status::Working => "working",
        Status::Idle => "idle",
        Status::Away => "away",
        Status::Gone => "gone",
    }
}

pub(crate) fn status_style(theme: &Theme, status: Status) -> Style {
    match status {
        Status::Waiting => theme.warn,
        Status::Stuck => theme.bad,
        Status::Working => theme.good,
        Status::Idle => theme.plain,
        Status::Away | Status::Gone => theme.dim,
    }
}

/// Formats an amount of money: `$0.12`, `<$0.01`.
pub(crate) fn money(millionths: u64) -> String {
    match millionths {
        0 => "$0".to_owned(),
        1..10_000 => "<$0.01".to_owned(),
        _ => format!("${:.2}", millionths as f64 / 1_000_000.0),
    }
}

/// Formats a number in a few characters: `950`, `12k`, `3.4M`.
pub(crate) fn short_number(number: u64) -> String {
    match number {
        ..1_000 => number.to_string(),
        1_000..1_000_000 => format!("{}k", number / 1_000),
        _ => format!("{:.1}M", number as f64 / 1_000_000.0),
    }
}

/// Formats a duration: `12s`, `3m05`, `2h10`.
pub(crate) fn took(milliseconds: i64) -> String {
    let seconds = milliseconds.max(0) / 1_000;
    match (seconds / 3_600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds}s"),
        (0, minutes, seconds) => format!("{minutes}m{seconds:02}"),
        (hours, minutes, _) => format!("{hours}h{minutes:02}"),
    }
}
