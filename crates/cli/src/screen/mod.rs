//! Shows the screen: gathers its data from the rooms, and carries out the actions done in it.

mod agents;
mod board;
mod detail;
mod door;
mod event_sender;
mod gather;
mod lines;
mod messages;
mod plain;
mod queue;
mod runs;
pub(crate) mod session;

use std::io::IsTerminal as _;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering;
use std::sync::mpsc;
use std::time::Duration;
use std::time::Instant;

use consort_core::text;
use consort_host::env;
use consort_tui::Model;
use consort_tui::TerminalColours;

use crate::connect;
use crate::error::CommandError;
use crate::error::CommandResult;
use crate::knowledge;
use crate::output;
use crate::panes;
use crate::world::OpenWorld;
use crate::world::World;
use door::CommandDoor;
use event_sender::wake_pipe;
use gather::Gathering;

/// Duration of a start beyond which its slowest phase is shown.
const SLOW: Duration = Duration::from_millis(300);

/// Interval at which the work of different worktrees is compared.
const COMPARE: Duration = Duration::from_secs(60);

/// The way in which the screen is shown.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct How {
    /// Whether it begins with every project.
    pub(crate) everywhere: bool,
    /// Whether it is shown as lines, for a screen reader.
    pub(crate) is_plain: bool,
}

/// The phases of a start, and how long each took.
pub(crate) struct Phases {
    since: Instant,
    took: Vec<(&'static str, Duration)>,
}

impl Phases {
    pub(crate) fn begin() -> Self {
        Self { since: Instant::now(), took: Vec::new() }
    }

    /// Notes that a phase has ended now.
    pub(crate) fn ended(&mut self, what: &'static str) {
        let before: Duration = self.took.iter().map(|(_, took)| *took).sum();
        self.took.push((what, self.since.elapsed().saturating_sub(before)));
    }

    /// Leaves out the time since the last phase, in which the person was asked something.
    pub(crate) fn skip(&mut self) {
        let counted: Duration = self.took.iter().map(|(_, took)| *took).sum();
        self.since += self.since.elapsed().saturating_sub(counted);
    }

    /// Names the slowest phase, if the whole start was slow.
    fn told(&self) -> Option<String> {
        let whole: Duration = self.took.iter().map(|(_, took)| *took).sum();
        let (what, took) = self.took.iter().max_by_key(|(_, took)| *took)?;
        let told =
            || format!("The start took {} ms, {} ms of it {what}.", whole.as_millis(), took.as_millis());
        (whole > SLOW).then(told)
    }
}

/// Shows the screen until the person leaves it. `hint` says what to do if no agent is here.
pub(crate) fn show(
    world: &World,
    opened: &OpenWorld,
    how: How,
    hint: &str,
    mut phases: Phases,
) -> CommandResult {
    let (send, events) = mpsc::channel();
    let failed = |error| {
        CommandError::user(format!("the screen cannot be shown: {error}"), "`consort who` lists agents")
    };
    let (wakes, wake) = wake_pipe(send).map_err(failed)?;
    // Notes printed from here on would lie over the screen.
    output::hush(!how.is_plain);
    knowledge::watch::in_background(world);
    let _watching = panes::background::watch(world);
    compare_in_background(world, how.everywhere);
    let gathering = Gathering::begin(world, wakes.clone()).map_err(failed)?;
    let mut door = CommandDoor::new(world, wakes, gathering);
    let mut model = model(opened, how, hint);
    phases.ended("getting the screen ready");
    if let Some(told) = phases.told() {
        consort_tui::update(&mut model, consort_tui::Event::News(vec![consort_tui::News::Notice(told)]));
    }
    let ended = end_flag();
    let is_ended = || ended.load(Ordering::Relaxed);
    if how.is_plain {
        return plain::run(world, &mut model, &mut door, &events);
    }
    let shown = consort_tui::terminal::run(&mut model, &mut door, &events, wake, &is_ended);
    output::hush(false);
    match shown {
        // The terminal was closed: nobody is left to read an error.
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => Ok(()),
        shown => shown.map_err(failed),
    }
}

/// Compares the work of different worktrees for as long as the screen is open, and notifies agents whose work
/// will conflict. The comparison starts many processes, so nothing waits for it.
fn compare_in_background(world: &World, everywhere: bool) {
    let (overrides, cwd) = (world.overrides.clone(), world.cwd.clone());
    let compare = move || {
        let Ok(world) = World::new(overrides) else { return };
        let world = World { cwd, ..world };
        let Ok(mut opened) = world.open() else { return };
        loop {
            opened.app.close_if_replaced();
            let project = (!everywhere).then_some(&opened.project.id);
            let overlaps = opened.app.worktree_overlaps(project).unwrap_or_default();
            let _ = opened.app.tell_worktree_overlaps(&overlaps);
            std::thread::sleep(COMPARE);
        }
    };
    let _ = std::thread::Builder::new().name("compare".into()).spawn(compare);
}

fn model(opened: &OpenWorld, how: How, hint: &str) -> Model {
    let (columns, rows) = output::size();
    let size = (u16::try_from(columns).unwrap_or(80), u16::try_from(rows).unwrap_or(24));
    let host = opened.app.host();
    let seed = host.random().iter().fold(0u64, |seed, byte| seed << 8 | u64::from(*byte));
    let mut model = Model::new(&text::one_line(&opened.project.name, 40), size, host.now(), seed);
    if how.everywhere {
        model.scope = None;
    }
    model.hint = hint.to_owned();
    model.colours = colours();
    model.clis = consort_agents::ALL
        .iter()
        .filter(|cli| connect::find_program(cli.program()).is_some())
        .map(|cli| cli.kind().to_owned())
        .collect();
    model
}

/// Tells whether the terminal can do no more than print.
pub(crate) fn is_dumb() -> bool {
    env::get("TERM").is_none_or(|term| term == "dumb")
}

/// Finds whether to use colours, by `NO_COLOR`, and whether the background is light, by `COLORFGBG`.
fn colours() -> TerminalColours {
    let background = env::get("COLORFGBG").and_then(|both| both.rsplit(';').next()?.parse::<u8>().ok());
    TerminalColours {
        has_colour: env::get("NO_COLOR").is_none() && std::io::stdout().is_terminal(),
        is_light: background.is_some_and(|background| background == 7 || background == 15),
    }
}

/// Returns a flag that the signals that end a program raise, so that the terminal is restored first. Ctrl-C
/// is a key here, and the Ctrl-C of a command that has the terminal is not ours.
fn end_flag() -> Arc<AtomicBool> {
    let (flag, not_ours) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    for signal in [signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP] {
        let _ = signal_hook::flag::register(signal, Arc::clone(&flag));
    }
    let _ = signal_hook::flag::register(signal_hook::consts::SIGINT, not_ours);
    // A read from a terminal that has just gone may never return to look at the flag.
    if let Ok(mut signals) = signal_hook::iterator::Signals::new([signal_hook::consts::SIGHUP]) {
        std::thread::spawn(move || {
            if signals.forever().next().is_some() {
                std::thread::sleep(GRACE);
                std::process::exit(0);
            }
        });
    }
    flag
}

/// Time that the screen has to end by itself once its terminal is gone.
const GRACE: Duration = Duration::from_secs(3);
