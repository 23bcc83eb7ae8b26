//! The monitor room: reads the terminals of agents and works out the state of each agent from its screen.
//!
//! A [`Capture`] is one look at a pane. A [`Signature`] describes the screens of one CLI as data
//! (`agents/src/<cli>/screen.toml`, and files of the user's): an ordered list of rules, each with the
//! patterns that must appear and the part of the screen they must appear in. The first rule that matches
//! names the state, so dialogs come before errors, errors before work, work before rest.
//!
//! **A screen that no rule matches is unknown, and nothing acts on an unknown screen.**

mod attention;
mod capture;
mod classify;
mod cli_versions;
mod combine;
mod composer;
mod deliver;
#[cfg(test)]
mod deliver_tests;
mod details;
mod dialog;
mod end;
mod error;
mod glance;
mod limit;
mod look;
mod menu;
mod model;
mod ops;
mod pane_record;
mod progress;
mod schedule;
mod signature;
mod start;
mod store;
mod subject;
mod terminal;
#[cfg(test)]
mod tests;
mod watched;
mod wording;

pub use attention::AttentionReason;
pub use attention::Remedy;
pub use capture::Capture;
pub use capture::plain_text;
pub use classify::classify;
pub use classify::is_shell;
pub use combine::combine;
pub use composer::Composer;
pub use composer::ComposerMatch;
pub use deliver::Typing;
pub use deliver::TypingOutcome;
pub use deliver::TypingPurpose;
pub use deliver::TypingRefusal;
pub use deliver::may_type;
pub use dialog::dialog;
pub use end::Ended;
pub use end::end_pane;
pub use error::MonitorError;
pub use glance::Glances;
pub use glance::PaneGlance;
pub use limit::Limited;
pub use limit::next_to_continue;
pub use look::PaneLook;
pub use menu::ChoiceOutcome;
pub use menu::choose;
pub use menu::takes_typed_answer;
pub use model::MenuOption;
pub use model::PaneReading;
pub use model::PaneState;
pub use model::Permissions;
pub use ops::MayOpenRequest;
pub use ops::ReviewMaterial;
pub use pane_record::MonitorChange;
pub use pane_record::OpenedPane;
pub use pane_record::PaneIdentity;
pub use pane_record::PaneRecord;
pub use pane_record::PaneStateChange;
pub use pane_record::RecordedPaneState;
pub use progress::progress_hash;
pub use schedule::Difference;
pub use schedule::StallCertainty;
pub use schedule::StallResponse;
pub use schedule::WorkKind;
pub use schedule::next_interval;
pub use signature::ComposerCondition;
pub use signature::ComposerShape;
pub use signature::Signature;
pub use signature::SignatureRule;
pub use signature::TextPattern;
pub use start::StartPolicy;
pub use start::Started;
pub use start::follow_start;
pub use start::trust_label;
pub use store::MonitorStore;
pub use subject::PaneSubject;
pub use terminal::EndMethod;
pub use terminal::KeyPress;
pub use terminal::NewPane;
pub use terminal::PaneAddress;
pub use terminal::PaneExit;
pub use terminal::PaneFacts;
pub use terminal::PaneManager;
pub use terminal::PaneViewer;
pub use terminal::PaneWriter;
pub use terminal::ProcessTrees;
pub use terminal::ServerPanes;
pub use terminal::TerminalError;
pub use terminal::TreeProcess;
pub use watched::Transition;
pub use watched::Watched;
