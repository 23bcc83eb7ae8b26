//! Chains of runs, each of which gets the result of the one before, and the contract that a step
//! has to fulfil.

use serde::Serialize;

use crate::monitor::TextPattern;
use crate::text;

/// The most characters of a result or of the original task that are put into a step's task.
pub(super) const LONGEST_INPUT: usize = 8_000;

/// The most steps that a chain may have.
pub const MOST_STEPS: usize = 50;

/// The most seconds that a check takes, unless its step says otherwise.
pub const CHECK_TIMEOUT_S: u64 = 10;

/// Runs, one after the other. A chain stops at the first run that fails.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chain {
    /// The task of the whole chain: `$ORIGINAL`, and the first step's `$INPUT`.
    pub original: String,
    pub steps: Vec<ChainStep>,
}

/// One run of a chain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChainStep {
    pub task: String,
    pub role: Option<String>,
    pub cli: Option<String>,
    pub model: Option<String>,
    pub contract: Option<StepConditions>,
}

/// The conditions that a step has to fulfil, besides not failing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepConditions {
    /// Files that must exist afterwards, relative to the directory that the step worked in.
    pub files: Vec<String>,
    /// Patterns that must each match a line of the result; `*` stands for anything, `^` for the
    /// line's beginning.
    pub patterns: Vec<String>,
    /// A command that must succeed.
    pub check: Option<String>,
    pub check_timeout_s: u64,
}

/// The facts, found after a step, that its contract is checked against.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContractFacts<'a> {
    pub result: &'a str,
    /// Those of the contract's files that exist.
    pub present: Vec<String>,
    /// The way the check ended, if the contract has one.
    pub check: Option<CheckExit>,
}

/// The way a check command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckExit {
    Code(i32),
    Signal(i32),
    TimedOut,
    /// The command could not be started.
    NotStarted,
}

/// A condition of a contract that its step has not fulfilled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Broken {
    NoFile(String),
    NoMatch(String),
    Check(CheckExit),
}

impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoFile(file) => write!(f, "{} is not there", text::foreign(file, 200)),
            Self::NoMatch(pattern) => {
                write!(f, "no line of the result matches {}", text::quoted(pattern, 100))
            }
            Self::Check(CheckExit::Code(code)) => write!(f, "its check exited with {code}"),
            Self::Check(CheckExit::Signal(signal)) => write!(f, "its check was ended by signal {signal}"),
            Self::Check(CheckExit::TimedOut) => f.write_str("its check took too long"),
            Self::Check(CheckExit::NotStarted) => f.write_str("its check could not be started"),
        }
    }
}

/// Returns the conditions of the contract that are not fulfilled. A check that was not run has not
/// succeeded.
pub fn check_contract(contract: &StepConditions, facts: &ContractFacts<'_>) -> Vec<Broken> {
    let missing = contract.files.iter().filter(|file| !facts.present.contains(file));
    let mut broken: Vec<Broken> = missing.cloned().map(Broken::NoFile).collect();
    let is_seen = |pattern: &&String| {
        let pattern = TextPattern::from(pattern.as_str());
        facts.result.lines().any(|line| pattern.find(line).is_some())
    };
    let unseen = contract.patterns.iter().filter(|pattern| !is_seen(pattern));
    broken.extend(unseen.cloned().map(Broken::NoMatch));
    if contract.check.is_some() && facts.check != Some(CheckExit::Code(0)) {
        broken.push(Broken::Check(facts.check.unwrap_or(CheckExit::NotStarted)));
    }
    broken
}

/// Puts `$INPUT` and `$ORIGINAL` into a step's task. **One pass, and literally**: inserted text is
/// not scanned again, whatever it says. A longer word that begins like one of them (`$INPUTS`) is
/// left alone.
pub fn substituted(task: &str, input: &str, original: &str) -> String {
    let (mut done, mut rest) = (String::with_capacity(task.len()), task);
    while let Some(at) = rest.find('$') {
        let (before, from) = rest.split_at(at);
        done.push_str(before);
        let named = [("$INPUT", input), ("$ORIGINAL", original)].into_iter().find_map(|(name, value)| {
            let after = from.strip_prefix(name)?;
            let goes_on = after.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
            (!goes_on).then_some((value, after))
        });
        match named {
            Some((value, after)) => {
                push_capped(&mut done, value);
                rest = after;
            }
            None => {
                done.push('$');
                rest = &from[1..];
            }
        }
    }
    done + rest
}

