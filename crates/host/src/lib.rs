//! The adapter for this machine: clock, paths, environment, processes, repositories,
//! windows, and the notifications that wake a waiting process.

mod cache;
mod connections;
pub mod env;
mod files;
mod git;
mod git_diff;
mod machine;
mod machine_id;
pub mod notify;
mod paths;
mod peer;
mod person;
mod process;
mod process_tree;
mod real_path;
mod run_program;
pub mod run_worktree;
pub mod shield;
#[cfg(target_os = "linux")]
mod sock_diag;
#[cfg(target_os = "linux")]
pub mod spool;
pub mod tmux;
mod window;
mod worker;

pub use cache::LARGEST as LARGEST_RESULT;
pub use cache::ResultCache;
pub use connections::count_connections;
pub use files::hash;
pub use files::names;
pub use git::add_worktree;
pub use git::change_git_config;
pub use git::changed_lines;
pub use git::commit_time;
pub use git::has_merge_driver;
pub use git::hooks_dir;
pub use git::shared_git_dir;
pub use git::staged;
pub use git::unmerged_sides;
pub use git_diff::diff_since;
pub use machine::Machine;
pub use paths::Paths;
pub use peer::Peer;
pub use peer::PeerLookup;
pub use peer::Peers;
pub use person::check_person_at_terminal;
pub use process::MAX_ANCESTORS;
pub use process::command_line;
pub use process::program_and_script;
pub use run_program::ask_gate;
pub use run_program::ask_version;
pub use run_program::run_check;
pub use run_program::run_for_help;
pub use run_program::succeeds;
pub use tmux::Tmux;
pub use window::focus_window;
pub use window::screen_parts;
pub use worker::Worker;
pub use worker::WorkerCommand;
pub use worker::WorkerProcessEvent;
pub use worker::end_orphans;
