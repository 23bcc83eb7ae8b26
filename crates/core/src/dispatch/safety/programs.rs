//! Classifies programs by their names and arguments, for a run's safety level.

use super::ActionClass;
use super::args::Args;
use super::git;
use super::inline;
use super::ours;
use super::paths;
use super::system;

/// Programs that print what they find; `reader` looks at those of them that options make do more.
#[rustfmt::skip]
const READING: &[&str] = &[
    ":", "[", "ack", "ag", "b2sum", "base32", "base64", "basename", "bat", "bc", "break", "cal", "cat", "cd", "cksum",
    "clear", "cmp", "column", "comm", "continue", "cut", "date", "declare", "df", "diff", "dirname", "dirs", "du", "echo",
    "egrep", "exa", "exit", "expand", "export", "expr", "eza", "false", "fd", "fgrep", "file", "fmt", "fold", "free",
    "getconf", "getopts", "grep", "groups", "head", "hexdump", "hostname", "id", "jobs", "join", "jq", "less", "let",
    "local", "locale", "ls", "lscpu", "lsd", "lsof", "mapfile", "md5", "md5sum", "more", "nl", "nproc", "numfmt", "od",
    "paste", "pathchk", "pgrep", "popd", "printenv", "printf", "ps", "pstree", "pushd", "pwd", "read", "readarray",
    "readlink", "readonly", "realpath", "return", "rev", "rg", "seq", "set", "sha1sum", "sha224sum", "sha256sum",
    "sha384sum", "sha512sum", "shasum", "shift", "shopt", "shuf", "sleep", "sort", "stat", "strings", "sum", "tac", "tail",
    "test", "times", "tokei", "tr", "tree", "true", "tsort", "tty", "type", "typeset", "ulimit", "umask", "uname",
    "unexpand", "uniq", "unset", "uptime", "users", "w", "wait", "wc", "whereis", "which", "whoami", "xxd", "yes", "zcat",
    "zgrep",
];

const ASKING: &[&str] = &["dig", "host", "nslookup", "ping", "traceroute", "whois"];

/// Programs that write files; their last operand, or all of them, name the files.
const WRITING: &[&str] = &[
    "cp", "dos2unix", "install", "ln", "mkdir", "mkfifo", "mktemp", "mv", "patch", "split", "sponge", "tee",
    "touch", "unix2dos",
];

const DELETING: &[&str] = &["rm", "rmdir", "shred", "srm", "trash", "unlink"];

/// Programs that run others, in ways that are not followed.
#[rustfmt::skip]
const RUNS_OTHERS: &[&str] = &[
    "at", "batch", "busybox", "caffeinate", "entr", "flock", "ltrace", "parallel", "screen", "script", "ssh",
    "start-stop-daemon", "strace", "systemd-run", "tmux", "unbuffer", "unshare", "watch",
];

/// Shells; a text that a shell is given (`-c`) was followed before.
const SHELLS: &[&str] = &["bash", "dash", "fish", "ksh", "sh", "zsh", "eval"];

const AGENTS: &[&str] = &["claude", "codex", "copilot", "gemini", "opencode", "pi"];

pub(super) fn is_agent(name: &str) -> bool {
    AGENTS.contains(&name)
}

/// Returns the name of a program without one of the machine's directories for programs.
pub(super) fn base_name(program: &str) -> &str {
    let places = ["/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/", "/opt/homebrew/bin/"];
    places.iter().find_map(|place| program.strip_prefix(place)).unwrap_or(program)
}

/// Returns the class of a program with its arguments; `None` if the program runs something that its
/// text does not tell.
pub(super) fn classify(program: &str, args: Args<'_>) -> Option<ActionClass> {
    let name = base_name(program);
    // A program of the project counts like any unknown program.
    if name.contains('/') {
        return Some(ActionClass::BashExec);
    }
    Some(match name {
        "consort" => ours::classify(args),
        "git" => git::classify(args),
        _ if is_agent(name) => agent(args),
        _ if SHELLS.contains(&name) => return shell(args),
        _ if RUNS_OTHERS.contains(&name) => return None,
        "source" | "." if is_fed(args) => return None,
        "env" if args.operands().next().is_none() => ActionClass::FileRead,
        "sort" | "uniq" | "tree" | "xxd" | "fd" | "rg" | "less" | "date" | "hostname" | "shuf" => {
            reader(name, args)
        }
        _ if READING.contains(&name) => ActionClass::FileRead,
        _ if ASKING.contains(&name) => ActionClass::Network,
        _ if DELETING.contains(&name) => write(ActionClass::FileDelete, args.operands()),
        "cp" | "ln" | "install" if !args.has(&["-t", "--target-directory"]) => {
            write(ActionClass::FileWrite, args.operands().last().into_iter())
        }
        _ if WRITING.contains(&name) => write(ActionClass::FileWrite, args.operands()),
        "find" => find(args),
        "truncate" => write(ActionClass::BashDestructive, args.operands()),
        "dd" => dd(args),
        "chmod" | "chown" | "chgrp" => mode(name, args),
        "sed" | "gsed" => sed(args),
        "awk" | "gawk" | "mawk" | "nawk" => awk(args),
        "rsync" if args.words().any(|word| word.starts_with("--del") || word == "--remove-source-files") => {
            write(ActionClass::FileDelete, args.operands())
        }
        "rsync" | "scp" | "sftp" => write(ActionClass::FileWrite, args.operands().last().into_iter()),
        "tar" if args.has(&["--remove-files"]) => ActionClass::FileDelete,
        "curl" | "wget" | "http" | "https" | "xh" => network(name, args),
        "python" | "python2" | "python3" | "node" | "nodejs" | "deno" | "ruby" | "perl" | "php" | "lua" => {
            interpreter(name, args)
        }
        // It runs programs, and manages packages.
        "bun" => match args.operands().next() {
            Some(
                "add" | "a" | "install" | "i" | "remove" | "rm" | "update" | "link" | "unlink" | "pm"
                | "publish",
            ) => system::classify(name, args).unwrap_or(ActionClass::BashExec),
            _ => interpreter(name, args),
        },
        _ => match system::classify(name, args) {
            Some(class) => class,
            None => ActionClass::BashExec,
        },
    })
}

