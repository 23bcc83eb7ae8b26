//! Compares two trails, and scores the signals that they lead to the same place.
//!
//! There are four kinds of signals, and a prediction is made from the strongest. The original design used the
//! topics of prompts alone; the files that tools read and wrote show where the work really is.

use serde::Deserialize;
use serde::Serialize;

use super::Domains;
use super::FileVisit;
use super::Heading;
use super::TopicSummary;
use super::Trail;
use super::TrailStep;
use super::trail::Marks;
use crate::Timestamp;

/// The settings for comparing trails.
#[derive(Clone, Copy, Debug)]
pub struct ScoringContext<'a> {
    /// Whether files count too, and not only topics.
    pub files: bool,
    /// The threshold that a signal's confidence, or the overlap of topics, must exceed.
    pub threshold: f64,
    pub domains: &'a Domains,
    /// A kind of signal to leave out, to measure its worth.
    pub without: Option<SignalKind>,
    pub now: Timestamp,
}

/// The kinds of signals that two sessions may collide, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SignalKind {
    /// The sessions work on different topics of one domain.
    DomainProximity,
    /// The topics of the last prompts overlap a lot.
    Approaching,
    /// One session deepens in a topic that the other works on steadily, or turns to a file the other wrote.
    CrossApproach,
    /// Both sessions deepen in the same topic, or write the same file.
    MutualDeepening,
}

impl SignalKind {
    /// All kinds, strongest first.
    pub const ALL: [Self; 4] =
        [Self::MutualDeepening, Self::CrossApproach, Self::Approaching, Self::DomainProximity];

    /// Returns the kind's name in the store and in messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::DomainProximity => "domain proximity",
            Self::Approaching => "approaching",
            Self::CrossApproach => "cross approach",
            Self::MutualDeepening => "mutual deepening",
        }
    }
}

/// A sign that two sessions may collide.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Signal {
    pub kind: SignalKind,
    /// The confidence, from 0 to 1.
    pub confidence: f64,
    /// A guess of the number of prompts until the collision.
    pub distance: u32,
    pub topics: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub domains: Vec<String>,
}

/// Age from which a written file no longer counts: the work on it is finished or committed.
const LATELY: i64 = 30 * Timestamp::MINUTE;

/// Number of prompts before the files that a session reads count: at first it only looks around.
const SETTLED: usize = 3;

/// Factor from the overlap of topics to the confidence.
const APPROACHING: f64 = 0.8;

/// Factor for the confidence if the files show that the two work in different places.
const APART: f64 = 0.5;

/// A trail prepared for comparison with many others.
pub struct TrailProfile<'a> {
    words: Marks<'a>,
    /// The topics of the last prompt, sorted.
    key: Vec<&'a str>,
    domains: Vec<&'a str>,
    files: FilesByPath<'a>,
}

