//! Classifies programs that reach beyond the project: the machine, other machines, publications.

use super::ActionClass;
use super::args::Args;

/// Programs that change the machine or act as someone else, whatever they are given.
#[rustfmt::skip]
const MACHINE: &[&str] = &[
    "apt", "apt-get", "aptitude", "adduser", "apk", "at", "chattr", "chroot", "chsh", "crontab", "csrutil", "cryptsetup", "defaults",
    "deluser", "diskutil", "dnf", "doas", "dpkg", "emerge", "fdisk", "firewall-cmd", "groupadd", "halt", "hostnamectl",
    "init", "insmod", "iptables", "launchctl", "losetup", "mkswap", "modprobe", "mount", "nft", "nsenter", "pacman",
    "parted", "passwd", "pkexec", "port", "poweroff", "reboot", "rmmod", "rpm", "runuser", "service", "setcap",
    "setfacl", "setx", "shutdown", "snap", "su", "sudo", "swapoff", "swapon", "sysctl", "systemctl", "telinit",
    "timedatectl", "ufw", "umount", "update-alternatives", "useradd", "userdel", "usermod", "visudo", "wipefs", "yum",
    "zypper",
];

/// Clients of remote services; their verbs say whether they only look.
const SERVICES: &[&str] = &[
    "aws",
    "az",
    "doctl",
    "fly",
    "flyctl",
    "gcloud",
    "gsutil",
    "helm",
    "heroku",
    "kubectl",
    "oc",
    "pulumi",
    "terraform",
    "tofu",
    "vercel",
];

/// Returns the class of a program that reaches beyond the project; `None` for other programs.
pub(super) fn classify(name: &str, args: Args<'_>) -> Option<ActionClass> {
    if MACHINE.contains(&name) || name.starts_with("mkfs") {
        return Some(ActionClass::SystemModify);
    }
    if SERVICES.contains(&name) {
        return Some(service(args));
    }
    let verb = args.operands().next().unwrap_or_default();
    match name {
        "brew" => Some(match verb {
            "list" | "info" | "search" | "config" | "doctor" | "deps" | "" => ActionClass::FileRead,
            _ => ActionClass::SystemModify,
        }),
        "gh" | "glab" | "hub" => Some(forge(args)),
        "docker" | "podman" | "nerdctl" | "docker-compose" => Some(container(args)),
        "npm" | "pnpm" | "yarn" | "bun" | "pip" | "pip3" | "uv" | "cargo" | "gem" | "twine" | "poetry"
        | "mvn" => Some(packages(name, verb, args)),
        "kill" | "killall" | "pkill" => Some(match args.has(&["-l", "-L"]) {
            true => ActionClass::FileRead,
            false if name == "kill" => ActionClass::BashExec,
            // A signal by name also hits processes of others.
            false => ActionClass::BashDestructive,
        }),
        "nc" | "ncat" | "socat" | "telnet" | "ftp" => Some(ActionClass::BashDestructive),
        "dropdb" | "dropuser" => Some(ActionClass::BashDestructive),
        "psql" | "mysql" | "mariadb" | "sqlite3" | "redis-cli" | "mongosh" => Some(database(args)),
        _ => None,
    }
}

fn service(args: Args<'_>) -> ActionClass {
    const LOOKS: &[&str] = &[
        "describe", "diff", "explain", "get", "help", "list", "logs", "ls", "plan", "show", "status",
        "template", "top", "validate", "version",
    ];
    let looks =
        |word: &str| LOOKS.contains(&word) || word.starts_with("describe-") || word.starts_with("list-");
    match args.operands().take(3).any(looks) && !args.has_unknown() {
        true => ActionClass::Network,
        false => ActionClass::BashDestructive,
    }
}

