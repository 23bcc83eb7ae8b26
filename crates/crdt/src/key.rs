//! Writes and parses the keys under which the map of a CRDT entity keeps its values.
//!
//! **Every key that is written reads back as itself, and no two keys read as the same:** a key that
//! is not exactly as we write it is not read at all.

use std::borrow::Cow;

/// The greatest client id that JavaScript can represent exactly.
pub(crate) const MAX_WRITER: u64 = (1 << 53) - 1;

#[derive(Debug, PartialEq)]
pub(crate) struct Key {
    pub(crate) slot: Slot,
    pub(crate) writer: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Slot {
    Register(String),
    SetMember { set: String, member: String },
}

pub(crate) fn register(field: &str, writer: u64) -> String {
    format!("{}@{}", escaped(field), base36(writer))
}

pub(crate) fn member(set: &str, member: &str, writer: u64) -> String {
    format!("{}/{member}@{}", escaped(set), base36(writer))
}

pub(crate) fn parse(key: &str) -> Option<Key> {
    let (path, writer) = key.rsplit_once('@')?;
    let writer = from_base36(writer)?;
    let slot = match path.split_once('/') {
        Some((set, member)) => Slot::SetMember { set: unescaped(set)?, member: member.to_owned() },
        None => Slot::Register(unescaped(path)?),
    };
    Some(Key { slot, writer })
}

fn escaped(name: &str) -> Cow<'_, str> {
    if name.contains(['%', '/']) {
        Cow::Owned(name.replace('%', "%25").replace('/', "%2F"))
    } else {
        Cow::Borrowed(name)
    }
}

fn unescaped(text: &str) -> Option<String> {
    let mut pieces = text.split('%');
    let mut name = pieces.next()?.to_owned();
    for piece in pieces {
        if let Some(rest) = piece.strip_prefix("25") {
            name.push('%');
            name.push_str(rest);
        } else {
            name.push('/');
            name.push_str(piece.strip_prefix("2F")?);
        }
    }
    Some(name)
}

fn base36(mut number: u64) -> String {
    let mut digits = Vec::new();
    loop {
        digits.extend(char::from_digit((number % 36) as u32, 36));
        number /= 36;
        if number == 0 {
            return digits.into_iter().rev().collect();
        }
    }
}

fn from_base36(text: &str) -> Option<u64> {
    let number = u64::from_str_radix(text, 36).ok()?;
    (number <= MAX_WRITER && base36(number) == text).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_the_form_that_is_written_is_read() {
        for key in
            ["", "f", "f@", "f@A", "f@01", "f@+1", "f@2gosa7pa2gw", "f%@1", "f%2f@1", "f%41@1", "a%2/b@1"]
        {
            assert_eq!(parse(key), None, "{key}");
        }
        let key = parse("f@2gosa7pa2gv").unwrap();
        assert_eq!(key, Key { slot: Slot::Register("f".to_owned()), writer: MAX_WRITER });
        let slot = Slot::SetMember { set: "a/%".to_owned(), member: "src/x@y%2F.rs".to_owned() };
        assert_eq!(parse("a%2F%25/src/x@y%2F.rs@0"), Some(Key { slot, writer: 0 }));
    }

    proptest! {
        #[test]
        fn every_name_reads_back(name in "([%/@25F]|\\PC|.){0,6}", inner in "([%/@25F]|\\PC|.){0,6}", writer in 0..=MAX_WRITER) {
            let slot = Slot::Register(name.clone());
            prop_assert_eq!(parse(&register(&name, writer)), Some(Key { slot, writer }));
            let slot = Slot::SetMember { set: name.clone(), member: inner.clone() };
            prop_assert_eq!(parse(&member(&name, &inner, writer)), Some(Key { slot, writer }));
        }

        #[test]
        fn what_is_read_was_written_so(key in "[%/@25Fa]{0,10}@[0-9a-z]{1,3}") {
            if let Some(read) = parse(&key) {
                let written = match &read.slot {
                    Slot::Register(field) => register(field, read.writer),
                    Slot::SetMember { set, member: inner } => member(set, inner, read.writer),
                };
                prop_assert_eq!(written, key);
            }
        }
    }
}
