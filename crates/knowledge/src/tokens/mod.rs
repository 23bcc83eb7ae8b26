//! Computes an upper bound of the tokens of o200k that a text costs a model.
//!
//! That encoding first splits a text into pieces (one sign and the letters after it, up to three
//! digits, other signs), and then merges neighbouring bytes of a piece wherever the two together
//! are a token. So **the bound is never too low**: nearly every pair of small letters is a token,
//! hence no two single letters remain next to each other, and three letters cost two tokens at
//! most. For prose that bound would be three times too high, so common words (`words.txt`) are
//! known to be one token, whatever sign is before them.

/// Words that are one token: alone, after a space, and with a capital; and two at
/// most after any other sign. Sorted.
const WORDS: &str = include_str!("words.txt");

/// The pairs of small letters that are not tokens.
const NO_TOKENS: [&[u8; 2]; 29] = [
    b"bq", b"gk", b"gq", b"jv", b"jz", b"kq", b"kz", b"lq", b"nq", b"qf", b"qg", b"qj", b"qk", b"qv", b"qz",
    b"rj", b"tq", b"wq", b"wz", b"xg", b"xj", b"xk", b"xq", b"xv", b"xw", b"yq", b"zj", b"zq", b"zv",
];

/// Returns a number of tokens that the text surely does not exceed.
pub(crate) fn bound(text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut tokens, mut at) = (0, 0);
    while at < bytes.len() {
        let length = match bytes[at] {
            byte if byte.is_ascii_alphabetic() => {
                let length = piece(&bytes[at..]);
                let is_whole = |near: Option<&u8>| near.is_none_or(u8::is_ascii);
                // Non-ASCII letters next to these would belong to the same piece.
                let before = at.checked_sub(1).and_then(|before| bytes.get(before));
                let is_word = is_whole(before) && is_whole(bytes.get(at + length));
                tokens += letters(&bytes[at..at + length], is_word);
                length
            }
            byte if byte.is_ascii_digit() => {
                let length = bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
                tokens += length.div_ceil(3);
                length
            }
            // The space belongs to the word, and costs no more than a letter.
            b' ' if bytes.get(at + 1).is_some_and(u8::is_ascii_alphabetic) => {
                let length = piece(&bytes[at + 1..]);
                let is_word = bytes.get(at + 1 + length).is_none_or(u8::is_ascii);
                tokens += letters(&bytes[at..=at + length], is_word);
                length + 1
            }
            _ => {
                tokens += 1;
                1
            }
        };
        at += length;
    }
    tokens
}

/// Returns the length of the piece of letters: capitals, and the small letters after them.
fn piece(bytes: &[u8]) -> usize {
    let capitals = bytes.iter().take_while(|byte| byte.is_ascii_uppercase()).count();
    capitals + bytes[capitals..].iter().take_while(|byte| byte.is_ascii_lowercase()).count()
}

/// Returns the bound for a piece of letters, with or without a space before it.
fn letters(piece: &[u8], is_word: bool) -> usize {
    let word = piece.strip_prefix(b" ").unwrap_or(piece);
    let small = word.iter().filter(|byte| byte.is_ascii_lowercase()).count();
    let capitals = word.len() - small;
    if is_word && capitals <= 1 && is_common(word) {
        return 1;
    }
    let small = small + (piece.len() - word.len());
    let is_odd = piece.windows(2).any(|pair| NO_TOKENS.iter().any(|odd| odd.as_slice() == pair));
    capitals + if is_odd { small } else { (2 * small).div_ceil(3) }
}

fn is_common(word: &[u8]) -> bool {
    let word = word.to_ascii_lowercase();
    let lines = WORDS.as_bytes();
    let (mut low, mut high) = (0, lines.len());
    // Binary search in the text itself: each step takes the line around the middle.
    while low < high {
        let middle = usize::midpoint(low, high);
        let start = lines[..middle].iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let length = lines[start..].iter().position(|byte| *byte == b'\n').unwrap_or(lines.len() - start);
        match lines[start..start + length].cmp(word.as_slice()) {
            std::cmp::Ordering::Equal => return true,
            std::cmp::Ordering::Less => low = start + length + 1,
            std::cmp::Ordering::Greater => high = start,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_common_word_is_found_and_no_other() {
        let words: Vec<&str> = WORDS.lines().collect();
        assert!(words.is_sorted());
        words.iter().for_each(|word| assert!(is_common(word.as_bytes()), "{word}"));
        for other in ["", "a", "zzzz", "actionx", "0"] {
            assert!(!is_common(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn prose_costs_its_words_and_noise_nearly_its_letters() {
        assert_eq!(bound("the system action"), 3);
        assert_eq!(bound("12345"), 2);
        assert_eq!(bound("((--))"), 6);
        assert_eq!(bound("qjzq"), 4);
        assert_eq!(bound("é"), 2);
    }
}