/// Classifies a client of a code forge: pull requests, issues, releases.
fn forge(args: Args<'_>) -> ActionClass {
    let mut words = args.operands();
    let (noun, verb) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    match (noun, verb) {
        ("api", _) => match args.has(&["-X", "--method", "-f", "-F", "--field", "--raw-field", "--input"]) {
            true => ActionClass::GitPush,
            false => ActionClass::Network,
        },
        ("auth" | "config" | "alias" | "extension" | "secret" | "variable" | "ssh-key" | "gpg-key", verb) => {
            match verb {
                "status" | "list" | "get" => ActionClass::Network,
                _ => ActionClass::SystemModify,
            }
        }
        ("pr" | "mr", "checkout" | "co") | ("repo", "clone") => ActionClass::BashExec,
        (_, "delete" | "archive") => ActionClass::GitDestructive,
        ("search" | "status" | "browse" | "help" | "version" | "", _) => ActionClass::Network,
        (_, "view" | "list" | "ls" | "status" | "diff" | "checks" | "download" | "watch" | "") => {
            ActionClass::Network
        }
        _ => ActionClass::GitPush,
    }
}

fn container(args: Args<'_>) -> ActionClass {
    const LOOKS: &[&str] =
        &["ps", "images", "logs", "inspect", "version", "info", "ls", "top", "stats", "port", "events"];
    const DESTROYS: &[&str] = &["rm", "rmi", "prune", "kill", "down", "remove"];
    let words: Vec<&str> = args.operands().take(3).collect();
    let is_wide = args.words().any(|word| {
        word == "--privileged"
            || word.starts_with("/:")
            || word.contains("=/:")
            || word.contains("docker.sock")
    });
    match words.iter().find_map(|word| match *word {
        word if LOOKS.contains(&word) => Some(ActionClass::FileRead),
        word if DESTROYS.contains(&word) => Some(ActionClass::BashDestructive),
        "push" => Some(ActionClass::GitPush),
        "login" | "logout" => Some(ActionClass::SystemModify),
        "run" | "exec" | "build" | "up" | "create" | "start" => Some(ActionClass::BashExec),
        _ => None,
    }) {
        _ if is_wide => ActionClass::SystemModify,
        Some(class) => class,
        None => ActionClass::BashExec,
    }
}

/// Classifies a package manager: a package that it installs into the project comes and goes; one
/// that it publishes stays.
fn packages(name: &str, verb: &str, args: Args<'_>) -> ActionClass {
    let is_global = matches!(name, "npm" | "pnpm" | "yarn" | "bun")
        && (args.has(&["-g", "--global", "--location"]) || verb == "global")
        && !matches!(verb, "ls" | "list" | "root" | "bin" | "prefix");
    match (name, verb) {
        _ if is_global => ActionClass::SystemModify,
        (_, "publish" | "unpublish" | "deprecate" | "yank" | "upload" | "deploy")
        | ("npm" | "pnpm" | "yarn", "dist-tag" | "owner" | "access")
        | ("gem", "push")
        | ("cargo", "owner") => match args.has(&["--dry-run"]) {
            true => ActionClass::BashExec,
            false => ActionClass::GitPush,
        },
        ("npm" | "pnpm" | "yarn" | "cargo" | "gem", "login" | "logout" | "adduser" | "token" | "signin")
        | ("cargo", "install" | "uninstall")
        | ("npm" | "pnpm" | "yarn", "config") => match args.has(&["get", "list", "ls"]) {
            true => ActionClass::FileRead,
            false => ActionClass::SystemModify,
        },
        (
            "npm" | "pnpm" | "yarn",
            "ls" | "list" | "view" | "info" | "outdated" | "why" | "root" | "prefix",
        )
        | ("pip" | "pip3", "list" | "show" | "freeze")
        | ("cargo", "metadata" | "tree" | "search") => ActionClass::Network,
        _ => ActionClass::BashExec,
    }
}

fn database(args: Args<'_>) -> ActionClass {
    let destroys = |word: &str| {
        let lower = word.to_lowercase();
        ["drop ", "truncate", "delete ", "flushall", "flushdb", ".shell", ".system", "\\!"]
            .iter()
            .any(|verb| lower.contains(verb))
    };
    match args.words().any(destroys) {
        true => ActionClass::BashDestructive,
        false => ActionClass::BashExec,
    }
}
