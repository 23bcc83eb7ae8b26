//! Receipts: hashes of what a run was asked and of what came of it, in a chain that shows whether a
//! receipt was changed or removed since.
//!
//! Every run that has ended has a receipt, which names the hash of the one before it in its
//! project. **Changing, removing or inserting a receipt breaks the chain at that place.** The hash
//! has no key: it shows damage and tidying, not a forgery by somebody who writes all of the
//! receipts again.

use std::fmt::Write as _;

use serde::Deserialize;
use serde::Serialize;
use serde_json::Value;

use super::RunEnd;
use super::RunRecord;
use super::RunState;
use super::Safety;
use super::Usage;
use crate::Timestamp;
use crate::journal::ChangeId;
use crate::journal::Number;

/// A function that hashes bytes to hexadecimal text. The machine brings it.
pub type HashFn<'a> = &'a dyn Fn(&[u8]) -> String;

/// The hashes of what a run was asked and of what came of it: the texts themselves are kept
/// elsewhere, and not for ever.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// The receipt's place among those of its project, from 1.
    pub number: u64,
    pub run: ChangeId,
    /// The number that people call the run by.
    pub run_number: Number,
    pub prompt_hash: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_hash: Option<String>,
    /// The hash of the changes that the run made, if those are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff_hash: Option<String>,
    pub role: String,
    pub cli: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    pub safety: Safety,
    pub state: RunState,
    pub usage: Usage,
    /// None if the run's CLI was never started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub began_at: Option<Timestamp>,
    pub ended_at: Timestamp,
    /// The hash of the receipt before it; none for the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous: Option<String>,
    /// The hash of all of the above.
    pub hash: String,
}

impl Receipt {
    /// Builds the receipt of a run that ends now; it counts when it is sealed.
    pub fn of(run: &RunRecord, end: &RunEnd, ended_at: Timestamp) -> Self {
        Self {
            number: 0,
            run: run.id,
            run_number: run.number,
            prompt_hash: run.spec.prompt_hash.clone(),
            result_hash: end.result_hash.clone(),
            diff_hash: end.diff_hash.clone(),
            role: run.spec.role.clone(),
            cli: run.spec.cli.clone(),
            model: end.model.clone().or_else(|| run.spec.model.clone()),
            safety: run.spec.safety,
            state: end.state,
            usage: end.usage,
            began_at: run.started_at,
            ended_at,
            previous: None,
            hash: String::new(),
        }
    }

    /// Returns the receipt as the next one after `last`: with its number, its link and its hash.
    pub fn sealed(mut self, last: Option<&ReceiptHead>, digest: HashFn<'_>) -> Self {
        self.number = last.map_or(1, |last| last.number + 1);
        self.previous = last.map(|last| last.hash.clone());
        self.hash = self.digest(digest);
        self
    }

    /// Returns the part that the next receipt refers to.
    pub fn head(&self) -> ReceiptHead {
        ReceiptHead { number: self.number, hash: self.hash.clone() }
    }

    /// Computes the hash of all fields but the hash itself.
    fn digest(&self, digest: HashFn<'_>) -> String {
        let mut value = serde_json::to_value(self).unwrap_or_default();
        if let Some(fields) = value.as_object_mut() {
            fields.remove("hash");
        }
        digest(canonical(&value).as_bytes())
    }
}

/// The number and hash of the last receipt of a project. They are kept beside the receipts, so that
/// nobody can remove the last ones unseen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReceiptHead {
    pub number: u64,
    pub hash: String,
}

/// A problem with the receipts of a project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ReceiptProblem {
    /// The receipt does not say what it said when it was made.
    Changed { number: u64, run: Number },
    /// The receipts from `first` to `last` are not there.
    Missing { first: u64, last: u64 },
    /// There is more than one receipt of that number.
    Doubled { number: u64 },
    /// The receipt does not name the hash of the one before it.
    Unlinked { number: u64, run: Number },
    /// The last receipt is not the one that was noted as the last.
    OtherEnd { number: u64 },
}

impl std::fmt::Display for ReceiptProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Changed { number, run } => write!(f, "receipt {number} (run {run}) was changed"),
            Self::Missing { first, last } if first == last => write!(f, "receipt {first} is missing"),
            Self::Missing { first, last } => write!(f, "receipts {first} to {last} are missing"),
            Self::Doubled { number } => write!(f, "there are several receipts {number}"),
            Self::Unlinked { number, run } => {
                write!(f, "receipt {number} (run {run}) does not follow the one before it")
            }
            Self::OtherEnd { number } => write!(f, "the last receipt, {number}, is not the one that was"),
        }
    }
}