/// Returns `class`, or [`ActionClass::SystemModify`] if one of the paths is not a run's to write.
fn write<'a>(class: ActionClass, mut paths: impl Iterator<Item = &'a str>) -> ActionClass {
    match paths.any(paths::is_protected) {
        true => ActionClass::SystemModify,
        false => class,
    }
}

fn agent(args: Args<'_>) -> ActionClass {
    let changes =
        ["auth", "config", "doctor", "install", "login", "logout", "mcp", "plugin", "setup-token", "update"];
    let loosens = |word: &str| {
        ["danger", "yolo", "bypass", "allow-all", "skip-permissions"].iter().any(|loose| word.contains(loose))
    };
    match args.first() {
        Some("--version" | "-v" | "--help" | "-h") => ActionClass::FileRead,
        Some(first) if changes.contains(&first) => ActionClass::SystemModify,
        _ if args.words().any(|word| word.starts_with('-') && loosens(word)) => ActionClass::SystemModify,
        _ => ActionClass::AgentDispatch,
    }
}

/// Classifies a shell: with a script it is a program like any other; a text (`-c`) was followed
/// before.
fn shell(args: Args<'_>) -> Option<ActionClass> {
    let has_script = args.operands().next().is_some() || args.has(&["--version", "--help"]);
    (has_script && !args.has(&["-s"]) && !is_fed(args)).then_some(ActionClass::BashExec)
}

/// Tells whether the script is the output of another program.
fn is_fed(args: Args<'_>) -> bool {
    args.operands().any(|word| word.starts_with("/dev/fd/") || word == "/dev/stdin")
}

/// Classifies a program that prints, and that an option makes write or run others.
fn reader(name: &str, args: Args<'_>) -> ActionClass {
    let writes = match name {
        "sort" | "tree" | "shuf" => args.has(&["-o", "--output"]) || args.has_short('o'),
        "uniq" | "xxd" => args.operands().count() > 1,
        "fd" => args.has(&["-x", "-X", "--exec", "--exec-batch"]),
        "rg" => args.has(&["--pre", "--hostname-bin"]),
        "less" => args.has(&["-o", "-O", "--log-file", "--LOG-FILE"]),
        "date" => args.has(&["-s", "--set"]),
        _ => args.operands().next().is_some(),
    };
    match (name, writes) {
        (_, false) => ActionClass::FileRead,
        ("date" | "hostname", true) => ActionClass::SystemModify,
        ("fd", true) if args.words().any(|word| DELETING.contains(&word)) => ActionClass::FileDelete,
        (_, true) => ActionClass::BashExec,
    }
}

fn find(args: Args<'_>) -> ActionClass {
    let starts = args.words().take_while(|word| !word.starts_with('-'));
    if args.has(&["-delete"]) {
        return write(ActionClass::FileDelete, starts);
    }
    match args.words().any(|word| word.starts_with("-fprint") || word.starts_with("-fls")) {
        true => ActionClass::FileWrite,
        // A program that `find` runs is a call of its own.
        false => ActionClass::FileRead,
    }
}

fn dd(args: Args<'_>) -> ActionClass {
    let mut targets = args.words().filter_map(|word| word.strip_prefix("of=")).peekable();
    match targets.peek() {
        Some(_) => write(ActionClass::BashDestructive, targets),
        None if args.has_unknown() => ActionClass::BashDestructive,
        None => ActionClass::BashExec,
    }
}

