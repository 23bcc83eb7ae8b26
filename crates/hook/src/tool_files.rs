//! Hook door: which files a tool reads and writes, as far as its call tells.

use std::path::Path;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::OnceLock;
use std::time::Duration;
use std::time::Instant;

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
use consort_shell::Printed;
use consort_shell::Question;

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
    look: Look,
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
        ToolAction::Runs(command) => command_files(host, &call.cwd, command, context.surroundings(), look),
        ToolAction::Reads(path) => ToolFiles { reads: vec![call.cwd.join(path)], ..none },
        // What its name does not tell is unknown.
        ToolAction::Visits(_) => ToolFiles::default(),
        ToolAction::Other => none,
    }
}

/// What a command finds around it, besides the files of this machine.
#[derive(Clone, Copy)]
pub struct Surroundings {
    /// Reads a small file that a command would read as a script, a patch or a makefile.
    pub script: fn(&Path) -> Option<String>,
    /// The value of a variable of the environment.
    pub variable: fn(&str) -> Option<String>,
    /// The names in a directory.
    pub names: fn(&Path) -> Option<Vec<String>>,
    /// What a program prints, in that directory, with these arguments and that input, and
    /// whether it succeeds.
    pub ask: AskProgram,
}

/// Runs a program that only reads.
pub type AskProgram = fn(&Path, &str, &[String], Option<&str>) -> Option<(String, bool)>;

/// How closely a command is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// By its text, and what it would read.
    Read,
    /// What it only asks for is asked, too: programs that write nothing are run.
    Ask,
}

/// How many programs are asked for one command.
const MOST_QUESTIONS: usize = 4;

/// After so long no other is asked: a hook has two seconds in all.
const LONGEST_ASKING: Duration = Duration::from_millis(500);

/// The programs that were asked, each once.
struct Asked<'a> {
    program: AskProgram,
    cwd: &'a Path,
    answers: Mutex<Vec<Answered>>,
    began: OnceLock<Instant>,
}

/// A question in words, and its answer.
type Answered = (String, Option<Printed>);

impl Asked<'_> {
    fn ask(&self, question: &Question<'_>) -> Option<Printed> {
        let mut answers = self.answers.lock().ok()?;
        let words = format!("{question:?}");
        if let Some((_, answer)) = answers.iter().find(|(known, _)| *known == words) {
            return answer.clone();
        }
        let is_late = self.began.get_or_init(Instant::now).elapsed() > LONGEST_ASKING;
        if answers.len() >= MOST_QUESTIONS || is_late {
            return None;
        }
        let Question { directory, program, arguments, input } = question;
        let answer = (self.program)(&self.cwd.join(directory), program, arguments, *input);
        let answer = answer.map(|(text, is_success)| Printed { text, is_success });
        answers.push((words, answer.clone()));
        answer
    }
}

/// The files of a shell command that is run from there.
pub fn command_files(
    host: &dyn Host,
    cwd: &Path,
    command: &str,
    Surroundings { script, variable, names, ask }: Surroundings,
    look: Look,
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
    let alias = |name: &str| {
        let home = Path::new(home.unwrap_or_default());
        let of_user = [home.join(".gitconfig"), home.join(".config/git/config")];
        let files = cwd.ancestors().map(|dir| dir.join(".git/config")).chain(of_user);
        files.filter_map(|file| script(&file)).find_map(|config| consort_shell::git_alias(&config, name))
    };
    let asked = Asked { program: ask, cwd, answers: Mutex::default(), began: OnceLock::new() };
    let ask = |question: &Question<'_>| asked.ask(question);
    let entries = |path: &str| names(&cwd.join(path));
    let here = Here {
        read: Some(&read),
        is_dir: Some(&is_dir),
        alias: Some(&alias),
        entries: Some(&entries),
        variable: Some(&variable),
        ask: if look == Look::Ask { Some(&ask) } else { None },
        home,
        cwd: Some(&place),
        worktree: worktree.as_deref(),
    };
    let reading = consort_shell::read(command, here);
    ToolFiles {
        writes: reading.writes.into_iter().map(|write| target(cwd, write)).collect(),
        // What was asked may have another answer when the command comes to it.
        is_certain: reading.is_certain && asked.answers.lock().is_ok_and(|answers| answers.is_empty()),
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
    };
    let path = cwd.join(write.path);
    Target { path, extent, by: write.by, is_entry: write.is_entry, needs, range: write.range }
}
