//! The adapter for agent CLIs: everything that is particular to one CLI, in one folder per CLI.
//!
//! [`AgentCli`] has everything that differs between CLIs; Consort's behaviour is written elsewhere, once for
//! all CLIs. To add a CLI, add a folder and an element of [`ALL`].

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
use consort_core::presence::CliStatus;
use consort_core::presence::SessionId;
use serde_json::Value;
use serde_json::json;

pub use connect::Insertion;
pub use connect::InsertionContent;
pub use connect::InsertionFormat;
pub use connect::InsertionState;
pub use failure::read_failure;
pub use headless::EndReport;
pub use headless::Headless;
pub use headless::HeadlessCommand;
pub use headless::OutputReader;
pub use headless::WorkerEnd;
pub use headless::needs_variable;
pub use hook_entries::HookEntries;
pub use hook_entries::PROJECT_ARGUMENT;
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

/// Every supported agent CLI.
pub const ALL: &[&dyn AgentCli] =
    &[&claude::Claude, &codex::Codex, &gemini::Gemini, &opencode::OpenCode, &pi::Pi, &copilot::Copilot];

/// Finds the agent CLI of a kind, such as `claude`.
pub fn find(kind: &str) -> Option<&'static dyn AgentCli> {
    ALL.iter().copied().find(|cli| cli.kind() == kind)
}

/// Returns the value of an environment variable, if it is set.
pub type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Finds the file of [`AgentCli::alias_file`]: `variable` reads an environment variable, `names` lists a
/// directory.
pub type AliasFile =
    fn(variable: fn(&str) -> Option<String>, names: fn(&Path) -> Option<Vec<String>>) -> Option<PathBuf>;

/// An agent CLI, with everything in which it differs from the others.
pub trait AgentCli: Dialect + Sync {
    /// Returns the name that people know the CLI by.
    fn title(&self) -> &'static str;

    /// Returns the name of the CLI's program on `PATH`.
    fn program(&self) -> &'static str;

