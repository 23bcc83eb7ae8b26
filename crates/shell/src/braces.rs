//! Expands braces in shell words: `{a,b}` and `{1..3}`, the one expansion that needs nothing but the text.

use crate::words::WordChar;

/// Most words that braces are expanded to.
const MOST: usize = 64;

/// Returns the words that the braces stand for; `None` if there are too many, or for an unsupported range.
pub(crate) fn expand(pieces: &[WordChar]) -> Option<Vec<Vec<WordChar>>> {
    let Some(group) = first_group(pieces) else { return Some(vec![pieces.to_vec()]) };
    let inner = &pieces[group.open + 1..group.close];
    let middles = if group.commas.is_empty() { range(inner)? } else { list(pieces, &group)? };
    let ends = expand(&pieces[group.close + 1..])?;
    if middles.len() * ends.len() > MOST {
        return None;
    }
    let start = &pieces[..group.open];
    let words = middles.iter().flat_map(|middle| ends.iter().map(move |end| [start, middle, end].concat()));
    Some(words.collect())
}

struct Group {
    open: usize,
    close: usize,
    commas: Vec<usize>,
}

/// Finds the first matched pair of braces that directly contains a comma or `..`.
fn first_group(pieces: &[WordChar]) -> Option<Group> {
    let is_bare = |at: usize, c: char| pieces.get(at) == Some(&WordChar::Bare(c));
    // The open braces, each with its commas and whether it contains `..`.
    let mut open: Vec<(usize, Vec<usize>, bool)> = Vec::new();
    let mut found: Option<Group> = None;
    for at in 0..pieces.len() {
        if is_bare(at, '{') {
            open.push((at, Vec::new(), false));
        } else if is_bare(at, '}') {
            let Some((start, commas, has_dots)) = open.pop() else { continue };
            let is_group = !commas.is_empty() || has_dots;
            if is_group && found.as_ref().is_none_or(|found| start < found.open) {
                found = Some(Group { open: start, close: at, commas });
            }
        } else if let Some((_, commas, has_dots)) = open.last_mut() {
            if is_bare(at, ',') {
                commas.push(at);
            }
            *has_dots |= is_bare(at, '.') && is_bare(at + 1, '.');
        }
    }
    found
}

fn list(pieces: &[WordChar], group: &Group) -> Option<Vec<Vec<WordChar>>> {
    let mut words = Vec::new();
    let mut start = group.open + 1;
    for end in group.commas.iter().copied().chain([group.close]) {
        words.extend(expand(&pieces[start..end])?);
        if words.len() > MOST {
            return None;
        }
        start = end + 1;
    }
    Some(words)
}

/// Expands a range: `1..3`, `a..e`, `1..10..2`.
fn range(inner: &[WordChar]) -> Option<Vec<Vec<WordChar>>> {
    let text: String = inner.iter().map(|piece| piece.char()).collect();
    let mut ends = text.split("..");
    let (from, to) = (ends.next()?, ends.next()?);
    let step = ends.next().map_or(Some(1), |step| step.parse::<i64>().ok())?.unsigned_abs().max(1);
    if ends.next().is_some() {
        return None;
    }
    let numbers = |from: i64, to: i64| -> Option<Vec<i64>> {
        let steps = usize::try_from(from.abs_diff(to) / step).ok().filter(|steps| *steps < MOST)?;
        let step = i64::try_from(step).ok()?;
        let step = if from <= to { step } else { -step };
        (0..=steps).map(|n| from.checked_add(step.checked_mul(i64::try_from(n).ok()?)?)).collect()
    };
    if let (Ok(first), Ok(last)) = (from.parse(), to.parse()) {
        // A leading zero (`01`) pads all numbers.
        let is_padded = [from, to]
            .iter()
            .any(|end| end.trim_start_matches('-').len() > 1 && end.trim_start_matches('-').starts_with('0'));
        let width = if is_padded { from.len().max(to.len()) } else { 0 };
        return Some(numbers(first, last)?.into_iter().map(|n| quoted(&format!("{n:0width$}"))).collect());
    }
    let (from, to) = (letter(from)?, letter(to)?);
    if from.is_ascii_lowercase() != to.is_ascii_lowercase() {
        return None;
    }
    let letters = numbers(i64::from(u32::from(from)), i64::from(u32::from(to)))?;
    let letter = |n: i64| u32::try_from(n).ok().and_then(char::from_u32);
    letters.into_iter().map(|n| Some(vec![WordChar::Quoted(letter(n)?)])).collect()
}

fn letter(text: &str) -> Option<char> {
    let mut chars = text.chars();
    chars.next().filter(|c| c.is_ascii_alphabetic() && chars.next().is_none())
}

fn quoted(text: &str) -> Vec<WordChar> {
    text.chars().map(WordChar::Quoted).collect()
}
