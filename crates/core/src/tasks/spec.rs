//! Parses the tasks and their dependencies out of a spec: Markdown that people and models write by hand.
//! Parts that are not understood are reported with their lines, so that **no slip in the file frees a task
//! too early**. A task is a heading or a checkbox that begins with an id; `is_id` and `title_after` decide
//! which do.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::HashSet;

use serde::Serialize;
use thiserror::Error;

use super::cycles::cycles;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Spec {
    /// The first heading of level 1 that is not a task.
    pub title: Option<String>,
    /// The tasks in the order of the file; `errors` is in the same order.
    pub tasks: Vec<SpecTask>,
    pub errors: Vec<SpecError>,
}

/// A task as its spec states it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SpecTask {
    /// The id as written; no other task of the spec has the same id in another case.
    pub id: String,
    /// The title, empty if there is only an id.
    pub title: String,
    /// Ids of tasks that must be completed first, as written, each once. A wrong dependency stays in this
    /// list although it is also reported as an error.
    pub depends: Vec<String>,
    /// Whether the task is ticked in the file itself.
    pub is_ticked: bool,
    /// The line of the task, counted from 1.
    pub line: usize,
}

/// A part of a spec that is wrong or not understood, with its line.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SpecError {
    #[error("`{id}` is on line {first} already")]
    Duplicate { line: usize, id: String, first: usize },
    #[error("`{id}` depends on `{dependency}`, which is not in this spec")]
    UnknownDependency { line: usize, id: String, dependency: String },
    #[error("`{id}` depends on itself")]
    DependsOnItself { line: usize, id: String },
    /// Each of these tasks depends on the next, and the last on the first.
    #[error("tasks wait for each other: {}", .ids.join(", "))]
    Cycle { line: usize, ids: Vec<String> },
    #[error("a dependency without a task above it")]
    NoTask { line: usize },
    /// A code block or a comment that begins with `mark` has no end.
    #[error("{mark} is never closed; what follows is not read")]
    Unclosed { line: usize, mark: String },
}

impl SpecError {
    /// Returns the line of the error.
    pub fn line(&self) -> usize {
        match self {
            Self::Duplicate { line, .. }
            | Self::UnknownDependency { line, .. }
            | Self::DependsOnItself { line, .. }
            | Self::Cycle { line, .. }
            | Self::NoTask { line }
            | Self::Unclosed { line, .. } => *line,
        }
    }
}

pub(super) fn read(text: &str) -> Spec {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut spec = Spec::default();
    let mut places = HashMap::new();
    let mut waits = Vec::new();
    let mut current = None;
    let mut hidden = None;
    for (index, text) in text.lines().enumerate().skip(front_matter(text)) {
        let line = index + 1;
        let shown = show(text, line, &mut hidden);
        let (level, tick, text) = parts(&shown);
        let may_be_task = level.is_some() || tick.is_some();
        let depends = if let Some((id, title)) = split_id(text).filter(|_| may_be_task) {
            let (title, depends) = without_depends(&title);
            let is_ticked = tick == Some(true);
            let place = *places.entry(id.to_ascii_lowercase()).or_insert(spec.tasks.len());
            // A task may be listed in an overview and have a section below, whose dependencies count too.
            current = Some(place);
            match spec.tasks.get(place).map(|task| task.line) {
                Some(first) => spec.errors.push(SpecError::Duplicate { line, id, first }),
                None => spec.tasks.push(SpecTask { id, title, depends: Vec::new(), is_ticked, line }),
            }
            depends
        } else if let Some(depends) = read_depends(text) {
            depends
        } else {
            if level == Some(1) && !text.is_empty() {
                spec.title.get_or_insert_with(|| text.into());
            }
            continue;
        };
        if let Some(task) = current {
            waits.extend(depends.into_iter().map(|on| (task, on, line)));
        } else if spec.tasks.is_empty() && !depends.is_empty() {
            spec.errors.push(SpecError::NoTask { line });
        }
    }
    if let Some(Hidden { line, mark, .. }) = hidden {
        spec.errors.push(SpecError::Unclosed { line, mark: mark.into() });
    }
    settle(&mut spec, &places, waits);
    spec.errors.sort_by_key(SpecError::line);
    spec
}