    /// Returns the variable that has the session's id in the session's processes.
    fn session_variable(&self) -> Option<&'static str> {
        None
    }

    /// Tells whether the CLI runs its commands in a sandbox by default, in which they cannot write the store:
    /// our MCP server does that for them.
    fn has_sandbox(&self) -> bool {
        false
    }

    /// Tells whether a process of the CLI with this command line has one session at a time.
    fn has_one_session(&self, _command_line: &str) -> bool {
        true
    }

    /// Returns the variables that the CLI sets for the processes it starts: they show that a process was
    /// started by an agent, directly or not.
    fn marker_variables(&self) -> &'static [&'static str];

    /// Returns the variable that has the id of the session's hosting process, for its hooks.
    fn pid_variable(&self) -> Option<&'static str> {
        None
    }

    /// Returns the CLI's configuration directory for a person with this home.
    fn config_dir(&self, home: &Path, environment: Environment<'_>) -> PathBuf;

    /// Returns the insertion that makes sessions call our hooks.
    fn hooks(&self, level: Level<'_>) -> Insertion;

    /// Returns the insertion of our MCP server, if the CLI can use MCP servers at this level.
    fn mcp(&self, _level: Level<'_>, _environment: Environment<'_>) -> Option<Insertion> {
        None
    }

    /// Returns the insertion of the primer, by which sessions know how to work with others.
    fn primer(&self, level: Level<'_>) -> Insertion;

    /// Returns the insertions that make the CLI's commands run behind the shield, if they can; none if others
    /// share the settings.
    fn shield(&self, _level: Level<'_>) -> Vec<Insertion> {
        Vec::new()
    }

    /// Returns the insertions that let sessions use Consort without asking; none if the CLI never asks, or
    /// has rules for whole programs only instead of for each verb.
    fn allow(&self, _level: Level<'_>) -> Vec<Insertion> {
        Vec::new()
    }

    /// Returns all insertions for this CLI, in the order in which they are added.
    fn insertions(&self, level: Level<'_>, environment: Environment<'_>) -> Vec<Insertion> {
        let others = [Some(self.hooks(level)), self.mcp(level, environment), Some(self.primer(level))];
        let is_program = |insertion: &Insertion| matches!(insertion.format, InsertionFormat::Own(_));
        // A program is written before the setting that names it.
        let (programs, settings): (Vec<_>, Vec<_>) = self.shield(level).into_iter().partition(is_program);
        let others = others.into_iter().flatten().chain(self.allow(level));
        programs.into_iter().chain(others).chain(settings).collect()
    }

    /// Returns the version of the CLI that this adapter was last tried with.
    fn tried_with(&self) -> &'static str;

    /// Returns the settings files of every tier that may keep the CLI's hooks from running.
    fn hook_switches(&self, _config_dir: &Path, _worktree: &Path) -> Vec<HookSwitch> {
        Vec::new()
    }

    /// Counts our hooks that the person has not reviewed in the CLI; `None` if the CLI asks for no review.
    /// `read` returns the text of a file.
    fn unreviewed(&self, _level: Level<'_>, _read: &dyn Fn(&Path) -> Option<String>) -> Option<usize> {
        None
    }

    /// Tells whether a hook may replace a command: only if the CLI has no permission rules, which would then
    /// see the replacement instead of the original.
    fn may_rewrite(&self) -> bool {
        false
    }

    /// Tells whether a person sits at the terminal of a session whose hooks have this environment, and would
    /// see its dialogs.
    fn is_attended(&self, _environment: Environment<'_>) -> bool {
        true
    }

    /// Returns the function that finds the file with the aliases of the person's shell, if the CLI keeps such
    /// a file for its own shell.
    fn alias_file(&self) -> Option<AliasFile> {
        None
    }

    /// Returns the command in a script that the CLI gives its shell; `None` if the script is not from this
    /// CLI.
    fn command_in(&self, _script: &str) -> Option<String> {
        None
    }

    /// Returns the arguments, variables and files that connect one run of the CLI, with the CLI's own files
    /// left unchanged.
    fn single_run(&self, once: &SingleRun<'_>) -> Result<RunSetup, SettingsError>;

    /// Returns the directory, below our own directory `dir`, in which runs of [`AgentCli::single_run`] save
    /// files instead of in the CLI's configuration directory, and the name of our own file there.
    fn saved(&self, _dir: &Path, _config_dir: &Path) -> Option<(PathBuf, &'static str)> {
        None
    }

    /// Returns the arguments that begin a session in a terminal with a prompt.
    fn prompt_arguments(&self, prompt: &str) -> Vec<String>;

    /// Returns the arguments that give a session these permissions; `None` if the CLI has no such arguments.
    fn permission_arguments(&self, permissions: Permissions) -> Option<&'static [&'static str]>;

    /// Returns the command line that does a piece of work without a terminal.
    fn headless(&self, work: &Headless<'_>) -> HeadlessCommand;

    /// Returns a reader for the output of work without a terminal.
    fn reader(&self) -> Box<dyn OutputReader>;

    /// Returns the person's variables that the CLI needs: keys, addresses, its own settings. Each is a name,
    /// or a prefix of names with `*` at its end. See [`needs_variable`].
    fn key_variables(&self) -> &'static [&'static str];

    /// Returns further needed variables that the person's own settings of this CLI name; `read` returns the
    /// text of a file.
    fn named_variables(&self, _config_dir: &Path, _read: &dyn Fn(&Path) -> Option<String>) -> Vec<String> {
        Vec::new()
    }

    /// Returns the arguments after which the program prints its options for work without a terminal.
    fn help_arguments(&self) -> &'static [&'static str] {
        &["--help"]
    }

    /// Returns the options for work without a terminal that the help leaves out.
    fn hidden_flags(&self) -> &'static [&'static str] {
        &[]
    }

    /// Returns the rules that recognise the CLI's state on its terminal, for [`screen::signature`].
    fn screen(&self) -> &'static str;

    /// Returns the abilities that the CLI's sessions cannot have.
    fn missing_abilities(&self) -> &'static [Ability];

    /// Returns the step that the person still has to take once the CLI is connected, if there is one.
    fn advice(&self) -> Option<&'static str> {
        None
    }

    /// Wakes an idle session without typing into its terminal, so that its next hook brings the mail; returns
    /// false if that is not possible.
    fn wake(&self, _config_dir: &Path, _agent: &Agent, _heard: &Activity) -> bool {
        false
    }

    /// Returns the arguments of the program that begin a turn with this text in an idle session, if the CLI
    /// has such arguments.
    fn wake_arguments(&self, _session: &SessionId, _text: &str) -> Option<Vec<String>> {
        None
    }

    /// Reads the state of a running session from the files that the CLI itself writes.
    fn cli_status(&self, _config_dir: &Path, _agent: &Agent) -> Option<CliStatus> {
        None
    }
}

