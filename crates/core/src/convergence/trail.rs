//! The trail of a session as data (its last prompts, their topics, and the files that followed), and its
//! trajectory: which topics deepen, emerge, fade or stay.

use std::borrow::Cow;
use std::path::PathBuf;

use serde::Serialize;

use crate::Timestamp;
use crate::presence::SessionId;
use crate::project::ProjectId;

/// Number of last prompts that a trail keeps.
pub const KEPT_PROMPTS: usize = 10;

/// Number of last prompts that decide whether a topic is emerging or fading.
const RECENT: usize = 3;

/// Least number of prompts for a topic to have a heading.
const FEWEST: usize = 3;

/// One session's trail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trail {
    pub session: SessionId,
    pub project: Option<ProjectId>,
    pub worktree: PathBuf,
    /// The prompts, oldest first, at most [`KEPT_PROMPTS`].
    pub steps: Vec<TrailStep>,
}

/// A prompt, its topics, and the files that were read and written after it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TrailStep {
    pub at: Timestamp,
    /// The hash of the prompt's text, to recognise a repeated prompt.
    pub hash: u64,
    /// The beginning of the prompt, if prompts may be kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    pub topics: Vec<String>,
    /// The files that were read, each once, by its last visit; `written` is the same for writes.
    pub read: Vec<FileVisit>,
    pub written: Vec<FileVisit>,
}

/// A file that a tool has read or written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileVisit {
    /// The path of the file, relative to the worktree if it is inside.
    pub path: String,
    pub at: Timestamp,
}

impl Trail {
    /// Tells whether the session was prompted after `then`.
    pub fn was_prompted_after(&self, then: Timestamp) -> bool {
        self.steps.iter().any(|step| step.at > then)
    }

    /// Returns the files that the session wrote after `then`, with the times.
    pub fn written_after(&self, then: Timestamp) -> impl Iterator<Item = (&str, Timestamp)> {
        let written = self.steps.iter().flat_map(|step| &step.written);
        written.filter(move |visit| visit.at > then).map(|visit| (visit.path.as_str(), visit.at))
    }

    /// Returns the time of the first prompt after `then` that was about a topic.
    pub fn first_prompt_on(&self, then: Timestamp, topic: &str) -> Option<Timestamp> {
        let speaks = |step: &&TrailStep| step.at > then && step.topics.iter().any(|known| known == topic);
        self.steps.iter().find(speaks).map(|step| step.at)
    }
}

/// A session's topics without its files: the topics of its last prompts, oldest first.
#[derive(Clone, Debug)]
pub struct TopicSummary<'a> {
    pub session: Cow<'a, str>,
    pub steps: Vec<Vec<&'a str>>,
}

impl<'a> TopicSummary<'a> {
    /// Summarises a trail.
    pub fn of(trail: &'a Trail) -> Self {
        Self { session: trail.session.as_str().into(), ..Self::of_steps(&trail.steps) }
    }

    /// Summarises prompts without a session.
    pub fn of_steps(steps: &'a [TrailStep]) -> Self {
        let words = |step: &'a TrailStep| step.topics.iter().map(String::as_str).collect();
        Self { session: "".into(), steps: steps.iter().map(words).collect() }
    }
}

/// A topic with a bit for each of the last prompts that it occurs in; the lowest bit is the oldest prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark<'a> {
    pub(super) name: &'a str,
    pub(super) mask: u16,
}

/// The direction of a topic over the last prompts. Every topic of a window has exactly one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Heading {
    /// The topic is in at least 60 % of the prompts, and in more of the newer half than of the older.
    Deepening,
    /// The topic is only in the last three prompts.
    Emerging,
    /// The topic is in none of the last three prompts.
    Fading,
    /// None of the other headings applies.
    Stable,
}

/// The topics of a window of prompts with their marks, sorted by name.
#[derive(Clone, Debug, Default)]
pub(super) struct Marks<'a> {
    pub(super) all: Vec<Mark<'a>>,
    pub(super) window: usize,
}

impl<'a> Marks<'a> {
    pub(super) fn new(glance: &TopicSummary<'a>) -> Self {
        let steps = glance.steps.iter().take(KEPT_PROMPTS).enumerate();
        let words = steps.flat_map(|(at, step)| step.iter().map(move |name| Mark { name, mask: 1 << at }));
        Self::merge(words.collect(), glance.steps.len().min(KEPT_PROMPTS))
    }

    fn merge(mut all: Vec<Mark<'a>>, window: usize) -> Self {
        all.sort_unstable_by_key(|mark| mark.name);
        all.dedup_by(|one, kept| {
            let is_same = one.name == kept.name;
            if is_same {
                kept.mask |= one.mask;
            }
            is_same
        });
        Self { all, window }
    }

    /// Returns the heading of a topic; `None` if the window is too short.
    pub(super) fn heading(&self, mark: &Mark<'_>) -> Option<Heading> {
        let window = self.window;
        if window < FEWEST {
            return None;
        }
        let (older, newer) = mark.mask.split_at(window / 2);
        let (before, of_late) = mark.mask.split_at(window - RECENT.min(window));
        let share_is_large = mark.mask.count_ones() as usize * 10 >= window * 6;
        Some(if share_is_large && newer > older {
            Heading::Deepening
        } else if before == 0 {
            Heading::Emerging
        } else if of_late == 0 {
            Heading::Fading
        } else {
            Heading::Stable
        })
    }

    pub(super) fn heading_for(&self, heading: Heading) -> impl Iterator<Item = &Mark<'a>> {
        self.all.iter().filter(move |mark| self.heading(mark) == Some(heading))
    }

    /// Returns the topics that are in both windows, with both their marks.
    pub(super) fn shared<'b, 'c>(
        &'b self,
        other: &'b Marks<'c>,
    ) -> impl Iterator<Item = (&'b Mark<'a>, &'b Mark<'c>)> {
        let mut rest = other.all.as_slice();
        self.all.iter().filter_map(move |mark| {
            while rest.first().is_some_and(|first| first.name < mark.name) {
                rest = &rest[1..];
            }
            rest.first().filter(|first| first.name == mark.name).map(|first| (mark, first))
        })
    }
}

trait SplitAt {
    /// Counts the bits that are set below a place, and from there on.
    fn split_at(self, place: usize) -> (u32, u32);
}

impl SplitAt for u16 {
    fn split_at(self, place: usize) -> (u32, u32) {
        let below = self & ((1_u32 << place) - 1) as u16;
        (below.count_ones(), (self & !below).count_ones())
    }
}

/// The topics of a window of prompts, by heading.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Trajectory {
    pub deepening: Vec<String>,
    pub emerging: Vec<String>,
    pub fading: Vec<String>,
    pub stable: Vec<String>,
}

impl Trajectory {
    /// Returns the trajectory of these prompts.
    pub fn of(steps: &[TrailStep]) -> Self {
        Self::of_summary(&TopicSummary::of_steps(steps))
    }

    /// Returns the trajectory of a topic summary.
    pub fn of_summary(glance: &TopicSummary<'_>) -> Self {
        let marks = Marks::new(glance);
        let all = |heading| {
            let mut found: Vec<&Mark<'_>> = marks.heading_for(heading).collect();
            found.sort_by_key(|mark| std::cmp::Reverse((mark.mask.count_ones(), mark.mask)));
            found.into_iter().map(|mark| mark.name.to_owned()).collect()
        };
        Self {
            deepening: all(Heading::Deepening),
            emerging: all(Heading::Emerging),
            fading: all(Heading::Fading),
            stable: all(Heading::Stable),
        }
    }
}
