//! The screen as plain lines, for screen readers: prints each change once, in a sentence, and reads typed
//! answers.

use std::collections::BTreeMap;

use consort_core::presence::Status;
use consort_core::text;

use crate::Item;
use crate::Model;
use crate::view::status_word;

/// The agents and items that were printed already, as they were then.
#[derive(Debug, Default)]
pub struct Teller {
    agents: BTreeMap<String, (String, Status)>,
    items: BTreeMap<String, i64>,
}

impl Teller {
    /// Returns lines about everything that has changed since the last call.
    pub fn tell(&mut self, model: &Model) -> Vec<String> {
        let mut lines = Vec::new();
        self.tell_agents(model, &mut lines);
        let queue = model.queue();
        for item in &queue {
            if self.items.insert(item.key.clone(), item.number).is_none() {
                lines.extend(item_lines(item));
            }
        }
        let gone = |key: &String| !queue.iter().any(|item| item.key == *key);
        let over: Vec<(String, i64)> = self
            .items
            .iter()
            .filter(|(key, _)| gone(key))
            .map(|(key, number)| (key.clone(), *number))
            .collect();
        for (key, number) in over {
            self.items.remove(&key);
            if number > 0 {
                lines.push(format!("{number} does not wait any more."));
            }
        }
        lines
    }

    fn tell_agents(&mut self, model: &Model, lines: &mut Vec<String>) {
        let agents = model.agents();
        for agent in &agents {
            let now = (agent.name.clone(), agent.status);
            let before = self.agents.insert(agent.key.clone(), now.clone());
            if before.as_ref() == Some(&now) || agent.status == Status::Gone && before.is_none() {
                continue;
            }
            let doing = match agent.doing.as_str() {
                "" => String::new(),
                doing => format!(": {}", text::one_line(doing, 120)),
            };
            lines.push(format!("{} ({}) is {}{doing}.", agent.name, agent.cli, status_word(agent.status)));
        }
        let gone: Vec<String> = self
            .agents
            .keys()
            .filter(|key| !agents.iter().any(|agent| agent.key == **key))
            .cloned()
            .collect();
        for key in gone {
            if let Some((name, status)) = self.agents.remove(&key)
                && status != Status::Gone
            {
                lines.push(format!("{name} is gone."));
            }
        }
    }
}

/// Returns the words of the command that a typed line stands for: `3 1` and `3 allow` answer item 3, anything
/// else is a command. The error is a text to print; `?` gives the help.
pub fn typed_words(model: &Model, line: &str) -> Result<Vec<String>, String> {
    let words = crate::update::split(line).map_err(str::to_owned)?;
    let Some(first) = words.first() else { return Ok(Vec::new()) };
    if first == "?" {
        let help = "Type a number and an answer, as in 3 allow. Or any command: who, waiting, inbox, \
                    send Falcon 'hello', pane screen Falcon, explain src/a.rs. q quits.";
        return Err(help.to_owned());
    }
    let Ok(number) = first.trim_start_matches('#').parse::<i64>() else { return Ok(words) };
    let item = model.queue().into_iter().find(|item| item.number == number);
    let item = item.ok_or_else(|| format!("{number} does not wait for an answer."))?;
    if words.len() < 2 {
        return Err(format!("Type {number} and your answer."));
    }
    let chosen = |word: &String| {
        let at = word.parse::<usize>().ok().and_then(|at| at.checked_sub(1));
        at.and_then(|at| item.options.get(at)).unwrap_or(word).clone()
    };
    let answer = words[1..].iter().map(chosen);
    Ok(["answer".to_owned(), number.to_string(), "--".to_owned()].into_iter().chain(answer).collect())
}

/// Returns lines such as `Falcon (claude) needs you, number 3: permission.` and `Bash: cargo test`, and the
/// possible answers.
fn item_lines(item: &Item) -> Vec<String> {
    let cli = item.cli.as_ref().map_or_else(String::new, |cli| format!(" ({cli})"));
    let tool = item.tool.as_ref().map_or_else(String::new, |tool| format!("{tool}: "));
    let number = if item.number > 0 { format!(", number {}", item.number) } else { String::new() };
    let mut lines = vec![format!("{}{cli} needs you{number}: {}.", item.agent, item.kind.words())];
    lines.extend(text::printable(&format!("{tool}{}", item.text)).lines().map(|line| format!("  {line}")));
    if item.number > 0 && !item.options.is_empty() {
        let options = item.options.iter().enumerate().map(|(at, option)| format!("{} {option}", at + 1));
        lines.push(format!("  Answers: {}.", options.collect::<Vec<_>>().join(", ")));
        lines.push(format!("  Type {} and your answer, for example: {} 1", item.number, item.number));
    }
    lines
}
