//! How long the long suites are.

/// Set by `scripts/test --long`.
pub(crate) const LONG: &str = "CONSORT_TEST_LONG";

/// `few` on every run, `many` on a long one.
pub fn rounds(few: usize, many: usize) -> usize {
    if std::env::var_os(LONG).is_some() { many } else { few }
}
