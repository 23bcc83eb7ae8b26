//! The progress of a run, gathered from the events of its worker, and the end that is made from it.

use super::Failure;
use super::FailureKind;
use super::RunEnd;
use super::RunState;
use super::Usage;
use super::WorkerEvent;
use super::WorkerExit;
use crate::text;

/// The most running tools that are remembered.
const MOST_RUNNING: usize = 64;

/// Everything that a worker has reported so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    pub session: Option<String>,
    pub model: Option<String>,
    pub turns: u32,
    pub tools: u32,
    pub tools_failed: u32,
    /// The tools that are running: the id of each, and its name with its subject.
    pub running: Vec<(String, String)>,
    /// The last text of the model.
    pub said: Option<String>,
    pub failure: Option<Failure>,
    result: Option<String>,
    steps: Usage,
    in_all: Option<Usage>,
}

impl Progress {
    /// Takes in an event of the worker.
    pub fn hear(&mut self, event: &WorkerEvent) {
        match event {
            WorkerEvent::Session(session) if is_id(session) => self.session = Some(session.clone()),
            WorkerEvent::Session(_) => {}
            WorkerEvent::Model(model) => self.model = Some(model.clone()),
            WorkerEvent::Turn => self.turns += 1,
            WorkerEvent::ToolBegins { id, tool, about } => {
                self.tools += 1;
                let about = if about.is_empty() { tool.clone() } else { format!("{tool} {about}") };
                // The tools of a CLI that never reports their end are not remembered for ever.
                self.running.drain(..(self.running.len() + 1).saturating_sub(MOST_RUNNING));
                self.running.push((id.clone(), about));
            }
            WorkerEvent::ToolEnds { id, is_ok, .. } => {
                self.tools_failed += u32::from(!is_ok);
                self.running.retain(|(running, _)| running != id);
            }
            WorkerEvent::Said(said) => self.said = Some(said.clone()),
            WorkerEvent::Used(usage) => self.steps = self.steps.with(usage),
            WorkerEvent::UsedInAll(usage) => self.in_all = Some(*usage),
            WorkerEvent::Retries { .. } => {}
            WorkerEvent::Result(result) => self.result = Some(result.clone()),
            WorkerEvent::Failed(failure) => self.failure = Some(failure.clone()),
        }
    }

    /// Returns the usage, as far as it is known.
    pub fn usage(&self) -> Usage {
        let told = self.in_all.unwrap_or(self.steps);
        Usage { turns: told.turns.or((self.turns > 0).then_some(self.turns)), ..told }
    }

    /// Returns the result, or else the last text of the model.
    pub fn result(&self) -> Option<&str> {
        let found = self.result.as_deref().filter(|result| !result.trim().is_empty());
        found.or(self.said.as_deref()).filter(|result| !result.trim().is_empty())
    }

    /// Builds the end of the run; `cut` is its state if we ended the worker ourselves.
    pub fn end(&self, exit: &WorkerExit, cut: Option<RunState>) -> RunEnd {
        let failure = self.failure.clone().or_else(|| self.failure_from_exit(exit).filter(|_| cut.is_none()));
        let state = match (cut, &failure) {
            (Some(cut), _) => cut,
            (None, Some(Failure { kind: FailureKind::Budget | FailureKind::Turns, .. })) => {
                RunState::BudgetExceeded
            }
            (None, Some(_)) => RunState::Error,
            (None, None) => RunState::Done,
        };
        RunEnd {
            usage: self.usage(),
            failure: failure.filter(|_| state != RunState::Cancelled),
            model: self.model.clone(),
            session: self.session.clone(),
            tools: self.tools,
            tools_failed: self.tools_failed,
            ..RunEnd::bare(state)
        }
    }

    /// Finds the failure that the worker itself has not reported.
    fn failure_from_exit(&self, exit: &WorkerExit) -> Option<Failure> {
        let last = exit.stderr.trim().lines().next_back().map(|line| text::one_line(line, 300));
        let last = last.filter(|line| !line.is_empty());
        let message = match (exit.code, exit.signal) {
            (Some(0), _) if self.result().is_some() => return None,
            (Some(0), _) => "it ended without a word".to_owned(),
            (Some(code), _) => last.unwrap_or_else(|| format!("it exited with {code}")),
            (None, Some(signal)) => format!("it was ended by signal {signal}"),
            (None, None) => "nobody saw how it ended".to_owned(),
        };
        Some(Failure { kind: FailureKind::Other, message, until: None })
    }
}

/// Tells whether a text can be the id of a session; a CLI is given the id back as an argument.
fn is_id(session: &str) -> bool {
    (1..=200).contains(&session.len()) && !session.starts_with('-') && !session.chars().any(char::is_control)
}

impl Usage {
    /// Adds two usages; a figure that neither reports stays unknown.
    pub fn with(&self, more: &Usage) -> Usage {
        let sum = |one: Option<u64>, other: Option<u64>| match (one, other) {
            (None, None) => None,
            (one, other) => Some(one.unwrap_or(0).saturating_add(other.unwrap_or(0))),
        };
        let turns = sum(self.turns.map(u64::from), more.turns.map(u64::from));
        let cost = |cost: Option<super::Cost>| cost.map(|cost| cost.0);
        let (one, other) = (cost(self.cost), cost(more.cost));
        Usage {
            input: sum(self.input, more.input),
            output: sum(self.output, more.output),
            cache_read: sum(self.cache_read, more.cache_read),
            cache_write: sum(self.cache_write, more.cache_write),
            cost: one.map(|one| one.saturating_add(other.unwrap_or(0))).or(other).map(super::Cost),
            turns: turns.and_then(|turns| u32::try_from(turns).ok()),
        }
    }

    /// Returns the sum of all token counts that are known.
    pub fn tokens(&self) -> Option<u64> {
        let known = [self.input, self.output, self.cache_read, self.cache_write];
        known.iter().any(Option::is_some).then(|| known.iter().flatten().sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_a_session_is_none() {
        let mut progress = Progress::default();
        for told in ["", "a\nb", "--dangerous", &"x".repeat(201)] {
            progress.hear(&WorkerEvent::Session(told.to_owned()));
            assert_eq!(progress.session, None, "{told:?}");
        }
        progress.hear(&WorkerEvent::Session("0b1c-2d3e".to_owned()));
        progress.hear(&WorkerEvent::Session("\u{1b}[2J".to_owned()));
        assert_eq!(progress.session.as_deref(), Some("0b1c-2d3e"));
    }

    #[test]
    fn tools_that_never_end_are_forgotten() {
        let mut progress = Progress::default();
        for n in 0..1_000 {
            let begins =
                WorkerEvent::ToolBegins { id: n.to_string(), tool: "Bash".into(), about: "ls".into() };
            progress.hear(&begins);
        }
        assert_eq!((progress.tools, progress.running.len()), (1_000, MOST_RUNNING));
        assert_eq!(progress.running.last().unwrap().0, "999");
    }
}
