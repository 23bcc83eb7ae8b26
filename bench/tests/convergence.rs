//! Tests the claims that the documentation makes about how well collisions are foreseen.

use consort_bench::evaluation::ALL;
use consort_bench::evaluation::Rules;
use consort_bench::evaluation::SETS;
use consort_bench::evaluation::histories;
use consort_bench::evaluation::score;
use consort_core::convergence::SignalKind;

const ORIGINAL: Rules = Rules { files: false, threshold: 0.35, without: None };
const OURS: Rules = Rules { files: true, threshold: 0.35, without: None };

#[test]
fn ours_foresee_more_and_err_less_than_the_originals() {
    let (original, ours) = (score(ALL, ORIGINAL), score(ALL, OURS));
    assert!(
        ours.precision() > original.precision() && ours.recall() > original.recall(),
        "{ours:?} {original:?}"
    );
    for set in SETS {
        let (original, ours) = (score(set, ORIGINAL), score(set, OURS));
        assert!(ours.precision() > original.precision(), "{set}: {ours:?} {original:?}");
        assert!(ours.recall() >= original.recall(), "{set}: {ours:?} {original:?}");
    }
}

#[test]
fn half_of_the_histories_end_in_a_collision() {
    for set in SETS {
        let all = histories(set);
        let colliding = all.iter().filter(|history| history.collides()).count();
        assert_eq!((all.len(), colliding), (40, 20), "{set}");
    }
}

/// Without either of these signals, fewer collisions are foreseen, or later.
#[test]
fn cross_approach_and_approaching_foresee_what_nothing_else_does() {
    for kind in [SignalKind::CrossApproach, SignalKind::Approaching] {
        let without = Rules { without: Some(kind), ..OURS };
        let is_missed = |set: &&str| {
            let (with, without) = (score(set, OURS), score(set, without));
            without.foreseen < with.foreseen || without.leads != with.leads
        };
        assert!(SETS.iter().any(is_missed), "{kind:?}");
    }
}
