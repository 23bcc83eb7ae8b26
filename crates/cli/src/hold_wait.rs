//! Waits until others release their holds, for `reserve --wait` and `wait`.

use std::time::Duration;
use std::time::Instant;

use consort_core::Timestamp;
use consort_core::claims::HoldView;
use consort_host::notify;
use consort_host::notify::Listener;

use crate::error::CommandError;
use crate::output;
use crate::render::holds::shown;
use crate::world::OpenWorld;
use crate::world::World;
use crate::world::caller_facts;

/// Interval at which the holder is checked: its process may end without notifying anybody.
const LOOK: Duration = Duration::from_secs(1);

/// A caller's wait for the holds of others.
pub(crate) struct HoldWait<'a> {
    world: &'a World,
    listener: Listener,
    since: Timestamp,
    until: Option<Instant>,
    has_said: bool,
}

impl<'a> HoldWait<'a> {
    /// Starts to listen. Call it before the first look at the holds, so that no release falls between the
    /// two.
    pub(crate) fn new(
        world: &'a World,
        opened: &OpenWorld,
        timeout: Option<Duration>,
    ) -> Result<Self, CommandError> {
        let until = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let listener = Listener::open(&world.paths.listeners(), None);
        let listener = listener.map_err(|error| cannot_wait(world, error))?;
        Ok(Self { world, listener, since: opened.app.host().now(), until, has_said: false })
    }

    /// Waits for news of these holds; returns false if time is up. It is an error if their holders wait for
    /// the caller in turn.
    pub(crate) fn wait(&mut self, opened: &mut OpenWorld, held: &[HoldView]) -> Result<bool, CommandError> {
        if let Some(seen) = held.iter().find(|seen| !seen.yours)
            && !self.has_said
        {
            output::note(format_args!("Waiting for {} to let go of {}.", seen.hold.label, shown(&seen.hold)));
            self.has_said = true;
        }
        let caller = caller_facts(&opened.app);
        opened.app.note_waiting(&caller, self.since, held).inspect_err(|_| self.stop(opened))?;
        let left =
            self.until.map_or(notify::POLL_INTERVAL, |until| until.saturating_duration_since(Instant::now()));
        if left.is_zero() {
            self.stop(opened);
            return Ok(false);
        }
        let heard = self.listener.wait(None, left.min(LOOK));
        heard.map_err(|error| cannot_wait(self.world, error))?;
        opened.app.close_if_replaced();
        Ok(true)
    }

    /// Ends the wait, however it went: the caller is no longer recorded as waiting.
    pub(crate) fn stop(&self, opened: &mut OpenWorld) {
        // A caller that has not waited is not recorded.
        if self.has_said {
            let caller = caller_facts(&opened.app);
            let _ = opened.app.stop_waiting(&caller);
        }
    }
}

fn cannot_wait(world: &World, error: std::io::Error) -> CommandError {
    CommandError::file("cannot wait in", &world.paths.listeners(), error)
}
