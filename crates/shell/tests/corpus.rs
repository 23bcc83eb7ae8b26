//! Tests which files commands write, against the cases in `corpus.txt`.

#![expect(clippy::unwrap_used, reason = "a helper that cannot go on should stop the test")]

use std::fmt::Write as _;

use consort_shell::Extent;
use consort_shell::Reading;
use consort_shell::read;

const CORPUS: &str = include_str!("corpus.txt");
const HOME: Option<&str> = Some("/home/me");

#[test]
fn every_command_is_read_as_the_corpus_says() {
    let cases = cases();
    assert!(cases.len() >= 200, "only {} cases", cases.len());
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        return update(cases);
    }
    let mut wrong = String::new();
    for (command, expected) in cases {
        let found = tell(&read(&command, HOME));
        if found != expected {
            writeln!(wrong, "{command}\n  expected: {expected:?}\n  found:    {found:?}\n").unwrap();
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// Writes the results that were found into the corpus, for review.
fn update(cases: Vec<(String, Vec<String>)>) {
    let mut text = CORPUS.to_owned();
    for (command, expected) in cases {
        let block = |lines: &[String]| {
            let lines: String = lines.iter().map(|line| format!("=> {line}\n")).collect();
            format!("{command}\n{lines}")
        };
        text = text.replacen(&block(&expected), &block(&tell(&read(&command, HOME))), 1);
    }
    std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus.txt"), text).unwrap();
}

/// Reads the cases: a command of any number of lines, and then its `=> ` lines. Empty lines and
/// `## ` headings between cases are for the reader.
fn cases() -> Vec<(String, Vec<String>)> {
    let mut cases: Vec<(String, Vec<String>)> = Vec::new();
    let mut is_open = false;
    for line in CORPUS.lines() {
        if let Some(expected) = line.strip_prefix("=> ") {
            is_open = false;
            cases.last_mut().unwrap().1.push(expected.into());
        } else if is_open {
            let (command, _) = cases.last_mut().unwrap();
            command.push('\n');
            command.push_str(line);
        } else if !line.is_empty() && !line.starts_with("## ") {
            is_open = true;
            cases.push((line.into(), Vec::new()));
        }
    }
    cases
}

fn tell(reading: &Reading) -> Vec<String> {
    let mut lines = Vec::new();
    for write in &reading.writes {
        let extent = match write.extent {
            Extent::File => "file",
            Extent::Tree => "tree",
            Extent::Glob => "glob",
            Extent::Changes => "changes",
            Extent::Worktree => "worktree",
            Extent::Commits => "commits",
        };
        let range = write.range.iter().map(|word| format!(" {word}")).collect::<String>();
        lines.push(format!("{extent} {} by {}{range}", write.path.replace('\n', "\\n"), write.by));
    }
    if !reading.is_certain {
        lines.push("unknown".into());
    }
    if lines.is_empty() {
        lines.push("nothing".into());
    }
    lines
}

#[test]
fn what_a_command_shows_is_what_its_agent_has_seen() {
    for (command, expected) in [
        ("cat a.rs src/b.rs | head -5", vec!["a.rs", "src/b.rs"]),
        ("cd src && sed -n '1,40p' b.rs", vec!["src/b.rs"]),
        ("sed -n -e 1p -e 2p b.rs", vec!["b.rs"]),
        ("grep -n 'fn x' a.rs; rg -t rust -e x b.rs", vec!["a.rs", "b.rs"]),
        ("head -n 20 a.rs && tail -5 b.rs", vec!["a.rs", "b.rs"]),
        ("awk '{print $1}' a.txt", vec!["a.txt"]),
        ("jq .x package.json", vec!["package.json"]),
        ("cat \"src/$x\" *.rs /dev/null; ls src; wc -l a.rs", vec![]),
        ("for f in a.rs b.rs; do cat $f; done", vec!["a.rs", "b.rs"]),
    ] {
        assert_eq!(read(command, HOME).reads, expected, "{command}");
    }
}
