//! Finds every program that a shell text may run in any case, for rules that allow or refuse commands.
//!
//! The walk (`walk.rs`) follows only what surely happens. Here every branch counts, every function
//! that is defined, every substitution, and the commands that known programs are told to run
//! (`timeout`, `bash -c`, `xargs`, `find -exec`). **If any part is not understood, the whole text
//! is not**: [`Calls::is_whole`] is false, and nothing may be allowed because of it.

use rable::Node;
use rable::NodeKind;

use crate::detours;
use crate::detours::Detour;
use crate::detours::RUN_OTHERS;
use crate::heredocs;
use crate::nodes::has_substitution;
use crate::nodes::raw;
use crate::parse_limits;
use crate::plain;
use crate::programs::args::Args;
use crate::programs::args::Options;
use crate::programs::known_name;
use crate::redirects;
use crate::substitutions;
use crate::substitutions::Substitutions;
use crate::walk::Walk;
use crate::words::Word;

/// The programs that a shell text may run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    pub calls: Vec<ShellCall>,
    /// The files that redirections write; `None` stands for a file that the text does not tell.
    pub redirected: Vec<Option<String>>,
    /// Whether every part of the text was understood. Programs that run other programs in ways that
    /// are not followed are calls like any other.
    pub is_read: bool,
    /// Whether the text surely runs nothing but these calls.
    pub is_whole: bool,
    /// Whether the text consists of plain commands only, each run as it is spelt.
    pub is_plain: bool,
}

/// A program and its arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShellCall {
    /// The words as the program gets them; `None` stands for an expansion that the text does not
    /// tell: no argument, one or many. Empty if the command only sets variables.
    pub words: Vec<Option<String>>,
    /// The names of the variables that are set for this call.
    pub variables: Vec<String>,
    /// The arguments that are in the home directory, as they are spelt (`~/.ssh`).
    pub homes: Vec<String>,
    /// Whether the call does nothing but run other calls of the list.
    pub is_wrapper: bool,
    /// The words that make the program do something else than it is named for.
    pub detours: Vec<Detour>,
}

/// Deepest nesting that is followed: `bash -c "bash -c …"`.
const DEEPEST: usize = 8;
/// Most calls that are listed; a text with more is not understood.
const MOST: usize = 1000;

/// Lists the calls in `text`, which is parsed as bash would parse it.
pub fn calls(text: &str) -> Calls {
    let mut reader = Reader {
        found: Calls { is_read: true, is_whole: true, ..Calls::default() },
        functions: Vec::new(),
        depth: 0,
    };
    reader.script(text);
    let Reader { mut found, functions, .. } = reader;
    found.is_plain = plain::is_plain(text);
    for call in &mut found.calls {
        let name = call.words.first().and_then(Option::as_deref);
        call.is_wrapper |= name.is_some_and(|name| functions.iter().any(|known| known == name));
    }
    found
}

struct Reader {
    found: Calls,
    functions: Vec<String>,
    depth: usize,
}

impl Reader {
    fn doubt(&mut self) {
        self.found.is_read = false;
        self.found.is_whole = false;
    }

    fn script(&mut self, text: &str) {
        if self.depth >= DEEPEST {
            return self.doubt();
        }
        self.depth += 1;
        let tamed = parse_limits::tame(text).filter(|tamed| tamed.emptied.is_none());
        let was_read = tamed.and_then(|tamed| {
            parse_limits::with_room(&tamed.text, || match rable::parse(&tamed.text, false) {
                Ok(nodes) => nodes.iter().for_each(|node| self.visit(node)),
                Err(_) => self.doubt(),
            })
        });
        if was_read.is_none() {
            self.doubt();
        }
        self.depth -= 1;
    }

