//! Property tests of the presence rules.

use proptest::prelude::*;

use super::NameWish;
use super::PresenceError;
use super::Quadrant;
use super::Rect;
use super::hosting_process;
use super::is_valid_name;
use super::may_register;
use super::model::Point;
use super::names;
use super::quadrant;
use super::rules;
use crate::host::Process;

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
        let name = quadrant(rect(x, y, width, height), rect(0, 0, 4000, 4000)).map(Quadrant::as_str);
        if let Some(name) = name {
            prop_assert_eq!(name.contains("left"), width * 10 < 36_000 && 2 * x + width < 4000);
            prop_assert_eq!(name.contains("top"), height * 10 < 36_000 && 2 * y + height < 4000);
        }
    }
}

#[test]
fn quadrants_of_a_screen_with_a_menu_bar() {
    let screen = rect(0, 0, 1440, 900);
    assert_eq!(quadrant(rect(0, 25, 720, 430), screen), Some(Quadrant::TopLeft));
    assert_eq!(quadrant(rect(720, 460, 720, 440), screen), Some(Quadrant::BottomRight));
    assert_eq!(quadrant(rect(0, 25, 720, 875), screen), Some(Quadrant::Left));
    assert_eq!(quadrant(rect(0, 0, 1440, 400), screen), Some(Quadrant::Top));
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
    // An orphan's parent is the first process of all, which hosts nobody.
    assert_eq!(hosting_process(vec![process(9, "sh"), process(1, "init")], None), None);
    // Every pane, window and login is below these.
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
    // In a container the first process may be the agent.
    assert!(may_register(1, &[process(9, "sh"), process(1, "claude")], is_agent_cli));
}
