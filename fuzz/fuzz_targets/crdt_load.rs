//! Whatever the bytes: a document refuses them, or has them and goes on.
#![no_main]

use consort_crdt::Document;
use consort_crdt::sync;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    // The first half is a state, the second an update that meets it.
    let (state, update) = bytes.split_at(bytes.len() / 2);
    for state in [bytes, state] {
        let Ok(mut document) = Document::load(state) else { continue };
        let _ = document.merge(update);
        let _ = sync::answer(&mut document, update, true);
        let again = Document::load(&document.state()).expect("our own state");
        assert_eq!(again.entities(), document.entities());
    }
    let mut document = Document::new();
    let _ = document.merge(bytes);
    let _ = document.update_since(bytes);
    let _ = sync::answer(&mut document, bytes, true);
});
