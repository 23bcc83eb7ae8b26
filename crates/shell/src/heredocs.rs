//! Removes the bodies of here-documents from a shell text before it is parsed.
//!
//! This is not the grammar, only enough of it to know quotes, comments and substitutions. Its
//! caller counts afterwards: **if the grammar finds another number of here-documents than were
//! emptied, the text was not understood** and nothing may be said about it.

/// A text whose here-documents may have been emptied.
pub(crate) struct EmptiedText {
    pub(crate) text: String,
    /// The number of here-documents in the text, if they were emptied.
    pub(crate) emptied: Option<usize>,
    /// Whether a body that was removed contained a command that the shell would run.
    pub(crate) had_commands: bool,
}

impl EmptiedText {
    pub(crate) fn untouched(text: &str) -> Self {
        Self { text: text.into(), emptied: None, had_commands: false }
    }
}

/// Empties all here-documents of a text; `None` if it has none, or one that does not end.
pub(crate) fn empty_bodies(text: &str) -> Option<EmptiedText> {
    let mut scan =
        Scan { rest: text, kept: String::new(), nested: Vec::new(), awaited: Vec::new(), emptied: 0 };
    let mut had_commands = false;
    while let Some(c) = scan.rest.chars().next() {
        if c == '\n' && scan.is_code() && !scan.awaited.is_empty() {
            scan.keep(1);
            for heredoc in std::mem::take(&mut scan.awaited) {
                had_commands |= scan.skip_body(&heredoc)?;
            }
        } else {
            scan.step(c);
        }
    }
    let is_done = scan.awaited.is_empty() && scan.emptied > 0;
    is_done.then_some(EmptiedText { text: scan.kept, emptied: Some(scan.emptied), had_commands })
}

/// Whether the shell would run something in the body of an unquoted here-document.
pub(crate) fn has_commands(body: &str) -> bool {
    let mut chars = body.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                chars.next();
            }
            '`' => return true,
            '$' if chars.peek() == Some(&'(') => return true,
            _ => {}
        }
    }
    false
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Nested {
    /// `(` or `$(`.
    Code,
    /// Double quotes.
    Quotes,
    /// `((` or `$((`, with the number of brackets that are open in it.
    Arithmetic(usize),
}

struct Heredoc {
    delimiter: String,
    is_quoted: bool,
    has_tabs: bool,
}

struct Scan<'a> {
    rest: &'a str,
    kept: String,
    nested: Vec<Nested>,
    awaited: Vec<Heredoc>,
    emptied: usize,
}

