//! Evaluates tests in a shell command (`[ a = b ]`, `[[ … ]]`), where both sides are
//! known from the text.

use rable::Node;
use rable::NodeKind;

use crate::variables::Names;
use crate::words;
use crate::words::ANY;
use crate::words::Word;

impl Names<'_> {
    /// Whether a command surely succeeds or surely fails.
    pub(crate) fn outcome(&self, node: &Node) -> Option<bool> {
        match &node.kind {
            NodeKind::Command { words, redirects, .. } if redirects.is_empty() => {
                let words: Vec<Word> = words.iter().flat_map(|word| words::fields(word, self)).collect();
                let words: Option<Vec<&str>> = words.iter().map(known).collect();
                match words?.as_slice() {
                    ["true" | ":"] => Some(true),
                    ["false"] => Some(false),
                    ["[", test @ .., "]"] | ["test", test @ ..] => is_so(test),
                    _ => None,
                }
            }
            NodeKind::Negation { pipeline } => self.outcome(pipeline).map(|outcome| !outcome),
            NodeKind::ConditionalExpr { body, .. } => self.condition(body),
            _ => None,
        }
    }

    fn condition(&self, node: &Node) -> Option<bool> {
        match &node.kind {
            NodeKind::CondParen { inner } => self.condition(inner),
            NodeKind::CondNot { operand } => self.condition(operand).map(|so| !so),
            NodeKind::UnaryTest { op, operand, .. } => is_so(&[op, &self.term(operand)?]),
            NodeKind::BinaryTest { op, left, right, .. } => {
                is_so(&[&self.term(left)?, op, &self.term(right)?])
            }
            _ => None,
        }
    }

    fn term(&self, node: &Node) -> Option<String> {
        let NodeKind::CondTerm { value, .. } = &node.kind else { return None };
        let nodes = rable::parse(&format!("x {value}"), false).ok()?;
        let [Node { kind: NodeKind::Command { words, .. }, .. }] = nodes.as_slice() else { return None };
        let words: Vec<Word> = words[1..].iter().flat_map(|word| words::fields(word, self)).collect();
        match words.as_slice() {
            [word] => known(word).map(str::to_owned),
            _ => None,
        }
    }
}

fn known(word: &Word) -> Option<&str> {
    word.text().filter(|text| !text.contains(ANY))
}

fn is_so(test: &[&str]) -> Option<bool> {
    match test {
        ["!", test @ ..] => is_so(test).map(|so| !so),
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
        _ => None,
    }
}
