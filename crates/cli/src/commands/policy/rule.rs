//! Parses and formats a rule for the command line.

use std::time::Duration;

use consort_core::Timestamp;
use consort_core::policy::Rule;
use consort_core::policy::RuleEffect;
use consort_core::text;

use crate::error::CommandError;
use crate::time;
use crate::world::OpenWorld;
use crate::world::World;

/// The word for `--in` that stands for the project here.
const THIS_PROJECT: &str = "project";

#[derive(clap::Args)]
pub(super) struct RuleArgs {
    /// The effect of the rule
    #[arg(value_parser = ["allow", "deny", "ask"])]
    pub(super) effect: String,
    /// `Bash` for commands, `Edit` or `Read` for files, or a tool by its own name
    pub(super) tool: String,
    /// Which commands or files: 'cargo test*', 'src/**'; all of them without it
    pub(super) pattern: Option<String>,
    /// Only in `project`, which is the one here, or in that of a directory
    #[arg(long = "in", value_name = "PLACE")]
    pub(super) place: Option<String>,
}

impl RuleArgs {
    /// Builds the rule that the arguments describe.
    pub(super) fn rule(&self, world: &World, opened: &mut OpenWorld) -> Result<Rule, CommandError> {
        let project = match self.place.as_deref() {
            None => None,
            Some(THIS_PROJECT) => Some(opened.project.id.clone()),
            Some(place) => {
                let directory = world.cwd.join(place);
                if !directory.is_dir() {
                    let hint = "use `--in project` for the one here, or a directory of the one that you mean";
                    return Err(CommandError::user(
                        format!("there is no directory {}", text::foreign(place, 120)),
                        hint,
                    ));
                }
                Some(opened.app.project(&directory)?.0.id)
            }
        };
        let effect = RuleEffect::named(&self.effect).unwrap_or(RuleEffect::Ask);
        let tool = match self.tool.to_lowercase().as_str() {
            "bash" | "shell" => "Bash".to_owned(),
            "edit" | "write" => "Edit".to_owned(),
            "read" => "Read".to_owned(),
            _ => self.tool.clone(),
        };
        Ok(Rule { effect, tool, pattern: self.pattern.clone(), project, until: None })
    }
}

/// Parses a duration, a second at least, into milliseconds.
pub(super) fn lasts(text: &str) -> Result<i64, String> {
    let lasts = time::parse_duration(text)?;
    match lasts >= Duration::from_secs(1) {
        true => i64::try_from(lasts.as_millis()).map_err(|_| "that is too long".into()),
        false => Err("expected a second at least".into()),
    }
}

/// Formats a rule: `allow Bash cargo test* in shop until 14:30`.
pub(super) fn shown(rule: &Rule, here: &OpenWorld, now: Timestamp) -> String {
    let pattern =
        rule.pattern.as_ref().map_or_else(String::new, |text| format!(" {}", text::foreign(text, 120)));
    let place = match &rule.project {
        None => String::new(),
        Some(project) if *project == here.project.id => {
            format!(" in {}", text::foreign(&here.project.name, 60))
        }
        Some(project) => format!(" in {}", text::foreign(project.as_str(), 80)),
    };
    let until = match rule.until {
        None => String::new(),
        Some(until) if until <= now => ", over".to_owned(),
        Some(until) => format!(" until {}", time::local(until)),
    };
    format!("{} {}{pattern}{place}{until}", rule.effect.as_str(), text::foreign(&rule.tool, 60))
}