/// Checks the receipts of a project, in any order. `kept_from` is the number of the first receipt
/// that retention has left, 1 if it has removed none; `head` is what was noted of the last receipt.
pub fn audit(
    receipts: &[Receipt],
    kept_from: u64,
    head: Option<&ReceiptHead>,
    digest: HashFn<'_>,
) -> Vec<ReceiptProblem> {
    let mut sorted: Vec<&Receipt> = receipts.iter().collect();
    sorted.sort_by_key(|receipt| receipt.number);
    let mut found = Vec::new();
    // The number that the next receipt must have, and the hash that it must name, if that is known.
    let (mut expected, mut before): (u64, Option<&str>) = (kept_from.max(1), None);
    for receipt in sorted {
        let (number, run) = (receipt.number, receipt.run_number);
        if receipt.digest(digest) != receipt.hash {
            found.push(ReceiptProblem::Changed { number, run });
        }
        if number < expected {
            let is_old = number < kept_from;
            found.extend((!is_old).then_some(ReceiptProblem::Doubled { number }));
            continue;
        }
        if number > expected {
            found.push(ReceiptProblem::Missing { first: expected, last: number - 1 });
            before = None;
        }
        let is_linked = match before {
            Some(before) => receipt.previous.as_deref() == Some(before),
            None => receipt.previous.is_none() == (number == 1),
        };
        if !is_linked {
            found.push(ReceiptProblem::Unlinked { number, run });
        }
        (expected, before) = (number.saturating_add(1), Some(receipt.hash.as_str()));
    }
    match head {
        Some(head) if head.number >= expected => {
            found.push(ReceiptProblem::Missing { first: expected, last: head.number });
        }
        Some(head) if before.is_some_and(|last| last != head.hash) => {
            found.push(ReceiptProblem::OtherEnd { number: expected - 1 });
        }
        // There are receipts, and no last one was noted.
        None if before.is_some() => found.push(ReceiptProblem::OtherEnd { number: expected - 1 }),
        Some(_) | None => {}
    }
    found
}

/// Writes JSON that is the same for the same content: keys in order, no spaces.
fn canonical(value: &Value) -> String {
    let mut text = String::new();
    write_canonical(value, &mut text);
    text
}

