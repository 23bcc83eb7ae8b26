//! Offers to connect CLIs, for `init` and `up`: shows what every CLI would get, and asks one question.

use std::io::BufRead as _;
use std::io::IsTerminal as _;
use std::io::Write as _;
use std::path::Path;
use std::path::PathBuf;

use consort_agents::AgentCli;
use consort_agents::Insertion;
use consort_agents::InsertionContent;
use consort_agents::InsertionState;
use consort_agents::Level;
use consort_agents::allow;
use consort_core::text;
use consort_host::env;

use super::FilePlan;
use super::TheirFile;
use super::find_program;
use super::hook_program;
use super::is_shielded;
use super::plan_connect;
use crate::error::CommandError;
use crate::error::CommandResult;
use crate::output;
use crate::world::World;

/// A CLI that may be connected, for the user or for a project.
pub(crate) struct OfferedCli {
    pub(crate) cli: &'static dyn AgentCli,
    config_dir: PathBuf,
    worktree: PathBuf,
    pub(crate) is_for_project: bool,
}

impl OfferedCli {
    pub(crate) fn new(
        world: &World,
        cli: &'static dyn AgentCli,
        worktree: &Path,
        is_for_project: bool,
    ) -> Self {
        Self { cli, config_dir: world.config_dir(cli), worktree: worktree.to_owned(), is_for_project }
    }

    pub(crate) fn level(&self) -> Level<'_> {
        if self.is_for_project { Level::Project(&self.worktree) } else { Level::User(&self.config_dir) }
    }
}

/// The parts that a CLI gets besides hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parts {
    pub(crate) mcp: bool,
    pub(crate) primer: bool,
    pub(crate) allow: bool,
    pub(crate) shield: bool,
}

impl Parts {
    /// Returns the parts that are offered: a person is asked, and can leave out those that cost a session
    /// tokens; a script names them.
    pub(crate) fn offered(consent: Consent) -> Self {
        let can_ask = consent != Consent::Given && std::io::stdin().is_terminal();
        Self { mcp: can_ask, primer: can_ask, allow: true, shield: false }
    }

    /// Returns the parts for one CLI. A CLI with a sandbox always gets our MCP server: its commands reach the
    /// store only through that.
    fn of(self, target: &OfferedCli) -> Vec<InsertionContent> {
        let all = [
            (true, InsertionContent::Hooks),
            (self.mcp || target.cli.has_sandbox(), InsertionContent::Mcp),
            (self.primer, InsertionContent::Primer),
            (self.allow, InsertionContent::Allow),
            (has_shield(target, self.shield), InsertionContent::Shield),
        ];
        all.into_iter().filter(|(is_wanted, _)| *is_wanted).map(|(_, part)| part).collect()
    }

    /// Returns these parts with one switched on or off; `None` if no part has that key.
    fn toggled(self, key: &str) -> Option<Self> {
        Some(match key {
            "m" => Self { mcp: !self.mcp, ..self },
            "p" => Self { primer: !self.primer, ..self },
            "a" => Self { allow: !self.allow, ..self },
            "s" => Self { shield: !self.shield, ..self },
            _ => return None,
        })
    }
}

/// Tells whether a CLI's commands are to run behind the shield: they do already, or it is wanted and
/// available.
fn has_shield(target: &OfferedCli, is_wanted: bool) -> bool {
    let (cli, level) = (target.cli, target.level());
    if cli.shield(level).is_empty() {
        if is_wanted {
            output::note(format_args!("{} cannot run commands behind the shield.", cli.title()));
        }
        return false;
    }
    if is_shielded(cli, level) || !is_wanted {
        return is_shielded(cli, level);
    }
    if let Err(why) = consort_host::shield::is_available() {
        output::note(format_args!("There is no shield here: {why}."));
        return false;
    }
    if let Some(theirs) = env::get(env::CLAUDE_SHELL_PREFIX) {
        output::note(format_args!(
            "Without the shield: your environment sets {} to {theirs}, which it would replace. Put it into {}'s \
             settings, and it is kept.",
            env::CLAUDE_SHELL_PREFIX,
            cli.title()
        ));
        return false;
    }
    true
}

/// The way in which the person agrees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Consent {
    /// The person is asked at the terminal.
    Ask,
    /// The person is asked at the terminal, without having called for it.
    Offer,
    /// The person has agreed with the command.
    Given,
    /// No consent is wanted: only the changes are shown.
    DryRun,
}

