//! Benchmarks of knowledge: the time of a query and a record, by commands and through a server.

use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::process::Stdio;
use std::time::Duration;
use std::time::Instant;

use consort_bench::Home;
use consort_bench::once;
use consort_bench::release;
use consort_bench::sealed;
use serde_json::Value;
use serde_json::json;

use crate::mcp::Server;
use crate::table;

const FILTER: &str = "(length (filter (lambda (p) (and (> (@ p :confidence) 0.8) (member \"t3\" (@ p :tags)))) (get-principles)))";

pub(crate) fn run(rounds: usize, many: usize) {
    for count in [10_000, many] {
        let home = Home::new(2, 100);
        // Entered here, because a command that is started in another directory is forked first,
        // which takes longer than the command itself.
        home.enter();
        let taken = fill(&home, count);
        println!("{count} principles recorded in batches of 50: {:.1} s", taken.as_secs_f64());
        let mut candidates = [
            ("floor: a process that does nothing", floor()),
            ("know query: filter over all of them", asked(&home, FILTER)),
            ("know query: one by its name", asked(&home, "(get-principle \"principle-77\")")),
            ("know query: search", asked(&home, "(map :name (search-knowledge \"number 77\"))")),
            (
                "know query: as of a moment ago",
                asked(&home, "(as-of \"1s\" (lambda () (length (get-principles))))"),
            ),
            ("know add: one", home.consort(&["know", "add", "principle", "principle-77", "confidence=0.5"])),
        ];
        let mut times: Vec<(String, Vec<Duration>)> =
            candidates.iter().map(|(name, _)| ((*name).to_owned(), Vec::new())).collect();
        for _ in 0..rounds {
            for ((_, command), (_, taken)) in candidates.iter_mut().zip(&mut times) {
                taken.push(once(command));
            }
        }
        let mut server = Server::start(&home);
        server.greet();
        let (mut batches, mut questions) = (Vec::new(), Vec::new());
        for round in 0..rounds {
            let begun = Instant::now();
            server.call("act", &json!({ "actions": actions(count + round * 10, 10) }));
            batches.push(begun.elapsed());
            let begun = Instant::now();
            server.call("query", &json!({ "expr": FILTER }));
            questions.push(begun.elapsed());
        }
        times.push(("MCP: a batch of ten".into(), batches));
        times.push(("MCP: the filter".into(), questions));
        table(&format!("knowledge, {count} principles, {rounds} rounds interleaved, µs"), times);
        println!("resident: {} KiB\n", server.resident());
    }
}

fn floor() -> Command {
    let mut floor = Command::new(release("floor"));
    sealed(&mut floor, Path::new("/dev/null"));
    floor
}

fn asked(home: &Home, expression: &str) -> Command {
    home.consort(&["know", "query", expression])
}

/// Makes actions like those that sessions record, with seven fields each.
fn actions(from: usize, count: usize) -> Vec<Value> {
    let one = |n: usize| {
        json!(["record-principle", {
            "name": format!("principle-{n}"), "confidence": (n % 100) as f64 / 100.0,
            "description": format!("This is what number {n} says of the matter at hand, in a dozen words or so"),
            "locations": [format!("src/m{}.rs:{n}", n % 97), "README.md:1"], "evidence": ["seen", "tested"],
            "related": [format!("principle-{}", n + 1), format!("principle-{}", n + 2)], "tags": ["a", format!("t{}", n % 10), "x"],
        }])
    };
    (from..from + count).map(one).collect()
}

/// Records many principles by one `know import`; returns the time taken.
pub(crate) fn fill(home: &Home, count: usize) -> Duration {
    let begun = Instant::now();
    let mut import = home.consort(&["know", "import", "-"]);
    let mut child = import.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    for action in actions(0, count) {
        writeln!(input, "{}", json!({ "kind": "principle", "fields": action[1] })).unwrap();
    }
    drop(input);
    assert!(child.wait().unwrap().success());
    begun.elapsed()
}
