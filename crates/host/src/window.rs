//! Finds the place of an agent's window on the screen, and brings windows to the front, by asking tmux,
//! X11, macOS or the terminal. Never on the hook path: each question starts a process.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use consort_core::presence::Agent;
use consort_core::presence::Point;
use consort_core::presence::Rect;
use consort_core::presence::ScreenPart;
use consort_core::presence::quadrant;

use crate::run_program::run;

/// Longest wait for an answer about windows, which comes at once or not at all.
const PATIENCE: Duration = Duration::from_secs(1);

/// Finds the part of the screen in which each agent's window is; in tmux, the part of the window in which its
/// pane is. `None` where nothing can tell.
pub fn screen_parts<'a>(agents: &'a [Agent]) -> Vec<Option<ScreenPart>> {
    let mut servers: BTreeMap<&Path, BTreeMap<String, (Rect, Rect)>> = BTreeMap::new();
    let mut screen = None;
    let ask = |agent: &'a Agent| {
        let terminal = &agent.location.terminal;
        let (window, screen) = if let (Some(socket), Some(pane)) = (&terminal.tmux, &terminal.pane) {
            *servers.entry(socket).or_insert_with(|| tmux_panes(socket)).get(pane)?
        } else if let Some(window) = &terminal.window {
            let screen = (*screen.get_or_insert_with(x11_screen))?;
            (x11_window(window)?, screen)
        } else if cfg!(target_os = "macos") {
            let tty = agent.location.process.tty.as_deref()?;
            mac_window(terminal.program.as_deref(), tty)?
        } else {
            return None;
        };
        quadrant(window, screen)
    };
    agents.iter().map(ask).collect()
}

/// Brings the window of an agent to the front through its terminal's own command; false if that failed.
pub fn focus_window(agent: &Agent) -> bool {
    let terminal = &agent.location.terminal;
    let Some(tty) = agent.location.process.tty.as_deref() else { return false };
    match terminal.program.as_deref() {
        Some("WezTerm") => focus_wezterm(tty),
        Some("iTerm.app") if cfg!(target_os = "macos") => focus_iterm(tty),
        _ => focus_kitty(agent.location.process.pid),
    }
}

/// Focuses the window in which a process runs; kitty answers only if its remote control is on.
fn focus_kitty(pid: u32) -> bool {
    let mut kitty = Command::new("kitty");
    kitty.args(["@", "focus-window", "--match"]).arg(format!("pid:{pid}"));
    run(&mut kitty, PATIENCE).is_some()
}

fn focus_wezterm(tty: &str) -> bool {
    let panes = run(Command::new("wezterm").args(["cli", "list", "--format", "json"]), PATIENCE);
    let Some(panes) = panes else { return false };
    let Some(id) = wezterm_pane(&panes, tty) else { return false };
    run(Command::new("wezterm").args(["cli", "activate-pane", "--pane-id", &id]), PATIENCE).is_some()
}

/// Finds the id of the pane with that terminal in the output of `wezterm cli list`.
fn wezterm_pane(listed: &str, tty: &str) -> Option<String> {
    let (before, _) = listed.split_once(&format!("\"{tty}\""))?;
    let (_, id) = before.rsplit_once("\"pane_id\":")?;
    let id: String = id.trim_start().chars().take_while(char::is_ascii_digit).collect();
    (!id.is_empty()).then_some(id)
}

fn focus_iterm(tty: &str) -> bool {
    const SELECT: &str = "on run argv
         tell application \"iTerm2\"
           repeat with w in windows
             repeat with t in tabs of w
               repeat with s in sessions of t
                 if tty of s is item 1 of argv then
                   select s
                   activate
                   return
                 end if
               end repeat
             end repeat
           end repeat
           error \"none\"
         end tell
       end run";
    run(Command::new("osascript").args(["-e", SELECT]).arg(tty), PATIENCE).is_some()
}

