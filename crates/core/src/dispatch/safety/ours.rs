//! Classifies Consort's own commands and tools: most of them only talk.

use super::ActionClass;
use super::args::Args;

/// Commands that only look, or change only what is the agent's own.
const TALK: &[&str] = &[
    "chat",
    "explain",
    "inbox",
    "radar",
    "release",
    "reply",
    "reserve",
    "send",
    "status",
    "task",
    "version",
    "wait",
    "waiting",
    "who",
    "whoami",
    "help",
    "--help",
    "-h",
    "--version",
    "-V",
];

/// Returns the class of a command of Consort.
pub(super) fn classify(args: Args<'_>) -> ActionClass {
    let Some(verb) = args.operands().next().or_else(|| args.first()) else {
        return if args.has_unknown() { ActionClass::SystemModify } else { ActionClass::FileRead };
    };
    let second = args.operands().nth(1).unwrap_or_default();
    match (verb, second) {
        (verb, _) if TALK.contains(&verb) => ActionClass::FileRead,
        ("know", "export") => ActionClass::FileWrite,
        ("know", "forget" | "import" | "sync" | "join" | "take-in" | "merge" | "watch" | "cache") => {
            match args.has(&["get", "put", "size"]) {
                true => ActionClass::FileRead,
                false => ActionClass::SystemModify,
            }
        }
        ("know", _) => ActionClass::FileRead,
        ("agent", "rename" | "handoff" | "suggest") => ActionClass::FileRead,
        ("holds", "list" | "contest") | ("policy", "list" | "test") | ("journal", "tail" | "verify") => {
            ActionClass::FileRead
        }
        ("pane", "list" | "screen" | "watch" | "explain") => ActionClass::FileRead,
        ("runs", "list" | "show" | "logs" | "cost" | "audit") | ("roles", "list" | "show" | "validate") => {
            ActionClass::FileRead
        }
        ("config", "get" | "list" | "path") | ("models", "list") => ActionClass::FileRead,
        ("run" | "open" | "with", _)
        | ("runs", "batch" | "chain" | "resume" | "retry" | "attach" | "stop") => ActionClass::AgentDispatch,
        ("pane", "close") => ActionClass::BashDestructive,
        _ => ActionClass::SystemModify,
    }
}

/// Returns the verb of a tool of our MCP server, however the CLI writes its name.
pub(super) fn tool(name: &str) -> Option<&str> {
    let starts = ["mcp__consort__", "mcp_consort_", "consort__", "consort_", "consort-", "consort."];
    starts.iter().find_map(|start| name.strip_prefix(start))
}

pub(super) fn classify_tool(verb: &str) -> Option<ActionClass> {
    match verb {
        "who" | "send" | "inbox" | "reserve" | "release" | "explain" | "task" | "radar" | "handoff"
        | "query" | "act" | "waiting" | "screen" | "status" | "agent" | "holds" | "watch" | "know" => {
            Some(ActionClass::FileRead)
        }
        "restore" => Some(ActionClass::FileWrite),
        // `answer` reaches only agents that the caller has opened itself.
        "run" | "runs" | "open" | "answer" => Some(ActionClass::AgentDispatch),
        "close" => Some(ActionClass::BashDestructive),
        _ => None,
    }
}
