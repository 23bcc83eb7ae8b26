//! Removes code that surely never runs, in Python, JavaScript, Perl or awk: functions that nobody
//! calls, statements behind a false condition, and code after an exit.

use super::tokens::Token;
use super::tokens::tokens;

/// Most conditions that are evaluated: each may search all of the code.
const MOST: usize = 32;

/// A function that returns the value of a name.
type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The environment and the files of a program.
pub(super) struct Around<'a> {
    /// Finds a variable of the environment; `None` if the environment is not known.
    pub(super) variable: Option<Lookup<'a>>,
    /// Reads the text of a file.
    pub(super) file: Lookup<'a>,
}

/// Returns the code that may run.
pub(super) fn without(code: &str, by: &str, around: &Around<'_>) -> String {
    match by {
        _ if by.starts_with("python") => indented(code, by, around),
        "node" | "nodejs" | "bun" => braced(&without_lambdas(code, by), by, around),
        _ => braced(code, by, around),
    }
}

/// Returns the exit code of a Python program that surely exits before any
/// statement that could end it otherwise.
pub(crate) fn exit_code(code: &str) -> Option<i32> {
    let mut code_found = None;
    for line in code.lines().flat_map(|line| line.split(';')) {
        if line.starts_with([' ', '\t']) && line.trim_start().len() + 1 < line.len() {
            return None;
        }
        let line = line.trim();
        let value = exit_value(line);
        if value.is_some() {
            code_found = value;
            break;
        }
        let is_quiet = line.is_empty() || line.starts_with("import ") || line.starts_with("print(");
        if !is_quiet {
            return None;
        }
    }
    match code_found? {
        "" | "0" => Some(0),
        number => number.parse().ok(),
    }
}

/// Returns the argument of a Python statement that exits the program.
fn exit_value(line: &str) -> Option<&str> {
    let starts = ["sys.exit(", "exit(", "quit(", "os._exit("];
    starts.iter().find_map(|start| line.strip_prefix(start)?.strip_suffix(')'))
}

/// Removes dead code from Python, whose blocks are indented lines.
fn indented(code: &str, by: &str, around: &Around<'_>) -> String {
    let all = tokens(code, by);
    let is_named_once =
        |name: &str| all.iter().filter(|token| matches!(token, Token::Name(one) if one == name)).count() == 1;
    let mut kept: Vec<&str> = Vec::new();
    let mut left_out: Option<usize> = None;
    let mut conditions = 0;
    for line in code.lines() {
        let text = line.trim_start();
        let indent = line.len() - text.len();
        if left_out.is_some_and(|outer| indent > outer || text.is_empty()) {
            continue;
        }
        left_out = None;
        conditions += usize::from(text.starts_with("if ") || text.starts_with("assert "));
        if conditions > MOST {
            kept.push(line);
            continue;
        }
        // In a text of several lines, this is no statement.
        if indent == 0 && exit_value(text).is_some() && !is_in_text(&kept) {
            break;
        }
        if indent == 0 && is_failed_check(text, code, around) {
            break;
        }
        let name = text.strip_prefix("def ").and_then(|rest| rest.split('(').next());
        let made = text.split_once('=').filter(|(_, value)| value.contains("lambda"));
        let made = made.map(|(name, _)| name.trim().rsplit(' ').next().unwrap_or_default());
        let condition = text.strip_prefix("if ").and_then(|rest| rest.split_once(':'));
        match (name.or(made), condition) {
            (Some(name), _) if is_named_once(name) => left_out = Some(indent),
            (_, Some((condition, _))) if is_false(condition, code, around) => left_out = Some(indent),
            _ => kept.push(line),
        }
    }
    kept.join("\n")
}

/// Whether these lines end inside a text in triple quotes.
fn is_in_text(lines: &[&str]) -> bool {
    let count = |quotes: &str| lines.iter().map(|line| line.matches(quotes).count()).sum::<usize>();
    !count("\"\"\"").is_multiple_of(2) || !count("'''").is_multiple_of(2)
}

