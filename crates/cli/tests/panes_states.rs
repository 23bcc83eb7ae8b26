//! Tests of the states of the real CLIs in real panes, at two sizes, with a scripted model.

use consort_testkit::Step;

use crate::panes_stage::IDLE;
use crate::panes_stage::Stage;

const SIZES: [(&str, &str); 2] = [("80", "24"), ("200", "50")];

fn goes_through(cli: &'static str, size: (&'static str, &'static str)) {
    let stage = Stage::open(cli, size);
    stage.is("ready", IDLE);
    stage.say("please say something", [Step::say("Something.")]);
    stage.is("finished", &["finished", "suggestion"]);
    stage.say("please think", [Step::Stall]);
    stage.is("working", &["working", "retrying"]);
    stage.resize("120", "40");
    stage.is("resized", &["working", "retrying"]);
    stage.resize(size.0, size.1);
    stage.is("working", &["working", "retrying"]);
    stage.interrupt();
    if cli != "pi" {
        stage.say("please make it", [stage.permission_step()]);
        let reading = stage.is("permission", &["permission"]);
        let options = reading["options"].as_array().map_or(0, Vec::len);
        assert!(options > 1, "{cli} at {}: {reading}\n{}", stage.size, stage.screen());
        stage.interrupt();
    }
    for (status, what) in [(500, "failing"), (429, "limited")] {
        stage.say("please fail", (0..12).map(|_| Step::Fail(status)));
        stage.is(what, &["retrying", "error", "limit"]);
        stage.interrupt();
    }
    stage.say("please be refused", (0..20).map(|_| Step::Refuse));
    stage.is("refused", &["error"]);
    let pid = stage.world.tmux(&["display-message", "-p", "-t", &stage.pane, "#{pane_pid}"]);
    assert!(std::process::Command::new("kill").args(["-9", pid.trim()]).status().unwrap().success());
    stage.is("killed", &["dead"]);
}

fn all_sizes(cli: &'static str) {
    SIZES.into_iter().for_each(|size| goes_through(cli, size));
}

#[test]
fn claude() {
    all_sizes("claude");
}

#[test]
fn codex() {
    all_sizes("codex");
}

#[test]
fn gemini() {
    all_sizes("gemini");
}

#[test]
fn opencode() {
    all_sizes("opencode");
}

#[test]
fn pi() {
    all_sizes("pi");
}

#[test]
fn copilot() {
    all_sizes("copilot");
}
