//! Evaluates how well collisions are foreseen, by labelled histories that are replayed prompt by
//! prompt.
//!
//! `generated` comes from templates with a fixed seed and tests words; `tuned/`
//! and `unseen/` are little stories about real work. `tuned/` was looked at while
//! the rules were made; of `unseen/`, only the scores were looked at.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::path::PathBuf;

use consort_core::Timestamp;
use consort_core::convergence::Domains;
use consort_core::convergence::FileVisit;
use consort_core::convergence::KEPT_PROMPTS;
use consort_core::convergence::ScoringContext;
use consort_core::convergence::Signal;
use consort_core::convergence::SignalKind;
use consort_core::convergence::TopicSummary;
use consort_core::convergence::Trail;
use consort_core::convergence::TrailProfile;
use consort_core::convergence::TrailStep;
use consort_core::convergence::signals;
use consort_core::convergence::topics;

use crate::generated;

/// The prompts, files and collisions of some agents, in order.
#[derive(Clone, Debug)]
pub struct History {
    pub name: String,
    agents: Vec<String>,
    events: Vec<(i64, Event)>,
}

#[derive(Clone, Debug)]
enum Event {
    Prompt(usize, String),
    Read(usize, String),
    Wrote(usize, String),
    Collision(usize, usize),
}

/// The rules to measure.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    pub files: bool,
    pub threshold: f64,
    pub without: Option<SignalKind>,
}

/// The counts of foreseen, missed and falsely predicted collisions in some histories.
#[derive(Clone, Debug, Default)]
pub struct Score {
    pub foreseen: usize,
    pub missed: usize,
    pub false_alarms: usize,
    /// The prompts of the pair, and the minutes, between each prediction and its
    /// collision.
    pub leads: Vec<(usize, i64)>,
}

impl Score {
    pub fn precision(&self) -> f64 {
        self.foreseen as f64 / (self.foreseen + self.false_alarms).max(1) as f64
    }

    pub fn recall(&self) -> f64 {
        self.foreseen as f64 / (self.foreseen + self.missed).max(1) as f64
    }

    /// Returns the median lead in prompts and in minutes.
    pub fn lead(&self) -> (usize, i64) {
        let (mut prompts, mut minutes): (Vec<_>, Vec<_>) = self.leads.iter().copied().unzip();
        prompts.sort_unstable();
        minutes.sort_unstable();
        let middle = self.leads.len() / 2;
        (prompts.get(middle).copied().unwrap_or(0), minutes.get(middle).copied().unwrap_or(0))
    }
}

/// The names of the sets of histories.
pub const SETS: [&str; 3] = ["tuned", "unseen", "generated"];

/// The name for all sets together.
pub const ALL: &str = "all";

/// Scores rules on a set of histories.
pub fn score(set: &str, rules: Rules) -> Score {
    let domains = Domains::parse(Domains::DEFAULT).unwrap();
    let mut score = Score::default();
    for history in histories(set) {
        history.replay(rules, &domains, &mut score);
    }
    score
}

/// Reads the histories of a set.
pub fn histories(set: &str) -> Vec<History> {
    if set == ALL {
        return SETS.into_iter().flat_map(histories).collect();
    }
    if set == "generated" {
        return generated::histories().into_iter().map(|(name, text)| History::parse(name, &text)).collect();
    }
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("convergence").join(set);
    let mut paths: Vec<_> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let read = |path: &PathBuf| {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        History::parse(name, &fs::read_to_string(path).unwrap())
    };
    paths.iter().map(read).collect()
}

