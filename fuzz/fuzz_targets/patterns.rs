//! Whatever is typed: patterns overlap both ways or neither, and a file is
//! meant by what overlaps with it.
#![no_main]

use consort_core::claims::Case;
use consort_core::claims::Pattern;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|texts: (&str, &str, &str)| {
    let (one, two, path) = texts;
    let (Ok(one), Ok(two)) = (Pattern::new(one), Pattern::new(two)) else { return };
    let file = Pattern::file(path);
    for case in [Case::Matters, Case::Ignored] {
        let overlap = one.overlaps(&two, case);
        assert_eq!(overlap, two.overlaps(&one, case));
        assert!(overlap || !(one.overlaps(&file, case) && two.overlaps(&file, case)));
        assert!(!overlap || one.may_overlap(two.as_str(), case));
    }
    let _ = (one.shown(), one.stem(), one.literal());
});
