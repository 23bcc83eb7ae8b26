//! Hook door: finds the files that a tool reads and writes, as far as its call tells.

use std::path::Path;
use std::path::PathBuf;

use consort_core::claims::Extent;
use consort_core::claims::PathCondition;
use consort_core::claims::Pattern;
use consort_core::claims::PendingWrite;
use consort_core::hooks::HookCall;
use consort_core::hooks::ToolAction;
use consort_core::hooks::ToolUse;
use consort_core::host::Host;
use consort_shell::ShellContext;
use consort_shell::UnconfinedReason;

use crate::HookContext;

/// The files that a tool reads and writes.
#[derive(Default)]
pub struct ToolFiles {
    pub writes: Vec<PendingWrite>,
    /// False if the tool may write files that its call does not tell.
    pub is_certain: bool,
    /// Some of the files that the agent gets to see.
    pub reads: Vec<PathBuf>,
    /// The reason why the command must not run behind the shield, if there is one.
    pub outside: Option<UnconfinedReason>,
    /// Whether the command leaves something running.
    pub leaves_job: bool,
}

impl ToolFiles {
    /// Tells whether the tool may write files that its call does not tell, and can run behind the
    /// shield.
    pub fn may_write_anything(&self) -> bool {
        !self.is_certain && self.outside.is_none() && !self.leaves_job
    }
}

/// Finds the files that a tool reads and writes.
pub(crate) fn tool_files(
    host: &dyn Host,
    call: &HookCall,
    context: &dyn HookContext,
    tool: &ToolUse,
) -> ToolFiles {
    let none = ToolFiles { is_certain: true, ..ToolFiles::default() };
    match &tool.act {
        ToolAction::Writes(paths) => {
            let target = |path: &PathBuf| PendingWrite {
                path: call.cwd.join(path),
                extent: Extent::File,
                by: String::new(),
                is_entry: false,
                needs: PathCondition::Nothing,
                range: Vec::new(),
            };
            ToolFiles { writes: paths.iter().map(target).collect(), ..none }
        }
        ToolAction::Runs(command) => command_files(host, &call.cwd, command, context.surroundings()),
        ToolAction::Reads(path) => ToolFiles { reads: vec![call.cwd.join(path)], ..none },
        // The writes of a tool that we do not know are unknown.
        ToolAction::Visits(_) => ToolFiles::default(),
        ToolAction::Other => none,
    }
}

type Variable = fn(&str) -> Option<String>;
type Names = fn(&Path) -> Option<Vec<String>>;

/// The means by which the files and variables around a command are looked up.
#[derive(Clone)]
pub struct CommandEnvironment {
    /// Reads a small file that a command would read as a script, a patch or a makefile.
    pub script: fn(&Path) -> Option<String>,
    /// Returns the value of an environment variable.
    pub variable: Variable,
    /// Lists the names in a directory.
    pub names: Names,
    /// Finds the file in which the CLI keeps the aliases of the person's shell for its own shell, by
    /// means of `variable` and `names`.
    pub alias_file: Option<fn(Variable, Names) -> Option<PathBuf>>,
}

/// Finds the files that a shell command reads and writes if it runs in `cwd`.
pub fn command_files(
    host: &dyn Host,
    cwd: &Path,
    command: &str,
    CommandEnvironment { script, variable, names, alias_file }: CommandEnvironment,
) -> ToolFiles {
    let home = variable("HOME");
    let home = home.as_deref();
    // Only these need the top of the worktree, and finding it reads the disk.
    let wants_top =
        ["--show-toplevel", "git apply", "git am", " apply "].iter().any(|text| command.contains(text));
    let worktree = wants_top.then(|| host.place(cwd).worktree);
    let (place, worktree) = (cwd.to_string_lossy(), worktree.as_deref().map(Path::to_string_lossy));
    let read = |path: &str| script(&cwd.join(path));
    let is_dir = |path: &str| cwd.join(path).is_dir();
    let is_there = |path: &str| cwd.join(path).exists();
    let alias = |name: &str| {
        let home = Path::new(home.unwrap_or_default());
        let of_user = [home.join(".gitconfig"), home.join(".config/git/config")];
        let files = cwd.ancestors().map(|dir| dir.join(".git/config")).chain(of_user);
        files.filter_map(|file| script(&file)).find_map(|config| consort_shell::git_alias(&config, name))
    };
    let shell_alias = |name: &str| {
        let file = alias_file?(variable, names)?;
        consort_shell::shell_alias_in(&script(&file)?, name)
    };
    let entries = |path: &str| names(&cwd.join(path));
    let here = ShellContext {
        read: Some(&read),
        is_dir: Some(&is_dir),
        is_there: Some(&is_there),
        alias: Some(&alias),
        shell_alias: Some(&shell_alias),
        entries: Some(&entries),
        variable: Some(&variable),
        home,
        cwd: Some(&place),
        worktree: worktree.as_deref(),
    };
    let reading = consort_shell::read(command, here);
    ToolFiles {
        writes: reading.writes.into_iter().map(|write| target(cwd, write)).collect(),
        is_certain: reading.is_certain,
        reads: reading.reads.into_iter().map(|path| cwd.join(path)).collect(),
        outside: reading.outside,
        leaves_job: reading.leaves_job,
    }
}

fn target(cwd: &Path, write: consort_shell::Write) -> PendingWrite {
    let extent = match write.extent {
        consort_shell::Extent::File => Extent::File,
        consort_shell::Extent::Tree => Extent::Tree,
        consort_shell::Extent::Glob => Extent::Glob,
        consort_shell::Extent::Changes => Extent::Changes,
        consort_shell::Extent::Worktree => Extent::Worktree,
        consort_shell::Extent::Commits => Extent::Commits,
    };
    let cwd = match extent {
        // Only the typed part is a glob: characters of the directory's name stand for themselves.
        Extent::Glob => PathBuf::from(Pattern::file(&cwd.to_string_lossy()).as_str()),
        _ => cwd.to_owned(),
    };
    let needs = match write.needs {
        consort_shell::Needs::Nothing => PathCondition::Nothing,
        consort_shell::Needs::Absent => PathCondition::Absent,
        consort_shell::Needs::Present => PathCondition::Present,
        consort_shell::Needs::File => PathCondition::File,
        consort_shell::Needs::Clean => PathCondition::Clean,
        consort_shell::Needs::Directory => PathCondition::Directory,
    };
    let path = cwd.join(write.path);
    PendingWrite { path, extent, by: write.by, is_entry: write.is_entry, needs, range: write.range }
}