/// Appends at most [`LONGEST_INPUT`] characters of a text, and a note if more was left out.
fn push_capped(done: &mut String, value: &str) {
    match value.char_indices().nth(LONGEST_INPUT) {
        None => done.push_str(value),
        Some((end, _)) => {
            let left_out = value[end..].chars().count();
            done.push_str(&value[..end]);
            done.push_str(&format!("\n[… {} left out]", text::counted_noun(left_out, "more character")));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_put_in_is_not_looked_at_again() {
        for (task, expected) in [
            ("Review: $INPUT", "Review: $ORIGINAL $& $' $$ $INPUT"),
            ("$ORIGINAL, then $INPUT.", "the $INPUT task, then $ORIGINAL $& $' $$ $INPUT."),
            ("$INPUTS $INPUT_1 $input ${INPUT} $", "$INPUTS $INPUT_1 $input ${INPUT} $"),
            (
                "$$INPUT|$INPUT$ORIGINAL",
                "$$ORIGINAL $& $' $$ $INPUT|$ORIGINAL $& $' $$ $INPUTthe $INPUT task",
            ),
        ] {
            assert_eq!(substituted(task, "$ORIGINAL $& $' $$ $INPUT", "the $INPUT task"), expected);
        }
    }

    #[test]
    fn a_long_result_is_cut_and_says_so() {
        let long = "ä".repeat(LONGEST_INPUT + 3);
        let done = substituted("<$INPUT>", &long, "");
        assert_eq!(done, format!("<{}\n[… 3 more characters left out]>", "ä".repeat(LONGEST_INPUT)));
        let fits = "ä".repeat(LONGEST_INPUT);
        assert_eq!(substituted("$INPUT", &fits, ""), fits);
    }

    #[test]
    fn a_contract_is_kept_or_it_is_said_how_not() {
        let text = |text: &str| text.to_owned();
        let contract = StepConditions {
            files: vec![text("a.md"), text("b.md")],
            patterns: vec![text("^VERDICT: *ok"), text("none")],
            check: Some(text("make test")),
            check_timeout_s: CHECK_TIMEOUT_S,
        };
        let result = "Looked at it.\nVERDICT: all ok\nnone";
        let kept = ContractFacts {
            result,
            present: vec![text("b.md"), text("a.md")],
            check: Some(CheckExit::Code(0)),
        };
        assert_eq!(check_contract(&contract, &kept), []);
        let broken =
            check_contract(&contract, &ContractFacts { result: "a VERDICT: ok", ..Default::default() });
        assert_eq!(
            broken,
            [
                Broken::NoFile(text("a.md")),
                Broken::NoFile(text("b.md")),
                Broken::NoMatch(text("^VERDICT: *ok")),
                Broken::NoMatch(text("none")),
                Broken::Check(CheckExit::NotStarted),
            ]
        );
        for exit in [CheckExit::Code(1), CheckExit::Signal(9), CheckExit::TimedOut] {
            let facts = ContractFacts { check: Some(exit), ..kept.clone() };
            assert_eq!(check_contract(&contract, &facts), [Broken::Check(exit)]);
        }
    }

    proptest! {
        /// A task that names no variable stays as it is; in one that does, the whole text is
        /// inserted, to the character.
        #[test]
        fn substitution_is_literal(before in "[a-z $]{0,9}", input in "\\PC{0,40}", after in "( [a-z$]{0,9})?") {
            let done = substituted(&format!("{before}$INPUT{after}"), &input, "o");
            prop_assert_eq!(done, format!("{before}{input}{after}"));
            let task = before.replace("$INPUT", "").replace("$ORIGINAL", "");
            prop_assert_eq!(substituted(&task, &input, "o"), task);
        }
    }
}
