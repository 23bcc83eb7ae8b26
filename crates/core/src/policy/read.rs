//! Reads rules as settings have them: `Bash(git push*); Edit(.env)`.

use super::PolicyError;
use super::Rule;
use super::RuleEffect;
use crate::claims::Pattern;

/// Reads the rules of a setting. Outside parentheses a semicolon separates two of them.
pub fn read_rules(effect: RuleEffect, text: &str) -> Result<Vec<Rule>, PolicyError> {
    let mut rules = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let end = rest.find(['(', ';']).unwrap_or(rest.len());
        let (tool, after) = rest.split_at(end);
        let (pattern, after) = match after.strip_prefix('(') {
            None => (None, after),
            Some(inner) => {
                let close = inner.find(')').ok_or_else(|| PolicyError::NoRule { text: rest.to_owned() })?;
                (Some(inner[..close].to_owned()), inner[close + 1..].trim_start())
            }
        };
        let tool = tool.trim().to_owned();
        check_pattern(&tool, pattern.as_deref())?;
        rules.push(Rule { effect, tool, pattern, project: None, until: None });
        rest = match after.strip_prefix(';') {
            Some(next) => next.trim(),
            None if after.is_empty() => after,
            None => return Err(PolicyError::NoRule { text: after.to_owned() }),
        };
    }
    Ok(rules)
}

/// Checks the tool and the pattern of a rule.
pub fn check_pattern(tool: &str, pattern: Option<&str>) -> Result<(), PolicyError> {
    let is_name = |character: char| character.is_alphanumeric() || "_-*.:".contains(character);
    if tool.is_empty() || !tool.chars().all(is_name) {
        return Err(PolicyError::NoTool { tool: tool.to_owned() });
    }
    let Some(pattern) = pattern else { return Ok(()) };
    let no_pattern = |why| Err(PolicyError::NoPattern { pattern: pattern.to_owned(), why });
    if pattern.trim().is_empty() || pattern.chars().any(char::is_control) {
        return no_pattern("it is empty, or no single line");
    }
    match tool.to_lowercase().as_str() {
        // In a pattern, shell syntax would mean another command than it says.
        "bash" if pattern.contains(['|', ';', '&', '<', '>', '`', '$', '"', '\'', '\\', '(', ')']) => {
            no_pattern(
                "it is to be one program and its arguments, without quotes: every command in a line is compared",
            )
        }
        "bash" if pattern.trim_start().starts_with('*') => no_pattern("it is to begin with a program"),
        "edit" | "read" if Pattern::new(pattern).is_err() => no_pattern("it is no path"),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_name_several_rules() {
        let rules = read_rules(RuleEffect::Deny, " Bash(git push*);Edit(.env) ; WebFetch").unwrap();
        let told: Vec<_> = rules.iter().map(|rule| (rule.tool.as_str(), rule.pattern.as_deref())).collect();
        assert_eq!(told, [("Bash", Some("git push*")), ("Edit", Some(".env")), ("WebFetch", None)]);
        for wrong in ["Bash(", "Bash(a) b", "(a)", "Bash()", "Ba sh", "Bash(a;b)", "Bash(*)", "Bash(* push)"]
        {
            assert!(read_rules(RuleEffect::Deny, wrong).is_err(), "{wrong}");
        }
    }
}
