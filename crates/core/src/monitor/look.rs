//! One look at one pane: what the multiplexer says, what it shows, and what that means.

use std::time::Duration;

use super::Capture;
use super::PaneAddress;
use super::PaneFacts;
use super::PaneReading;
use super::PaneViewer;
use super::Signature;
use super::TerminalError;
use super::classify;
use super::composer::Composer;

/// What a look found.
#[derive(Clone, Debug)]
pub struct PaneLook {
    pub facts: PaneFacts,
    /// With escapes.
    pub screen: String,
    pub reading: PaneReading,
    /// What is typed and not sent, where a composer is seen.
    pub composer: Option<Composer>,
}

impl PaneLook {
    /// What a screen and the facts of its pane mean. `held` is for how long it has looked
    /// like this.
    pub fn new(facts: PaneFacts, screen: String, signature: &Signature, held: Duration) -> Self {
        let capture = Capture::new(&screen).with_title(&facts.title).held_for(held);
        let capture = capture.with_command(&facts.command).with_exit(facts.is_dead, facts.exit);
        let reading = classify(&capture, signature);
        let composer = Composer::find(&capture.rows, signature);
        Self { facts, screen, reading, composer }
    }

    /// Looks at a pane.
    pub fn take(
        viewer: &dyn PaneViewer,
        pane: &PaneAddress,
        signature: &Signature,
        held: Duration,
    ) -> Result<Self, TerminalError> {
        let mut sweep = viewer.sweep(&pane.server, std::slice::from_ref(&pane.id))?;
        let gone = || TerminalError::Gone { pane: pane.clone() };
        let facts = sweep.panes.remove(&pane.id).ok_or_else(gone)?;
        let screen = sweep.screens.remove(&pane.id).ok_or_else(gone)?;
        Ok(Self::new(facts, screen, signature, held))
    }
}