/// Counts the lines of YAML front matter at the beginning of the file. A horizontal rule that only looks like
/// its start has an empty line below it, or no second rule follows.
fn front_matter(text: &str) -> usize {
    let mut lines = text.lines().map(str::trim_end);
    let begins = lines.next() == Some("---") && lines.clone().next().is_some_and(|line| !line.is_empty());
    let end = lines.position(|line| matches!(line, "---" | "...")).filter(|_| begins);
    end.map_or(0, |end| end + 2)
}

/// A code block or a comment that hides the lines after the one it began on.
struct Hidden<'a> {
    line: usize,
    mark: &'a str,
    indent: usize,
}

/// Returns the part of a line that is neither in a code block nor in a comment.
fn show<'a>(text: &'a str, line: usize, hidden: &mut Option<Hidden<'a>>) -> Cow<'a, str> {
    let mut shown = Cow::Borrowed("");
    let mut rest = text;
    match hidden {
        Some(Hidden { mark: "<!--", .. }) => match text.split_once("-->") {
            Some((_, after)) => rest = after,
            None => return shown,
        },
        Some(_) => {
            hidden.take_if(|code| code.ends_at(text));
            return shown;
        }
        None => {}
    }
    *hidden = Hidden::code(rest, line);
    let mut is_code = false;
    while hidden.is_none() {
        let Some((before, after)) = rest.split_once("<!--") else { return shown + rest };
        is_code ^= before.matches('`').count() % 2 == 1;
        shown += before;
        if is_code {
            shown += "<!--";
            rest = after;
        } else if let Some((_, after)) = after.split_once("-->") {
            rest = after;
        } else {
            *hidden = Some(Hidden { line, mark: "<!--", indent: 0 });
        }
    }
    shown
}

impl<'a> Hidden<'a> {
    /// Returns the code block that begins on this line, if one does. In a list, a code block may begin right
    /// after the item's own mark.
    fn code(text: &'a str, line: usize) -> Option<Self> {
        let marked = std::iter::successors(Some(text.trim_start()), |text| list_item(text)).last()?;
        let info = marked.trim_start_matches(if marked.starts_with('~') { '~' } else { '`' });
        let mark = &marked[..marked.len() - info.len()];
        // Backticks with more backticks after them are code within a sentence.
        let is_code = mark.len() >= 3 && (mark.starts_with('~') || !info.contains('`'));
        is_code.then(|| Self { line, mark, indent: text.len() - marked.len() })
    }

    /// Tells whether this line ends the code block. A mark that is indented further is part of the code.
    fn ends_at(&self, text: &str) -> bool {
        let mark = text.trim_start();
        let is_mark = mark.starts_with(self.mark) && mark.trim_end().chars().all(|c| self.mark.contains(c));
        is_mark && text.len() - mark.len() <= self.indent + 3
    }
}

/// Splits a line into the level of its heading, the state of its tick box, and the text after them.
fn parts(line: &str) -> (Option<usize>, Option<bool>, &str) {
    let (level, text) = match (heading(line), list_item(line.trim())) {
        (Some((level, text)), _) => (Some(level), text),
        (None, Some(text)) => (None, text),
        (None, None) => return (None, None, line.trim()),
    };
    tick_box(text).map_or((level, None, text), |(is_ticked, text)| (level, Some(is_ticked), text))
}

/// Returns the level and text of a heading. A line that is indented by four spaces is code.
fn heading(line: &str) -> Option<(usize, &str)> {
    let marked = line.trim();
    let text = marked.trim_start_matches('#');
    let level = marked.len() - text.len();
    if line.starts_with("    ") || line.starts_with('\t') || !(1..=6).contains(&level) {
        return None;
    }
    let unmarked = text.trim_end_matches('#');
    let text = if unmarked.ends_with(char::is_whitespace) { unmarked } else { text };
    (text.is_empty() || text.starts_with(char::is_whitespace)).then(|| (level, text.trim()))
}

