//! Waking an idle session through the socket on which Claude Code's sessions
//! write to each other (seen with 2.1.325, `peerProtocol` 1).
//!
//! One line of JSON begins a turn in an idle session, as if another session had
//! written. There is no answer, only the end of the connection. We say no more
//! than that there is mail: the session's own hook then brings it.
//!
//! **A session that asks for no permissions is left alone**: there the line
//! would be held in a dialog that takes the composer from the person.

use std::fs;
use std::io::Read as _;
use std::io::Write as _;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;

use consort_core::presence::Agent;
use consort_core::presence::Heard;
use serde::Deserialize;
use serde_json::json;

const PATIENCE: Duration = Duration::from_millis(500);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SessionFile {
    session_id: String,
    status: Option<String>,
    messaging_socket_path: Option<PathBuf>,
    #[serde(default)]
    peer_protocol: Option<u64>,
}

/// Whether the session was told.
pub(super) fn wake(config_dir: &Path, agent: &Agent, heard: &Heard) -> bool {
    if heard.asks_first != Some(true) {
        return false;
    }
    let file = config_dir.join(format!("sessions/{}.json", agent.process.pid));
    let socket = fs::read(file).ok().and_then(|file| idle_socket(&file, agent.session.as_str()));
    socket.is_some_and(|socket| tell(&socket).is_ok())
}

/// The socket of a session that is idle by its own word and speaks our protocol.
fn idle_socket(file: &[u8], session: &str) -> Option<PathBuf> {
    let file: SessionFile = serde_json::from_slice(file).ok()?;
    let is_idle = file.session_id == session && file.status.as_deref() == Some("idle");
    let is_known = file.peer_protocol.is_none_or(|protocol| protocol == 1);
    file.messaging_socket_path.filter(|_| is_idle && is_known)
}

fn tell(socket: &Path) -> std::io::Result<()> {
    const BODY: &str =
        "You have mail from another agent or from the person; consort quotes it with this prompt.";
    let content = format!("<cross-session-message from-name=\"consort\">\n{BODY}\n</cross-session-message>");
    let line = json!({
        "msgV": 1, "type": "user", "priority": "next", "message": { "role": "user", "content": content },
    });
    let mut stream = UnixStream::connect(socket)?;
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(format!("{line}\n").as_bytes())?;
    stream.shutdown(Shutdown::Write)?;
    // It hangs up when it has read the line.
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
        let socket = |file: String, session| idle_socket(file.as_bytes(), session);
        assert_eq!(socket(file("idle", 1), "s1"), Some("/s".into()));
        assert_eq!(socket(file("busy", 1), "s1"), None);
        assert_eq!(socket(file("waiting", 1), "s1"), None);
        assert_eq!(socket(file("idle", 2), "s1"), None);
        assert_eq!(socket(file("idle", 1), "s2"), None);
    }
}