/// The files of a trail, prepared for comparison.
#[derive(Default)]
struct FilesByPath<'a> {
    /// The directories of all visited files.
    places: Vec<&'a str>,
    /// The files written lately, with the time of the last write.
    written: Vec<(&'a str, Timestamp)>,
    /// The files read since the last prompt.
    looked_at: Vec<(&'a str, Timestamp)>,
    /// The time of the last write to any file.
    last_write: Option<Timestamp>,
    is_settled: bool,
    /// Whether the session has done nothing for a while.
    is_away: bool,
}

impl<'a> TrailProfile<'a> {
    /// Prepares a trail's topics and, if they count, its files.
    pub fn new(trail: &'a Trail, scoring_context: &ScoringContext<'a>) -> Self {
        let files = if scoring_context.files {
            FilesByPath::new(&trail.steps, scoring_context.now)
        } else {
            FilesByPath::default()
        };
        Self { files, ..Self::topics_only(&TopicSummary::of(trail), scoring_context) }
    }

    /// Prepares topics only.
    pub fn topics_only(glance: &TopicSummary<'a>, scoring_context: &ScoringContext<'a>) -> Self {
        let words = Marks::new(glance);
        let mut key: Vec<&str> = glance.steps.last().cloned().unwrap_or_default();
        key.sort_unstable();
        key.dedup();
        let mut domains: Vec<&str> = [Heading::Deepening, Heading::Emerging]
            .into_iter()
            .flat_map(|heading| words.heading_for(heading))
            .filter_map(|mark| scoring_context.domains.of(mark.name))
            .collect();
        domains.sort_unstable();
        domains.dedup();
        Self { words, key, domains, files: FilesByPath::default() }
    }

    /// Returns the words of which another session must use one for any signal between the two, sorted.
    pub(super) fn interests(&self, scoring_context: &ScoringContext<'a>) -> Vec<&'a str> {
        let near = scoring_context.domains.iter().filter(|(_, domain)| self.domains.contains(domain));
        let own = self.words.all.iter().map(|mark| mark.name);
        let mut words: Vec<&str> = own.chain(near.map(|(topic, _)| topic)).collect();
        words.sort_unstable();
        words
    }
}

impl<'a> FilesByPath<'a> {
    fn new(steps: &'a [TrailStep], now: Timestamp) -> Self {
        let is_long_ago = |at: Timestamp| now.since(at) >= LATELY;
        let all = || steps.iter().flat_map(|step| step.read.iter().chain(&step.written));
        let place = |visit: &'a FileVisit| visit.path.rsplit_once('/').map_or("", |(place, _)| place);
        let mut places: Vec<&str> = all().map(place).collect();
        places.sort_unstable();
        places.dedup();
        let writes = || steps.iter().flat_map(|step| &step.written);
        let mut written: Vec<(&str, Timestamp)> = writes()
            .filter(|visit| !is_long_ago(visit.at))
            .map(|visit| (visit.path.as_str(), visit.at))
            .collect();
        written.sort_unstable_by_key(|(path, at)| (*path, std::cmp::Reverse(*at)));
        written.dedup_by_key(|(path, _)| *path);
        let last = steps.last().into_iter().flat_map(|step| &step.read);
        Self {
            places,
            written,
            looked_at: last.map(|visit| (visit.path.as_str(), visit.at)).collect(),
            last_write: writes().map(|visit| visit.at).max(),
            is_settled: steps.len() >= SETTLED,
            is_away: steps
                .iter()
                .map(|step| step.at)
                .chain(all().map(|visit| visit.at))
                .max()
                .is_none_or(is_long_ago),
        }
    }

    fn writes(&self, path: &str) -> Option<Timestamp> {
        self.written.binary_search_by_key(&path, |(path, _)| *path).ok().map(|at| self.written[at].1)
    }

    /// Returns the files that this session turns to and the other works on: files that it read after the
    /// other wrote them, or that the other wrote while it was still looking at them.
    fn turns_to<'b>(&'b self, other: &'b Self) -> impl Iterator<Item = &'a str> + 'b {
        self.looked_at.iter().filter_map(|(path, looked)| {
            let written = other.writes(path)?;
            let is_meant = if written <= *looked {
                self.is_settled
            } else {
                self.last_write.is_none_or(|wrote| wrote < *looked)
            };
            is_meant.then_some(*path)
        })
    }

    /// Tells whether the two are known to work in different directories.
    fn is_apart_from(&self, other: &Self) -> bool {
        let has_place = |files: &Self| files.last_write.is_some();
        let is_shared = |place: &&str| other.places.binary_search(place).is_ok();
        has_place(self) && has_place(other) && !self.places.iter().any(is_shared)
    }
}

/// Returns the topics that fade in `one` and that `other` now turns to.
pub(super) fn left_behind<'a>(one: &TrailProfile<'a>, other: &TrailProfile<'_>) -> Vec<&'a str> {
    let turns = |heading| matches!(heading, Some(Heading::Deepening | Heading::Emerging));
    one.words
        .shared(&other.words)
        .filter(|(a, b)| one.words.heading(a) == Some(Heading::Fading) && turns(other.words.heading(b)))
        .map(|(a, _)| a.name)
        .collect()
}

/// Returns all signals between two trails, strongest first.
pub fn signals(
    one: &TrailProfile<'_>,
    other: &TrailProfile<'_>,
    scoring_context: &ScoringContext<'_>,
) -> Vec<Signal> {
    if one.files.is_away || other.files.is_away {
        return Vec::new();
    }
    let (mut mutual, mut cross, mut shared) = (Vec::new(), Vec::new(), false);
    for (a, b) in one.words.shared(&other.words) {
        shared = true;
        match (one.words.heading(a), other.words.heading(b)) {
            (Some(Heading::Deepening), Some(Heading::Deepening)) => mutual.push(a.name),
            (Some(Heading::Deepening), Some(Heading::Stable))
            | (Some(Heading::Stable), Some(Heading::Deepening)) => cross.push(a.name),
            _ => {}
        }
    }
    let both_write: Vec<&str> = one
        .files
        .written
        .iter()
        .map(|(path, _)| *path)
        .filter(|path| other.files.writes(path).is_some())
        .collect();
    let mut turned_to: Vec<&str> =
        one.files.turns_to(&other.files).chain(other.files.turns_to(&one.files)).collect();
    turned_to.sort_unstable();
    turned_to.dedup();
    turned_to.retain(|path| !both_write.contains(path));
    let common = both(&one.key, &other.key);
    let overlap = share(&common, &one.key, &other.key);
    let near = both(&one.domains, &other.domains);

    let is_apart = one.files.is_apart_from(&other.files);
    let mut found = Vec::new();
    let mut add = |kind, confidence: f64, distance, topics: &[&str], files: &[&str], domains: &[&str]| {
        let confidence = if is_apart { confidence * APART } else { confidence };
        let confidence = (confidence.clamp(0.0, 1.0) * 100.0).round() / 100.0;
        // An overlap was already compared with the threshold, before its factor.
        let least = if kind == SignalKind::Approaching {
            scoring_context.threshold * APPROACHING
        } else {
            scoring_context.threshold
        };
        if scoring_context.without != Some(kind) && (!scoring_context.files || confidence > least) {
            let (topics, files, domains) = (strings(topics), strings(files), strings(domains));
            found.push(Signal { kind, confidence, distance, topics, files, domains });
        }
    };
    let grows = |base: f64, topics: &[&str], files: &[&str]| base + 0.1 * (topics.len() + files.len()) as f64;
    if !mutual.is_empty() || !both_write.is_empty() {
        let confidence = grows(0.6, &mutual, &both_write);
        add(SignalKind::MutualDeepening, confidence, 1, &mutual, &both_write, &[]);
    }
    if !cross.is_empty() || !turned_to.is_empty() {
        let distance = if turned_to.is_empty() { 3 } else { 1 };
        add(SignalKind::CrossApproach, grows(0.5, &cross, &turned_to), distance, &cross, &turned_to, &[]);
    }
    if overlap > scoring_context.threshold {
        let deepens = |side: &TrailProfile<'_>| {
            side.words.heading_for(Heading::Deepening).any(|mark| common.contains(&mark.name))
        };
        let distance = if deepens(one) || deepens(other) { 3 } else { 5 };
        add(SignalKind::Approaching, overlap * APPROACHING, distance, &common, &[], &[]);
    }
    if !shared && !near.is_empty() {
        let score = (0.5 * near.len() as f64).min(1.5);
        add(SignalKind::DomainProximity, 0.3 + 0.4 * score, 5, &[], &[], &near);
    }
    found.sort_by(|one, other| other.confidence.total_cmp(&one.confidence));
    found
}

fn both<'a>(one: &[&'a str], other: &[&str]) -> Vec<&'a str> {
    one.iter().copied().filter(|name| other.contains(name)).collect()
}

/// Returns the share of two sets' union that is in both.
fn share(common: &[&str], one: &[&str], other: &[&str]) -> f64 {
    match one.len() + other.len() - common.len() {
        0 => 0.0,
        all => common.len() as f64 / all as f64,
    }
}

fn strings(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}
