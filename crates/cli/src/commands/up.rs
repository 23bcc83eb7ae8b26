//! The command `consort up`: finds and connects agent CLIs, and shows live who is here.

use std::io::IsTerminal as _;
use std::io::Read as _;
use std::io::Write as _;
use std::os::fd::AsFd as _;
use std::time::Duration;
use std::time::Instant;

use consort_core::host::Topic;
use consort_core::journal::Actor;
use consort_core::text;
use consort_host::env;
use consort_host::notify::Listener;
use consort_host::notify::WakeReason;
use rustix::termios::LocalModes;
use rustix::termios::OptionalActions;
use rustix::termios::SpecialCodeIndex;
use rustix::termios::Termios;

use super::who;
use crate::connect;
use crate::connect::Consent;
use crate::connect::Parts;
use crate::connect::State;
use crate::connect::Target;
use crate::error::CommandError;
use crate::error::CommandResult;
use crate::knowledge;
use crate::output;
use crate::panes;
use crate::render::agents;
use crate::world::Opened;
use crate::world::World;

/// Ages and activity change without news.
const TICK: Duration = Duration::from_secs(1);

/// How often the work of different worktrees is held against each other.
const COMPARE: Duration = Duration::from_secs(60);

#[derive(clap::Args, Default)]
pub(crate) struct Args {
    /// Connect without asking
    #[arg(short, long)]
    yes: bool,
    /// Every project
    #[arg(long)]
    all: bool,
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let mut opened = world.open()?;
    let mut connected = false;
    let interactive = world.out.is_terminal && std::io::stdin().is_terminal();
    let (found, missing): (Vec<_>, Vec<_>) = connect::standings(world, &opened.place.worktree)
        .into_iter()
        .partition(|standing| !standing.is_missing());
    if !missing.is_empty() {
        let names: Vec<&str> = missing.iter().map(|standing| standing.title).collect();
        world.out.line(format!("Not installed: {}", names.join(", ")))?;
    }
    let has_any = !found.is_empty();
    let mut targets = Vec::new();
    for standing in found {
        let found =
            standing.program.as_ref().map_or_else(String::new, |path| format!(" ({})", path.display()));
        world.out.line(format!("{}{found}: {}", standing.title, standing.sentence()))?;
        connected |= standing.is_connected();
        let Some(cli) = consort_agents::find(standing.kind) else { continue };
        if standing.is_connected() || standing.program.is_none() || !(interactive || args.yes) {
            continue;
        }
        let is_for_project = standing.project != State::Absent;
        targets.push(Target::new(world, cli, &opened.place.worktree, is_for_project));
    }
    let consent = if args.yes { Consent::Given } else { Consent::Ask };
    let parts = Parts::offered(consent);
    if !targets.is_empty() {
        // The rest of the screen is worth seeing, whatever went wrong.
        connected |= connect::offer(world, &targets, parts, consent)?.0;
    }
    if !interactive {
        let outcome = who::look(world, &mut opened, args.all)?;
        world.out.text(agents::table(&outcome, world.out.style, world.out.width, usize::MAX))?;
        return if has_any { Ok(()) } else { world.out.line(format!("Next: {}", connect::NEXT_WITHOUT_ANY)) };
    }
    let news = match (connected, has_any) {
        (true, _) => "new sessions appear by themselves",
        (false, true) => "`consort init` connects your agent CLIs",
        (false, false) => connect::NEXT_WITHOUT_ANY,
    };
    watch(world, &mut opened, args.all, news)
}

/// Shows who is here until `q`, and what to expect or to do.
fn watch(world: &World, opened: &mut Opened, everywhere: bool, news: &str) -> CommandResult {
    let project = (!everywhere).then(|| Topic::Project(opened.project.id.clone()));
    let cannot_wait = |error| CommandError::file("cannot wait in", &world.paths.listeners(), error);
    let mut listener = Listener::open(&world.paths.listeners(), project.as_ref()).map_err(cannot_wait)?;
    knowledge::watch::in_background(world);
    panes::background::watch(world);
    let _keys = Keys::take();
    let mut compared: Option<Instant> = None;
    loop {
        opened.app.close_if_replaced();
        if compared.is_none_or(|last| last.elapsed() >= COMPARE) {
            compared = Some(Instant::now());
            // The screen goes on where this cannot.
            let overlaps =
                opened.app.overlaps((!everywhere).then_some(&opened.project.id)).unwrap_or_default();
            let _ = opened.app.tell_overlaps(&overlaps);
            let _ = opened.app.radar(&opened.project.id, &env::get);
        }
        let outcome = who::look(world, opened, everywhere)?;
        let place = outcome.project.as_ref().map_or("every project", |project| project.name.as_str());
        let style = world.out.style;
        let (columns, rows) = output::size();
        let summary = agents::summary(&outcome.agents);
        let title = format!("consort · {}  {summary}", text::one_line(place, 40));
        let title = style.bold(&agents::cut(&title, columns));
        let mail = match opened.app.unread_count(&Actor::Person)? {
            0 => String::new(),
            n => format!(" · {} for you: `consort inbox`", text::count(n, "message")),
        };
        let table = agents::table(&outcome, style, columns, rows.saturating_sub(5));
        let help = style.dim(&agents::cut(&format!("q quits{mail} · {news}"), columns));
        // Home, and clear what is left of each line and of the screen: no flicker.
        let screen = format!("{title}\n\n{table}\n{help}\n").replace('\n', "\x1b[K\r\n");
        world.out.text(format!("\x1b[H{screen}\x1b[J"))?;
        let stdin = std::io::stdin();
        if listener.wait(Some(stdin.as_fd()), TICK).map_err(cannot_wait)? == WakeReason::Other {
            let mut key = [0; 16];
            match stdin.lock().read(&mut key) {
                Ok(0) | Err(_) => return Ok(()),
                Ok(n) if key[..n].iter().any(|key| matches!(key, b'q' | b'Q' | 3 | 4)) => return Ok(()),
                Ok(_) => {}
            }
        }
    }
}

/// Keys as they are pressed, on a screen of their own; given back when dropped.
struct Keys {
    before: Option<Termios>,
}

impl Keys {
    fn take() -> Self {
        let stdin = std::io::stdin();
        let before = rustix::termios::tcgetattr(&stdin).ok();
        if let Some(before) = &before {
            let mut raw = before.clone();
            // Ctrl-C arrives as a key, so that the screen is given back too.
            raw.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG);
            raw.special_codes[SpecialCodeIndex::VMIN] = 1;
            raw.special_codes[SpecialCodeIndex::VTIME] = 0;
            let _ = rustix::termios::tcsetattr(&stdin, OptionalActions::Now, &raw);
        }
        let _ = write!(std::io::stdout(), "\x1b[?1049h\x1b[?25l");
        Self { before }
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        let _ = write!(std::io::stdout(), "\x1b[?25h\x1b[?1049l");
        let _ = std::io::stdout().flush();
        if let Some(before) = &self.before {
            let _ = rustix::termios::tcsetattr(std::io::stdin(), OptionalActions::Now, before);
        }
    }
}
