//! Tests programs against their answers in `corpus.txt`. `UPDATE_CORPUS=1` writes
//! the answers that were found into it.

use std::fmt::Write as _;
use std::path::Path;

use consort_scheme::Format;
use consort_scheme::Limits;
use consort_scheme::Session;
use consort_scheme::catalog;
use consort_scheme::print;

use crate::common::Graph;

const CORPUS: &str = include_str!("corpus.txt");

#[test]
fn every_program_is_answered_as_the_corpus_says() {
    let mut found = String::new();
    let mut wrong = String::new();
    for block in blocks() {
        let Some((program, expected)) = block else {
            continue;
        };
        let answer = answer(&program);
        if answer != expected {
            writeln!(wrong, "{program}\n  expected: {expected}\n  found:    {answer}\n").unwrap();
        }
    }
    if std::env::var_os("UPDATE_CORPUS").is_some() {
        for line in update() {
            writeln!(found, "{line}").unwrap();
        }
        std::fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/all/corpus.txt"), found).unwrap();
        return;
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn every_function_and_form_is_in_the_corpus() {
    let missing: Vec<&str> = catalog()
        .map(|signature| signature.name)
        .chain(["quote", "define", "lambda", "let*", "letrec", "cond", "case", "when", "unless", "begin"])
        .filter(|name| {
            !CORPUS.contains(&format!("({name} "))
                && !CORPUS.contains(&format!("({name})"))
                && !CORPUS.contains(&format!(" {name} "))
                && !CORPUS.contains(&format!(" {name})"))
        })
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

fn answer(program: &str) -> String {
    let results = Session::new().run(program, &mut Graph, &Limits::default());
    print(&results, Format::Columnar, 4000)
}

/// Reads the cases: a program of any number of lines, then its answer, each line after `=> `. Empty
/// lines and `## ` headings separate them.
fn blocks() -> Vec<Option<(String, String)>> {
    let mut blocks = Vec::new();
    let mut program = Vec::new();
    let mut answer = Vec::new();
    for line in CORPUS.lines().chain([""]) {
        if let Some(line) = line.strip_prefix("=> ") {
            answer.push(line);
        } else if line.is_empty() || line.starts_with("## ") {
            if !program.is_empty() {
                blocks.push(Some((program.join("\n"), answer.join("\n"))));
            }
            program.clear();
            answer.clear();
        } else {
            program.push(line);
        }
    }
    blocks
}

fn update() -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut program: Vec<&str> = Vec::new();
    for line in CORPUS.lines().chain([""]) {
        if line.starts_with("=> ") {
            continue;
        }
        if line.is_empty() || line.starts_with("## ") {
            if !program.is_empty() {
                lines.extend(answer(&program.join("\n")).lines().map(|line| format!("=> {line}")));
            }
            program.clear();
        } else {
            program.push(line);
        }
        lines.push(line.to_owned());
    }
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}
