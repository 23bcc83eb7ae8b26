//! Types a text into an agent's composer and submits it, checking the screen before and after each step.
//!
//! The multiplexer itself presses Enter when it sees the end of our text; so only keys that were typed but
//! not yet drawn remain a race, of milliseconds. A screen may be captured while it is being drawn, so
//! a result that ends a delivery must be seen several times in a row. **Enter is never pressed on a
//! composer that holds anything but our text, nor while a dialog is up; and a text counts as delivered only
//! if it was seen to leave the composer.**

use std::time::Duration;

use serde::Serialize;

use super::Composer;
use super::ComposerMatch;
use super::KeyPress;
use super::PaneAddress;
use super::PaneFacts;
use super::PaneLook;
use super::PaneReading;
use super::PaneState;
use super::PaneWriter;
use super::Signature;
use super::TerminalError;
use crate::Timestamp;

/// Time that a pane must stay ready before a text is typed.
const READY: Duration = Duration::from_secs(1);

/// Time since the last key press before we type. Clients report it to the second, so this is one second more.
const QUIET: i64 = 4 * Timestamp::SECOND;

/// Longest time between the last look and the paste or Enter, in milliseconds.
const MOMENT: i64 = 20;

/// Number of attempts to paste the text, and to press Enter.
const TRIES: u32 = 3;

/// Number of looks for the text, and the pause between them.
const LOOKS: u32 = 50;
const BEAT: Duration = Duration::from_millis(100);

/// Number of looks in a row that must agree.
const AGREE: u32 = 3;

/// The result of typing a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TypingOutcome {
    /// The text was seen to leave the composer, or the agent was seen to begin work.
    Delivered,
    /// The text was not submitted.
    Refused(TypingRefusal),
    /// The text was in the composer, and it was not seen whether it was submitted.
    Unknown,
}

impl TypingOutcome {
    /// Returns the result in words that follow the name of an agent.
    pub fn told(&self) -> String {
        match self {
            Self::Delivered => "has it".into(),
            Self::Refused(refusal) => refusal.as_str().into(),
            Self::Unknown => "may have it: what became of the text was not seen".into(),
        }
    }
}

/// The reason a text was not submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TypingRefusal {
    /// No rule matches the screen, or no composer is found on it.
    NotUnderstood,
    /// The agent's program has ended.
    Ended,
    /// A program other than the agent is in the foreground.
    NotTheAgent,
    /// The person scrolls in the pane.
    InMode,
    /// The agent works, or something it started does.
    Busy,
    /// The agent shows a dialog.
    Dialog,
    /// A key was pressed a moment ago.
    SomebodyTypes,
    /// The composer holds text that was not sent.
    Draft,
    /// Somebody has typed into our text, which is still in the composer.
    Mixed,
    /// The pasted text was never shown.
    NotShown,
    /// The text was shown, but Enter had no effect.
    NotTaken,
}

impl TypingRefusal {
    /// Returns the reason in words that follow the name of an agent.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotUnderstood => "shows a screen that is not understood",
            Self::Ended => "has ended",
            Self::NotTheAgent => "does not have its pane to itself",
            Self::InMode => "is being scrolled in",
            Self::Busy => "is busy",
            Self::Dialog => "asks something",
            Self::SomebodyTypes => "is being typed to",
            Self::Draft => "has a draft in its composer",
            Self::Mixed => "has a composer in which somebody typed at the same time: nothing was sent",
            Self::NotShown => "did not show what was pasted",
            Self::NotTaken => "did not take Enter: the text stands in its composer",
        }
    }

    /// Tells whether a half-drawn screen may look like this.
    fn may_be_torn(self) -> bool {
        matches!(self, Self::NotUnderstood | Self::Draft)
    }

    /// Tells whether the reason is likely to pass, so that another try soon is worth it.
    pub fn is_temporary(self) -> bool {
        matches!(self, Self::InMode | Self::Busy | Self::Dialog | Self::SomebodyTypes | Self::Draft)
    }
}

/// The purpose of a typed text, which decides in which states the text may be typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypingPurpose {
    /// A message or a prompt to an agent that waits for one.
    Prompt,
    /// A word to an agent that seems to have stalled: its CLI is at work, and queues the text.
    Nudge,
    /// A word to go on, to an agent that stopped at an error, or at a limit which has ended.
    Continue,
}

impl TypingPurpose {
    /// Tells whether a dialog forbids typing. A limit without a menu does not forbid [`Self::Continue`].
    fn is_kept_out(self, reading: &PaneReading) -> bool {
        let is_banner = reading.state == PaneState::Limit && reading.options.is_empty();
        reading.state.has_menu() && !(is_banner && self == Self::Continue)
    }
}

