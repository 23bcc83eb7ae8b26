//! How many of the writes that agents really do are refused, and how many harmless
//! commands too. `guard/corpus.jsonl` has what each command wrote when it was run;
//! `guard/measure.py` measures it again.

#![expect(clippy::unwrap_used, reason = "a helper that cannot go on should stop the test")]
#![expect(clippy::print_stdout, reason = "the figures are what it is for")]

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;

use consort_hook::Surroundings;
use consort_host::Machine;
use consort_testkit::Sealed;
use serde_json::Value;
use serde_json::json;

const CORPUS: &str = include_str!("guard/corpus.jsonl");

/// Written by others, for rules that were made without it.
const FRESH: &str = include_str!("guard/fresh.jsonl");
const FIXTURE: &str = include_str!("guard/fixture.sh");

/// Where the commands were measured.
const MEASURED_AT: &str = "/home/dev/shop";

const RESERVED: [&str; 5] = ["src/auth/", "config/app.yaml", "package.json", "Cargo.toml", "docs/guide.md"];

/// The home directory that the commands see.
static HOME: OnceLock<String> = OnceLock::new();

/// What the program itself gives its reader; here nothing is asked.
const SURROUNDINGS: Surroundings = Surroundings {
    script: |path| fs::read_to_string(path).ok(),
    variable: |name| HOME.get().filter(|_| name == "HOME").cloned(),
    names: consort_host::names,
};

/// Commands of git that put the work of others into a commit. They change no file, but are
/// refused on purpose.
fn is_policy(command: &str) -> bool {
    command.contains("git add") || command.contains("git commit")
}

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
    /// Of these, what is refused on purpose.
    policy: u32,
}

impl Counts {
    fn add(&mut self, other: Self) {
        self.refused += other.refused;
        self.unknown += other.unknown;
        self.unnoticed += other.unnoticed;
        self.free += other.free;
        self.wrongly += other.wrongly;
        self.policy += other.policy;
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
fn measure(corpus: &str, half: u64) -> BTreeMap<String, Counts> {
    let world = world();
    let shop = shop(&world);
    HOME.get_or_init(|| shop.parent().unwrap().to_string_lossy().into_owned());
    let machine = Machine::new(&world.home());
    let mut counts: BTreeMap<String, Counts> = BTreeMap::new();
    let mut missed = String::new();
    // Another corpus of the same form can be judged.
    let other = std::env::var_os("GUARD_CORPUS").map(|file| fs::read_to_string(file).unwrap());
    for case in
        other.as_deref().unwrap_or(corpus).lines().map(|line| serde_json::from_str::<Value>(line).unwrap())
    {
        if case["half"] != half {
            continue;
        }
        let id = case["id"].as_str().unwrap();
        let command = case["command"].as_str().unwrap();
        // Some go there from the root.
        let command = command.replace(&MEASURED_AT[1..], &shop.to_string_lossy()[1..]);
        let cwd = shop.join(case["cwd"].as_str().unwrap_or("."));
        let call = json!({ "session_id": "s2", "cwd": cwd, "tool_name": "Bash", "tool_input": { "command": command } });
        let is_denied = world.hook("PreToolUse", &call).stdout.contains("\"deny\"");
        let is_certain = consort_hook::command_files(&machine, &cwd, &command, SURROUNDINGS).is_certain;
        let wrote = !case["wrote"].as_array().unwrap().is_empty();
        let one = counts.entry(id.rsplit_once('-').unwrap().0.to_owned()).or_default();
        let what = match (wrote, is_denied, is_certain) {
            (true, true, _) => ("refused", &mut one.refused),
            (true, false, false) => ("unknown", &mut one.unknown),
            (true, false, true) => ("unnoticed", &mut one.unnoticed),
            (false, true, _) if is_policy(&command) => ("policy", &mut one.policy),
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
        let Counts { refused, unknown, unnoticed, free, wrongly, policy } = one;
        println!("{category:24} {refused:4} {unknown:4} {unnoticed:4}   {free:4} {wrongly:4} {policy:4}");
        all.add(*one);
    }
    let writes = f64::from(all.refused + all.unknown + all.unnoticed);
    let harmless = f64::from(all.free + all.wrongly + all.policy);
    let percent = |count: u32, of: f64| f64::from(count) * 100.0 / of;
    println!(
        "refused {:.1} %, unknown {:.1} %, unnoticed {:.2} %; harmless and refused {:.2} %, on purpose {:.2} %",
        percent(all.refused, writes),
        percent(all.unknown, writes),
        percent(all.unnoticed, writes),
        percent(all.wrongly, harmless),
        percent(all.policy, harmless),
    );
    all
}

#[test]
fn writes_are_refused_and_harmless_commands_are_not() {
    // The second half is for judging: rules are made without it.
    let half = std::env::var("GUARD_HALF").map_or(1, |half| half.parse().unwrap());
    let mut counts = measure(CORPUS, half);
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

#[test]
fn the_same_holds_for_what_others_have_written() {
    for half in [1, 2] {
        let all = report(&measure(FRESH, half));
        let writes = all.refused + all.unknown + all.unnoticed;
        assert!(all.refused * 100 >= writes * 85, "{all:?}");
        assert!(all.unnoticed * 1_000 <= writes * 3, "{all:?}");
    }
}
