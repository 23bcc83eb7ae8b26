//! Finds the files that redirections write, and walks the substitutions inside words.

use rable::Node;
use rable::NodeKind;

use crate::Extent;
use crate::Needs;
use crate::heredocs;
use crate::nodes::has_substitution;
use crate::nodes::raw;
use crate::substitutions;
use crate::substitutions::Substitutions;
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
                    self.note_unknown_write();
                }
            }
            NodeKind::Redirect { op, target, .. } => {
                self.look_into(target);
                if writes(op) {
                    match self.fields(target).as_slice() {
                        [Word::Text(text)] if op == ">&" && is_descriptor(text) => {}
                        // `set -C` keeps existing files.
                        [word @ Word::Text(_)] if self.keeps_files && op == ">" => {
                            self.write_if(word, Extent::File, op, Needs::Absent);
                        }
                        [word @ Word::Text(_)] => self.write(word, Extent::File, op),
                        // The text does not tell whether a pattern matches exactly one file; but a
                        // variable stands for one file after the other.
                        [word @ Word::Glob(_)] if has_variable(target) => self.write(word, Extent::File, op),
                        [Word::Glob(pattern)] => match self.names().expanded(pattern).as_deref() {
                            Some([path]) => self.write(&Word::Text(path.clone()), Extent::File, op),
                            _ => self.note_unknown_write(),
                        },
                        _ => self.note_unknown_write(),
                    }
                }
            }
            _ => {}
        }
    }

    /// Walks the substitutions of a word.
    pub(crate) fn look_into(&mut self, word: &Node) {
        self.walk_all(&substitutions::of_word(word));
        // Arithmetic in the old style (`$[…]`) is text to the grammar.
        let is_old = |text: &str| text.contains("$[") && has_substitution(text);
        if raw(word).is_some_and(is_old) && self.fields(word) == [Word::Unknown] {
            self.note_unknown_write();
        }
    }

    /// Walks the substitutions of a text that is part of a word.
    pub(crate) fn look_inside(&mut self, text: &str) {
        self.walk_all(&substitutions::of_text(text));
    }

    fn walk_all(&mut self, found: &Substitutions<'_>) {
        found.commands.iter().for_each(|command| self.aside(|walk| walk.walk(command)));
        if found.has_more {
            self.note_unknown_write();
        }
    }
}

fn has_variable(word: &Node) -> bool {
    raw(word).is_some_and(|text| text.contains('$'))
}

/// Whether a redirection writes its target.
pub(crate) fn writes(op: &str) -> bool {
    matches!(op, ">" | ">>" | ">|" | "&>" | "&>>" | "<>" | ">&")
}

/// Whether the target of `>&` is a descriptor: `1`, `-` or `1-`.
pub(crate) fn is_descriptor(text: &str) -> bool {
    text.strip_suffix('-').unwrap_or(text).bytes().all(|byte| byte.is_ascii_digit())
}