fn mode(name: &str, args: Args<'_>) -> ActionClass {
    let wide = |word: &str| {
        let digits = word.trim_start_matches('0');
        digits.len() == 3
            && digits.ends_with(['2', '3', '6', '7'])
            && digits.chars().all(|c| c.is_ascii_digit())
            || word.starts_with("o+") && word.contains('w')
            || word.starts_with("a+") && word.contains('w')
    };
    let special = |word: &str| {
        word.len() == 4 && word.starts_with(['2', '4', '6']) && word.chars().all(|c| c.is_ascii_digit())
            || word.contains('+') && word.contains('s')
    };
    let is_wide =
        name != "chmod" || args.has_short('R') || args.has(&["--recursive"]) || args.operands().any(wide);
    match args.operands().next().is_some_and(special) {
        true => ActionClass::SystemModify,
        false if is_wide => write(ActionClass::BashDestructive, args.operands()),
        false => write(ActionClass::FileWrite, args.operands()),
    }
}

fn sed(args: Args<'_>) -> ActionClass {
    let in_place =
        args.has(&["--in-place"]) || args.words().any(|word| word.starts_with("-i")) || args.has_short('i');
    if in_place {
        return write(ActionClass::FileWrite, args.operands().skip(1));
    }
    // `w file` and `e` are sed's own commands to write and to run; a file of commands may have them too.
    let may_do_more = |word: &str| {
        word.contains("w ")
            || word.ends_with('e') && word.starts_with("s")
            || word.trim_start().starts_with('e')
    };
    let script = args.operands().next().unwrap_or_default();
    match may_do_more(script) || args.has(&["-f", "--file"]) || args.has_unknown() {
        true => ActionClass::BashExec,
        false => ActionClass::FileRead,
    }
}

fn awk(args: Args<'_>) -> ActionClass {
    let does_more = |word: &str| word.contains("system") || word.contains(['|', '>', '@']);
    match args.words().any(does_more) || args.has_unknown() || args.has(&["-f", "--file", "-i"]) {
        true if args.words().any(|word| word.contains("system") || word.contains('|')) => {
            ActionClass::BashDestructive
        }
        true => ActionClass::BashExec,
        false => ActionClass::FileRead,
    }
}

fn network(name: &str, args: Args<'_>) -> ActionClass {
    let method = |verb: &str| {
        args.words().any(|word| word.strip_prefix("-X").unwrap_or(word).eq_ignore_ascii_case(verb))
            || args.words().any(|word| word.strip_prefix("--request=").is_some_and(|given| given == verb))
    };
    if method("DELETE") {
        return ActionClass::BashDestructive;
    }
    if name == "wget" {
        let shows = args.has(&["-O-", "-qO-", "--spider", "--output-document"])
            || args.words().any(|word| word == "-");
        return if shows { ActionClass::Network } else { ActionClass::FileWrite };
    }
    let sends = args.words().any(|word| {
        ["-d", "-F", "-T", "--data", "--form", "--upload-file", "--json", "--post", "-K", "--config"]
            .iter()
            .any(|option| word.starts_with(option))
    });
    if sends || ["POST", "PUT", "PATCH"].iter().any(|verb| method(verb)) {
        return ActionClass::BashExec;
    }
    let mut after_output = args.words().skip_while(|word| !matches!(*word, "-o" | "--output")).skip(1);
    let target = after_output.next();
    let writes = target.is_some_and(|target| target != "/dev/null" && target != "-")
        || args.has(&["-O", "--remote-name", "-J", "--output-dir", "-c", "--cookie-jar", "-D"])
        || args.words().any(|word| word.starts_with("-o") && word.len() > 2 || word.starts_with("--output="))
        || args.words().any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains('O'));
    match writes {
        true => write(ActionClass::FileWrite, target.into_iter()),
        false => ActionClass::Network,
    }
}

/// Classifies an interpreter: code in the command itself is looked at; a script is a program like
/// any other.
fn interpreter(name: &str, args: Args<'_>) -> ActionClass {
    if args.has(&["--version", "-V", "-v", "--help", "-h"]) && args.0.len() == 1 {
        return ActionClass::FileRead;
    }
    // `perl -ne`, `python3 -Ic`: the letter may be one of several.
    let letters: &[char] = match name {
        "python" | "python2" | "python3" => &['c'],
        "php" => &['r'],
        "node" | "nodejs" | "bun" => &['e', 'p'],
        _ => &['e', 'E'],
    };
    let is_inline = |word: &str| {
        let is_short = word.starts_with('-') && !word.starts_with("--") && word.contains(letters);
        is_short || matches!(word, "--eval" | "--print" | "eval")
    };
    let Some(at) = args.0.iter().position(|word| word.as_deref().is_some_and(is_inline)) else {
        let has_none = args.operands().next().is_none() && !args.has(&["-m", "--test", "--run"]);
        // Nobody sees the code that it reads from its input.
        return if has_none || is_fed(args) { ActionClass::BashDestructive } else { ActionClass::BashExec };
    };
    let before_is_script = args.0[..at].iter().flatten().any(|word| !word.starts_with('-'));
    if before_is_script {
        return ActionClass::BashExec;
    }
    match args.0.get(at + 1) {
        Some(Some(code)) if inline::only_computes(code) => ActionClass::BashExec,
        _ => ActionClass::BashDestructive,
    }
}
