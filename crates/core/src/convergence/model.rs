//! Data of the convergence room: predictions, how they ended, and the outcomes of
//! radar, handoff and delegation.

use serde::Deserialize;
use serde::Serialize;

use super::Domains;
use super::LearnedDomain;
use super::Signal;
use super::SignalKind;
use super::Step;
use super::Trajectory;
use super::established;
use crate::Timestamp;
use crate::claims::Hold;
use crate::config::environment_name;
use crate::journal::ChangeId;
use crate::journal::Number;
use crate::journal::Seq;
use crate::messages::Message;
use crate::presence::AgentView;
use crate::presence::SessionId;
use crate::presence::Status;
use crate::project::ProjectId;
use crate::tasks::TaskRecord;
use crate::tasks::TaskView;

/// A change of what is foreseen or of domains.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConvergenceChange {
    /// Two are thought to meet. `again`: an earlier prediction of theirs is
    /// now this one.
    Predicted {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        again: Option<ChangeId>,
        pair: [PredictedAgent; 2],
        signal: Signal,
    },
    Resolved {
        prediction: ChangeId,
        /// What that is called.
        number: Number,
        outcome: PredictionOutcome,
        how: String,
        /// As it is from now on.
        tally: Counters,
    },
    /// The person puts a topic into a domain, or into none.
    Assigned { topic: String, domain: Option<String> },
    /// All that is known of topics' company from now on.
    Learned { learned: Vec<LearnedDomain> },
}

impl ConvergenceChange {
    /// Who or what it changes.
    pub(crate) fn about(&self) -> Vec<String> {
        match self {
            Self::Predicted { again, .. } => again.iter().map(|id| format!("prediction:{id}")).collect(),
            Self::Resolved { prediction, .. } => vec![format!("prediction:{prediction}")],
            Self::Assigned { topic, .. } => vec![format!("topic:{topic}")],
            Self::Learned { .. } => Vec::new(),
        }
    }
}

/// One of two.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PredictedAgent {
    pub session: SessionId,
    pub name: String,
}

/// A prediction as it is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prediction {
    pub id: ChangeId,
    /// Its number among those of its project.
    pub number: Number,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectId>,
    /// When it was made or last renewed.
    pub at: Timestamp,
    /// The entry that made or last renewed it.
    #[serde(rename = "entry")]
    pub seq: Seq,
    pub pair: [PredictedAgent; 2],
    pub signal: Signal,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<PredictionEnding>,
}

impl Prediction {
    /// Whether it is about that session.
    pub fn concerns(&self, session: &SessionId) -> bool {
        self.pair.iter().any(|party| party.session == *session)
    }

    /// The other one of the two.
    pub fn other(&self, session: &SessionId) -> &PredictedAgent {
        if self.pair[0].session == *session { &self.pair[1] } else { &self.pair[0] }
    }
}

/// How and when a prediction ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PredictionEnding {
    pub outcome: PredictionOutcome,
    /// What it was seen by.
    pub how: String,
    pub at: Timestamp,
}

/// What became of a prediction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PredictionOutcome {
    /// The two came to an understanding.
    Prevented,
    /// They met.
    Occurred,
    /// They went on for long without anything in common.
    FalsePositive,
    /// One of them left.
    Expired,
}

impl PredictionOutcome {
    /// Its name in JSON and messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Prevented => "prevented",
            Self::Occurred => "occurred",
            Self::FalsePositive => "false positive",
            Self::Expired => "expired",
        }
    }
}

/// How predictions have come out, and the threshold that follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Counters {
    pub threshold: f64,
    pub all: Counts,
    /// Since the threshold was last looked at.
    pub round: Counts,
}

/// How many predictions ended in which way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    pub prevented: u32,
    pub occurred: u32,
    pub false_positive: u32,
    pub expired: u32,
}

/// What hooks read instead of the store. It may be older than the store: what
/// follows from it is decided anew where it is recorded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RadarNote {
    /// Without one, the store was never asked.
    pub threshold: Option<f64>,
    /// Published settings, the user's before the worktree's.
    pub settings: Vec<(String, String)>,
    /// What the person has assigned, and what was learned.
    pub assigned: Vec<(String, Option<String>)>,
    pub learned: Vec<LearnedDomain>,
    /// Whether settings of that very worktree were ever published.
    pub is_published_here: bool,
    /// Those that have not ended, and the last that have.
    pub predictions: Vec<PredictionNote>,
}

