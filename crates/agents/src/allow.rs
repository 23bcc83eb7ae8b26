//! Lists the `consort` verbs and MCP tools that agents may use without asking their user, and makes every
//! CLI's allow rules from those lists.
//!
//! There is a rule for each verb and each MCP tool, never one for the program's name: that would also allow
//! verbs that weaken protection or run other programs. **Every verb of the command line is in exactly one of
//! the two lists**; a test walks the commands.
//!
//! A rule covers all options and arguments of its verb. So a verb is harmless only if each of its options is
//! harmless, or refuses agents by itself.

use serde_json::Value;
use serde_json::json;

use crate::plugin_file;

/// The program's name, as agents type it.
const NAME: &str = "consort";

/// The verbs that need no permission: they only read, or change what belongs to the agent itself.
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

/// The verbs for which the user is asked: they change settings or others' protection, run other programs,
/// read any file, serve, or are for people and for git.
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

/// The MCP tools that need no permission. Actions that weaken protection are not MCP tools at all.
pub const ALLOWED_TOOLS: &[&str] = &[
    "act", "agent", "answer", "close", "explain", "handoff", "holds", "inbox", "know", "query", "radar",
    "release", "reserve", "restore", "runs", "screen", "send", "status", "task", "waiting", "watch", "who",
];

/// The MCP tools for which the user is asked: they start other programs.
pub const ASKED_TOOLS: &[&str] = &["open", "run"];

/// The number of rules that `init` writes for a CLI with rules for both commands and MCP tools.
pub const RULE_COUNT: usize = ALLOWED.len() + ALLOWED_TOOLS.len();

/// Returns the beginning of each allowed command line, such as `consort who`.
pub(crate) fn commands() -> impl Iterator<Item = String> {
    ALLOWED.iter().map(|verb| format!("{NAME} {verb}"))
}

/// Makes Claude Code's rules: `:*` stands for any further words.
pub(crate) fn claude() -> Vec<String> {
    let commands = commands().map(|command| format!("Bash({command}:*)"));
    commands.chain(ALLOWED_TOOLS.iter().map(|tool| format!("mcp__{NAME}__{tool}"))).collect()
}

/// Makes the text of a rules file for Codex, which compares whole words.
pub(crate) fn codex(_program: &str) -> String {
    let rule = |command: String| {
        let words: Vec<&str> = command.split(' ').collect();
        format!("prefix_rule(pattern={}, decision=\"allow\")\n", json!(words))
    };
    format!("# {}\n{}", plugin_file::NOTICE, commands().map(rule).collect::<String>())
}

/// Makes the value of `tools` in Codex's table of our MCP server.
pub(crate) fn codex_tools() -> String {
    let tool = |tool: &&str| format!("{tool} = {{ approval_mode = \"approve\" }}");
    format!("{{ {} }}", ALLOWED_TOOLS.iter().map(tool).collect::<Vec<_>>().join(", "))
}

/// Makes the text of a policy file for Gemini CLI. Gemini's defaults have less weight than any policy of the
/// person's, and this policy has the lowest priority among those.
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

/// Returns OpenCode's patterns for commands, each with and without further words, and the names of our MCP
/// tools in OpenCode.
pub(crate) fn opencode() -> (Vec<String>, Vec<String>) {
    let commands = commands().flat_map(|command| [format!("{command} *"), command]);
    (commands.collect(), ALLOWED_TOOLS.iter().map(|tool| format!("{NAME}_{tool}")).collect())
}
