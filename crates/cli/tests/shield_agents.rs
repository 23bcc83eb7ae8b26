//! Tests of the shield in real agent CLIs: the person's rules about what is allowed, denied and
//! asked for have the same effect, and output and exit codes stay the same.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use consort_testkit::Claude;
use consort_testkit::Ran;
use consort_testkit::RealAgent;
use consort_testkit::Sealed;
use consort_testkit::Step;
use consort_testkit::StubModel;
use consort_testkit::Tmux;
use consort_testkit::until;
use serde_json::Value;
use serde_json::json;

/// An MCP server that logs its arguments.
const SERVER: &str = r#"
import sys, json
open(sys.argv[1], 'a').write(json.dumps(sys.argv[2:]) + '\n')
for line in sys.stdin:
    call = json.loads(line)
    if call.get('method') == 'initialize':
        result = {'protocolVersion': call['params']['protocolVersion'], 'capabilities': {'tools': {}},
                  'serverInfo': {'name': 'odd', 'version': '1'}}
    elif call.get('method') == 'tools/list':
        result = {'tools': [{'name': 'write', 'inputSchema': {'type': 'object'}}]}
    elif call.get('method') == 'tools/call':
        open('src/auth/login.rs', 'a').write('by the server\n')
        result = {'content': [{'type': 'text', 'text': 'written'}]}
    elif 'id' in call:
        result = {}
    else:
        continue
    print(json.dumps({'jsonrpc': '2.0', 'id': call['id'], 'result': result}), flush=True)
"#;

struct Story {
    world: Sealed,
    claude: Claude,
    /// A copy of the program under test, which can be removed.
    program: PathBuf,
}

/// Makes a world in which Falcon has reserved `src/auth/`, and Claude Code has `settings` and is connected.
fn story(settings: &Value) -> Story {
    let temp = tempfile::tempdir().unwrap().keep();
    let program = temp.join("consort");
    fs::copy(env!("CARGO_BIN_EXE_consort"), &program).unwrap();
    let world = Sealed::new(program.to_str().unwrap());
    world.git_init();
    for file in ["src/auth/login.rs", "src/cart.rs"] {
        fs::create_dir_all(world.project().join(file).parent().unwrap()).unwrap();
        fs::write(world.project().join(file), "before\n").unwrap();
    }
    let gen_py = "import sys\nfor f in sys.argv[1:]: open(f, 'a').write('by a program\\n')\nprint('wrote', len(sys.argv) - 1)\n";
    fs::write(world.project().join("gen.py"), gen_py).unwrap();
    fs::write(world.project().join("touch.py"), "open('src/auth/login.rs', 'a').write('x\\n')\n").unwrap();
    fs::write(world.project().join("server.py"), SERVER).unwrap();
    fs::create_dir_all(world.home().join(".claude")).unwrap();
    fs::write(settings_of(&world), serde_json::to_string_pretty(settings).unwrap()).unwrap();
    let ran = world.run("init --agent claude --shield --yes");
    assert_eq!(ran.code, 0, "{ran}");
    assert_eq!(world.run("agent join --pid $OTHER --kind claude --session s1 --name Falcon").code, 0);
    assert_eq!(world.run_as(Some("s1"), &["reserve", "src/auth/"]).code, 0);
    Story { world, claude: Claude::installed(), program }
}

fn settings_of(world: &Sealed) -> PathBuf {
    world.home().join(".claude/settings.json")
}

impl Drop for Story {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.program);
        let _ = self.program.parent().map(fs::remove_dir);
    }
}

impl Story {
    /// Runs a session in this mode, with these arguments; returns the results of its commands.
    fn results(&self, mode: &str, arguments: &[&str], steps: &[Step]) -> Vec<Value> {
        let model = StubModel::start(steps.iter().cloned().chain([Step::say("Done.")]));
        let ran = self.world.ran(self.session(&model, mode).args(arguments));
        assert_eq!(ran.code, 0, "{ran}");
        results(&model, steps.len(), &ran)
    }

