//! Benchmark of the disk space that hooks take up as they go on.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use consort_bench::Home;
use consort_bench::once;
use serde_json::json;

/// Hooks in a day, at ten a second.
const A_DAY: usize = 10 * 86_400;

const SESSIONS: usize = 3;

/// Runs hooks of sessions that have nothing to do with each other, and prints how the disk space grows.
pub(crate) fn run(hooks: usize) {
    let home = Home::new(SESSIONS, 100);
    for session in 0..SESSIONS {
        home.payload(&format!("s{session}"));
    }
    let path = home.dir.path().join("call.json");
    let mut step = 0;
    let mut work = |count: usize| {
        for _ in 0..count {
            step += 1;
            let (session, file) = (step % SESSIONS, step / (4 * SESSIONS) % 50);
            let event = match step / SESSIONS % 16 {
                0 => "UserPromptSubmit",
                15 => "Stop",
                n if n % 2 == 1 => "PreToolUse",
                _ => "PostToolUse",
            };
            let call = json!({ "session_id": format!("s{session}"), "cwd": home.cwd,
                "prompt": format!("topic{session} step{}", step % 1_000), "tool_name": "Edit",
                "tool_input": { "file_path": home.cwd.join(format!("src/s{session}/file{file}.rs")) } });
            fs::write(&path, call.to_string()).unwrap();
            once(&mut home.hook(event, &path));
        }
    };
    // Files that are written in place or cut at a length have their full size after a while.
    work(hooks);
    let before = used(home.dir.path());
    work(hooks);
    let grown = used(home.dir.path()) as f64 - before as f64;
    println!(
        "{hooks} hooks of {SESSIONS} sessions: {:.1} MB at first, then {:+.3} MB, which is {:+.1} MB a day at ten a second\n",
        before as f64 / 1e6,
        grown / 1e6,
        grown / hooks as f64 * A_DAY as f64 / 1e6,
    );
}

/// Returns the bytes that a directory takes up on disk.
fn used(dir: &Path) -> u64 {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries
        .map(|path| if path.is_dir() { used(&path) } else { fs::metadata(&path).unwrap().blocks() * 512 })
        .sum()
}
