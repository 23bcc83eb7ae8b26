//! Evaluates tests in a shell command (`[ a = b ]`, `[[ … ]]`) if both sides are known from the text.

use rable::ListItem;
use rable::ListOperator;
use rable::Node;
use rable::NodeKind;

use crate::nodes::raw;
use crate::programs;
use crate::variables::Names;
use crate::words;
use crate::words::ANY;
use crate::words::Word;

impl Names<'_> {
    /// Returns whether a command succeeds or fails; `None` if that is not sure.
    pub(crate) fn succeeds(&self, node: &Node) -> Option<bool> {
        match &node.kind {
            NodeKind::Command { words, .. } => {
                let words: Vec<String> = words.iter().map(|word| self.tested(word)).collect::<Option<_>>()?;
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                match words.as_slice() {
                    ["true" | ":", ..] => Some(true),
                    ["false", ..] => Some(false),
                    ["exit" | "return", code] => Some(*code == "0"),
                    ["bash" | "sh", "-c", script] if script.trim().starts_with("exit ") => {
                        Some(script.trim() == "exit 0")
                    }
                    ["ls" | "cat" | "stat" | "head", path] if !path.starts_with('-') => {
                        self.is_there("-e", path).filter(|is_there| !is_there)
                    }
                    ["[", test @ .., "]"] | ["test", test @ ..] => self.holds(test),
                    ["command", "-v", program] | ["which" | "hash", program] => self.is_installed(program),
                    ["grep" | "egrep" | "fgrep", rest @ ..] => self.finds(words[0], rest),
                    ["python" | "python3", "-c", code] => programs::exit_code(code).map(|code| code == 0),
                    _ => None,
                }
            }
            NodeKind::List { items } => self.chain(items),
            NodeKind::BraceGroup { body, .. } | NodeKind::Subshell { body, .. } if is_command(body) => {
                self.succeeds(body)
            }
            NodeKind::Negation { pipeline } => self.succeeds(pipeline).map(|outcome| !outcome),
            NodeKind::ConditionalExpr { body, .. } => self.condition(body),
            NodeKind::ArithmeticCommand { raw_content, .. } => {
                raw_content.trim().parse::<i64>().ok().map(|number| number != 0)
            }
            _ => None,
        }
    }

    fn condition(&self, node: &Node) -> Option<bool> {
        match &node.kind {
            NodeKind::CondParen { inner } => self.condition(inner),
            NodeKind::CondNot { operand } => self.condition(operand).map(|so| !so),
            NodeKind::UnaryTest { op, operand, .. } => self.holds(&[op, &self.term(operand)?]),
            NodeKind::BinaryTest { op, left, right, .. } => {
                self.holds(&[&self.term(left)?, op, &self.term(right)?])
            }
            NodeKind::CondAnd { left, right } => match (self.condition(left), self.condition(right)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            },
            NodeKind::CondOr { left, right } => match (self.condition(left), self.condition(right)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            },
            _ => None,
        }
    }

    fn term(&self, node: &Node) -> Option<String> {
        let NodeKind::CondTerm { value, .. } = &node.kind else { return None };
        let nodes = rable::parse(&format!("x {value}"), false).ok()?;
        let [Node { kind: NodeKind::Command { words, .. }, .. }] = nodes.as_slice() else { return None };
        match &words[1..] {
            [word] => self.tested(word),
            _ => None,
        }
    }

    /// Evaluates a word of a condition, in which a variable that nobody has set is empty.
    fn tested(&self, word: &Node) -> Option<String> {
        let NodeKind::Word { value, .. } = &word.kind else { return None };
        let name =
            value.trim_matches('"').trim_start_matches("${").trim_start_matches('$').trim_end_matches('}');
        let name = name.strip_suffix(":-").or_else(|| name.strip_suffix('-')).unwrap_or(name);
        let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if value.contains('$') && is_name && self.is_unset(name) && value.trim_matches('"').starts_with('$') {
            return Some(String::new());
        }
        match words::fields(word, self).as_slice() {
            [word] => known(word).map(str::to_owned),
            _ => None,
        }
    }

    /// Whether a variable, or a positional argument, surely has no value.
    pub(crate) fn is_unset(&self, name: &str) -> bool {
        match name.parse::<usize>() {
            Ok(position) => self.variables.arguments().is_some_and(|given| given.len() < position),
            Err(_) => {
                let is_known = self.variables.is_set(name) || matches!(name, "HOME" | "PWD" | "OLDPWD");
                !is_known && self.here.variable.is_some_and(|variable| variable(name).is_none())
            }
        }
    }

    /// Evaluates `a && b` and `a || b`.
    fn chain(&self, items: &[ListItem]) -> Option<bool> {
        let [one, two] = items else { return None };
        // A long list is a deep tree, so lists in lists are not evaluated.
        if !is_command(&one.command) || !is_command(&two.command) {
            return None;
        }
        match (one.operator?, self.succeeds(&one.command)) {
            (ListOperator::And, Some(false)) => Some(false),
            (ListOperator::Or, Some(true)) => Some(true),
            (ListOperator::And | ListOperator::Or, Some(_)) => self.succeeds(&two.command),
            _ => None,
        }
    }

    fn holds(&self, test: &[&str]) -> Option<bool> {
        match test {
            ["!", test @ ..] => self.holds(test).map(|so| !so),
            [left @ .., "-a", right, value] if left.len() >= 2 => {
                Some(self.holds(left)? && self.holds(&[right, value])?)
            }
            ["-v", name] => {
                let is_set = self.variables.is_set(name) || self.here.variable?(name).is_some();
                Some(is_set)
            }
            ["-s", path] if let Some(text) = self.unchanged_file(path) => Some(!text.is_empty()),
            [op @ ("-f" | "-d" | "-e" | "-s" | "-r" | "-w" | "-x"), path] => self.is_there(op, path),
            test => is_so(test),
        }
    }

    /// Returns whether `grep` finds a plain text in files that can be read.
    fn finds(&self, program: &str, words: &[&str]) -> Option<bool> {
        let count = words.iter().take_while(|word| word.len() > 1 && word.starts_with('-')).count();
        let (options, [pattern, files @ ..]) = words.split_at(count) else { return None };
        let letters: String = options.iter().map(|option| &option[1..]).collect();
        if letters.contains(|c| !"qsFEn".contains(c)) || pattern.is_empty() || files.is_empty() {
            return None;
        }
        let is_fixed = letters.contains('F') || program == "fgrep";
        let special = if letters.contains('E') || program == "egrep" { "\\[]*^$+?{}()|" } else { "\\[]*^$" };
        let (at_start, at_end) = (pattern.starts_with('^') && !is_fixed, pattern.ends_with('$') && !is_fixed);
        let text = pattern.get(usize::from(at_start)..pattern.len() - usize::from(at_end))?;
        if !is_fixed && text.contains(|c| special.contains(c)) {
            return None;
        }
        let is_in = |line: &str| match (at_start, at_end) {
            (true, true) => line == text,
            (true, false) => line.starts_with(text),
            (false, true) => line.ends_with(text),
            (false, false) => line.contains(text),
        };
        let is_found = files.iter().map(|path| Some(self.unchanged_file(path)?.lines().any(is_in)));
        let is_found = is_found.collect::<Option<Vec<bool>>>()?.contains(&true);
        // A dot in the pattern matches any character: a literal match is certain, its absence is not.
        let is_plain = is_fixed || !pattern.contains('.');
        (is_found || is_plain).then_some(is_found)
    }

    /// Tests whether something is on the disk; `None` if the text has made it before.
    pub(crate) fn is_there(&self, op: &str, path: &str) -> Option<bool> {
        let (path, is_dir, is_there) = (self.place.path(path)?, self.here.is_dir?, self.here.is_there?);
        if self.made.iter().any(|(made, _)| *made == path) {
            return None;
        }
        let is_found = is_there(&path);
        match op {
            "-d" => Some(is_dir(&path)),
            "-f" => Some(is_found && !is_dir(&path)),
            "-e" | "-r" | "-w" => Some(is_found),
            // Mode and size are not looked at, so only a missing file is certain.
            _ => {
                if is_found {
                    None
                } else {
                    Some(false)
                }
            }
        }
    }

    /// Returns whether a program is in a directory of our own `PATH`.
    pub(crate) fn is_installed(&self, program: &str) -> Option<bool> {
        let (path, is_there) = (self.here.variable?("PATH")?, self.here.is_there?);
        Some(path.split(':').any(|directory| is_there(&format!("{directory}/{program}"))))
    }
}

