//! Measures how many of the writes that agents really do are refused, and how many harmless
//! commands are too. `guard/corpus.jsonl` has what each command wrote when it was run;
//! `guard/measure.py` measures it again.

#![expect(clippy::print_stdout, reason = "the figures are what it is for")]

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;

use consort_core::claims::PendingWrite;
use consort_hook::CommandEnvironment;
use consort_host::Machine;
use consort_testkit::Sealed;
use serde_json::Value;
use serde_json::json;

const CORPUS: &str = include_str!("guard/corpus.jsonl");

/// A corpus that others wrote, and that was not used to make the rules.
const FRESH: &str = include_str!("guard/fresh.jsonl");
const THIRD: &str = include_str!("guard/third.jsonl");
const FIXTURE: &str = include_str!("guard/fixture.sh");

/// The directory in which the commands were measured.
const MEASURED_AT: &str = "/home/dev/shop";

const RESERVED: [&str; 5] = ["src/auth/", "config/app.yaml", "package.json", "Cargo.toml", "docs/guide.md"];

/// The home directory that the commands see.
static HOME: OnceLock<String> = OnceLock::new();

/// Returns a variable of the environment in which the commands were measured, if it differs from the
/// sealed one.
fn measured_with(name: &str) -> Option<String> {
    match name {
        "PATH" => std::env::var("PATH").ok(),
        "npm_config_offline" => Some("true".to_owned()),
        _ => None,
    }
}

/// The surroundings that the program itself gives to the reader of commands.
const SURROUNDINGS: CommandEnvironment = CommandEnvironment {
    script: |path| fs::read_to_string(path).ok(),
    variable: |name| if name == "HOME" { HOME.get().cloned() } else { measured_with(name) },
    names: consort_host::names,
    alias_file: None,
};

/// Tells whether a command was refused because it puts the work of others into a commit. Such git
/// commands change no file, but are refused on purpose.
fn is_policy(writes: &[PendingWrite], answer: &str) -> bool {
    let is_commit = |write: &PendingWrite| matches!(write.by.as_str(), "git add" | "git commit");
    writes.iter().all(is_commit) || answer.contains("includes all that is uncommitted")
}

/// The results of a category of commands.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    /// Commands that wrote to reserved paths: those refused, those whose text did not tell, and those
    /// taken for harmless.
    refused: u32,
    unknown: u32,
    unnoticed: u32,
    /// Harmless commands: those let through, and those refused by mistake.
    free: u32,
    wrongly: u32,
    /// Harmless commands that are refused on purpose.
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

/// Makes a world with the repository in which the commands were measured.
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

/// Returns the repository's directory: below the home directory, as when the commands were measured.
fn shop(world: &Sealed) -> PathBuf {
    world.home().canonicalize().unwrap().join("shop")
}

/// Asks the guard about every command of one half of a corpus.
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
        // Without the leading slash, because some commands go there from the root.
        let command = command.replace(&MEASURED_AT[1..], &shop.to_string_lossy()[1..]);
        let cwd = shop.join(case["cwd"].as_str().unwrap_or("."));
        let call = json!({ "session_id": "s2", "cwd": cwd, "tool_name": "Bash", "tool_input": { "command": command } });
        let names = ["PATH", "npm_config_offline"];
        let mut hook = world.consort(["hook", "claude", "PreToolUse"]);
        hook.envs(names.into_iter().filter_map(|name| Some((name, measured_with(name)?))));
        let answer = world.ran_with(&mut hook, call.to_string().as_bytes()).stdout;
        let is_denied = answer.contains("\"deny\"");
        let files = consort_hook::command_files(&machine, &cwd, &command, SURROUNDINGS);
        let wrote = !case["wrote"].as_array().unwrap().is_empty();
        let one = counts.entry(id.rsplit_once('-').unwrap().0.to_owned()).or_default();
        let what = match (wrote, is_denied, files.is_certain) {
            (true, true, _) => ("refused", &mut one.refused),
            (true, false, false) => ("unknown", &mut one.unknown),
            (true, false, true) => ("unnoticed", &mut one.unnoticed),
            (false, true, _) if is_policy(&files.writes, &answer) => ("policy", &mut one.policy),
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

/// Checks the figures of both halves, or of the one that `GUARD_HALF` names.
fn judge(corpus: &str) {
    let only: Option<u64> = std::env::var("GUARD_HALF").ok().map(|half| half.parse().unwrap());
    for half in [1, 2].into_iter().filter(|half| only.is_none_or(|only| only == *half)) {
        let mut counts = measure(corpus, half);
        let all = report(&counts);
        let writes = all.refused + all.unknown + all.unnoticed;
        assert!(all.refused * 100 >= writes * 85, "{all:?}");
        assert!(all.unnoticed * 1_000 <= writes * 3, "{all:?}");
        // A command that failed where it was measured may work elsewhere: a program is installed,
        // a package can be fetched.
        counts.retain(|category, _| category != "h-refused");
        let sure = report(&counts);
        assert!(sure.wrongly * 1_000 <= (sure.free + sure.wrongly) * 5, "{sure:?}");
    }
}

#[test]
fn writes_are_refused_and_harmless_commands_are_not() {
    judge(CORPUS);
}

#[test]
fn the_same_holds_for_what_others_have_written() {
    judge(FRESH);
}

#[test]
fn and_for_what_others_have_written_after_that() {
    judge(THIRD);
}
