//! Benchmarks of convergence: the cost of a prompt among many agents, and how well collisions are
//! foreseen.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use consort_bench::Home;
use consort_bench::evaluation;
use consort_bench::evaluation::Rules;
use consort_bench::evaluation::Score;
use consort_bench::once;
use consort_bench::release;
use consort_bench::sealed;
use consort_core::convergence::SignalKind;
use serde_json::json;

use crate::table;

pub(crate) fn run(rounds: usize) {
    evaluate();
    prompts(rounds);
}

/// Measures a prompt beside other agents whose trails are as long as they get.
fn prompts(rounds: usize) {
    let homes: Vec<Home> = [2, 50, 200, 1_000].map(|agents| Home::new(agents, agents)).into_iter().collect();
    let counts = [2, 50, 200, 1_000];
    for (home, agents) in homes.iter().zip(counts) {
        fill(home, agents);
    }
    let mut floor = Command::new(release("floor"));
    sealed(&mut floor, "/dev/null".as_ref());
    let mut candidates = vec![("floor: a process that does nothing".to_owned(), floor, Vec::new())];
    for (home, agents) in homes.iter().zip(counts) {
        home.take_over("s1");
        // Each prompt differs from the one before it, and none shares a topic with another agent's.
        let nobodys = agents * 100;
        let payloads: Vec<PathBuf> =
            (nobodys..nobodys + 16).map(|n| payload(home, "s1", &words(n))).collect();
        let name = format!("UserPromptSubmit among {agents} agents");
        candidates.push((name, home.hook("UserPromptSubmit", &payloads[0]), payloads));
    }
    let mut taken: Vec<Vec<Duration>> = candidates.iter().map(|_| Vec::with_capacity(rounds)).collect();
    for round in 0..rounds {
        for ((_, command, payloads), taken) in candidates.iter_mut().zip(&mut taken) {
            if let Some(payload) = payloads.get(round % payloads.len().max(1)) {
                command.stdin(std::fs::File::open(payload).unwrap());
            }
            taken.push(once(command));
        }
    }
    let names = candidates.into_iter().map(|(name, ..)| name);
    table(&format!("prompts, {rounds} rounds interleaved, spawn + wait, µs"), names.zip(taken));
}

/// Gives every agent ten prompts of eight topics, each with a few files.
fn fill(home: &Home, agents: usize) {
    let mut app = home.app();
    for agent in 0..agents {
        let session = format!("s{agent}").into();
        for step in 0..10 {
            let prompt = words(agent * 100 + step);
            app.note_prompt(&session, &prompt, &|_| None).unwrap();
            for file in 0..4 {
                let path = home.cwd.join(format!("src/module{agent}/part{step}/file{file}.rs"));
                app.note_visit(&session, &path, file == 0, false, &|_| None).unwrap();
            }
        }
    }
    assert_eq!(app.past_predictions().unwrap().1.all.total(), 0);
}

/// Makes a prompt of eight words that no other prompt has.
fn words(seed: usize) -> String {
    let word = |n: usize| format!("topic{}", to_letters(seed * 8 + n));
    (0..8).map(word).collect::<Vec<_>>().join(" ")
}

fn to_letters(number: usize) -> String {
    number.to_string().bytes().map(|digit| char::from(digit - b'0' + b'a')).collect()
}

fn payload(home: &Home, session: &str, prompt: &str) -> PathBuf {
    let path = home.dir.path().join(format!("{}.json", to_letters(prompt.len()) + prompt));
    let call = json!({ "session_id": session, "cwd": home.cwd, "prompt": prompt });
    std::fs::write(&path, call.to_string()).unwrap();
    path
}

/// Prints precision, recall and lead of the original's rules and of ours, and of ours
/// without each signal.
fn evaluate() {
    for set in evaluation::SETS.into_iter().chain([evaluation::ALL]) {
        println!("collisions foreseen, {set}");
        println!("{:44} {:>9} {:>7} {:>16}", "", "precision", "recall", "lead (median)");
        let rules = |files| Rules { files, threshold: 0.35, without: None };
        show("the original's rules: words", &evaluation::score(set, rules(false)));
        let lowest = Rules { threshold: 0.15, ..rules(false) };
        show("the same, at its lowest threshold", &evaluation::score(set, lowest));
        show("ours: words and files", &evaluation::score(set, rules(true)));
        for kind in SignalKind::ALL {
            let without = Rules { without: Some(kind), ..rules(true) };
            show(&format!("ours without {}", kind.as_str()), &evaluation::score(set, without));
        }
        println!();
    }
}

fn show(name: &str, score: &Score) {
    let (precision, recall, (prompts, minutes)) = (score.precision(), score.recall(), score.lead());
    let Score { foreseen, missed, false_alarms, .. } = score;
    println!(
        "{name:44} {precision:9.2} {recall:7.2} {prompts:4} prompts {minutes:3} min   \
         {foreseen} foreseen, {missed} missed, {false_alarms} false"
    );
}
