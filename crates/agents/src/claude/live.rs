//! What Claude Code publishes of its sessions: `~/.claude/sessions/<pid>.json`.
//!
//! It tells what hooks cannot: a turn interrupted by the person fires none.

use std::fs;
use std::path::Path;

use consort_core::presence::Agent;
use consort_core::presence::Status;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SessionFile {
    session_id: String,
    status: Option<String>,
    waiting_for: Option<String>,
}

pub(super) fn state(config_dir: &Path, agent: &Agent) -> Option<(Status, Option<String>)> {
    let path = config_dir.join(format!("sessions/{}.json", agent.process.pid));
    parse(&fs::read(path).ok()?, agent.session.as_str())
}

/// `None` where it speaks of another session or in words we do not know.
fn parse(file: &[u8], session: &str) -> Option<(Status, Option<String>)> {
    let file: SessionFile = serde_json::from_slice(file).ok()?;
    if file.session_id != session {
        return None;
    }
    let status = match file.status.as_deref()? {
        "idle" => Status::Idle,
        "busy" => Status::Working,
        "waiting" => Status::Waiting,
        _ => return None,
    };
    Some((status, file.waiting_for.filter(|_| status == Status::Waiting)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_sessions_own_word_counts() {
        let file = br#"{"pid":7,"sessionId":"s1","status":"waiting","waitingFor":"permission prompt","kind":"interactive"}"#;
        assert_eq!(parse(file, "s1"), Some((Status::Waiting, Some("permission prompt".into()))));
        assert_eq!(parse(file, "s2"), None);
        assert_eq!(parse(br#"{"sessionId":"s1","status":"dreaming"}"#, "s1"), None);
        assert_eq!(parse(b"{\"sessionId\":\"s1\",\"sta", "s1"), None);
    }
}
