//! Agents in panes: the real CLIs, with a scripted model.

use consort_testkit::Claude;
use consort_testkit::PaneWorld;
use consort_testkit::RealAgent;
use consort_testkit::Sealed;
use consort_testkit::Step;
use consort_testkit::StubModel;
use consort_testkit::until;
use serde_json::Value;

/// A world in which commands find the real CLI and lead it to the model.
fn world_of(agent: RealAgent, model: &StubModel) -> PaneWorld {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    agent.settle(&world, model);
    let command = agent.command(&world, model);
    let text = |text: &std::ffi::OsStr| text.to_str().unwrap().to_owned();
    let environment = command.get_envs().filter_map(|(name, value)| Some((text(name), text(value?))));
    let environment = environment.collect();
    PaneWorld::around(world, environment)
}

fn claude_world(model: &StubModel) -> PaneWorld {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    let (_, environment) = Claude::installed().interactive(&world, model);
    PaneWorld::around(world, environment)
}

/// Opened with a prompt, it works, answers and is done; hooks tell of it, and it ends well.
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
    // Which model is meant is the person's to say.
    if world.keep_model(json["pane"]["pane"].as_str().unwrap()) {
        assert_eq!((opened.code, &json["pane"]["started"]), (1, &"waiting".into()), "{opened}");
    } else {
        assert_eq!(json["pane"]["started"], "prompted", "{opened}\n{}", screen());
    }
    until("a turn", || model.turns().len(), |turns| *turns == 1);
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
    a_prompt_goes_through(&claude_world(&model), "claude", &model);
}

/// Its own channel, so nothing has to be typed.
#[test]
fn an_idle_codex_is_woken_by_a_message() {
    if RealAgent::Codex.is_out_of_reach() {
        return;
    }
    let model = StubModel::start([Step::say("Something."), Step::say("Heard.")]);
    let world = world_of(RealAgent::Codex, &model);
    world.run(&["open", "codex", "--name", "Falcon", "--trust", "--prompt", "please say something"]);
    world.keep_model(world.panes()[0]["pane"].as_str().unwrap());
    let is_idle = || {
        let who: Value = serde_json::from_str(&world.run(&["who", "--json"]).stdout).unwrap();
        who["items"][0]["status"].clone()
    };
    until("a turn", || model.turns().len(), |turns| *turns == 1);
    until("rest", is_idle, |status| status == "idle");
    let sent = world.run(&["send", "Falcon", "-t", "question", "do you call login()?"]);
    assert!(sent.to_string().contains("Falcon was idle and is being woken."), "{sent}");
    until("another turn", || model.turns().len(), |turns| *turns == 2);
    let heard = model.turns()[1].to_string();
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
            a_prompt_goes_through(&world_of(agent, &model), agent.kind(), &model);
        });
        if went.is_err() {
            failed.push(agent.kind());
        }
    }
    assert_eq!(failed, [""; 0]);
}
