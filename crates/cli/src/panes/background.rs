//! The watcher beside a server or a screen: in a thread of its own, for as long as that lasts.

use std::time::Duration;

use consort_core::monitor::PaneViewer as _;

use super::role::Role;
use super::watcher::TICK;
use super::watcher::Watcher;
use crate::error::CommandError;
use crate::world::Opened;
use crate::world::World;

/// Watches while this process lasts, if nobody else does.
pub(crate) fn watch(world: &World) {
    let (overrides, cwd) = (world.overrides.clone(), world.cwd.clone());
    let watch = move || {
        let Ok(world) = World::new(overrides) else { return };
        let world = World { cwd, ..world };
        let Ok(mut opened) = world.open() else { return };
        let (mut role, mut watcher) = (Role::new(&world.paths.data), Watcher::new(&world));
        loop {
            let began = watcher.now();
            if role.take(began).is_ok() {
                // A look that failed is made up for by the next one.
                let _ = look(&mut watcher, &mut opened);
            }
            let took = Duration::from_millis(watcher.now().since(began).unsigned_abs());
            watcher.tmux.pause(TICK.saturating_sub(took));
        }
    };
    let _ = std::thread::Builder::new().name("watcher".into()).spawn(watch);
}

/// Looks once, as the one who has the role.
fn look(watcher: &mut Watcher<'_>, opened: &mut Opened) -> Result<(), CommandError> {
    opened.app.close_if_replaced();
    for seen in watcher.sweep(&mut opened.app)? {
        watcher.note(&mut opened.app, &seen)?;
    }
    watcher.act(opened)?;
    watcher.say(&opened.app);
    Ok(())
}
