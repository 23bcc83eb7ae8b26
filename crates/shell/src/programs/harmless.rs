//! The list of programs that write no file, whatever they are given.

#[rustfmt::skip]
const HARMLESS: &[&str] = &[
    // Builtins of the shell.
    ":", "[", "alias", "bg", "bind", "break", "caller", "complete", "continue", "declare", "dirs", "disown", "echo",
    "enable", "exit", "export", "false", "fg", "getopts", "hash", "history", "jobs", "kill", "let", "local", "logout",
    "mapfile", "printf", "pwd", "read", "readarray", "readonly", "return", "set", "shift", "shopt", "test", "times",
    "true", "type", "typeset", "ulimit", "umask", "unalias", "unset", "wait",
    // Programs that read text.
    "ack", "ag", "base32", "bat", "bc", "cat", "cksum", "cmp", "column", "comm", "cut", "diff", "egrep",
    "expand", "expr", "fgrep", "fmt", "fold", "grep", "head", "hexdump", "join", "jq", "less", "md5", "md5sum",
    "more", "nl", "numfmt", "od", "paste", "rev", "rg", "seq", "sha1sum", "sha224sum", "sha256sum", "sha384sum",
    "sha512sum", "shasum", "b2sum", "strings", "sum", "tac", "tail", "tr", "tsort", "unexpand", "wc", "yes", "zcat",
    "zgrep",
    // Programs that look at files and directories.
    "basename", "df", "dirname", "du", "exa", "eza", "file", "ls", "lsd",
    "pathchk", "readlink", "realpath", "stat", "sync", "tokei", "whereis", "which",
    // Programs that look at the machine.
    "cal", "clear", "date", "dig", "free", "getconf", "getent", "groups", "host", "hostname", "id", "locale",
    "lscpu", "lsof", "man", "netstat", "nproc", "nslookup", "pgrep", "ping", "pkill", "printenv", "ps", "pstree",
    "sleep", "ss", "sw_vers", "tput", "tty", "uname", "uptime", "users", "w", "who", "whoami",
    // Consort itself.
    "consort",
];

pub(super) fn run(name: &str) -> bool {
    is_harmless(name)
}

pub(super) fn is_harmless(name: &str) -> bool {
    HARMLESS.contains(&name)
}
