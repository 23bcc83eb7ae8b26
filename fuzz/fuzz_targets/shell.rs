//! Whatever is typed: the reader of shell commands comes to an end, in time.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|command: &str| {
    let reading = consort_shell::read(command, Some("/home/me"));
    // What is reported is a path.
    assert!(reading.writes.iter().all(|write| !write.path.is_empty()));
});
