//! Property tests of the presence rules.

use proptest::prelude::*;

use super::Agent;
use super::JoinRequest;
use super::Location;
use super::NameWish;
use super::PresenceError;
use super::Rect;
use super::ScreenPart;
use super::hosting_process;
use super::is_valid_name;
use super::may_register;
use super::model::Point;
use super::names;
use super::newcomer::Newcomer;
use super::quadrant;
use super::rules;
use crate::Timestamp;
use crate::host::PlacedDirectory;
use crate::host::Process;
use crate::journal::Change;
use crate::presence::PresenceChange;
use crate::project::Project;

fn rect(x: i32, y: i32, width: i32, height: i32) -> Rect {
    Rect { origin: Point { x, y }, width, height }
}

#[test]
fn names_are_letters_digits_underscores_and_dashes() {
    for good in ["a", "9", "SwiftRaven", "x_y-z", &"n".repeat(50)] {
        assert!(is_valid_name(good), "{good}");
    }
    for bad in ["", "_a", "-a", "a b", "a/b", "é", "a\n", "You", "ALL", &"n".repeat(51)] {
        assert!(!is_valid_name(bad), "{bad:?}");
    }
}

#[test]
fn six_hundred_and_fifty_names_then_numbers() {
    let mut taken: Vec<String> = Vec::new();
    for n in 0..660_u64 {
        let is_taken = |name: &str| taken.iter().any(|taken| taken == name);
        let name = names::generate(n.wrapping_mul(0x9e37_79b9_7f4a_7c15), is_taken);
        assert!(is_valid_name(&name));
        let numbered = name.ends_with(|c: char| c.is_ascii_digit());
        assert_eq!(numbered, n >= 650, "{name} came as number {n}");
        taken.push(name);
    }
    taken.sort();
    taken.dedup();
    assert_eq!(taken.len(), 660);
}

#[test]
fn a_long_name_stays_valid_with_a_number() {
    let long = "n".repeat(50);
    let name = names::numbered(&long, |candidate| candidate == long);
    assert!(is_valid_name(&name));
    assert_ne!(name, long);
}

proptest! {
    #[test]
    fn a_settled_name_is_valid_and_free(
        wish in "[ a-zA-Z0-9_-]{0,60}",
        former in proptest::option::of("[a-z]{1,3}"),
        taken in proptest::collection::vec("[a-zA-Z]{1,3}", 0..20),
        random: u64,
    ) {
        let taken: Vec<&str> = taken.iter().map(String::as_str).collect();
        for wish in [NameWish::Any, NameWish::Prefer(wish.clone()), NameWish::Insist(wish)] {
            match rules::settle_name(&wish, former.as_deref(), random, &taken) {
                Ok(name) => {
                    prop_assert!(is_valid_name(&name));
                    prop_assert!(!taken.iter().any(|taken| taken.eq_ignore_ascii_case(&name)));
                }
                Err(PresenceError::InvalidName { .. } | PresenceError::NameTaken { .. }) => {
                    prop_assert!(matches!(wish, NameWish::Insist(_)));
                }
                Err(error) => prop_assert!(false, "{error}"),
            }
        }
    }

    #[test]
    fn a_window_is_on_the_side_its_centre_is(
        x in 0i32..4000, y in 0i32..4000, width in 1i32..4000, height in 1i32..4000,
    ) {
        let name = quadrant(rect(x, y, width, height), rect(0, 0, 4000, 4000)).map(ScreenPart::as_str);
        if let Some(name) = name {
            prop_assert_eq!(name.contains("left"), width * 10 < 36_000 && 2 * x + width < 4000);
            prop_assert_eq!(name.contains("top"), height * 10 < 36_000 && 2 * y + height < 4000);
        }
    }
}

#[test]
fn quadrants_of_a_screen_with_a_menu_bar() {
    let screen = rect(0, 0, 1440, 900);
    assert_eq!(quadrant(rect(0, 25, 720, 430), screen), Some(ScreenPart::TopLeft));
    assert_eq!(quadrant(rect(720, 460, 720, 440), screen), Some(ScreenPart::BottomRight));
    assert_eq!(quadrant(rect(0, 25, 720, 875), screen), Some(ScreenPart::Left));
    assert_eq!(quadrant(rect(0, 0, 1440, 400), screen), Some(ScreenPart::Top));
    assert_eq!(quadrant(rect(0, 25, 1440, 875), screen), None);
}