/// Whether a command does nothing but test the state of the machine.
pub(crate) fn is_question(node: &Node) -> bool {
    match &node.kind {
        NodeKind::ConditionalExpr { .. } | NodeKind::ArithmeticCommand { .. } => true,
        NodeKind::Negation { pipeline } => is_question(pipeline),
        NodeKind::Pipeline { commands, .. } => commands.last().is_some_and(is_question),
        NodeKind::Command { words, .. } => {
            let words: Vec<&str> = words.iter().filter_map(raw).collect();
            let is_quiet = |word: &&str| {
                matches!(*word, "--quiet" | "--exit-code" | "--verify" | "--error-unmatch" | "--is-ancestor")
                    || word.starts_with('-') && !word.starts_with("--") && word.contains('q')
            };
            match words.split_first() {
                Some((&("[" | "test"), _)) => true,
                Some((&("grep" | "egrep" | "fgrep" | "rg" | "diff" | "cmp"), rest)) => {
                    rest.iter().any(is_quiet)
                }
                Some((&"git", rest)) => {
                    const ASKS: &[&str] = &[
                        "diff",
                        "diff-index",
                        "diff-files",
                        "show-ref",
                        "rev-parse",
                        "merge-base",
                        "ls-files",
                    ];
                    rest.first().is_some_and(|verb| ASKS.contains(verb)) && rest.iter().any(is_quiet)
                }
                _ => false,
            }
        }
        _ => false,
    }
}

fn is_command(node: &Node) -> bool {
    matches!(node.kind, NodeKind::Command { .. } | NodeKind::ConditionalExpr { .. })
}

fn known(word: &Word) -> Option<&str> {
    word.text().filter(|text| !text.contains(ANY))
}

fn is_so(test: &[&str]) -> Option<bool> {
    match test {
        [left, "=" | "==", right] => Some(left == right),
        [left, "!=", right] => Some(left != right),
        [left, op @ ("-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge"), right] => {
            let (left, right): (i64, i64) = (left.parse().ok()?, right.parse().ok()?);
            Some(match *op {
                "-eq" => left == right,
                "-ne" => left != right,
                "-lt" => left < right,
                "-le" => left <= right,
                "-gt" => left > right,
                _ => left >= right,
            })
        }
        ["-n", text] => Some(!text.is_empty()),
        ["-z", text] => Some(text.is_empty()),
        [text] => Some(!text.is_empty()),
        _ => None,
    }
}