/// Whether `assert "text" in name` surely fails, where `name` holds the text of a file.
fn is_failed_check(line: &str, code: &str, around: &Around<'_>) -> bool {
    let Some(rest) = line.strip_prefix("assert ") else { return false };
    let parts = tokens(rest, "python");
    let [Token::Text(text), Token::Name(is_in), Token::Name(name), ..] = parts.as_slice() else {
        return false;
    };
    if is_in != "in" || parts.get(3).is_some_and(|token| *token != Token::Sign(',')) {
        return false;
    }
    text_read(code, name, around).is_some_and(|file| !file.contains(text.as_str()))
}

/// Returns the text of the file that a name holds: `s = open(p).read()`, `s = Path(p).read_text()`, set once.
fn text_read(code: &str, name: &str, around: &Around<'_>) -> Option<String> {
    let value = value_of(code, name)?;
    let parts = tokens(value, "python");
    let reads =
        |token: &Token| matches!(token, Token::Name(one) if matches!(one.as_str(), "read" | "read_text"));
    if !parts.iter().any(reads) {
        return None;
    }
    let open = parts
        .iter()
        .position(|token| matches!(token, Token::Name(one) if matches!(one.as_str(), "open" | "Path")))?;
    match parts.get(open + 2)? {
        Token::Text(path) => (around.file)(path),
        Token::Name(path) => match tokens(value_of(code, path)?, "python").as_slice() {
            [Token::Text(path)] => (around.file)(path),
            _ => None,
        },
        Token::Sign(_) => None,
    }
}

/// Returns the expression that a name is set to, if it is set exactly once.
fn value_of<'c>(code: &'c str, name: &str) -> Option<&'c str> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = None;
    for line in code.lines().flat_map(|line| line.split(';')) {
        let inner = line.trim_start().trim_start_matches("const ").trim_start_matches("let ");
        let inner = inner.trim_start_matches("var ").trim_start_matches("my ").trim_start_matches('$');
        let Some(rest) = inner.strip_prefix(name).filter(|rest| !rest.starts_with(is_name)) else { continue };
        let rest = rest.trim_start();
        let is_set = rest.starts_with('=') && !rest.starts_with("==");
        let is_changed = ["+=", "-=", "|=", ":=", "++", "--", ","].iter().any(|sign| rest.starts_with(sign));
        if is_changed || is_set && found.is_some() {
            return None;
        }
        if is_set {
            found = Some(rest[1..].split(" #").next().unwrap_or_default().trim());
        }
    }
    // The name may also be set in the middle of a line, by a loop, as an argument, or from elsewhere.
    let all = tokens(code, "python");
    let is_set = |three: &&[Token]| {
        matches!(&three[..2], [Token::Name(one), Token::Sign('=')] if one == name)
            && three[2] != Token::Sign('=')
    };
    if all.windows(3).filter(is_set).count() > 1 {
        return None;
    }
    let is_bound = ["for ", "global ", "nonlocal ", "as ", "import "]
        .iter()
        .any(|word| code.contains(&format!("{word}{name}")));
    found.filter(|_| !is_bound)
}

/// Whether a condition is surely false.
fn is_false(condition: &str, code: &str, around: &Around<'_>) -> bool {
    let condition = condition.trim();
    let is_constant = |text: &str| {
        matches!(text.trim(), "False" | "false" | "0" | "None" | "null" | "undefined" | "''" | "\"\"")
    };
    if is_constant(condition) {
        return true;
    }
    let is_word = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_');
    if is_word(condition) {
        return value_of(code, condition).is_some_and(is_constant);
    }
    let starts = ["process.env.", "os.environ.get(", "os.getenv("];
    let named = starts.iter().find_map(|start| condition.strip_prefix(start));
    let name = named.map(|name| name.trim_end_matches(')').trim_matches(['"', '\'']));
    match (name, around.variable) {
        (Some(name), Some(variable)) if is_word(name) => variable(name).is_none_or(|value| value.is_empty()),
        _ => false,
    }
}

