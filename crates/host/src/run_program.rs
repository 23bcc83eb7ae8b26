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

/// Runs a program with `--version`, and returns its output.
pub fn ask_version(program: &Path, timeout: Duration) -> Option<String> {
    run(Command::new(program).arg("--version"), timeout)
}

/// Runs a program with arguments that ask for its options, and returns both outputs, however it exits.
pub fn run_for_help(program: &Path, arguments: &[&str], timeout: Duration) -> Option<String> {
    let ran = run_with_input(Command::new(program).args(arguments), timeout, b"").ok()?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Some(text(&ran.stdout) + "\n" + &text(&ran.stderr))
}

/// Runs a check, a command for the shell, in a directory, and returns its exit.
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
    // The child is not reaped yet, so the id is still its own.
    let _ = rustix::process::kill_process_group(
        rustix::process::Pid::from_child(&child),
        rustix::process::Signal::KILL,
    );
    let _ = child.wait();
    CheckExit::TimedOut
}

/// Asks a gate, a shell command of the person's, in a directory: returns whether it allows `input`, and
/// its output.
pub fn ask_gate(command: &str, cwd: &Path, input: &[u8], timeout: Duration) -> (bool, String) {
    match run_with_input(Command::new("sh").args(["-c", command]).current_dir(cwd), timeout, input) {
        Ok(ran) => (ran.is_success, String::from_utf8_lossy(&ran.stdout).into_owned()),
        Err(error) => (false, format!("it did not answer: {error}")),
    }
}

/// Whether a program succeeds in time; a slower one is killed.
pub fn succeeds(program: &Path, arguments: &[String], timeout: Duration) -> bool {
    run(Command::new(program).args(arguments), timeout).is_some()
}

/// Returns the output of a program that succeeds in time; a slower one is killed.
pub(crate) fn run(command: &mut Command, timeout: Duration) -> Option<String> {
    run_with_codes(command, timeout, &[0])
}

/// Returns the output of a program that exits in time with one of `codes`; a slower one is killed.
pub(crate) fn run_with_codes(command: &mut Command, timeout: Duration, codes: &[i32]) -> Option<String> {
    run_with_codes_bytes(command, timeout, codes).map(|output| String::from_utf8_lossy(&output).into_owned())
}

/// Like [`run_with_codes`], with the output as bytes.
pub(crate) fn run_with_codes_bytes(
    command: &mut Command,
    timeout: Duration,
    codes: &[i32],
) -> Option<Vec<u8>> {
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
    // A program that has closed its output gets a moment to exit, then is killed.
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

/// The output and the exit of a program.
pub(crate) struct Ran {
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    pub(crate) is_success: bool,
    /// The exit code; `None` if a signal ended the program.
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
        // A failed write is ignored: a program that does not read its input says why itself.
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
            // The child is not reaped yet, so the id is still its own.
            let _ = pid.map(|pid| rustix::process::kill_process(pid, rustix::process::Signal::KILL));
            Err(std::io::ErrorKind::TimedOut.into())
        }
    }
}
