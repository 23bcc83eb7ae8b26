//! The way of events to the screen: a channel, and a pipe that wakes who waits for it.

use std::io;
use std::io::PipeReader;
use std::io::PipeWriter;
use std::io::Write as _;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use consort_tui::Event;

/// Sends events to the screen, from any thread.
#[derive(Clone)]
pub(super) struct Wakes {
    send: Sender<Event>,
    pipe: Arc<PipeWriter>,
}

/// A sender, and what becomes readable with each event.
pub(super) fn wake_pipe(send: Sender<Event>) -> io::Result<(Wakes, PipeReader)> {
    let (reader, writer) = io::pipe()?;
    // Who cannot be woken is awake.
    rustix::io::ioctl_fionbio(&writer, true)?;
    Ok((Wakes { send, pipe: Arc::new(writer) }, reader))
}

impl Wakes {
    /// Whether anybody listens.
    pub(super) fn send(&self, event: Event) -> bool {
        let is_heard = self.send.send(event).is_ok();
        let _ = (&*self.pipe).write(&[1]);
        is_heard
    }
}
