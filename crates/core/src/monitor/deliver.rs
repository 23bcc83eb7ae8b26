//! Types a text into a composer and submits it, looking before and after each step.
//!
//! Enter is pressed by the multiplexer itself, if it sees the end of our text; so only what is
//! typed and not yet shown stays a race, of milliseconds. What can be seen is looked at. A screen may be caught while it is drawn, so what ends a delivery
//! must be seen several times in a row. **Enter is never pressed on a composer that holds
//! anything but our text, nor while a dialog is up; and nothing counts as delivered that was not
//! seen to leave the composer.**

use std::time::Duration;

use serde::Serialize;

use super::Composer;
use super::Holds;
use super::Key;
use super::PaneAddress;
use super::PaneFacts;
use super::PaneLook;
use super::PaneReading;
use super::PaneState;
use super::PaneWriter;
use super::Signature;
use super::TerminalError;
use crate::Timestamp;

/// How long a pane must have been ready.
const READY: Duration = Duration::from_secs(1);

/// How long nobody must have pressed a key. Clients tell to the second, so one more.
const QUIET: i64 = 4 * Timestamp::SECOND;

/// What may pass between the last look and the paste.
const MOMENT: i64 = 20;

/// How often the text is pasted, and Enter pressed.
const TRIES: u32 = 3;

/// How often is looked for the text, and how long between looks.
const LOOKS: u32 = 50;
const BEAT: Duration = Duration::from_millis(100);

/// How many looks in a row must agree.
const AGREE: u32 = 3;

/// What came of typing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Delivery {
    /// It was seen to leave the composer, or to set the agent to work.
    Delivered,
    /// It was not submitted.
    Refused(Refusal),
    /// It stood in the composer, and what became of it was not seen.
    Unknown,
}

impl Delivery {
    /// In words, after the name of an agent.
    pub fn told(&self) -> String {
        match self {
            Self::Delivered => "has it".into(),
            Self::Refused(refusal) => refusal.as_str().into(),
            Self::Unknown => "may have it: what became of the text was not seen".into(),
        }
    }
}

/// Why a text was not submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// Nobody knows what its screen means.
    NotUnderstood,
    /// Its program has ended.
    Ended,
    /// Another program than the agent has the pane.
    NotTheAgent,
    /// The person scrolls in it.
    InMode,
    /// It works, or something it started does.
    Busy,
    /// It asks something.
    Dialog,
    /// A key was pressed a moment ago.
    SomebodyTypes,
    /// Something is typed and not sent.
    Draft,
    /// Somebody has typed into our text, which stands in the composer still.
    Mixed,
    /// What was pasted was never shown.
    NotShown,
    /// It was shown, and Enter did nothing.
    NotTaken,
}

impl Refusal {
    /// In words, after the name of an agent.
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

    /// Whether a screen that is caught while it is drawn may look like this.
    fn may_be_torn(self) -> bool {
        matches!(self, Self::NotUnderstood | Self::Draft)
    }

    /// Whether it is worth another try before long.
    pub fn passes(self) -> bool {
        matches!(self, Self::InMode | Self::Busy | Self::Dialog | Self::SomebodyTypes | Self::Draft)
    }
}

/// What is typed for: it says in which states that may be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A message or a prompt, for an agent that waits for one.
    Prompt,
    /// A word to an agent that seems to have stalled: it is at work, and queues the text.
    Nudge,
    /// A word to go on, for an agent that stands at an error, or at a limit which has ended.
    Continue,
}

impl Purpose {
    /// Whether a dialog is up. Only a limit that asks nothing is none, for who wants to go on.
    fn is_kept_out(self, reading: &PaneReading) -> bool {
        let is_banner = reading.state == PaneState::Limit && reading.options.is_empty();
        reading.state.has_menu() && !(is_banner && self == Self::Continue)
    }
}

