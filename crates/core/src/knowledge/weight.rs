//! The weight of a record: the one rule for what sessions are told first, for the order of a
//! search, and for `:weight` in queries.
//!
//! The weight begins with the stated confidence, as evidence has moved it; age and a changed file
//! take from it. **It only says what comes first: it changes and hides nothing.**

use super::Kind;
use super::Known;
use super::Row;
use super::RowField;
use crate::Timestamp;

/// The time after which a record that nobody has stated again or renewed counts half as much.
const HALF_LIFE: i64 = 365 * Timestamp::DAY;

/// The confidence in a record of which nobody said how sure it is.
const USUAL: f64 = 0.5;

/// Computes the weight; `said` is a confidence from 0 to 1, or the impact of a decision from 0 to
/// 10.
fn weight(said: Option<f64>, kind: Kind, at: Timestamp, stale: Option<Timestamp>, now: Timestamp) -> f64 {
    let said = match kind {
        Kind::Decision => said.map(|impact| impact / 10.0),
        _ => said,
    };
    let age = (-(now.since(at) as f64) / HALF_LIFE as f64).exp2();
    // A record that may no longer hold comes late.
    let staleness = if stale.is_some() { 0.25 } else { 1.0 };
    said.unwrap_or(USUAL) * age * staleness
}

/// Returns the field that says how sure, or how important, something is.
fn measure(kind: Kind) -> &'static str {
    if kind == Kind::Decision { "impact" } else { "confidence" }
}

impl Known {
    /// Returns the weight at `now`.
    pub fn weight(&self, now: Timestamp) -> f64 {
        let said = self.fields.get(measure(self.kind)).and_then(|value| value.as_f64());
        weight(said, self.kind, self.at, self.stale, now)
    }

    /// Returns the weight counted from a fixed moment: the order is the same, and need not be made
    /// again as time goes by.
    pub fn order(&self) -> f64 {
        self.weight(Timestamp(0))
    }
}

impl Row<'_> {
    /// Returns the weight at `now`.
    pub fn weight(&self, now: Timestamp) -> f64 {
        let said = match self.get(measure(self.kind)) {
            Some(RowField::Number(number)) => Some(number),
            Some(RowField::Integer(number)) => Some(number as f64),
            _ => None,
        };
        let at = match self.get("at") {
            Some(RowField::Integer(at)) => Timestamp(at),
            _ => now,
        };
        weight(said, self.kind, at, self.stale_since(), now)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NOW: Timestamp = Timestamp(1_800_000_000_000);

    fn of(said: Option<f64>, age: i64, is_stale: bool) -> f64 {
        weight(said, Kind::Principle, NOW.minus(age), is_stale.then_some(NOW), NOW)
    }

    #[test]
    fn a_year_halves_and_a_changed_file_leaves_a_quarter() {
        let year = 365 * Timestamp::DAY;
        assert_eq!(of(Some(0.8), 0, false), 0.8);
        assert_eq!(of(None, 0, false), 0.5);
        assert_eq!(of(Some(0.8), year, false), 0.4);
        assert_eq!(of(Some(0.8), 2 * year, false), 0.2);
        assert_eq!(of(Some(0.8), 0, true), 0.2);
        assert_eq!(weight(Some(7.0), Kind::Decision, NOW, None, NOW), 0.7);
    }

    proptest! {
        /// Two records that do not change keep their order as time goes by.
        #[test]
        fn the_order_is_the_same_at_every_moment(
            one in (0.0..1.0f64, 0..9_000i64), other in (0.0..1.0f64, 0..9_000i64), later in 0..9_000i64
        ) {
            let at = |days: i64| NOW.minus(days * Timestamp::DAY);
            let by = |now: Timestamp, (said, days): (f64, i64)| weight(Some(said), Kind::Pattern, at(days), None, now);
            let then = Timestamp(NOW.0 + later * Timestamp::DAY);
            let (now, then) = (by(NOW, one) - by(NOW, other), by(then, one) - by(then, other));
            prop_assert!(now * then >= 0.0);
        }
    }
}
