//! What agents may do with Consort without asking their user: the one table of verbs
//! that every CLI's allow rules are made from.
//!
//! There is a rule for each verb and each MCP tool, never one for the program's name:
//! that would also allow what weakens protection or runs other programs. **Every verb
//! of the command line is in exactly one of the two lists**; a test walks the commands.
//!
//! A rule covers whatever follows its verb. So a verb is harmless only if each of its
//! options is, or refuses agents by itself.

use serde_json::Value;
use serde_json::json;

use crate::plugin_file;

/// The program's name, as agents type it.
const NAME: &str = "consort";

/// The verbs that need no permission: they look, or change what is the agent's own.
pub const ALLOWED: &[&str] = &[
    "agent handoff",
    "agent rename",
    "agent suggest",
    "explain",
    "holds contest",
    "holds list",
    "inbox",
    "journal tail",
    "journal verify",
    "know add",
    "know adopt",
    "know as-of",
    "know cache get",
    "know cache put",
    "know cache size",
    "know history",
    "know list",
    "know query",
    "know renew",
    "know save",
    "know search",
    "know show",
    "know similar",
    "know stale",
    "know suggest",
    "pane list",
    "pane screen",
    "pane watch",
    "policy list",
    "policy test",
    "radar",
    "radar history",
    "radar list",
    "radar merges",
    "radar show",
    "radar topics",
    "radar topics forget",
    "radar topics set",
    "release",
    "reply",
    "reserve",
    "roles list",
    "roles show",
    "roles validate",
    "runs attach",
    "runs audit",
    "runs cost",
    "runs list",
    "runs logs",
    "runs show",
    "send",
    "status",
    "task",
    "task claim",
    "task done",
    "task drop",
    "task list",
    "task next",
    "wait",
    "waiting",
    "who",
    "whoami",
];

/// The verbs that are asked about: they change settings or others' protection, run other
/// programs, read any file, serve, or are for people and for git.
pub const ASKED: &[&str] = &[
    "policy add",
    "policy remove",
    "agent join",
    "agent leave",
    "answer",
    "chat",
    "completions",
    "config accept",
    "config get",
    "config list",
    "config path",
    "config set",
    "config unset",
    "demo",
    "doctor",
    "down",
    "git-hook",
    "holds",
    "holds override",
    "holds restore",
    "init",
    "journal rebuild",
    "know apply",
    "know cache clear",
    "know export",
    "know forget",
    "know import",
    "know join",
    "know merge",
    "know sync",
    "know take-in",
    "know try",
    "know watch",
    "mcp",
    "open",
    "pane attach",
    "pane close",
    "pane explain",
    "pane focus",
    "pane start",
    "roles set",
    "run",
    "runs batch",
    "runs chain",
    "runs reset",
    "runs resume",
    "runs retry",
    "runs stop",
    "runs supervise",
    "serve",
    "shield",
    "token list",
    "token new",
    "token revoke",
    "uninit",
    "up",
    "with",
];

/// The MCP tools that need no permission. All are: what weakens protection is no tool.
pub const ALLOWED_TOOLS: &[&str] = &[
    "act", "agent", "answer", "close", "explain", "handoff", "holds", "inbox", "know", "query", "radar",
    "release", "reserve", "restore", "runs", "screen", "send", "status", "task", "waiting", "watch", "who",
];

/// The tools that are asked about: they start other programs.
pub const ASKED_TOOLS: &[&str] = &["open", "run"];

/// How many rules a CLI gets that has them for commands and for tools.
pub const RULES: usize = ALLOWED.len() + ALLOWED_TOOLS.len();

/// The commands, as they begin.
pub(crate) fn commands() -> impl Iterator<Item = String> {
    ALLOWED.iter().map(|verb| format!("{NAME} {verb}"))
}

/// Claude Code's rules: `:*` stands for any further words.
pub(crate) fn claude() -> Vec<String> {
    let commands = commands().map(|command| format!("Bash({command}:*)"));
    commands.chain(ALLOWED_TOOLS.iter().map(|tool| format!("mcp__{NAME}__{tool}"))).collect()
}

/// A file of rules for Codex, which compares whole words.
pub(crate) fn codex(_program: &str) -> String {
    let rule = |command: String| {
        let words: Vec<&str> = command.split(' ').collect();
        format!("prefix_rule(pattern={}, decision=\"allow\")\n", json!(words))
    };
    format!("# {}\n{}", plugin_file::NOTICE, commands().map(rule).collect::<String>())
}

/// The value of `tools` in Codex's table of our MCP server.
pub(crate) fn codex_tools() -> String {
    let tool = |tool: &&str| format!("{tool} = {{ approval_mode = \"approve\" }}");
    format!("{{ {} }}", ALLOWED_TOOLS.iter().map(tool).collect::<Vec<_>>().join(", "))
}

/// A policy for Gemini CLI. Its own defaults have less weight than any policy of the
/// person's, and this one the least of those.
pub(crate) fn gemini(_program: &str) -> String {
    let list = |items: Vec<String>| {
        let lines = items.into_iter().map(|item| format!("  {},\n", Value::from(item)));
        format!("[\n{}]", lines.collect::<String>())
    };
    let rest = "decision = \"allow\"\npriority = 1\n";
    format!(
        "# {}\n[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = {}\n{rest}\n\
         [[rule]]\nmcpName = \"{NAME}\"\ntoolName = {}\n{rest}",
        plugin_file::NOTICE,
        list(commands().collect()),
        list(ALLOWED_TOOLS.iter().map(|tool| (*tool).to_owned()).collect()),
    )
}

/// OpenCode's patterns for commands, each with and without further words, and the names
/// of our tools there.
pub(crate) fn opencode() -> (Vec<String>, Vec<String>) {
    let commands = commands().flat_map(|command| [format!("{command} *"), command]);
    (commands.collect(), ALLOWED_TOOLS.iter().map(|tool| format!("{NAME}_{tool}")).collect())
}
