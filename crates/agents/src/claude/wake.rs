//! Wakes an idle Claude Code session through the socket on which its sessions write to each other (behaviour
//! as of 2.1.325, `peerProtocol` 1).
//!
//! One line of JSON begins a turn in an idle session, as if another session had
//! written. There is no answer, only the end of the connection. We say no more
//! than that there is mail: the session's own hook then brings it.
//!
//! **A session that asks for no permissions is left alone**: there the line would open a dialog, in which the
//! person cannot use the composer.

use std::io::Read as _;
use std::io::Write as _;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;
use std::time::Instant;

use consort_core::presence::Activity;
use consort_core::presence::Agent;
use consort_core::presence::Status;
use serde_json::json;

use super::session_file::SessionFile;

const PATIENCE: Duration = Duration::from_millis(500);

/// Wakes the agent's session if it is idle, and tells whether the session got the message.
pub(super) fn wake(config_dir: &Path, agent: &Agent, activity: &Activity) -> bool {
    if activity.asks_first != Some(true) {
        return false;
    }
    let mut file = SessionFile::read(config_dir, agent);
    // The hook reports the end of a turn a moment before the session file does.
    let until = Instant::now() + PATIENCE;
    while activity.status == Status::Idle
        && file.as_ref().is_some_and(|file| file.status() == Some(Status::Working))
        && Instant::now() < until
    {
        std::thread::sleep(PATIENCE / 10);
        file = SessionFile::read(config_dir, agent);
    }
    file.and_then(idle_socket).is_some_and(|socket| tell(&socket).is_ok())
}

/// Returns the socket of a session whose file says that it is idle, and that speaks our protocol.
fn idle_socket(file: SessionFile) -> Option<PathBuf> {
    let is_idle = file.status() == Some(Status::Idle);
    let is_known = file.peer_protocol.is_none_or(|protocol| protocol == 1);
    file.messaging_socket_path.filter(|_| is_idle && is_known)
}

fn tell(socket: &Path) -> std::io::Result<()> {
    const BODY: &str = "New Consort message, quoted below.";
    let content = format!("<cross-session-message from-name=\"consort\">\n{BODY}\n</cross-session-message>");
    let line = json!({
        "msgV": 1, "type": "user", "priority": "next", "message": { "role": "user", "content": content },
    });
    let mut stream = UnixStream::connect(socket)?;
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(format!("{line}\n").as_bytes())?;
    stream.shutdown(Shutdown::Write)?;
    // The session closes the connection when it has read the line.
    stream.read(&mut [0; 64]).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_idle_session_that_speaks_our_protocol_is_told() {
        let file = |status: &str, protocol: u64| {
            json!({ "sessionId": "s1", "status": status, "messagingSocketPath": "/s", "peerProtocol": protocol })
                .to_string()
        };
        let socket =
            |file: String, session| SessionFile::parse(file.as_bytes(), session).and_then(idle_socket);
        assert_eq!(socket(file("idle", 1), "s1"), Some("/s".into()));
        assert_eq!(socket(file("busy", 1), "s1"), None);
        assert_eq!(socket(file("waiting", 1), "s1"), None);
        assert_eq!(socket(file("idle", 2), "s1"), None);
        assert_eq!(socket(file("idle", 1), "s2"), None);
    }
}