    /// Visits everything below `node`. Lists are as deep as they are long, so this does not recurse.
    fn visit(&mut self, node: &Node) {
        let mut rest = vec![node];
        while let Some(node) = rest.pop() {
            match &node.kind {
                NodeKind::Command { assignments, words, redirects } => {
                    self.command(assignments, words);
                    rest.extend(redirects);
                }
                // Keep the order of the text: a `cd` affects the commands that follow.
                NodeKind::Pipeline { commands, .. } => rest.extend(commands.iter().rev()),
                NodeKind::List { items } => rest.extend(items.iter().rev().map(|item| &item.command)),
                NodeKind::If { condition, then_body, else_body, redirects } => {
                    rest.extend([&**condition, &**then_body]);
                    rest.extend(else_body.as_deref());
                    rest.extend(redirects);
                }
                NodeKind::While { condition, body, redirects }
                | NodeKind::Until { condition, body, redirects } => {
                    rest.extend([&**condition, &**body]);
                    rest.extend(redirects);
                }
                NodeKind::For { words, body, redirects, .. }
                | NodeKind::Select { words, body, redirects, .. } => {
                    words.iter().flatten().for_each(|word| self.word(word));
                    rest.push(body);
                    rest.extend(redirects);
                }
                NodeKind::ForArith { init, cond, incr, body, redirects } => {
                    [init, cond, incr].into_iter().for_each(|text| self.arithmetic(text));
                    rest.push(body);
                    rest.extend(redirects);
                }
                NodeKind::Case { word, patterns, redirects } => {
                    self.word(word);
                    for case in patterns {
                        case.patterns.iter().for_each(|pattern| self.word(pattern));
                        rest.extend(&case.body);
                    }
                    rest.extend(redirects);
                }
                NodeKind::Function { name, body } => {
                    self.functions.push(name.clone());
                    rest.push(body);
                }
                NodeKind::Subshell { body, redirects } | NodeKind::BraceGroup { body, redirects } => {
                    rest.push(body);
                    rest.extend(redirects);
                }
                NodeKind::Coproc { command: inner, .. }
                | NodeKind::Negation { pipeline: inner }
                | NodeKind::Time { pipeline: inner, .. }
                | NodeKind::CondNot { operand: inner }
                | NodeKind::UnaryTest { operand: inner, .. }
                | NodeKind::CondParen { inner } => rest.push(inner),
                NodeKind::BinaryTest { left, right, .. }
                | NodeKind::CondAnd { left, right }
                | NodeKind::CondOr { left, right } => rest.extend([&**left, &**right]),
                NodeKind::ConditionalExpr { body, redirects } => {
                    rest.push(body);
                    rest.extend(redirects);
                }
                NodeKind::ArithmeticCommand { raw_content, redirects, .. } => {
                    self.arithmetic(raw_content);
                    rest.extend(redirects);
                }
                NodeKind::CondTerm { value, .. } => self.substituted(&substitutions::of_text(value)),
                NodeKind::Redirect { op, target, .. } => self.redirect(op, target),
                NodeKind::HereDoc { content, quoted, complete, .. } => {
                    if !complete || !quoted && heredocs::has_commands(content) {
                        self.doubt();
                    }
                }
                NodeKind::Word { .. } => self.word(node),
                NodeKind::Empty | NodeKind::Comment { .. } => {}
                _ => self.doubt(),
            }
        }
    }

    fn arithmetic(&mut self, text: &str) {
        if has_substitution(text) {
            self.doubt();
        }
    }

    fn word(&mut self, word: &Node) {
        let found = substitutions::of_word(word);
        // Arithmetic in the old style (`$[…]`), and other substitutions that the grammar leaves as text.
        if found.commands.is_empty() && raw(word).is_some_and(|text| has_substitution(&unquoted(text))) {
            self.doubt();
        }
        self.substituted(&found);
    }

    fn substituted(&mut self, found: &Substitutions<'_>) {
        if found.has_more || self.depth >= DEEPEST {
            return self.doubt();
        }
        self.depth += 1;
        found.commands.iter().for_each(|command| self.visit(command));
        self.depth -= 1;
    }

