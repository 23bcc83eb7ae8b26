//! Finds which of our hooks the person has reviewed in Codex, and marks hooks as reviewed for a run. Codex
//! runs only reviewed hooks, and records a review as the hash of the hook's definition.
//!
//! Without a terminal nobody can review hooks, and Codex skips unreviewed hooks silently. There our own
//! hooks, and no others, are passed together with their hashes.

use std::path::PathBuf;

use serde_json::Value;
use serde_json::json;

use super::ENTRIES;
use super::EVENTS;
use super::snake_case;

/// Codex's name for the source of hooks that are given as arguments.
const ARGUMENTS: &str = "/<session-flags>/config.toml";

/// Returns the events for which no hook in `files` that runs one of `programs` was reviewed in its current
/// form; `config` is the text of the file in which Codex records reviews.
pub(super) fn unreviewed(files: &[PathBuf], programs: &[&str], config: &str) -> Vec<&'static str> {
    let config = toml_edit::Document::parse(config).ok();
    let state = config.as_ref().and_then(|config| config.get("hooks")?.get("state")?.as_table_like());
    let is_reviewed = |event: &str| {
        let places: Vec<String> =
            files.iter().map(|file| format!("{}:{}:", file.display(), snake_case(event))).collect();
        let hashes: Vec<String> = programs.iter().map(|program| hash_of(program, event)).collect();
        let is_it = |(key, state): (&str, &toml_edit::Item)| {
            let hash = state.get("trusted_hash").and_then(|hash| hash.as_str());
            places.iter().any(|place| key.starts_with(place))
                && hash.is_some_and(|hash| hashes.iter().any(|ours| ours == hash))
        };
        state.is_some_and(|state| state.iter().any(is_it))
    };
    EVENTS.iter().copied().filter(|event| !is_reviewed(event)).collect()
}

/// Returns the argument that marks our own hooks for these events as reviewed, if the hooks are arguments
/// too.
pub(super) fn reviewed_argument(program: &str, events: &[&str]) -> String {
    let one = |event: &&str| {
        let place = Value::from(format!("{ARGUMENTS}:{}:0:0", snake_case(event)));
        format!("{place} = {{trusted_hash = {}}}", Value::from(hash_of(program, event)))
    };
    let all: Vec<String> = events.iter().map(one).collect();
    format!("hooks.state={{{}}}", all.join(", "))
}

/// Returns Codex's hash of our hook for an event.
fn hash_of(program: &str, event: &str) -> String {
    let hook = &ENTRIES.alone(program)["hooks"][event][0]["hooks"][0];
    // Keys in alphabetical order, with the fields that Codex adds itself.
    let told = json!({
        "event_name": snake_case(event),
        "hooks": [{
            "async": false, "command": hook["command"], "timeout": hook["timeout"], "type": hook["type"],
        }],
    });
    let hex: String = sha256(told.to_string().as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}

/// Computes SHA-256 (FIPS 180-4): no other part of this program needs it.
fn sha256(bytes: &[u8]) -> [u8; 32] {
    let mut state: [u32; 8] = first_words(|prime| f64::from(prime).sqrt());
    let constants: [u32; 64] = first_words(|prime| f64::from(prime).cbrt());
    let mut padded = bytes.to_vec();
    padded.push(0x80);
    padded.resize(padded.len().next_multiple_of(64), 0);
    if padded.len() - bytes.len() < 9 {
        padded.resize(padded.len() + 64, 0);
    }
    let at = padded.len() - 8;
    padded[at..].copy_from_slice(&(bytes.len() as u64 * 8).to_be_bytes());
    for block in padded.chunks_exact(64) {
        let mut words = [0_u32; 64];
        for (word, four) in words.iter_mut().zip(block.chunks_exact(4)) {
            *word = four.iter().fold(0, |word, byte| word << 8 | u32::from(*byte));
        }
        for at in 16..64 {
            let (early, late) = (words[at - 15], words[at - 2]);
            let first = early.rotate_right(7) ^ early.rotate_right(18) ^ (early >> 3);
            let second = late.rotate_right(17) ^ late.rotate_right(19) ^ (late >> 10);
            words[at] = words[at - 16].wrapping_add(first).wrapping_add(words[at - 7]).wrapping_add(second);
        }
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = state;
        for (constant, word) in constants.iter().zip(words) {
            let sum = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
            let choice = (e & f) ^ (!e & g);
            let one = h.wrapping_add(sum).wrapping_add(choice).wrapping_add(*constant).wrapping_add(word);
            let sum = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
            let two = sum.wrapping_add((a & b) ^ (a & c) ^ (b & c));
            (h, g, f, e) = (g, f, e, d.wrapping_add(one));
            (d, c, b, a) = (c, b, a, one.wrapping_add(two));
        }
        for (old, new) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
            *old = old.wrapping_add(new);
        }
    }
    let mut hash = [0; 32];
    for (four, word) in hash.chunks_exact_mut(4).zip(state) {
        four.copy_from_slice(&word.to_be_bytes());
    }
    hash
}

/// Returns the first 32 bits of the fractional parts of the roots of the first primes.
fn first_words<const COUNT: usize>(root: impl Fn(u32) -> f64) -> [u32; COUNT] {
    let is_prime = |number: &u32| (2..*number).all(|divisor| !number.is_multiple_of(divisor));
    let mut primes = (2..).filter(is_prime);
    [(); COUNT].map(|()| (root(primes.next().unwrap_or(2)).fract() * 4_294_967_296.0) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        sha256(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn the_hash_is_the_one_of_the_standard() {
        assert_eq!(hex(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_eq!(hex(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        let long = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
        assert_eq!(hex(long.as_bytes()), "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
        assert_eq!(hex(&[b'a'; 1_000]), "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3");
        // Around the length at which the padding needs a block of its own.
        let of_length = |length| hex(&vec![b'x'; length]);
        assert_eq!(of_length(55), "d5e285683cd4efc02d021a5c62014694958901005d6f71e89e0989fac77e4072");
        assert_eq!(of_length(56), "04c26261370ee7541549d16dee320c723e3fd14671e66a099afe0a377c16888e");
        assert_eq!(of_length(64), "7ce100971f64e7001e8fe5a51973ecdfe1ced42befe7ee8d5fd6219506b5393c");
    }

    #[test]
    fn a_review_counts_for_the_hook_that_was_reviewed() {
        let file = PathBuf::from("/home/you/.codex/hooks.json");
        let of = |config: &str| unreviewed(std::slice::from_ref(&file), &["/bin/consort"], config);
        assert_eq!(of(""), EVENTS);
        assert_eq!(of("not toml ="), EVENTS);
        let review = |hash: &str| {
            format!("[hooks.state.\"{}:pre_tool_use:0:0\"]\ntrusted_hash = \"{hash}\"\n", file.display())
        };
        let left = of(&review(&hash_of("/bin/consort", "PreToolUse")));
        assert!(left.len() == EVENTS.len() - 1 && !left.contains(&"PreToolUse"), "{left:?}");
        // The review was of a hook with another program.
        assert_eq!(of(&review(&hash_of("/bin/other", "PreToolUse"))), EVENTS);
    }
}
