//! Cuts the text of an entry down to the part that is about certain entities.
//!
//! An import or a merge is one entry, however much it brings: a hundred thousand records are 170 MB, and
//! parsing all of them for the sake of one takes seconds. So the text is cut before it is parsed. No text
//! inside it looks like the beginning of an edit, since quotes there are escaped; if a piece turns out to
//! be something else after all, the cut text is no JSON, and the caller parses the whole.

use std::borrow::Cow;
use std::collections::HashSet;

/// The beginning of an edit that follows another one, and that of the first edit of a list.
const NEXT: &str = ",{\"entity\":\"";
const FIRST: &str = "[{\"entity\":\"";

/// Length of an entry below which it is parsed as quickly as it is cut.
const SHORT: usize = 64 << 10;

/// Returns the part of an entry's changes that is about these entities; `None` if there is none. The
/// first and the last edit of every list stay, whatever they are about: the text around the lists is
/// beside them.
pub(super) fn about<'t>(changes: &'t str, ids: &HashSet<String>) -> Option<Cow<'t, str>> {
    let is_about = |piece: &str, beginning: &str| {
        let starts = piece.match_indices(beginning).map(|(at, _)| at + beginning.len());
        let mut named = starts.filter_map(|start| Some(piece[start..].split_once('"')?.0));
        named.any(|id| ids.contains(id))
    };
    // An id with an escape in it ends elsewhere than it seems.
    if ids.iter().any(|id| id.contains('\\')) {
        return Some(Cow::Borrowed(changes));
    }
    if changes.len() < SHORT {
        return (is_about(changes, NEXT) || is_about(changes, FIRST)).then_some(Cow::Borrowed(changes));
    }
    let mut starts = changes.match_indices(NEXT).map(|(at, _)| at).peekable();
    let before = starts.peek().copied().unwrap_or(changes.len());
    let mut part = changes[..before].to_owned();
    let mut has_any = is_about(&part, FIRST);
    while let Some(start) = starts.next() {
        let end = starts.peek().copied().unwrap_or(changes.len());
        let piece = &changes[start..end];
        let is_wanted = is_about(piece, NEXT) || is_about(piece, FIRST);
        has_any |= is_wanted;
        if is_wanted || end == changes.len() || piece.contains(FIRST) {
            part.push_str(piece);
        }
    }
    has_any.then_some(Cow::Owned(part))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;
    use serde_json::json;

    use super::*;

    fn entry(list: &[&str], ahead: &[&str]) -> String {
        let edit = |id: &&str| {
            let said = format!("he said \",{{\\\"entity\\\":\\\"{id}\\\"}}\" {}", "x".repeat(200));
            format!("{{\"entity\":\"{id}\",\"set\":{{\"field\":\"name\",\"value\":{}}}}}", json!(said))
        };
        let all = |ids: &[&str]| ids.iter().map(edit).collect::<Vec<_>>().join(",");
        let (list, ahead) = (all(list), all(ahead));
        format!("[{{\"room\":\"knowledge\",\"change\":{{\"edits\":[{list}],\"ahead\":[{ahead}]}}}}]")
    }

    #[test]
    fn what_is_left_is_json_and_has_what_is_wanted() {
        let names: Vec<String> = (0..1_000).map(|n| format!("id-{n}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let text = entry(&names, &["late-1", "late-2", "late-3"]);
        let wanted = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<HashSet<String>>();
        let part = about(&text, &wanted(&["id-500", "late-2"])).unwrap();
        assert!(part.len() < text.len() / 50, "{}", part.len());
        let part: Value = serde_json::from_str(&part).unwrap();
        let ids = |list: &str| -> Vec<String> {
            let all = part[0]["change"][list].as_array().unwrap().iter();
            all.map(|edit| edit["entity"].as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(ids("edits"), ["id-0", "id-500", "id-999"]);
        assert_eq!(ids("ahead"), ["late-1", "late-2", "late-3"]);
        assert_eq!(about(&text, &wanted(&["id-5000"])), None);
        for end in ["id-0", "id-999", "late-1", "late-3"] {
            assert!(about(&text, &wanted(&[end])).is_some(), "{end}");
        }
        let short = entry(&["a", "b"], &[]);
        assert_eq!(about(&short, &wanted(&["b"])).as_deref(), Some(short.as_str()));
    }
}
