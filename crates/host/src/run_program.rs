//! Runs another program with a time limit, and returns what it prints.

use std::io::Read as _;
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::Command;
use std::process::Stdio;
use std::sync::mpsc;
use std::time::Duration;
use std::time::Instant;

use consort_core::dispatch::CheckExit;

/// What a program says when asked for its version.
pub fn ask_version(program: &Path, timeout: Duration) -> Option<String> {
    run(Command::new(program).arg("--version"), timeout)
}

/// What a program says about its options, on either stream, however it ends.
pub fn ask_help(program: &Path, arguments: &[&str], timeout: Duration) -> Option<String> {
    let ran = run_with_input(Command::new(program).args(arguments), timeout, b"").ok()?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Some(text(&ran.stdout) + "\n" + &text(&ran.stderr))
}

/// How a check ends: a command for the shell, in that directory.
pub fn run_check(command: &str, cwd: &Path, timeout: Duration) -> CheckExit {
    let mut check = Command::new("sh");
    check.args(["-c", command]).current_dir(cwd);
    check.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    let Ok(mut child) = check.spawn() else { return CheckExit::NotStarted };
    let end = Instant::now() + timeout;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => {
                let code = status.code().map(CheckExit::Code);
                return code
                    .or_else(|| status.signal().map(CheckExit::Signal))
                    .unwrap_or(CheckExit::NotStarted);
            }
            Ok(None) if Instant::now() < end => std::thread::sleep(Duration::from_millis(10)),
            _ => break,
        }
    }
    // Not waited for yet, so the id is still its own.
    let _ = rustix::process::kill_process_group(
        rustix::process::Pid::from_child(&child),
        rustix::process::Signal::KILL,
    );
    let _ = child.wait();
    CheckExit::TimedOut
}

/// Asks a command of the person's, by their shell, in that directory: whether it allows what
/// it reads, and what it says.
pub fn ask_gate(command: &str, cwd: &Path, input: &[u8], timeout: Duration) -> (bool, String) {
    match run_with_input(Command::new("sh").args(["-c", command]).current_dir(cwd), timeout, input) {
        Ok(ran) => (ran.is_success, String::from_utf8_lossy(&ran.stdout).into_owned()),
        Err(error) => (false, format!("it did not answer: {error}")),
    }
}

/// Whether a program succeeds in time; it is ended otherwise.
pub fn succeeds(program: &Path, arguments: &[String], timeout: Duration) -> bool {
    run(Command::new(program).args(arguments), timeout).is_some()
}

/// What a program prints, if it succeeds in time; it is ended otherwise.
pub(crate) fn run(command: &mut Command, timeout: Duration) -> Option<String> {
    run_for(command, timeout, &[0])
}

/// The same, where these exit codes are answers.
pub(crate) fn run_for(command: &mut Command, timeout: Duration, codes: &[i32]) -> Option<String> {
    run_for_bytes(command, timeout, codes).map(|output| String::from_utf8_lossy(&output).into_owned())
}

/// The same as bytes.
pub(crate) fn run_for_bytes(command: &mut Command, timeout: Duration, codes: &[i32]) -> Option<Vec<u8>> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let mut stdout = child.stdout.take()?;
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut output = Vec::new();
        let read = stdout.read_to_end(&mut output);
        let _ = sender.send(read.is_ok().then_some(output));
    });
    let output = receiver.recv_timeout(timeout).ok().flatten();
    // One that closed its output ends by itself in a moment, or is ended.
    for _ in 0..50 {
        if output.is_none() {
            break;
        }
        if let Some(status) = child.try_wait().ok()? {
            return output.filter(|_| status.code().is_some_and(|code| codes.contains(&code)));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let _ = child.kill();
    let _ = child.wait();
    None
}

/// What a program said, and how it ended.
pub(crate) struct Ran {
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    pub(crate) is_success: bool,
    /// None if a signal ended it.
    pub(crate) code: Option<i32>,
}

/// Runs a program with `input`; an error if it cannot be started or does not end in time.
pub(crate) fn run_with_input(command: &mut Command, timeout: Duration, input: &[u8]) -> std::io::Result<Ran> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let pid = child.id();
    let mut stdin = child.stdin.take();
    let (sender, receiver) = mpsc::channel();
    let input = input.to_vec();
    std::thread::spawn(move || {
        // A program that does not read it says why.
        let _ = stdin.take().map(|mut stdin| stdin.write_all(&input));
        let _ = sender.send(child.wait_with_output());
    });
    match receiver.recv_timeout(timeout) {
        Ok(output) => {
            let output = output?;
            Ok(Ran {
                stdout: output.stdout,
                stderr: output.stderr,
                is_success: output.status.success(),
                code: output.status.code(),
            })
        }
        Err(_) => {
            let pid = rustix::process::Pid::from_raw(pid as i32);
            // Not waited for yet, so the id is still its own.
            let _ = pid.map(|pid| rustix::process::kill_process(pid, rustix::process::Signal::KILL));
            Err(std::io::ErrorKind::TimedOut.into())
        }
    }
}