/// Lists every pane of a tmux server with its place and its window's size, in one call.
fn tmux_panes(socket: &Path) -> BTreeMap<String, (Rect, Rect)> {
    const FORMAT: &str =
        "#{pane_id} #{pane_left} #{pane_top} #{pane_width} #{pane_height} #{window_width} #{window_height}";
    let mut tmux = Command::new("tmux");
    tmux.arg("-S").arg(socket).args(["list-panes", "-a", "-F", FORMAT]);
    let panes = run(&mut tmux, PATIENCE).unwrap_or_default();
    panes
        .lines()
        .filter_map(|line| {
            let (pane, numbers) = line.split_once(' ')?;
            let [x, y, width, height, full_width, full_height] = parse_numbers(numbers)?;
            let whole = rect(0, 0, full_width, full_height);
            Some((pane.to_owned(), (rect(x, y, width, height), whole)))
        })
        .collect()
}

fn x11_screen() -> Option<Rect> {
    let geometry = run(Command::new("xdotool").arg("getdisplaygeometry"), PATIENCE)?;
    let [width, height] = parse_numbers(&geometry)?;
    Some(rect(0, 0, width, height))
}

fn x11_window(window: &str) -> Option<Rect> {
    let geometry = run(Command::new("xdotool").args(["getwindowgeometry", "--shell", window]), PATIENCE)?;
    let value =
        |key: &str| geometry.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('=')?.parse().ok());
    Some(rect(value("X")?, value("Y")?, value("WIDTH")?, value("HEIGHT")?))
}

/// Finds the bounds of the window whose tab has this terminal, and of the desktop.
fn mac_window(program: Option<&str>, tty: &str) -> Option<(Rect, Rect)> {
    let ask = if program == Some("iTerm.app") {
        "tell application \"iTerm2\"
           repeat with w in windows
             repeat with t in tabs of w
               repeat with s in sessions of t
                 if tty of s is wanted then return bounds of w
               end repeat
             end repeat
           end repeat
         end tell"
    } else {
        "tell application \"Terminal\"
           repeat with w in windows
             repeat with t in tabs of w
               if tty of t is wanted then return bounds of w
             end repeat
           end repeat
         end tell"
    };
    let script = |body: &str| {
        let mut osascript = Command::new("osascript");
        osascript
            .arg("-e")
            .arg(format!("on run argv\nset wanted to item 1 of argv\n{body}\nend run"))
            .arg(tty);
        run(&mut osascript, PATIENCE).as_deref().and_then(parse_bounds)
    };
    Some((script(ask)?, script("tell application \"Finder\" to return bounds of window of desktop")?))
}

/// Parses `left, top, right, bottom`, as AppleScript prints bounds.
fn parse_bounds(text: &str) -> Option<Rect> {
    let [left, top, right, bottom] = parse_numbers(&text.replace(',', " "))?;
    Some(rect(left, top, right - left, bottom - top))
}

fn parse_numbers<const N: usize>(text: &str) -> Option<[i32; N]> {
    let numbers: Vec<i32> = text.split_whitespace().map(|word| word.parse().ok()).collect::<Option<_>>()?;
    numbers.try_into().ok()
}

fn rect(x: i32, y: i32, width: i32, height: i32) -> Rect {
    Rect { origin: Point { x, y }, width, height }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pane_of_wezterm_is_found_by_its_terminal() {
        let listed =
            r#"[{"pane_id": 3, "tty_name": "/dev/pts/1"}, {"pane_id": 14, "tty_name": "/dev/pts/2"}]"#;
        assert_eq!(wezterm_pane(listed, "/dev/pts/2").as_deref(), Some("14"));
        assert_eq!(wezterm_pane(listed, "/dev/pts/9"), None);
    }

    #[test]
    fn bounds_are_read_as_applescript_prints_them() {
        assert_eq!(parse_bounds("0, 25, 720, 450\n"), Some(rect(0, 25, 720, 425)));
        assert_eq!(parse_bounds("missing value"), None);
    }
}
