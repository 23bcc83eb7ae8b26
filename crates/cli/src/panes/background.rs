//! Runs the watcher beside a server or a screen: in a thread of its own, for as long as that lasts.

use std::sync::mpsc::RecvTimeoutError;
use std::sync::mpsc::Sender;
use std::thread::JoinHandle;
use std::time::Duration;

use super::role::WatcherRole;
use super::watcher::TICK;
use super::watcher::Watcher;
use crate::error::CommandError;
use crate::world::OpenWorld;
use crate::world::World;

/// Longest time the end waits for a text that is being typed: half a text would stay in a composer.
const TYPING: Duration = Duration::from_secs(10);

/// A watcher in a thread, which ends when this is dropped.
pub(crate) struct Background {
    /// Dropped first, which ends the thread.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Background {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Watches until the returned value is dropped, whenever no other process has the watcher's role.
pub(crate) fn watch(world: &World) -> Background {
    let (stop, stopped) = std::sync::mpsc::channel();
    let (overrides, cwd) = (world.overrides.clone(), world.cwd.clone());
    let watch = move || {
        let Ok(world) = World::new(overrides) else { return };
        let world = World { cwd, ..world };
        let Ok(mut opened) = world.open() else { return };
        let (mut role, mut watcher) = (WatcherRole::new(&world.paths.data), Watcher::new(&world));
        loop {
            let began = watcher.now();
            let has_role = role.take(began).is_ok();
            if has_role {
                // A look that failed is made up for by the next one.
                let _ = look(&mut watcher, &mut opened);
            }
            let took = Duration::from_millis(watcher.now().since(began).unsigned_abs());
            if stopped.recv_timeout(TICK.saturating_sub(took)) == Err(RecvTimeoutError::Timeout) {
                continue;
            }
            if has_role {
                watcher.finish_typing(TYPING);
                opened.app.withdraw_glances();
            }
            return;
        }
    };
    let thread = std::thread::Builder::new().name("watcher".into()).spawn(watch).ok();
    Background { stop: Some(stop), thread }
}

/// Looks at all panes once and acts, as the holder of the watcher's role.
fn look(watcher: &mut Watcher<'_>, opened: &mut OpenWorld) -> Result<(), CommandError> {
    opened.app.close_if_replaced();
    for seen in watcher.sweep(&mut opened.app)? {
        watcher.note(&mut opened.app, &seen)?;
    }
    watcher.act(opened)?;
    watcher.publish_states(&opened.app);
    Ok(())
}
