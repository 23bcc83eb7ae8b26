//! Follows the start of an agent in its pane: dialogs are shown or answered by label,
//! readiness is told by the screen, and a first prompt counts when it was seen to arrive.

use std::time::Duration;

use super::Chosen;
use super::PaneAddress;
use super::PaneLook;
use super::PaneReading;
use super::PaneState;
use super::PaneWriter;
use super::Signature;
use super::TerminalError;
use super::choose;

/// How often is looked.
const BEAT: Duration = Duration::from_millis(250);

/// How long something must be shown to count.
const SETTLED: Duration = Duration::from_millis(750);

/// How long an agent may stand ready before its first prompt counts as lost.
const PROMPTED: Duration = Duration::from_secs(10);

/// How long the hooks of an agent may take to tell of its prompt, where its screen is not
/// understood.
const UNREAD: Duration = Duration::from_secs(20);

/// What may be done at the start of an agent.
pub struct StartPolicy<'a> {
    /// Whether the person has said that the folder is to be trusted.
    pub trusts: bool,
    /// Whether it was given a prompt to begin with.
    pub has_prompt: bool,
    /// Whether its hooks have told of a prompt.
    pub is_prompted: &'a dyn Fn() -> bool,
    pub longest: Duration,
}

/// How a start went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Started {
    /// It waits for a prompt, and was given none.
    Ready,
    /// Its first prompt has arrived.
    Prompted,
    /// It waits for a prompt, although it was given one.
    Unprompted,
    /// It asks something, stands at a limit or at an error.
    Waits(Box<PaneReading>),
    /// It has ended.
    Ended(Box<PaneReading>),
    /// Nothing was shown that is understood.
    NotUnderstood,
}

/// Follows the start of an agent until it is ready, asks something, or has ended.
pub fn follow_start(
    writer: &dyn PaneWriter,
    pane: &PaneAddress,
    signature: &Signature,
    policy: &StartPolicy<'_>,
) -> Result<Started, TerminalError> {
    let (began, mut shown, mut since) = (writer.now(), None, writer.now());
    // There is no use in looking at what nobody can read.
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
                // Another question may be on the screen now: look again.
                Chosen::Done | Chosen::NotAsked => shown = None,
                Chosen::NoSuchEntry | Chosen::StillAsked => {
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

/// What a screen means for the start, once it has been shown for long enough.
fn settled(reading: PaneReading, held: Duration, policy: &StartPolicy<'_>) -> Option<Started> {
    if held < SETTLED {
        return None;
    }
    match reading.state {
        PaneState::Exited | PaneState::Dead => Some(Started::Ended(Box::new(reading))),
        state if state.has_menu() => Some(Started::Waits(Box::new(reading))),
        PaneState::Error => Some(Started::Waits(Box::new(reading))),
        // Its hooks may tell what its screen does not.
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

/// The entry of this dialog that says that the folder is trusted, if it has one.
pub fn trust_label(reading: &PaneReading, signature: &Signature) -> Option<String> {
    let rule = signature.rules.iter().find(|rule| rule.name == reading.rule)?;
    let meant = rule.trust.as_deref()?;
    let is_it = |label: &str| match meant.strip_suffix('*') {
        Some(beginning) => label.starts_with(beginning),
        None => label == meant,
    };
    reading.options.iter().map(|option| option.label.clone()).find(|label| is_it(label))
}
