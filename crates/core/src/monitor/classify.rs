//! Matches a capture of a pane against the rules of its CLI, and says which state the agent is in. Pure.

use super::Capture;
use super::PaneExit;
use super::PaneReading;
use super::PaneState;
use super::Signature;
use super::SignatureRule;
use super::TextPattern;
use super::capture::CapturedLine;
use super::details;
use super::signature::ComposerCondition;

/// Number of lines from the bottom that count as the screen: the lines above are history.
const SCREEN: usize = 25;

/// The composer is at most this many lines from the bottom.
const COMPOSER: usize = 6;

/// Number of lines from the bottom that count as the turn, for a CLI that does not mark prompts.
const TURN: usize = 8;

/// Names of shells: one in the foreground means that the agent has ended.
const SHELLS: [&str; 7] = ["sh", "bash", "zsh", "fish", "dash", "ksh", "ash"];

/// Beginning of the last line that tmux writes into a pane it keeps after the program has ended.
const KEPT: &str = "Pane is dead (";

const ENDED_SOMEHOW: &str = "its program has ended, nobody knows how";

/// The parts of a screen that rules can match.
pub(super) struct Areas<'a> {
    pub(super) screen: &'a [CapturedLine],
    footer: &'a [CapturedLine],
    turn: &'a [CapturedLine],
    mark: Option<&'a CapturedLine>,
    /// The line above the mark.
    above_mark: Option<&'a CapturedLine>,
    pub(super) composer: Option<&'a CapturedLine>,
}

/// Works out the state of the agent in a pane from a capture.
pub fn classify(capture: &Capture, signature: &Signature) -> PaneReading {
    if let Some((state, rule)) = ended(capture) {
        let lines = capture.lines.last().map(|line| line.text.clone()).into_iter().collect();
        let resume = details::resume(&capture.lines, signature);
        // tmux does not always know how a program ended; a CLI that ends by itself prints its resume command.
        let is_cut_short = rule == ENDED_SOMEHOW && resume.is_none();
        let state = if is_cut_short { PaneState::Dead } else { state };
        return PaneReading { resume, ..reading(state, rule, lines) };
    }
    if capture.lines.is_empty() {
        return reading(PaneState::Starting, "nothing is drawn", Vec::new());
    }
    if let Some(version) = &signature.unknown_version {
        let rule = format!("the screens of version {version} are not known");
        return reading(PaneState::Unknown, &rule, Vec::new());
    }
    let areas = Areas::of(&capture.lines, signature);
    for rule in &signature.rules {
        if let Some(lines) = seen(rule, &areas, capture, signature) {
            let mut reading = reading(rule.state, &rule.name, lines);
            details::add(&mut reading, &areas);
            return reading;
        }
    }
    reading(PaneState::Unknown, "no rule holds", Vec::new())
}

fn reading(state: PaneState, rule: &str, lines: Vec<String>) -> PaneReading {
    let (question, options, attempt, resets, resume) = (None, Vec::new(), None, None, None);
    PaneReading { state, rule: rule.to_owned(), lines, question, options, attempt, resets, resume }
}

/// Tells whether the name of a program is that of a shell.
pub fn is_shell(command: &str) -> bool {
    SHELLS.contains(&command.trim_start_matches('-'))
}

/// Returns the state and the rule's name if the agent has ended.
fn ended(capture: &Capture) -> Option<(PaneState, &'static str)> {
    match capture.ended {
        Some(Some(PaneExit::Signal(_))) => return Some((PaneState::Dead, "its program was ended")),
        Some(Some(PaneExit::Code(_))) => return Some((PaneState::Exited, "its program has ended")),
        Some(None) | None => {}
    }
    let kept = capture.lines.last().and_then(|line| line.text.strip_prefix(KEPT));
    match kept {
        None if capture.ended.is_some() => Some((PaneState::Exited, ENDED_SOMEHOW)),
        Some(how) if how.starts_with("signal") => Some((PaneState::Dead, "its program was ended")),
        Some(_) => Some((PaneState::Exited, "its program has ended")),
        None => is_shell(capture.command.as_deref()?).then_some((PaneState::Exited, "a shell has the pane")),
    }
}

