//! Finds the files that `make` would write: reads the makefile and follows the recipes of the targets.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use crate::Extent;
use crate::programs::args::Args;
use crate::programs::args::Options;
use crate::walk::Walk;
use crate::words::Word;

/// Most rules that are followed from one another.
const MOST_RULES: usize = 64;

pub(super) fn run(walk: &mut Walk<'_>, name: &str, words: &[Word]) -> bool {
    if !matches!(name, "make" | "gmake") {
        return false;
    }
    let long = &["--directory", "--file", "--makefile", "--jobs", "--include-dir"];
    let args = Args::read(words, &Options { values: "CfIoW", suffixes: "jl", long });
    if args.has(&[
        "-n",
        "--dry-run",
        "--just-print",
        "--recon",
        "-q",
        "--question",
        "-v",
        "--version",
        "-p",
        "-h",
    ]) {
        return true;
    }
    let place = args.value(&["-C", "--directory"]).cloned().unwrap_or(Word::Text(".".into()));
    walk.within(&place, |walk| make(walk, &args));
    true
}

fn make(walk: &mut Walk<'_>, args: &Args<'_>) {
    let named = args.value(&["-f", "--file", "--makefile"]).and_then(Word::text);
    let names = named.map_or(vec!["GNUmakefile", "makefile", "Makefile"], |name| vec![name]);
    // make may expand the variables of a recipe in other ways than this does.
    walk.note_unknown_write();
    let text = match named {
        Some("-") => walk.input.text().map(str::to_owned),
        _ => names.iter().find_map(|name| walk.file(name)),
    };
    let Some(text) = text else { return };
    let mut file = Makefile::read(&text);
    let mut targets: Vec<String> = Vec::new();
    for word in &args.operands {
        match word.text() {
            Some(text) => match text.split_once('=') {
                Some((name, value)) => drop(file.variables.insert(name.to_owned(), value.to_owned())),
                None => targets.push(text.to_owned()),
            },
            None => return,
        }
    }
    if targets.is_empty() {
        targets.extend(file.first.clone());
    }
    let mut done: BTreeSet<String> = BTreeSet::new();
    while let Some(target) = targets.pop() {
        if done.len() >= MOST_RULES || !done.insert(target.clone()) {
            continue;
        }
        let Some(rule) = file.rules.get(&target) else { continue };
        targets.extend(rule.needs.iter().map(|need| file.expand(need)));
        // A target is a file unless it is phony or only a word.
        let is_file = target.contains(['.', '/']) && !target.starts_with('.') && !file.is_phony(&target);
        if is_file && (!rule.recipe.is_empty() || args.has(&["-t", "--touch"])) {
            walk.write(&Word::Text(target.clone()), Extent::File, "make");
        }
        if args.has(&["-t", "--touch"]) {
            continue;
        }
        for line in &rule.recipe {
            let line = file
                .expand(line)
                .replace("$@", &target)
                .replace("$<", rule.needs.first().map_or("", String::as_str));
            let line = line.trim_start_matches(['@', '-', '+']).replace("$$", "$");
            walk.aside(|walk| walk.script(&line));
        }
    }
}

struct Rule {
    needs: Vec<String>,
    recipe: Vec<String>,
}

struct Makefile {
    first: Option<String>,
    variables: BTreeMap<String, String>,
    rules: BTreeMap<String, Rule>,
}

impl Makefile {
    fn read(text: &str) -> Self {
        let mut file = Self { first: None, variables: BTreeMap::new(), rules: BTreeMap::new() };
        let text = text.replace("\\\n", " ");
        let mut current: Vec<String> = Vec::new();
        for line in text.lines() {
            if let Some(recipe) = line.strip_prefix('\t') {
                for target in &current {
                    if let Some(rule) = file.rules.get_mut(target) {
                        rule.recipe.push(recipe.trim().to_owned());
                    }
                }
                continue;
            }
            let line = line.split('#').next().unwrap_or_default().trim();
            let assignment = ["::=", ":=", "?=", "+=", "="].iter().find_map(|sign| line.split_once(sign));
            if let Some((name, value)) = assignment.filter(|(name, _)| !name.trim().contains([' ', ':'])) {
                file.variables.insert(name.trim().to_owned(), value.trim().to_owned());
            } else if let Some((targets, needs)) = line.split_once(':') {
                current = targets.split_whitespace().map(str::to_owned).collect();
                for target in &current {
                    if file.first.is_none() && !target.starts_with('.') {
                        file.first = Some(target.clone());
                    }
                    let needs = needs.split_whitespace().map(str::to_owned).collect();
                    let rule = file
                        .rules
                        .entry(target.clone())
                        .or_insert(Rule { needs: Vec::new(), recipe: Vec::new() });
                    rule.needs.extend::<Vec<String>>(needs);
                }
            }
        }
        file
    }

    fn is_phony(&self, target: &str) -> bool {
        self.rules.get(".PHONY").is_some_and(|rule| rule.needs.iter().any(|need| need == target))
    }

    /// Expands `$(NAME)` and `${NAME}`, if the variable is known.
    fn expand(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for _ in 0..4 {
            for (name, value) in &self.variables {
                text = text.replace(&format!("$({name})"), value).replace(&format!("${{{name}}}"), value);
            }
        }
        text
    }
}