/// Shows what every CLI would get, asks once, and connects them. Returns whether anything was changed, and an
/// error if something failed: a failure with one CLI is printed, and no reason to leave out the others.
pub(crate) fn offer(
    world: &World,
    targets: &[OfferedCli],
    mut parts: Parts,
    consent: Consent,
) -> Result<(bool, CommandResult), CommandError> {
    loop {
        let (offers, all_went_well) = prepare(world, targets, parts)?;
        if offers.is_empty() {
            return Ok((false, all_went_well));
        }
        let show_diff =
            || offers.iter().flat_map(|offer| &offer.plans).try_for_each(|plan| world.out.text(plan.diff()));
        for offer in &offers {
            world.out.line(format!("{}: {}", offer.target.cli.title(), offer.summary))?;
        }
        if consent == Consent::DryRun {
            show_diff()?;
            output::note("Nothing was changed: this was a dry run.");
            return Ok((false, all_went_well));
        }
        let answer = loop {
            match ask(consent, &offers, parts)? {
                OfferAnswer::Diff => show_diff()?,
                answer => break answer,
            }
        };
        match answer {
            OfferAnswer::Yes => {
                let done = connect_each(world, offers, parts)?;
                return Ok((done.0, all_went_well.and(done.1)));
            }
            OfferAnswer::Toggle(toggled) => parts = toggled,
            OfferAnswer::No | OfferAnswer::Diff => {
                output::note("Nothing was changed.");
                if consent == Consent::Offer {
                    output::note("Not to be asked again: consort config set init.offer false");
                }
                return Ok((false, all_went_well));
            }
        }
    }
}

/// The changes that one CLI would get.
struct Offer<'t> {
    target: &'t OfferedCli,
    plans: Vec<FilePlan>,
    /// The changes in words: `13 hooks, 57 allow rules, MCP server`.
    summary: String,
}

fn prepare<'t>(
    world: &World,
    targets: &'t [OfferedCli],
    parts: Parts,
) -> Result<(Vec<Offer<'t>>, CommandResult), CommandError> {
    let (mut offers, mut all_went_well) = (Vec::new(), Ok(()));
    for target in targets {
        let wanted = parts.of(target);
        match changes(world, target, &wanted) {
            Ok(plans) if plans.is_empty() => {
                let file = target.cli.hooks(target.level()).file;
                world.out.line(format!("{} is connected already: {}", target.cli.title(), file.display()))?;
            }
            Ok(plans) => offers.push(Offer { target, plans, summary: summary(target, &wanted) }),
            Err(CommandError::Pipe) => return Err(CommandError::Pipe),
            Err(error) => {
                output::note(error.render().trim_end());
                all_went_well = Err(CommandError::Told);
            }
        }
    }
    Ok((offers, all_went_well))
}

/// Describes the parts that are missing or would be renewed.
fn summary(target: &OfferedCli, wanted: &[InsertionContent]) -> String {
    let (cli, level) = (target.cli, target.level());
    let insertions = cli.insertions(level, &env::get);
    let is_due = |insertion: &&Insertion| {
        let text = TheirFile::at(level, &insertion.file).read().ok().flatten().unwrap_or_default();
        let found = insertion.format.insertion_state(&text, &hook_program(level));
        text.trim().is_empty() || !matches!(found, Ok(InsertionState::Current))
    };
    let parts = wanted.iter().filter_map(|part| {
        let insertion = insertions.iter().filter(|insertion| insertion.purpose == *part).find(is_due)?;
        Some(match part {
            InsertionContent::Hooks => insertion.format.hooks_in_words(),
            InsertionContent::Allow => text::counted_noun(allow::RULE_COUNT, "allow rule"),
            InsertionContent::Mcp => "MCP server".to_owned(),
            InsertionContent::Primer => "primer".to_owned(),
            InsertionContent::Shield => "shield".to_owned(),
        })
    });
    let parts: Vec<String> = parts.collect();
    if parts.is_empty() { "renewed".to_owned() } else { parts.join(", ") }
}

/// Plans the changes that connecting would make.
fn changes(
    world: &World,
    target: &OfferedCli,
    wanted: &[InsertionContent],
) -> Result<Vec<FilePlan>, CommandError> {
    let mut plans = plan_connect(world, target.cli, target.level(), wanted)?;
    plans.retain(|plan| !plan.changes_nothing());
    Ok(plans)
}

