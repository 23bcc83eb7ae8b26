//! Gathers the runs for the screen, with the progress of each by its log.

use std::collections::HashMap;

use consort_core::Timestamp;
use consort_core::dispatch::Progress;
use consort_core::dispatch::RunRecord;
use consort_core::dispatch::RunState;
use consort_core::journal::Actor;
use consort_core::journal::ChangeId;
use consort_core::secrets::redacted;
use consort_core::text;
use consort_tui::RunInfo;

use crate::error::CommandError;
use crate::render;
use crate::runs::RunDir;
use crate::runs::directory::RunNote;
use crate::runs::follow::EventReader;
use crate::world::OpenWorld;
use crate::world::World;

/// Most runs that are listed.
const MOST: usize = 30;

/// Time for which a result is offered for review.
const REVIEW: i64 = Timestamp::HOUR;

/// The known state of the runs of a project.
#[derive(Default)]
pub(super) struct RunList {
    runs: Vec<RunInfo>,
    to_review: Vec<i64>,
    /// The progress of each open run: a reader of its log, which goes on from where it was, the state so far,
    /// and the time of the last line.
    told: HashMap<ChangeId, (EventReader, Progress, Option<Timestamp>)>,
    records: Vec<RunRecord>,
}

impl RunList {
    pub(super) fn is_any_open(&self) -> bool {
        self.runs.iter().any(|run| !run.has_ended)
    }

    /// Returns the cost of an agent's runs, as far as it is known.
    pub(super) fn cost_of_agent(&self, name: &str) -> Option<u64> {
        let costs = self.runs.iter().filter(|run| run.name == name).filter_map(|run| run.cost);
        costs.reduce(|one, other| one + other)
    }

    /// Returns the runs that the person asked for and that have ended lately.
    pub(super) fn to_review(&self) -> impl Iterator<Item = &RunInfo> {
        self.runs.iter().filter(|run| self.to_review.contains(&run.number))
    }

    /// Returns the latest run of that agent.
    pub(super) fn record_of(&self, name: &str) -> Option<&RunRecord> {
        self.records.iter().find(|run| run.spec.name.as_str() == name)
    }

    pub(super) fn read(
        &mut self,
        world: &World,
        opened: &mut OpenWorld,
    ) -> Result<Vec<RunInfo>, CommandError> {
        let now = opened.app.host().now();
        self.records = opened.app.runs(&opened.project.id, MOST, &|_| true)?;
        let is_new = |run: &&RunRecord| {
            let ended = run.ended_at.is_some_and(|at| now.since(at) < REVIEW);
            ended && run.by == Actor::Person && run.state != RunState::Cancelled
        };
        self.to_review = self.records.iter().filter(is_new).map(|run| run.number).collect();
        let records = std::mem::take(&mut self.records);
        self.runs = records.iter().map(|run| self.run(world, run)).collect();
        self.told.retain(|id, _| records.iter().any(|run| run.id == *id && !run.state.has_ended()));
        self.records = records;
        Ok(self.runs.clone())
    }

    fn run(&mut self, world: &World, run: &RunRecord) -> RunInfo {
        let (spec, end) = (&run.spec, run.end.as_ref());
        let mut usage = end.map(|end| end.usage).unwrap_or_default();
        let mut doing = end
            .and_then(|end| end.failure.as_ref())
            .map_or_else(String::new, |failure| redacted(&text::one_line(&failure.message, 200)));
        let (mut heard_at, mut model) = (None, end.and_then(|end| end.model.clone()));
        if !run.state.has_ended() {
            let begin = || (EventReader::new(RunDir::of(&world.paths, run.id)), Progress::default(), None);
            let (reader, progress, heard) = self.told.entry(run.id).or_insert_with(begin);
            for line in reader.more() {
                *heard = Some(line.at);
                if let RunNote::Event(event) = &line.what {
                    progress.hear(event);
                }
            }
            usage = progress.usage();
            let running = progress.running.last().map(|(_, about)| about.as_str());
            doing = redacted(&text::one_line(running.or(progress.said.as_deref()).unwrap_or_default(), 200));
            (heard_at, model) = (*heard, progress.model.clone());
        }
        let state = match (run.state, run.parked_until) {
            (RunState::Pending, Some(until)) => format!("waits until {}", crate::time::local(until)),
            (state, _) => state.words().to_owned(),
        };
        RunInfo {
            number: run.number,
            mark: run.state.mark().to_owned(),
            state,
            has_ended: run.state.has_ended(),
            is_well: matches!(run.state, RunState::Pending | RunState::Running | RunState::Done),
            name: spec.name.to_string(),
            role: text::one_line(&spec.role, 20),
            cli: text::one_line(&spec.cli, 20),
            model: model.or_else(|| spec.model.clone()).map(|model| text::one_line(&model, 30)),
            title: redacted(&text::one_line(&spec.title, 200)),
            started_at: run.started_at,
            ended_at: run.ended_at,
            turns: usage.turns,
            tokens: usage.tokens(),
            cost: usage.cost.and_then(|cost| u64::try_from(cost.0).ok()),
            doing,
            heard_at,
        }
    }
}

/// Formats the log of a run so far, and its result.
pub(super) fn lines(world: &World, run: &RunRecord) -> Vec<String> {
    let dir = RunDir::of(&world.paths, run.id);
    let mut lines = vec![render::runs::summary(run), format!("  {}", redacted(&run.spec.title))];
    lines.extend(dir.lines().iter().filter_map(|line| render::runs::told(&line.what)));
    let result = dir.read_result();
    if !result.trim().is_empty() {
        lines.push("Result".to_owned());
        lines.extend(text::printable(result.trim_end()).lines().map(|line| format!("  {line}")));
    }
    lines
}
