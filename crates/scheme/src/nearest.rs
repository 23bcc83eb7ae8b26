//! Finds the known name that is most similar to a misspelled one, for hints in Scheme errors.

/// Longest and shortest name, in bytes, that is compared; shorter names resemble too many others.
const LONGEST: usize = 64;
const SHORTEST: usize = 3;

/// Returns the name most similar to `wanted`, if one is similar enough.
pub(crate) fn nearest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if !(SHORTEST..=LONGEST).contains(&wanted.len()) {
        return None;
    }
    let most = (wanted.len() / 3).clamp(1, 3);
    names
        .filter(|name| name.len() <= LONGEST && name.len().abs_diff(wanted.len()) <= most && *name != wanted)
        .map(|name| (distance(wanted.as_bytes(), name.as_bytes()), name))
        .filter(|(distance, _)| *distance <= most)
        .min()
        .map(|(_, name)| name)
}

/// Counts the bytes to insert, delete, replace or swap with their neighbour.
fn distance(one: &[u8], two: &[u8]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=two.len()).collect();
    for (line, left) in one.iter().enumerate() {
        let mut next = vec![line + 1];
        for (column, right) in two.iter().enumerate() {
            let replaced = row[column] + usize::from(left != right);
            let mut least = replaced.min(row[column + 1] + 1).min(next[column] + 1);
            if line > 0 && column > 0 && *left == two[column - 1] && one[line - 1] == *right {
                least = least.min(before[column - 1] + 1);
            }
            next.push(least);
        }
        before = std::mem::replace(&mut row, next);
    }
    row[two.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_found_and_a_stranger_is_not() {
        let names = || ["get-principles", "get-principle", "map", "filter"].into_iter();
        assert_eq!(nearest("get-principels", names()), Some("get-principles"));
        assert_eq!(nearest("fliter", names()), Some("filter"));
        assert_eq!(nearest("frobnicate", names()), None);
    }
}