/// Returns the text of a list item, after `-`, `*`, `+`, `1.` or `1)`.
fn list_item(text: &str) -> Option<&str> {
    let unnumbered = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let marks: &[char] = if unnumbered.len() < text.len() { &['.', ')'] } else { &['-', '*', '+'] };
    let item = unnumbered.strip_prefix(marks)?;
    item.starts_with(char::is_whitespace).then(|| item.trim_start())
}

/// Returns whether a tick box is ticked, and the text after it. Other marks, such as `[-]` for work in
/// progress, count as not ticked.
fn tick_box(text: &str) -> Option<(bool, &str)> {
    let (mark, rest) = text.strip_prefix('[')?.split_once(']')?;
    let is_box = mark.chars().nth(1).is_none() && rest.starts_with(char::is_whitespace);
    is_box.then(|| (matches!(mark, "x" | "X"), rest.trim_start()))
}

/// Splits a text into the id that it begins with, and the title after it.
fn split_id(text: &str) -> Option<(String, String)> {
    let text = without_markup(text);
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let word = &text[..text.find(|c| !is_part(c)).unwrap_or(text.len())];
    let id = word.trim_end_matches(['-', '_', '.']);
    let title = title_after(id, &text[id.len()..]).filter(|_| is_id(id))?;
    Some((id.into(), title.trim().into()))
}

/// Removes the markup around the beginning of a text (bold, code, a link), wherever that markup ends.
fn without_markup(text: &str) -> Cow<'_, str> {
    const DRESS: &[(&str, &str)] = &[("~~", "~~"), ("**", "**"), ("__", "__"), ("[", "]"), ("`", "`")];
    DRESS.iter().fold(text.into(), |text: Cow<'_, str>, (start, end)| match text.strip_prefix(start) {
        Some(rest) => rest.replacen(end, "", 1).into(),
        None => text,
    })
}

/// Tells whether a word has the shape of an id, such as `TASK-01`, `T1` or `P2.1-3`: parts of letters and
/// digits, beginning with a letter, with a digit somewhere, at most 64 bytes. Without `-` and `_`, an id is
/// letters and then a number, which `K8s` is not. After a dot comes a number, unlike `step_2.md`; and `v1.2`
/// is a version.
fn is_id(word: &str) -> bool {
    let is_digit = |c: char| c.is_ascii_digit();
    let number = word.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let is_part = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric());
    word.len() <= 64
        && number.len() < word.len()
        && number.contains(is_digit)
        && word.split(['-', '_', '.']).all(is_part)
        && word.split('.').skip(1).all(|part| part.starts_with(is_digit))
        && (word.contains(['-', '_']) || number.chars().all(|c| is_digit(c) || c == '.'))
        && !(word.starts_with('v') && number.len() + 1 == word.len() && number.starts_with(is_digit))
}

/// Returns the title after an id. A word such as `HTTP2` may begin any sentence, so a colon, a full stop or a
/// dash must follow the id. After a plain id, which is a word, `-` or `_` and a number (`TASK-01`) or a
/// letter and three digits (`T001`), a space is enough, or nothing.
fn title_after<'a>(id: &str, rest: &'a str) -> Option<&'a str> {
    const STANDARDS: &[&str] = &["AES", "CVE", "GPL", "GPT", "ISO", "RFC", "SHA", "TLS", "UTF"];
    let number = id.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let word = &id[..id.len() - number.len()];
    let is_plain = !number.contains(|c: char| c.is_ascii_alphabetic())
        && (number.starts_with(['-', '_']) || word.len() == 1 && number.len() >= 3 && !number.contains('.'))
        && !STANDARDS.iter().any(|standard| standard.eq_ignore_ascii_case(word));
    let is_apart = |rest: &str| rest.is_empty() || rest.starts_with(char::is_whitespace);
    let text = rest.trim_start();
    let colon = text.strip_prefix([':', '：']).filter(|title| is_plain || is_apart(title));
    let dash = || text.strip_prefix(['.', '-', '–', '—']).filter(|title| is_apart(title));
    colon.or_else(dash).or((is_plain && is_apart(rest)).then_some(text))
}