    fn session(&self, model: &StubModel, mode: &str) -> Command {
        let whole = self.claude.headless_command(&self.world, model, "please");
        let mut session = self.world.command(whole.get_program());
        // A headless command without the arguments that allow everything.
        session.envs(whole.get_envs().filter_map(|(name, value)| Some((name, value?))));
        session.env("SHELL", "/bin/bash").env("IS_SANDBOX", "1");
        session.args(["-p", "please", "--permission-mode", mode]).stdin(std::process::Stdio::null());
        session
    }

    fn held(&self) -> String {
        fs::read_to_string(self.world.project().join("src/auth/login.rs")).unwrap()
    }
}

fn results(model: &StubModel, steps: usize, ran: &Ran) -> Vec<Value> {
    let turns = model.turn_requests();
    let all = turns.last().unwrap()["messages"].as_array().unwrap();
    let blocks = all.iter().filter_map(|message| message["content"].as_array()).flatten();
    let found: Vec<Value> = blocks.filter(|block| block["type"] == "tool_result").cloned().collect();
    assert_eq!(found.len(), steps, "{found:#?} {ran}");
    found
}

fn text(result: &Value) -> String {
    match &result["content"] {
        Value::String(text) => text.clone(),
        blocks => blocks[0]["text"].as_str().unwrap_or_default().to_owned(),
    }
}

/// Returns the whole conversation that the model was sent last.
fn told(model: &StubModel) -> String {
    model.turn_requests().last().unwrap()["messages"].to_string()
}

impl Story {
    /// Removes the shield, and leaves Claude Code connected otherwise.
    fn without_shield(self) -> Self {
        fs::remove_file(self.world.home().join(".claude/consort-shell")).unwrap();
        let mut settings: Value =
            serde_json::from_str(&fs::read_to_string(settings_of(&self.world)).unwrap()).unwrap();
        settings.as_object_mut().unwrap().remove("env").unwrap();
        fs::write(settings_of(&self.world), settings.to_string()).unwrap();
        self
    }

    /// Tells whether a session in a terminal asks its user before it runs a command.
    fn asks(&self, mode: &str, command: &str) -> bool {
        let model = StubModel::start([Step::bash(command), Step::say("All is done.")]);
        let (program, environment) = self.claude.interactive(&self.world, &model);
        let tmux = Tmux::start(&self.world, &environment, &[&program, "--permission-mode", mode]);
        tmux.wait_for_text(" on");
        tmux.run(&["send-keys", "-l", "please go on"]);
        tmux.wait_for_text("please go on");
        std::thread::sleep(Duration::from_millis(700));
        tmux.run(&["send-keys", "Enter"]);
        let is_over = |screen: &String| screen.contains("All is done.") || screen.contains("Do you want to");
        !until("an end, or a question", || tmux.screen(), is_over).contains("All is done.")
    }
}

/// In a terminal, the person is asked about the same commands with and without the shield.
#[test]
fn the_same_is_asked_for_in_a_terminal() {
    let rules = json!({ "permissions": {
        "allow": ["Bash(python3 gen.py:*)"],
        "ask": ["Bash(python3 gen.py asked:*)"],
    } });
    let (with, without) = (story(&rules), story(&rules).without_shield());
    for mode in ["default", "acceptEdits"] {
        for (command, asks) in
            [("python3 gen.py", false), ("python3 gen.py asked", true), ("python3 touch.py", true)]
        {
            let asked = (with.asks(mode, command), without.asks(mode, command));
            assert_eq!(asked, (asks, asks), "{mode}: {command}");
        }
    }
}

