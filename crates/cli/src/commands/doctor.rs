//! The command `consort doctor`: checks that everything is connected and sound.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use consort_core::Timestamp;
use consort_core::text;
use serde::Serialize;

use crate::config;
use crate::connect;
use crate::connect::State;
use crate::error::CommandError;
use crate::exit;
use crate::exit::ExitCode;
use crate::time;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Finding {
    check: String,
    level: Severity,
    detail: String,
    /// The command that mends it.
    #[serde(skip_serializing_if = "Option::is_none")]
    mend: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Severity {
    Ok,
    Warning,
    Problem,
}

/// How many entries are replayed for a check-up.
const REPLAYED: i64 = 20_000;

pub(crate) fn run(world: &World, args: &Args) -> Result<ExitCode, CommandError> {
    let mut findings = vec![program()];
    findings.extend(store(world));
    findings.extend(agents(world));
    findings.extend(settings(world));
    findings.extend(shield(world));
    findings.push(hook_log(world));

    if args.json {
        world.out.json(&findings)?;
    } else {
        let style = world.out.style;
        let mut text = String::new();
        for finding in &findings {
            let mark = match finding.level {
                Severity::Ok => style.paint("32", "ok      "),
                Severity::Warning => style.paint("33", "warning "),
                Severity::Problem => style.paint("31", "problem "),
            };
            text.push_str(&format!("{mark} {}: {}\n", finding.check, finding.detail));
            if let Some(mend) = &finding.mend {
                text.push_str(&format!("         mend: {mend}\n"));
            }
        }
        world.out.text(text)?;
    }
    let problem = findings.iter().any(|finding| finding.level == Severity::Problem);
    Ok(ExitCode::from(if problem { exit::FOUND_SOMETHING } else { 0 }))
}

fn finding(check: &str, level: Severity, detail: impl Into<String>, mend: Option<&str>) -> Finding {
    Finding { check: check.into(), level, detail: detail.into(), mend: mend.map(str::to_owned) }
}

fn program() -> Finding {
    let version = concat!("consort ", env!("CARGO_PKG_VERSION"));
    let this = std::env::current_exe().and_then(fs::canonicalize).ok();
    let on_path = connect::find_program("consort");
    match on_path.as_ref().and_then(|path| fs::canonicalize(path).ok()) {
        Some(found) if Some(&found) == this.as_ref() => {
            finding("program", Severity::Ok, format!("{version} is on PATH"), None)
        }
        Some(found) => finding(
            "program",
            Severity::Warning,
            format!("{version}, but PATH finds another one: {}", found.display()),
            mend_path(this.as_deref()).as_deref(),
        ),
        None => finding(
            "program",
            Severity::Warning,
            format!("{version} is not on PATH, so agents cannot call `consort`"),
            mend_path(this.as_deref()).as_deref(),
        ),
    }
}

fn mend_path(this: Option<&Path>) -> Option<String> {
    Some(format!("export PATH=\"{}:$PATH\"", this?.parent()?.display()))
}

fn store(world: &World) -> Vec<Finding> {
    let path = world.paths.store();
    let mut app = world.app();
    let entries = match app.journal_last_seq() {
        Ok(entries) => entries,
        Err(error) => {
            let mend = consort_core::explain::Explain::hints(&error).into_iter().next();
            let error = CommandError::from(error).render();
            let causes = error.lines().filter(|line| !line.starts_with("Hint"));
            let detail = causes.map(|line| line.trim_start_matches("Error: ")).collect::<Vec<_>>().join("; ");
            return vec![finding("store", Severity::Problem, detail, mend.as_deref())];
        }
    };
    let mut findings = Vec::new();
    match app.store_integrity() {
        Ok(complaints) if complaints.is_empty() => {}
        Ok(complaints) => findings.push(finding(
            "store",
            Severity::Problem,
            complaints.join("; "),
            Some(&format!(
                "cp -a {0} {0}.damaged; sqlite3 {1} .recover",
                world.paths.data.display(),
                path.display()
            )),
        )),
        Err(error) => findings.push(finding(
            "store",
            Severity::Problem,
            error.to_string(),
            Some("consort journal verify"),
        )),
    }
    if matches!(app.is_published(), Ok(false)) {
        findings.push(finding(
            "published",
            Severity::Warning,
            "what hooks read beside the store is older than it; until it is written again they ask the store",
            Some("consort status"),
        ));
    }
    // A long journal takes its time to replay; the command for that says so.
    let is_ours = matches!(app.engine_mut().newer_schema(), Ok(None));
    if is_ours
        && entries <= REPLAYED
        && let Ok(found) = app.journal_verify()
        && !found.is_sound()
    {
        let detail = "the tables and the journal do not agree";
        findings.push(finding("store", Severity::Problem, detail, Some("consort journal verify")));
    }
    match app.engine_mut().newer_schema() {
        Ok(Some(schema)) => findings.push(finding(
            "store",
            Severity::Problem,
            format!(
                "{} has schema {schema}, made by a newer consort; this one only reads it",
                path.display()
            ),
            Some("cargo install --path crates/cli"),
        )),
        _ => findings.push(finding(
            "store",
            Severity::Ok,
            format!("{}, schema {}, {entries} entries", path.display(), consort_sqlite::SCHEMA),
            None,
        )),
    }
    if let Ok(metadata) = fs::metadata(&world.paths.data)
        && metadata.permissions().mode() & 0o077 != 0
    {
        let mend = format!("chmod 700 {}", world.paths.data.display());
        let detail = format!("{} can be read by others", world.paths.data.display());
        findings.push(finding("permissions", Severity::Warning, detail, Some(&mend)));
    }
    findings
}

fn agents(world: &World) -> Vec<Finding> {
    let worktree = world.place().worktree;
    connect::standings(world, &worktree)
        .iter()
        .map(|standing| {
            let version = standing.program.as_deref().and_then(version_of);
            let name = match version {
                Some(version) => format!("{} {version}", standing.title),
                None => standing.title.to_owned(),
            };
            let sentence = standing.sentence();
            let both = standing.user != State::Absent && standing.project != State::Absent;
            let installed = standing.program.is_some();
            if let Some(file) = standing.to_be_edited() {
                finding(&name, Severity::Problem, sentence, Some(&edit(file)))
            } else if both {
                let detail = "connected for you and in this project: every hook runs twice";
                finding(&name, Severity::Warning, detail, Some("consort uninit --project"))
            } else if standing.is_connected() {
                finding(&name, Severity::Ok, sentence + &limits(standing.kind), None)
            } else if standing.user == State::Outdated || standing.project == State::Outdated {
                let flag = if standing.project == State::Outdated { " --project" } else { "" };
                finding(&name, Severity::Problem, sentence, Some(&format!("consort init{flag}")))
            } else if installed {
                finding(&name, Severity::Warning, sentence, Some("consort init"))
            } else {
                finding(&name, Severity::Ok, sentence, None)
            }
        })
        .collect()
}

/// What its sessions cannot do: nobody should wait for it.
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

/// The first number a program says of its version.
fn version_of(program: &Path) -> Option<String> {
    let told = consort_host::ask_version(program)?;
    let is_version = |word: &&str| word.trim_start_matches('v').starts_with(|c: char| c.is_ascii_digit());
    told.split_whitespace().find(is_version).map(str::to_owned)
}

/// The command that opens a file for the person to mend.
fn edit(file: &Path) -> String {
    format!("${{EDITOR:-vi}} {}", file.display())
}

fn settings(world: &World) -> Vec<Finding> {
    let worktree = world.place().worktree;
    let acceptances = world.app().acceptances().unwrap_or_default();
    match config::load(&world.paths, &worktree, &world.overrides, &acceptances) {
        Ok(loaded) if loaded.warnings.is_empty() => {
            vec![finding("settings", Severity::Ok, "every key is known", None)]
        }
        Ok(loaded) => loaded
            .warnings
            .iter()
            .map(|warning| {
                let mend = match warning.is_to_accept {
                    true => Some("consort config accept".to_owned()),
                    false => warning.file.as_deref().map(edit),
                };
                finding("settings", Severity::Warning, &warning.text, mend.as_deref())
            })
            .collect(),
        Err(error) => vec![finding("settings", Severity::Problem, error.render(), None)],
    }
}

/// Whether commands run behind the shield, where that was connected.
fn shield(world: &World) -> Option<Finding> {
    let connected = consort_agents::ALL.iter().find(|cli| {
        let config_dir = world.config_dir(**cli);
        connect::is_shielded(**cli, consort_agents::Level::User(&config_dir))
    })?;
    let title = connected.title();
    let is_off = world.open().is_ok_and(|opened| opened.config.get("claims.shield") == "off");
    Some(match consort_host::shield::is_available() {
        Err(why) => {
            let detail =
                format!("off: {why}. Commands of {title} run without it, and are looked at afterwards");
            finding("shield", Severity::Warning, detail, None)
        }
        Ok(()) if is_off => {
            let detail = "off: claims.shield = off";
            finding("shield", Severity::Warning, detail, Some("consort config set claims.shield auto"))
        }
        Ok(()) if cfg!(target_os = "macos") => {
            finding("shield", Severity::Ok, format!("on for {title}; on macOS it was never verified"), None)
        }
        Ok(()) => finding("shield", Severity::Ok, format!("on for {title}"), None),
    })
}

fn hook_log(world: &World) -> Finding {
    let path = world.paths.hook_log();
    match fs::read_to_string(&path) {
        Ok(log) if !log.is_empty() => {
            let failures = text::count(log.lines().count(), "failure");
            let last = log.lines().last().unwrap_or_default();
            let (at, what) = last.split_once(' ').unwrap_or(("", last));
            let at = at.parse().map_or_else(|_| at.to_owned(), |at| time::local(Timestamp(at)));
            let detail = format!("{failures}, the last at {at}: {what}");
            let mend = format!("less {0} && rm {0}", path.display());
            finding("hooks", Severity::Warning, detail, Some(&mend))
        }
        _ => finding("hooks", Severity::Ok, "none has failed", None),
    }
}
