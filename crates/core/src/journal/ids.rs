//! The ids of entries and changes.

use std::fmt;

use serde::Deserialize;
use serde::Deserializer;
use serde::Serialize;
use serde::Serializer;

use crate::Timestamp;

/// The id of an entry, the same on every machine. Ids sort by time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryId(pub [u8; 16]);

const HEX: &[u8; 16] = b"0123456789abcdef";

impl EntryId {
    /// Makes an id for a moment.
    pub fn new(at: Timestamp, random: [u8; 10]) -> Self {
        let millis = u64::try_from(at.0).unwrap_or(0);
        let mut id = [0; 16];
        id[..6].copy_from_slice(&millis.to_be_bytes()[2..]);
        id[6..].copy_from_slice(&random);
        // A UUID of version 7 and of the usual variant.
        id[6] = 0x70 | id[6] & 0x0f;
        id[8] = 0x80 | id[8] & 0x3f;
        Self(id)
    }

    /// Makes ids for a moment, each greater than the one before.
    pub fn ascending(at: Timestamp, random: [u8; 10]) -> impl FnMut() -> Self {
        let Self(id) = Self::new(at, random);
        // The last seven bytes count up; their highest bit starts as zero, so that they do not overflow.
        let mut last = u128::from_be_bytes(id) & !(1 << 55);
        move || {
            last += 1;
            Self(last.to_be_bytes())
        }
    }

    /// Parses the text of an id.
    pub fn parse(text: &str) -> Option<Self> {
        let (mut id, mut digits) = ([0; 16], 0);
        for byte in text.bytes().filter(|byte| *byte != b'-') {
            let digit = match byte {
                b'0'..=b'9' => byte - b'0',
                b'a'..=b'f' => byte - b'a' + 10,
                b'A'..=b'F' => byte - b'A' + 10,
                _ => return None,
            };
            let place: &mut u8 = id.get_mut(digits / 2)?;
            *place = *place << 4 | digit;
            digits += 1;
        }
        (digits == 32).then_some(Self(id))
    }

    /// Writes the text of the id.
    fn text(self) -> [u8; 36] {
        let mut text = [b'-'; 36];
        let mut at = 0;
        for (place, byte) in self.0.into_iter().enumerate() {
            at += usize::from(matches!(place, 4 | 6 | 8 | 10));
            text[at] = HEX[usize::from(byte >> 4)];
            text[at + 1] = HEX[usize::from(byte & 15)];
            at += 2;
        }
        text
    }

    /// Returns the moment that the id was made for.
    pub fn at(self) -> Timestamp {
        let millis = self.0[..6].iter().fold(0, |millis, byte| millis << 8 | i64::from(*byte));
        Timestamp(millis)
    }
}

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(str::from_utf8(&self.text()).unwrap_or_default())
    }
}

impl Serialize for EntryId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // A delivery has dozens of ids.
        serializer.serialize_str(str::from_utf8(&self.text()).unwrap_or_default())
    }
}

impl<'de> Deserialize<'de> for EntryId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("it is not the id of an entry"))
    }
}

/// The id of a change, and of the thing that the change created: a message, a prediction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChangeId {
    pub entry: EntryId,
    /// The change's place in the entry, from 0.
    pub place: u16,
}

impl ChangeId {
    /// Parses the text of an id: the entry's id, and the place unless it is the first.
    pub fn parse(text: &str) -> Option<Self> {
        let (entry, place) = text.split_once('.').unwrap_or((text, "0"));
        Some(Self { entry: EntryId::parse(entry)?, place: place.parse().ok()? })
    }
}

impl fmt::Display for ChangeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            0 => self.entry.fmt(f),
            place => write!(f, "{}.{place}", self.entry),
        }
    }
}

impl Serialize for ChangeId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.place {
            0 => self.entry.serialize(serializer),
            _ => serializer.collect_str(self),
        }
    }
}

impl<'de> Deserialize<'de> for ChangeId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("no id of a change"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_a_uuid_that_tells_its_time() {
        let at = Timestamp(1_794_746_513_813);
        let id = EntryId::new(at, [0xff; 10]);
        assert_eq!(id.to_string(), "01a1df3a-7995-7fff-bfff-ffffffffffff");
        assert_eq!(id.at(), at);
    }

    #[test]
    fn an_id_is_read_as_it_is_written() {
        let id = EntryId(*b"\x00\x12\x34\x56\x78\x9a\xbc\xde\xf0\x0f\xed\xcb\xa9\x87\x65\x43");
        let text = id.to_string();
        assert_eq!(text, "00123456-789a-bcde-f00f-edcba9876543");
        assert_eq!(serde_json::to_string(&id).unwrap(), format!("\"{text}\""));
        assert_eq!(EntryId::parse(&text), Some(id));
        assert_eq!(EntryId::parse(&text.to_uppercase().replace('-', "")), Some(id));
        for wrong in
            ["", "-", &text[1..], &format!("{text}0"), &text.replace('9', "g"), &text.replace('9', "é")]
        {
            assert_eq!(EntryId::parse(wrong), None, "{wrong}");
        }
    }
}