impl History {
    fn parse(name: String, text: &str) -> Self {
        let mut history = Self { name, agents: Vec::new(), events: Vec::new() };
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            if let Some(agents) = line.strip_prefix("agents:") {
                history.agents = agents.split_whitespace().map(str::to_owned).collect();
            }
            let Some((minute, rest)) = line.strip_prefix('@').and_then(|rest| rest.split_once(' ')) else {
                continue;
            };
            let event = history.event(rest).unwrap_or_else(|| panic!("{}: {line}", history.name));
            history.events.push((minute.parse().unwrap(), event));
        }
        history
    }

    pub fn collides(&self) -> bool {
        self.events.iter().any(|(_, event)| matches!(event, Event::Collision(..)))
    }

    fn event(&self, text: &str) -> Option<Event> {
        let agent = |name: &str| self.agents.iter().position(|agent| agent == name);
        if let Some(pair) = text.strip_prefix("!! ") {
            let mut words = pair.split_whitespace();
            return Some(Event::Collision(agent(words.next()?)?, agent(words.next()?)?));
        }
        if let Some((who, prompt)) = text.split_once("> ")
            && let Some(who) = agent(who)
        {
            return Some(Event::Prompt(who, prompt.to_owned()));
        }
        let mut words = text.splitn(3, ' ');
        let (who, verb, path) = (agent(words.next()?)?, words.next()?, words.next()?.to_owned());
        match verb {
            "r" => Some(Event::Read(who, path)),
            "w" => Some(Event::Wrote(who, path)),
            _ => None,
        }
    }

    /// Replays the history as hooks see it: at a prompt, a session is compared with
    /// all others; when it reads a file, with the agent that wrote the file last;
    /// when it writes a file, with the agent that read the file last.
    pub fn replay(&self, rules: Rules, domains: &Domains, score: &mut Score) -> Vec<String> {
        let mut trails: Vec<Trail> = self.agents.iter().map(|name| trail(name)).collect();
        let (mut last_writer, mut last_reader) =
            (BTreeMap::<&str, usize>::new(), BTreeMap::<&str, usize>::new());
        let mut predicted: BTreeMap<(usize, usize), (usize, i64, Signal)> = BTreeMap::new();
        let mut collided: Vec<(usize, usize)> = Vec::new();
        let mut prompts = vec![0; self.agents.len()];
        let mut report = Vec::new();
        for (at, (minute, event)) in self.events.iter().enumerate() {
            // A signal from the very event that makes the collision does not count as foreseen.
            let is_too_late = matches!(self.events.get(at + 1), Some((_, Event::Collision(..))));
            let now = Timestamp(minute * Timestamp::MINUTE);
            let (who, others): (usize, Vec<usize>) = match event {
                Event::Prompt(who, prompt) => {
                    prompts[*who] += 1;
                    let steps = &mut trails[*who].steps;
                    steps.push(TrailStep { at: now, topics: topics(prompt, &[]), ..TrailStep::default() });
                    let extra = steps.len().saturating_sub(KEPT_PROMPTS);
                    steps.drain(..extra);
                    (*who, (0..trails.len()).collect())
                }
                Event::Read(who, path) => {
                    note(&mut trails[*who], path, now, false);
                    last_reader.insert(path, *who);
                    (*who, last_writer.get(path.as_str()).copied().into_iter().collect())
                }
                Event::Wrote(who, path) => {
                    note(&mut trails[*who], path, now, true);
                    last_writer.insert(path, *who);
                    (*who, last_reader.get(path.as_str()).copied().into_iter().collect())
                }
                Event::Collision(one, other) => {
                    let pair = ordered(*one, *other);
                    collided.push(pair);
                    let said = prompts[pair.0] + prompts[pair.1];
                    match predicted.get(&pair) {
                        Some((at, then, _)) => {
                            score.foreseen += 1;
                            score.leads.push((said - at, minute - then));
                        }
                        None => {
                            score.missed += 1;
                            report.push(format!("{}: missed {pair:?}", self.name));
                        }
                    }
                    continue;
                }
            };
            if is_too_late {
                continue;
            }
            let scoring_context = ScoringContext {
                files: rules.files,
                threshold: rules.threshold,
                domains,
                without: rules.without,
                now,
            };
            let is_prompt = matches!(event, Event::Prompt(..));
            for other in others.into_iter().filter(|other| *other != who) {
                let pair = ordered(who, other);
                if predicted.contains_key(&pair) || collided.contains(&pair) {
                    continue;
                }
                if let Some(signal) =
                    first_signal([&trails[who], &trails[other]], is_prompt, &scoring_context)
                {
                    predicted.insert(pair, (prompts[pair.0] + prompts[pair.1], *minute, signal));
                }
            }
        }
        for (pair, (_, _, signal)) in predicted.iter().filter(|(pair, _)| !collided.contains(pair)) {
            score.false_alarms += 1;
            report.push(format!("{}: false alarm {pair:?} {signal:?}", self.name));
        }
        report
    }
}

/// Finds the first signal that two agents collide. At a prompt, files count only if words do.
fn first_signal(trails: [&Trail; 2], is_prompt: bool, context: &ScoringContext<'_>) -> Option<Signal> {
    let [a, b] = trails.map(|trail| TrailProfile::topics_only(&TopicSummary::of(trail), context));
    if is_prompt && signals(&a, &b, context).is_empty() {
        return None;
    }
    let [a, b] = trails.map(|trail| TrailProfile::new(trail, context));
    signals(&a, &b, context).into_iter().next()
}

fn trail(name: &str) -> Trail {
    Trail { session: name.into(), project: None, worktree: "/".into(), steps: Vec::new() }
}

fn ordered(one: usize, other: usize) -> (usize, usize) {
    (one.min(other), one.max(other))
}

fn note(trail: &mut Trail, path: &str, at: Timestamp, written: bool) {
    let Some(step) = trail.steps.last_mut() else { return };
    let files = if written { &mut step.written } else { &mut step.read };
    files.retain(|known| known.path != path);
    files.push(FileVisit { path: path.to_owned(), at });
}
