//! Tests of the dialogs and ends of the real CLIs in real panes: start-up dialogs, questions, plans,
//! background work and exits, with a scripted model.

use consort_testkit::PaneWorld;
use consort_testkit::RealAgent;
use consort_testkit::Step;
use consort_testkit::StubModel;
use consort_testkit::until;
use serde_json::Value;
use serde_json::json;

use crate::panes_stage::IDLE;
use crate::panes_stage::Stage;
use crate::panes_stage::world_of;

const SIZE: (&str, &str) = ("120", "40");

/// The two sizes at which every dialog is tested.
const SIZES: [(&str, &str); 2] = [("80", "24"), ("200", "50")];

/// Makes the model's step that asks the person a question.
fn question(cli: &str) -> Step {
    let option = |label: &str| json!({ "label": label, "description": "a colour" });
    let (question, options) = ("Which colour?", [option("Red"), option("Blue")]);
    let asked = json!({ "question": question, "header": "Colour", "options": options });
    let (tool, asked) = match cli {
        "claude" => (
            "AskUserQuestion",
            json!({ "question": question, "header": "Colour", "options": options, "multiSelect": false }),
        ),
        "codex" => (
            "request_user_input",
            json!({ "id": "colour", "question": question, "header": "Colour", "options": options }),
        ),
        "gemini" => (
            "ask_user",
            json!({ "question": question, "header": "Colour", "type": "choice", "options": options }),
        ),
        "opencode" => ("question", asked),
        _ => {
            let colour = json!({ "type": "string", "title": "Colour", "enum": ["Red", "Blue"] });
            let schema =
                json!({ "type": "object", "properties": { "colour": colour }, "required": ["colour"] });
            let input = json!({ "message": question, "requestedSchema": schema });
            return Step::Use { tool: "ask_user".into(), input };
        }
    };
    Step::Use { tool: tool.into(), input: json!({ "questions": [asked] }) }
}

/// Checks that a question is answered by its label, and that the model gets the answer.
fn asks(stage: &Stage) {
    for (columns, rows) in SIZES {
        stage.resize(columns, rows);
        asks_once(stage);
    }
    stage.resize(SIZE.0, SIZE.1);
}