/// In every mode, with rules of each kind, the same commands run, are refused and are
/// asked for as without the shield, and give the same output.
#[test]
fn rules_and_modes_are_as_they_were() {
    let rules = json!({ "permissions": {
        "allow": ["Bash(python3 gen.py:*)"],
        "deny": ["Bash(python3 gen.py denied:*)"],
        "ask": ["Bash(python3 gen.py asked:*)"],
    } });
    let steps = [
        Step::bash("python3 gen.py"),
        Step::bash("python3 gen.py denied"),
        Step::bash("python3 gen.py asked"),
        Step::bash("ls src"),
        Step::bash("mkdir made"),
        Step::bash("rmdir made; echo out; echo err >&2; exit 3"),
        Step::bash("cd src"),
        Step::bash("pwd"),
    ];
    let (with, without) = (story(&rules), story(&rules).without_shield());
    for mode in ["default", "acceptEdits", "auto", "bypassPermissions"] {
        let run = |story: &Story| {
            let model = StubModel::start(steps.iter().cloned().chain([Step::say("Done.")]));
            let ran = story.world.ran(&mut story.session(&model, mode));
            // Auto mode cannot run its check here, so it refuses commands, and the session fails.
            assert_eq!(ran.code, i32::from(mode == "auto"), "{ran}");
            let results = results(&model, steps.len(), &ran);
            let world = story.world.path().canonicalize().unwrap();
            let shown = |result: &Value| {
                format!("{} {}", result["is_error"], text(result))
                    .replace(&*world.to_string_lossy(), "$WORLD")
            };
            results.iter().map(shown).collect::<Vec<_>>()
        };
        let (shielded, plain) = (run(&with), run(&without));
        assert_eq!(shielded, plain, "{mode}");
        assert!(plain[0].contains("wrote 0"), "{mode}: {plain:#?}");
        assert!(!plain[1].contains("wrote") && !plain[2].contains("wrote"), "{mode}: {plain:#?}");
        if mode == "bypassPermissions" {
            assert!(plain[5].contains("Exit code 3") && plain[7].contains("/shop/src"), "{plain:#?}");
        }
    }
}

#[test]
fn a_program_cannot_write_what_another_has_reserved_and_its_agent_reads_why() {
    let story = story(&json!({}));
    let model = StubModel::start([
        Step::bash("python3 gen.py src/cart.rs"),
        Step::bash("python3 touch.py"),
        Step::bash("echo all is well"),
        Step::say("Done."),
    ]);
    let ran = story.world.ran(&mut story.session(&model, "bypassPermissions"));
    assert_eq!(ran.code, 0, "{ran}");
    let results = results(&model, 3, &ran);
    assert!(text(&results[0]).contains("wrote 1"), "{results:#?}");
    assert!(text(&results[1]).contains("Read-only file system: 'src/auth/login.rs'"), "{results:#?}");
    let told = told(&model);
    assert_eq!(told.matches("with what others have reserved read-only").count(), 1, "{told}");
    assert!(told.contains("src/auth/ (reserved by Falcon"), "{told}");
    assert_eq!(story.held(), "before\n");
    let explained = story.world.run("explain -- python3 touch.py").stdout;
    assert!(explained.starts_with("Shielded: "), "{explained}");
    let doctor = story.world.run("doctor").stdout;
    assert!(doctor.contains("shield: on for Claude Code"), "{doctor}");
}

/// Hooks and MCP servers are started through the same prefix program, and are not behind the shield.
#[test]
fn hooks_and_servers_are_run_as_they_are() {
    let format = "cat > /dev/null; printf '%s|' 'a b' \"it's $((1+1))\" >> hook.log; echo 'by a hook' >> src/auth/login.rs";
    let story = story(
        &json!({ "hooks": { "PostToolUse": [{ "hooks": [{ "type": "command", "command": format }] }] } }),
    );
    let log = story.world.path().join("server.log");
    let odd = json!(["a b", "it's", "$HOME", "*", "", "\"q\"", "é"]);
    let mut arguments = vec![json!("server.py"), json!(log)];
    arguments.extend(odd.as_array().cloned().unwrap());
    let servers = json!({ "mcpServers": { "odd": { "command": "python3", "args": arguments } } }).to_string();
    let steps = [Step::bash("echo hi"), Step::Use { tool: "mcp__odd__write".into(), input: json!({}) }];
    let results = story.results("bypassPermissions", &[&format!("--mcp-config={servers}")], &steps);
    assert!(text(&results[1]).contains("written"), "{results:#?}");
    assert_eq!(
        fs::read_to_string(&log).unwrap(),
        format!("{}\n", odd.to_string().replace('é', "\\u00e9").replace(',', ", "))
    );
    assert!(fs::read_to_string(story.world.project().join("hook.log")).unwrap().starts_with("a b|it's 2|"));
    assert!(story.held().contains("by a hook") && story.held().contains("by the server"), "{}", story.held());
}