    fn redirect(&mut self, op: &str, target: &Node) {
        self.word(target);
        if redirects::writes(op) {
            match fields(target).as_slice() {
                [Word::Text(text)] if op == ">&" && redirects::is_descriptor(text) => {}
                [Word::Text(text)] => self.found.redirected.push(Some(text.clone())),
                _ => self.found.redirected.push(home(target)),
            }
        }
    }

    fn command(&mut self, assignments: &[Node], words: &[Node]) {
        assignments.iter().chain(words).for_each(|word| self.word(word));
        let name =
            |word: &Node| raw(word).and_then(|text| text.split(['=', '+', '[']).next()).map(str::to_owned);
        let variables = assignments.iter().filter_map(name).collect();
        let homes: Vec<String> = words.iter().filter_map(home).collect();
        let words: Vec<Word> = words.iter().flat_map(fields).collect();
        let at = self.found.calls.len();
        self.call(&words, variables);
        // The commands that the program is told to run have these arguments as well.
        for call in self.found.calls.iter_mut().skip(at) {
            call.homes.extend_from_slice(&homes);
        }
    }

    /// Records a program, and the commands that it is told to run.
    fn call(&mut self, words: &[Word], variables: Vec<String>) {
        if self.found.calls.len() >= MOST || self.depth >= DEEPEST {
            return self.doubt();
        }
        let at = self.found.calls.len();
        let told = words.iter().map(|word| word.shape().map(str::to_owned)).collect();
        let detours = detours::of(words);
        self.found.calls.push(ShellCall {
            words: told,
            variables,
            homes: Vec::new(),
            is_wrapper: false,
            detours,
        });
        let Some((program, args)) = words.split_first() else { return };
        let Some(name) = program.text().and_then(known_name) else { return };
        self.depth += 1;
        let is_wrapper = self.wraps(name, args);
        self.depth -= 1;
        // A wrapper without a command to run is a program like any other.
        self.found.calls[at].is_wrapper = is_wrapper && self.found.calls.len() > at + 1;
    }

    /// Follows the commands that a program is told to run; returns whether the program does nothing else.
    fn wraps(&mut self, name: &str, args: &[Word]) -> bool {
        let plain = |values, long| Args::leading(args, &Options::with(values, long)).1;
        let inner = match name {
            "nohup" | "setsid" | "chronic" | "builtin" => plain("", &[]),
            "nice" => plain("n", &["--adjustment"]),
            "ionice" => plain("cn", &["--class", "--classdata"]),
            "stdbuf" => plain("ioe", &["--input", "--output", "--error"]),
            "exec" => plain("a", &[]),
            "timeout" => plain("sk", &["--signal", "--kill-after"]).get(1..).unwrap_or_default(),
            "command" if !matches!(args.first().and_then(Word::text), Some("-v" | "-V")) => plain("", &[]),
            "time" => plain("fo", &["--format", "--output"]),
            "sudo" | "doas" => {
                let rest = plain("ughpCDRTUrt", &["--user", "--group", "--chdir", "--chroot", "--host"]);
                self.call(&rest[assigned(rest)..], Vec::new());
                return false;
            }
            "env" => return self.env(args),
            "xargs" => {
                let options =
                    Options::with("InPLsdaE", &["--max-args", "--max-procs", "--delimiter", "--arg-file"]);
                let (given, rest) = Args::leading(args, &options);
                // The text that replaces the mark may be anything.
                let replaces = given.has(&["-I", "-i", "--replace"]);
                let told = |(at, word): (usize, &Word)| match replaces && at > 0 {
                    true => Word::Unknown,
                    false => word.clone(),
                };
                let more = rest.iter().enumerate().map(told).chain([Word::Unknown]).collect::<Vec<_>>();
                if !rest.is_empty() {
                    self.call(&more, Vec::new());
                }
                return true;
            }
            "find" => {
                self.find(args);
                return false;
            }
            "bash" | "sh" | "zsh" | "dash" | "ksh" => return self.shell(args),
            "eval" => match args.iter().map(Word::text).collect::<Option<Vec<_>>>() {
                Some(words) if !words.is_empty() => {
                    self.script(&words.join(" "));
                    return true;
                }
                _ => {
                    self.doubt();
                    return false;
                }
            },
            "trap" => {
                match args.first() {
                    Some(Word::Text(script)) => self.script(script),
                    Some(_) => self.doubt(),
                    None => {}
                }
                return false;
            }
            "git"
                if args
                    .iter()
                    .any(|word| matches!(word.text(), Some("foreach" | "--exec" | "-x" | "run"))) =>
            {
                self.doubt();
                return false;
            }
            _ if RUN_OTHERS.contains(&name) => {
                self.found.is_whole = false;
                return false;
            }
            _ => return false,
        };
        self.call(inner, Vec::new());
        true
    }