impl Scan<'_> {
    fn is_code(&self) -> bool {
        matches!(self.nested.last(), None | Some(Nested::Code))
    }

    /// Copies the next `bytes`, or all that are left.
    fn keep(&mut self, bytes: usize) {
        let end = self.rest.ceil_char_boundary(bytes.min(self.rest.len()));
        self.kept.push_str(&self.rest[..end]);
        self.rest = &self.rest[end..];
    }

    fn keep_past(&mut self, end: Option<usize>) {
        self.keep(end.map_or(self.rest.len(), |end| end + 1));
    }

    fn step(&mut self, c: char) {
        match self.nested.last().copied() {
            _ if c == '\\' => self.keep(2),
            Some(Nested::Arithmetic(open)) => self.step_arithmetic(c, open),
            Some(Nested::Quotes) if c == '"' => {
                self.nested.pop();
                self.keep(1);
            }
            _ if self.rest.starts_with("$((") => self.open(3, Nested::Arithmetic(2)),
            _ if self.rest.starts_with("$(") => self.open(2, Nested::Code),
            Some(Nested::Quotes) => self.keep(c.len_utf8()),
            Some(Nested::Code) | None => self.step_code(c),
        }
    }

    fn open(&mut self, bytes: usize, nested: Nested) {
        self.nested.push(nested);
        self.keep(bytes);
    }

    fn step_arithmetic(&mut self, c: char, open: usize) {
        let open = match c {
            '(' => open + 1,
            ')' => open - 1,
            _ => open,
        };
        self.nested.pop();
        if open > 0 {
            self.nested.push(Nested::Arithmetic(open));
        }
        self.keep(c.len_utf8());
    }

    fn step_code(&mut self, c: char) {
        let is_word_start =
            self.kept.ends_with([' ', '\t', '\n', ';', '&', '|', '(', ')']) || self.kept.is_empty();
        match c {
            '"' => self.open(1, Nested::Quotes),
            '\'' if self.kept.ends_with('$') => self.keep_ansi_quotes(),
            '\'' => {
                self.keep(1);
                self.keep_past(self.rest.find('\''));
            }
            '#' if is_word_start => self.keep(self.rest.find('\n').unwrap_or(self.rest.len())),
            '(' if is_word_start && self.rest.starts_with("((") => self.open(2, Nested::Arithmetic(2)),
            '(' => self.open(1, Nested::Code),
            ')' => {
                self.nested.pop();
                self.keep(1);
            }
            '<' if self.rest.starts_with("<<<") => self.keep(3),
            '<' if self.rest.starts_with("<<") => self.await_body(),
            c => self.keep(c.len_utf8()),
        }
    }

    fn keep_ansi_quotes(&mut self) {
        self.keep(1);
        while let Some(c) = self.rest.chars().next() {
            self.keep(if c == '\\' { 2 } else { c.len_utf8() });
            if c == '\'' {
                return;
            }
        }
    }

    /// Reads the start of a here-document: `<<-'EOF'`.
    fn await_body(&mut self) {
        self.keep(2);
        let has_tabs = self.rest.starts_with('-');
        self.keep(usize::from(has_tabs));
        self.keep(self.rest.len() - self.rest.trim_start_matches([' ', '\t']).len());
        let is_end = |c: char| c.is_whitespace() || ";&|<>()".contains(c);
        let mut heredoc = Heredoc { delimiter: String::new(), is_quoted: false, has_tabs };
        while let Some(c) = self.rest.chars().next().filter(|c| !is_end(*c)) {
            self.keep(c.len_utf8());
            match c {
                '\'' | '"' => {
                    heredoc.is_quoted = true;
                    let end = self.rest.find(c);
                    heredoc.delimiter.push_str(&self.rest[..end.unwrap_or(self.rest.len())]);
                    self.keep_past(end);
                }
                '\\' => heredoc.is_quoted = true,
                c => heredoc.delimiter.push(c),
            }
        }
        self.awaited.push(heredoc);
    }

    /// Skips the lines up to the delimiter; returns whether the shell would have run something in
    /// them. `None` if the delimiter is missing.
    fn skip_body(&mut self, heredoc: &Heredoc) -> Option<bool> {
        let mut end = 0;
        for line in self.rest.split_inclusive('\n') {
            let text = line.strip_suffix('\n').unwrap_or(line);
            let text = if heredoc.has_tabs { text.trim_start_matches('\t') } else { text };
            if text == heredoc.delimiter {
                let body = &self.rest[..end];
                self.rest = &self.rest[end..];
                self.keep(line.len());
                self.emptied += 1;
                return Some(!heredoc.is_quoted && has_commands(body));
            }
            end += line.len();
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trimmed(text: &str) -> Option<String> {
        empty_bodies(text).map(|trimmed| trimmed.text)
    }

    #[test]
    fn bodies_go_and_the_rest_stays() {
        let text = "cat > f <<'EOF'\nrm -rf `x` (\nEOF\nls";
        assert_eq!(trimmed(text).as_deref(), Some("cat > f <<'EOF'\nEOF\nls"));
        let text = "git commit -m \"$(cat <<'EOF'\nit's \"so\"\nEOF\n)\" && ls";
        assert_eq!(trimmed(text).as_deref(), Some("git commit -m \"$(cat <<'EOF'\nEOF\n)\" && ls"));
        let text = "a <<X <<-Y; b\nx\nX\ny\n\tY\nc";
        assert_eq!(trimmed(text).as_deref(), Some("a <<X <<-Y; b\nX\n\tY\nc"));
    }

    #[test]
    fn what_only_looks_like_one_is_left() {
        for text in
            ["echo '<<EOF'\na\nEOF", "# <<EOF\na\nEOF", "echo $((1<<2))\na", "cat <<<x\na", "cat <<EOF\na"]
        {
            assert_eq!(trimmed(text), None, "{text}");
        }
    }

    #[test]
    fn a_body_may_hold_commands() {
        assert!(empty_bodies("cat <<E\n$(rm x)\nE").is_some_and(|trimmed| trimmed.had_commands));
        assert!(empty_bodies("cat <<'E'\n$(rm x)\nE").is_some_and(|trimmed| !trimmed.had_commands));
        assert!(!has_commands("costs \\$(5) and $x"));
    }
}
