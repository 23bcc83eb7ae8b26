//! The commands, one file each and named like the command: its arguments, what it asks
//! of the app, what it prints.

pub(crate) mod agent;
pub(crate) mod answer;
pub(crate) mod chat;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod doctor;
pub(crate) mod explain;
pub(crate) mod git_hook;
pub(crate) mod holds;
pub(crate) mod inbox;
pub(crate) mod init;
pub(crate) mod journal;
pub(crate) mod know;
pub(crate) mod mcp;
pub(crate) mod open;
pub(crate) mod pane;
pub(crate) mod policy;
pub(crate) mod radar;
pub(crate) mod release;
pub(crate) mod reply;
pub(crate) mod reserve;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod send;
pub(crate) mod serve;
pub(crate) mod status;
pub(crate) mod task;
pub(crate) mod token;
pub(crate) mod uninit;
pub(crate) mod up;
pub(crate) mod wait;
pub(crate) mod waiting;
pub(crate) mod who;
pub(crate) mod whoami;
pub(crate) mod with;
