//! Data of the questions that agents ask the person, as their CLIs tell them, and of the answers.

use serde::Deserialize;
use serde::Serialize;

use super::DecidedBy;
use crate::Timestamp;
use crate::host::Process;
use crate::journal::ChangeId;
use crate::journal::Number;
use crate::presence::SessionId;
use crate::project::ProjectId;

/// A question of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ask {
    pub session: SessionId,
    pub kind: AskKind,
    /// `Bash`, `Edit`, `Read`, or the tool's own name.
    pub tool: String,
    /// Everything that there is to decide about: the command, the diff, the plan.
    pub text: String,
    /// Whether `text` is not all: then the question can only be refused from elsewhere, or answered
    /// in the CLI's dialog.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
    /// The files that the tool would write or read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<AskItem>,
    /// Whether the CLI offers not to ask again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub can_be_always: bool,
    /// The process that takes an answer to the agent, as long as it lives, and its machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder: Option<AnswerDeliverer>,
}

/// The process that takes an answer to the agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerDeliverer {
    pub machine: String,
    pub process: Process,
}

/// The kind of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AskKind {
    Permission,
    Question,
    Plan,
}

impl AskKind {
    /// Returns the name in words and in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Permission => "permission",
            Self::Question => "question",
            Self::Plan => "plan",
        }
    }
}

/// One of the questions that an agent asks at once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskItem {
    pub text: String,
    pub options: Vec<String>,
    /// Whether several options may be chosen.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub takes_many: bool,
}

/// The answer to a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AskAnswer {
    Allow,
    /// Allows, and does not ask again, as the CLI itself offers it.
    Always,
    /// Refuses, with a reason that the model reads.
    Deny(String),
    /// The chosen option or other text for each of the questions.
    Chosen(Vec<String>),
}

/// A question as it is kept, until it is closed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskRecord {
    pub id: ChangeId,
    /// The number that people call the question by.
    pub number: Number,
    pub at: Timestamp,
    pub project: Option<ProjectId>,
    pub ask: Ask,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<(AskAnswer, DecidedBy)>,
}

impl AskRecord {
    /// Returns the answers that can be chosen from; none for several questions at once.
    pub fn options(&self) -> Vec<String> {
        match (self.ask.kind, self.ask.questions.as_slice()) {
            (AskKind::Permission | AskKind::Plan, _) if self.ask.is_cut => vec!["deny".to_owned()],
            (AskKind::Permission, _) if self.ask.can_be_always => {
                ["allow", "always", "deny"].map(str::to_owned).to_vec()
            }
            (AskKind::Permission, _) => ["allow", "deny"].map(str::to_owned).to_vec(),
            (AskKind::Plan, _) => ["allow", "deny"].map(str::to_owned).to_vec(),
            (AskKind::Question, [one]) => one.options.clone(),
            (AskKind::Question, _) => Vec::new(),
        }
    }
}
