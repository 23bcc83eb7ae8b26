//! `consort inbox --thread`: shows a message with its replies.

use consort_core::messages::MessageName;

use super::mailbox_owner;
use crate::error::CommandResult;
use crate::render::messages::posts;
use crate::world::World;

pub(super) fn run(world: &World, message: &MessageName, json: bool) -> CommandResult {
    let mut opened = world.open()?;
    let thread = opened.app.thread(message, Some(&opened.project.id))?;
    if json {
        return world.out.items(&mut opened.app, &thread);
    }
    let me = mailbox_owner(&mut opened)?;
    world.out.text(posts(&thread, &me, &opened.project.id, opened.app.host().now()))
}
