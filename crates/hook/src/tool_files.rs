//! Hook door: which files a tool reads and writes, as far as its call tells.

use std::path::Path;
use std::path::PathBuf;

use consort_core::claims::Extent;
use consort_core::claims::Needs;
use consort_core::claims::Pattern;
use consort_core::claims::Target;
use consort_core::hooks::HookCall;
use consort_core::hooks::ToolAction;
use consort_core::hooks::ToolUse;
use consort_core::host::Host;
use consort_shell::Here;
use consort_shell::Outside;

use crate::HookContext;

/// The files of a tool.
#[derive(Default)]
pub struct ToolFiles {
    pub writes: Vec<Target>,
    /// False: it may write what its call does not tell.
    pub is_certain: bool,
    /// What its agent gets to see; some of it.
    pub reads: Vec<PathBuf>,
    /// Whether something in it is to see the machine as it is.
    pub outside: Option<Outside>,
    /// Whether it leaves something running.
    pub leaves_job: bool,
}

impl ToolFiles {
    /// Whether it may write what its call does not tell, and can be run in a view of its own
    /// meanwhile.
    pub fn may_write_anything(&self) -> bool {
        !self.is_certain && self.outside.is_none() && !self.leaves_job
    }
}

/// The files of a tool that is used.
pub(crate) fn tool_files(
    host: &dyn Host,
    call: &HookCall,
    context: &dyn HookContext,
    tool: &ToolUse,
) -> ToolFiles {
    let none = ToolFiles { is_certain: true, ..ToolFiles::default() };
    match &tool.act {
        ToolAction::Writes(paths) => {
            let target = |path: &PathBuf| Target {
                path: call.cwd.join(path),
                extent: Extent::File,
                by: String::new(),
                is_entry: false,
                needs: Needs::Nothing,
                range: Vec::new(),
            };
            ToolFiles { writes: paths.iter().map(target).collect(), ..none }
        }
        ToolAction::Runs(command) => command_files(host, &call.cwd, command, context.surroundings()),
        ToolAction::Reads(path) => ToolFiles { reads: vec![call.cwd.join(path)], ..none },
        // What its name does not tell is unknown.
        ToolAction::Visits(_) => ToolFiles::default(),
        ToolAction::Other => none,
    }
}

type Variable = fn(&str) -> Option<String>;
type Names = fn(&Path) -> Option<Vec<String>>;

/// What a command finds around it, besides the files of this machine.
#[derive(Clone)]
pub struct Surroundings {
    /// Reads a small file that a command would read as a script, a patch or a makefile.
    pub script: fn(&Path) -> Option<String>,
    /// The value of a variable of the environment.
    pub variable: Variable,
    /// The names in a directory.
    pub names: Names,
    /// Finds the file in which the CLI keeps the aliases of the person's shell, for its own
    /// to have them; by the two above.
    pub alias_file: Option<fn(Variable, Names) -> Option<PathBuf>>,
}

/// The files of a shell command that is run from there.
pub fn command_files(
    host: &dyn Host,
    cwd: &Path,
    command: &str,
    Surroundings { script, variable, names, alias_file }: Surroundings,
) -> ToolFiles {
    let home = variable("HOME");
    let home = home.as_deref();
    // Few ask for it, and it takes a look at the disk.
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
        consort_shell::shell_alias(&script(&file)?, name)
    };
    let entries = |path: &str| names(&cwd.join(path));
    let here = Here {
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

fn target(cwd: &Path, write: consort_shell::Write) -> Target {
    let extent = match write.extent {
        consort_shell::Extent::File => Extent::File,
        consort_shell::Extent::Tree => Extent::Tree,
        consort_shell::Extent::Glob => Extent::Glob,
        consort_shell::Extent::Changes => Extent::Changes,
        consort_shell::Extent::Worktree => Extent::Worktree,
        consort_shell::Extent::Commits => Extent::Commits,
    };
    let cwd = match extent {
        // Only what was typed is a glob.
        Extent::Glob => PathBuf::from(Pattern::file(&cwd.to_string_lossy()).as_str()),
        _ => cwd.to_owned(),
    };
    let needs = match write.needs {
        consort_shell::Needs::Nothing => Needs::Nothing,
        consort_shell::Needs::Absent => Needs::Absent,
        consort_shell::Needs::Present => Needs::Present,
        consort_shell::Needs::File => Needs::File,
        consort_shell::Needs::Clean => Needs::Clean,
        consort_shell::Needs::Directory => Needs::Directory,
    };
    let path = cwd.join(write.path);
    Target { path, extent, by: write.by, is_entry: write.is_entry, needs, range: write.range }
}
