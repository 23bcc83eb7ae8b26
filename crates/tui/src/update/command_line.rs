//! Runs the `consort` command that is typed after `:`, split into words as by a shell.

use consort_core::presence::Status;

use super::run;
use crate::AgentInfo;
use crate::CommandRun;
use crate::Effect;
use crate::Model;

/// Commands that ask questions, run until they are ended, or show a terminal: they get the screen's terminal
/// until they end.
const IN_TERMINAL: &[&str] = &[
    "chat",
    "config accept",
    "config set",
    "config unset",
    "doctor",
    "holds override",
    "holds restore",
    "init",
    "know forget",
    "know sync",
    "know watch",
    "mcp",
    "pane attach",
    "pane watch",
    "policy add",
    "policy remove",
    "roles set",
    "runs attach",
    "runs batch",
    "runs chain",
    "serve",
    "shield",
    "token",
    "uninit",
    "wait",
    "with",
];

/// Commands about paths, or that start an agent in a directory: they run in the project that is chosen. All
/// others run where the screen runs, because the numbers of messages, runs and the queue that it shows are those
/// of its own project.
const IN_CHOSEN_PROJECT: &[&str] = &["explain", "holds", "open", "release", "reserve", "run", "wait", "with"];

/// Options with which a command runs until it is ended, or asks.
const GOES_ON: &[&str] = &["--follow", "-f", "--wait", "--attach", "--force", "--watch"];

/// Runs the typed command.
pub(super) fn carry_out(model: &mut Model, line: &str) -> Vec<Effect> {
    let mut words = match split(line) {
        Ok(words) => words,
        Err(why) => {
            model.complain(why);
            return Vec::new();
        }
    };
    if words.first().is_some_and(|word| word == "consort") {
        words.remove(0);
    }
    match words.first().map(String::as_str) {
        None => return Vec::new(),
        Some("q" | "quit" | "exit") => {
            model.is_over = true;
            return vec![Effect::Quit];
        }
        Some("up") => {
            model.say("You are in it.");
            return Vec::new();
        }
        Some(_) => {}
    }
    let mut command = CommandRun { words, ..CommandRun::default() }.as_page();
    let is_about_place =
        after_options(&command.words).first().is_some_and(|name| IN_CHOSEN_PROJECT.contains(&name.as_str()));
    let other = model.scope.clone().filter(|project| *project != model.project && is_about_place);
    if let Some(other) = other {
        let Some(agent) = model.data.agents.iter().find(|agent| is_at_work_here(agent, &other)) else {
            model.complain(format!(
                "Nobody is at work in {other} on this machine, so there is no directory to run this in."
            ));
            return Vec::new();
        };
        command = command.in_dir(&agent.worktree);
    }
    if takes_terminal(&command.words) { vec![Effect::InTerminal(command)] } else { run(model, command) }
}

fn is_at_work_here(agent: &AgentInfo, project: &str) -> bool {
    agent.project == project && agent.machine.is_none() && agent.status != Status::Gone
}

/// Returns a command without the options before it.
fn after_options(mut words: &[String]) -> &[String] {
    while let [option, rest @ ..] = words
        && option.starts_with("--")
    {
        let skipped = usize::from(!option.contains('=')).min(rest.len());
        words = &rest[skipped..];
    }
    words
}

fn takes_terminal(words: &[String]) -> bool {
    let words = after_options(words);
    let Some(first) = words.first() else { return false };
    let two = words.iter().take(2).cloned().collect::<Vec<_>>().join(" ");
    let is_named = |name: &str| two == name || first == name;
    let goes_on = words
        .iter()
        .take_while(|word| *word != "--")
        .any(|word| GOES_ON.iter().any(|option| word == option || word.starts_with(&format!("{option}="))));
    let is_followed = first == "run" && !words.iter().any(|word| word == "--detach");
    IN_TERMINAL.iter().any(|name| is_named(name)) || goes_on || is_followed
}

/// Splits a line into words as a shell does: quotes keep words together, a backslash takes the next character
/// literally.
pub(crate) fn split(line: &str) -> Result<Vec<String>, &'static str> {
    let (mut words, mut word, mut is_word) = (Vec::new(), String::new(), false);
    let mut quote = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some('\''), c) => word.push(c),
            (_, '\\') => {
                word.extend(chars.next());
                is_word = true;
            }
            (Some(_), c) => word.push(c),
            (None, '\'' | '"') => {
                quote = Some(c);
                is_word = true;
            }
            (None, c) if c.is_whitespace() => {
                if is_word {
                    words.push(std::mem::take(&mut word));
                }
                is_word = false;
            }
            (None, c) => {
                word.push(c);
                is_word = true;
            }
        }
    }
    if quote.is_some() {
        return Err("A quote is not closed.");
    }
    words.extend(is_word.then_some(word));
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_a_shell_does() {
        let split = |line| split(line).unwrap();
        assert_eq!(split("send Falcon 'two words'"), ["send", "Falcon", "two words"]);
        assert_eq!(
            split(r#"send Falcon "it's \"so\"" a\ b ''"#),
            ["send", "Falcon", "it's \"so\"", "a b", ""]
        );
        assert!(super::split("send 'x").is_err());
    }

    #[test]
    fn what_asks_or_goes_on_gets_the_terminal() {
        let takes = |line: &str| takes_terminal(&split(line).unwrap());
        for line in
            ["chat Falcon", "holds override src/", "run 'fix it'", "journal tail -f", "open claude --attach"]
        {
            assert!(takes(line), "{line}");
        }
        for line in ["who", "run --detach 'fix it'", "holds list", "send Falcon -- --follow"] {
            assert!(!takes(line), "{line}");
        }
    }
}
