//! Walks the syntax tree of a shell command in the order in which it would run: lists,
//! pipelines, loops, functions.

use rable::CasePattern;
use rable::ListItem;
use rable::ListOperator;
use rable::Node;
use rable::NodeKind;

use crate::conditions;
use crate::globs;
use crate::input::Input;
use crate::place::Place;
use crate::programs;
use crate::variables::Variables;
use crate::walk::Walk;
use crate::words;
use crate::words::Word;

impl Walk<'_> {
    pub(crate) fn walk(&mut self, node: &Node) {
        if self.has_ended || !self.may_step() {
            return;
        }
        match &node.kind {
            NodeKind::Command { assignments, words, redirects } => {
                self.command(node, assignments, words, redirects);
            }
            NodeKind::Pipeline { commands, .. } => self.pipeline(commands),
            NodeKind::List { items } => self.list(items),
            NodeKind::If { condition, then_body, else_body, redirects } => {
                self.redirects(redirects);
                self.choice(condition, then_body, else_body.as_deref());
            }
            NodeKind::While { condition, body, redirects }
                if let Some((names, lines)) = self.lines_read(condition, redirects) =>
            {
                self.redirects(redirects);
                for line in lines {
                    self.set_read(&names, &line);
                    self.repeat(|walk| walk.walk(body));
                }
            }
            NodeKind::While { condition, .. } if self.names().succeeds(condition) == Some(false) => {}
            NodeKind::Until { condition, .. } if self.names().succeeds(condition) == Some(true) => {}
            NodeKind::While { condition, body, redirects }
            | NodeKind::Until { condition, body, redirects } => {
                self.redirects(redirects);
                self.repeat(|walk| {
                    walk.walk(condition);
                    walk.walk(body);
                });
            }
            NodeKind::For { var, words, body, redirects } => self.for_each(var, words, body, redirects),
            NodeKind::Select { var, words, body, redirects } => {
                words.iter().flatten().for_each(|word| self.look_into(word));
                self.redirects(redirects);
                self.variables.set(var, Word::Unknown);
                self.repeat(|walk| walk.walk(body));
            }
            NodeKind::ForArith { init, cond, incr, body, redirects } => {
                self.arithmetic(&[init, cond, incr]);
                self.redirects(redirects);
                self.repeat(|walk| walk.walk(body));
            }
            NodeKind::Case { word, patterns, redirects } => self.case(word, patterns, redirects),
            NodeKind::Function { name, body } => self.define(name, body),
            NodeKind::Subshell { body, redirects } => {
                self.redirects(redirects);
                self.aside(|walk| walk.walk(body));
            }
            NodeKind::BraceGroup { body, redirects } => {
                self.redirects(redirects);
                self.walk(body);
            }
            NodeKind::Coproc { command, .. } => self.aside(|walk| walk.walk(command)),
            NodeKind::Negation { pipeline } | NodeKind::Time { pipeline, .. } => self.walk(pipeline),
            NodeKind::ArithmeticCommand { raw_content, redirects, .. } => {
                self.arithmetic(&[raw_content]);
                self.redirects(redirects);
            }
            NodeKind::ConditionalExpr { body, redirects } => {
                self.condition(body);
                self.redirects(redirects);
            }
            NodeKind::Redirect { .. } | NodeKind::HereDoc { .. } => self.redirect(node),
            NodeKind::Empty | NodeKind::Comment { .. } => {}
            _ => self.note_unknown_write(),
        }
    }

    fn command(&mut self, node: &Node, assignments: &[Node], words: &[Node], redirects: &[Node]) {
        assignments.iter().chain(words).for_each(|word| self.look_into(word));
        assignments.iter().chain(words).for_each(|word| self.set_default(word));
        // `declare -a NAME=(words)`
        if words
            .first()
            .and_then(raw)
            .is_some_and(|name| matches!(name, "declare" | "local" | "typeset" | "readonly"))
        {
            words[1..]
                .iter()
                .filter(|word| raw(word).is_some_and(|text| text.ends_with(')')))
                .for_each(|word| self.assign(word));
        }
        self.redirects(redirects);
        self.note_made(node, redirects);
        if assignments.iter().filter_map(raw).any(programs::has_hidden_effect) {
            self.note_unknown_write();
        }
        if words.is_empty() {
            assignments.iter().for_each(|word| self.assign(word));
        }
        let input = self.names().input_of(redirects);
        let fed = words.iter().find_map(words::substituted);
        if let Some(text) = fed.map(|command| self.names().output(command, &Input::Unknown)) {
            self.made.push((words::SUBSTITUTION_PATH.into(), text.text().map(str::to_owned)));
        }
        let words: Vec<Word> = words.iter().flat_map(|word| self.fields(word)).collect();
        let outer = input.map(|input| std::mem::replace(&mut self.input, input));
        // `NAME=value program` sets the variable for that program alone.
        let before = (!words.is_empty() && !assignments.is_empty()).then(|| self.variables.clone());
        if before.is_some() {
            assignments.iter().for_each(|word| self.assign(word));
        }
        programs::call(self, &words);
        if let Some(before) = before {
            let names = assignments.iter().filter_map(raw).filter_map(|word| word.split_once('='));
            names.for_each(|(name, _)| self.variables.restore(name, &before));
        }
        if let Some(outer) = outer {
            self.input = outer;
        }
    }

    /// Records the text that a command writes into a file, for a script that may be run from it.
    fn note_made(&mut self, node: &Node, redirects: &[Node]) {
        for redirect in redirects {
            if let NodeKind::Redirect { op, target, .. } = &redirect.kind
                && op.starts_with('>')
                && let [Word::Text(path)] = self.fields(target).as_slice()
                && let Some(path) = self.place.path(path)
            {
                let is_patch = [".patch", ".diff"].iter().any(|ending| path.ends_with(ending));
                let text = match op.as_str() {
                    ">" if is_patch => {
                        let told = self.names().output(&without_redirects(node), &self.input);
                        told.text().map(str::to_owned)
                    }
                    ">" => self.names().printed(node, &self.input).text().map(str::to_owned),
                    _ => None,
                };
                self.made.push((path, text));
            }
        }
    }

    fn assign(&mut self, word: &Node) {
        if let Some((name, is_more, words)) = words::array(word, &self.names()) {
            let before = if is_more { self.variables.list(&name).map(<[Word]>::to_vec) } else { None };
            let words = before.unwrap_or_default().into_iter().chain(words).collect();
            return self.variables.set_list(&name, words);
        }
        if let Some((name, value)) = words::assignment(word, &self.names()) {
            self.variables.set(&name, value);
        }
    }

    /// Applies `${NAME:=value}`, which sets an unset variable, and `${NAME:?}`, which ends the script then.
    fn set_default(&mut self, word: &Node) {
        let NodeKind::Word { parts, .. } = &word.kind else { return };
        for part in parts {
            if let NodeKind::ParamExpansion { param, op: Some(op), arg } = &part.kind
                && matches!(op.as_str(), ":=" | "=")
                && let Some(value) = self.names().expand(param, Some(op), arg.as_deref())
            {
                self.variables.set(param, value);
            }
            if let NodeKind::ParamExpansion { param, op: Some(op), .. } = &part.kind
                && matches!(op.as_str(), ":?" | "?")
                && self.conditions == 0
                && self.names().is_unset(param)
            {
                self.note_unknown_write();
                self.has_ended = true;
            }
        }
    }

    /// Returns the variables that `while read …` sets and the lines it reads, if they are few.
    fn lines_read(&self, condition: &Node, redirects: &[Node]) -> Option<(Vec<String>, Vec<Word>)> {
        let NodeKind::Command { assignments, words, .. } = &condition.kind else { return None };
        let words: Vec<Word> = words.iter().flat_map(|word| self.fields(word)).collect();
        let (program, rest) = words.split_first()?;
        let names = (program.text() == Some("read")).then(|| programs::names_read(rest))??;
        // With another IFS, the words of a line are not known.
        let is_ifs = |word: &Node| raw(word).is_some_and(|text| text.starts_with("IFS=") && text != "IFS=");
        if names.len() > 1 && (assignments.iter().any(is_ifs) || self.variables.is_set("IFS")) {
            return None;
        }
        let input = self.names().input_of(redirects).unwrap_or_else(|| self.input.clone());
        let lines = input.lines().filter(|lines| lines.len() <= MOST_ROUNDS)?;
        Some((names, lines))
    }

    /// Puts the words of a line into variables, as `read` does.
    pub(crate) fn set_read(&mut self, names: &[String], line: &Word) {
        match (names, line) {
            ([name], line) => self.variables.set(name, line.clone()),
            (names, Word::Text(line)) => {
                let mut rest = line.trim();
                for (at, name) in names.iter().enumerate() {
                    let is_last = at + 1 == names.len();
                    let (word, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
                    self.variables.set(name, Word::Text((if is_last { rest } else { word }).to_owned()));
                    rest = after.trim_start();
                }
            }
            (names, _) => names.iter().for_each(|name| self.variables.set(name, Word::Unknown)),
        }
    }

    /// Walks a pipeline: each command reads the output of the command before it.
    fn pipeline(&mut self, commands: &[Node]) {
        let mut input = self.input.clone();
        for command in commands {
            self.aside(|walk| {
                let outer = std::mem::replace(&mut walk.input, input.clone());
                walk.walk(command);
                let first = walk.input.clone();
                input = walk.names().output(command, &first);
                walk.input = outer;
            });
        }
    }

    /// Walks the body of `for` once for each word, if the words are known and few.
    fn for_each(&mut self, var: &str, words: &Option<Vec<Node>>, body: &Node, redirects: &[Node]) {
        words.iter().flatten().for_each(|word| self.look_into(word));
        self.redirects(redirects);
        let values: Vec<Word> = match words {
            Some(words) => {
                let values: Vec<Word> = words.iter().flat_map(|word| self.fields(word)).collect();
                // Files that the text has made so far are not on the disk.
                if self.has_written() { values } else { self.names().all_expanded(values) }
            }
            None => self.variables.arguments().map_or_else(|| vec![Word::Unknown], <[Word]>::to_vec),
        };
        if values.len() > MOST_ROUNDS || values.contains(&Word::Unknown) {
            self.variables.set(var, Word::Unknown);
            return self.repeat(|walk| walk.walk(body));
        }
        for value in values {
            self.variables.set(var, value);
            self.repeat(|walk| walk.walk(body));
        }
    }

    /// Walks the commands of a list in order. The grammar makes lists a tree that leans to the
    /// left, as deep as the list is long, so this does not recurse.
    fn list(&mut self, items: &[ListItem]) {
        let mut levels = vec![items];
        let mut inner = items;
        while let Some(ListItem { command: Node { kind: NodeKind::List { items }, .. }, .. }) = inner.first()
        {
            levels.push(items);
            inner = items;
        }
        let mut steps: Vec<(&Node, Option<ListOperator>)> = Vec::new();
        for (depth, items) in levels.iter().rev().enumerate() {
            let mut items = items.iter();
            if depth > 0
                && let (Some(left), Some(last)) = (items.next(), steps.last_mut())
            {
                last.1 = left.operator;
            }
            steps.extend(items.map(|item| (&item.command, item.operator)));
        }
        self.steps(&steps);
    }

    fn steps(&mut self, steps: &[(&Node, Option<ListOperator>)]) {
        // The directory at the start of this chain of `&&` and `||`, and before its last command.
        let mut chain = self.place.clone();
        let mut last = self.place.clone();
        let mut is_alternative = false;
        let (mut is_skipped, mut is_conditional, mut is_unsure) = (false, false, false);
        for (node, operator) in steps {
            let place = self.place.clone();
            self.is_nowhere &= is_skipped;
            self.unsure += usize::from(is_unsure);
            if is_skipped {
                // Skipped: `true || this`, `false && this`.
            } else if is_alternative {
                self.if_so(|walk| walk.alternative(node, &chain, &last));
            } else if is_conditional {
                self.if_so(|walk| walk.walk(node));
            } else {
                self.walk(node);
            }
            self.unsure -= usize::from(is_unsure);
            last = place;
            let has_failed = self.is_nowhere && matches!(node.kind, NodeKind::Command { .. });
            let outcome = if is_skipped { None } else { self.names().succeeds(node) };
            let outcome = outcome.or(has_failed.then_some(false));
            let is_chained = matches!(operator, Some(ListOperator::And | ListOperator::Or));
            is_unsure = is_chained && (is_unsure || outcome.is_none() && self.is_question(node));
            is_alternative = *operator == Some(ListOperator::Or) && outcome.is_none();
            is_skipped = match (operator, outcome) {
                (Some(ListOperator::Or), Some(succeeds)) => succeeds,
                (Some(ListOperator::And), Some(succeeds)) => !succeeds,
                _ => false,
            };
            is_conditional = *operator == Some(ListOperator::And) && outcome.is_none();
            // With `set -e`, a failure ends the script.
            if self.ends_on_error && outcome == Some(false) && !is_chained && !is_conditional {
                self.has_ended = true;
            }
            match operator {
                Some(ListOperator::And | ListOperator::Or) => {}
                Some(ListOperator::Background) => {
                    self.leaves_job = true;
                    self.place = chain.clone();
                    self.has_ended = false;
                }
                Some(ListOperator::Semi) | None => chain = self.place.clone(),
            }
        }
    }

    /// Walks the command after `||`, which runs in the directory that a failed `cd` did not leave.
    fn alternative(&mut self, node: &Node, chain: &Place, last: &Place) {
        let moved = self.place.clone();
        if moved != *chain {
            self.place = if last == chain { chain.clone() } else { Place::unknown() };
        }
        let from = self.place.clone();
        self.walk(node);
        self.place = if self.place == from || self.place == moved { moved } else { Place::unknown() };
    }

    /// Walks an `if`. The `else` branch runs if a `cd` in the condition failed, so
    /// its directory is not known.
    fn choice(&mut self, condition: &Node, then_body: &Node, else_body: Option<&Node>) {
        let start = self.place.clone();
        self.walk(condition);
        match self.names().succeeds(condition) {
            Some(true) => return self.walk(then_body),
            Some(false) => return else_body.into_iter().for_each(|body| self.walk(body)),
            None => {}
        }
        let other = if self.place == start { start } else { Place::unknown() };
        let bodies = [(self.place.clone(), Some(then_body)), (other, else_body)];
        self.branches(bodies, self.is_question(condition));
    }

    /// Whether only the state of the machine decides how a command ends. The result of a function
    /// of the text is not followed.
    fn is_question(&self, node: &Node) -> bool {
        let is_function = |name: &str| self.defines(name);
        conditions::is_question(node)
            || matches!(&node.kind, NodeKind::Command { words, .. } if words.first().and_then(raw).is_some_and(is_function))
    }

    /// Walks branches of which one runs, each from its own directory; `None` is an
    /// empty branch. With `is_unsure`, only the state of the machine decides which
    /// one runs, so none of them is sure.
    fn branches<'n>(&mut self, bodies: impl IntoIterator<Item = (Place, Option<&'n Node>)>, is_unsure: bool) {
        let mut ends: Vec<Place> = Vec::new();
        let before = self.variables.clone();
        let mut after: Option<Variables> = None;
        for (place, body) in bodies {
            self.place = place;
            self.variables = before.clone();
            if let Some(body) = body {
                self.unsure += usize::from(is_unsure);
                self.if_so(|walk| walk.walk(body));
                self.unsure -= usize::from(is_unsure);
            }
            ends.push(self.place.clone());
            match &mut after {
                Some(after) => after.keep_common(&self.variables),
                None => after = Some(self.variables.clone()),
            }
        }
        self.variables = after.unwrap_or(before);
        if ends.windows(2).any(|pair| pair[0] != pair[1]) {
            self.place = Place::unknown();
        }
    }

    /// Walks a body that runs any number of times: if it does not end in the directory it began in,
    /// the second round runs somewhere else.
    fn repeat(&mut self, work: impl FnOnce(&mut Self)) {
        let (start, before) = (self.place.clone(), self.variables.clone());
        let outer = self.loop_conditions.replace(self.conditions);
        work(self);
        self.loop_conditions = outer;
        // The body may not run at all.
        self.has_ended = false;
        self.variables.keep_common(&before);
        if self.place != start {
            self.place = Place::unknown();
            self.note_unknown_write();
        }
    }

    fn case(&mut self, word: &Node, patterns: &[CasePattern], redirects: &[Node]) {
        self.look_into(word);
        patterns.iter().flat_map(|case| &case.patterns).for_each(|pattern| self.look_into(pattern));
        self.redirects(redirects);
        if let Some(body) = self.case_of(word, patterns) {
            return body.into_iter().for_each(|body| self.walk(body));
        }
        let start = self.place.clone();
        let bodies = patterns.iter().map(|case| case.body.as_ref()).chain([None]);
        self.branches(bodies.map(|body| (start.clone(), body)), true);
    }

    /// Finds the body of a `case` that surely runs, if any; `None` if the text does not tell which.
    fn case_of<'n>(&self, word: &Node, patterns: &'n [CasePattern]) -> Option<Option<&'n Node>> {
        let word = self.fields(word);
        let [Word::Text(text)] = word.as_slice() else { return None };
        if patterns.iter().any(|case| case.terminator != ";;" && !case.terminator.is_empty()) {
            return None;
        }
        for case in patterns {
            for pattern in &case.patterns {
                match self.fields(pattern).as_slice() {
                    [Word::Text(known)] if known == text => return Some(case.body.as_ref()),
                    [Word::Text(_)] => {}
                    [Word::Glob(any)] if globs::matches(any, text) => return Some(case.body.as_ref()),
                    [Word::Glob(_)] => {}
                    _ => return None,
                }
            }
        }
        Some(None)
    }

    fn condition(&mut self, node: &Node) {
        match &node.kind {
            NodeKind::UnaryTest { operand, .. } | NodeKind::CondNot { operand } => self.condition(operand),
            NodeKind::BinaryTest { left, right, .. }
            | NodeKind::CondAnd { left, right }
            | NodeKind::CondOr { left, right } => {
                self.condition(left);
                self.condition(right);
            }
            NodeKind::CondParen { inner } => self.condition(inner),
            NodeKind::CondTerm { value, .. } => self.look_inside(value),
            _ => self.note_unknown_write(),
        }
    }

    fn arithmetic(&mut self, texts: &[&String]) {
        if texts.iter().any(|text| has_substitution(text)) {
            self.note_unknown_write();
        }
    }
}

/// Returns a command without its redirections, so that its output is printed.
fn without_redirects(node: &Node) -> Node {
    let mut node = node.clone();
    if let NodeKind::Command { redirects, .. } = &mut node.kind {
        redirects.clear();
    }
    node
}

/// Most rounds of a loop that are walked.
const MOST_ROUNDS: usize = 32;

pub(crate) fn raw(word: &Node) -> Option<&str> {
    match &word.kind {
        NodeKind::Word { value, .. } => Some(value),
        _ => None,
    }
}

pub(crate) fn has_substitution(text: &str) -> bool {
    text.contains('`') || text.as_bytes().windows(2).any(|pair| matches!(pair, b"$(" | b"<(" | b">("))
}
