//! Which functions hooks and messages go through, for the linker to put them
//! side by side (`crates/cli/build.rs`): a process that lives for a millisecond
//! spends a good part of it on mapping its own program, page by page, where
//! what it runs is spread over all of it.
//!
//! Needs valgrind, and a program that still has its names:
//!
//! ```console
//! $ CONSORT_KEEP_NAMES=1 cargo build --release --workspace
//! $ cargo run --release -p consort-bench --bin order
//! ```

#![expect(clippy::print_stdout, reason = "its output is its purpose")]
#![expect(clippy::unwrap_used, reason = "one that cannot go on should stop")]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use consort_bench::Home;
use consort_bench::once;
use consort_bench::under;
use consort_core::Timestamp;
use consort_core::engine::Engine as _;
use consort_core::engine::Tx as _;
use serde_json::json;

fn main() {
    let home = Home::new(50, 100);
    let (idle, full, nothing) = (home.payload("s9"), home.payload("s11"), Path::new("/dev/null"));
    let mut names = Names::default();
    // What all have in common comes first, and then what has the least to itself.
    names.add(&home.consort(&["hook"]), nothing);
    let send = home.consort(&["send", "Agent7", "the login is ready for review"]);
    // In a crowd, where another has the turn and answers.
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut app = home.app();
            let mut turn = app.engine_mut().write().unwrap();
            let request = (0..500).find_map(|_| {
                std::thread::sleep(Duration::from_millis(20));
                turn.take_requests(Timestamp(0)).pop()
            });
            let (request, _) = request.unwrap();
            let to = json!([{ "who": "agent:s7", "name": "Agent7" }]);
            let sent = json!({ "Ok": { "number": 1, "duplicate": false, "to": to, "failed": [] } });
            turn.answer(request, sent.to_string().into_bytes());
            turn.commit().unwrap();
        });
        std::thread::sleep(Duration::from_millis(100));
        names.add(&send, nothing);
    });
    names.add(&send, nothing);
    for n in 0..20 {
        home.send("s1", "Agent11", &format!("{n}: the login is ready for review"));
    }
    names.add(&home.hook("PostToolUse", &full), &full);
    names.add(&home.hook("Stop", &full), &full);
    once(&mut home.consort(&["send", "Agent11", "one more"]));
    names.add(&home.hook("Stop", &full), &full);
    for event in ["PostToolUse", "PreToolUse", "UserPromptSubmit", "SessionEnd", "SessionStart"] {
        names.add(&home.hook(event, &idle), &idle);
    }
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/cli/hot.order");
    std::fs::write(&list, names.in_order.join("\n") + "\n").unwrap();
    println!("{} functions in crates/cli/hot.order", names.in_order.len());
}

/// Functions by when they were first seen.
#[derive(Default)]
struct Names {
    in_order: Vec<String>,
    known: BTreeSet<String>,
}

impl Names {
    fn add(&mut self, command: &Command, stdin: &Path) {
        let profile = tempfile::NamedTempFile::new().unwrap();
        let out = format!("--callgrind-out-file={}", profile.path().display());
        let plain = ["--tool=callgrind", "--demangle=no", "--compress-strings=no", &out];
        assert!(under("valgrind", &plain, command, stdin).status().unwrap().success());
        let profile = std::fs::read_to_string(profile.path()).unwrap();
        let called =
            profile.lines().filter_map(|line| line.strip_prefix("c").unwrap_or(line).strip_prefix("fn="));
        for name in called {
            // A function that calls itself has a number after its name.
            let name = name.split('\'').next().unwrap_or(name);
            // Valgrind is a processor that lacks some instructions, for which the C
            // library has functions of their own.
            let twin = |kind: &str| name.replace("_avx2", "_avx").replace("_avx", kind);
            for name in [name.to_owned(), twin("_evex"), twin("_avx512")] {
                if !name.starts_with("0x") && self.known.insert(name.clone()) {
                    self.in_order.push(name);
                }
            }
        }
    }
}