/// A prediction, as far as hooks need it.
#[derive(Clone, Debug, PartialEq)]
pub struct PredictionNote {
    pub id: ChangeId,
    pub at: Timestamp,
    pub kind: SignalKind,
    pub pair: [SessionId; 2],
    pub topics: Vec<String>,
    pub files: Vec<String>,
    pub ended: Option<Timestamp>,
}

impl From<&Prediction> for PredictionNote {
    fn from(prediction: &Prediction) -> Self {
        let Signal { kind, topics, files, .. } = &prediction.signal;
        Self {
            id: prediction.id,
            at: prediction.at,
            kind: *kind,
            pair: prediction.pair.each_ref().map(|party| party.session.clone()),
            topics: topics.clone(),
            files: files.clone(),
            ended: prediction.ended.as_ref().map(|ending| ending.at),
        }
    }
}

/// Two agents and how near they are.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PairView {
    pub pair: [PredictedAgent; 2],
    /// What is seen now, the strongest first.
    pub signals: Vec<Signal>,
    pub prediction: Option<Prediction>,
    pub trend: Trend,
}

/// Since the prediction was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Trend {
    New,
    Rising,
    Steady,
    Falling,
}

/// Everyone and every pair, as `radar` shows them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RadarOutcome {
    pub at: Timestamp,
    pub tally: Counters,
    pub agents: Vec<AgentTopics>,
    pub pairs: Vec<PairView>,
}

/// What an agent is about.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AgentTopics {
    pub name: String,
    pub session: SessionId,
    #[serde(flatten)]
    pub trajectory: Trajectory,
    /// Of the last prompt.
    pub topics: Vec<String>,
}

/// What an agent leaves to its successor.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Handoff {
    #[serde(flatten)]
    pub seen: AgentView,
    /// What it was asked last, where prompts may be kept.
    pub goal: Option<String>,
    pub trajectory: Trajectory,
    /// Its last prompts, oldest first.
    pub steps: Vec<Step>,
    pub task: Option<TaskRecord>,
    /// Of its spec, what is not done.
    pub open_tasks: Vec<TaskView>,
    pub holds: Vec<Hold>,
    /// Newest first; those it only read apart.
    pub written: Vec<String>,
    pub read: Vec<String>,
    /// What differs from the last commit in its worktree.
    pub changes: Vec<String>,
    /// What it sent, and what it has not read.
    pub messages: Vec<Message>,
    pub unfinished: Vec<String>,
}

/// One who could do it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Candidate {
    pub name: String,
    pub session: SessionId,
    pub status: Status,
    /// From 0 to 1.
    pub score: f64,
    pub reasons: Vec<String>,
}

/// A topic's domain, and where that is from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DomainView {
    pub topic: String,
    pub domain: String,
    pub source: DomainSource,
}

/// Where a domain comes from.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DomainSource {
    Configured,
    Assigned,
    Learned { weight: f64 },
}

/// What is configured, with what was learned and assigned on top.
pub(crate) fn domains(
    configured: &str,
    assigned: &[(String, Option<String>)],
    learned: &[LearnedDomain],
    now: Timestamp,
) -> Domains {
    // What cannot be read was refused where it was configured.
    let mut domains = Domains::parse(configured).unwrap_or_default();
    for one in established(learned, now) {
        if domains.of(&one.topic).is_none() {
            domains.set(&one.topic, Some(&one.domain));
        }
    }
    for (topic, domain) in assigned {
        domains.set(topic, domain.as_deref());
    }
    domains
}

/// What is configured in published settings, nearest last, and the environment.
pub(crate) fn configured_domains(
    published: &[(String, String)],
    environment: &dyn Fn(&str) -> Option<String>,
) -> String {
    configured("convergence.domains", published, environment).unwrap_or_else(|| Domains::DEFAULT.to_owned())
}

/// A setting that is text.
pub(crate) fn configured(
    key: &str,
    published: &[(String, String)],
    environment: &dyn Fn(&str) -> Option<String>,
) -> Option<String> {
    let published = || published.iter().rfind(|(name, _)| name == key).map(|(_, value)| value.clone());
    environment(&environment_name(key)).or_else(published)
}
