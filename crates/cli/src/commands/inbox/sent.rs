//! `consort inbox --sent`: shows the messages that you sent, and who has read them.

use super::mailbox_owner;
use crate::error::CommandResult;
use crate::output;
use crate::render::messages::posts;
use crate::world::World;

pub(super) fn run(world: &World, count: usize, json: bool) -> CommandResult {
    let mut opened = world.open()?;
    let me = mailbox_owner(&mut opened)?;
    let sent = opened.app.sent(&me, count)?;
    if json {
        return world.out.items(&mut opened.app, &sent);
    }
    if sent.is_empty() {
        output::note("You have sent nothing.");
    }
    world.out.text(posts(&sent, &me, &opened.project.id, opened.app.host().now()))
}
