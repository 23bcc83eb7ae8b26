//! Types texts into panes (wake lines, nudges, prompts): only where the person allows it, and only one of our
//! processes at a time.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering;

use consort_core::App;
use consort_core::Timestamp;
use consort_core::monitor::PaneAddress;
use consort_core::monitor::PaneFacts;
use consort_core::monitor::Signature;
use consort_core::monitor::Typing;
use consort_core::monitor::TypingOutcome;
use consort_core::monitor::TypingPurpose;
use consort_core::monitor::TypingRefusal;
use consort_core::presence::Agent;
use consort_core::text;
use consort_host::Tmux;
use rustix::fs::FlockOperation;
use rustix::fs::flock;

use super::has_agent;
use super::version;
use crate::config;
use crate::error::CommandError;
use crate::world::World;

/// The text for an agent that has stalled, or whose limit has ended.
pub(crate) const GO_ON: &str = "Continue with the remaining work.";

/// Returns the line that wakes an agent. It only wakes: the messages come with the prompt, quoted, by the
/// session's own hook.
pub(crate) fn wake_line(unread: usize) -> String {
    format!(
        "[consort] {} for you: `consort inbox` shows what it is.",
        text::counted_noun(unread, "new message")
    )
}

/// A text to be typed, and its purpose.
#[derive(Clone)]
pub(crate) struct Typeable {
    pub(crate) purpose: TypingPurpose,
    pub(crate) text: String,
}

/// Loads the rules for a CLI's screen, if its version is known: nothing is typed into other versions.
pub(crate) fn signature(world: &World, app: &App, kind: &str) -> Option<Signature> {
    version::said(app, consort_agents::find(kind)?)?;
    super::signature_of(world, app, kind).ok().filter(|signature| signature.unknown_version.is_none())
}

/// Types a text into a pane and submits it, if that can be done now. Without rules for the pane's screen
/// nothing is typed.
pub(crate) fn deliver(
    data: &Path,
    pane: &PaneAddress,
    signature: Option<&Signature>,
    what: &Typeable,
) -> Result<TypingOutcome, CommandError> {
    let Some(signature) = signature else { return Ok(TypingOutcome::Refused(TypingRefusal::NotUnderstood)) };
    // Two processes that type at once would mix up their texts.
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false).mode(0o600);
    let lock = data.join("typing.lock");
    let file = options.open(&lock).map_err(|error| CommandError::file("cannot lock", &lock, error))?;
    if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
        return Ok(TypingOutcome::Refused(TypingRefusal::SomebodyTypes));
    }
    let tmux = Tmux::new(data);
    let is_agent = |facts: &PaneFacts| has_agent(&tmux, facts);
    let typing = Typing { writer: &tmux, pane, signature, purpose: what.purpose, is_agent: &is_agent };
    Ok(typing.deliver(&what.text)?)
}

/// The last typing of the watcher into a pane.
#[derive(Default)]
pub(super) struct TypedText {
    pub(super) at: Option<Timestamp>,
    /// The result of the typing, once it has ended.
    pub(super) outcome: Arc<Mutex<Option<TypingOutcome>>>,
    is_typing: Arc<AtomicBool>,
}

impl TypedText {
    /// Returns the milliseconds since something was last typed.
    pub(super) fn rested(&self, now: Timestamp) -> i64 {
        self.at.map_or(i64::MAX, |at| now.since(at))
    }

    /// Tells whether the text is still being typed.
    pub(super) fn is_typing(&self) -> bool {
        self.is_typing.load(Ordering::SeqCst)
    }

    /// Describes the result of the typing.
    pub(super) fn told(&self) -> Option<String> {
        self.outcome.lock().ok().and_then(|outcome| outcome.as_ref().map(TypingOutcome::told))
    }

    /// Types in a thread of its own, so that the other panes are looked at meanwhile.
    pub(super) fn begin(&mut self, now: Timestamp, job: TypingJob) {
        self.at = Some(now);
        let (outcome, is_typing) = (Arc::clone(&self.outcome), Arc::clone(&self.is_typing));
        is_typing.store(true, Ordering::SeqCst);
        std::thread::spawn(move || {
            let delivery = deliver(&job.data, &job.pane, job.signature.as_ref(), &job.what).ok();
            if let Ok(mut outcome) = outcome.lock() {
                *outcome = delivery;
            }
            is_typing.store(false, Ordering::SeqCst);
        });
    }
}

/// Everything that the typing thread needs.
pub(super) struct TypingJob {
    pub(super) data: PathBuf,
    pub(super) pane: PaneAddress,
    pub(super) signature: Option<Signature>,
    pub(super) what: Typeable,
}

/// Wakes an idle agent by a line in its terminal, if the settings allow it and no watcher runs that would;
/// returns a sentence about the result.
pub(crate) fn wake_by_typing(world: &World, app: &mut App, agent: &Agent) -> Option<String> {
    agent.location.terminal.pane.as_ref()?;
    let acceptances = app.acceptances().unwrap_or_default();
    let config = config::load(&world.paths, &agent.location.worktree, &world.overrides, &acceptances).ok()?;
    if config.resolved.get("messages.type_into_panes") != "true" {
        return None;
    }
    if app.published_glances().is_some() {
        return Some(format!("{} is idle; its mail is typed to it as soon as that can be done.", agent.name));
    }
    let subject = app.find_pane(agent.name.as_str()).ok()?;
    let signature = signature(world, app, subject.cli());
    let what = Typeable { purpose: TypingPurpose::Prompt, text: wake_line(1) };
    let delivery = deliver(&world.paths.data, &subject.address, signature.as_ref(), &what).ok()?;
    Some(format!("{} is idle, was typed to, and {}.", agent.name, delivery.told()))
}