#[test]
fn a_session_is_hosted_by_whom_it_names_or_the_nearest_that_is_no_shell() {
    let process =
        |pid: u32, program: &str| Process { pid, start: "s".into(), tty: None, program: program.into() };
    let ancestors = || vec![process(9, "sh"), process(8, "claude"), process(7, "zsh"), process(1, "init")];
    let pid = |named| hosting_process(ancestors(), named).map(|process| process.pid);
    assert_eq!(pid(Some(8)), Some(8));
    assert_eq!(pid(Some(1)), Some(1));
    assert_eq!(pid(Some(99)), Some(8));
    assert_eq!(pid(None), Some(8));
    // An orphan's parent is process 1, which hosts no session.
    assert_eq!(hosting_process(vec![process(9, "sh"), process(1, "init")], None), None);
    // Every pane, window and login is below one of these processes.
    for shared in ["tmux: server", "kitty", "gnome-terminal-", "sshd"] {
        let above = vec![process(9, "sh"), process(8, "bash"), process(7, shared), process(6, "launcher")];
        assert_eq!(hosting_process(above, None), None, "{shared}");
    }
}

#[test]
fn only_the_person_registers_what_is_above_other_callers_too() {
    let process =
        |pid: u32, program: &str| Process { pid, start: "s".into(), tty: None, program: program.into() };
    let is_agent_cli = |process: &Process| process.program == "claude";
    let below_claude = [process(9, "sh"), process(8, "claude"), process(7, "zsh"), process(1, "init")];
    let may = |pid| may_register(pid, &below_claude, is_agent_cli);
    assert_eq!([9, 8, 7, 1, 99].map(may), [true, true, false, false, false]);
    let in_tmux = [process(9, "myagent"), process(8, "tmux: server"), process(1, "init")];
    assert_eq!([9, 8, 1].map(|pid| may_register(pid, &in_tmux, is_agent_cli)), [true, false, false]);
    // In a container, process 1 may be the agent.
    assert!(may_register(1, &[process(9, "sh"), process(1, "claude")], is_agent_cli));
}

fn agent(number: u8, name: &str) -> Agent {
    Agent {
        session: format!("session-{number}").into(),
        name: name.into(),
        kind: "claude".into(),
        project: Project { id: "p".into(), name: "p".into() },
        branch: None,
        model: None,
        joined_at: Timestamp(1),
        spec: None,
        location: Location {
            machine: "m".into(),
            process: Process { pid: u32::from(number), ..Process::default() },
            cwd: "/p".into(),
            worktree: "/p".into(),
            terminal: Default::default(),
            spec_file: None,
        },
    }
}

proptest! {
    /// Whatever agents join, in any order: names stay different, a present agent keeps its name, a successor
    /// gets its predecessor's, and joining again changes nothing.
    #[test]
    fn a_newcomer_disturbs_nobody(
        here in proptest::collection::btree_map(0_u8..6, "[a-c]", 0..6),
        who in 0_u8..6,
        replaces in proptest::option::of(0_u8..6),
        wish in prop_oneof![Just(NameWish::Any), "[a-c]".prop_map(NameWish::Prefer), "[a-c]".prop_map(NameWish::Insist)],
        random: u64,
    ) {
        let mut names = std::collections::BTreeSet::new();
        let present: Vec<Agent> =
            here.iter().filter(|(_, name)| names.insert((*name).clone())).map(|(n, name)| agent(*n, name)).collect();
        let replaced = replaces.filter(|other| *other != who).map(|other| agent(other, "x"));
        let request = JoinRequest {
            session: agent(who, "x").session,
            wish: wish.clone(),
            kind: "claude".into(),
            process: replaced.as_ref().map_or(agent(who, "x").location.process, |other| other.location.process.clone()),
            cwd: "/p".into(),
            model: None,
            terminal: Default::default(),
            spec: None,
            replaces: replaced.map(|other| other.session),
        };
        let place = PlacedDirectory { worktree: "/p".into(), repository: "/p".into(), origin: None, branch: None, is_git: false };
        let newcomer = |present: Vec<Agent>| {
            let known = present.iter().find(|agent| agent.session == request.session).cloned();
            let (project, me) = (Project { id: "p".into(), name: "p".into() }, None);
            let (machine, place, others) = ("m".to_owned(), place.clone(), Vec::new());
            let all = Newcomer {
                request: &request, now: Timestamp(9), machine, place, project, is_first: false, known, me,
                predecessor: None, others, spec: None, random,
            };
            all.among(present)
        };
        let newcomer_now = newcomer(present.clone());
        let Ok(agent) = newcomer_now.agent() else {
            prop_assert!(matches!(wish, NameWish::Insist(_)));
            return Ok(());
        };
        prop_assert!(newcomer_now.others.iter().all(|other| other.name != agent.name));
        if let Some(former) = newcomer_now.predecessor.as_ref().or(newcomer_now.me.as_ref()) {
            prop_assert_eq!(&former.name, &agent.name);
        }
        let joined = |changes: &[Change]| {
            changes.iter().any(|change| matches!(change, Change::Presence(PresenceChange::Joined(_))))
        };
        prop_assert!(newcomer_now.me.is_some() || joined(&newcomer_now.arrival(&agent)));
        let mut after = newcomer_now.others.clone();
        after.push(agent.clone());
        let again = newcomer(after);
        prop_assert_eq!(&again.agent().unwrap(), &agent);
        prop_assert!(again.arrival(&agent).is_empty());
    }
}
