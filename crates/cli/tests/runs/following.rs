//! Tests of following, resuming and retrying runs that were left running.

use consort_testkit::until;

use super::stage::Stage;

#[test]
fn a_detached_run_is_listed_shown_and_followed() {
    let stage = Stage::new();
    let ran = stage.ran(&["run", "--detach", "--name", "Heron", "{say one}{sleep 2}{tool Grep}{say two}"]);
    assert!(ran.code == 0 && ran.stdout.contains("Run 1: Heron (dev, claude)"), "{ran}");
    stage.called(1);
    let list = stage.ran(&["runs", "list"]);
    assert!(list.stdout.contains("● ") && list.stdout.contains("Heron"), "{list}");
    assert_eq!(stage.json(&["runs", "list", "--open"])["items"].as_array().unwrap().len(), 1);
    let show = stage.ran(&["runs", "show", "1"]);
    assert!(show.stdout.contains("So far"), "{show}");
    let logs = stage.ran(&["runs", "logs", "-f", "1"]);
    let at = |text: &str| logs.stdout.find(text).unwrap_or_else(|| panic!("{text}: {logs}"));
    assert!(at("one") < at("Grep") && at("Grep") < at("two"), "{logs}");
    assert_eq!(stage.state("1"), "done", "it was followed to its end");
    let attached = stage.ran(&["runs", "attach", "1"]);
    assert_eq!((attached.code, attached.stdout.as_str()), (0, "two\n"), "{attached}");
    assert!(stage.ran(&["runs", "list"]).stdout.contains("✓ "));
    for missing in ["7", "#7", "nonsense"] {
        let ran = stage.ran(&["runs", "show", missing]);
        assert!(ran.code == 1 && ran.stderr.contains("there is no run"), "{ran}");
    }
    let number = stage.detach(&["{sleep 1}{say late}{exit 1}"]);
    let attached = stage.ran(&["runs", "attach", &number]);
    assert_eq!(attached.code, 8, "{attached}");
}

#[test]
fn a_run_goes_on_in_its_session() {
    let stage = Stage::new();
    assert_eq!(stage.run("{say first}").code, 0);
    let session = stage.show("1")["agent"]["session"].as_str().unwrap().to_owned();
    let ran = stage.ran(&["runs", "resume", "1", "{say second}"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "second\n"), "{ran}");
    let calls = stage.calls();
    assert_eq!(calls[1]["resumed"], session.as_str());
    assert_eq!(
        (&stage.show("2")["follows"], &stage.show("2")["agent"]["session"]),
        (&stage.show("1")["id"], &session.into())
    );
    let ran = stage.ran(&["runs", "retry", "1"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "first\n"), "{ran}");
    assert!(stage.calls()[2]["resumed"].is_null());
    let number = stage.detach(&["{sleep 30}"]);
    let ran = stage.ran(&["runs", "resume", &number]);
    assert!(ran.code == 1 && ran.stderr.contains("has not ended"), "{ran}");
}

#[test]
fn a_run_is_an_agent_while_it_runs() {
    let stage = Stage::new();
    let number = stage.detach(&["--name", "Heron", "{consort whoami}{sleep 20}"]);
    let who = until("it is there", || stage.ran(&["who"]).stdout, |who| who.contains("Heron"));
    assert!(who.contains("Heron"));
    assert_eq!(stage.ran(&["runs", "stop", &number]).code, 0);
    let result = stage.show(&number)["result"].as_str().unwrap().to_owned();
    assert!(result.is_empty() || result.contains("Heron"), "{result}");
    until("it has left", || stage.ran(&["who"]).stdout, |who| !who.contains("Heron"));
}

/// Runs of two projects at the same time are numbered separately, in one store.
#[test]
fn projects_have_runs_of_their_own() {
    let stage = Stage::new();
    let other = stage.world.path().join("other");
    std::fs::create_dir_all(&other).unwrap();
    assert!(stage.world.command("git").args(["init", "-q"]).current_dir(&other).status().unwrap().success());
    std::thread::scope(|scope| {
        for (dir, word) in [(stage.world.project(), "here"), (other.clone(), "there")] {
            for _ in 0..2 {
                let (stage, dir) = (&stage, dir.clone());
                scope.spawn(move || {
                    for round in 0..3 {
                        let said = format!("{word} {round}");
                        let mut command = stage.consort(&["run", &format!("{{say {said}}}")]);
                        let ran = stage.world.ran(command.current_dir(&dir));
                        assert_eq!((ran.code, ran.stdout), (0, format!("{said}\n")));
                    }
                });
            }
        }
    });
    let mut list = stage.consort(&["runs", "list", "--json"]);
    let ran = stage.world.ran(list.current_dir(&other));
    let there: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let numbers = |items: &[serde_json::Value]| -> Vec<i64> {
        let mut numbers: Vec<i64> = items.iter().map(|run| run["number"].as_i64().unwrap()).collect();
        numbers.sort_unstable();
        numbers
    };
    assert_eq!(numbers(there["items"].as_array().unwrap()), [1, 2, 3, 4, 5, 6]);
    assert_eq!(numbers(&stage.list()), [1, 2, 3, 4, 5, 6]);
    stage.is_sound();
}
