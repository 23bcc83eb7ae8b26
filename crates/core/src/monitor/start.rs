//! Follows the start of an agent in its pane until it is ready: answers the trust dialog if allowed, returns
//! other dialogs to the caller, and checks that the first prompt arrived.

use std::time::Duration;

use super::ChoiceOutcome;
use super::PaneAddress;
use super::PaneLook;
use super::PaneReading;
use super::PaneState;
use super::PaneWriter;
use super::Signature;
use super::TerminalError;
use super::choose;

/// Pause between looks.
const BEAT: Duration = Duration::from_millis(250);

/// Time that a screen must be shown to count.
const SETTLED: Duration = Duration::from_millis(750);

/// Time that an agent may be ready before its first prompt counts as lost.
const PROMPTED: Duration = Duration::from_secs(10);

/// Longest wait for an agent's hooks to report its prompt, if its screen is not understood.
const UNREAD: Duration = Duration::from_secs(20);

/// The conditions under which an agent's start is followed.
pub struct StartPolicy<'a> {
    /// Whether the person has said that the folder can be trusted.
    pub trusts: bool,
    /// Whether the agent was started with a prompt.
    pub has_prompt: bool,
    /// Tells whether the agent's hooks have reported a prompt.
    pub is_prompted: &'a dyn Fn() -> bool,
    pub longest: Duration,
}

/// The result of an agent's start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Started {
    /// The agent waits for a prompt, and was given none.
    Ready,
    /// The agent's first prompt has arrived.
    Prompted,
    /// The agent waits for a prompt, although it was given one.
    Unprompted,
    /// The agent asks something, or is at a limit or an error.
    Waits(Box<PaneReading>),
    /// The agent has ended.
    Ended(Box<PaneReading>),
    /// No understood screen was shown in time.
    NotUnderstood,
}

/// Follows the start of an agent until the agent is ready, asks something, or has ended.
pub fn follow_start(
    writer: &dyn PaneWriter,
    pane: &PaneAddress,
    signature: &Signature,
    policy: &StartPolicy<'_>,
) -> Result<Started, TerminalError> {
    let (began, mut shown, mut since) = (writer.now(), None, writer.now());
    // A screen of an unknown version cannot be read: wait only for the hooks, and not for long.
    let is_read = signature.unknown_version.is_none();
    let longest = if is_read { policy.longest } else { policy.longest.min(UNREAD) };
    while writer.now().since(began) < i64::try_from(longest.as_millis()).unwrap_or(i64::MAX) {
        let PaneLook { reading, .. } = PaneLook::take(writer, pane, signature, Duration::MAX)?;
        let seen = (reading.state, reading.rule.clone(), reading.question.clone());
        if shown.as_ref() != Some(&seen) {
            (shown, since) = (Some(seen), writer.now());
        }
        let held = Duration::from_millis(writer.now().since(since).unsigned_abs());
        let trust = trust_label(&reading, signature).filter(|_| policy.trusts && held >= SETTLED);
        if let Some(label) = trust {
            match choose(writer, pane, signature, &reading, &label, "")? {
                // The screen may show another question now: look again.
                ChoiceOutcome::Done | ChoiceOutcome::NotAsked => shown = None,
                ChoiceOutcome::NoSuchEntry | ChoiceOutcome::StillAsked => {
                    return Ok(Started::Waits(Box::new(reading)));
                }
            }
        } else if let Some(started) = settled(reading, held, policy) {
            return Ok(started);
        }
        writer.pause(BEAT);
    }
    Ok(Started::NotUnderstood)
}

/// Returns the result of the start that a screen shows, once the screen has been shown for long enough.
fn settled(reading: PaneReading, held: Duration, policy: &StartPolicy<'_>) -> Option<Started> {
    if held < SETTLED {
        return None;
    }
    match reading.state {
        PaneState::Exited | PaneState::Dead => Some(Started::Ended(Box::new(reading))),
        state if state.has_menu() => Some(Started::Waits(Box::new(reading))),
        PaneState::Error => Some(Started::Waits(Box::new(reading))),
        // The hooks may report a prompt that the screen does not show.
        PaneState::Starting | PaneState::Unknown => {
            (policy.has_prompt && (policy.is_prompted)()).then_some(Started::Prompted)
        }
        _ if !policy.has_prompt => Some(Started::Ready),
        PaneState::Ready | PaneState::Suggestion if !(policy.is_prompted)() => {
            (held >= PROMPTED).then_some(Started::Unprompted)
        }
        _ => Some(Started::Prompted),
    }
}

/// Finds the entry of a dialog that says that the folder is trusted, if it has one.
pub fn trust_label(reading: &PaneReading, signature: &Signature) -> Option<String> {
    let rule = signature.rules.iter().find(|rule| rule.name == reading.rule)?;
    let meant = rule.trust.as_deref()?;
    let is_it = |label: &str| match meant.strip_suffix('*') {
        Some(beginning) => label.starts_with(beginning),
        None => label == meant,
    };
    reading.options.iter().map(|option| option.label.clone()).find(|label| is_it(label))
}
