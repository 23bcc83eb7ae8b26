//! Tests of the tokens that answers cost a model, by a real tokenizer (o200k): the figures that the
//! documentation quotes.

use std::fs;

use consort_testkit::Sealed;
use consort_testkit::tokens;
use serde_json::Value;
use serde_json::json;

const PRINCIPLES: [(&str, &str); 20] = [
    (
        "wrong-impossible",
        "Make invalid states impossible to write down, so that nobody has to check for them later",
    ),
    (
        "one-writer",
        "Only one process writes the store at a time; the others wait in the order in which they came",
    ),
    (
        "fail-open",
        "A hook that fails lets the tool run, because an agent that stands still is worse than a hint missed",
    ),
    (
        "journal-is-truth",
        "Every change is an entry of the journal first; tables are made from it and can be made again",
    ),
    (
        "doors-translate",
        "A door turns input into a request and an outcome into text, and decides nothing by itself",
    ),
    (
        "pure-rules",
        "Rules take values and return values, so that they can be tested without a machine around them",
    ),
    (
        "small-context",
        "What an agent reads is short and exact, because whatever it reads it cannot think about twice",
    ),
    (
        "quoted-data",
        "Words of other agents are quoted and marked, so that nothing in them can pass for an instruction",
    ),
    (
        "nothing-lost",
        "What was acknowledged is there after a crash between any two lines, and is never there twice",
    ),
    (
        "names-last",
        "A name is settled once and kept, since whoever learned it will use it long after it changed",
    ),
    (
        "real-parts",
        "Tests run the real programs, because a stand-in agrees with whoever wrote it and with nobody else",
    ),
    (
        "ratios-not-times",
        "A benchmark compares candidates in one run and reports ratios, for a machine is never quiet",
    ),
    (
        "hints-with-errors",
        "Every error says what to do next, in words that can be copied to a prompt and run",
    ),
    (
        "own-lines-only",
        "In the files of others we change our own lines and no more, and give them back to the byte",
    ),
    (
        "time-from-outside",
        "Only the host reads the clock, so that a story can be told at any hour and end the same way",
    ),
    (
        "bounded-answers",
        "No answer is longer than whoever asked can bear, and it says how much of it was left out",
    ),
    ("local-first", "Everything works on one machine without a server, an account or a network in reach"),
    (
        "identity-by-process",
        "Who calls is told by the processes above it, for a token can be read by anyone who lives here",
    ),
    (
        "merge-keeps-all",
        "Merging two replicas keeps what both of them said; the newest word counts and the lists are joined",
    ),
    (
        "delete-the-scaffold",
        "What a change makes unnecessary goes with it, since what stays will be read by everyone after us",
    ),
];

#[test]
fn columns_cost_less_than_json() {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    let (areas, aims) = (["design", "store", "hooks", "text"], ["reliability", "speed"]);
    let principle = |(n, (name, description)): (usize, &(&str, &str))| {
        let other = |step: usize| PRINCIPLES[(n + step) % PRINCIPLES.len()].0;
        json!(["record-principle", {
            "name": name, "description": description, "confidence": 0.6 + (n % 8) as f64 / 20.0,
            "locations": [format!("crates/core/src/{}.rs:{}", name.replace('-', "_"), 12 + n * 7), format!("README.md:{}", 30 + n)],
            "evidence": ["tested-in-production", "seen-in-review"], "related": [other(1), other(5)],
            "tags": [areas[n % 4], "core", aims[n % 2]],
        }])
    };
    let types = ["supports", "implements", "extends", "uses", "contradicts"];
    let link = |n: usize| {
        let (from, to) = (PRINCIPLES[n].0, PRINCIPLES[(n + 3) % PRINCIPLES.len()].0);
        json!(["link-entities", { "from": from, "to": to, "type": types[n % 5], "confidence": 0.5 + (n % 5) as f64 / 10.0 }])
    };
    let actions: Vec<Value> = PRINCIPLES.iter().enumerate().map(principle).chain((0..20).map(link)).collect();
    fs::write(world.path().join("batch.json"), json!(actions).to_string()).unwrap();
    assert_eq!(world.run_as(None, &["know", "apply", "../batch.json"]).code, 0);

    let mut table = String::new();
    for (name, expression, least_pretty, least_compact) in
        [("principles", "(get-principles)", 40, 14), ("relationships", "(get-relationships)", 55, 38)]
    {
        let columns = world.run_as(None, &["know", "query", expression]).stdout;
        let json = world.run_as(None, &["know", "query", "--json", expression]).stdout;
        let value = serde_json::from_str::<Value>(&json).unwrap()["items"].take();
        assert_eq!(value.as_array().unwrap().len(), 20);
        let records = world.run_as(None, &["know", "query", "--records", expression]).stdout;
        let [pretty, compact, records, columns] =
            [serde_json::to_string_pretty(&value).unwrap(), value.to_string(), records, columns]
                .map(|text| tokens(&text));
        let saved = |against: usize| 100 - columns * 100 / against;
        table.push_str(&format!(
            "| 20 {name} | {pretty} | {compact} | {records} | {columns} ({} % / {} %) |\n",
            saved(pretty),
            saved(compact)
        ));
        assert!(saved(pretty) >= least_pretty && saved(compact) >= least_compact, "{table}");
    }
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/knowledge.md")).unwrap();
    assert!(page.contains(&table), "docs/knowledge.md should have:\n{table}");
}
