//! The agent CLIs at a real terminal, with their own defaults: what asks, asks, and
//! is answered by its first offer.

#![expect(clippy::unwrap_used, reason = "a helper that cannot go on should stop the test")]

use std::cell::Cell;
use std::time::Duration;
use std::time::Instant;

use consort_testkit::RealAgent;
use consort_testkit::Sealed;
use consort_testkit::Step;
use consort_testkit::StubModel;
use consort_testkit::Tmux;
use serde_json::Value;

/// What a CLI shows when it asks the person, and what says yes to it.
const QUESTIONS: &[(&str, &str)] = &[
    ("› 2. Trust all", "Enter"),
    ("› 1. Try new model", "Down"),
    ("› 2. Use existing", "Enter"),
    ("Do you trust", "Enter"),
    ("Do you want to", "Enter"),
    ("Would you like to", "Enter"),
    ("Allow execution", "Enter"),
    ("Hooks need review", "Down"),
    ("Press enter to continue", "Enter"),
];

/// A CLI in a terminal.
struct Session<'w> {
    agent: RealAgent,
    world: &'w Sealed,
    model: &'w StubModel,
    tmux: Tmux<'w>,
    answered: Cell<Option<Instant>>,
}

impl<'w> Session<'w> {
    fn start(agent: RealAgent, world: &'w Sealed, model: &'w StubModel, arguments: &[&str]) -> Self {
        let command = agent.command(world, model);
        let environment: Vec<(String, String)> = command
            .get_envs()
            .filter_map(|(name, value)| Some((name.to_str()?.to_owned(), value?.to_str()?.to_owned())))
            .chain([("CONSORT_NAME".to_owned(), "Newcomer".to_owned())])
            .collect();
        let mut line = vec![command.get_program().to_str().unwrap()];
        line.extend(arguments);
        let tmux = Tmux::start(world, &environment, &line);
        let session = Self { agent, world, model, tmux, answered: Cell::new(None) };
        let ready = match agent {
            RealAgent::Codex => "Ask Codex",
            RealAgent::Gemini => "Type your message",
            RealAgent::OpenCode => "Ask anything",
            RealAgent::Pi => "────",
            RealAgent::Copilot => "/ commands",
        };
        session.until("a prompt", || session.tmux.screen().contains(ready));
        std::thread::sleep(Duration::from_millis(1_500));
        session
    }

    /// Waits for something, and says yes to whatever is asked meanwhile.
    fn until(&self, what: &str, is_so: impl Fn() -> bool) {
        let since = Instant::now();
        while !is_so() {
            let screen = self.tmux.screen();
            assert!(
                since.elapsed() < Duration::from_secs(25),
                "{:?}: never came about: {what}\n{screen}",
                self.agent
            );
            let question = QUESTIONS.iter().find(|(text, _)| screen.contains(text));
            if let Some((_, key)) = question
                && self.answered.get().is_none_or(|at| at.elapsed() > Duration::from_millis(900))
            {
                self.tmux.run(&["send-keys", key]);
                self.answered.set(Some(Instant::now()));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn agents(&self) -> Vec<Value> {
        let who: Value = serde_json::from_str(&self.world.run("who --json").stdout).unwrap();
        let all = who["agents"].as_array().unwrap().iter();
        all.filter(|agent| agent["kind"] == self.agent.kind()).cloned().collect()
    }

    fn is(&self, status: &str) -> bool {
        matches!(&self.agents()[..], [agent] if agent["status"] == status)
    }

    fn type_in(&self, text: &str) {
        // Keys that come before it is ready are lost.
        let typed = Cell::new(None::<Instant>);
        self.until(text, || {
            if typed.get().is_none_or(|at| at.elapsed() > Duration::from_secs(3)) {
                self.tmux.run(&["send-keys", "-l", text]);
                typed.set(Some(Instant::now()));
            }
            self.tmux.screen().contains(text)
        });
        std::thread::sleep(Duration::from_millis(700));
        self.tmux.run(&["send-keys", "Enter"]);
    }
}

/// Neither fires a hook that says so; what they write of themselves does.
#[test]
fn an_interrupted_or_failed_turn_is_seen_to_be_over() {
    for agent in [RealAgent::Codex, RealAgent::Copilot] {
        if agent.is_out_of_reach() {
            continue;
        }
        let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
        world.git_init();
        let model = StubModel::start([Step::Stall]);
        agent.settle(&world, &model);
        assert_eq!(world.run(&format!("init --agent {} --yes", agent.kind())).code, 0);
        let session = Session::start(agent, &world, &model, &[]);
        session.type_in("please think");
        session.until("the request", || session.is("working") && !model.turns().is_empty());
        session.tmux.run(&["send-keys", "Escape"]);
        if agent == RealAgent::Copilot {
            std::thread::sleep(Duration::from_millis(150));
            session.tmux.run(&["send-keys", "Escape"]);
        }
        session.until("idleness after an interruption", || session.is("idle"));

        (0..20).for_each(|_| model.then(Step::Refuse));
        session.type_in("once more");
        session.until("the error", || model.turns().len() > 1);
        session.until("idleness after an error", || session.is("idle"));
    }
}
