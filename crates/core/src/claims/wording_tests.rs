//! A snapshot of texts that no short story produces: after an hour, with a thousand reservations,
//! in a mount namespace, or when the store hangs. `rare_texts.txt` has the texts; their tokens
//! are counted with all others, in `cli/tests/injected_texts.rs`.

use super::Hold;
use super::HoldMode;
use super::HoldView;
use super::Pattern;
use super::PublishedHold;
use super::Resource;
use super::Strength;
use super::wording;
use crate::Timestamp;
use crate::journal::Actor;

const NOW: Timestamp = Timestamp(1_800_000_000_000);

fn seen(minutes: i64) -> HoldView {
    let hold = Hold {
        project: None,
        resource: Resource::parse("file:src/auth/"),
        holder: Actor::Agent("s2".into()),
        label: "Raven (claude on main)".into(),
        strength: Strength::Blocking,
        mode: HoldMode::Exclusive,
        reason: None,
        since: NOW.minus(minutes * Timestamp::MINUTE),
        until: None,
        ttl: None,
        machine: String::new(),
        worktree: None,
        generation: 1,
        contest: None,
    };
    HoldView { hold, name: "Raven".into(), task: None, yours: false }
}

#[test]
fn rare_texts_are_as_they_were() {
    let forgotten = wording::forgotten(&[(seen(90), NOW.minus(61 * Timestamp::MINUTE))], NOW);
    let line = PublishedHold {
        project: None,
        holder: Actor::Agent("s2".into()),
        label: "Raven (claude on main)".into(),
        strength: Strength::Blocking,
        mode: HoldMode::Exclusive,
        until: None,
        pattern: Pattern::tree("src/auth"),
    };
    let all = [
        ("what you have reserved may be forgotten", forgotten),
        ("a command met what is read-only", wording::shield_met(&[seen(4)], NOW)),
        ("there is too much to be read-only", wording::TOO_MANY_TO_SHIELD.to_owned()),
        ("a write is refused while the store hangs", wording::unconfirmed("src/auth/a.rs", &line)),
    ];
    let page: String = all.iter().map(|(what, text)| format!("## {what}\n{text}\n\n")).collect();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/claims/rare_texts.txt");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(path, &page).unwrap();
    }
    assert_eq!(page, include_str!("rare_texts.txt"), "UPDATE_EXPECT=1 writes it");
}
