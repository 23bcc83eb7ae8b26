//! The primer: the introduction to Consort that agents get, in the words of their door. An MCP
//! client has tools, a session with hooks has a shell.

const TEXT: &str = include_str!("primer.md");

/// Renders the primer for sessions that get their mail from hooks, and run commands.
pub fn for_shells() -> String {
    let command = |verb: &str| format!("consort {verb}");
    let mail = "What others send you comes with your tools' results; `consort inbox` has it too.";
    let query = "consort know query '(overview)'";
    rendered(": run its commands in a shell", mail, command, query, "consort know add")
}

/// Renders the primer for clients of the MCP server.
pub fn for_tools() -> String {
    let mail = "What others send you waits in `inbox`: a tool's result says when there is some.";
    rendered(": call its tools", mail, |verb| verb.replace("agent ", ""), "query", "act")
}

fn rendered(how: &str, mail: &str, called: impl Fn(&str) -> String, query: &str, act: &str) -> String {
    let text = TEXT.replace("{how}", how).replace("{mail}", mail);
    let text = text.replace("{query}", query).replace("{act}", act);
    ["who", "reserve", "release", "send", "task", "open", "radar", "agent handoff"]
        .iter()
        .fold(text, |text, verb| text.replace(&format!("{{{verb}}}"), &called(verb)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_door_has_its_own_words() {
        let (shells, tools) = (for_shells(), for_tools());
        assert!(
            shells.contains("`consort who`") && shells.contains("`consort know query '(overview)'`"),
            "{shells}"
        );
        assert!(tools.contains("`who`") && tools.contains("`query`") && tools.contains("`act`"), "{tools}");
        assert!(!tools.contains("consort ") && !shells.contains("`who`"), "{tools}");
        assert!(!format!("{shells}{tools}").contains(['{', '}']));
    }
}
