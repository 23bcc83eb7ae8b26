//! How many of the writes that agents really do are refused, and how many harmless
//! commands too. `guard/corpus.jsonl` has what each command wrote when it was run;
//! `guard/measure.py` measures it again.

#![expect(clippy::unwrap_used, reason = "a helper that cannot go on should stop the test")]
#![expect(clippy::print_stdout, reason = "the figures are what it is for")]

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use consort_shell::Here;
use consort_testkit::Sealed;
use serde_json::Value;
use serde_json::json;

const CORPUS: &str = include_str!("guard/corpus.jsonl");
const FIXTURE: &str = include_str!("guard/fixture.sh");

/// Where the commands were measured.
const MEASURED_AT: &str = "/home/dev/shop";

const RESERVED: [&str; 5] = ["src/auth/", "config/app.yaml", "package.json", "Cargo.toml", "docs/guide.md"];

/// What came of a category.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    /// Commands that wrote: refused before, not told by their text, thought harmless.
    refused: u32,
    unknown: u32,
    unnoticed: u32,
    /// Harmless commands: let through, refused.
    free: u32,
    wrongly: u32,
}

impl Counts {
    fn add(&mut self, other: Self) {
        self.refused += other.refused;
        self.unknown += other.unknown;
        self.unnoticed += other.unnoticed;
        self.free += other.free;
        self.wrongly += other.wrongly;
    }
}

/// A world with the repository in which the commands were measured.
fn world() -> Sealed {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    let (script, shop) = (world.home().join("fixture.sh"), shop(&world));
    fs::write(&script, FIXTURE).unwrap();
    fs::create_dir_all(&shop).unwrap();
    let built = world.ran(world.command("bash").arg(&script).current_dir(&shop));
    assert_eq!(built.code, 0, "{built}");
    let world = world.with_falcon_and_raven();
    for path in RESERVED {
        let path = shop.join(path).to_string_lossy().into_owned();
        let ran = world.run_as(Some("s1"), &["reserve", &path]);
        assert_eq!(ran.code, 0, "{ran}");
    }
    world
}

/// Below the home directory, as it was when the commands were measured.
fn shop(world: &Sealed) -> PathBuf {
    world.home().canonicalize().unwrap().join("shop")
}

/// Asks the guard about every command of a half.
fn measure(half: u64) -> BTreeMap<String, Counts> {
    let world = world();
    let shop = shop(&world);
    let home = shop.parent().unwrap().to_string_lossy().into_owned();
    let mut counts: BTreeMap<String, Counts> = BTreeMap::new();
    let mut missed = String::new();
    for case in CORPUS.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        if case["half"] != half {
            continue;
        }
        let id = case["id"].as_str().unwrap();
        let command = case["command"].as_str().unwrap().replace(MEASURED_AT, &shop.to_string_lossy());
        let cwd = shop.join(case["cwd"].as_str().unwrap_or("."));
        let call = json!({ "session_id": "s2", "cwd": cwd, "tool_name": "Bash", "tool_input": { "command": command } });
        let is_denied = world.hook("PreToolUse", &call).stdout.contains("\"deny\"");
        let (place, root) = (cwd.to_string_lossy(), shop.to_string_lossy());
        let read = |path: &str| fs::read_to_string(cwd.join(path)).ok();
        let is_dir = |path: &str| cwd.join(path).is_dir();
        let here = Here {
            read: Some(&read),
            is_dir: Some(&is_dir),
            alias: None,
            home: Some(&home),
            cwd: Some(&place),
            worktree: Some(&root),
        };
        let is_certain = consort_shell::read(&command, here).is_certain;
        let wrote = !case["wrote"].as_array().unwrap().is_empty();
        let one = counts.entry(id.rsplit_once('-').unwrap().0.to_owned()).or_default();
        let what = match (wrote, is_denied, is_certain) {
            (true, true, _) => ("refused", &mut one.refused),
            (true, false, false) => ("unknown", &mut one.unknown),
            (true, false, true) => ("unnoticed", &mut one.unnoticed),
            (false, true, _) => ("wrongly", &mut one.wrongly),
            (false, false, _) => ("free", &mut one.free),
        };
        *what.1 += 1;
        if !matches!(what.0, "refused" | "free") {
            missed += &format!("{} {id} {command:?}\n", what.0);
        }
    }
    if let Some(file) = std::env::var_os("GUARD_MISSED") {
        fs::write(file, missed).unwrap();
    }
    counts
}

fn report(counts: &BTreeMap<String, Counts>) -> Counts {
    let mut all = Counts::default();
    for (category, one) in counts {
        let Counts { refused, unknown, unnoticed, free, wrongly } = one;
        println!("{category:24} {refused:4} {unknown:4} {unnoticed:4}   {free:4} {wrongly:4}");
        all.add(*one);
    }
    let writes = f64::from(all.refused + all.unknown + all.unnoticed);
    let harmless = f64::from(all.free + all.wrongly);
    let percent = |count: u32, of: f64| f64::from(count) * 100.0 / of;
    println!(
        "refused {:.1} %, unknown {:.1} %, unnoticed {:.2} %; harmless and refused {:.2} %",
        percent(all.refused, writes),
        percent(all.unknown, writes),
        percent(all.unnoticed, writes),
        percent(all.wrongly, harmless),
    );
    all
}

#[test]
fn writes_are_refused_and_harmless_commands_are_not() {
    // The second half is for judging: rules are made without it.
    let half = std::env::var("GUARD_HALF").map_or(1, |half| half.parse().unwrap());
    let mut counts = measure(half);
    let all = report(&counts);
    if half != 1 {
        return;
    }
    let writes = all.refused + all.unknown + all.unnoticed;
    assert!(all.refused * 100 >= writes * 85, "{all:?}");
    assert!(all.unnoticed * 1_000 <= writes * 3, "{all:?}");
    // Where the text would write, and only the state of things keeps it from doing so, a
    // refusal is no surprise.
    counts.retain(|category, _| !matches!(category.as_str(), "h-nonexec" | "h-refused"));
    let plain = report(&counts);
    assert!(plain.wrongly * 1_000 <= (plain.free + plain.wrongly) * 12, "{plain:?}");
}