/// Splits a title into the title without `(depends: …)`, and the dependencies named there.
fn without_depends(title: &str) -> (String, Vec<String>) {
    let small = title.to_ascii_lowercase();
    let start = small.rfind("(depend").max(small.rfind("[depend"));
    let parts = start.and_then(|at| {
        let (before, group) = title.split_at(at);
        let mut depth = 0;
        let end = group.find(|c| {
            depth += i32::from("([".contains(c)) - i32::from(")]".contains(c));
            depth == 0
        });
        let (inside, after) = group.split_at(end.unwrap_or(group.len()));
        let title = before.trim_end().to_owned() + after.get(1..).unwrap_or_default();
        Some((title.trim().into(), read_depends(inside)?))
    });
    parts.unwrap_or_else(|| (title.into(), Vec::new()))
}

/// Punctuation and markup that may surround a word.
const AROUND: &[char] = &['*', '_', '~', '`', '[', ']', '(', ')', '.', '-', '–', '—', '+', '#', '"', '\''];

/// Returns the dependencies that a line names. Without a colon, the line must name ids and nothing else.
fn read_depends(text: &str) -> Option<Vec<String>> {
    const KEYWORDS: &[&str] = &["depends on", "depends_on", "depends-on", "depends", "dependencies"];
    let text = text.trim_start_matches(AROUND);
    let rest = KEYWORDS.iter().find_map(|keyword| {
        let (start, rest) = text.split_at_checked(keyword.len())?;
        start.eq_ignore_ascii_case(keyword).then_some(rest)
    })?;
    let list = rest.trim_start_matches(AROUND).trim_start().strip_prefix(':');
    let ids = read_list(list.unwrap_or(rest));
    let is_clear = !ids.is_empty() && ids.iter().all(|id| is_id(id));
    (list.is_some() || is_clear).then_some(ids)
}

/// Returns the ids in a list. Other words stay together as a dependency that nothing fulfils, except in
/// parentheses, where they are a remark.
fn read_list(list: &str) -> Vec<String> {
    let is_filler = |word: &&str| matches!(word.to_ascii_lowercase().as_str(), "" | "and" | "none" | "n/a");
    let mut ids = Vec::new();
    for (index, part) in list.split(['(', ')']).enumerate() {
        for item in part.split([',', ';', '&']) {
            let words = item.split_whitespace().map(|word| word.trim_matches(AROUND));
            let words = words.filter(|word| !is_filler(word));
            let (named, others): (Vec<_>, Vec<_>) = words.partition(|word| is_id(word));
            ids.extend(named.into_iter().map(str::to_owned));
            let is_remark = index % 2 == 1;
            ids.extend((!is_remark && !others.is_empty()).then(|| others.join(" ")));
        }
    }
    ids
}

