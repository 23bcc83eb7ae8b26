//! Parses the output of tmux, and writes keys and line ends in its syntax. Pure.

use std::collections::BTreeMap;

use consort_core::Timestamp;
use consort_core::monitor::KeyPress;
use consort_core::monitor::PaneExit;
use consort_core::monitor::PaneFacts;
use consort_core::monitor::ServerPanes;

/// The format of a pane: words, and the title as the rest of the line. A word that may be empty has a
/// letter before it.
pub(super) const PANE: &str = "pane #{pane_id} #{pane_pid} #{pane_dead} c#{pane_dead_status} \
     s#{pane_dead_signal} m#{pane_in_mode} #{pane_width} #{pane_height} #{session_attached} #{window_id} \
     a#{window_activity} n#{s/ /_/:pane_current_command} #{pane_title}";

/// The format of a client: the time of its last key, and the window that it shows.
pub(super) const CLIENT: &str = "client #{client_activity} #{window_id}";

/// Number of a line's last characters that tell it from others.
const LINE_END: usize = 60;

/// Parses the output of a sweep; `None` if the list of panes is missing or cannot be read.
pub(super) fn sweep(printed: &str, boundary: &str) -> Option<ServerPanes> {
    let (listed, shown) = match printed.find(boundary) {
        Some(at) => printed.split_at(at),
        None => (printed, ""),
    };
    let mut panes = BTreeMap::new();
    let mut keys: BTreeMap<&str, Timestamp> = BTreeMap::new();
    for line in listed.lines() {
        if let Some((at, window)) = line.strip_prefix("client ").and_then(|line| line.split_once(' ')) {
            let at = Timestamp(at.parse::<i64>().ok()? * 1_000);
            let last = keys.entry(window).or_insert(at);
            *last = at.max(*last);
        } else {
            let (id, window, facts) = pane(line)?;
            panes.insert(id.to_owned(), (window, facts));
        }
    }
    if panes.is_empty() {
        return None;
    }
    let with_keys = |(id, (window, facts)): (String, (&str, PaneFacts))| {
        (id, PaneFacts { last_key_at: keys.get(window).copied(), ..facts })
    };
    Some(ServerPanes { panes: panes.into_iter().map(with_keys).collect(), screens: screens(shown, boundary) })
}

fn pane(line: &str) -> Option<(&str, &str, PaneFacts)> {
    let mut words = line.strip_prefix("pane ")?.splitn(13, ' ');
    let mut next = || words.next();
    let (id, pid, dead) = (next()?, next()?.parse().ok()?, next()? == "1");
    let code = next()?.strip_prefix('c')?.parse().ok().map(PaneExit::Code);
    let signal = next()?.strip_prefix('s')?.parse().ok().map(PaneExit::Signal);
    let is_in_mode = !matches!(next()?.strip_prefix('m')?, "" | "0");
    let (columns, rows, clients) = (next()?.parse().ok()?, next()?.parse().ok()?, next()?.parse().ok()?);
    let window = next()?;
    let active_at = next()?.strip_prefix('a')?.parse::<i64>().ok().map(|at| Timestamp(at * 1_000));
    let command = next()?.strip_prefix('n')?.to_owned();
    let title = next().unwrap_or_default().trim_end().to_owned();
    let exit = signal.or(code);
    let last_key_at = None;
    let facts = PaneFacts {
        pid,
        command,
        title,
        is_dead: dead,
        exit,
        is_in_mode,
        columns,
        rows,
        active_at,
        clients,
        last_key_at,
    };
    Some((id, window, facts))
}

/// Parses the screens of panes, each after a line that names the pane. A chain of commands that ended
/// early may have named a pane whose screen it did not print.
pub(super) fn screens(printed: &str, boundary: &str) -> BTreeMap<String, String> {
    let parts = printed.split(boundary).skip(1);
    let shown = parts.filter_map(|part| {
        let (number, screen) = part.split_once('\n')?;
        (!screen.is_empty()).then(|| (format!("%{}", number.trim()), screen.to_owned()))
    });
    shown.collect()
}

