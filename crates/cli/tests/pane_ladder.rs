//! Tests of an agent that stalls, with the real clock: they take minutes, and only long runs have
//! them. The steps and their times are tested in core.

use std::process::Child;
use std::process::Stdio;

use consort_testkit::PaneWorld;
use serde_json::Value;
use serde_json::json;

/// A running `consort pane watch`; it ends when dropped.
struct Watch(Child);

impl Watch {
    fn start(world: &PaneWorld, settings: &[&str]) -> Self {
        let set = settings.iter().flat_map(|setting| ["--set", setting]);
        let words: Vec<&str> = set.chain(["pane", "watch"]).collect();
        Self(world.command(&words).stdout(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn waiting(world: &PaneWorld) -> Vec<Value> {
    let listed: Value = serde_json::from_str(&world.run(&["waiting", "--json"]).stdout).unwrap();
    listed["items"].as_array().unwrap().clone()
}

/// Calls `look` every few seconds for some minutes, until it returns something.
fn within_minutes<T>(minutes: u64, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let since = std::time::Instant::now();
    while since.elapsed().as_secs() < minutes * 60 {
        if let Some(seen) = look() {
            return Some(seen);
        }
        std::thread::sleep(std::time::Duration::from_secs(2));
    }
    None
}

/// A stalled agent is nudged once, diagnosed, and then left to the person; it may still finish later.
#[test]
fn a_stalled_agent_is_nudged_and_then_left_to_the_person() {
    let world = PaneWorld::new(env!("CARGO_BIN_EXE_consort"), &[("FAKE_HANG", "1")]);
    assert_eq!(world.run(&["open", "claude", "--name", "Falcon", "--prompt", "think"]).code, 0);
    let _watch = Watch::start(&world, &["monitor.nudge=true"]);
    let items = within_minutes(8, || Some(waiting(&world)).filter(|items| !items.is_empty()));
    let item = items.expect("it is escalated").remove(0);
    assert_eq!(item["why"], "stalled", "{item}");
    assert_eq!(item["options"], json!(["nudge", "wait", "close", "take over"]));
    let about = item["about"].as_str().unwrap();
    assert!(about.contains("nothing new for") && about.contains("has started nothing"), "{item}");
    assert!(item["screen"].as_array().is_some_and(|lines| !lines.is_empty()), "{item}");
    let said = "submitted: Continue with the remaining work.";
    assert_eq!(world.cli.submitted_texts(), ["submitted: think", said]);
    assert!(world.run(&["journal", "tail"]).stdout.contains("Falcon is stalled: nothing new for"));
    // A late completion is always accepted.
    let pane = world.panes()[0]["pane"].as_str().unwrap().to_owned();
    world.tmux(&["send-keys", "-t", &pane, "Escape"]);
    assert!(within_minutes(1, || waiting(&world).is_empty().then_some(())).is_some());
}

/// The suggestion in an agent's composer is accepted if the person allows it.
#[test]
fn a_suggestion_is_accepted() {
    let world = PaneWorld::new(env!("CARGO_BIN_EXE_consort"), &[]);
    world.run(&["open", "claude", "--name", "Falcon", "--prompt", "suggest something"]);
    let _watch = Watch::start(&world, &["monitor.accept_suggestions=true"]);
    let submitted = || {
        Some(world.cli.submitted_texts()).filter(|noted| noted.contains(&"submitted: run the tests".into()))
    };
    assert!(within_minutes(2, submitted).is_some(), "{:?}", world.cli.submitted_texts());
}

/// Returns a time that is one to two minutes from now, as a CLI says it. Once it has passed, the next such time
/// is tomorrow's.
fn soon() -> String {
    let date =
        std::process::Command::new("date").args(["-u", "-d", "now + 2 minutes", "+%H:%M (UTC)"]).output();
    String::from_utf8(date.unwrap().stdout).unwrap().trim().to_owned()
}

#[test]
fn an_agent_goes_on_when_its_limit_has_ended() {
    let world = PaneWorld::new(env!("CARGO_BIN_EXE_consort"), &[("FAKE_RESETS", &soon())]);
    world.run(&["open", "claude", "--name", "Falcon", "--prompt", "reach the limit"]);
    let _watch = Watch::start(&world, &["monitor.continue_after_limit=true"]);
    let said = "submitted: Continue with the remaining work.".to_owned();
    let went_on = within_minutes(5, || world.cli.submitted_texts().contains(&said).then_some(()));
    assert!(went_on.is_some(), "{:?}\n{}", waiting(&world), world.run(&["pane", "screen", "Falcon"]));
    assert_eq!(world.cli.submitted_texts(), ["submitted: reach the limit".to_owned(), said]);
}

/// Several agents at one limit go on one after the other.
#[test]
fn agents_go_on_one_after_the_other_when_their_limit_has_ended() {
    let world = PaneWorld::new(env!("CARGO_BIN_EXE_consort"), &[("FAKE_RESETS", &soon())]);
    for name in ["Falcon", "Raven", "Heron"] {
        world.run(&["open", "claude", "--name", name, "--prompt", "reach the limit"]);
    }
    let items = within_minutes(1, || Some(waiting(&world)).filter(|items| items.len() == 3)).unwrap();
    assert!(items.iter().all(|item| item["why"] == "limit" && item["reset_at"].is_string()), "{items:?}");
    let _watch = Watch::start(&world, &["monitor.continue_after_limit=true"]);
    let said = "submitted: Continue with the remaining work.";
    let went_on = || world.cli.submitted_texts().iter().filter(|line| *line == said).count();
    let mut seen = Vec::new();
    for count in 1..=3 {
        within_minutes(5, || (went_on() >= count).then_some(())).unwrap_or_else(|| panic!("{count}"));
        seen.push(std::time::Instant::now());
    }
    // The bounds allow for looks every two seconds and typing that takes a few.
    let gaps: Vec<u64> = seen.windows(2).map(|two| two[1].duration_since(two[0]).as_secs()).collect();
    assert!(gaps.iter().all(|gap| (9..60).contains(gap)), "{gaps:?}");
    assert_eq!(went_on(), 3);
}