/// Decides from a look at the pane whether a text may be typed.
pub fn may_type(
    look: &PaneLook,
    now: Timestamp,
    is_agent: bool,
    purpose: TypingPurpose,
) -> Result<(), TypingRefusal> {
    let facts = &look.facts;
    let is_ended = facts.is_dead || matches!(look.reading.state, PaneState::Exited | PaneState::Dead);
    let is_busy = match look.reading.state {
        PaneState::Ready | PaneState::Finished | PaneState::Suggestion => false,
        PaneState::Working | PaneState::Retrying => purpose != TypingPurpose::Nudge,
        _ if purpose.is_kept_out(&look.reading) => return Err(TypingRefusal::Dialog),
        PaneState::Limit => false,
        PaneState::Error => purpose != TypingPurpose::Continue,
        PaneState::Unknown | PaneState::Starting if !is_ended => return Err(TypingRefusal::NotUnderstood),
        _ => true,
    };
    if is_ended {
        Err(TypingRefusal::Ended)
    } else if !is_agent {
        Err(TypingRefusal::NotTheAgent)
    } else if is_busy {
        Err(TypingRefusal::Busy)
    } else if facts.is_in_mode {
        Err(TypingRefusal::InMode)
    } else if facts.last_key_at.is_some_and(|at| now.since(at) < QUIET) {
        Err(TypingRefusal::SomebodyTypes)
    } else {
        match &look.composer {
            None => Err(TypingRefusal::NotUnderstood),
            Some(composer) if !composer.is_empty() => Err(TypingRefusal::Draft),
            Some(_) => Ok(()),
        }
    }
}

/// A delivery to one pane.
pub struct Typing<'a> {
    pub writer: &'a dyn PaneWriter,
    pub pane: &'a PaneAddress,
    pub signature: &'a Signature,
    pub purpose: TypingPurpose,
    /// Whether the program in the foreground is the agent.
    pub is_agent: &'a dyn Fn(&PaneFacts) -> bool,
}