/// Removes JavaScript functions that are bound to a name which occurs nowhere else.
fn without_lambdas(code: &str, by: &str) -> String {
    let all = tokens(code, by);
    let is_named_once =
        |name: &str| all.iter().filter(|token| matches!(token, Token::Name(one) if one == name)).count() == 1;
    let mut kept = Vec::new();
    let mut left_out: Option<usize> = None;
    for line in code.lines() {
        let text = line.trim_start();
        let indent = line.len() - text.len();
        if left_out.is_some_and(|outer| indent > outer || text.is_empty()) {
            continue;
        }
        left_out = None;
        let made = text.split_once('=').filter(|(_, value)| value.contains("=>"));
        let made = made.map(|(name, _)| name.trim().rsplit(' ').next().unwrap_or_default());
        match made {
            Some(name) if is_named_once(name) => left_out = Some(indent),
            _ => kept.push(line),
        }
    }
    kept.join("\n")
}

/// Removes dead code from languages whose blocks are in braces.
fn braced(code: &str, by: &str, around: &Around<'_>) -> String {
    let all = tokens(code, by);
    let is_named_once =
        |name: &str| all.iter().filter(|token| matches!(token, Token::Name(one) if one == name)).count() == 1;
    let mut kept = code.to_owned();
    for word in ["sub ", "function ", "func "] {
        for _ in 0..MOST {
            let Some(block) = unused(&kept, word, &is_named_once) else { break };
            kept.replace_range(block, "");
        }
    }
    for _ in 0..MOST {
        let Some(block) = never(&kept, code, around) else { break };
        kept.replace_range(block, ";");
    }
    kept
}

/// Returns the range of a function that nobody calls.
fn unused(code: &str, word: &str, is_named_once: &dyn Fn(&str) -> bool) -> Option<std::ops::Range<usize>> {
    let starts = code.match_indices(word).map(|(at, _)| at).filter(|at| is_statement(code, *at));
    for start in starts {
        let rest = code[start + word.len()..].trim_start();
        let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        if name.is_empty() || !is_named_once(&name) {
            continue;
        }
        let open = start + code[start..].find('{')?;
        return Some(start..closing(code, open)? + 1);
    }
    None
}

/// Returns the range of a statement behind a condition that is surely false, if it has no other branch.
fn never(code: &str, all: &str, around: &Around<'_>) -> Option<std::ops::Range<usize>> {
    let starts = code.match_indices("if").map(|(at, _)| at).filter(|at| is_statement(code, *at));
    for start in starts.take(MOST) {
        let open = start + 2 + (code[start + 2..].len() - code[start + 2..].trim_start().len());
        if !code[open..].starts_with('(') {
            continue;
        }
        let Some(close) = closing(code, open) else { continue };
        if !is_false(&code[open + 1..close], all, around) {
            continue;
        }
        let body = close + 1 + (code[close + 1..].len() - code[close + 1..].trim_start().len());
        let end = match code[body..].starts_with('{') {
            true => closing(code, body)? + 1,
            false => body + code[body..].find([';', '\n', '}']).unwrap_or(code[body..].len()),
        };
        if !code[end..].trim_start_matches([';', ' ', '\n']).starts_with("else") {
            return Some(start..end);
        }
    }
    None
}

/// Whether a statement begins at a position, judging by the text before it.
fn is_statement(code: &str, at: usize) -> bool {
    let before = code[..at].trim_end_matches([' ', '\t']);
    before.is_empty() || before.ends_with(['\n', ';', '{', '}', ')', '\'', '"'])
}

/// Finds the bracket that closes the one at `open`, ignoring brackets in quotes.
fn closing(code: &str, open: usize) -> Option<usize> {
    let mut depth = 0usize;
    let mut quote: Option<char> = None;
    let mut chars = code[open..].char_indices();
    while let Some((at, c)) = chars.next() {
        match (quote, c) {
            (_, '\\') => {
                chars.next();
            }
            (Some(begun), c) if c == begun => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"' | '`') => quote = Some(c),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(open + at);
                }
            }
            _ => {}
        }
    }
    None
}
