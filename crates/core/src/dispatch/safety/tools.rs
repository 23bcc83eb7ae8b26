//! Classifies the tools of the CLIs that are neither a shell nor a file tool, by their names.

use super::ActionClass;
use super::classify::Classified;
use super::ours;

/// Tools that look, plan, ask or wait.
#[rustfmt::skip]
const READING: &[&str] = &[
    "activateskill", "askuser", "askuserquestion", "bashoutput", "clihelp", "enterplanmode", "exitplanmode",
    "fetchcopilotclidocumentation", "find", "finish", "getinternaldocs", "glob", "grep", "grepsearch",
    "invalid", "killbash", "killshell", "list", "listagents", "listbash", "listdirectory",
    "listmcpresources", "listmcpresourcestool", "listmcpresourcetemplates", "listpowershell", "ls", "lsp",
    "planenter", "planexit", "question", "read", "readagent", "readbash", "readfile", "readmanyfiles",
    "readmcpresource", "readmcpresourcetool", "readpowershell", "reportintent", "requestuserinput", "rg",
    "searchfilecontent", "showfile", "skill", "slashcommand", "stopbash", "stoppowershell",
    "structuredoutput", "taskcomplete", "taskcreate", "taskget", "tasklist", "taskoutput", "taskstop",
    "taskupdate", "todoread", "todowrite", "toolsearch", "updateplan", "updatetodo", "view", "viewimage",
    "wait", "writetodos",
];
const NETWORK: &[&str] = &["codesearch", "googlewebsearch", "webfetch", "websearch"];
#[rustfmt::skip]
const WRITING: &[&str] = &[
    "applypatch", "create", "edit", "multiedit", "notebookedit", "patch", "replace", "savememory",
    "storememory", "strreplaceeditor", "write", "writefile",
];
/// Tools that write to a command that runs, which was classified when it began.
const RUNNING: &[&str] = &["writebash", "writepowershell", "writestdin"];
#[rustfmt::skip]
const AGENTS: &[&str] = &[
    "agent", "closeagent", "codebaseinvestigator", "delegatetoagent", "generalist", "sendinput",
    "sendmessage", "spawnagent", "task",
];

/// Returns the class of a tool by its name.
pub(super) fn classify(tool: &str) -> Classified {
    if let Some(verb) = ours::tool(tool) {
        return match ours::classify_tool(verb) {
            Some(class) => Classified::of(class, tool),
            None => Classified::unclear(tool, UNKNOWN),
        };
    }
    let plain = plain(tool);
    let known = [
        (READING, ActionClass::FileRead),
        (NETWORK, ActionClass::Network),
        (WRITING, ActionClass::FileWrite),
        (RUNNING, ActionClass::BashExec),
        (AGENTS, ActionClass::AgentDispatch),
    ];
    match known.into_iter().find(|(names, _)| names.contains(&plain.as_str())) {
        Some((_, class)) => Classified::of(class, tool),
        None => Classified::unclear(tool, UNKNOWN),
    }
}

/// Returns the name of a tool in one spelling: only letters and digits, in lower case.
pub(super) fn plain(tool: &str) -> String {
    tool.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

const UNKNOWN: &str = "is a tool that Consort does not know";

/// Tells whether the name of a tool that writes says that it deletes.
pub(super) fn deletes(tool: &str) -> bool {
    let lower = tool.to_lowercase();
    ["delete", "remove", "unlink", "rmdir"].iter().any(|word| lower.contains(word))
}