/// Returns the last lines of a text; several empty lines in a row become one.
pub(super) fn last_lines(text: &str, count: usize) -> String {
    let mut lines: Vec<&str> = text.trim_end().lines().map(str::trim_end).collect();
    lines.dedup_by(|one, other| one.is_empty() && other.is_empty());
    lines[lines.len().saturating_sub(count)..].join("\n")
}

/// Whether an error message of tmux says that no server serves a socket.
pub(super) fn is_no_server(said: &str) -> bool {
    ["no server running", "error connecting", "server exited", "lost server"]
        .iter()
        .any(|no| said.contains(no))
}

/// Builds a regular expression, in a form that tmux's formats leave as it is, for lines that end with
/// this text and with any frame around it.
pub(super) fn line_end(text: &str) -> String {
    let is_literal = |c: char| c == ' ' || c.is_ascii_alphanumeric() || !(c.is_ascii() || c.is_control());
    let start = text.char_indices().rev().nth(LINE_END - 1).map_or(0, |(at, _)| at);
    let literal: String = text[start..].chars().map(|c| if is_literal(c) { c } else { '.' }).collect();
    literal + "[^[:alnum:]]*$"
}

/// Returns tmux's name of a key.
pub(super) fn key_name(key: KeyPress) -> String {
    match key {
        KeyPress::Enter => "Enter".into(),
        KeyPress::Up => "Up".into(),
        KeyPress::Down => "Down".into(),
        KeyPress::Left => "Left".into(),
        KeyPress::Right => "Right".into(),
        KeyPress::Tab => "Tab".into(),
        KeyPress::Escape => "Escape".into(),
        KeyPress::Control(letter) => format!("C-{letter}"),
        KeyPress::Character(character) => character.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTED: &str = "\
pane %0 71 0 c s m0 200 50 1 @0 a1700000001 nclaude ✳ Claude Code: the title
pane %4 72 1 c s9 m 80 24 0 @1 a nnode 
pane %5 73 1 c0 s m1 80 24 0 @1 a na_b b
client 1700000003 @0
client 1700000009 @0
";

    #[test]
    fn panes_are_read_with_the_last_key_of_who_shows_them() {
        let sweep = sweep(LISTED, "BOUND").unwrap();
        let claude = &sweep.panes["%0"];
        assert_eq!((claude.pid, claude.command.as_str(), claude.clients), (71, "claude", 1));
        assert_eq!((claude.title.as_str(), claude.columns), ("✳ Claude Code: the title", 200));
        assert_eq!(claude.last_key_at, Some(Timestamp(1_700_000_009_000)));
        let killed = &sweep.panes["%4"];
        assert_eq!(
            (killed.is_dead, killed.exit, killed.last_key_at),
            (true, Some(PaneExit::Signal(9)), None)
        );
        let ended = &sweep.panes["%5"];
        assert_eq!(
            (ended.exit, ended.is_in_mode, ended.command.as_str()),
            (Some(PaneExit::Code(0)), true, "a_b")
        );
    }

    #[test]
    fn screens_follow_their_marks_and_a_chain_that_ended_shows_less() {
        let printed = format!("{LISTED}BOUND 0\none\n\nBOUND is quoted? no\nBOUND 4\n");
        let printed = printed.replace("BOUND is quoted? no\n", "");
        let sweep = sweep(&printed, "BOUND").unwrap();
        assert_eq!(sweep.screens.into_iter().collect::<Vec<_>>(), [("%0".into(), "one\n\n".into())]);
    }

    #[test]
    fn what_is_no_list_is_no_answer() {
        for printed in ["", "no server running\n", "pane %0 x\n"] {
            assert!(sweep(printed, "BOUND").is_none(), "{printed}");
        }
    }

    #[test]
    fn the_last_lines_are_those_with_something_on_them() {
        assert_eq!(last_lines("a\nb\nc\n\n\n", 2), "b\nc");
        assert_eq!(last_lines("a\n\n\n\nb\n", 3), "a\n\nb");
        assert_eq!(last_lines("", 5), "");
    }
}
