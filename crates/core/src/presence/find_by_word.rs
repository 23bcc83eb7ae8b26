//! Pure rule that finds the agent a word stands for: its name, the beginning of its name, or its terminal.

use super::Agent;

/// Least letters of a name's beginning: fewer might fit another agent tomorrow.
const SHORTEST_PREFIX: usize = 3;

/// Returns the agents that a word stands for: by the name or its beginning, the pane (`%3`) or the terminal
/// (`pts/17`, `/dev/pts/17`). The caller must refuse more than one.
pub fn find_by_word<'a>(word: &str, present: &'a [Agent]) -> Vec<&'a Agent> {
    let word = word.strip_prefix('@').unwrap_or(word);
    let lower = word.to_lowercase();
    if let Some(agent) = present.iter().find(|agent| agent.name.as_str().to_lowercase() == lower) {
        return vec![agent];
    }
    let tty = word.strip_prefix("/dev/").unwrap_or(word);
    let is_there = |agent: &&Agent| {
        let own = agent.location.process.tty.as_deref();
        let own = own.map(|own| own.strip_prefix("/dev/").unwrap_or(own));
        agent.location.terminal.pane.as_deref() == Some(word) || (own == Some(tty) && !tty.is_empty())
    };
    let there: Vec<&Agent> = present.iter().filter(is_there).collect();
    if !there.is_empty() || lower.chars().count() < SHORTEST_PREFIX {
        return there;
    }
    present.iter().filter(|agent| agent.name.as_str().to_lowercase().starts_with(&lower)).collect()
}
