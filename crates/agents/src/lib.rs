//! The adapter for agent CLIs: everything that is particular to one CLI, one folder per
//! CLI.
//!
//! [`AgentCli`] is what differs; how Consort behaves is written elsewhere,
//! once. Adding a CLI is adding a folder and a line in [`ALL`].

pub mod allow;
mod appended_lines;
pub mod claude;
pub mod codex;
mod connect;
pub mod copilot;
mod failure;
pub mod flags;
pub mod gemini;
mod headless;
mod hook_entries;
mod hook_switch;
mod instructions_block;
mod json_list;
mod json_member;
mod json_permissions;
mod json_settings;
pub mod opencode;
mod other_tools;
mod patch;
mod payload;
mod payload_lists;
#[cfg(test)]
mod payload_tests;
mod permission;
pub mod pi;
mod plugin_dialect;
mod plugin_file;
pub mod prices;
mod providers;
mod reply;
pub mod run_files;
pub mod screen;
mod session_log;
mod shell_prefix;
mod single_run;
mod toml_table;
mod worker_output;

use std::path::Path;
use std::path::PathBuf;

use consort_core::hooks::Dialect;
use consort_core::monitor::Permissions;
use consort_core::presence::Activity;
use consort_core::presence::Agent;
use consort_core::presence::LiveState;
use consort_core::presence::SessionId;
use serde_json::Value;
use serde_json::json;

pub use connect::Connection;
pub use connect::Insertion;
pub use connect::InsertionFormat;
pub use connect::Purpose;
pub use failure::read_failure;
pub use headless::Headless;
pub use headless::HeadlessCommand;
pub use headless::LastWords;
pub use headless::OutputReader;
pub use headless::Over;
pub use headless::needs;
pub use hook_entries::HookEntries;
pub use hook_entries::PROJECT_MARK;
pub use hook_entries::WHO_ANSWER;
pub use hook_entries::quote;
pub use hook_switch::HookSwitch;
pub use json_list::JsonList;
pub use json_member::JsonMember;
pub use json_settings::SettingsError;
pub use shell_prefix::ShellPrefix;
pub use single_run::RunSetup;
pub use single_run::SingleRun;
pub use toml_table::TomlTable;

/// Every agent CLI there is a folder for.
pub const ALL: &[&dyn AgentCli] =
    &[&claude::Claude, &codex::Codex, &gemini::Gemini, &opencode::OpenCode, &pi::Pi, &copilot::Copilot];

/// The agent CLI of that kind.
pub fn find(kind: &str) -> Option<&'static dyn AgentCli> {
    ALL.iter().copied().find(|cli| cli.kind() == kind)
}

/// A variable's value, where it has one.
pub type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Finds a file by the environment and by the names in a directory.
pub type AliasFile =
    fn(variable: fn(&str) -> Option<String>, names: fn(&Path) -> Option<Vec<String>>) -> Option<PathBuf>;

/// One agent CLI.
pub trait AgentCli: Dialect + Sync {
    /// What people call it.
    fn title(&self) -> &'static str;

    /// The program to look for on `PATH`.
    fn program(&self) -> &'static str;

