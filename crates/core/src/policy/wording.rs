//! The texts about rules that agents read.

use super::DecidedBy;
use super::Rule;

/// Returns the reason why a rule has refused a tool.
pub(super) fn refused(rule: &Rule, by: &DecidedBy) -> String {
    let (what, whose) = (what(rule), whose(by));
    format!("[consort] Refused by {whose}: {what} is not to be used. Do not try it another way.")
}

/// Returns the reason why the person is asked.
pub(super) fn asked(rule: &Rule, by: &DecidedBy) -> String {
    format!("[consort] {} is asked about, by {}.", what(rule), whose(by))
}

fn what(rule: &Rule) -> String {
    match &rule.pattern {
        Some(pattern) => format!("{} `{pattern}`", rule.tool),
        None => rule.tool.clone(),
    }
}

fn whose(by: &DecidedBy) -> String {
    match by {
        DecidedBy::Rule { number, .. } => format!("your user's rule #{number}"),
        _ => "a rule of this project".to_owned(),
    }
}
