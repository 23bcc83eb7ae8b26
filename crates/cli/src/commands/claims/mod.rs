//! `consort claim`, `contest`, `release`, `claims`, `reserve`, `unreserve`,
//! `reservations`, `override`, `explain` and `wait`.

pub(crate) mod claim;
pub(crate) mod contest;
pub(crate) mod explain;
pub(crate) mod list;
pub(crate) mod overlaps;
pub(crate) mod override_;
pub(crate) mod release;
pub(crate) mod reserve;
pub(crate) mod wait;

use std::time::Duration;

use consort_core::Timestamp;
use consort_core::claims::Hold;
use consort_core::claims::HoldOutcome;
use consort_core::claims::HoldRequest;
use consort_core::claims::HoldView;
use consort_core::claims::Mode;
use consort_core::claims::Strength;
use consort_core::text;

use crate::error::CommandError;
use crate::person;
use crate::time;
use crate::world::Opened;
use crate::world::World;

/// What `claim` and `reserve` have in common.
#[derive(clap::Args)]
struct Terms {
    /// Share it with others who share it
    #[arg(long)]
    shared: bool,
    /// Why: others read it
    #[arg(long)]
    reason: Option<String>,
    /// Let go by itself after this time: `30m`, `2h`; claiming again renews it
    #[arg(long, value_name = "TIME", value_parser = some_time)]
    ttl: Option<Duration>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A time that is worth holding something for.
fn some_time(text: &str) -> Result<Duration, String> {
    let time = time::parse_duration(text)?;
    if time < Duration::from_secs(1) { Err("expected a second at least".into()) } else { Ok(time) }
}

/// A resource on one line, as people read it.
fn shown(hold: &Hold) -> String {
    text::foreign(&hold.resource.shown(), 200)
}

fn hold(
    world: &World,
    opened: &mut Opened,
    what: &[String],
    strength: Strength,
    terms: &Terms,
) -> Result<HoldOutcome, CommandError> {
    let caller = person::acting(&mut opened.app)?;
    Ok(opened.app.hold(&HoldRequest {
        caller,
        cwd: world.cwd.clone(),
        what: what.to_vec(),
        strength,
        mode: if terms.shared { Mode::Shared } else { Mode::Exclusive },
        reason: terms.reason.clone(),
        ttl: terms.ttl.map(|ttl| i64::try_from(ttl.as_millis()).unwrap_or(i64::MAX / 4)),
    })?)
}

/// `src/auth/  GoldFalcon (claude on main), 3m, exclusive: "rewriting"`
fn describe(seen: &HoldView, now: Timestamp) -> String {
    let hold = &seen.hold;
    let who = match seen.yours {
        true => "you".to_owned(),
        false => text::one_line(&hold.label, 80),
    };
    let mut line = format!("{}  {who}, {}", text::foreign(&hold.resource.shown(), 120), terms(hold, now));
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

/// `exclusive for 3m, 27m left`
fn terms(hold: &Hold, now: Timestamp) -> String {
    let mode = match (hold.strength, hold.mode) {
        (Strength::Overridden, _) => "open to everyone",
        (_, Mode::Exclusive) => "exclusive",
        (_, Mode::Shared) => "shared",
    };
    let age = match text::age(now.since(hold.since)).as_str() {
        "now" => "since just now".to_owned(),
        age => format!("for {age}"),
    };
    let left = hold.until.map(|until| format!(", {} left", left(until, now)));
    format!("{mode} {age}{}, #{}", left.unwrap_or_default(), hold.generation)
}

/// How long it is until then, to the minute and rounded up.
fn left(until: Timestamp, now: Timestamp) -> String {
    text::age(until.since(now) + Timestamp::MINUTE - 1)
}
