//! Takes one look at one pane: captures its screen, and reads its state and composer off it.

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

/// The result of one look at a pane.
#[derive(Clone, Debug)]
pub struct PaneLook {
    pub facts: PaneFacts,
    /// The text of the screen, with escapes.
    pub screen: String,
    pub reading: PaneReading,
    /// The composer with the unsent text in it, if a composer is visible.
    pub composer: Option<Composer>,
}

impl PaneLook {
    /// Interprets a screen and the facts of its pane. `held` is the time that the pane has looked like this.
    pub fn new(facts: PaneFacts, screen: String, signature: &Signature, held: Duration) -> Self {
        let capture = Capture::new(&screen).with_title(&facts.title).held_for(held);
        let capture = capture.with_command(&facts.command).with_exit(facts.is_dead, facts.exit);
        let reading = classify(&capture, signature);
        let composer = Composer::find(&capture.rows, signature);
        Self { facts, screen, reading, composer }
    }

    /// Captures a pane and interprets it.
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