    fn env(&mut self, args: &[Word]) -> bool {
        let args = args.strip_prefix(&[Word::Text("-".into())][..]).unwrap_or(args);
        let (_, rest) = Args::leading(args, &Options::with("uCS", &["--unset", "--chdir"]));
        let (set, inner) = rest.split_at(assigned(rest));
        let name =
            |word: &Word| word.shape().and_then(|text| text.split_once('=')).map(|(name, _)| name.to_owned());
        let variables = set.iter().filter_map(name).collect();
        if args
            .iter()
            .any(|word| word.text().is_some_and(|text| text.starts_with("-S") || text.starts_with("--s")))
        {
            self.doubt();
        }
        if !inner.is_empty() {
            self.call(inner, variables);
        }
        true
    }

    fn find(&mut self, args: &[Word]) {
        let starts = |word: &Word| matches!(word.text(), Some("-exec" | "-execdir" | "-ok" | "-okdir"));
        let mut rest = args;
        while let Some(at) = rest.iter().position(starts) {
            rest = &rest[at + 1..];
            let end = rest.iter().position(|word| matches!(word.text(), Some(";" | "+")));
            let (inner, after) = rest.split_at(end.unwrap_or(rest.len()));
            let found = |word: &Word| match word.text() {
                Some(text) if text.contains("{}") => Word::Unknown,
                _ => word.clone(),
            };
            self.call(&inner.iter().map(found).collect::<Vec<_>>(), Vec::new());
            rest = after;
        }
    }

    /// Follows `bash -c text`. A script file is a program like any other.
    fn shell(&mut self, args: &[Word]) -> bool {
        let args: Vec<Word> = args
            .iter()
            .filter(|word| !word.text().is_some_and(|text| text.starts_with('+')))
            .cloned()
            .collect();
        let (options, rest) = Args::leading(&args, &Options::with("oO", &["--rcfile", "--init-file"]));
        match rest.first() {
            Some(Word::Text(script)) if options.has(&["-c"]) => {
                self.script(script);
                // The text may run the arguments after it.
                rest.len() == 1
            }
            // A script file is a program like any other; a text that is not known, or that comes
            // from the input, may be anything.
            Some(Word::Text(_)) if !options.has(&["-s"]) => false,
            _ => {
                if !options.has(&["--version", "--help"]) {
                    self.doubt();
                }
                false
            }
        }
    }
}

/// Counts the first words that set a variable.
fn assigned(words: &[Word]) -> usize {
    words.iter().take_while(|word| word.shape().is_some_and(|text| text.contains('='))).count()
}

/// Returns the arguments that a word becomes. The value of a variable may change, so it is never known.
fn fields(word: &Node) -> Vec<Word> {
    if raw(word).is_none_or(|text| unquoted(text).contains(['$', '`'])) {
        return vec![Word::Unknown];
    }
    Walk::new(None.into()).fields(word)
}

/// Returns a word that begins with the home directory, with `~` in its place.
fn home(word: &Node) -> Option<String> {
    let text = raw(word)?.replace('"', "");
    let rest = ["~", "$HOME", "${HOME}"].iter().find_map(|home| text.strip_prefix(home))?;
    (rest.is_empty() || rest.starts_with('/')).then(|| format!("~{rest}"))
}

/// Returns a text without the parts in single quotes.
fn unquoted(text: &str) -> String {
    text.split('\'').step_by(2).collect()
}