impl<'a> Areas<'a> {
    fn of(lines: &'a [CapturedLine], signature: &Signature) -> Self {
        let last = |count: usize| &lines[lines.len().saturating_sub(count)..];
        let is_prompt = |line: &CapturedLine| {
            let typed = signature.prompt.iter().find_map(|prompt| line.text.strip_prefix(prompt.as_str()));
            // The cursor in a menu may look like the prompt.
            typed.is_some_and(|typed| {
                typed.is_empty() || typed.starts_with(' ') && details::numbered(typed.trim_start()).is_none()
            })
        };
        let prompts: Vec<usize> =
            lines.iter().enumerate().filter(|(_, line)| is_prompt(line)).map(|(at, _)| at).collect();
        let composer = prompts.last().copied().filter(|at| at + COMPOSER >= lines.len());
        let turn = match (composer, prompts.as_slice()) {
            (Some(composer), [.., prompt, _]) => &lines[prompt + 1..composer],
            _ if signature.prompt.is_empty() => last(TURN),
            _ => &[],
        };
        let is_mark = |line: &&CapturedLine| signature.marks.iter().any(|mark| line.text.starts_with(mark));
        let mark = turn.iter().rposition(|line| is_mark(&line));
        Self {
            screen: last(SCREEN),
            footer: last(signature.footer_lines),
            turn,
            mark: mark.and_then(|at| turn.get(at)),
            above_mark: mark.and_then(|at| turn.get(at.checked_sub(1)?)),
            composer: composer.map(|at| &lines[at]),
        }
    }
}

/// Returns the lines that a rule matched, if all of the rule holds.
fn seen(
    rule: &SignatureRule,
    areas: &Areas<'_>,
    capture: &Capture,
    signature: &Signature,
) -> Option<Vec<String>> {
    if !has_composer(rule.composer, areas.composer, signature) {
        return None;
    }
    if rule.held.is_some_and(|least| capture.held.is_some_and(|held| held < least)) {
        return None;
    }
    if rule.below_bar && !areas.above_mark.is_some_and(|line| line.has_bar) {
        return None;
    }
    let mut lines = Vec::new();
    let mark: &[CapturedLine] = areas.mark.map_or(&[], std::slice::from_ref);
    let first = areas.turn.get(..1).unwrap_or_default();
    let wanted = [
        (&rule.screen, areas.screen),
        (&rule.footer, areas.footer),
        (&rule.turn, areas.turn),
        (&rule.first, first),
        (&rule.mark, mark),
    ];
    for (wanted, area) in wanted {
        for any in wanted {
            lines.push(area.iter().rfind(|line| any.iter().any(|pattern| pattern.is_in(line)))?.text.clone());
        }
    }
    let is_titled = |any: &Vec<TextPattern>| any.iter().any(|pattern| pattern.find(&capture.title).is_some());
    if !rule.title.iter().all(is_titled) {
        return None;
    }
    let lasts =
        |least: u64| lines.iter().filter_map(|line| details::seconds(line)).any(|shown| shown >= least);
    rule.seconds.is_none_or(lasts).then_some(lines)
}

fn has_composer(wanted: ComposerCondition, composer: Option<&CapturedLine>, signature: &Signature) -> bool {
    let text = |text: &str| text.split_once(' ').map_or(String::new(), |(_, text)| text.trim().to_owned());
    match (wanted, composer) {
        (ComposerCondition::Nothing, _) | (ComposerCondition::There, Some(_)) => true,
        (ComposerCondition::Dim, Some(line)) => {
            let shown = text(&line.text);
            let is_placeholder = signature.placeholders.iter().any(|placeholder| shown.contains(placeholder));
            !shown.is_empty() && text(&line.bright).is_empty() && !is_placeholder
        }
        _ => false,
    }
}