    /// Set to the session's id inside the session.
    fn session_variable(&self) -> Option<&'static str> {
        None
    }

    /// Whether it runs its commands in a sandbox by default, in which they cannot
    /// write the store: our MCP server does that for them.
    fn has_sandbox(&self) -> bool {
        false
    }

    /// Whether a process of it with that command line has one session at a time.
    fn has_one_session(&self, _command_line: &str) -> bool {
        true
    }

    /// Variables that it sets for whatever it starts: they say that an agent is or
    /// was above.
    fn marker_variables(&self) -> &'static [&'static str];

    /// Set to the process that hosts the session, for its hooks.
    fn pid_variable(&self) -> Option<&'static str> {
        None
    }

    /// Where it keeps its own things for a person with this home.
    fn config_dir(&self, home: &Path, environment: Environment<'_>) -> PathBuf;

    /// How we hear of what its sessions do.
    fn hooks(&self, level: Level<'_>) -> Insertion;

    /// How its sessions can call us, where they can.
    fn mcp(&self, _level: Level<'_>, _environment: Environment<'_>) -> Option<Insertion> {
        None
    }

    /// How its sessions learn to work with others without a session that tells them.
    fn primer(&self, level: Level<'_>) -> Insertion;

    /// How its commands run behind the shield, where they can; none where others share
    /// the settings.
    fn shield(&self, _level: Level<'_>) -> Vec<Insertion> {
        Vec::new()
    }

    /// How its sessions may use us without asking, where rules can say so for each verb;
    /// none where it asks for nothing, or has rules for whole programs only.
    fn allow(&self, _level: Level<'_>) -> Vec<Insertion> {
        Vec::new()
    }

    /// All that may be ours in its files.
    fn insertions(&self, level: Level<'_>, environment: Environment<'_>) -> Vec<Insertion> {
        let others = [Some(self.hooks(level)), self.mcp(level, environment), Some(self.primer(level))];
        let is_program = |insertion: &Insertion| matches!(insertion.format, InsertionFormat::Own(_));
        // A program is there before a setting names it.
        let (programs, settings): (Vec<_>, Vec<_>) = self.shield(level).into_iter().partition(is_program);
        let others = others.into_iter().flatten().chain(self.allow(level));
        programs.into_iter().chain(others).chain(settings).collect()
    }

    /// The version that all of this was last tried with.
    fn tried_with(&self) -> &'static str;

    /// The settings of every tier that may keep its hooks from running.
    fn hook_switches(&self, _config_dir: &Path, _worktree: &Path) -> Vec<HookSwitch> {
        Vec::new()
    }

    /// Its file that says which hooks the person has reviewed, and how many of those in
    /// our file are not among them by that text; `None` where it asks for no review.
    fn unreviewed(&self, _level: Level<'_>, _read: &dyn Fn(&Path) -> Option<String>) -> Option<usize> {
        None
    }

    /// Whether a hook may put another command in the place of one: only where the person
    /// has no rules that would then see the other one.
    fn may_rewrite(&self) -> bool {
        false
    }

    /// Whether a person sits before a session whose hooks have these variables, and would see
    /// its dialogs.
    fn is_attended(&self, _environment: Environment<'_>) -> bool {
        true
    }

    /// How the file is found in which it keeps the aliases of the person's shell, for its own
    /// to have them.
    fn alias_file(&self) -> Option<AliasFile> {
        None
    }

    /// The command in a script as it hands it to its shell; `None` where this is no
    /// script of that kind.
    fn command_in(&self, _script: &str) -> Option<String> {
        None
    }

    /// What connects one run of it, leaving its files alone.
    fn single_run(&self, once: &SingleRun<'_>) -> Result<RunSetup, SettingsError>;

    /// Where below our own directory such a run keeps what it saves instead of
    /// where the CLI keeps its own things, and which file there is ours.
    fn saved(&self, _dir: &Path, _config_dir: &Path) -> Option<(PathBuf, &'static str)> {
        None
    }

    /// The arguments that begin a session in its terminal with a prompt.
    fn prompt_arguments(&self, prompt: &str) -> Vec<String>;

    /// The arguments by which a session may do so much without asking; `None` where it
    /// cannot be told to.
    fn permission_arguments(&self, permissions: Permissions) -> Option<&'static [&'static str]>;

    /// What it is called with to do a piece of work without a terminal.
    fn headless(&self, work: &Headless<'_>) -> HeadlessCommand;

    /// Reads what it prints then.
    fn reader(&self) -> Box<dyn OutputReader>;

    /// The variables that it needs of the person's: keys, addresses, its own settings. A
    /// name, or with `*` at its end what names begin with. See [`needs`].
    fn key_variables(&self) -> &'static [&'static str];

    /// Further ones, as the person's own settings of this CLI name them; `read` gives the
    /// text of a file.
    fn named_variables(&self, _config_dir: &Path, _read: &dyn Fn(&Path) -> Option<String>) -> Vec<String> {
        Vec::new()
    }

    /// The arguments after which its program tells its options for such work.
    fn help_arguments(&self) -> &'static [&'static str] {
        &["--help"]
    }

    /// Options that it has for such work and does not tell.
    fn hidden_flags(&self) -> &'static [&'static str] {
        &[]
    }

    /// What its terminal shows in which state: the rules of [`screen`].
    fn screen(&self) -> &'static str;

    /// What its sessions cannot do, whatever we do.
    fn missing_abilities(&self) -> &'static [Ability];

    /// What the person still has to do once it is connected.
    fn advice(&self) -> Option<&'static str> {
        None
    }

    /// Wakes an idle session without typing into its terminal, so that its next
    /// hook brings the mail; false where it cannot be done.
    fn wake(&self, _config_dir: &Path, _agent: &Agent, _heard: &Activity) -> bool {
        false
    }

    /// What its program is called with to begin a turn in an idle session with this text, where
    /// it can be told so.
    fn wake_arguments(&self, _session: &SessionId, _text: &str) -> Option<Vec<String>> {
        None
    }

    /// What the CLI itself publishes of a running session in its own place.
    fn live_state(&self, _config_dir: &Path, _agent: &Agent) -> Option<LiveState> {
        None
    }
}

/// What a session of a CLI can do once it is connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ability {
    /// It joins, is seen at work, and is kept from what others have reserved.
    TakesPart,
    /// Its model is known.
    TellsItsModel,
    /// It is seen to wait for the person.
    IsSeenWaiting,
    /// Messages reach it with its tools' results and with prompts.
    HearsInItsTurn,
    /// Messages at the end of a turn keep it going.
    HearsAtTheEnd,
    /// A message wakes it when it is idle.
    IsWoken,
    /// It can call our MCP server.
    SpeaksMcp,
    /// Its commands can run with what others have reserved read-only.
    IsShielded,
}