#[test]
fn everything_runs_without_our_program() {
    let hook = "cat > /dev/null; echo ran >> hook.log";
    let story = story(
        &json!({ "hooks": { "PostToolUse": [{ "hooks": [{ "type": "command", "command": hook }] }] } }),
    );
    fs::remove_file(&story.program).unwrap();
    let log = story.world.path().join("server.log");
    let servers =
        json!({ "mcpServers": { "odd": { "command": "python3", "args": ["server.py", log] } } }).to_string();
    let steps = [
        Step::bash("python3 gen.py src/cart.rs"),
        Step::bash("exit 3"),
        Step::Use { tool: "mcp__odd__write".into(), input: json!({}) },
    ];
    let results = story.results("bypassPermissions", &[&format!("--mcp-config={servers}")], &steps);
    assert!(text(&results[0]).contains("wrote 1"), "{results:#?}");
    assert!(text(&results[1]).contains("Exit code 3"), "{results:#?}");
    assert!(text(&results[2]).contains("written"), "{results:#?}");
    assert!(story.world.project().join("hook.log").exists());
    fs::copy(env!("CARGO_BIN_EXE_consort"), &story.program).unwrap();
}

/// A shell prefix of the person's still runs, behind ours, and is restored by `uninit`.
#[test]
fn a_prefix_of_the_persons_is_kept() {
    for flag in ["", " -c 'a b'"] {
        let temp = tempfile::tempdir().unwrap();
        let (logger, log) = (temp.path().join("log ger"), temp.path().join("log"));
        let script =
            "#!/bin/sh\nprintf '%s|' \"$@\" >> '$LOG'\nfor last; do :; done\nexec bash -c \"$last\"\n";
        fs::write(&logger, script.replace("$LOG", &log.to_string_lossy())).unwrap();
        fs::set_permissions(&logger, fs::Permissions::from_mode(0o755)).unwrap();
        // No MCP server here: Claude Code would start it by the whole prefix.
        let prefix = format!("{}{flag}", logger.display());
        let settings = json!({ "env": { "CLAUDE_CODE_SHELL_PREFIX": prefix, "A": "b" } });
        let before = serde_json::to_string_pretty(&settings).unwrap();
        let story = story(&settings);
        let steps = [Step::bash("python3 gen.py src/cart.rs"), Step::bash("python3 touch.py")];
        let results = story.results("bypassPermissions", &[], &steps);
        assert!(text(&results[0]).contains("wrote 1"), "{results:#?}");
        assert!(text(&results[1]).contains("Read-only file system"), "{results:#?}");
        let logged = fs::read_to_string(&log).unwrap();
        assert_eq!(logged.contains("-c|a b|"), !flag.is_empty(), "{logged}");
        assert!(logged.contains("eval 'python3 touch.py'"), "{logged}");
        // Falcon's session still runs, so the program that running sessions call stays.
        let ran = story.world.run("uninit --agent claude");
        assert!(ran.code == 0 && ran.stderr.contains("consort-shell stays for now"), "{ran}");
        assert_eq!(fs::read_to_string(settings_of(&story.world)).unwrap(), before);
        assert_eq!(story.world.run_as(Some("s1"), &["agent", "leave"]).code, 0);
        assert_eq!(story.world.run("uninit --agent claude").code, 0);
        assert!(!story.world.home().join(".claude/consort-shell").exists());
    }
}