fn write_canonical(value: &Value, text: &mut String) {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<(&String, &Value)> = fields.iter().collect();
            fields.sort_by_key(|(name, _)| *name);
            text.push('{');
            for (at, (name, value)) in fields.into_iter().enumerate() {
                let comma = if at > 0 { "," } else { "" };
                let _ = write!(text, "{comma}{}:", Value::from(name.as_str()));
                write_canonical(value, text);
            }
            text.push('}');
        }
        Value::Array(values) => {
            text.push('[');
            for (at, value) in values.iter().enumerate() {
                text.push_str(if at > 0 { "," } else { "" });
                write_canonical(value, text);
            }
            text.push(']');
        }
        other => drop(write!(text, "{other}")),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::dispatch::Cost;
    use crate::journal::EntryId;

    fn digest(bytes: &[u8]) -> String {
        format!("{:016x}", crate::text::stable_hash(bytes))
    }

    fn receipt(at: u64) -> Receipt {
        Receipt {
            number: 0,
            run: ChangeId { entry: EntryId::new(Timestamp(at as i64), [at as u8; 10]), place: 0 },
            run_number: at as Number,
            prompt_hash: digest(&at.to_le_bytes()),
            result_hash: (!at.is_multiple_of(3)).then(|| "r".to_owned()),
            diff_hash: None,
            role: "dev".into(),
            cli: "claude".into(),
            model: None,
            safety: Safety::AutoEdit,
            state: RunState::Done,
            usage: Usage { cost: (!at.is_multiple_of(2)).then_some(Cost(at as i64)), ..Usage::default() },
            began_at: Some(Timestamp(at as i64)),
            ended_at: Timestamp(at as i64 + 5),
            previous: None,
            hash: String::new(),
        }
    }

    fn chain(many: u64) -> (Vec<Receipt>, Option<ReceiptHead>) {
        let (mut receipts, mut head) = (Vec::new(), None);
        for at in 1..=many {
            let sealed = receipt(at).sealed(head.as_ref(), &digest);
            head = Some(sealed.head());
            receipts.push(sealed);
        }
        (receipts, head)
    }

    #[test]
    fn canonical_json_has_one_form() {
        let one: Value =
            serde_json::from_str(r#"{ "b": [1, {"y": null, "x": "\u00e4\""}], "a": -3 }"#).unwrap();
        assert_eq!(canonical(&one), r#"{"a":-3,"b":[1,{"x":"ä\"","y":null}]}"#);
        assert_eq!(canonical(&json!([])), "[]");
    }

    #[test]
    fn a_receipt_survives_being_stored() {
        let (receipts, head) = chain(3);
        let stored = serde_json::to_string(&receipts).unwrap();
        let read: Vec<Receipt> = serde_json::from_str(&stored).unwrap();
        assert_eq!(audit(&read, 1, head.as_ref(), &digest), []);
        assert_eq!(audit(&[], 1, None, &digest), []);
    }

    #[test]
    fn what_was_removed_shows() {
        let (receipts, head) = chain(6);
        let without = |gone: &[u64]| -> Vec<Receipt> {
            receipts.iter().filter(|one| !gone.contains(&one.number)).cloned().collect()
        };
        let found = |gone: &[u64]| audit(&without(gone), 1, head.as_ref(), &digest);
        assert_eq!(found(&[3]), [ReceiptProblem::Missing { first: 3, last: 3 }]);
        assert_eq!(found(&[1, 2]), [ReceiptProblem::Missing { first: 1, last: 2 }]);
        assert_eq!(found(&[5, 6]), [ReceiptProblem::Missing { first: 5, last: 6 }]);
        assert_eq!(found(&[1, 2, 3, 4, 5, 6]), [ReceiptProblem::Missing { first: 1, last: 6 }]);
        // Retention has removed them, and `kept_from` says so.
        assert_eq!(audit(&without(&[1, 2]), 3, head.as_ref(), &digest), []);
        assert_eq!(audit(&receipts, 3, head.as_ref(), &digest), []);
    }

    #[test]
    fn what_was_put_in_shows() {
        let (mut receipts, head) = chain(4);
        receipts.push(receipts[1].clone());
        assert_eq!(audit(&receipts, 1, head.as_ref(), &digest), [ReceiptProblem::Doubled { number: 2 }]);
        // Renumbered to close a gap.
        let (mut receipts, head) = chain(4);
        receipts.remove(1);
        for (at, receipt) in receipts.iter_mut().enumerate() {
            receipt.number = at as u64 + 1;
            receipt.hash = receipt.digest(&digest);
        }
        let found = audit(&receipts, 1, head.as_ref(), &digest);
        assert!(found.contains(&ReceiptProblem::Unlinked { number: 2, run: 3 }), "{found:?}");
        // The last receipt is replaced by a sound one: it is not the one that was noted.
        let (mut receipts, head) = chain(4);
        receipts[3] = receipt(9).sealed(Some(&receipts[2].head()), &digest);
        assert_eq!(audit(&receipts, 1, head.as_ref(), &digest), [ReceiptProblem::OtherEnd { number: 4 }]);
        assert_eq!(audit(&receipts, 1, None, &digest), [ReceiptProblem::OtherEnd { number: 4 }]);
    }

    proptest! {
        /// Any change of any receipt is found, and untouched receipts are sound.
        #[test]
        fn every_change_shows(many in 1u64..12, at in any::<prop::sample::Index>(), field in 0usize..9) {
            let (mut receipts, head) = chain(many);
            prop_assert_eq!(audit(&receipts, 1, head.as_ref(), &digest), []);
            let one = at.get(&receipts).number as usize - 1;
            let receipt = &mut receipts[one];
            match field {
                0 => receipt.state = RunState::Error,
                1 => receipt.usage.cost = Some(Cost(receipt.usage.cost.map_or(0, |cost| cost.0 + 1))),
                2 => receipt.prompt_hash.push('0'),
                3 => receipt.result_hash = receipt.result_hash.clone().xor(Some("x".into())),
                4 => receipt.diff_hash = Some(String::new()),
                5 => receipt.ended_at.0 += 1,
                6 => receipt.previous = receipt.previous.clone().xor(Some("x".into())),
                7 => receipt.hash.push('0'),
                _ => receipt.model = Some("other".into()),
            }
            let number = one as u64 + 1;
            let run = number as Number;
            let found = audit(&receipts, 1, head.as_ref(), &digest);
            prop_assert!(found.contains(&ReceiptProblem::Changed { number, run }), "{:?}", found);
        }
    }
}
