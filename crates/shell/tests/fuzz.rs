//! Fuzzes the commands of the corpus, which agents really run: every variant is
//! answered soon, with little memory, and without a panic. A few variants on every
//! run, many if `CONSORT_TEST_LONG` is set.

#![expect(clippy::unwrap_used, reason = "a helper that cannot go on should stop the test")]

use std::time::Duration;
use std::time::Instant;

use consort_shell::ShellContext;
use consort_shell::read;

const COMMANDS: &str = include_str!("corpus.txt");

/// Longest time for one command: far more than any takes, even unoptimised on a busy machine.
const SOON: Duration = Duration::from_secs(10);

/// Most memory of the whole test, in kilobytes: the stack for a deep text is 64 MB.
const MOST_MEMORY: u64 = 600 << 10;

/// Pieces of the shell language, and arguments of programs, for random texts.
const PIECES: &[&str] = &[
    " ",
    "\n",
    ";",
    "&&",
    "||",
    "|",
    "&",
    "(",
    ")",
    "{ ",
    "; }",
    "$(",
    "`",
    "\"",
    "'",
    "$'",
    "\\",
    "<(",
    ">(",
    ">",
    ">>",
    "<",
    "<<EOF\n",
    "\nEOF\n",
    "<<<",
    "2>&1",
    "$x",
    "${x}",
    "${x%.rs}",
    "${x:-y}",
    "${x//a/b}",
    "${a[@]}",
    "$@",
    "$#",
    "$1",
    "*",
    "?",
    "[a-z]",
    "{a,b}",
    "{01..09}",
    "**",
    "~",
    "~-",
    "..",
    "/",
    "src/auth/login.rs",
    "docs/guide.md",
    "-",
    "--",
    "-i",
    "-e",
    "-c",
    "-exec",
    "{}",
    "\\;",
    "-delete",
    "xargs ",
    "find . ",
    "sed -i ",
    "git ",
    "checkout ",
    "tar xf ",
    "python3 -c ",
    "open('a','w')",
    "node -e ",
    "fs.writeFileSync('a')",
    "perl -e ",
    "awk ",
    "bash -c ",
    "eval ",
    "cd ",
    "rm -rf ",
    "cp ",
    "tee ",
    "for f in ",
    "; do ",
    "; done",
    "while read f",
    "if ",
    "; then ",
    "else ",
    "; fi",
    "case $x in ",
    "a) ",
    ";; esac",
    "f() ",
    "[[ -f a ]]",
    "[ a = b ]",
    "local x=",
    "declare -n r=",
    "set -- ",
    "shift",
    "trap ",
    "vim -es -c ",
    "s/a/b/e",
    "w out",
    "!rm x",
    "make ",
    "npm run ",
    "\u{0}",
    "\u{fffc}",
    "é",
    "日本",
];

/// A random number generator; its numbers are the same in every run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from((self.0 >> 11) % u64::try_from(limit.max(1)).unwrap()).unwrap()
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}

#[test]
fn commands_that_nobody_would_write_are_answered() {
    let rounds = if std::env::var_os("CONSORT_TEST_LONG").is_some() { 1_000_000 } else { 10_000 };
    let commands: Vec<&str> =
        COMMANDS.split("\n\n").map(|block| block.split("\n=>").next().unwrap()).collect();
    let mut chance = Chance(0x2545_f491_4f6c_dd1d);
    for _ in 0..rounds {
        let command = match chance.below(3) {
            0 => made(&mut chance),
            1 => mutated(&mut chance, &commands),
            _ => spliced(&mut chance, &commands),
        };
        answer(&command, &commands);
    }
    assert!(memory() < MOST_MEMORY, "{} kB", memory());
}

/// Makes a text out of pieces alone.
fn made(chance: &mut Chance) -> String {
    (0..1 + chance.below(40)).map(|_| chance.pick(PIECES)).collect()
}

/// Takes a command and removes, doubles or inserts a few characters.
fn mutated(chance: &mut Chance, commands: &[&str]) -> String {
    let mut chars: Vec<char> = chance.pick(commands).chars().collect();
    for _ in 0..1 + chance.below(6) {
        let at = chance.below(chars.len());
        match chance.below(4) {
            0 if !chars.is_empty() => drop(chars.remove(at)),
            1 if !chars.is_empty() => chars.insert(at, chars[at]),
            2 => {
                let piece: Vec<char> = chance.pick(PIECES).chars().collect();
                chars.splice(at..at, piece);
            }
            _ => chars.truncate(at + 1),
        }
    }
    chars.into_iter().collect()
}

/// Joins the beginnings and ends of several commands.
fn spliced(chance: &mut Chance, commands: &[&str]) -> String {
    let mut command = String::new();
    for _ in 0..2 + chance.below(6) {
        let part = chance.pick(commands);
        let at = chance.below(part.chars().count() + 1);
        match chance.below(2) {
            0 => command.extend(part.chars().take(at)),
            _ => command.extend(part.chars().skip(at)),
        }
        command.push_str(chance.pick(PIECES));
    }
    command
}

/// Reads a command as the hook does, with a disk that answers something.
fn answer(command: &str, commands: &[&str]) {
    let file = |path: &str| commands.get(path.len() * 7 % commands.len()).map(|text| (*text).to_owned());
    let is_dir = |path: &str| path.len().is_multiple_of(2);
    let is_there = |path: &str| path.len().is_multiple_of(5);
    let entries =
        |path: &str| Some(vec![format!("a{}", path.len()), "login.rs".into(), "b c".into(), "-rf".into()]);
    let variable = |name: &str| name.len().is_multiple_of(3).then(|| format!("{name} *"));
    let here = ShellContext {
        read: Some(&file),
        is_dir: Some(&is_dir),
        is_there: Some(&is_there),
        entries: Some(&entries),
        variable: Some(&variable),
        alias: None,
        shell_alias: Some(&file),
        home: Some("/home/me"),
        cwd: Some("/home/me/shop"),
        worktree: Some("/home/me/shop"),
    };
    let start = Instant::now();
    let reading = read(command, here);
    let took = start.elapsed();
    assert!(took < SOON, "{took:?} for {command:?}");
    assert!(reading.writes.len() <= 1_100, "{} writes for {command:?}", reading.writes.len());
}

/// Returns the most memory that this process has had, in kilobytes.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or_default()
}
