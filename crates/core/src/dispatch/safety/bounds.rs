//! The safety level and the tools of a run, as one text: the supervisor puts it into the
//! environment of the CLI, and hooks read it there.

use super::Safety;
use super::ours;
use super::tools;

/// The safety level of a run, and the tools that it may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunBounds {
    pub safety: Safety,
    /// The only tools that the run may use; absent: all.
    pub tools: Option<Vec<String>>,
}

/// The separator between the safety level and the tools.
const THEN: char = ';';

/// The separator between two tools.
const AND: char = ',';

impl RunBounds {
    /// Reads the bounds from the variable. An unknown safety level means the strictest.
    pub fn from_variable(value: &str) -> Self {
        match value.split_once(THEN) {
            None => Self { safety: Safety::from_variable(value), tools: None },
            Some((safety, tools)) => {
                let tools = tools.split(AND).map(str::trim).filter(|tool| !tool.is_empty());
                Self {
                    safety: Safety::from_variable(safety),
                    tools: Some(tools.map(str::to_owned).collect()),
                }
            }
        }
    }

    /// Tells whether the run may use a tool. Those of ours that only talk are everyone's, and the
    /// spelling of a name (`web_fetch`, `WebFetch`) does not matter.
    pub fn allows_tool(&self, tool: &str) -> bool {
        let Some(own) = &self.tools else { return true };
        let is_talk = ours::tool(tool).is_some() && Safety::Suggest.allows(tools::classify(tool).class);
        is_talk || own.iter().any(|own| tools::plain(own) == tools::plain(tool))
    }
}

impl std::fmt::Display for RunBounds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.safety.as_str())?;
        match &self.tools {
            Some(tools) => write!(f, "{THEN}{}", tools.join(&AND.to_string())),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for tools in [None, Some(vec![]), Some(vec!["Read".to_owned(), "web_fetch".to_owned()])] {
            let bounds = RunBounds { safety: Safety::AutoEdit, tools };
            assert_eq!(RunBounds::from_variable(&bounds.to_string()), bounds);
        }
        assert_eq!(RunBounds::from_variable("everything;Bash").safety, Safety::Suggest);
    }

    #[test]
    fn only_its_tools_and_our_talk() {
        let bounds = RunBounds::from_variable("full-auto;Read,web_fetch");
        for tool in ["Read", "read", "WebFetch", "mcp__consort__send"] {
            assert!(bounds.allows_tool(tool), "{tool}");
        }
        for tool in ["Bash", "Write", "ReadAll", "mcp__consort__run", "mcp__other__send", ""] {
            assert!(!bounds.allows_tool(tool), "{tool}");
        }
        assert!(!RunBounds::from_variable("full-auto;").allows_tool("Read"), "an empty list is none");
        assert!(RunBounds::from_variable("full-auto").allows_tool("Bash"));
    }
}
