//! A sealed world to run the program in tests: its own home, a cleared environment, a
//! fixed width.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;
use std::process::Stdio;
use std::sync::OnceLock;

use crate::seat::HostProcess;
use crate::seat::HostedCommand;
use crate::seat::attach_terminal;

/// A directory with a home and a project for one test; deleted when dropped.
pub struct Sealed {
    temp: tempfile::TempDir,
    program: PathBuf,
    seat: OnceLock<HostProcess>,
}

/// The argument that stands for the id of the process that hosts this world's agents.
const OTHER: &str = "$OTHER";

/// The variable that says for which session a command is run.
const SESSION: &str = "CONSORT_SESSION";

/// The output and exit code of a command.
#[derive(Clone, Debug)]
pub struct Ran {
    pub stdout: String,
    pub stderr: String,
    pub code: i32,
}

impl Sealed {
    /// Makes a world in the system's temporary directory; `program` is the `consort` under test.
    pub fn new(program: &str) -> Self {
        Self::new_in(&std::env::temp_dir(), program)
    }

    /// Makes a world in a directory below `dir`.
    pub fn new_in(dir: &Path, program: &str) -> Self {
        let temp = tempfile::tempdir_in(dir).unwrap();
        let sealed = Self { temp, program: program.into(), seat: OnceLock::new() };
        fs::create_dir_all(sealed.home()).unwrap();
        fs::create_dir_all(sealed.project()).unwrap();
        sealed
    }

    pub fn home(&self) -> PathBuf {
        self.temp.path().join("home")
    }

    pub fn project(&self) -> PathBuf {
        self.temp.path().join("shop")
    }

    pub fn data(&self) -> PathBuf {
        self.home().join(".local/share/consort")
    }

    /// Returns the path of the `consort` under test.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Moves a file or a directory away, as if someone had removed it.
    pub fn move_away(&self, path: &Path) {
        if fs::symlink_metadata(path).is_err() {
            return;
        }
        let lost = tempfile::tempdir_in(self.temp.path()).unwrap().keep();
        fs::rename(path, lost.join("lost")).unwrap();
    }

    pub fn path(&self) -> &Path {
        self.temp.path()
    }

    /// Makes a command of any program, with the sealed environment, in the project.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("HOME", self.home())
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("TZ", "UTC")
            .env("COLUMNS", "100")
            .current_dir(self.project());
        command
    }

    /// Returns the process that hosts this world's agents, and starts it if needed.
    pub fn seat(&self) -> &HostProcess {
        self.seat.get_or_init(|| HostProcess::start(self.temp.path()))
    }

    /// Makes a command of `consort` with these arguments, at a terminal of the person's; `$OTHER`
    /// stands for the id of the process that hosts the agents.
    pub fn consort<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> Command {
        let mut command = self.command(&self.program);
        for argument in arguments {
            if argument == OTHER {
                command.arg(self.seat().pid().to_string());
            } else {
                command.arg(argument);
            }
        }
        attach_terminal(&mut command, true);
        command
    }

    /// Starts an agent's command: a hook, or a command that says for which session it is.
    pub fn spawn_as_agent(&self, command: &Command) -> HostedCommand {
        self.seat().spawn(command)
    }

    /// Runs `consort <line>`, split at spaces.
    pub fn run(&self, line: &str) -> Ran {
        self.ran(&mut self.consort(line.split_whitespace()))
    }

    /// Runs `consort` with these arguments as the agent `session`, or as the
    /// person.
    pub fn run_as(&self, session: Option<&str>, arguments: &[&str]) -> Ran {
        let mut command = self.consort(arguments.iter().copied());
        self.ran(command.envs(session.map(|session| ("CONSORT_SESSION", session))))
    }

    /// Runs a hook of this session and returns the text that it puts before the model; `more` is added
    /// to the hook's payload.
    pub fn hook_text(&self, session: &str, event: &str, more: &serde_json::Value) -> Option<String> {
        let mut call =
            serde_json::json!({ "session_id": session, "cwd": self.project(), "tool_name": "Bash" });
        call.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
        let ran = self.hook(event, &call);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
        let answer: serde_json::Value = serde_json::from_str(&ran.stdout).ok()?;
        Some(answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned())
    }

    /// Lets Falcon (`s1`) and Raven (`s2`) join, in the hosting process; Falcon is told of Raven.
    pub fn with_falcon_and_raven(self) -> Self {
        for (session, name) in [("s1", "Falcon"), ("s2", "Raven")] {
            let line = format!("agent join --pid $OTHER --kind claude --session {session} --name {name}");
            assert_eq!(self.run(&line).code, 0);
        }
        self.hear_who_came("s1");
        self
    }

    /// Lets a hook tell a session who has come, after a tool, and then makes the session idle again.
    pub fn hear_who_came(&self, session: &str) {
        for event in ["PostToolUse", "Stop"] {
            let call =
                serde_json::json!({ "session_id": session, "cwd": self.project(), "tool_name": "Look" });
            assert_eq!(self.hook(event, &call).code, 0);
        }
    }

    /// Runs a hook as Claude Code would.
    pub fn hook(&self, event: &str, payload: &serde_json::Value) -> Ran {
        self.ran_with(&mut self.consort(["hook", "claude", event]), payload.to_string().as_bytes())
    }

    pub fn ran(&self, command: &mut Command) -> Ran {
        self.ran_with(command, b"")
    }

    /// Runs a command to its end with `input`, and replaces this world's paths, which differ from run
    /// to run. Hooks and commands of a session are run by the
    /// process that hosts the agents; the rest by the person, at a terminal.
    pub fn ran_with(&self, command: &mut Command, input: &[u8]) -> Ran {
        let is_of_session = command.get_envs().any(|(name, _)| name == SESSION);
        let is_hook = command.get_args().any(|argument| {
            let argument = argument.to_string_lossy();
            argument == "hook" || argument.contains(" hook ")
        });
        let (stdout, stderr, code) = if is_of_session || is_hook {
            self.seat().spawn(command).output(input)
        } else {
            attach_terminal(command, true);
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
            let mut child = command.spawn().unwrap();
            let _ = child.stdin.take().unwrap().write_all(input);
            let output = child.wait_with_output().unwrap();
            (output.stdout, output.stderr, output.status.code().unwrap_or(-1))
        };
        let temp = fs::canonicalize(self.temp.path()).unwrap();
        let hide = |bytes: Vec<u8>| {
            let text = String::from_utf8(bytes).unwrap();
            let text = text.replace(&*self.program.to_string_lossy(), "$CONSORT");
            let bin = self.program.parent().unwrap().to_string_lossy();
            let text = text.replace(&*bin, "$BIN");
            text.replace(&*temp.to_string_lossy(), "$WORLD")
                .replace(&*self.temp.path().to_string_lossy(), "$WORLD")
        };
        Ran { stdout: hide(stdout), stderr: hide(stderr), code }
    }

    /// Makes the project a repository with one commit.
    pub fn git_init(&self) {
        self.git(&["init", "-q", "-b", "main"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "root"]);
    }

    pub fn git(&self, arguments: &[&str]) {
        let mut git = self.command("git");
        git.args(["-c", "user.name=t", "-c", "user.email=t@example.com"]).args(arguments);
        let ran = self.ran(&mut git);
        assert_eq!(ran.code, 0, "git {arguments:?}: {}", ran.stderr);
    }
}

/// Shows stdout, stderr and exit code together, for snapshots.
impl std::fmt::Display for Ran {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.stdout)?;
        for line in self.stderr.lines() {
            writeln!(f, "[stderr] {line}")?;
        }
        writeln!(f, "[exit {}]", self.code)
    }
}
