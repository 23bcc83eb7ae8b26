//! One file per command: its arguments, what it asks of the app, what it prints.

pub(crate) mod claims;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod convergence;
pub(crate) mod doctor;
pub(crate) mod git_hook;
pub(crate) mod init;
pub(crate) mod join;
pub(crate) mod journal;
pub(crate) mod knowledge;
pub(crate) mod leave;
pub(crate) mod mcp;
pub(crate) mod messages;
pub(crate) mod rename;
pub(crate) mod serve;
pub(crate) mod status;
pub(crate) mod tasks;
pub(crate) mod token;
pub(crate) mod uninit;
pub(crate) mod up;
pub(crate) mod who;
pub(crate) mod whoami;
pub(crate) mod with;
