//! Finds the commands inside words: `$(…)`, `<(…)`, and those in the argument of an expansion.

use std::borrow::Cow;

use rable::Node;
use rable::NodeKind;

use crate::nodes::has_substitution;

/// Deepest nesting of substitutions that is followed.
const DEEPEST: usize = 8;

/// The commands that a word would run.
#[derive(Default)]
pub(crate) struct Substitutions<'n> {
    pub(crate) commands: Vec<Cow<'n, Node>>,
    /// Whether the word may run more commands than these.
    pub(crate) has_more: bool,
}

/// Finds the commands in a word, in order.
pub(crate) fn of_word(word: &Node) -> Substitutions<'_> {
    let mut found = Substitutions::default();
    look_into(word, &mut found, 0);
    found
}

/// Finds the commands in a text that is part of a word.
pub(crate) fn of_text(text: &str) -> Substitutions<'static> {
    let mut found = Substitutions::default();
    look_inside(text, &mut found, 0);
    found
}

fn look_into<'n>(word: &'n Node, found: &mut Substitutions<'n>, depth: usize) {
    let NodeKind::Word { value, parts, .. } = &word.kind else { return };
    for part in parts {
        match &part.kind {
            NodeKind::CommandSubstitution { command, .. } | NodeKind::ProcessSubstitution { command, .. } => {
                found.commands.push(Cow::Borrowed(command));
            }
            NodeKind::ParamExpansion { arg: Some(text), .. }
            | NodeKind::ParamIndirect { arg: Some(text), .. }
            | NodeKind::BraceExpansion { content: text }
            | NodeKind::LocaleString { content: text, .. } => look_inside(text, found, depth),
            // The grammar leaves substitutions that are two levels down as text.
            NodeKind::WordLiteral { value } if starts_substitution(value) => look_inside(value, found, depth),
            NodeKind::ArithmeticExpansion { .. } if has_substitution(&value.replace("$((", "")) => {
                found.has_more = true;
            }
            NodeKind::ParamExpansion { param, .. } | NodeKind::ParamLength { param }
                if has_substitution(param) =>
            {
                found.has_more = true;
            }
            _ => {}
        }
    }
}

fn look_inside(text: &str, found: &mut Substitutions<'_>, depth: usize) {
    if !has_substitution(text) {
        return;
    }
    match rable::parse(&format!("x {text}"), false).as_deref() {
        Ok([Node { kind: NodeKind::Command { words, redirects, .. }, .. }])
            if redirects.is_empty() && depth < DEEPEST =>
        {
            for word in words {
                let mut inner = Substitutions::default();
                look_into(word, &mut inner, depth + 1);
                found.has_more |= inner.has_more;
                found.commands.extend(inner.commands.into_iter().map(|node| Cow::Owned(node.into_owned())));
            }
        }
        _ => found.has_more = true,
    }
}

fn starts_substitution(text: &str) -> bool {
    ["$(", "<(", ">("].iter().any(|start| text.starts_with(start))
}