/// An ability that a session may have once its CLI is connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ability {
    /// The session joins, its work is seen, and it is kept from files that others have reserved.
    TakesPart,
    /// The session's model is known.
    TellsItsModel,
    /// Others see when the session waits for the person.
    IsSeenWaiting,
    /// Messages reach the session with its tools' results and with prompts.
    HearsInItsTurn,
    /// Messages at the end of a turn keep the session going.
    HearsAtTheEnd,
    /// A message wakes the session when it is idle.
    IsWoken,
    /// The session can call our MCP server.
    SpeaksMcp,
    /// The session's commands can run with others' reserved files read-only.
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

    /// Returns the ability in words that follow `cannot`.
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

    /// Returns the ability in words that follow the name of a CLI.
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

/// Returns the entry of our MCP server in the JSON form that most CLIs share.
pub(crate) fn server(program: &str) -> Value {
    json!({ "command": program, "args": ["mcp"] })
}

/// Makes the insertion that puts the primer as a block into a text file.
pub(crate) fn primer(file: PathBuf) -> Insertion {
    Insertion { purpose: InsertionContent::Primer, file, format: InsertionFormat::Block }
}

/// The sessions that an insertion is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level<'a> {
    /// Every session of the person; the path is [`AgentCli::config_dir`].
    User(&'a Path),
    /// Every session in this worktree.
    Project(&'a Path),
}

impl Level<'_> {
    /// Returns the user's file below the configuration directory, or the project's below the worktree.
    pub(crate) fn file(self, of_user: &str, of_project: &str) -> PathBuf {
        match self {
            Self::User(config_dir) => config_dir.join(of_user),
            Self::Project(worktree) => worktree.join(of_project),
        }
    }
}

/// Further variables that agent CLIs and Consort set for the processes of a session.
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

/// Tells whether a variable belongs to the session that set it: another session that is opened from there
/// must not get it.
pub fn is_of_session(variable: &str) -> bool {
    let is_its = |cli: &&dyn AgentCli| {
        cli.marker_variables().contains(&variable)
            || cli.session_variable() == Some(variable)
            || cli.pid_variable() == Some(variable)
    };
    LEFT_BEHIND.contains(&variable) || ALL.iter().any(is_its)
}

/// Returns a prompt as arguments, with `--` before it if it looks like an option.
pub(crate) fn after_dashes(prompt: &str) -> Vec<String> {
    match prompt.starts_with('-') {
        true => vec!["--".into(), prompt.into()],
        false => vec![prompt.into()],
    }
}

/// The names of the processes of Node and Bun.
const RUNTIMES: [&str; 3] = ["node", "MainThread", "bun"];

/// Tells whether a process of that name is a runtime, whose name does not show which program it runs.
pub fn is_runtime(process: &str) -> bool {
    RUNTIMES.contains(&process)
}

/// Tells whether a process of that name is an agent CLI. A process with the name of a runtime is recognised
/// by the program or script that it was started with, which `started_as` returns.
pub fn is_agent(process: &str, program_and_script: &dyn Fn() -> Vec<String>) -> bool {
    let is_named = |name: &str| ALL.iter().any(|cli| cli.program() == name);
    if !RUNTIMES.contains(&process) {
        return is_named(process);
    }
    let words = program_and_script();
    let mut names = words.iter().filter_map(|word| word.rsplit('/').next());
    names.any(|name| is_named(name.trim_end_matches(".js")))
}
