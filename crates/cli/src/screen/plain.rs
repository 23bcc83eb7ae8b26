//! Shows the screen as lines, for screen readers: it prints changes, and takes answers and commands.

use std::io::BufRead as _;
use std::sync::mpsc::Receiver;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use consort_tui::EffectRunner;
use consort_tui::Event;
use consort_tui::Model;
use consort_tui::plain::Teller;
use consort_tui::plain::typed_words;

use super::door::CommandDoor;
use crate::error::CommandResult;
use crate::world::World;

/// Time for which lines are gathered before they are printed: each of them interrupts a reader.
const TOGETHER: Duration = Duration::from_millis(200);

pub(super) fn run(
    world: &World,
    model: &mut Model,
    door: &mut CommandDoor,
    events: &Receiver<Event>,
) -> CommandResult {
    world.out.line("consort: q and Enter quits, ? and Enter helps.")?;
    let typed = typed_lines();
    let mut teller = Teller::default();
    loop {
        match typed.try_recv() {
            Ok(line) => {
                door.touched();
                match typed_words(model, &line) {
                    Ok(words) if words.is_empty() => {}
                    Ok(words) if words == ["q"] => return Ok(()),
                    Ok(words) => door.in_terminal_quietly(&words),
                    Err(told) => world.out.line(told)?,
                }
            }
            Err(std::sync::mpsc::TryRecvError::Empty) => {}
            Err(std::sync::mpsc::TryRecvError::Disconnected) => return Ok(()),
        }
        match events.recv_timeout(TOGETHER) {
            Ok(event) => {
                consort_tui::update(model, event).into_iter().for_each(|effect| door.carry_out(effect));
                while let Ok(event) = events.try_recv() {
                    consort_tui::update(model, event).into_iter().for_each(|effect| door.carry_out(effect));
                }
                teller.tell(model).iter().try_for_each(|line| world.out.line(line))?;
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
    }
}

/// Reads typed lines in a thread.
fn typed_lines() -> Receiver<String> {
    let (send, typed) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let lines = std::io::stdin().lock().lines().map_while(Result::ok);
        lines.map(|line| send.send(line)).take_while(Result::is_ok).for_each(drop);
    });
    typed
}
