//! Walks what the grammar found, in the order in which it would run.

use rable::CasePattern;
use rable::ListItem;
use rable::ListOperator;
use rable::Node;
use rable::NodeKind;

use crate::Extent;
use crate::heredocs;
use crate::place::Place;
use crate::programs;
use crate::variables::Names;
use crate::variables::Variables;
use crate::walk::Walk;
use crate::words;
use crate::words::Word;

impl Walk<'_> {
    pub(crate) fn walk(&mut self, node: &Node) {
        if !self.may_step() {
            return;
        }
        match &node.kind {
            NodeKind::Command { assignments, words, redirects } => {
                self.command(assignments, words, redirects)
            }
            NodeKind::Pipeline { commands, .. } => self.pipeline(commands),
            NodeKind::List { items } => self.list(items),
            NodeKind::If { condition, then_body, else_body, redirects } => {
                self.redirects(redirects);
                self.choice(condition, then_body, else_body.as_deref());
            }
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
            _ => self.doubt(),
        }
    }

    fn command(&mut self, assignments: &[Node], words: &[Node], redirects: &[Node]) {
        assignments.iter().chain(words).for_each(|word| self.look_into(word));
        self.redirects(redirects);
        if assignments.iter().filter_map(raw).any(programs::is_telling) {
            self.doubt();
        }
        if words.is_empty() {
            assignments.iter().for_each(|word| self.assign(word));
        }
        let input = self.input_of(redirects);
        let words: Vec<Word> = words.iter().flat_map(|word| self.fields(word)).collect();
        let outer = input.map(|input| std::mem::replace(&mut self.input, input));
        programs::run(self, &words);
        if let Some(outer) = outer {
            self.input = outer;
        }
    }

    fn assign(&mut self, word: &Node) {
        let names = Names { here: self.here, place: &self.place, variables: &self.variables };
        if let Some((name, value)) = words::assignment(word, &names) {
            self.variables.set(&name, value);
        }
    }

    /// Each command reads what the one before it writes.
    fn pipeline(&mut self, commands: &[Node]) {
        let mut input = self.input.clone();
        for command in commands {
            self.aside(|walk| {
                let outer = std::mem::replace(&mut walk.input, input.clone());
                walk.walk(command);
                input = walk.output_of(command);
                walk.input = outer;
            });
        }
    }

    /// Once for each word, where the text tells them and they are few.
    fn for_each(&mut self, var: &str, words: &Option<Vec<Node>>, body: &Node, redirects: &[Node]) {
        words.iter().flatten().for_each(|word| self.look_into(word));
        self.redirects(redirects);
        let values: Vec<Word> = match words {
            Some(words) => words.iter().flat_map(|word| self.fields(word)).collect(),
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

    /// Steps of a list one after the other. The grammar makes them a tree that
    /// leans to the left, as deep as the list is long, so this does not recurse.
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
        // Where this chain of `&&` and `||` began, and where its last command did.
        let mut chain = self.place.clone();
        let mut last = self.place.clone();
        let mut is_alternative = false;
        let (mut is_skipped, mut is_conditional) = (false, false);
        for (node, operator) in steps {
            let place = self.place.clone();
            if is_skipped {
                // `true || this`, `false && this`.
            } else if is_alternative {
                self.if_so(|walk| walk.alternative(node, &chain, &last));
            } else if is_conditional {
                self.if_so(|walk| walk.walk(node));
            } else {
                self.walk(node);
            }
            is_conditional = *operator == Some(ListOperator::And);
            last = place;
            is_alternative = *operator == Some(ListOperator::Or);
            is_skipped = match (operator, outcome(node)) {
                (Some(ListOperator::Or), Some(succeeds)) => succeeds,
                (Some(ListOperator::And), Some(succeeds)) => !succeeds,
                _ => false,
            };
            match operator {
                Some(ListOperator::And | ListOperator::Or) => {}
                Some(ListOperator::Background) => self.place = chain.clone(),
                Some(ListOperator::Semi) | None => chain = self.place.clone(),
            }
        }
    }

    /// What follows `||` runs where a `cd` that failed left off.
    fn alternative(&mut self, node: &Node, chain: &Place, last: &Place) {
        let moved = self.place.clone();
        if moved != *chain {
            self.place = if last == chain { chain.clone() } else { Place::unknown() };
        }
        let from = self.place.clone();
        self.walk(node);
        self.place = if self.place == from || self.place == moved { moved } else { Place::unknown() };
    }

    /// What follows `else` runs where a `cd` in the condition failed, so it is
    /// not known where.
    fn choice(&mut self, condition: &Node, then_body: &Node, else_body: Option<&Node>) {
        let start = self.place.clone();
        self.walk(condition);
        let other = if self.place == start { start } else { Place::unknown() };
        let bodies = [(self.place.clone(), Some(then_body)), (other, else_body)];
        self.branches(bodies);
    }

    /// One of these runs, each from its place; `None` does nothing.
    fn branches<'n>(&mut self, bodies: impl IntoIterator<Item = (Place, Option<&'n Node>)>) {
        let mut ends: Vec<Place> = Vec::new();
        let before = self.variables.clone();
        let mut after: Option<Variables> = None;
        for (place, body) in bodies {
            self.place = place;
            self.variables = before.clone();
            if let Some(body) = body {
                self.if_so(|walk| walk.walk(body));
            }
            ends.push(self.place.clone());
            match &mut after {
                Some(after) => after.meet(&self.variables),
                None => after = Some(self.variables.clone()),
            }
        }
        self.variables = after.unwrap_or(before);
        if ends.windows(2).any(|pair| pair[0] != pair[1]) {
            self.place = Place::unknown();
        }
    }

    /// Runs any number of times: if it does not come back to where it began,
    /// the second time is somewhere else.
    fn repeat(&mut self, work: impl FnOnce(&mut Self)) {
        let (start, before) = (self.place.clone(), self.variables.clone());
        work(self);
        self.variables.meet(&before);
        if self.place != start {
            self.place = Place::unknown();
            self.doubt();
        }
    }

    fn case(&mut self, word: &Node, patterns: &[CasePattern], redirects: &[Node]) {
        self.look_into(word);
        patterns.iter().flat_map(|case| &case.patterns).for_each(|pattern| self.look_into(pattern));
        self.redirects(redirects);
        let start = self.place.clone();
        let bodies = patterns.iter().map(|case| case.body.as_ref()).chain([None]);
        self.branches(bodies.map(|body| (start.clone(), body)));
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
            _ => self.doubt(),
        }
    }

    fn arithmetic(&mut self, texts: &[&String]) {
        if texts.iter().any(|text| has_substitution(text)) {
            self.doubt();
        }
    }

    fn redirects(&mut self, redirects: &[Node]) {
        redirects.iter().for_each(|redirect| self.redirect(redirect));
    }

    fn redirect(&mut self, node: &Node) {
        match &node.kind {
            NodeKind::HereDoc { content, quoted, .. } => {
                self.heredocs += 1;
                if !quoted && heredocs::has_commands(content) {
                    self.doubt();
                }
            }
            NodeKind::Redirect { op, target, .. } => {
                self.look_into(target);
                if matches!(op.as_str(), ">" | ">>" | ">|" | "&>" | "&>>" | "<>" | ">&") {
                    match self.fields(target).as_slice() {
                        [Word::Text(text)] if op == ">&" && is_descriptor(text) => {}
                        [word @ Word::Text(_)] => self.write(word, Extent::File, op),
                        // Whether a pattern has one match, the text does not tell; what a
                        // variable stands for one after the other, it does.
                        [word @ Word::Glob(_)] if has_variable(target) => self.write(word, Extent::File, op),
                        _ => self.doubt(),
                    }
                }
            }
            _ => {}
        }
    }

    /// Walks the substitutions of a word.
    fn look_into(&mut self, word: &Node) {
        let NodeKind::Word { value, parts, .. } = &word.kind else { return };
        for part in parts {
            match &part.kind {
                NodeKind::CommandSubstitution { command, .. }
                | NodeKind::ProcessSubstitution { command, .. } => self.aside(|walk| walk.walk(command)),
                NodeKind::ParamExpansion { arg: Some(text), .. }
                | NodeKind::ParamIndirect { arg: Some(text), .. }
                | NodeKind::BraceExpansion { content: text }
                | NodeKind::LocaleString { content: text, .. } => self.look_inside(text),
                // The grammar leaves those that are two levels down as text.
                NodeKind::WordLiteral { value } if starts_substitution(value) => self.look_inside(value),
                NodeKind::ArithmeticExpansion { .. } if has_substitution(&value.replace("$((", "")) => {
                    self.doubt();
                }
                NodeKind::ParamExpansion { param, .. } | NodeKind::ParamLength { param }
                    if has_substitution(param) =>
                {
                    self.doubt();
                }
                _ => {}
            }
        }
        // The old way to write arithmetic is text to the grammar.
        if value.contains("$[") && has_substitution(value) && self.fields(word) == [Word::Unknown] {
            self.doubt();
        }
    }

    /// Walks the substitutions of a text that is part of a word.
    fn look_inside(&mut self, text: &str) {
        if !has_substitution(text) {
            return;
        }
        self.deeper(|walk| match rable::parse(&format!("x {text}"), false).as_deref() {
            Ok([Node { kind: NodeKind::Command { words, redirects, .. }, .. }]) if redirects.is_empty() => {
                words.iter().for_each(|word| walk.look_into(word));
            }
            _ => walk.doubt(),
        });
    }
}

/// How often the body of a loop is read.
const MOST_ROUNDS: usize = 32;

/// Whether a command surely succeeds or fails.
fn outcome(node: &Node) -> Option<bool> {
    let NodeKind::Command { words, .. } = &node.kind else { return None };
    match words.as_slice() {
        [word] => match raw(word) {
            Some("true" | ":") => Some(true),
            Some("false") => Some(false),
            _ => None,
        },
        _ => None,
    }
}

fn has_variable(word: &Node) -> bool {
    raw(word).is_some_and(|text| text.contains('$'))
}

fn raw(word: &Node) -> Option<&str> {
    match &word.kind {
        NodeKind::Word { value, .. } => Some(value),
        _ => None,
    }
}

fn has_substitution(text: &str) -> bool {
    text.contains('`') || text.as_bytes().windows(2).any(|pair| matches!(pair, b"$(" | b"<(" | b">("))
}

fn starts_substitution(text: &str) -> bool {
    ["$(", "<(", ">("].iter().any(|start| text.starts_with(start))
}

/// `1`, `-` and `1-` after `>&`.
fn is_descriptor(text: &str) -> bool {
    text.strip_suffix('-').unwrap_or(text).bytes().all(|byte| byte.is_ascii_digit())
}
