//! Tests the command lines for the real CLIs without a terminal, and their readers with recorded output. In
//! the recordings in `output/`, a line that begins with `!` is from standard error, and the last line says
//! how the process ended.

use std::fmt::Write as _;
use std::path::Path;
use std::path::PathBuf;

use consort_agents::ALL;
use consort_agents::AgentCli;
use consort_agents::Headless;
use consort_agents::flags::Flags;
use consort_agents::flags::unknown_option;
use consort_core::Timestamp;
use consort_core::dispatch::Cost;
use consort_core::dispatch::Safety;
use consort_core::dispatch::WorkerEvent;
use consort_core::dispatch::WorkerExit;
use expect_test::expect_file;

/// 2026-11-17, 11:00 in UTC.
const NOW: Timestamp = Timestamp(1_794_913_200_000);

fn dir() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/output")
}

/// Returns the events that a CLI's reader finds in a recording.
fn read(cli: &dyn AgentCli, recording: &str) -> Vec<WorkerEvent> {
    let mut reader = cli.reader();
    let (mut told, mut exit) = (Vec::new(), WorkerExit::default());
    for line in recording.lines() {
        if let Some(line) = line.strip_prefix("! ") {
            exit.stderr += &format!("{line}\n");
            told.extend(reader.error_line(line, NOW));
        } else if let Some(code) = line.strip_prefix("= ") {
            exit.code = code.parse().ok();
            exit.signal = exit.code.is_none().then_some(9);
        } else {
            told.extend(reader.line(line, NOW));
        }
    }
    told.extend(reader.end(&exit, NOW, Path::new("/nowhere"), &|_| None));
    told
}

#[test]
fn every_reader_reads_what_its_cli_prints() {
    let mut shown = String::new();
    let mut recordings: Vec<PathBuf> =
        std::fs::read_dir(dir()).unwrap().map(|entry| entry.unwrap().path()).collect();
    recordings.sort();
    for recording in recordings {
        let name = recording.file_stem().unwrap().to_str().unwrap();
        let Some(cli) = ALL.iter().find(|cli| name.starts_with(&format!("{}-", cli.kind()))) else {
            continue;
        };
        writeln!(shown, "{name}").unwrap();
        for event in read(*cli, &std::fs::read_to_string(&recording).unwrap()) {
            writeln!(shown, "  {}", serde_json::to_string(&event).unwrap()).unwrap();
        }
    }
    expect_file![dir().join("read.txt")].assert_eq(&shown);
}

#[test]
fn a_reader_survives_whatever_is_printed() {
    for recording in std::fs::read_dir(dir()).unwrap() {
        let text = std::fs::read_to_string(recording.unwrap().path()).unwrap();
        for cli in ALL {
            // Output of another CLI, halves of lines, and lines with unexpected values.
            read(*cli, &text);
            let halves: String = text
                .lines()
                .map(|line| format!("{}\n", &line[..line.floor_char_boundary(line.len() / 2)]))
                .collect();
            read(*cli, &halves);
            for other in ["7", "null", "[]", "{}"] {
                let changed: String = text
                    .lines()
                    .map(|line| {
                        format!(
                            "{}\n",
                            line.replace("\"type\"", &format!("\"x\":{other},\"type\""))
                                .replace(":{", &format!(":{other},\"y\":{{"))
                        )
                    })
                    .collect();
                read(*cli, &changed);
            }
        }
    }
}

#[test]
fn a_killed_worker_has_not_failed_by_its_own_word() {
    let told = read(&consort_agents::claude::Claude, "{\"type\":\"system\"}\n= signal\n");
    assert_eq!(told, []);
}

