//! Runs a program that only reads, to learn what it prints, in a moment or not at all.
//!
//! **Only what is installed is run**, never what a repository brings: programs are looked
//! for where systems keep them, whatever the search path says.

use std::io::Read as _;
use std::io::Write as _;
use std::path::Path;
use std::process::Child;
use std::process::Command;
use std::process::Stdio;
use std::sync::mpsc;
use std::time::Duration;
use std::time::Instant;

const INSTALLED: &str = "/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin";

/// A program that is not done by then is ended.
const PATIENCE: Duration = Duration::from_millis(300);

/// Longer outputs are not read.
const LONGEST: u64 = 256 << 10;

/// What a program prints, and whether it exited with 0; `None` where it printed too much
/// or was not done in time.
pub fn ask_program(
    directory: &Path,
    program: &str,
    arguments: &[String],
    input: Option<&str>,
) -> Option<(String, bool)> {
    let home = std::env::var_os("HOME").unwrap_or_default();
    let mut child = Command::new(installed(program)?)
        .args(arguments)
        .current_dir(directory)
        .env_clear()
        .envs([
            ("PATH", INSTALLED),
            ("LC_ALL", "C.UTF-8"),
            ("GIT_OPTIONAL_LOCKS", "0"),
            ("GIT_NO_LAZY_FETCH", "1"),
        ])
        .env("HOME", home)
        .stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() })
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let answer = read(&mut child, input);
    if answer.is_none() {
        let _ = child.kill();
    }
    let status = child.wait().ok()?;
    let text = String::from_utf8(answer?).ok()?;
    status.code().map(|_| (text, status.success()))
}

/// Where a program is installed; looked for here, because what is run is named by its path.
fn installed(program: &str) -> Option<std::path::PathBuf> {
    let paths = INSTALLED.split(':').map(|directory| Path::new(directory).join(program));
    paths.into_iter().find(|path| !program.contains('/') && path.is_file())
}

/// Feeds a program and reads it to its end.
fn read(child: &mut Child, input: Option<&str>) -> Option<Vec<u8>> {
    let until = Instant::now() + PATIENCE;
    if let (Some(mut stdin), Some(input)) = (child.stdin.take(), input) {
        let input = input.to_owned();
        std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    }
    let stdout = child.stdout.take()?;
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut output = Vec::new();
        let read = stdout.take(LONGEST).read_to_end(&mut output);
        let _ = sender.send(read.is_ok().then_some(output));
    });
    let output = receiver.recv_timeout(PATIENCE).ok().flatten()?;
    // One that closed its output ends in a moment.
    while child.try_wait().ok()?.is_none() {
        if Instant::now() >= until {
            return None;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    Some(output).filter(|output| (output.len() as u64) < LONGEST)
}
