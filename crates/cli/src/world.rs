//! The context that every command works in: opens the store, and finds the caller, the project and the
//! settings.

use consort_core::host::Repositories as _;
use std::path::PathBuf;
use std::sync::Arc;

use consort_agents::AgentCli;
use consort_core::App;
use consort_core::OpenApp;
use consort_core::config::Config;
use consort_core::host::Host;
use consort_core::host::PlacedDirectory;
use consort_core::host::Process;
use consort_core::journal::Actor;
use consort_core::knowledge::Scope;
use consort_core::knowledge::TakenIn;
use consort_core::presence::Agent;
use consort_core::presence::Caller;
use consort_core::presence::CallerFacts;
use consort_core::presence::Proof;
use consort_core::presence::SessionId;
use consort_core::presence::Unproven;
use consort_core::project::Project;
use consort_files::TemporaryFiles;
use consort_host::Machine;
use consort_host::Paths;
use consort_host::Peer;
use consort_host::env;
use consort_sqlite::Store;
use consort_sqlite::StoreUser;

use crate::config;
use crate::error::CommandError;
use crate::knowledge::file;
use crate::knowledge::git_file::SavedFiles;
use crate::output;
use crate::output::Out;
use crate::person;
use crate::spool;

/// The paths, directory and output of a command, before the store is touched.
pub(crate) struct World {
    pub(crate) paths: Paths,
    pub(crate) out: Out,
    pub(crate) cwd: PathBuf,
    /// `--set key=value`.
    pub(crate) overrides: Vec<(String, String)>,
    /// The knowledge files that have to be written again.
    pub(crate) saved: SavedFiles,
}

/// The opened store, with the project, place and settings of the command.
pub(crate) struct OpenWorld {
    pub(crate) app: App,
    pub(crate) project: Project,
    pub(crate) place: PlacedDirectory,
    /// The directory in which the command was called.
    pub(crate) cwd: PathBuf,
    pub(crate) config: Config,
    /// Our data directory.
    pub(crate) data: PathBuf,
    pub(crate) pending: TemporaryFiles,
}

impl World {
    pub(crate) fn new(overrides: Vec<(String, String)>) -> Result<Self, CommandError> {
        let paths = Paths::from_environment().ok_or_else(|| {
            CommandError::user(
                "neither HOME nor CONSORT_HOME says where to keep things",
                "set CONSORT_HOME to a directory of your choice, as an absolute path",
            )
        })?;
        // Otherwise we would make the directory, as root with everything above it.
        if env::get(env::CONSORT_HOME).is_none() && !paths.home.is_dir() {
            return Err(CommandError::user(
                format!("the home directory {} does not exist", paths.home.display()),
                "set HOME to yours, or CONSORT_HOME to a directory of your choice",
            ));
        }
        let cwd = std::env::current_dir().map_err(|error| {
            CommandError::user(
                format!("the current directory cannot be used: {error}"),
                "change to a directory that exists",
            )
        })?;
        // Shared state is text, so paths are too.
        let cwd = PathBuf::from(cwd.to_string_lossy().into_owned());
        Ok(Self { paths, out: Out::new(), cwd, overrides, saved: SavedFiles::default() })
    }

    pub(crate) fn app(&self) -> App {
        (self.open_app())()
    }

    /// Returns a function that opens the store, for a server, which does so for each call.
    pub(crate) fn open_app(&self) -> OpenApp {
        let (store, data, file) = (self.paths.store(), self.paths.data.clone(), self.saved.share());
        Arc::new(move || {
            let app = App::new(Store::new(store.clone(), StoreUser::Command), Machine::new(&data));
            app.with_git_file(Arc::clone(&file))
        })
    }

    /// Writes knowledge files while the process goes on, for a server.
    pub(crate) fn save_in_background(&self) {
        let overrides = self.overrides.clone();
        self.saved.save_in_background(move |worktree| save_knowledge(&[worktree.to_owned()], &overrides));
    }

    /// Returns the notes of the temporary files that are being written.
    pub(crate) fn temporary_files(&self) -> TemporaryFiles {
        TemporaryFiles::new(&self.paths.temporary_notes())
    }

    /// Returns the directory in which an agent CLI keeps this person's settings.
    pub(crate) fn config_dir(&self, cli: &dyn AgentCli) -> PathBuf {
        cli.config_dir(&self.paths.home, &env::get)
    }

    /// Finds the worktree and repository of the current directory, without asking the store.
    pub(crate) fn place(&self) -> PlacedDirectory {
        Machine::new(&self.paths.data).place(&self.cwd)
    }

