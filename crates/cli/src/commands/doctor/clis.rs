//! Checks each agent CLI for `consort doctor`: whether it is connected, whether its hooks arrive, and what
//! keeps them from it.

use std::fs;
use std::path::Path;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use consort_agents::AgentCli;
use consort_agents::Insertion;
use consort_agents::InsertionState;
use consort_agents::Level;
use consort_core::text;
use serde_json::Value;

use super::DoctorFinding;
use super::Severity;
use super::edit;
use super::finding;
use crate::connect;
use crate::connect::ConnectionState;
use crate::connect::State;
use crate::connect::TheirFile;
use crate::world::World;

/// Longest time a program may take to print its version. All are asked at once.
const PATIENCE: Duration = Duration::from_secs(2);

pub(super) fn check(world: &World) -> Vec<DoctorFinding> {
    let worktree = world.place().worktree;
    let standings = connect::connection_states(world, &worktree);
    if standings.iter().all(ConnectionState::is_missing) {
        let names: Vec<&str> = standings.iter().map(|standing| standing.title).collect();
        let detail = format!("none is installed: no {}", names.join(", "));
        return vec![finding(
            "agent CLIs",
            Severity::Problem,
            detail,
            Some("install one, then `consort init`"),
        )];
    }
    let versions = versions(&standings);
    let mut app = world.app();
    let (now, heard) = (app.host().now(), app.last_hook_times().unwrap_or_default());
    let since = |kind: &str| heard.get(kind).map(|at| now.since(*at));
    let mut findings = Vec::new();
    for (standing, version) in standings.iter().zip(versions) {
        let Some(cli) = consort_agents::find(standing.kind) else { continue };
        let name = match &version {
            Some(version) => format!("{} {version}", standing.title),
            None => standing.title.to_owned(),
        };
        findings.push(connection(standing, &name, since(standing.kind)));
        if standing.is_missing() {
            continue;
        }
        findings.extend(version.and_then(|version| too_old(cli, &version)));
        if standing.is_connected() {
            findings.extend(silenced(world, cli, &worktree));
            findings.extend(unreviewed(world, cli));
            let is_lacking = lacks_rules(world, cli, standing, &worktree);
            findings.extend(is_lacking.then(|| lacking(standing)));
        }
    }
    findings
}

/// Returns the version of each CLI: of its npm package, or as the program prints it.
fn versions(standings: &[ConnectionState]) -> Vec<Option<String>> {
    thread::scope(|scope| {
        let ask = |standing: &'_ ConnectionState| {
            let program = standing.program.clone()?;
            Some(scope.spawn(move || packaged_version(&program).or_else(|| told_version(&program))))
        };
        let asked: Vec<_> = standings.iter().map(ask).collect();
        asked.into_iter().map(|asked| asked?.join().ok().flatten()).collect()
    })
}

/// Reads the version of the npm package that a program is from: this takes no time, but Node takes a second
/// to start.
fn packaged_version(program: &Path) -> Option<String> {
    let real = fs::canonicalize(program).ok()?;
    let name = program.file_name()?.to_str()?;
    real.ancestors().skip(1).take(3).find_map(|dir| {
        let package: Value = serde_json::from_slice(&fs::read(dir.join("package.json")).ok()?).ok()?;
        let is_it = match &package["bin"] {
            Value::Object(programs) => programs.contains_key(name),
            Value::String(_) => package["name"].as_str()?.rsplit('/').next() == Some(name),
            _ => false,
        };
        package["version"].as_str().filter(|_| is_it).map(str::to_owned)
    })
}

/// Asks a program for its version: the first number that it prints.
fn told_version(program: &Path) -> Option<String> {
    let told = consort_host::ask_version(program, PATIENCE)?;
    let is_version = |word: &&str| word.trim_start_matches('v').starts_with(|c: char| c.is_ascii_digit());
    told.split_whitespace().find(is_version).map(str::to_owned)
}

/// Reports whether a CLI is connected, and how long ago a hook of it was heard.
fn connection(standing: &ConnectionState, name: &str, heard: Option<i64>) -> DoctorFinding {
    let sentence = standing.sentence();
    let both = standing.user != State::Absent && standing.project != State::Absent;
    if let Some(file) = standing.file_to_mend() {
        finding(name, Severity::Problem, sentence, Some(&edit(file)))
    } else if both {
        let detail = "connected for you and in this project: every hook runs twice";
        finding(name, Severity::Warning, detail, Some("consort uninit --project"))
    } else if standing.is_connected() {
        // A CLI that is not on PATH runs all the same if it was heard: in an editor, or by its own path.
        let (level, last) = match (heard, &standing.program) {
            (Some(since), _) => (Severity::Ok, format!("last hook {}", text::ago(since))),
            (None, Some(_)) => (Severity::Ok, "no hook heard so far".to_owned()),
            (None, None) => (Severity::Absent, "not on PATH, and no hook heard so far".to_owned()),
        };
        finding(name, level, format!("{sentence}; {last}{}", limits(standing.kind)), None)
    } else if standing.user == State::Outdated || standing.project == State::Outdated {
        let flag = if standing.project == State::Outdated { " --project" } else { "" };
        finding(name, Severity::Problem, sentence, Some(&format!("consort init{flag}")))
    } else if standing.program.is_some() {
        finding(name, Severity::Warning, sentence, Some("consort init"))
    } else {
        finding(name, Severity::Absent, sentence, None)
    }
}