/// A session under `consort with` is shielded without a change of settings.
#[test]
fn a_run_that_we_start_is_shielded_too() {
    let story = story(&json!({}));
    assert_eq!(story.world.run_as(Some("s1"), &["release"]).code, 0);
    assert_eq!(story.world.run_as(Some("s1"), &["agent", "leave"]).code, 0);
    assert_eq!(story.world.run("uninit --agent claude").code, 0);
    assert!(!fs::read_to_string(settings_of(&story.world)).unwrap().contains("PREFIX"));
    assert_eq!(story.world.run("agent join --pid $OTHER --kind claude --session s1 --name Falcon").code, 0);
    assert_eq!(story.world.run_as(Some("s1"), &["reserve", "src/auth/"]).code, 0);
    let model = StubModel::start([Step::bash("python3 touch.py"), Step::say("Done.")]);
    let alone = story.session(&model, "bypassPermissions");
    let ran = story.world.ran(&mut consort_testkit::with(&story.world, "claude", &alone));
    assert_eq!(ran.code, 0, "{ran}");
    let results = results(&model, 1, &ran);
    assert!(text(&results[0]).contains("Read-only file system"), "{results:#?}");
    assert_eq!(story.held(), "before\n");
}

/// OpenCode runs its commands by the program that `SHELL` names; under `consort with`, that
/// is one of ours.
#[test]
fn opencode_is_shielded_when_we_start_it() {
    let agent = RealAgent::OpenCode;
    if agent.is_out_of_reach() {
        return;
    }
    let story = story(&json!({}));
    let model = StubModel::start([
        agent.shell_step("python3 touch.py"),
        agent.shell_step("echo \"$SHELL $0\"; exit 3"),
        Step::say("Done."),
    ]);
    agent.settle(&story.world, &model);
    let mut alone = agent.headless_command(&story.world, &model, "please");
    alone.env("SHELL", "/bin/bash");
    let ran = story.world.ran(&mut consort_testkit::with(&story.world, "opencode", &alone));
    assert_eq!(ran.code, 0, "{ran}");
    let told = told(&model);
    assert!(told.contains("Read-only file system: 'src/auth/login.rs'"), "{told}");
    assert!(told.contains("src/auth/ (reserved by Falcon"), "{told}");
    assert!(told.contains("/bin/bash /bin/bash"), "{told}");
    assert_eq!(story.held(), "before\n");
}

/// pi has no permission rules that a rewritten command could bypass; still the setting is needed.
#[test]
fn pi_is_shielded_where_commands_may_be_rewritten() {
    let agent = RealAgent::Pi;
    if agent.is_out_of_reach() {
        return;
    }
    let story = story(&json!({}));
    let run = |steps: &[&str]| {
        let steps = steps.iter().map(|command| agent.shell_step(command)).chain([Step::say("Done.")]);
        let model = StubModel::start(steps.collect::<Vec<_>>());
        agent.settle(&story.world, &model);
        assert_eq!(story.world.run("init --agent pi --yes").code, 0);
        let ran = story.world.ran(&mut agent.headless_command(&story.world, &model, "please"));
        assert_eq!(ran.code, 0, "{ran}");
        told(&model)
    };
    let ran = story.world.run("config set claims.shield rewrite");
    assert!(ran.code == 0 && ran.stderr.contains("Warning: "), "{ran}");
    let told = run(&["python3 touch.py", "python3 gen.py src/cart.rs; echo \"it's\"; exit 3"]);
    assert!(told.contains("Read-only file system: 'src/auth/login.rs'"), "{told}");
    assert!(told.contains("src/auth/ (reserved by Falcon"), "{told}");
    assert!(told.contains("wrote 1\\nit's") && told.contains("exited with code 3"), "{told}");
    assert_eq!(story.held(), "before\n");
    // Without the setting `rewrite`, no command is rewritten.
    assert_eq!(story.world.run("config set claims.shield auto").code, 0);
    run(&["python3 touch.py"]);
    assert_eq!(story.held(), "before\nx\n");
}
