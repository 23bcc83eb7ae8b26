//! Reads aliases of the person's shell from the text in which an agent CLI keeps them.

use crate::words::Word;

/// Finds the command that an alias stands for in a text of lines `alias -- name='value'`.
pub fn shell_alias_in(text: &str, name: &str) -> Option<String> {
    let value = text.lines().find_map(|line| {
        let line = line.strip_prefix("alias ")?;
        let line = line.strip_prefix("-- ").unwrap_or(line);
        line.strip_prefix(name)?.strip_prefix('=')
    })?;
    let quoted = value.strip_prefix('\'').and_then(|value| value.strip_suffix('\''));
    Some(quoted.map_or_else(|| value.to_owned(), |value| value.replace(r"'\''", "'")))
}

/// Returns the words that replace an alias; `None` if it contains more than words.
pub(crate) fn words(alias: &str) -> Option<Vec<Word>> {
    let is_more = |c: char| !(c.is_ascii_alphanumeric() || c.is_whitespace() || "-_=./:,+@%".contains(c));
    if alias.contains(is_more) {
        return None;
    }
    Some(alias.split_whitespace().map(|word| Word::Text(word.to_owned())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alias_is_found_by_its_whole_name() {
        let text = "shopt -s expand_aliases\nalias -- gco='git checkout'\nalias -- say='echo '\\''hi'\\'''\n";
        assert_eq!(shell_alias_in(text, "gco").as_deref(), Some("git checkout"));
        assert_eq!(shell_alias_in(text, "say").as_deref(), Some("echo 'hi'"));
        assert_eq!(shell_alias_in(text, "gc"), None);
        assert_eq!(words("echo 'hi'"), None);
    }
}
