//! The command `consort doctor`: checks that everything is connected and sound.

mod clis;
mod fix;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use consort_core::App;
use consort_core::Timestamp;
use consort_core::text;
use serde::Serialize;

use crate::config;
use crate::connect;
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
    /// Fix what can be fixed, and check again; asks before settings of agent CLIs are changed
    #[arg(long)]
    fix: bool,
    /// Do not ask
    #[arg(short, long, requires = "fix")]
    yes: bool,
}

#[derive(Serialize)]
struct DoctorFinding {
    check: String,
    level: Severity,
    detail: String,
    /// The fix, mostly a command.
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Severity {
    Ok,
    /// Something that is not here, which is neither good nor bad.
    Absent,
    Warning,
    Problem,
}

/// Longest journal that is replayed for a check-up, in entries.
const REPLAYED: i64 = 20_000;

pub(crate) fn run(world: &World, args: &Args) -> Result<ExitCode, CommandError> {
    if args.fix {
        fix::run(world, args.yes)?;
    }
    let mut findings = program();
    findings.extend(store(world));
    findings.extend(clis::check(world));
    findings.extend(settings(world));
    findings.extend(shield(world));
    findings.push(hook_log(world));

    if args.json {
        world.out.items(&mut world.app(), &findings)?;
    } else {
        let style = world.out.style;
        let mut text = String::new();
        for finding in &findings {
            let mark = match finding.level {
                Severity::Ok => style.paint("32", "ok      "),
                Severity::Absent => "-       ".to_owned(),
                Severity::Warning => style.paint("33", "warning "),
                Severity::Problem => style.paint("31", "problem "),
            };
            text.push_str(&format!("{mark} {}: {}\n", finding.check, finding.detail));
            if let Some(fix) = &finding.fix {
                text.push_str(&format!("         fix: {fix}\n"));
            }
        }
        text.push_str(&summary(&findings));
        world.out.text(text)?;
    }
    let problem = findings.iter().any(|finding| finding.level == Severity::Problem);
    Ok(ExitCode::from(if problem { exit::FOUND_SOMETHING } else { 0 }))
}

/// Counts problems and warnings in a line.
fn summary(findings: &[DoctorFinding]) -> String {
    let count = |level| findings.iter().filter(|finding| finding.level == level).count();
    let (problems, warnings) = (count(Severity::Problem), count(Severity::Warning));
    let found: Vec<String> = [(problems, "problem"), (warnings, "warning")]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| text::counted_noun(count, what))
        .collect();
    match found.as_slice() {
        [] => "All is well.\n".to_owned(),
        found => format!("{}.\n", found.join(", ")),
    }
}

fn finding(check: &str, level: Severity, detail: impl Into<String>, fix: Option<&str>) -> DoctorFinding {
    DoctorFinding { check: check.into(), level, detail: detail.into(), fix: fix.map(str::to_owned) }
}

fn program() -> Vec<DoctorFinding> {
    let version = concat!("consort ", env!("CARGO_PKG_VERSION"));
    let this = std::env::current_exe().and_then(fs::canonicalize).ok();
    let on_path = connect::find_programs("consort");
    let fix = fix_path(this.as_deref());
    let first = match on_path.first() {
        Some(found) if Some(found) == this.as_ref() => {
            finding("program", Severity::Ok, format!("{version} is on PATH"), None)
        }
        Some(found) => finding(
            "program",
            Severity::Warning,
            format!("{version}, but PATH finds another one: {}", found.display()),
            fix.as_deref(),
        ),
        None => finding(
            "program",
            Severity::Warning,
            format!("{version} is not on PATH, so agents cannot call `consort`"),
            fix.as_deref(),
        ),
    };
    let others = on_path.iter().skip(1).map(|other| {
        let detail = format!("there is another one on PATH: {}", other.display());
        finding("program", Severity::Warning, detail, Some(&format!("rm {}", other.display())))
    });
    [first].into_iter().chain(others).collect()
}

fn fix_path(this: Option<&Path>) -> Option<String> {
    Some(format!("export PATH=\"{}:$PATH\"", this?.parent()?.display()))
}

fn store(world: &World) -> Vec<DoctorFinding> {
    let path = world.paths.store();
    let mut app = world.app();
    let entries = match app.journal_last_seq() {
        Ok(entries) => entries,
        Err(error) => {
            let fix = consort_core::explain::Explain::hints(&error).into_iter().next();
            let error = CommandError::from(error).render();
            let causes = error.lines().filter(|line| !line.starts_with("Hint"));
            let detail = causes.map(|line| line.trim_start_matches("Error: ")).collect::<Vec<_>>().join("; ");
            return vec![finding("store", Severity::Problem, detail, fix.as_deref())];
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
    // A long journal takes its time to replay: `consort journal verify` does that.
    let is_ours = matches!(app.engine_mut().newer_schema(), Ok(None));
    if is_ours
        && entries <= REPLAYED
        && let Ok(found) = app.journal_verify()
        && !found.is_sound()
    {
        let detail = "the tables and the journal do not agree";
        findings.push(finding("store", Severity::Problem, detail, Some("consort journal verify")));
    }
    findings.push(schema_and_size(world, &mut app, entries as usize));
    if let Ok(metadata) = fs::metadata(&world.paths.data)
        && metadata.permissions().mode() & 0o077 != 0
    {
        let fix = format!("chmod 700 {}", world.paths.data.display());
        let detail = format!("{} can be read by others", world.paths.data.display());
        findings.push(finding("permissions", Severity::Warning, detail, Some(&fix)));
    }
    findings
}

/// Says which schema the store has, and how many entries.
fn schema_and_size(world: &World, app: &mut App, entries: usize) -> DoctorFinding {
    let store = world.paths.store();
    let store = store.display();
    match app.engine_mut().newer_schema() {
        Ok(Some(schema)) => {
            let detail =
                format!("{store} has schema {schema}, made by a newer consort; this one only reads it");
            finding("store", Severity::Problem, detail, Some("cargo install --path crates/cli"))
        }
        _ => {
            let detail = format!(
                "{store}, schema {}, {}",
                consort_sqlite::NEWEST_SCHEMA,
                text::counted_noun(entries, "entry")
            );
            finding("store", Severity::Ok, detail, None)
        }
    }
}

/// Returns the command that opens a file for the person to change.
fn edit(file: &Path) -> String {
    format!("${{EDITOR:-vi}} {}", file.display())
}

fn settings(world: &World) -> Vec<DoctorFinding> {
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
                let fix = warning.file.as_deref().map(edit);
                finding("settings", Severity::Warning, &warning.text, fix.as_deref())
            })
            .collect(),
        Err(error) => vec![finding("settings", Severity::Problem, error.render(), None)],
    }
}

/// Reports whether commands run behind the shield, if it is connected for any CLI.
fn shield(world: &World) -> Option<DoctorFinding> {
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

fn hook_log(world: &World) -> DoctorFinding {
    let path = world.paths.hook_log();
    match fs::read_to_string(&path) {
        Ok(log) if !log.is_empty() => {
            let failures = text::counted_noun(log.lines().count(), "failure");
            let last = log.lines().last().unwrap_or_default();
            let (at, what) = last.split_once(' ').unwrap_or(("", last));
            let at = at.parse().map_or_else(|_| at.to_owned(), |at| time::local(Timestamp(at)));
            let detail = format!("{failures}, the last at {at}: {what}");
            let fix = format!("less {0} && rm {0}", path.display());
            finding("hooks", Severity::Warning, detail, Some(&fix))
        }
        _ => finding("hooks", Severity::Ok, "none has failed", None),
    }
}
