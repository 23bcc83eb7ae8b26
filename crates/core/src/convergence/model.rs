//! Data of the convergence room: predictions and their endings, published notes, and the outcomes of radar,
//! handoff and delegation.

use serde::Deserialize;
use serde::Serialize;

use super::Domains;
use super::LearnedDomain;
use super::Signal;
use super::SignalKind;
use super::TrailStep;
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

/// A change of predictions or of domains.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConvergenceChange {
    /// Two sessions are predicted to collide. `again` names their open prediction, if this one renews it.
    Predicted {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        again: Option<ChangeId>,
        pair: [PredictedAgent; 2],
        signal: Signal,
    },
    Resolved {
        prediction: ChangeId,
        /// The number of the prediction.
        number: Number,
        outcome: PredictionOutcome,
        how: String,
        /// The counters after this outcome.
        tally: Counters,
    },
    /// The person assigns a topic to a domain, or to none.
    Assigned { topic: String, domain: Option<String> },
    /// All learned domains, which replace the earlier ones.
    Learned { learned: Vec<LearnedDomain> },
}

impl ConvergenceChange {
    /// Lists the subjects of the change, for the journal.
    pub(crate) fn about(&self) -> Vec<String> {
        match self {
            Self::Predicted { again, .. } => again.iter().map(|id| format!("prediction:{id}")).collect(),
            Self::Resolved { prediction, .. } => vec![format!("prediction:{prediction}")],
            Self::Assigned { topic, .. } => vec![format!("topic:{topic}")],
            Self::Learned { .. } => Vec::new(),
        }
    }
}

/// One of the two agents that a prediction says will collide.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PredictedAgent {
    pub session: SessionId,
    pub name: String,
}

/// A prediction that two sessions will collide.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prediction {
    pub id: ChangeId,
    /// The prediction's number within its project.
    pub number: Number,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectId>,
    /// The time when the prediction was made or last renewed.
    pub at: Timestamp,
    /// The journal entry that made or last renewed the prediction.
    #[serde(rename = "entry")]
    pub seq: Seq,
    pub pair: [PredictedAgent; 2],
    pub signal: Signal,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<PredictionEnding>,
}

impl Prediction {
    /// Tells whether the prediction is about that session.
    pub fn concerns(&self, session: &SessionId) -> bool {
        self.pair.iter().any(|party| party.session == *session)
    }

    /// Returns the agent that is not `session`.
    pub fn other(&self, session: &SessionId) -> &PredictedAgent {
        if self.pair[0].session == *session { &self.pair[1] } else { &self.pair[0] }
    }
}

/// The outcome of a prediction, with its evidence and time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PredictionEnding {
    pub outcome: PredictionOutcome,
    /// The evidence for the outcome, in words.
    pub how: String,
    pub at: Timestamp,
}

/// The outcome of a prediction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PredictionOutcome {
    /// The two agents came to an understanding.
    Prevented,
    /// The two agents collided.
    Occurred,
    /// The two agents worked on for long without anything in common.
    FalsePositive,
    /// One of the two agents left.
    Expired,
}

impl PredictionOutcome {
    /// Returns the outcome in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Prevented => "prevented",
            Self::Occurred => "occurred",
            Self::FalsePositive => "false positive",
            Self::Expired => "expired",
        }
    }
}

/// The counts of outcomes, and the threshold that follows from them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Counters {
    pub threshold: f64,
    pub all: PredictionCounts,
    /// The outcomes since the threshold was last reviewed.
    pub round: PredictionCounts,
}

/// The numbers of predictions by outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PredictionCounts {
    pub prevented: u32,
    pub occurred: u32,
    pub false_positive: u32,
    pub expired: u32,
}

/// The published data about convergence that hooks read instead of the store. It may be older than the store,
/// so decisions made from it are checked again before they are recorded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PublishedConvergence {
    /// The threshold; `None` if the note does not come from a store.
    pub threshold: Option<f64>,
    /// Published settings, the user's before the worktree's.
    pub settings: Vec<(String, String)>,
    /// The topics that the person has assigned to a domain, or to none.
    pub assigned: Vec<(String, Option<String>)>,
    pub learned: Vec<LearnedDomain>,
    /// Whether settings of exactly this worktree were ever published.
    pub is_published_here: bool,
    /// The open predictions, and the last ones that ended.
    pub predictions: Vec<PredictionNote>,
}

/// The part of a prediction that hooks need.
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

/// Two agents, with the signals between them and their open prediction.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PairView {
    pub pair: [PredictedAgent; 2],
    /// The current signals, strongest first.
    pub signals: Vec<Signal>,
    pub prediction: Option<Prediction>,
    pub trend: Trend,
}

/// The change of a pair's confidence since its prediction was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Trend {
    New,
    Rising,
    Steady,
    Falling,
}

/// All agents of a project and their pairs, as `radar` shows them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RadarView {
    pub at: Timestamp,
    pub tally: Counters,
    pub agents: Vec<AgentTopics>,
    pub pairs: Vec<PairView>,
}

/// The topics of an agent's last prompts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AgentTopics {
    pub name: String,
    pub session: SessionId,
    #[serde(flatten)]
    pub trajectory: Trajectory,
    /// The topics of the last prompt.
    pub topics: Vec<String>,
}

/// Everything about an agent's work that its successor needs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Handoff {
    #[serde(flatten)]
    pub seen: AgentView,
    /// The agent's last prompt, if prompts may be kept.
    pub goal: Option<String>,
    pub trajectory: Trajectory,
    /// The agent's last prompts, oldest first.
    pub steps: Vec<TrailStep>,
    pub task: Option<TaskRecord>,
    /// The tasks of the agent's spec that are not done.
    pub open_tasks: Vec<TaskView>,
    pub holds: Vec<Hold>,
    /// The files that the agent wrote, newest first; `read` has the files that it only read.
    pub written: Vec<String>,
    pub read: Vec<String>,
    /// The uncommitted changes in the agent's worktree.
    pub changes: Vec<String>,
    /// The messages that the agent sent lately, and those that it has not read.
    pub messages: Vec<Message>,
    pub unfinished: Vec<String>,
}

/// An agent that could be given a task.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Candidate {
    pub name: String,
    pub session: SessionId,
    pub status: Status,
    /// The agent's suitability, from 0 to 1.
    pub score: f64,
    pub reasons: Vec<String>,
}

/// A topic, its domain, and the source of that assignment.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DomainView {
    pub topic: String,
    pub domain: String,
    pub source: DomainSource,
}

/// The source of a topic's domain.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DomainSource {
    Configured,
    Assigned,
    Learned { weight: f64 },
}

/// Builds the domains from the configuration, learned domains, and the person's assignments, which come last
/// and win.
pub(crate) fn domains(
    configured: &str,
    assigned: &[(String, Option<String>)],
    learned: &[LearnedDomain],
    now: Timestamp,
) -> Domains {
    // An invalid text was already refused when it was configured.
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

/// Returns the configured domains: from the environment, else from published settings (nearest last), else
/// the default.
pub(crate) fn configured_domains(
    published: &[(String, String)],
    environment: &dyn Fn(&str) -> Option<String>,
) -> String {
    configured("convergence.domains", published, environment).unwrap_or_else(|| Domains::DEFAULT.to_owned())
}

/// Returns a text setting: from the environment, else the last published one.
pub(crate) fn configured(
    key: &str,
    published: &[(String, String)],
    environment: &dyn Fn(&str) -> Option<String>,
) -> Option<String> {
    let published = || published.iter().rfind(|(name, _)| name == key).map(|(_, value)| value.clone());
    environment(&environment_name(key)).or_else(published)
}
