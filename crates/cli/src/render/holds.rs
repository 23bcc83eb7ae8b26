//! Formats holds as lines of text, for the commands about claims and reservations.

use consort_core::Timestamp;
use consort_core::claims::Hold;
use consort_core::claims::HoldMode;
use consort_core::claims::HoldView;
use consort_core::claims::Strength;
use consort_core::project::ProjectId;
use consort_core::text;

/// Formats the resource of a hold on one line.
pub(crate) fn shown(hold: &Hold) -> String {
    text::foreign(&hold.resource.shown(), 200)
}

/// Formats a hold:
/// `src/auth/  GoldFalcon (claude on main), exclusive, taken 3m ago, reservation #4: "rewriting"`.
pub(crate) fn describe(seen: &HoldView, here: Option<&ProjectId>, now: Timestamp) -> String {
    let hold = &seen.hold;
    let who = match seen.yours {
        true => "you".to_owned(),
        false => text::one_line(&hold.label, 80),
    };
    let mut line =
        format!("{}  {who}, {}", text::foreign(&hold.resource.shown(), 120), terms(hold, here, now));
    if let Some(task) = &seen.task {
        line.push_str(&format!(", on {}", text::foreign(task, 60)));
    }
    if let Some(reason) = &hold.reason {
        line.push_str(&format!(": {}", text::quoted(reason, 120)));
    }
    if let Some(contest) = &hold.contest {
        let age = text::ago(now.since(contest.at));
        line.push_str(&format!(" [contested by {} {age}]", text::one_line(&contest.label, 80)));
    }
    line
}

/// Formats the terms of a hold: `exclusive, taken 3m ago, 27m left, reservation #4`.
fn terms(hold: &Hold, here: Option<&ProjectId>, now: Timestamp) -> String {
    let mode = match (hold.strength, hold.mode) {
        (Strength::Overridden, _) => "open to everyone",
        (_, HoldMode::Exclusive) => "exclusive",
        (_, HoldMode::Shared) => "shared",
    };
    let taken = text::ago(now.since(hold.since));
    let left = hold.until.map(|until| format!(", {} left", left(until, now)));
    format!("{mode}, taken {taken}{}, {}", left.unwrap_or_default(), number(hold, here))
}

/// Formats the number of a hold, which counts within a project, or outside of all: `reservation #4`, for
/// others `reservation web#4` and `reservation #4 outside projects`.
pub(crate) fn number(hold: &Hold, here: Option<&ProjectId>) -> String {
    match &hold.project {
        None => format!("reservation #{} outside projects", hold.generation),
        Some(project) if here != Some(project) => {
            format!("reservation {}#{}", text::foreign(project.short(), 40), hold.generation)
        }
        Some(_) => format!("reservation #{}", hold.generation),
    }
}

/// Formats the time until then, rounded up: to the second in the last minute, else to the minute.
pub(crate) fn left(until: Timestamp, now: Timestamp) -> String {
    match until.since(now) {
        ..Timestamp::MINUTE => format!("{}s", (until.since(now).max(0) + 999) / Timestamp::SECOND),
        more => text::age(more + Timestamp::MINUTE - 1),
    }
}
