//! Finds the command in a script that Claude Code gives its shell, and writes the script that Claude Code
//! runs its commands through.
//!
//! `CLAUDE_CODE_SHELL_PREFIX` names a program that gets the command to run as one argument: the script of a
//! Bash call, or the command line of a hook or of an MCP server. For an MCP server the program is started
//! directly, not by a shell. So the variable must be one path, and the program must exist even if Consort is
//! removed: hence a small script beside the settings, which needs nothing but a shell.

use crate::plugin_file;
use crate::quote;

/// The end of the script of every Bash call: it saves the shell's working directory.
const END: &str = " && pwd -P >| ";

/// The word before the command itself.
const BEGIN: &str = "eval ";

/// Returns the command of a Bash call; `None` if the script is something else.
pub(super) fn command_in(script: &str) -> Option<String> {
    let (call, _) = script.rsplit_once(END)?;
    let starts = call.match_indices(BEGIN).map(|(at, _)| at);
    // The first `eval` that is a command of the script, not a part of the command that is run.
    let start = starts.into_iter().find(|at| *at == 0 || call[..*at].ends_with("&& "))?;
    unquoted(&call[start + BEGIN.len()..])
}

/// Returns the first word of a shell command line, without its quotes.
fn unquoted(line: &str) -> Option<String> {
    let mut word = String::new();
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            '\'' => loop {
                match chars.next()? {
                    '\'' => break,
                    c => word.push(c),
                }
            },
            '"' => loop {
                match chars.next()? {
                    '"' => break,
                    '\\' => match chars.next()? {
                        c @ ('"' | '\\' | '$' | '`' | '!') => word.push(c),
                        c => word.extend(['\\', c]),
                    },
                    c => word.push(c),
                }
            },
            '\\' => word.push(chars.next()?),
            c if c.is_whitespace() => break,
            c => word.push(c),
        }
    }
    Some(word)
}

/// Returns the newest of Claude Code's snapshots of the person's shells: `snapshot-<shell>-<time>-<id>.sh`. A
/// person with two shells has snapshots of both.
pub(super) fn newest_snapshot(names: Vec<String>) -> Option<String> {
    let time = |name: &String| {
        let mut parts = name.strip_suffix(".sh")?.strip_prefix("snapshot-")?.split('-');
        parts.nth(1)?.parse::<u64>().ok()
    };
    names.into_iter().filter(|name| time(name).is_some()).max_by_key(time)
}

/// Returns the text of the script that Claude Code runs everything through.
///
/// Hooks and MCP servers are run with a plain `sh -c`, as without the script; a Bash call is run with the
/// shell that Claude Code has chosen, behind the shield if there is one. A prefix that the person had before
/// is run in between.
pub(super) fn script(program: &str) -> String {
    let program = quote(program);
    let notice = plugin_file::NOTICE;
    format!(
        r#"#!/bin/sh
# {notice}
# Claude Code runs its commands through this. Without consort it runs them as they are.
case $1 in
*' && pwd -P >| '*)
	case $SHELL in */bash | */zsh) shell=$SHELL ;; *) shell=bash ;; esac
	[ -x {program} ] && [ -z "$CONSORT_SHELL_PREFIX" ] && exec {program} shield -- "$shell" -c "$1"
	guard={program}
	;;
*) shell=/bin/sh guard= ;;
esac
case $CONSORT_SHELL_PREFIX in
'') exec "$shell" -c "$1" ;;
?*' -'*) set -- "$1" "${{CONSORT_SHELL_PREFIX% -*}}" "-${{CONSORT_SHELL_PREFIX##* -}}" ;;
*) set -- "$1" "$CONSORT_SHELL_PREFIX" '' ;;
esac
[ -x "$guard" ] && eval "exec \"\$guard\" shield --text \"\$1\" -- \"\$2\" $3 \"\$1\""
eval "exec \"\$2\" $3 \"\$1\""
"#
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bash_call_is_told_from_hooks_and_servers() {
        let call = |eval: &str| {
            format!("source /h/snapshot.sh 2>/dev/null || true && eval {eval} && pwd -P >| /tmp/cwd")
        };
        for (eval, command) in [
            ("'ls -la' < /dev/null", "ls -la"),
            (r#"'echo "it'"'"'s" $0' < /dev/null"#, r#"echo "it's" $0"#),
            ("ls", "ls"),
            (r#""a \"b\" \n" < /dev/null"#, r#"a "b" \n"#),
            ("'x && eval y && pwd -P >| z'", "x && eval y && pwd -P >| z"),
            (r"a\ b", "a b"),
        ] {
            assert_eq!(command_in(&call(eval)).as_deref(), Some(command), "{eval}");
        }
        for other in ["cat >> log; env", "python3 mcp.py 'a b'", "eval 'x'", "", "echo ' && pwd -P >| '"] {
            assert_eq!(command_in(other), None, "{other}");
        }
    }
}