/// Gives each task its dependencies, each once, and reports errors in them. A wait is the index of a task,
/// the name of a dependency, and the line that names it.
fn settle(spec: &mut Spec, places: &HashMap<String, usize>, waits: Vec<(usize, String, usize)>) {
    let (tasks, errors) = (&mut spec.tasks, &mut spec.errors);
    let mut depends = vec![Vec::new(); tasks.len()];
    let mut seen = HashSet::new();
    for (place, on, line) in waits {
        let name = on.to_ascii_lowercase();
        let (id, other) = (tasks[place].id.clone(), places.get(&name));
        if !seen.insert((place, name)) {
            continue;
        }
        match other {
            Some(&other) if other == place => errors.push(SpecError::DependsOnItself { line, id }),
            Some(&other) => depends[place].push(other),
            None => errors.push(SpecError::UnknownDependency { line, id, dependency: on.clone() }),
        }
        tasks[place].depends.push(on);
    }
    errors.extend(cycles(&depends).into_iter().map(|cycle| SpecError::Cycle {
        line: tasks[cycle[0]].line,
        ids: cycle.into_iter().map(|place| tasks[place].id.clone()).collect(),
    }));
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;

    /// Formats each task as `line id title <dependencies>`, with a `*` if it is ticked; then the errors.
    fn told(text: &str) -> String {
        let spec = read(text);
        let tasks = spec.tasks.iter().map(|task| {
            let tick = if task.is_ticked { "*" } else { "" };
            format!("{} {}{tick} {} <{}>", task.line, task.id, task.title, task.depends.join("|"))
        });
        let errors = spec.errors.iter().map(|error| format!("{}: {error}", error.line()));
        tasks.chain(errors).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn tasks_are_headings_and_boxes_that_begin_with_an_id() {
        let cases = [
            ("   ###### AUTH-3 — Log in ##", "AUTH-3 Log in"),
            ("\t* [x] task-7 seven  ", "task-7* seven"),
            ("  12) [-] P2.1-3 - under way", "P2.1-3 under way"),
            ("- [ ] **TASK-1:** bold", "TASK-1 bold"),
            ("- [x] ~~**T1. All of it**~~", "T1* All of it"),
            ("## `E2E-1`: code", "E2E-1 code"),
            ("## [x] **[TASK-1]** use **x**", "TASK-1* use **x**"),
            ("- [ ] T001 [P] Spec Kit", "T001 [P] Spec Kit"),
            ("# TASK-1：a <!-- b -->`<!--` c", "TASK-1 a `<!--` c"),
        ];
        cases.iter().for_each(|(line, task)| assert_eq!(told(line), format!("1 {task} <>")));
    }

    #[test]
    fn other_words_are_not_ids() {
        let words = "## HTTP2 support|## HTTP2|## UTF-8 support|- [ ] S3 bucket|- [ ] K8s: deploy|- [ ] [P1] fix|\
            ## v1.2: changes|## Step 1: begin|## 2024-05-01: a day|## TASK: no number|##TASK-1: no space|\
            - [ ] step_2.md: a file|- [ ] std2::mem|- [ ] a step|- TASK-1: text|TASK-1: text|    ## TASK-1: code|\
            > - [ ] TASK-1: quoted|## TASK-1–TASK-5: many|####### TASK-1: too deep";
        assert_eq!(told(&words.replace('|', "\n")), "");
        assert_eq!(told(&format!("## T-{}: long", "1".repeat(63))), "");
    }

    #[test]
    fn dependencies_are_read_wherever_they_stand() {
        for line in [
            "  Depends on: A-1; A-2.",
            "- **Depends:** `A-1` and [A-2](#a-2)",
            "#### Dependencies: A-1 (the first, of course) & A-2 a-1",
            "depends: A-1\n\ndepends: none\n- [ ] a step\n_Depends on A-2_",
        ] {
            let told = told(&format!("- [ ] A-1: a\n- [ ] A-2: b\n- [ ] A-3: c\n{line}\n"));
            assert_eq!(told, "1 A-1 a <>\n2 A-2 b <>\n3 A-3 c <A-1|A-2>", "{line}");
        }
        for end in ["(depends: A-1) (2h)", "[depends: A-1, a-1] (2h)", "(depends on [A-1](#a-1)) (2h)"] {
            let told = told(&format!("## A-1: a\n## A-2: b (b) {end}"));
            assert_eq!(told, "1 A-1 a <>\n2 A-2 b (b) (2h) <A-1>", "{end}");
        }
        let free = "# A-1: a (depends on luck)\ndepends:\ndepends: -\nDepends on: None (yet)\nIt depends: A";
        assert_eq!(told(free), "1 A-1 a (depends on luck) <>");
    }

    #[test]
    fn what_is_hidden_is_not_read() {
        let text = "\u{feff}---|# A-0: yaml|---|# The spec|# Another|````md|## A-1: no|```|~~~~|    ````|\
            ## A-1: no|````  |- ~~~|  ## A-1: no|  ~~~|```in a line```|\
            <!-- ## A-1: no|```|## A-1: no --> <!--|-->|## A-1: yes|";
        assert_eq!(told(&text.replace('|', "\r\n")), "21 A-1 yes <>");
        assert_eq!(read(&text.replace('|', "\n")).title.as_deref(), Some("The spec"));
        assert_eq!(told("---\n\n# A-1: a rule\n---"), "3 A-1 a rule <>");
    }

    #[test]
    fn mistakes_are_told_and_nothing_is_lost() {
        let text = "depends: A-1|# A-1: a|## a-1: again (depends: A-9)|## A-2|depends: A-7, the API|depends: a-2|\
            ## A-4: d (depends: A-5, A-1)|## A-5: e|depends: A-3, A-4|## A-3: c (depends: A-4)|<!--|## A-6: never";
        let expected = "2 A-1 a <A-9>|4 A-2  <A-7+the API+a-2>|7 A-4 d <A-5+A-1>|8 A-5 e <A-3+A-4>|10 A-3 c <A-4>|\
            1: a dependency without a task above it|3: `a-1` is on line 2 already|\
            3: `A-1` depends on `A-9`, which is not in this spec|\
            5: `A-2` depends on `A-7`, which is not in this spec|\
            5: `A-2` depends on `the API`, which is not in this spec|6: `A-2` depends on itself|\
            7: tasks wait for each other: A-4, A-5, A-3|11: <!-- is never closed; what follows is not read";
        assert_eq!(told(&text.replace('|', "\n")).replace('|', "+"), expected.replace('|', "\n"));
        assert_eq!(told("\n~~~\n``` ~~~"), "2: ~~~ is never closed; what follows is not read");
        assert_eq!(cycles(&[vec![1, 2], vec![0], vec![3], vec![2, 0]]), [vec![0, 1], vec![2, 3]]);
    }

    proptest! {
        #[test]
        fn any_text_can_be_read(text in r"(\n|\n|# |- \[ \] |A-1|b-2|T3|:| - |\*\*|`|```|~~~|\[|\(|[\])\t]|<!--|-->|depends: |---\n|\PC){0,80}") {
            let Spec { tasks, errors, .. } = read(&text);
            let mut lines = tasks.iter().map(|task| task.line).chain(errors.iter().map(SpecError::line));
            prop_assert!(lines.all(|line| (1..=text.lines().count()).contains(&line)));
        }

        #[test]
        fn what_is_written_is_read_back(
            wanted in vec(("[a-zé][a-zA-Z0-9é ,.*`:/-]{0,20}[a-z]", any::<bool>(), 0usize..4), 1..20),
            style in select(vec!["TASK-", "T", "p2.", "AUTH_"]),
        ) {
            let (mut text, mut tasks) = (String::new(), Vec::new());
            for (place, (title, is_ticked, back)) in wanted.into_iter().enumerate() {
                let (id, line) = (format!("{style}{place}"), text.lines().count() + 1);
                let depends: Vec<_> = (place.saturating_sub(back)..place).map(|n| format!("{style}{n}")).collect();
                let (tick, list) = (if is_ticked { 'x' } else { ' ' }, depends.join(", "));
                text += &match place % 3 {
                    0 => format!("## [{tick}] {id}: {title}\n\nText.\ndepends: {list}\n"),
                    1 => format!("  1. [{tick}] `{id}`. {title} (depends: {list})\n"),
                    _ => format!("- [{tick}] **{id}** - {title}\n  - [x] a step\n  - Depends on: {list}\n"),
                };
                tasks.push(SpecTask { id, title, depends, is_ticked, line });
            }
            prop_assert_eq!(read(&text), Spec { title: None, tasks, errors: vec![] });
        }
    }
}