fn connect_each(
    world: &World,
    offers: Vec<Offer<'_>>,
    parts: Parts,
) -> Result<(bool, CommandResult), CommandError> {
    let (mut has_changed, mut all_went_well) = (false, Ok(()));
    let is_for_project = offers.iter().any(|offer| offer.target.is_for_project);
    for Offer { target, plans, .. } in offers {
        match carry_out(world, target, plans, parts) {
            Ok(()) => has_changed = true,
            Err(CommandError::Pipe) => return Err(CommandError::Pipe),
            Err(error) => {
                output::note(error.render().trim_end());
                all_went_well = Err(CommandError::Told);
            }
        }
    }
    if has_changed {
        close(is_for_project);
    }
    Ok((has_changed, all_went_well))
}

/// Carries out the plans that the person has agreed to. Consent takes its time, and some CLIs write their
/// files all the while: if a file has changed, the same changes are planned again. Nothing is written before
/// every plan was found to hold.
fn carry_out(world: &World, target: &OfferedCli, plans: Vec<FilePlan>, parts: Parts) -> CommandResult {
    let cli = target.cli;
    let is_current = plans.iter().all(FilePlan::is_current);
    let plans = if is_current { plans } else { changes(world, target, &parts.of(target))? };
    plans.iter().try_for_each(FilePlan::check)?;
    for plan in &plans {
        plan.carry_out(&world.temporary_files())?;
        world.out.line(format!("Connected {}: {}", cli.title(), plan.path.display()))?;
        if plan.backup().exists() {
            output::note(format_args!("What was there before is kept in {}", plan.backup().display()));
        }
    }
    if find_program(cli.program()).is_none() {
        output::note(format_args!("{} itself is not on PATH; it is connected for when it is.", cli.title()));
    }
    if let Some(advice) = cli.advice() {
        output::note(advice);
    }
    Ok(())
}

/// Prints the notes that concern all CLIs that were connected.
fn close(is_for_project: bool) {
    if find_program("consort").is_none() {
        output::note(
            "`consort` is not on PATH: put it there, so that sessions can call it, and run this again.",
        );
    }
    let flag = if is_for_project { " --project" } else { "" };
    output::note(format_args!(
        "Sessions started from now on join by themselves; `consort uninit{flag}` takes it back."
    ));
}

enum OfferAnswer {
    Yes,
    No,
    Diff,
    /// The same question again, with other parts.
    Toggle(Parts),
}

/// Asks the person at the terminal, even if the output goes elsewhere. An answer that is not understood is
/// asked for again.
fn ask(consent: Consent, offers: &[Offer<'_>], parts: Parts) -> Result<OfferAnswer, CommandError> {
    if consent == Consent::Given {
        return Ok(OfferAnswer::Yes);
    }
    let what = match offers {
        [only] => only.target.cli.title().to_owned(),
        several => format!("these {}", several.len()),
    };
    let mut keys = "d: show the diff; m, p, a, s: with or without MCP server, primer, allow rules, shield";
    loop {
        return Ok(match line(&format!("{keys}\nConnect {what}? [Y/n/d/m/p/a/s] "))?.as_deref() {
            Some("" | "y" | "yes") => OfferAnswer::Yes,
            Some("d" | "diff") => OfferAnswer::Diff,
            Some("n" | "no" | "q") | None => OfferAnswer::No,
            Some(key) => match parts.toggled(key) {
                Some(toggled) => OfferAnswer::Toggle(toggled),
                None => {
                    keys = "y: yes; n: no; d: show the diff; m, p, a, s: with or without MCP server, primer, allow \
                            rules, shield";
                    continue;
                }
            },
        });
    }
}

/// Asks a yes-or-no question, unless `yes` has answered it.
pub(crate) fn agree(yes: bool, question: &str) -> Result<bool, CommandError> {
    Ok(yes || matches!(line(&format!("{question} [Y/n] "))?.as_deref(), Some("" | "y" | "yes")))
}

/// Prints a question and reads the line that the person types; `None` at the end of input.
fn line(question: &str) -> Result<Option<String>, CommandError> {
    if !std::io::stdin().is_terminal() {
        return Err(CommandError::user(
            "there is no terminal to ask on, and nothing was changed",
            "`--yes` says that you want this",
        ));
    }
    let mut stderr = std::io::stderr();
    let _ = write!(stderr, "{question}");
    let _ = stderr.flush();
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    Ok(matches!(read, Ok(n) if n > 0).then(|| answer.trim().to_lowercase()))
}