impl Typing<'_> {
    /// Types a text and submits it.
    pub fn deliver(&self, text: &str) -> Result<TypingOutcome, TerminalError> {
        // The pane must stay ready: a state that it only passes through does not count.
        if let Err(refusal) = self.may_begin(|| Ok(()))? {
            return Ok(TypingOutcome::Refused(refusal));
        }
        self.writer.pause(READY);
        let mut seen = Err(TypingRefusal::NotShown);
        for _ in 0..TRIES {
            if let Err(refusal) = self.may_begin(|| self.writer.paste(self.pane, text))? {
                return Ok(TypingOutcome::Refused(refusal));
            }
            seen = self.wait_shown(text)?;
            if seen != Err(TypingRefusal::NotShown) {
                break;
            }
        }
        match seen {
            Err(refusal) => Ok(TypingOutcome::Refused(refusal)),
            Ok(()) => self.submit(text),
        }
    }

    fn look(&self) -> Result<PaneLook, TerminalError> {
        PaneLook::take(self.writer, self.pane, self.signature, Duration::MAX)
    }

    /// Runs `begin` if a look allows typing, and no later than [`MOMENT`] after that look.
    fn may_begin(
        &self,
        begin: impl Fn() -> Result<(), TerminalError>,
    ) -> Result<Result<(), TypingRefusal>, TerminalError> {
        let mut agreed = Agreed::default();
        for _ in 0..LOOKS {
            let look = self.look()?;
            let looked_at = self.writer.now();
            let checked = may_type(&look, looked_at, (self.is_agent)(&look.facts), self.purpose);
            let refusal = match checked {
                // `is_agent` looks at processes, which takes time on a busy machine: look again.
                Ok(()) if self.writer.now().since(looked_at) > MOMENT => None,
                Ok(()) => return begin().map(Ok),
                Err(refusal) if !refusal.may_be_torn() => return Ok(Err(refusal)),
                Err(refusal) => Some(refusal),
            };
            let is_allowed = refusal.is_none();
            if let Some(refusal) = agreed.on(refusal) {
                return Ok(Err(refusal));
            }
            if !is_allowed {
                self.writer.pause(BEAT);
            }
        }
        Ok(Err(TypingRefusal::Busy))
    }

    /// Waits until the composer shows only our text.
    fn wait_shown(&self, text: &str) -> Result<Result<(), TypingRefusal>, TerminalError> {
        let mut others = 0;
        for _ in 0..LOOKS {
            self.writer.pause(BEAT);
            let look = self.look()?;
            if self.purpose.is_kept_out(&look.reading) {
                return Ok(Err(TypingRefusal::Dialog));
            }
            match look.composer.as_ref().map(|composer| composer.compare(text)) {
                Some(ComposerMatch::Ours) => return Ok(Ok(())),
                // The screen may be half drawn.
                Some(ComposerMatch::Other) => others += 1,
                Some(ComposerMatch::Nothing) | None => others = 0,
            }
            if others > LOOKS / 5 {
                return Ok(Err(TypingRefusal::Mixed));
            }
        }
        Ok(Err(if others > 0 { TypingRefusal::Mixed } else { TypingRefusal::NotShown }))
    }

    /// Presses Enter on our text, and waits until the text is gone.
    fn submit(&self, text: &str) -> Result<TypingOutcome, TerminalError> {
        for attempt in 0..TRIES {
            match self.enter(text)? {
                Entered::Pressed => {}
                Entered::Emptied if attempt > 0 => return Ok(TypingOutcome::Delivered),
                // Somebody else has submitted our text, or removed it.
                Entered::Emptied | Entered::Unseen => return Ok(TypingOutcome::Unknown),
                // This dialog or state may be an effect of the previous Enter.
                Entered::Refused(refusal) if attempt > 0 && refusal != TypingRefusal::Mixed => {
                    return Ok(TypingOutcome::Unknown);
                }
                Entered::Refused(refusal) => return Ok(TypingOutcome::Refused(refusal)),
            }
            if let Some(delivery) = self.wait_taken(text, 2u32.pow(attempt) * 10)? {
                return Ok(delivery);
            }
        }
        let is_there =
            self.look()?.composer.is_some_and(|composer| composer.compare(text) == ComposerMatch::Ours);
        Ok(if is_there { TypingOutcome::Refused(TypingRefusal::NotTaken) } else { TypingOutcome::Unknown })
    }

    /// Waits until Enter has shown an effect; returns `None` if our text is still in the composer.
    fn wait_taken(&self, text: &str, looks: u32) -> Result<Option<TypingOutcome>, TerminalError> {
        let mut agreed = Agreed::default();
        for _ in 0..looks {
            self.writer.pause(BEAT);
            let look = self.look()?;
            if look.facts.is_dead {
                return Ok(Some(TypingOutcome::Unknown));
            }
            // An agent that is nudged was at work before, so being at work proves nothing.
            let begins = self.purpose != TypingPurpose::Nudge && look.reading.state == PaneState::Working;
            let seen = match look.composer.as_ref().map(|composer| composer.compare(text)) {
                // Another view is being drawn, which proves nothing.
                None if !begins => continue,
                Some(ComposerMatch::Nothing) => Some(TypingOutcome::Delivered),
                Some(ComposerMatch::Ours) | None => begins.then_some(TypingOutcome::Delivered),
                // The person already types the next prompt.
                Some(ComposerMatch::Other) if begins => Some(TypingOutcome::Delivered),
                Some(ComposerMatch::Other) => Some(TypingOutcome::Unknown),
            };
            if let Some(delivery) = agreed.on(seen) {
                return Ok(Some(delivery));
            }
        }
        Ok(None)
    }

    /// Presses Enter no later than [`MOMENT`] after a look that shows only our text.
    fn enter(&self, text: &str) -> Result<Entered, TerminalError> {
        let (mut agreed, mut denied, mut is_unseen) = (Agreed::default(), 0, false);
        for _ in 0..LOOKS {
            let look = self.look()?;
            let looked_at = self.writer.now();
            if self.purpose.is_kept_out(&look.reading) {
                return Ok(Entered::Refused(TypingRefusal::Dialog));
            }
            if !(self.is_agent)(&look.facts) || look.facts.is_in_mode {
                return Ok(Entered::Refused(TypingRefusal::NotTheAgent));
            }
            let composer = look.composer.as_ref();
            let seen = match composer.map(|composer| composer.compare(text)) {
                Some(ComposerMatch::Ours) if self.writer.now().since(looked_at) > MOMENT => None,
                // The multiplexer cannot tell dim text apart, so it may miss the end of the text that we see.
                Some(ComposerMatch::Ours) if denied >= AGREE => {
                    return self.writer.press(self.pane, KeyPress::Enter).map(|()| Entered::Pressed);
                }
                Some(ComposerMatch::Ours) => {
                    let end = composer.map(Composer::last_line).unwrap_or_default();
                    if self.writer.enter_after(self.pane, end)? {
                        return Ok(Entered::Pressed);
                    }
                    denied += 1;
                    None
                }
                Some(ComposerMatch::Other) => Some(Entered::Refused(TypingRefusal::Mixed)),
                Some(ComposerMatch::Nothing) => Some(Entered::Emptied),
                None => {
                    is_unseen = true;
                    self.writer.pause(BEAT);
                    continue;
                }
            };
            is_unseen = false;
            let is_late = seen.is_none() && denied == 0;
            if let Some(entered) = agreed.on(seen) {
                return Ok(entered);
            }
            if !is_late {
                self.writer.pause(BEAT);
            }
        }
        Ok(if is_unseen { Entered::Unseen } else { Entered::Refused(TypingRefusal::Busy) })
    }
}

/// The result of one attempt to press Enter.
#[derive(Clone, PartialEq)]
enum Entered {
    Pressed,
    /// The composer is empty: our text is gone.
    Emptied,
    /// No composer is visible.
    Unseen,
    Refused(TypingRefusal),
}

/// A counter of equal results in a row.
struct Agreed<T> {
    last: Option<T>,
    times: u32,
}

impl<T> Default for Agreed<T> {
    fn default() -> Self {
        Self { last: None, times: 0 }
    }
}

impl<T: Clone + PartialEq> Agreed<T> {
    /// Counts a look's result, and returns the result once [`AGREE`] looks in a row had it.
    fn on(&mut self, seen: Option<T>) -> Option<T> {
        self.times = if seen == self.last { self.times + 1 } else { 1 };
        self.last = seen;
        self.last.clone().filter(|_| self.times >= AGREE)
    }
}
