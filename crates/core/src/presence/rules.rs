//! Pure rules of presence: an agent's name, hosting process, status and window position, and which sessions
//! may join. No store, no clock, no machine.

use super::Activity;
use super::Agent;
use super::AgentView;
use super::CliStatus;
use super::Departure;
use super::LeaveReason;
use super::NameWish;
use super::Observed;
use super::PresenceError;
use super::Rect;
use super::ScreenPart;
use super::SessionId;
use super::Status;
use super::names;
use crate::Timestamp;
use crate::config::HookSettings;
use crate::host::Process;
use crate::journal::Change;
use crate::monitor::PaneGlance;
use crate::presence::AgentName;
use crate::presence::PresenceChange;

/// Time after which a silent agent counts as gone, if its process cannot be seen from here (on another
/// machine, in a container). Its hooks and its MCP server prove that it lives.
pub(super) const SILENCE: i64 = 10 * Timestamp::MINUTE;

/// Chooses a session's name. `former` is the name the session had before, if any.
pub(super) fn settle_name(
    wish: &NameWish,
    former: Option<&str>,
    random: u64,
    taken: &[&str],
) -> Result<String, PresenceError> {
    let is_taken = |name: &str| taken.iter().any(|taken| taken.eq_ignore_ascii_case(name));
    match wish {
        NameWish::Insist(name) if !names::is_valid_name(name) => {
            Err(PresenceError::InvalidName { name: name.clone() })
        }
        NameWish::Insist(name) if is_taken(name) => {
            Err(PresenceError::NameTaken { name: name.clone().into() })
        }
        NameWish::Insist(name) => Ok(name.clone()),
        NameWish::Prefer(name) if names::is_valid_name(name) => {
            Ok(if is_taken(name) { names::numbered(name, is_taken) } else { name.clone() })
        }
        NameWish::Any | NameWish::Prefer(_) => {
            Ok(match former.filter(|name| names::is_valid_name(name) && !is_taken(name)) {
                Some(name) => name.to_owned(),
                None => names::generate(random, is_taken),
            })
        }
    }
}

/// Tells whether a session that a hook has seen may join without asking. `known` is the reason it left, if it
/// was here before; a session that has not left may always rejoin. A session that has left comes back only by
/// an event that begins a session or a turn, because hooks of its end may be late.
pub(super) fn is_welcome(
    settings: &HookSettings,
    session: &SessionId,
    known: Option<Option<LeaveReason>>,
    begins: bool,
) -> bool {
    match known {
        Some(None) => true,
        Some(Some(LeaveReason::Asked)) => false,
        Some(Some(_)) => settings.auto_register && begins,
        // A second life joins only by an event that begins something.
        None => settings.auto_register && (begins || !session.is_second_life()),
    }
}

/// Shells, which run between a command and the process that started it.
const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "fish", "ksh", "ash", "busybox"];

/// Programs that contain the shells of many callers: terminals, multiplexers, logins. Process names have
/// fifteen letters at most.
const TERMINALS: &[&str] = &[
    "Terminal",
    "alacritty",
    "foot",
    "ghostty",
    "gnome-terminal-",
    "iTerm2",
    "init",
    "kitty",
    "konsole",
    "login",
    "screen",
    "SCREEN",
    "sshd",
    "sshd-session",
    "systemd",
    "terminator",
    "tilix",
    "wezterm-gui",
    "xfce4-terminal",
    "xterm",
    "zellij",
];

/// Finds the process that hosts a session: the ancestor that its CLI names, else the nearest ancestor that is
/// not a shell, because hooks are run through a shell. Process 1, tmux servers and terminals are also above
/// other callers, who would all become that agent: neither they nor their ancestors host a session.
pub fn hosting_process(mut ancestors: Vec<Process>, named: Option<u32>) -> Option<Process> {
    let by_name = ancestors.iter().position(|process| Some(process.pid) == named);
    let no_shell = || {
        let index = ancestors.iter().position(|process| !is_shell(process))?;
        let process = &ancestors[index];
        let is_shared =
            process.pid == 1 || is_tmux_server(process) || TERMINALS.contains(&process.program.as_str());
        (!is_shared).then_some(index)
    };
    let index = by_name.or_else(no_shell)?;
    Some(ancestors.swap_remove(index))
}

/// Tells whether a process is a shell.
pub fn is_shell(process: &Process) -> bool {
    SHELLS.contains(&process.program.as_str())
}

/// Tells whether a caller other than the person may register the process `pid` as an agent: only an ancestor
/// up to the nearest agent CLI. Process 1 and tmux servers are also above other callers, who would all become
/// that agent.
pub fn may_register(pid: u32, ancestors: &[Process], is_agent_cli: impl Fn(&Process) -> bool) -> bool {
    for process in ancestors {
        let is_agent_cli = is_agent_cli(process);
        if process.pid == pid {
            return is_agent_cli || (pid != 1 && !is_tmux_server(process));
        }
        if is_agent_cli {
            return false;
        }
    }
    false
}

/// Tells whether a process is a tmux server, by the name that tmux gives it.
pub fn is_tmux_server(process: &Process) -> bool {
    process.program.starts_with("tmux: server")
}