impl Ability {
    pub const ALL: [Self; 8] = [
        Self::TakesPart,
        Self::TellsItsModel,
        Self::IsSeenWaiting,
        Self::HearsInItsTurn,
        Self::HearsAtTheEnd,
        Self::IsWoken,
        Self::SpeaksMcp,
        Self::IsShielded,
    ];

    /// In words, after `cannot`.
    pub fn missing(self) -> &'static str {
        match self {
            Self::TakesPart => "take part",
            Self::TellsItsModel => "tell its model",
            Self::IsSeenWaiting => "be seen waiting for you",
            Self::HearsInItsTurn => "hear messages in its turn",
            Self::HearsAtTheEnd => "be kept going at the end of a turn",
            Self::IsWoken => "be woken when idle",
            Self::SpeaksMcp => "call MCP servers",
            Self::IsShielded => "run commands behind the shield",
        }
    }

    /// In words, after the name of a CLI.
    pub fn about(self) -> &'static str {
        match self {
            Self::TakesPart => "joins, is seen at work, is kept from what others have reserved, leaves",
            Self::TellsItsModel => "says which model it runs",
            Self::IsSeenWaiting => "is seen to wait for you",
            Self::HearsInItsTurn => "hears messages in the middle of its turn",
            Self::HearsAtTheEnd => "is kept going by messages at the end of its turn",
            Self::IsWoken => "is woken by messages when idle",
            Self::SpeaksMcp => "can call `consort mcp`",
            Self::IsShielded => "can run commands behind the shield (`--shield`)",
        }
    }
}

/// What CLIs call a server that they start themselves, in the form that most of
/// them share.
pub(crate) fn server(program: &str) -> Value {
    json!({ "command": program, "args": ["mcp"] })
}

/// Lines of ours in a text of that name.
pub(crate) fn primer(file: PathBuf) -> Insertion {
    Insertion { purpose: Purpose::Primer, file, format: InsertionFormat::Block }
}

/// For whom to connect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level<'a> {
    /// Every session of this person, whose [`AgentCli::config_dir`] is given.
    User(&'a Path),
    /// Every session in this worktree.
    Project(&'a Path),
}

impl Level<'_> {
    /// One of two files below the directory that is meant.
    pub(crate) fn file(self, of_user: &str, of_project: &str) -> PathBuf {
        match self {
            Self::User(config_dir) => config_dir.join(of_user),
            Self::Project(worktree) => worktree.join(of_project),
        }
    }
}

/// What else agent CLIs and we leave in the environment of what a session starts.
const LEFT_BEHIND: &[&str] = &[
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_SSE_PORT",
    "CLAUDE_CODE_MESSAGING_SOCKET",
    "CLAUDE_CODE_MESSAGING_TOKEN",
    "CLAUDE_PROJECT_DIR",
    "GEMINI_PROJECT_DIR",
    "COPILOT_PROJECT_DIR",
    "COPILOT_HOOK_DIR",
    "PI_SESSION_FILE",
    "PI_MODEL",
    "AGENT",
    "CONSORT_SESSION",
    "CONSORT_NAME",
    "CONSORT_RUN",
    "CONSORT_SAFETY",
];

/// Whether a variable belongs to the session that set it: what is opened from there is
/// another one.
pub fn is_of_session(variable: &str) -> bool {
    let is_its = |cli: &&dyn AgentCli| {
        cli.marker_variables().contains(&variable)
            || cli.session_variable() == Some(variable)
            || cli.pid_variable() == Some(variable)
    };
    LEFT_BEHIND.contains(&variable) || ALL.iter().any(is_its)
}

/// Words of which the first may look like an option.
pub(crate) fn after_dashes(prompt: &str) -> Vec<String> {
    match prompt.starts_with('-') {
        true => vec!["--".into(), prompt.into()],
        false => vec![prompt.into()],
    }
}

/// What processes of Node and Bun are called.
const RUNTIMES: [&str; 3] = ["node", "MainThread", "bun"];

/// Whether a process of that name is a runtime, which says nothing of what it runs.
pub fn is_runtime(process: &str) -> bool {
    RUNTIMES.contains(&process)
}

/// Whether a process of that name is an agent CLI. One that is called after its runtime
/// is known by the program or script that it was started with.
pub fn is_agent(process: &str, started_as: &dyn Fn() -> Vec<String>) -> bool {
    let is_named = |name: &str| ALL.iter().any(|cli| cli.program() == name);
    if !RUNTIMES.contains(&process) {
        return is_named(process);
    }
    let words = started_as();
    let mut names = words.iter().filter_map(|word| word.rsplit('/').next());
    names.any(|name| is_named(name.trim_end_matches(".js")))
}
