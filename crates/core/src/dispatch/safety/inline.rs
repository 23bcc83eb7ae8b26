//! Checks code that is part of a command (`python -c`): could anything in it do more than compute
//! and print?

/// Python modules that can be used without doing more than computing.
#[rustfmt::skip]
const MODULES: &[&str] = &[
    "argparse", "ast", "base64", "binascii", "bisect", "calendar", "cmath", "collections", "colorsys",
    "copy", "csv", "dataclasses", "datetime", "decimal", "difflib", "enum", "fractions", "functools",
    "hashlib", "heapq", "html", "itertools", "json", "keyword", "locale", "math", "numbers", "operator",
    "pprint", "random", "re", "statistics", "string", "struct", "sys", "textwrap", "time", "tomllib",
    "typing", "unicodedata", "uuid", "zoneinfo",
];

/// Words by which code in any of the languages does more than compute, or hides that it does. They
/// are looked for in lower case.
#[rustfmt::skip]
const REACHES: &[&str] = &[
    "__", "`", "attr", "breakpoint", "builtins", "bun.", "chdir", "child", "chmod", "chown", "codecs",
    "constructor", "ctypes", "delete", "deno.", "dir.", "dlopen", "eval", "exec", "file", "fetch",
    "fork", "fs.", "globals", "http", "import(", "importlib", "io.", "kernel", "kill", "locals",
    "mkdir", "modules", "net.", "open", "os.", "path", "pickle", "popen", "process.", "pty", "qx", "reflect",
    "remove", "rename", "require", "rm(", "rmdir", "rmsync", "rmtree", "run(", "send", "shell", "shutil", "signal", "socket",
    "spawn", "subprocess", "symlink", "syscall", "system", "tempfile", "truncate", "unlink", "vars",
    "chr(", "fromcharcode", "bytes(", "use ",
];

/// Tells whether code does no more than compute and print, as far as its words tell. In doubt it
/// does more.
pub(super) fn only_computes(code: &str) -> bool {
    let lower = code.to_lowercase();
    code.split([';', '\n']).all(imports_only_known) && !REACHES.iter().any(|reach| lower.contains(reach))
}

/// Tells whether a statement imports only the known modules, if it imports anything.
fn imports_only_known(statement: &str) -> bool {
    let statement = statement.trim();
    let is_known = |name: &str| name.split_whitespace().next().is_some_and(|name| MODULES.contains(&name));
    match (statement.strip_prefix("import "), statement.strip_prefix("from ")) {
        (Some(names), _) => names.split(',').all(is_known),
        (_, Some(rest)) => is_known(rest),
        _ => !statement.contains("import"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_reaches_further_is_told_from_what_computes() {
        for code in [
            "print(1 + 1)",
            "import json, sys; print(json.dumps({'a': sys.version}))",
            "from math import pi; print(pi)",
            "import json as j; print(j.dumps(1))",
            "console.log(1 + 1)",
            "import re; print(re.compile('a').sub('b', 'a').replace('b', '\\n').format())",
            "import sys\nfor line in sys.stdin: print(line.upper())",
        ] {
            assert!(only_computes(code), "{code}");
        }
        for code in [
            "import shutil; shutil.rmtree('x')",
            "import os\nos.remove('a')",
            "import json, os",
            "if True: import os",
            "use POSIX; print 1",
            "import os as json; json.remove('a')",
            "from os import remove as r; r('a')",
            "open('a', 'w')",
            "__import__('o' + 's')",
            "getattr(x, 'y')()",
            "require('fs').rmSync('a')",
            "import('fs')",
            "unlink 'a'",
            "`rm a`",
            "exec(input())",
            "from pathlib import Path; Path('a').unlink()",
            "import tempfile",
            "process.exit(require('child_process'))",
            "import urllib.request",
        ] {
            assert!(!only_computes(code), "{code}");
        }
    }
}
