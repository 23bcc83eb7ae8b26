//! Pure rules of convergence: the outcome of a prediction, the threshold that follows from outcomes, and an
//! agent's suitability for a task.

use super::Counters;
use super::Domains;
use super::Prediction;
use super::PredictionCounts;
use super::PredictionNote;
use super::PredictionOutcome;
use super::Signal;
use super::Trail;
use super::TrailProfile;
use super::TrailStep;
use super::Trajectory;
use super::Trend;
use super::signals::left_behind;
use super::topics;
use crate::Timestamp;
use crate::presence::SessionId;
use crate::presence::Status;
use crate::text;

/// Age at which a prediction without any effect counts as a false positive.
pub(super) const PATIENCE: i64 = Timestamp::HOUR;

const DEFAULT_THRESHOLD: f64 = 0.35;
const LOWEST: f64 = 0.15;
const HIGHEST: f64 = 0.70;

/// Number of outcomes after which the threshold is reviewed.
const ROUND: u32 = 10;

/// The events after a prediction was made, with their times.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LaterEvents {
    /// The understanding that the two agents came to, in words.
    pub(super) understanding: Option<(Timestamp, String)>,
    /// A file that both have written, and the time when the second did.
    pub(super) written: Option<(Timestamp, String)>,
    /// A topic of the prediction that both were prompted on, and the time when the second was.
    pub(super) spoken: Option<(Timestamp, String)>,
    /// Whether both were still prompted after half of [`PATIENCE`].
    pub(super) both_worked_on: bool,
    /// The name of an agent that has left.
    pub(super) left: Option<String>,
}

/// Returns the outcome of a prediction and the evidence for it; `None` while the prediction is open. The
/// first event counts: a message after the collision prevents nothing.
pub(super) fn verdict(
    made: Timestamp,
    now: Timestamp,
    since: &LaterEvents,
) -> Option<(PredictionOutcome, String)> {
    let met = [
        since.understanding.as_ref().map(|(at, how)| (*at, PredictionOutcome::Prevented, how.clone())),
        since
            .written
            .as_ref()
            .map(|(at, file)| (*at, PredictionOutcome::Occurred, format!("both wrote {}", shown(file)))),
        since.spoken.as_ref().map(|(at, topic)| {
            (*at, PredictionOutcome::Occurred, format!("both went on with {}", shown(topic)))
        }),
    ];
    if let Some((_, outcome, how)) = met.into_iter().flatten().min_by_key(|(at, ..)| *at) {
        return Some((outcome, how));
    }
    if let Some(name) = &since.left {
        return Some((PredictionOutcome::Expired, format!("{name} left")));
    }
    let is_over = now.since(made) >= PATIENCE && since.both_worked_on;
    is_over.then(|| (PredictionOutcome::FalsePositive, "an hour of work with nothing in common".into()))
}

fn shown(name: &str) -> String {
    text::one_line(name, 80)
}

/// Finds the first file that both wrote after `then`, and the time when the second did.
pub(super) fn both_wrote(trails: [&Trail; 2], then: Timestamp) -> Option<(Timestamp, String)> {
    let [one, other] = trails.map(|trail| trail.written_after(then).collect::<Vec<_>>());
    let met = one.iter().filter_map(|(path, at)| {
        let theirs = other.iter().filter(|(theirs, _)| theirs == path).map(|(_, at)| *at).min()?;
        Some(((*at).max(theirs), (*path).to_owned()))
    });
    met.min()
}

/// Finds the first of these topics that both were prompted on after `then`, and the time when the second was.
pub(super) fn both_spoke(
    trails: [&Trail; 2],
    then: Timestamp,
    topics: &[String],
) -> Option<(Timestamp, String)> {
    let met = topics.iter().filter_map(|topic| {
        let [one, other] = trails.map(|trail| trail.first_prompt_on(then, topic));
        Some((one?.max(other?), topic.clone()))
    });
    met.min()
}

impl Default for Counters {
    fn default() -> Self {
        Self {
            threshold: DEFAULT_THRESHOLD,
            all: PredictionCounts::default(),
            round: PredictionCounts::default(),
        }
    }
}

impl PredictionCounts {
    /// Returns the sum of all outcomes.
    pub fn total(&self) -> u32 {
        self.prevented + self.occurred + self.false_positive + self.expired
    }

    fn add(&mut self, outcome: PredictionOutcome) {
        *match outcome {
            PredictionOutcome::Prevented => &mut self.prevented,
            PredictionOutcome::Occurred => &mut self.occurred,
            PredictionOutcome::FalsePositive => &mut self.false_positive,
            PredictionOutcome::Expired => &mut self.expired,
        } += 1;
    }
}

impl Counters {
    /// Adds an outcome. Every tenth reviews the threshold: it rises if too many of the ten predictions were
    /// wrong, else it falls if too many were right and not prevented.
    #[must_use]
    pub fn with(mut self, outcome: PredictionOutcome) -> Self {
        self.all.add(outcome);
        self.round.add(outcome);
        if self.round.total() >= ROUND {
            let step = if self.round.false_positive * 10 > ROUND * 3 {
                0.05
            } else if self.round.occurred * 10 > ROUND {
                -0.02
            } else {
                0.0
            };
            // Round to hundredths, so that steps add up exactly.
            let moved = ((self.threshold + step) * 100.0).round() / 100.0;
            self.threshold = moved.clamp(LOWEST, HIGHEST);
            self.round = PredictionCounts::default();
        }
        self
    }
}

/// Returns two sessions in sorted order.
pub(super) fn pair(one: &SessionId, other: &SessionId) -> [SessionId; 2] {
    let mut pair = [one.clone(), other.clone()];
    pair.sort();
    pair
}

