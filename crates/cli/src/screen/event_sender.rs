//! Sends events to the screen: by a channel, and a pipe that wakes the thread waiting for them.

use std::io;
use std::io::PipeReader;
use std::io::PipeWriter;
use std::io::Write as _;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use consort_tui::Event;

/// A sender of events to the screen, from any thread.
#[derive(Clone)]
pub(super) struct Wakes {
    send: Sender<Event>,
    pipe: Arc<PipeWriter>,
}

/// Makes a sender, and a pipe that becomes readable with each event.
pub(super) fn wake_pipe(send: Sender<Event>) -> io::Result<(Wakes, PipeReader)> {
    let (reader, writer) = io::pipe()?;
    // A full pipe has woken the reader already.
    rustix::io::ioctl_fionbio(&writer, true)?;
    Ok((Wakes { send, pipe: Arc::new(writer) }, reader))
}

impl Wakes {
    /// Sends an event, and tells whether anybody listens.
    pub(super) fn send(&self, event: Event) -> bool {
        let is_heard = self.send.send(event).is_ok();
        let _ = (&*self.pipe).write(&[1]);
        is_heard
    }
}
