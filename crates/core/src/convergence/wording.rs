//! Words what agents and the person read about predicted collisions, and about each other's finished work.

use super::Prediction;
use super::Signal;
use super::SignalKind;
use crate::presence::SessionId;
use crate::text;

/// Words a prediction in one line for one of the two: `IronKnight is deepening in auth, as you are:
/// coordinate before you go on (…)`.
pub(super) fn line(prediction: &Prediction, me: &SessionId) -> String {
    let other = &prediction.other(me).name;
    let (seen, number) = (seen(&prediction.signal), prediction.number);
    let before = match prediction.signal.files.first() {
        Some(file) => {
            format!("before editing {}", text::foreign(file.rsplit('/').next().unwrap_or(file), 60))
        }
        None => "before you go on".into(),
    };
    let line = format!(
        "{other} {seen}: coordinate {before} (`consort send {other} '…'`, `consort radar show {number}`)."
    );
    one_safe_line(&line)
}

/// Puts a text on one line and removes hook marks, because file names in it are foreign text.
fn one_safe_line(line: &str) -> String {
    text::disarm_hook_tags(&text::one_line(line, 600)).into_owned()
}

/// Words a signal, to follow the name of one of the two.
fn seen(signal: &Signal) -> String {
    let topics = || text::first_few(signal.topics.iter().map(|topic| text::foreign(topic, 30)), 3);
    let files = || text::first_few(signal.files.iter().map(|file| text::foreign(file, 60)), 2);
    let mut parts = Vec::new();
    if !signal.topics.is_empty() {
        parts.push(match signal.kind {
            SignalKind::MutualDeepening => format!("is deepening in {}, as you are", topics()),
            SignalKind::CrossApproach => format!("and you meet in {}", topics()),
            _ => format!("is also about {}", topics()),
        });
    }
    if !signal.files.is_empty() {
        parts.push(match signal.kind {
            SignalKind::MutualDeepening => format!("writes {}, as you do", files()),
            _ => format!("works on {}, where you are too", files()),
        });
    }
    if parts.is_empty() {
        parts.push(format!(
            "is near: both of you work on {}",
            text::first_few(signal.domains.iter().map(|domain| text::foreign(domain, 30)), 3)
        ));
    }
    parts.join(" and ")
}

/// Recommends what the agents, or the person, should do about a signal.
pub fn recommendation(signal: &Signal) -> String {
    let common = if signal.files.is_empty() { &signal.topics } else { &signal.files };
    let common = text::first_few(common.iter().map(|name| text::foreign(name, 60)), 4);
    match signal.kind {
        SignalKind::MutualDeepening => {
            format!("Both are heading toward {common}. Coordinate before going on, to avoid doing it twice.")
        }
        SignalKind::CrossApproach if !signal.files.is_empty() => {
            format!("One turns to what the other is working on: {common}. Agree on who edits first.")
        }
        SignalKind::CrossApproach => {
            format!("One is moving into {common}, where the other works. Let it ask first.")
        }
        SignalKind::Approaching => format!("Shared interest in {common}. Worth a word."),
        SignalKind::DomainProximity => {
            format!(
                "Different topics of one domain ({}). Nothing to do yet.",
                text::first_few(signal.domains.iter().map(|domain| text::foreign(domain, 30)), 3)
            )
        }
    }
}

/// Words the remark to each of two agents when one turns to the other's former work. `is_former` means that
/// `other` did the former work.
pub(super) fn pollination(other: &str, topics: &[String], files: &[String], is_former: bool) -> String {
    let topics = text::first_few(topics.iter().map(|topic| text::foreign(topic, 30)), 3);
    let files = match files {
        [] => String::new(),
        files => format!(" ({})", text::first_few(files.iter().map(|file| text::foreign(file, 60)), 3)),
    };
    let line = if is_former {
        format!("{other} has worked on {topics}{files}, which you turn to: it may know what you need.")
    } else {
        format!("{other} turns to {topics}, which you have worked on{files}: it may ask you.")
    };
    one_safe_line(&line)
}
