//! Reads the file that Claude Code publishes about each running session:
//! `~/.claude/sessions/<pid>.json`.
//!
//! The file shows when the person interrupts a turn, for which no hook fires.

use std::path::Path;
use std::path::PathBuf;

use consort_core::presence::Agent;
use consort_core::presence::CliStatus;
use consort_core::presence::Status;
use serde::Deserialize;

/// The most bytes that are read of the file, far more than it ever has.
const LONGEST: u64 = 1 << 20;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SessionFile {
    session_id: String,
    status: Option<String>,
    waiting_for: Option<String>,
    /// The socket on which other sessions write to this session, and the version of their protocol.
    pub(super) messaging_socket_path: Option<PathBuf>,
    pub(super) peer_protocol: Option<u64>,
}

impl SessionFile {
    /// Reads the agent's file; `None` if there is none or it is about another session.
    pub(super) fn read(config_dir: &Path, agent: &Agent) -> Option<Self> {
        let path = config_dir.join(format!("sessions/{}.json", agent.location.process.pid));
        Self::parse(&consort_files::read_regular_file(&path, LONGEST).ok()?, agent.session.as_str())
    }

    pub(super) fn parse(file: &[u8], session: &str) -> Option<Self> {
        serde_json::from_slice::<Self>(file).ok().filter(|file| file.session_id == session)
    }

    /// Returns the session's status; `None` if the file has a status that we do not know.
    pub(super) fn status(&self) -> Option<Status> {
        match self.status.as_deref()? {
            "idle" => Some(Status::Idle),
            "busy" => Some(Status::Working),
            "waiting" => Some(Status::Waiting),
            _ => None,
        }
    }

    pub(super) fn state(self) -> Option<CliStatus> {
        let status = self.status()?;
        let waiting_for = self.waiting_for.filter(|_| status == Status::Waiting);
        Some(CliStatus { status, waiting_for, at: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(file: &[u8], session: &str) -> Option<(Status, Option<String>)> {
        let live = SessionFile::parse(file, session).and_then(SessionFile::state)?;
        Some((live.status, live.waiting_for))
    }

    #[test]
    fn only_the_sessions_own_word_counts() {
        let file = br#"{"pid":7,"sessionId":"s1","status":"waiting","waitingFor":"permission prompt","kind":"interactive"}"#;
        assert_eq!(parse(file, "s1"), Some((Status::Waiting, Some("permission prompt".into()))));
        assert_eq!(parse(file, "s2"), None);
        assert_eq!(parse(br#"{"sessionId":"s1","status":"dreaming"}"#, "s1"), None);
        assert_eq!(parse(b"{\"sessionId\":\"s1\",\"sta", "s1"), None);
    }
}