/// Whether something may be typed, by a look at the pane.
pub fn may_type(look: &PaneLook, now: Timestamp, is_agent: bool, purpose: Purpose) -> Result<(), Refusal> {
    let facts = &look.facts;
    let is_ended = facts.is_dead || matches!(look.reading.state, PaneState::Exited | PaneState::Dead);
    let is_busy = match look.reading.state {
        PaneState::Ready | PaneState::Finished | PaneState::Suggestion => false,
        PaneState::Working | PaneState::Retrying => purpose != Purpose::Nudge,
        _ if purpose.is_kept_out(&look.reading) => return Err(Refusal::Dialog),
        PaneState::Limit => false,
        PaneState::Error => purpose != Purpose::Continue,
        PaneState::Unknown | PaneState::Starting if !is_ended => return Err(Refusal::NotUnderstood),
        _ => true,
    };
    if is_ended {
        Err(Refusal::Ended)
    } else if !is_agent {
        Err(Refusal::NotTheAgent)
    } else if is_busy {
        Err(Refusal::Busy)
    } else if facts.is_in_mode {
        Err(Refusal::InMode)
    } else if facts.last_key_at.is_some_and(|at| now.since(at) < QUIET) {
        Err(Refusal::SomebodyTypes)
    } else {
        match &look.composer {
            None => Err(Refusal::NotUnderstood),
            Some(composer) if !composer.is_empty() => Err(Refusal::Draft),
            Some(_) => Ok(()),
        }
    }
}

/// A pane that is typed into.
pub struct Typing<'a> {
    pub writer: &'a dyn PaneWriter,
    pub pane: &'a PaneAddress,
    pub signature: &'a Signature,
    pub purpose: Purpose,
    /// Whether the program in the foreground is the agent.
    pub is_agent: &'a dyn Fn(&PaneFacts) -> bool,
}