/// Tells whether a signal says more than an earlier prediction: its kind is stronger, or the prediction has
/// ended and the signal is of the same kind but about other topics and files.
pub(super) fn is_news(known: &PredictionNote, signal: &Signal) -> bool {
    let is_known = |name: &String| known.topics.contains(name) || known.files.contains(name);
    let is_else = || !signal.topics.iter().chain(&signal.files).any(is_known);
    signal.kind > known.kind || known.ended.is_some() && signal.kind == known.kind && is_else()
}

/// Tells whether a prediction may have ended, judged by the trails alone.
pub(super) fn may_end(note: &PredictionNote, trails: [&Trail; 2], now: Timestamp) -> bool {
    let worked_on = |trail: &Trail| trail.was_prompted_after(note.at.plus(PATIENCE / 2));
    (now.since(note.at) >= PATIENCE && trails.into_iter().all(worked_on))
        || both_spoke(trails, note.at, &note.topics).is_some()
        || both_wrote(trails, note.at).is_some()
}

/// Least number of topics in common for two sessions to be told of each other.
pub(super) const ENOUGH_IN_COMMON: usize = 2;

/// Returns the topics that one session has left behind and another now turns to, if they are enough.
pub(super) fn inheritance(former: &TrailProfile<'_>, heir: &TrailProfile<'_>) -> Option<Vec<String>> {
    let topics = left_behind(former, heir);
    let is_enough = topics.len() >= ENOUGH_IN_COMMON;
    is_enough.then(|| topics.into_iter().map(str::to_owned).collect())
}

/// Change of confidence up to which a trend counts as steady.
const STEADY: f64 = 0.05;

/// Returns the trend of a pair's confidence since its prediction was made.
pub(super) fn trend(prediction: Option<&Prediction>, seen: Option<&Signal>, now: Timestamp) -> Trend {
    let Some(prediction) = prediction else { return Trend::New };
    let moved = seen.map_or(0.0, |signal| signal.confidence) - prediction.signal.confidence;
    if moved > STEADY {
        Trend::Rising
    } else if moved < -STEADY {
        Trend::Falling
    } else if now.since(prediction.at) < Timestamp::MINUTE {
        Trend::New
    } else {
        Trend::Steady
    }
}

/// The facts about an agent that decide its suitability for a task.
pub(super) struct CandidateFacts<'a> {
    pub(super) steps: &'a [TrailStep],
    pub(super) status: Status,
    pub(super) has_task: bool,
    pub(super) unread: usize,
    /// Whether the agent has not been heard from for an hour.
    pub(super) is_silent: bool,
}

/// Returns an agent's suitability for work on these topics, from 0 to 1, and the reasons.
pub(super) fn suitability(
    wanted: &[String],
    domains: &Domains,
    who: &CandidateFacts<'_>,
) -> (f64, Vec<String>) {
    let trajectory = Trajectory::of(who.steps);
    let last = who.steps.last().map(|step| step.topics.as_slice()).unwrap_or_default();
    let worth = |topic: &String| {
        let known = [
            (&trajectory.deepening, 1.0),
            (&trajectory.stable, 0.8),
            (&trajectory.emerging, 0.6),
            (&trajectory.fading, 0.3),
        ];
        let found = known.iter().find(|(topics, _)| topics.contains(topic)).map(|(_, worth)| *worth);
        // Fewer than three prompts have no trajectory, but the last one has topics.
        found.or_else(|| last.contains(topic).then_some(0.5))
    };
    let mut reasons = Vec::new();
    let known: Vec<(&String, f64)> = wanted.iter().filter_map(|topic| Some((topic, worth(topic)?))).collect();
    let mut score = 0.5 * known.iter().map(|(_, worth)| worth).sum::<f64>() / wanted.len().max(1) as f64;
    if !known.is_empty() {
        reasons.push(format!(
            "works on {}",
            text::first_few(known.iter().map(|(topic, _)| (*topic).clone()), 4)
        ));
    }
    let parts = |path: &str| topics(path, &[]);
    let mut files: Vec<String> =
        who.steps.iter().flat_map(|step| &step.written).map(|visit| visit.path.clone()).collect();
    files.sort();
    files.dedup();
    files.retain(|path| parts(path).iter().any(|part| wanted.contains(part)));
    if !files.is_empty() {
        score += 0.2;
        reasons.push(format!("has written {}", text::first_few(files, 2)));
    }
    let of = |topics: &[String]| -> Vec<String> {
        let mut found: Vec<String> =
            topics.iter().filter_map(|topic| domains.of(topic)).map(str::to_owned).collect();
        found.sort();
        found.dedup();
        found
    };
    let all: Vec<String> = who.steps.iter().flat_map(|step| step.topics.clone()).collect();
    let near: Vec<String> = of(wanted).into_iter().filter(|domain| of(&all).contains(domain)).collect();
    if !near.is_empty() {
        score += 0.1;
        reasons.push(format!("is at home in {}", near.join(", ")));
    }
    match who.status {
        Status::Idle => {
            score += 0.2;
            reasons.push("is idle".into());
        }
        Status::Waiting => reasons.push("waits for the person".into()),
        Status::Working => reasons.push("is at work".into()),
        Status::Stuck => reasons.push("is stuck".into()),
        Status::Away => reasons.push("has nobody at its terminal".into()),
        Status::Gone => {}
    }
    if who.has_task {
        score -= 0.2;
        reasons.push("has a task".into());
    }
    if who.unread > 3 {
        score -= 0.1;
        reasons.push(format!("has {} to read", text::counted_noun(who.unread, "message")));
    }
    if who.is_silent {
        score -= 0.1;
        reasons.push("has not been heard from for an hour".into());
    }
    ((score.clamp(0.0, 1.0) * 100.0).round() / 100.0, reasons)
}
