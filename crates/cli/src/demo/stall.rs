//! The scene of an agent that stands still: runs the monitor's own arithmetic over scripted screens, with a
//! clock that skips the waiting.

use std::time::Duration;

use consort_core::Timestamp;
use consort_core::monitor::PaneFacts;
use consort_core::monitor::PaneLook;
use consort_core::monitor::Signature;
use consort_core::monitor::StallResponse;
use consort_core::monitor::Watched;

/// Seconds that the clock skips between two looks.
const SKIP: i64 = 20;

/// A step that the watcher takes with an agent whose screen stays the same, and when.
pub(super) struct StallStep {
    pub(super) after_s: i64,
    pub(super) what: StallResponse,
}

/// Watches an agent whose model hangs until the person has to decide, and one look longer, when the agent has
/// gone on. Returns the watcher's steps, and whether the late answer was accepted.
pub(super) fn watch(signature: &Signature) -> (Vec<StallStep>, bool) {
    let look = |seconds: i64, said: &str| {
        let screen =
            format!("{said}\n\n✻ Thinking… ({seconds}s · esc to interrupt)\n\n{}\n❯ \n{0}", "─".repeat(60));
        PaneLook::new(PaneFacts::default(), screen, signature, Duration::from_secs(2))
    };
    let at = |seconds: i64| Timestamp(seconds * Timestamp::SECOND);
    let mut watched = Watched::new(&look(0, "● Reading src/session.rs"), None, at(0));
    let mut steps = Vec::new();
    let mut seconds = 0;
    loop {
        seconds += SKIP;
        watched.observe(&look(seconds, "● Reading src/session.rs"), None, at(seconds));
        match watched.triage("", false, at(seconds)) {
            StallResponse::Act => steps.push(StallStep { after_s: seconds, what: StallResponse::Act }),
            StallResponse::Escalate => break,
            StallResponse::Watch | StallResponse::Wait if seconds > 3_600 => break,
            StallResponse::Watch | StallResponse::Wait => {}
        }
    }
    steps.push(StallStep { after_s: seconds, what: StallResponse::Escalate });
    watched.observe(&look(seconds + 1, "● The lifetime is in src/session.rs."), None, at(seconds + 1));
    (steps, !watched.seems_stalled("", at(seconds + 2)))
}
