//! Every environment variable Consort reads, declared once.

use consort_core::presence::Terminal;

/// The one directory for everything: store, configuration, logs.
pub const CONSORT_HOME: &str = "CONSORT_HOME";
/// The name a session prefers.
pub const NAME: &str = "CONSORT_NAME";
/// The session on whose behalf a call is made if no registered agent is up the process tree: for plugins
/// and tests.
pub const SESSION: &str = "CONSORT_SESSION";

/// The run that a process belongs to.
pub const RUN: &str = "CONSORT_RUN";
/// The safety level of that run: how much it may do by itself.
pub const SAFETY: &str = "CONSORT_SAFETY";

/// The program that Claude Code runs its commands through.
pub const CLAUDE_SHELL_PREFIX: &str = "CLAUDE_CODE_SHELL_PREFIX";

/// Returns a variable that is set, is text and is not empty.
pub fn get(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Returns the terminal of this process, as far as its environment tells.
pub fn terminal() -> Terminal {
    let tmux = get("TMUX").and_then(|tmux| tmux.split(',').next().map(Into::into));
    Terminal {
        pane: get("TMUX_PANE").filter(|_| tmux.is_some()),
        tmux,
        window: get("WINDOWID"),
        program: get("TERM_PROGRAM"),
    }
}
