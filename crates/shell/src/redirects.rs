//! What redirections write, and what the substitutions inside of words would do.

use rable::Node;
use rable::NodeKind;

use crate::Extent;
use crate::Needs;
use crate::heredocs;
use crate::nodes::has_substitution;
use crate::nodes::raw;
use crate::walk::Walk;
use crate::words::Word;

impl Walk<'_> {
    pub(crate) fn redirects(&mut self, redirects: &[Node]) {
        redirects.iter().for_each(|redirect| self.redirect(redirect));
    }

    pub(crate) fn redirect(&mut self, node: &Node) {
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
                        // `set -C` keeps what is there.
                        [word @ Word::Text(_)] if self.keeps_files && op == ">" => {
                            self.write_if(word, Extent::File, op, Needs::Absent);
                        }
                        [word @ Word::Text(_)] => self.write(word, Extent::File, op),
                        // Whether a pattern has one match, the text does not tell; what a
                        // variable stands for one after the other, it does.
                        [word @ Word::Glob(_)] if has_variable(target) => self.write(word, Extent::File, op),
                        [Word::Glob(pattern)] => match self.names().expanded(pattern).as_deref() {
                            Some([path]) => self.write(&Word::Text(path.clone()), Extent::File, op),
                            _ => self.doubt(),
                        },
                        _ => self.doubt(),
                    }
                }
            }
            _ => {}
        }
    }

    /// Walks the substitutions of a word.
    pub(crate) fn look_into(&mut self, word: &Node) {
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
    pub(crate) fn look_inside(&mut self, text: &str) {
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

fn has_variable(word: &Node) -> bool {
    raw(word).is_some_and(|text| text.contains('$'))
}

fn starts_substitution(text: &str) -> bool {
    ["$(", "<(", ">("].iter().any(|start| text.starts_with(start))
}

/// `1`, `-` and `1-` after `>&`.
fn is_descriptor(text: &str) -> bool {
    text.strip_suffix('-').unwrap_or(text).bytes().all(|byte| byte.is_ascii_digit())
}
