//! Runs a command in tests as a given caller: as an agent, below the process that hosts
//! it, or as the person, at a terminal.

use std::fs::File;
use std::io::BufRead as _;
use std::io::BufReader;
use std::io::PipeReader;
use std::io::PipeWriter;
use std::io::Read as _;
use std::io::Write as _;
use std::os::fd::AsFd as _;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::path::PathBuf;
use std::process::Child;
use std::process::ChildStdout;
use std::process::Command;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::Weak;

use rustix::event::PollFd;
use rustix::event::PollFlags;
use rustix::fs::Mode;
use rustix::fs::OFlags;
use rustix::net::SendAncillaryBuffer;
use rustix::net::SendAncillaryMessage;
use rustix::net::SendFlags;
use rustix::pty::OpenptFlags;

/// A process that hosts agents; it ends when dropped.
pub struct HostProcess {
    process: Child,
    _stdout: BufReader<ChildStdout>,
    socket: PathBuf,
}

/// A command that a [`HostProcess`] has started.
pub struct HostedCommand {
    pub pid: u32,
    pub stdin: Option<PipeWriter>,
    pub stdout: PipeReader,
    pub stderr: PipeReader,
    connection: BufReader<UnixStream>,
}

impl HostProcess {
    pub fn start(dir: &Path) -> Self {
        let socket = dir.join(format!("seat-{}", std::process::id()));
        let mut python = Command::new("python3");
        python.args(["-c", include_str!("seat.py")]).arg(&socket).env_clear();
        python.env("PATH", "/usr/local/bin:/usr/bin:/bin");
        let mut process = python.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut stdout = BufReader::new(process.stdout.take().unwrap());
        stdout.read_line(&mut String::new()).unwrap();
        Self { process, _stdout: stdout, socket }
    }

    /// Returns the id of the hosting process.
    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Ends the process, and so the life of all agents that it hosts.
    pub fn end(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }

    /// Starts a command as a child of the process.
    pub fn spawn(&self, command: &Command) -> HostedCommand {
        let text = |text: &std::ffi::OsStr| text.to_str().unwrap().to_owned();
        let argv: Vec<String> =
            std::iter::once(command.get_program()).chain(command.get_args()).map(text).collect();
        let env: serde_json::Map<String, serde_json::Value> =
            command.get_envs().filter_map(|(name, value)| Some((text(name), text(value?).into()))).collect();
        let cwd = command.get_current_dir().map_or_else(std::env::temp_dir, Path::to_owned);
        let request = serde_json::json!({ "argv": argv, "env": env, "cwd": cwd }).to_string();
        let (child_stdin, stdin) = std::io::pipe().unwrap();
        let (stdout, child_stdout) = std::io::pipe().unwrap();
        let (stderr, child_stderr) = std::io::pipe().unwrap();
        let connection = UnixStream::connect(&self.socket).unwrap();
        let mut message = (request.len() as u64).to_be_bytes().to_vec();
        message.extend(request.as_bytes());
        let descriptors = [child_stdin.as_fd(), child_stdout.as_fd(), child_stderr.as_fd()];
        let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        assert!(ancillary.push(SendAncillaryMessage::ScmRights(&descriptors)));
        let sent = rustix::net::sendmsg(
            &connection,
            &[std::io::IoSlice::new(&message)],
            &mut ancillary,
            SendFlags::empty(),
        )
        .unwrap();
        (&connection).write_all(&message[sent..]).unwrap();
        drop((child_stdin, child_stdout, child_stderr));
        let mut connection = BufReader::new(connection);
        let mut pid = String::new();
        connection.read_line(&mut pid).unwrap();
        HostedCommand { pid: pid.trim().parse().unwrap(), stdin: Some(stdin), stdout, stderr, connection }
    }
}

impl Drop for HostProcess {
    fn drop(&mut self) {
        self.end();
    }
}

impl HostedCommand {
    /// Waits for the command to end, and returns its exit code, or the negative number of the signal
    /// that ended it.
    pub fn wait(&mut self) -> i32 {
        drop(self.stdin.take());
        let mut code = String::new();
        self.connection.read_line(&mut code).unwrap();
        code.trim().parse().unwrap_or(-1)
    }

    pub fn kill(&self) {
        let pid = rustix::process::Pid::from_raw(self.pid as i32).unwrap();
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }

    /// Feeds `input` to the command; returns its stdout, stderr and exit code.
    pub fn output(mut self, input: &[u8]) -> (Vec<u8>, Vec<u8>, i32) {
        // A hook that does not read its input is no failure.
        let _ = self.stdin.take().unwrap().write_all(input);
        let mut errors = self.stderr.try_clone().unwrap();
        let errors = std::thread::spawn(move || {
            let mut bytes = Vec::new();
            errors.read_to_end(&mut bytes).unwrap();
            bytes
        });
        let mut output = Vec::new();
        self.stdout.read_to_end(&mut output).unwrap();
        (output, errors.join().unwrap(), self.wait())
    }
}

/// Gives a command a controlling terminal of its own, as a person's shell would. If
/// `types`, the word that is asked for there is typed, else `no`.
#[expect(unsafe_code, reason = "what happens between fork and exec is the caller's to answer for")]
pub fn attach_terminal(command: &mut Command, types: bool) {
    let master = rustix::pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    rustix::pty::grantpt(&master).unwrap();
    rustix::pty::unlockpt(&master).unwrap();
    let slave = rustix::pty::ptsname(&master, Vec::new()).unwrap();
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    // Held open as long as the terminal may be used; otherwise it would hang up.
    let held = rustix::fs::open(&slave, flags, Mode::empty()).unwrap();
    let command_lives = Arc::new(());
    let lives = Arc::downgrade(&command_lives);
    std::thread::spawn(move || sit(master, &held, &lives, types));
    let take = move || {
        let _ = &command_lives;
        // A command that was given a terminal before keeps it.
        if rustix::process::setsid().is_ok() {
            let terminal = rustix::fs::open(&slave, flags, Mode::empty())?;
            rustix::process::ioctl_tiocsctty(&terminal)?;
        }
        Ok(())
    };
    // SAFETY: system calls only; nothing is allocated.
    unsafe { command.pre_exec(take) };
}

/// Plays the person at a terminal: reads what is shown, and types the word that is asked for, until
/// the command is dropped and every process that it started there has ended.
fn sit(master: OwnedFd, _held: &OwnedFd, command: &Weak<()>, types: bool) {
    let mut terminal = File::from(master);
    let (mut shown, mut piece) = (String::new(), [0; 1_024]);
    let pause = rustix::event::Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
    loop {
        let mut ready = [PollFd::new(&terminal, PollFlags::IN)];
        if rustix::event::poll(&mut ready, Some(&pause)) == Ok(0) {
            let is_used = command.strong_count() > 0 || rustix::termios::tcgetsid(&terminal).is_ok();
            if is_used { continue } else { return }
        }
        let Ok(count) = terminal.read(&mut piece) else { return };
        shown.push_str(&String::from_utf8_lossy(&piece[..count]));
        if let Some((_, asked)) = shown.split_once("\nType ")
            && let Some((word, _)) = asked.split_once(" to go on: ")
        {
            let answer = if types { format!("{word}\n") } else { "no\n".into() };
            let _ = terminal.write_all(answer.as_bytes());
            shown.clear();
        }
    }
}
