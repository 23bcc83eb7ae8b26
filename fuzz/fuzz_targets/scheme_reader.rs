//! Whatever is typed: it is read or refused, and what was read is printed so
//! that it is read as the same again.
#![no_main]

use consort_scheme::Format;
use consort_scheme::print;
use consort_scheme::read;
use libfuzzer_sys::fuzz_target;

/// More than any text becomes when it is printed.
const ROOM: usize = 10_000_000;

fuzz_target!(|text: &str| {
    let Ok(forms) = read(text) else { return };
    for form in forms {
        let Ok(value) = form.to_value() else { continue };
        let shown = print(&[Ok(value)], Format::Columnar, ROOM);
        let again = read(&shown).expect("what was printed is read");
        assert_eq!(again.len(), 1, "{shown}");
        let value = again[0].to_value().expect("data stays data");
        assert_eq!(print(&[Ok(value)], Format::Columnar, ROOM), shown);
    }
});