/// Lists what sessions of a CLI cannot do, so that nobody waits for it.
fn limits(kind: &str) -> String {
    let lacks = consort_agents::find(kind).map_or(&[][..], |cli| cli.missing_abilities());
    match lacks {
        [] => String::new(),
        lacks => {
            let names: Vec<&str> = lacks.iter().map(|ability| ability.missing()).collect();
            format!("; cannot {}", names.join(", "))
        }
    }
}

/// Warns of a version older than the one that we were tried with.
fn too_old(cli: &dyn AgentCli, version: &str) -> Option<DoctorFinding> {
    let numbers = |version: &str| -> Vec<u64> {
        let parts = version.trim_start_matches('v').split(|c: char| !c.is_ascii_digit());
        parts.take(3).map_while(|part| part.parse().ok()).collect()
    };
    let oldest = cli.tried_with();
    (numbers(version) < numbers(oldest)).then(|| {
        let detail = format!("{version} is older than {oldest}, which this was tried with");
        finding(cli.title(), Severity::Warning, detail, Some(&format!("update {}", cli.program())))
    })
}

/// Finds settings of any tier that keep a CLI's hooks from running. A switch in the file with our hooks is
/// reported by `connection`.
fn silenced(world: &World, cli: &dyn AgentCli, worktree: &Path) -> Vec<DoctorFinding> {
    let switches = cli.hook_switches(&world.config_dir(cli), worktree);
    let mut seen: Vec<PathBuf> = Vec::new();
    let mut findings = Vec::new();
    for switch in switches {
        let Ok(file) = fs::canonicalize(&switch.file) else { continue };
        let text = consort_files::read_regular_file(&file, 16 << 20).unwrap_or_default();
        if seen.contains(&file) {
            continue;
        }
        if let Some(key) = (switch.found)(&String::from_utf8_lossy(&text)) {
            let detail = format!("runs no hooks: {} sets `{key}`", file.display());
            findings.push(finding(cli.title(), Severity::Problem, detail, Some(&edit(&file))));
        }
        seen.push(file);
    }
    findings
}

/// Reports hooks that a CLI does not run before the person has agreed to them.
fn unreviewed(world: &World, cli: &dyn AgentCli) -> Option<DoctorFinding> {
    let config_dir = world.config_dir(cli);
    let level = Level::User(&config_dir);
    if !connect::is_there(&cli.hooks(level), level) {
        return None;
    }
    let read = |file: &Path| TheirFile::at(level, file).read().ok().flatten();
    let count = cli.unreviewed(level, &read).filter(|count| *count > 0)?;
    let detail = format!("{} not reviewed by you: it does not run them", text::counted_noun(count, "hook"));
    Some(finding(
        cli.title(),
        Severity::Problem,
        detail,
        Some(&format!("start `{}`, and agree", cli.program())),
    ))
}

/// Tells whether agents of a connected CLI have to ask before they use us.
pub(super) fn lacks_rules(
    world: &World,
    cli: &dyn AgentCli,
    standing: &ConnectionState,
    worktree: &Path,
) -> bool {
    let config_dir = world.config_dir(cli);
    let level = match standing.user {
        State::Absent => Level::Project(worktree),
        _ => Level::User(&config_dir),
    };
    let is_lacking = |insertion: &Insertion| {
        let text = TheirFile::at(level, &insertion.file).read().ok().flatten().unwrap_or_default();
        let found = insertion.format.insertion_state(&text, &connect::hook_program(level));
        text.trim().is_empty() || matches!(found, Ok(InsertionState::Absent | InsertionState::Outdated))
    };
    cli.allow(level).iter().any(is_lacking)
}

fn lacking(standing: &ConnectionState) -> DoctorFinding {
    let detail = "its agents have to ask before they use `consort`: allow rules are missing";
    let flag = if standing.user == State::Absent { " --project" } else { "" };
    finding(standing.title, Severity::Warning, detail, Some(&format!("consort init{flag}")))
}
