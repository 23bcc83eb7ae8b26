//! Asking another program, without ever waiting for it for long.

use std::io::Read as _;
use std::process::Command;
use std::process::Stdio;
use std::sync::mpsc;
use std::time::Duration;

/// What a program prints, if it succeeds in time; it is ended otherwise.
pub(crate) fn run(command: &mut Command, timeout: Duration) -> Option<String> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let mut stdout = child.stdout.take()?;
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut output = String::new();
        let read = stdout.read_to_string(&mut output);
        let _ = sender.send(read.is_ok().then_some(output));
    });
    let output = receiver.recv_timeout(timeout);
    if output.is_err() {
        let _ = child.kill();
    }
    let status = child.wait().ok()?;
    output.ok().flatten().filter(|_| status.success())
}