    /// Opens the store, resolves the settings, publishes the settings that hooks need, and runs the retention
    /// that is due once a day.
    pub(crate) fn open(&self) -> Result<OpenWorld, CommandError> {
        self.temporary_files().sweep();
        let mut app = self.app();
        // Checked before git is run, and again for the place that git has found.
        spool::require_here(&self.place())?;
        let (project, place) = app.project(&self.cwd)?;
        spool::require_here(&place)?;
        let acceptances = app.acceptances().unwrap_or_default();
        let config = config::load(&self.paths, &place.worktree, &self.overrides, &acceptances)?;
        for warning in &config.warnings {
            output::note(format_args!("Warning: {}", warning.text));
        }
        // A store that can only be read is still worth reading. If a file cannot be understood, nothing is
        // published: the last good settings stay.
        if !config.is_partial {
            let _ = app.publish(&config.resolved, &place.worktree);
        }
        self.saved.set_wanted(&place.worktree, config.resolved.saves_knowledge());
        let _ = app.apply_retention(config.resolved.retention());
        Ok(OpenWorld {
            app,
            project,
            place,
            cwd: self.cwd.clone(),
            config: config.resolved,
            data: self.paths.data.clone(),
            pending: self.temporary_files(),
        })
    }
}

/// Writes the knowledge files of worktrees in which something was recorded, if the settings there say so.
pub(crate) fn save_knowledge(worktrees: &[PathBuf], overrides: &[(String, String)]) {
    let save = |worktree: &PathBuf| {
        let world = World { cwd: worktree.clone(), ..World::new(overrides.to_vec())? };
        let mut opened = world.open()?;
        if opened.config.saves_knowledge() {
            let scope = Scope::Project(opened.project.id.clone());
            // A file that cannot be understood is somebody else's, and left alone.
            if !matches!(file::take_in(&mut opened, &scope), TakenIn::Failed(_)) {
                file::save(&mut opened)?;
            }
        }
        Ok::<_, CommandError>(())
    };
    for worktree in worktrees {
        if let Err(error) = save(worktree) {
            output::note(format_args!(
                "Warning: {}",
                consort_core::text::printable(error.render().trim_end())
            ));
        }
    }
}

impl OpenWorld {
    pub(crate) fn caller(&mut self) -> Result<Caller, CommandError> {
        let facts = caller_facts(&self.app);
        Ok(self.app.caller(&facts)?)
    }

    /// Returns the agent that a command is about: the caller, or the agent that the person names.
    pub(crate) fn subject(&mut self, named: Option<&str>) -> Result<(Agent, Actor), CommandError> {
        let caller = self.caller()?;
        Ok(self.app.subject(caller, named)?)
    }
}

/// Gathers the facts that tell who calls. The variables that an agent CLI sets for its own commands only tell
/// sessions of one process apart: they leak into whatever is started there.
pub(crate) fn caller_facts(app: &App) -> CallerFacts {
    let (ancestors, hosted) = app.ancestors();
    own_facts(app.host(), ancestors, hosted)
}

/// Gathers the facts about this process, given its ancestors and the session, if any, that the last of them
/// is noted to host.
pub(crate) fn own_facts(host: &dyn Host, ancestors: Vec<Process>, hosted: Option<SessionId>) -> CallerFacts {
    let facts = facts_of(host, None, ancestors, hosted, &env::get);
    match person::has_token() && !facts.in_agent {
        true => CallerFacts { proof: Proof::Token, ..facts },
        false => facts,
    }
}

/// Gathers the facts about a process that calls over the network.
pub(crate) fn facts_of_peer(machine: &Machine, peer: &Peer) -> CallerFacts {
    let mut lineage = machine.lineage(peer.pid);
    let own = (!lineage.is_empty()).then(|| lineage.remove(0));
    let facts = facts_of(machine, own.clone(), lineage, None, &|name| peer.variable(name));
    CallerFacts { own, ..facts }
}

/// Gathers the facts from a process (this one, unless another is named), its ancestors, nearest first, and
/// its environment.
fn facts_of(
    host: &dyn Host,
    own: Option<Process>,
    ancestors: Vec<Process>,
    hosted: Option<SessionId>,
    variable: &dyn Fn(&str) -> Option<String>,
) -> CallerFacts {
    let hints = consort_agents::ALL.iter().filter_map(|cli| variable(cli.session_variable()?));
    let hints = hints.chain(variable(env::SESSION)).filter_map(|id| SessionId::new(id).ok()).collect();
    // A caller behind more processes than we look at is not taken for the person.
    let is_hidden = ancestors.len() >= consort_host::MAX_ANCESTORS;
    let in_agent = hosted.is_some() || is_hidden || own.iter().chain(&ancestors).any(is_agent);
    let prove = || {
        let markers = consort_agents::ALL.iter().flat_map(|cli| cli.marker_variables());
        if let Some(marker) = markers.chain(&[env::SESSION]).find(|name| variable(name).is_some()) {
            return Err(Unproven::Marked((*marker).to_owned()));
        }
        let own = own.or_else(|| host.process(std::process::id()));
        consort_host::check_person_at_terminal(own.as_ref(), &ancestors, host.now().0 / 1_000)?;
        Ok(Proof::Terminal)
    };
    // No proof is looked for inside an agent, which cannot be the person.
    let proof = if in_agent { Proof::default() } else { prove().unwrap_or_else(Proof::None) };
    CallerFacts { own: None, ancestors, hosted, hints, thread: None, in_agent, proof }
}

/// Tells whether a process is an agent CLI.
pub(crate) fn is_agent(process: &Process) -> bool {
    consort_agents::is_agent(&process.program, &|| consort_host::program_and_script(process.pid))
}
