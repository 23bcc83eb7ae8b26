//! Tests of the real CLIs in panes, with a scripted model.

use consort_testkit::PaneWorld;
use consort_testkit::RealAgent;
use consort_testkit::Step;
use consort_testkit::StubModel;
use consort_testkit::until;
use serde_json::Value;

use crate::panes_stage::world_of;

/// Checks that a CLI opened with a prompt works, answers and finishes, that its hooks arrive, and that
/// it can be closed.
fn a_prompt_goes_through(world: &PaneWorld, cli: &str, model: &StubModel) {
    let opened = world.run(&[
        "open",
        cli,
        "--name",
        "Falcon",
        "--trust",
        "--prompt",
        "please say something",
        "--json",
    ]);
    let screen = || world.run(&["pane", "screen", "Falcon"]).stdout;
    let json: Value = serde_json::from_str(&opened.stdout).unwrap_or_else(|_| panic!("{opened}"));
    // If Codex asks which model to use, `open` waits for the person.
    if world.decline_newer_model(json["pane"]["pane"].as_str().unwrap()) {
        assert_eq!((opened.code, &json["pane"]["started"]), (1, &"waiting".into()), "{opened}");
    } else {
        assert_eq!(json["pane"]["started"], "prompted", "{opened}\n{}", screen());
    }
    until("a turn", || model.turn_requests().len(), |turns| *turns == 1);
    let panes = until("its end", || world.panes(), |panes| panes[0]["state"] == "finished");
    assert_eq!((&panes[0]["name"], panes.len()), (&"Falcon".into(), 1), "{panes:?}");
    assert!(panes[0]["session"].is_string(), "its hooks have told of it: {panes:?}");
    let closed = world.run(&["pane", "close", "Falcon", "--json"]);
    let json: Value = serde_json::from_str(&closed.stdout).unwrap_or_else(|_| panic!("{closed}"));
    assert_eq!(json["items"][0]["left"], Value::Array(Vec::new()), "{closed}");
    assert!(world.panes().is_empty());
}

#[test]
fn claude() {
    let model = StubModel::start([Step::say("Something.")]);
    a_prompt_goes_through(&world_of("claude", &model), "claude", &model);
}

/// Codex is woken through a channel of its own, so nothing is typed.
#[test]
fn an_idle_codex_is_woken_by_a_message() {
    if RealAgent::Codex.is_out_of_reach() {
        return;
    }
    let model = StubModel::start([Step::say("Something."), Step::say("Heard.")]);
    let world = world_of("codex", &model);
    world.run(&["open", "codex", "--name", "Falcon", "--trust", "--prompt", "please say something"]);
    world.decline_newer_model(world.panes()[0]["pane"].as_str().unwrap());
    let is_idle = || {
        let who: Value = serde_json::from_str(&world.run(&["who", "--json"]).stdout).unwrap();
        who["items"][0]["status"].clone()
    };
    until("a turn", || model.turn_requests().len(), |turns| *turns == 1);
    until("rest", is_idle, |status| status == "idle");
    let sent = world.run(&["send", "Falcon", "-t", "question", "do you call login()?"]);
    assert!(sent.to_string().contains("Falcon was idle and is being woken."), "{sent}");
    until("another turn", || model.turn_requests().len(), |turns| *turns == 2);
    let heard = model.turn_requests()[1].to_string();
    assert_eq!(heard.matches("> do you call login()?").count(), 1, "{heard}");
}

#[test]
fn the_others() {
    let mut failed = Vec::new();
    for agent in RealAgent::ALL {
        if agent.is_out_of_reach() {
            continue;
        }
        let went = std::panic::catch_unwind(|| {
            let model = StubModel::start([Step::say("Something.")]);
            a_prompt_goes_through(&world_of(agent.kind(), &model), agent.kind(), &model);
        });
        if went.is_err() {
            failed.push(agent.kind());
        }
    }
    assert_eq!(failed, [""; 0]);
}