impl Typing<'_> {
    /// Types a text and submits it.
    pub fn deliver(&self, text: &str) -> Result<Delivery, TerminalError> {
        // One that stays ready, and not one that passes through it.
        if let Err(refusal) = self.may_begin(|| Ok(()))? {
            return Ok(Delivery::Refused(refusal));
        }
        self.writer.pause(READY);
        let mut seen = Err(Refusal::NotShown);
        for _ in 0..TRIES {
            if let Err(refusal) = self.may_begin(|| self.writer.paste(self.pane, text))? {
                return Ok(Delivery::Refused(refusal));
            }
            seen = self.wait_shown(text)?;
            if seen != Err(Refusal::NotShown) {
                break;
            }
        }
        match seen {
            Err(refusal) => Ok(Delivery::Refused(refusal)),
            Ok(()) => self.submit(text),
        }
    }

    fn look(&self) -> Result<PaneLook, TerminalError> {
        PaneLook::take(self.writer, self.pane, self.signature, Duration::MAX)
    }

    /// Does something within a moment of a look that allows it.
    fn may_begin(
        &self,
        begin: impl Fn() -> Result<(), TerminalError>,
    ) -> Result<Result<(), Refusal>, TerminalError> {
        let mut agreed = Agreed::default();
        for _ in 0..LOOKS {
            let look = self.look()?;
            let looked_at = self.writer.now();
            let checked = may_type(&look, looked_at, (self.is_agent)(&look.facts), self.purpose);
            let refusal = match checked {
                // Looking at processes takes time on a busy machine.
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
        Ok(Err(Refusal::Busy))
    }

    /// Waits until the composer shows our text and nothing else.
    fn wait_shown(&self, text: &str) -> Result<Result<(), Refusal>, TerminalError> {
        let mut others = 0;
        for _ in 0..LOOKS {
            self.writer.pause(BEAT);
            let look = self.look()?;
            if self.purpose.is_kept_out(&look.reading) {
                return Ok(Err(Refusal::Dialog));
            }
            match look.composer.as_ref().map(|composer| composer.holds(text)) {
                Some(Holds::Ours) => return Ok(Ok(())),
                // It may be caught while it is drawn.
                Some(Holds::Other) => others += 1,
                Some(Holds::Nothing) | None => others = 0,
            }
            if others > LOOKS / 5 {
                return Ok(Err(Refusal::Mixed));
            }
        }
        Ok(Err(if others > 0 { Refusal::Mixed } else { Refusal::NotShown }))
    }

    /// Presses Enter on our text, and sees it gone.
    fn submit(&self, text: &str) -> Result<Delivery, TerminalError> {
        for attempt in 0..TRIES {
            match self.enter(text)? {
                Entered::Pressed => {}
                Entered::Emptied if attempt > 0 => return Ok(Delivery::Delivered),
                // Somebody else has submitted it, or removed it.
                Entered::Emptied | Entered::Unseen => return Ok(Delivery::Unknown),
                // What is up now may have come of the Enter before.
                Entered::Refused(refusal) if attempt > 0 && refusal != Refusal::Mixed => {
                    return Ok(Delivery::Unknown);
                }
                Entered::Refused(refusal) => return Ok(Delivery::Refused(refusal)),
            }
            if let Some(delivery) = self.wait_taken(text, 2u32.pow(attempt) * 10)? {
                return Ok(delivery);
            }
        }
        let is_there = self.look()?.composer.is_some_and(|composer| composer.holds(text) == Holds::Ours);
        Ok(if is_there { Delivery::Refused(Refusal::NotTaken) } else { Delivery::Unknown })
    }

    /// Waits until Enter has shown an effect; nothing if our text stands there still.
    fn wait_taken(&self, text: &str, looks: u32) -> Result<Option<Delivery>, TerminalError> {
        let mut agreed = Agreed::default();
        for _ in 0..looks {
            self.writer.pause(BEAT);
            let look = self.look()?;
            if look.facts.is_dead {
                return Ok(Some(Delivery::Unknown));
            }
            // One that was at work before says nothing by being at work.
            let begins = self.purpose != Purpose::Nudge && look.reading.state == PaneState::Working;
            let seen = match look.composer.as_ref().map(|composer| composer.holds(text)) {
                // Another view is being drawn, which says nothing.
                None if !begins => continue,
                Some(Holds::Nothing) => Some(Delivery::Delivered),
                Some(Holds::Ours) | None => begins.then_some(Delivery::Delivered),
                // The person types the next one already.
                Some(Holds::Other) if begins => Some(Delivery::Delivered),
                Some(Holds::Other) => Some(Delivery::Unknown),
            };
            if let Some(delivery) = agreed.on(seen) {
                return Ok(Some(delivery));
            }
        }
        Ok(None)
    }

    /// Presses Enter within a moment of a look that shows our text and nothing else.
    fn enter(&self, text: &str) -> Result<Entered, TerminalError> {
        let (mut agreed, mut denied, mut is_unseen) = (Agreed::default(), 0, false);
        for _ in 0..LOOKS {
            let look = self.look()?;
            let looked_at = self.writer.now();
            if self.purpose.is_kept_out(&look.reading) {
                return Ok(Entered::Refused(Refusal::Dialog));
            }
            if !(self.is_agent)(&look.facts) || look.facts.is_in_mode {
                return Ok(Entered::Refused(Refusal::NotTheAgent));
            }
            let composer = look.composer.as_ref();
            let seen = match composer.map(|composer| composer.holds(text)) {
                Some(Holds::Ours) if self.writer.now().since(looked_at) > MOMENT => None,
                // The multiplexer cannot tell what is dim, so it may deny what we see.
                Some(Holds::Ours) if denied >= AGREE => {
                    return self.writer.press(self.pane, Key::Enter).map(|()| Entered::Pressed);
                }
                Some(Holds::Ours) => {
                    let end = composer.map(Composer::last_line).unwrap_or_default();
                    if self.writer.enter_after(self.pane, end)? {
                        return Ok(Entered::Pressed);
                    }
                    denied += 1;
                    None
                }
                Some(Holds::Other) => Some(Entered::Refused(Refusal::Mixed)),
                Some(Holds::Nothing) => Some(Entered::Emptied),
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
        Ok(if is_unseen { Entered::Unseen } else { Entered::Refused(Refusal::Busy) })
    }
}

/// What came of one Enter.
#[derive(Clone, PartialEq)]
enum Entered {
    Pressed,
    /// Our text is not there any more, and nothing else is.
    Emptied,
    /// There is no composer to be seen.
    Unseen,
    Refused(Refusal),
}

/// What the last looks have shown in a row.
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
    /// Takes in what a look shows; given back once enough have shown the same.
    fn on(&mut self, seen: Option<T>) -> Option<T> {
        self.times = if seen == self.last { self.times + 1 } else { 1 };
        self.last = seen;
        self.last.clone().filter(|_| self.times >= AGREE)
    }
}