/// Returns the renamed agent and the change to record. `holder` is the agent that already has the name.
pub(super) fn rename(
    me: &Agent,
    name: &str,
    holder: Option<&Agent>,
) -> Result<(Agent, Change), PresenceError> {
    if me.name.as_str() == name {
        return Err(PresenceError::SameName { name: me.name.clone() });
    }
    let taken: Vec<&str> = holder.iter().map(|holder| holder.name.as_str()).collect();
    let name = settle_name(&NameWish::Insist(name.to_owned()), None, 0, &taken)?;
    let renamed = Agent { name: name.into(), ..me.clone() };
    let (session, from, name) = (me.session.clone(), me.name.clone(), renamed.name.clone());
    Ok((renamed, Change::Presence(PresenceChange::Renamed { session, from, name })))
}

/// Combines a present agent with its last reported activity; without one, shows it as idle since it joined.
pub(super) fn see(mut agent: Agent, activity: Option<Activity>) -> AgentView {
    let activity = activity.unwrap_or_else(|| Activity {
        last_active: agent.joined_at,
        status: Status::Idle,
        doing: None,
        waiting_for: None,
        prompts: 0,
        model: None,
        asks_first: None,
        subagents: Vec::new(),
    });
    agent.model = activity.model.or(agent.model);
    AgentView {
        agent,
        status: activity.status,
        activity: activity.doing,
        waiting_for: activity.waiting_for,
        last_active: activity.last_active,
        prompts: activity.prompts,
        quadrant: None,
        subagents: activity.subagents,
        left: None,
        unread: 0,
        you: false,
        pane: None,
    }
}

/// Returns the view of an agent that left.
pub(crate) fn see_gone(agent: Agent, at: Timestamp, reason: LeaveReason) -> AgentView {
    let mut seen = see(agent, None);
    seen.status = Status::Gone;
    seen.last_active = at;
    seen.left = Some(Departure { at, reason });
    seen
}

/// Updates the view with the status that the CLI publishes, unless the hooks reported something newer, and
/// with the place of the agent's window.
pub(super) fn add_observed(seen: &mut AgentView, glimpse: Observed) {
    let is_new = |live: &CliStatus| live.at.is_none_or(|at| at >= seen.last_active);
    if let Some(CliStatus { status, waiting_for, .. }) = glimpse.live.filter(is_new) {
        if status != Status::Working {
            seen.activity = None;
        }
        seen.status = status;
        seen.waiting_for = waiting_for.or(seen.waiting_for.take().filter(|_| status == Status::Waiting));
    }
    seen.quadrant = glimpse.quadrant;
}

/// Updates the view with the watcher's view of the agent's pane; the pane's status counts only if the CLI
/// publishes none.
pub(super) fn look_at_pane(seen: &mut AgentView, glance: PaneGlance, has_own_word: bool) {
    if let Some(status) = glance.status().filter(|_| !has_own_word) {
        seen.status = status;
        if status != Status::Working {
            seen.activity = None;
        }
        seen.waiting_for =
            glance.question.clone().or(seen.waiting_for.take()).filter(|_| status == Status::Waiting);
    }
    if seen.status == Status::Idle && glance.is_away {
        seen.status = Status::Away;
    }
    seen.pane = Some(glance);
}

/// Tells whether an agent has been idle for long. Such an agent is stuck if it has a task, or if somebody
/// contests or waits for its holds.
pub(super) fn is_idle_for_long(seen: &AgentView, now: Timestamp) -> bool {
    seen.status.is_idle() && now.since(seen.last_active) >= Activity::STUCK
}

/// Returns the sort key of agent lists: those that need the person first, then by name.
pub(super) fn by_attention(seen: &AgentView) -> (Status, AgentName) {
    (seen.status, seen.agent.name.clone())
}

/// Returns the part of `screen` that a window fills, by the centre of the window. A window as wide or as high
/// as the screen is placed by the other coordinate alone.
pub fn quadrant(window: Rect, screen: Rect) -> Option<ScreenPart> {
    let side = |origin: i32, length: i32, from: i32, whole: i32| {
        // A tenth of the screen is left for bars and borders.
        let spans = length.saturating_mul(10) >= whole.saturating_mul(9);
        let is_first = 2 * (origin - from) + length < whole;
        (!spans).then_some(is_first)
    };
    let left = side(window.origin.x, window.width, screen.origin.x, screen.width);
    let top = side(window.origin.y, window.height, screen.origin.y, screen.height);
    Some(match (top, left) {
        (Some(true), Some(true)) => ScreenPart::TopLeft,
        (Some(true), Some(false)) => ScreenPart::TopRight,
        (Some(false), Some(true)) => ScreenPart::BottomLeft,
        (Some(false), Some(false)) => ScreenPart::BottomRight,
        (None, Some(true)) => ScreenPart::Left,
        (None, Some(false)) => ScreenPart::Right,
        (Some(true), None) => ScreenPart::Top,
        (Some(false), None) => ScreenPart::Bottom,
        (None, None) => return None,
    })
}