#[test]
fn every_cli_is_told_what_it_may_do() {
    let mut shown = String::new();
    let environment =
        |name: &str| (name == "OPENCODE_CONFIG_CONTENT").then(|| r#"{"plugin":["theirs"]}"#.to_owned());
    for cli in ALL {
        for safety in Safety::ALL {
            let asked = safety != Safety::AutoEdit;
            let command = cli.headless(&Headless {
                prompt: "-do it",
                system: asked.then_some("You review."),
                model: asked.then_some("some-model"),
                reasoning: asked.then_some("off"),
                safety,
                is_root: false,
                max_turns: asked.then_some(7),
                budget: asked.then_some(Cost::from_dollars(0.25)),
                resume: (safety == Safety::FullAuto).then_some("the-session"),
                dir: Path::new("/run"),
                knows: &|flag| flag != "--skip-trust",
                environment: &environment,
            });
            writeln!(shown, "{} {}\n  {}", cli.kind(), safety.as_str(), command.arguments.join(" ")).unwrap();
            for (name, value) in &command.variables {
                writeln!(shown, "  {name}={value}").unwrap();
            }
            for (path, text) in &command.files {
                writeln!(shown, "  {}: {}", path.display(), text.replace('\n', "\\n")).unwrap();
            }
            writeln!(shown, "  < {:?}", command.stdin.unwrap()).unwrap();
            if !command.ignored.is_empty() {
                writeln!(shown, "  ignored: {}", command.ignored.join(", ")).unwrap();
            }
            assert!(command.session.is_none_or(|session| session.len() == 36));
        }
    }
    expect_file![dir().join("commands.txt")].assert_eq(&shown);
}

/// As root, Claude Code would otherwise end at once.
#[test]
fn as_root_claude_code_is_told_its_tools_instead_of_all() {
    let arguments = |is_root, sandbox: Option<&str>| {
        let command = consort_agents::claude::Claude.headless(&Headless {
            prompt: "do it",
            system: None,
            model: None,
            reasoning: None,
            safety: Safety::FullAuto,
            is_root,
            max_turns: None,
            budget: None,
            resume: None,
            dir: Path::new("/run"),
            knows: &|_| false,
            environment: &|name| sandbox.filter(|_| name == "IS_SANDBOX").map(str::to_owned),
        });
        command.arguments.join(" ")
    };
    assert!(arguments(false, None).contains("bypassPermissions"));
    assert!(arguments(true, Some("1")).contains("bypassPermissions"));
    let as_root = arguments(true, None);
    assert!(as_root.contains("acceptEdits --allowedTools Bash,") && !as_root.contains("bypass"), "{as_root}");
}

#[test]
fn what_is_asked_of_an_old_cli_is_left_out() {
    for cli in ALL {
        let command = cli.headless(&Headless {
            prompt: "do it",
            system: Some("You review."),
            model: None,
            reasoning: Some("high"),
            safety: Safety::AutoEdit,
            is_root: false,
            max_turns: Some(7),
            budget: Some(Cost(1)),
            resume: None,
            dir: Path::new("/run"),
            knows: &|_| false,
            environment: &|_| None,
        });
        let newer =
            ["--effort", "--max-turns", "--max-budget-usd", "--variant", "--print-logs", "--session-id"];
        let has = |flag: &&str| command.arguments.iter().any(|word| word.starts_with(*flag));
        assert!(!newer.iter().any(has), "{}: {:?}", cli.kind(), command.arguments);
        // Turns are counted by the run's supervisor.
        assert!(!command.ignored.contains(&"max turns") && command.ignored.contains(&"budget"));
    }
}

#[test]
fn each_needs_its_own_variables() {
    let needs =
        |kind: &str, name: &str| consort_agents::needs_variable(consort_agents::find(kind).unwrap(), name);
    assert!(needs("claude", "ANTHROPIC_BASE_URL") && needs("claude", "CLAUDE_CONFIG_DIR"));
    assert!(!needs("claude", "CLAUDE_CODE_SESSION_ID") && !needs("claude", "OPENAI_API_KEY"));
    assert!(needs("codex", "CODEX_HOME") && !needs("codex", "CODEX_THREAD_ID"));
    assert!(needs("pi", "OPENROUTER_API_KEY") && needs("opencode", "ANTHROPIC_API_KEY"));
    assert!(needs("copilot", "GH_TOKEN") && !needs("gemini", "GH_TOKEN"));
    for cli in ALL {
        assert!(!needs(cli.kind(), "AWS_SECRET_ACCESS_KEY") && !needs(cli.kind(), "PATH"), "{}", cli.kind());
    }
}

#[test]
fn a_refused_option_is_known_no_more() {
    let recording = std::fs::read_to_string(dir().join("codex-argument.txt")).unwrap();
    let told = read(&consort_agents::codex::Codex, &recording);
    let Some(WorkerEvent::Failed(failure)) = told.last() else { panic!("{told:?}") };
    let mut flags = Flags::from_help(&consort_agents::codex::Codex, "      --full-auto\n      --json\n");
    flags.forget(&unknown_option(&failure.message).unwrap());
    assert!(!flags.knows("--full-auto") && flags.knows("--json"));
}