fn asks_once(stage: &Stage) {
    stage.say("please ask me", [question(stage.cli), Step::say("Blue it is.")]);
    let reading = stage.is("question", &["question"]);
    let labels: Vec<&str> = reading["options"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let has = |label: &str| labels.iter().any(|one| one.starts_with(label));
    assert!(has("Red") && has("Blue"), "{}: {reading}\n{}", stage.cli, stage.screen());
    let before = stage.model.turn_requests().len();
    let answered = stage.world.run(&["answer", "Falcon", "Blue"]);
    assert_eq!(answered.code, 0, "{}: {answered}\n{}", stage.cli, stage.screen());
    let turns = until("its answer", || stage.model.turn_requests(), |turns| turns.len() > before);
    let heard = turns.last().unwrap().to_string();
    assert!(heard.contains("Blue"), "{}: {heard}", stage.cli);
    stage.is("answered", IDLE);
}

/// Ends the CLI by its own command, and checks that the way to resume it is recognised.
fn ends(stage: &Stage, command: &str) {
    stage.press(&["-l", command]);
    let is_over = |reading: &Value| reading["state"] == "exited";
    let press = || {
        stage.press(&["Enter"]);
        std::thread::sleep(std::time::Duration::from_secs(1));
        stage.reading()
    };
    let reading = until("its end", press, is_over);
    assert!(reading["resume"].is_string(), "{}: {reading}\n{}", stage.cli, stage.screen());
}

#[test]
fn claude() {
    let stage = Stage::open_with("claude", SIZE, &["--permission-mode", "default", "--allowedTools", "Bash"]);
    stage.is("ready", IDLE);
    asks(&stage);
    let input = json!({ "command": "sleep 300", "description": "a step", "run_in_background": true });
    let step = Step::Use { tool: "Bash".into(), input };
    stage.say("please start it", [step, Step::say("Started.")]);
    stage.is("background", &["background"]);
    ends(&stage, "/exit");
}

/// Checks that a plan is refused with a reason, and another approved.
fn plans(stage: &Stage, plan: &[Step], (refused, approved): (&str, &str)) {
    let answer = |(columns, rows): (&str, &str), words: &[&str], heard: &str| {
        stage.resize(columns, rows);
        stage.say("please plan", plan.iter().cloned());
        let reading = stage.is("plan", &["plan"]);
        let listed: Value = serde_json::from_str(&stage.world.run(&["waiting", "--json"]).stdout).unwrap();
        let number = listed["items"][0]["number"].to_string();
        let answered = stage.world.run(&[&["answer", &number], words].concat());
        assert_eq!(answered.code, 0, "{}: {answered}\n{reading}\n{}", stage.cli, stage.screen());
        assert!(!answered.stdout.contains("auto"), "{}: {answered}", stage.cli);
        let has_heard = |turns: &Vec<Value>| turns.iter().any(|turn| turn.to_string().contains(heard));
        until("the answer", || stage.model.turn_requests(), has_heard);
        stage.is("answered", IDLE);
    };
    answer(SIZES[0], &["deny", "too short"], refused);
    answer(SIZES[1], &["allow"], approved);
}

#[test]
fn a_plan_of_claude_is_its_users_to_approve() {
    let stage = Stage::open_with("claude", SIZE, &["--permission-mode", "plan"]);
    stage.is("ready", IDLE);
    let plan = Step::Use { tool: "ExitPlanMode".into(), input: json!({ "plan": "1. Touch it." }) };
    plans(&stage, &[plan, Step::say("Well.")], ("too short", "approved"));
}

#[test]
fn a_plan_of_gemini_is_its_users_to_approve() {
    let model = StubModel::start([]);
    let world = world_of("gemini", &model);
    let file = RealAgent::Gemini.config_dir(&world.world).join("settings.json");
    let mut settings: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    settings["general"]["plan"] = json!({ "directory": "plans" });
    std::fs::write(file, settings.to_string()).unwrap();
    std::fs::create_dir(world.project().join("plans")).unwrap();
    std::fs::write(world.project().join("plans/touch.md"), "1. Touch it.\n").unwrap();
    let stage = Stage::open_in(world, model, "gemini", SIZE, &["--approval-mode", "plan"]);
    stage.is("ready", IDLE);
    let plan = Step::Use { tool: "exit_plan_mode".into(), input: json!({ "plan_filename": "touch.md" }) };
    plans(&stage, &[plan, Step::say("Well.")], ("too short", "pproved"));
}

#[test]
fn a_plan_of_copilot_is_its_users_to_approve() {
    let stage = Stage::open_with("copilot", SIZE, &["--mode", "plan"]);
    stage.is("ready", IDLE);
    let input = json!({ "summary": "1. Touch it.", "recommendedAction": "interactive" });
    let plan = Step::Use { tool: "exit_plan_mode".into(), input };
    plans(&stage, &[plan, Step::say("Well.")], ("too short", "pproved"));
}

#[test]
fn a_plan_of_codex_is_its_users_to_approve() {
    let stage = Stage::open("codex", SIZE);
    stage.is("ready", IDLE);
    stage.press(&["-l", "/plan"]);
    stage.press(&["Enter"]);
    let plan = Step::say("<proposed_plan>\n1. Touch it.\n</proposed_plan>");
    // The reason is sent as a message, which wakes the agent.
    plans(&stage, &[plan, Step::say("Well.")], ("1 new message", "mplement"));
}

#[test]
fn codex() {
    let own = ["-c", "features.default_mode_request_user_input=true"];
    let stage = Stage::open_with("codex", SIZE, &own);
    stage.is("ready", IDLE);
    asks(&stage);
    ends(&stage, "/quit");
}

#[test]
fn gemini() {
    let stage = Stage::open_with("gemini", SIZE, &[]);
    stage.is("ready", IDLE);
    asks(&stage);
    ends(&stage, "/quit");
}

#[test]
fn opencode() {
    let stage = Stage::open_with("opencode", SIZE, &[]);
    stage.is("ready", IDLE);
    asks(&stage);
    ends(&stage, "/exit");
}

#[test]
fn copilot() {
    let stage = Stage::open_with("copilot", SIZE, &[]);
    stage.is("ready", IDLE);
    asks(&stage);
    ends(&stage, "/exit");
}

/// pi asks no questions.
#[test]
fn pi() {
    let stage = Stage::open_with("pi", SIZE, &[]);
    stage.is("ready", IDLE);
    stage.say("please say something", [Step::say("Something.")]);
    stage.is("finished", &["finished", "suggestion"]);
    ends(&stage, "/quit");
}

/// Checks that a CLI's question about trust is shown, and answered only with `--trust`.
fn trust_is_asked(cli: &'static str) {
    let model = StubModel::start([]);
    // Unset, because it makes Gemini trust every folder in the other tests.
    let world = world_of(cli, &model).with("GEMINI_CLI_TRUST_WORKSPACE", "");
    let file = |agent: RealAgent, name: &str| agent.config_dir(&world.world).join(name);
    let project = world.project().canonicalize().unwrap();
    match cli {
        "claude" => {
            let file = world.world.home().join(".claude.json");
            let mut state: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
            state["projects"] = json!({});
            std::fs::write(file, state.to_string()).unwrap();
        }
        "codex" => {
            let file = file(RealAgent::Codex, "config.toml");
            let text = std::fs::read_to_string(&file).unwrap();
            let (kept, _) = text.split_once("[projects.").unwrap();
            std::fs::write(file, kept).unwrap();
        }
        "gemini" => std::fs::write(file(RealAgent::Gemini, "trustedFolders.json"), "{}").unwrap(),
        "pi" => {
            std::fs::write(file(RealAgent::Pi, "trust.json"), "{}").unwrap();
            std::fs::create_dir_all(project.join(".pi/extensions")).unwrap();
            std::fs::write(project.join(".pi/extensions/none.ts"), "export default function () {}\n")
                .unwrap();
        }
        _ => {
            let settings = json!({ "banner": "never" });
            std::fs::write(file(RealAgent::Copilot, "settings.json"), settings.to_string()).unwrap();
        }
    }
    let asked = world.run(&["open", cli, "--name", "Falcon"]);
    let screen = |name: &str| world.run(&["pane", "screen", name]).stdout;
    let rests = || {
        until("rest", || world.panes()[0]["state"].clone(), |state| IDLE.contains(&state.as_str().unwrap()));
    };
    if cli == "gemini" {
        // Gemini draws its composer before it asks, and restarts when it is answered.
        let waiting = || serde_json::from_str(&world.run(&["waiting", "--json"]).stdout).unwrap();
        let asks = |waiting: &Value| waiting["items"][0]["why"] == "dialog";
        let waiting: Value = until("its question", waiting, asks);
        let number = waiting["items"][0]["number"].to_string();
        let answered = world.run(&["answer", &number, "Trust folder"]);
        assert_eq!(answered.code, 0, "{answered}\n{}", screen("Falcon"));
        return rests();
    }
    assert!(
        asked.code == 1 && asked.stdout.contains("waits for you"),
        "{cli}: {asked}\n{}",
        screen("Falcon")
    );
    assert_eq!(world.panes()[0]["state"], "dialog", "{cli}: {}", screen("Falcon"));
    assert_eq!(world.run(&["pane", "close", "Falcon"]).code, 0);
    let trusted = world.run(&["open", cli, "--name", "Raven", "--trust"]);
    let pane = world.panes()[0]["pane"].as_str().unwrap().to_owned();
    // Codex may also ask which model to use.
    let is_ready = trusted.code == 0 || (cli == "codex" && world.decline_newer_model(&pane));
    assert!(is_ready, "{cli}: {trusted}\n{}", screen("Raven"));
    rests();
}

#[test]
fn claude_asks_for_trust() {
    trust_is_asked("claude");
}

#[test]
fn codex_asks_for_trust() {
    trust_is_asked("codex");
}

#[test]
fn gemini_asks_for_trust() {
    trust_is_asked("gemini");
}

#[test]
fn pi_asks_for_trust() {
    trust_is_asked("pi");
}

#[test]
fn copilot_asks_for_trust() {
    trust_is_asked("copilot");
}

/// Checks that another question at a CLI's start is shown with its options, and no key is pressed.
fn is_asked_at_start(cli: &'static str, prepare: impl Fn(&PaneWorld), own: &[&str], asks: &str) {
    is_asked_before(cli, prepare, own, asks, |_| ());
}

/// Checks a question at a CLI's start, then runs `then`.
fn is_asked_before(
    cli: &'static str,
    prepare: impl Fn(&PaneWorld),
    own: &[&str],
    asks: &str,
    then: impl Fn(&PaneWorld),
) {
    let model = StubModel::start([]);
    let world = world_of(cli, &model).with("IS_SANDBOX", "1");
    prepare(&world);
    let asked = world.run(&[&["open", cli, "--name", "Falcon", "--trust", "--"], own].concat());
    let screen = || world.run(&["pane", "screen", "Falcon"]).stdout;
    assert!(asked.code == 1 && asked.stdout.contains("waits for you"), "{cli}: {asked}\n{}", screen());
    assert!(screen().contains(asks), "{cli}: {}", screen());
    assert_eq!(world.panes()[0]["state"], "dialog", "{cli}: {}", screen());
    let waiting: Value = serde_json::from_str(&world.run(&["waiting", "--json"]).stdout).unwrap();
    let item = &waiting["items"][0];
    assert_eq!(item["why"], "dialog", "{cli}: {waiting}");
    let options = item["options"].as_array().unwrap();
    assert!(options.len() > 1, "{cli}: {item}\n{}", screen());
    then(&world);
    // Closed, because Gemini would outlive its terminal.
    assert_eq!(world.run(&["pane", "close", "Falcon"]).code, 0);
}

/// Changes Claude Code's state about its user.
fn with_claude_state(world: &PaneWorld, change: impl Fn(&mut Value)) {
    let file = world.world.home().join(".claude.json");
    let mut state: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    change(&mut state);
    std::fs::write(file, state.to_string()).unwrap();
}

#[test]
fn claude_asks_for_a_theme() {
    let prepare = |world: &PaneWorld| {
        with_claude_state(world, |state| {
            state["hasCompletedOnboarding"] = false.into();
            state["theme"] = Value::Null;
        });
    };
    // The next dialog has notes to read, and waits for Enter.
    let then = |world: &PaneWorld| {
        let pane = world.panes()[0]["pane"].as_str().unwrap().to_owned();
        world.tmux(&["send-keys", "-t", &pane, "Enter"]);
        let screen = || world.run(&["pane", "screen", "Falcon"]).stdout;
        until("the notes", screen, |screen| screen.contains("Press Enter to continue"));
        until("a dialog", || world.panes()[0]["state"].clone(), |state| *state == "dialog");
    };
    is_asked_before("claude", prepare, &[], "text style", then);
}

#[test]
fn claude_asks_about_a_key() {
    let prepare = |world: &PaneWorld| {
        with_claude_state(world, |state| state["customApiKeyResponses"] = Value::Null);
    };
    is_asked_at_start("claude", prepare, &[], "API key");
}

#[test]
fn claude_asks_about_servers_of_the_repository() {
    let prepare = |world: &PaneWorld| {
        let servers = json!({ "mcpServers": { "other": { "command": "true" } } });
        std::fs::write(world.project().join(".mcp.json"), servers.to_string()).unwrap();
    };
    is_asked_at_start("claude", prepare, &[], "MCP server");
}

#[test]
fn claude_asks_before_it_asks_no_more() {
    is_asked_at_start("claude", |_| (), &["--dangerously-skip-permissions"], "Bypass Permissions");
}

#[test]
fn codex_asks_whether_to_update() {
    let prepare = |world: &PaneWorld| {
        let dir = RealAgent::Codex.config_dir(&world.world);
        let config = std::fs::read_to_string(dir.join("config.toml")).unwrap();
        std::fs::write(dir.join("config.toml"), config.replace("check_for_update_on_startup = false\n", ""))
            .unwrap();
        let version = json!({ "latest_version": "99.0.0", "last_checked_at": "2099-01-01T00:00:00Z" });
        std::fs::write(dir.join("version.json"), version.to_string()).unwrap();
    };
    is_asked_at_start("codex", prepare, &[], "Update");
}

#[test]
fn codex_asks_for_a_login() {
    let prepare = |world: &PaneWorld| {
        let file = RealAgent::Codex.config_dir(&world.world).join("config.toml");
        let config = std::fs::read_to_string(&file).unwrap();
        std::fs::write(file, config.replace("model_provider = \"stub\"\n", "")).unwrap();
    };
    is_asked_at_start("codex", prepare, &[], "Sign in");
}

#[test]
fn gemini_asks_for_a_login() {
    let prepare = |world: &PaneWorld| {
        let file = RealAgent::Gemini.config_dir(&world.world).join("settings.json");
        let mut settings: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
        settings["security"] = json!({});
        std::fs::write(file, settings.to_string()).unwrap();
    };
    is_asked_at_start("gemini", prepare, &[], "authenticate");
}
