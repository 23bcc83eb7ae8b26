//! Whatever is typed: it is answered within its limits, equally each time, and
//! in as few bytes as asked for.
#![no_main]

use std::time::Duration;

use consort_scheme::NoHostFunctions;
use consort_scheme::Format;
use consort_scheme::Limits;
use consort_scheme::Session;
use consort_scheme::print;
use consort_scheme::read;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|source: &str| {
    // No deadline: what the same steps do must not depend on the clock.
    let limits = Limits {
        steps: 100_000,
        cells: 50_000,
        depth: 1000,
        deadline: Duration::from_secs(3600),
        ..Limits::default()
    };
    let run = || {
        let mut session = Session::new();
        let results = session.run(source, &mut NoHostFunctions, &limits);
        (print(&results, Format::Columnar, 2000), session.last_run_steps(), results)
    };
    let (shown, steps, results) = run();
    assert!(shown.len() <= 2000);
    assert!(read(&shown).is_ok(), "{shown}");
    assert!(steps <= limits.steps);
    let (again, same, _) = run();
    assert_eq!((again, same), (shown, steps));
    for (format, longest) in [(Format::Columnar, 150), (Format::Record, 400), (Format::Json, 300)] {
        assert!(print(&results, format, longest).len() <= longest);
    }
});
