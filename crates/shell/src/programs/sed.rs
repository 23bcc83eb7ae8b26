//! Lists the commands of a `sed` script that do more than change text: `w file`, `e command`, and
//! the flags `w` and `e` of `s`.

/// An effect of a script beyond changing text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step<'s> {
    Writes(&'s str),
    Runs(&'s str),
    /// Runs the edited text itself as a command.
    RunsText,
}

/// Lists the effects of a script beyond changing text, in order.
pub(super) fn steps(script: &str) -> Vec<Step<'_>> {
    let mut steps = Vec::new();
    let mut rest = script;
    while let Some(command) = after_address(rest) {
        let Some(name) = command.chars().next() else { break };
        let line = &command[name.len_utf8()..];
        let end = line.find('\n').unwrap_or(line.len());
        let argument = line[..end].trim();
        rest = match name {
            'w' | 'W' => {
                steps.push(Step::Writes(argument));
                &line[end..]
            }
            'e' => {
                let is_alone = argument.is_empty() || argument.starts_with([';', '}']);
                steps.push(if is_alone { Step::RunsText } else { Step::Runs(argument) });
                &line[end..]
            }
            // The text of these commands goes on to the end of the line, and beyond a backslash.
            'a' | 'i' | 'c' => after_text(line),
            'r' | 'R' | 'b' | 't' | 'T' | ':' => {
                let end = line.find(['\n', ';']).unwrap_or(line.len());
                &line[end..]
            }
            's' | 'y' => match substitution(line) {
                Some((flags, after)) => {
                    steps.extend(flags.contains('e').then_some(Step::RunsText));
                    match flags.find('w') {
                        Some(at) => {
                            let file = &line[line.len() - after.len() - flags.len() + at + 1..];
                            let end = file.find('\n').unwrap_or(file.len());
                            steps.push(Step::Writes(file[..end].trim()));
                            &file[end..]
                        }
                        None => after,
                    }
                }
                None => break,
            },
            _ => line,
        };
    }
    steps
}

/// Skips addresses, `;`, braces and space; returns the rest from the next command on.
fn after_address(script: &str) -> Option<&str> {
    let mut rest = script;
    loop {
        rest = rest
            .trim_start_matches(|c: char| c.is_whitespace() || c.is_ascii_digit() || ";{},$!~+".contains(c));
        rest = match rest.chars().next()? {
            '/' => delimited(&rest[1..], '/')?.1.trim_start_matches(['I', 'M']),
            '\\' => {
                let delimiter = rest[1..].chars().next()?;
                delimited(&rest[1 + delimiter.len_utf8()..], delimiter)?.1.trim_start_matches(['I', 'M'])
            }
            '#' => &rest[rest.find('\n')?..],
            _ => return Some(rest),
        };
    }
}

fn after_text(line: &str) -> &str {
    let mut is_escaped = false;
    for (at, c) in line.char_indices() {
        if c == '\n' && !is_escaped {
            return &line[at..];
        }
        is_escaped = c == '\\' && !is_escaped;
    }
    ""
}

/// Returns the flags after `s/…/…/`, and the text after them.
fn substitution(line: &str) -> Option<(&str, &str)> {
    let delimiter = line.chars().next()?;
    let (_, replacement) = delimited(&line[delimiter.len_utf8()..], delimiter)?;
    let (_, flags) = delimited(replacement, delimiter)?;
    let end = flags.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(flags.len());
    let end = flags[..end].find('w').map_or(end, |at| at + 1);
    Some(flags.split_at(end))
}

/// Splits a text at the next delimiter that is neither escaped nor inside `[…]`.
fn delimited(text: &str, delimiter: char) -> Option<(&str, &str)> {
    let mut is_escaped = false;
    let mut is_set = false;
    for (at, c) in text.char_indices() {
        if c == delimiter && !is_escaped && !is_set {
            return Some((&text[..at], &text[at + c.len_utf8()..]));
        }
        is_set = match c {
            '[' if !is_escaped => text[at..].contains(']'),
            ']' => false,
            _ => is_set,
        };
        is_escaped = c == '\\' && !is_escaped;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_script_does_is_told() {
        for (script, expected) in [
            ("s/a/b/", vec![]),
            ("s/a/b/w out", vec![Step::Writes("out")]),
            ("s#a#b#gw out.txt\np", vec![Step::Writes("out.txt")]),
            ("/x/w out", vec![Step::Writes("out")]),
            ("1,3!w out", vec![Step::Writes("out")]),
            ("1e touch x", vec![Step::Runs("touch x")]),
            ("s/.*/date/e", vec![Step::RunsText]),
            ("s/w out/e x/;p", vec![]),
            ("s/[/]w x/b/", vec![]),
            ("a\\\nw out\n$d", vec![]),
            ("s/one/two/;s/x/y/;w z", vec![Step::Writes("z")]),
            ("", vec![]),
        ] {
            assert_eq!(steps(script), expected, "{script}");
        }
    }
}
