//! The table of options and verbs by which common programs run others, read their orders from
//! elsewhere or work elsewhere.

use super::Detour;
use super::moved;
use super::place;
use super::wrong;
use crate::words::Word;

/// The options and verbs of some programs that are detours.
pub(super) struct DetourWords {
    pub(super) programs: &'static [&'static str],
    /// First operands that make the program run given commands, or change what it runs later.
    verbs: &'static [&'static str],
    /// Short options, by letter; several may be combined in one word.
    letters: &'static str,
    /// Long options; programs also accept abbreviations of them.
    long: &'static [&'static str],
    /// Options whose value is a path that the program works in or writes to.
    place_letters: &'static str,
    place_long: &'static [&'static str],
    /// Whether the operands are paths.
    has_places: bool,
    /// Whether an operand `name=value` sets a variable that the program obeys.
    has_settings: bool,
}

const NONE: DetourWords = DetourWords {
    programs: &[],
    verbs: &[],
    letters: "",
    long: &[],
    place_letters: "",
    place_long: &[],
    has_places: false,
    has_settings: false,
};

pub(super) const DETOUR_WORDS: &[DetourWords] = &[
    DetourWords { programs: &["cd"], has_places: true, ..NONE },
    DetourWords {
        programs: &["cargo"],
        letters: "Z",
        long: &["config"],
        place_letters: "C",
        place_long: &["manifest-path", "target", "target-dir", "lockfile-path", "artifact-dir", "out-dir"],
        ..NONE
    },
    DetourWords {
        programs: &["npm", "pnpm", "yarn", "bun"],
        verbs: &[
            "config",
            "create",
            "dlx",
            "edit",
            "exec",
            "explore",
            "init",
            "innit",
            "node",
            "set",
            "x",
            "install-test",
            "link",
            "ln",
        ],
        letters: "c",
        long: &[
            "script-shell",
            "shell",
            "node-options",
            "userconfig",
            "globalconfig",
            "git",
            "editor",
            "browser",
            "viewer",
            "call",
            "config",
            "use-yarnrc",
            "ignore-workspace-root-check",
        ],
        place_letters: "C",
        place_long: &["prefix", "dir", "cwd", "workspace-dir", "global-dir", "modules-dir", "cache"],
        has_places: true,
        ..NONE
    },
    DetourWords {
        programs: &["make", "gmake"],
        letters: "fE",
        long: &["eval", "file", "makefile"],
        place_letters: "CI",
        place_long: &["directory", "include-dir"],
        has_settings: true,
        ..NONE
    },
    DetourWords {
        programs: &["just"],
        letters: "fc",
        long: &[
            "justfile",
            "shell",
            "shell-arg",
            "command",
            "chooser",
            "choose",
            "edit",
            "set",
            "dotenv-path",
        ],
        place_letters: "d",
        place_long: &["working-directory"],
        has_settings: true,
        ..NONE
    },
    DetourWords {
        programs: &["go"],
        verbs: &["generate", "run", "tool", "env"],
        long: &[
            "exec", "toolexec", "vettool", "modfile", "overlay", "ldflags", "gcflags", "asmflags", "pkgdir",
        ],
        place_long: &["C", "o", "outputdir", "coverprofile", "cpuprofile", "memprofile", "trace"],
        has_places: true,
        ..NONE
    },
    DetourWords {
        programs: &["pytest", "py.test"],
        letters: "pco",
        long: &["config-file", "override-ini", "pyargs", "import-mode", "pdbcls", "trace-config"],
        place_long: &["rootdir", "basetemp", "confcutdir", "junitxml", "junit-xml", "log-file", "ignore"],
        has_places: true,
        ..NONE
    },
    DetourWords {
        programs: &["gradle", "gradlew"],
        letters: "IbcDP",
        long: &["init-script", "build-file", "settings-file", "system-prop", "project-prop"],
        place_letters: "pg",
        place_long: &["project-dir", "include-build", "gradle-user-home", "project-cache-dir"],
        ..NONE
    },
    DetourWords {
        programs: &["mvn", "mvnw"],
        letters: "fsgDlt",
        long: &["file", "settings", "global-settings", "define", "toolchains", "log-file"],
        ..NONE
    },
    DetourWords {
        programs: &["jest", "vitest", "mocha", "eslint", "prettier", "tsc"],
        letters: "cr",
        long: &[
            "config",
            "globalSetup",
            "globalTeardown",
            "runner",
            "require",
            "rulesdir",
            "plugin",
            "parser",
            "resolve-plugins-relative-to",
            "setupFiles",
            "transform",
            "testEnvironment",
            "resolver",
            "reporters",
            "reporter",
            "format",
            "import",
            "loader",
            "testRunner",
            "project",
        ],
        place_letters: "op",
        place_long: &["rootDir", "root", "output-file", "outDir", "outFile", "cache-location", "dir"],
        has_places: true,
        ..NONE
    },
    DetourWords {
        programs: &["docker", "docker-compose", "podman"],
        verbs: &["exec", "run", "cp", "create"],
        letters: "fHvc",
        long: &["file", "env-file", "host", "volume", "mount", "privileged", "config", "context"],
        place_long: &["project-directory"],
        ..NONE
    },
    DetourWords { programs: &["rg"], long: &["pre", "hostname-bin"], ..NONE },
    DetourWords { programs: &["fd", "fdfind"], letters: "xX", long: &["exec", "exec-batch"], ..NONE },
    DetourWords {
        programs: &["sort"],
        letters: "o",
        long: &["compress-program", "output", "files0-from"],
        place_letters: "T",
        place_long: &["temporary-directory"],
        ..NONE
    },
    DetourWords {
        programs: &["tar", "bsdtar"],
        letters: "IFP",
        long: &[
            "to-command",
            "checkpoint-action",
            "use-compress-program",
            "rsh-command",
            "rmt-command",
            "info-script",
            "new-volume-script",
            "absolute-names",
        ],
        place_letters: "C",
        place_long: &["directory", "cd"],
        ..NONE
    },
    DetourWords {
        programs: &["curl", "wget"],
        letters: "oOKTcDeP",
        long: &[
            "output",
            "remote-name",
            "config",
            "upload-file",
            "trace",
            "trace-ascii",
            "dump-header",
            "cookie-jar",
            "output-dir",
            "output-document",
            "use-askpass",
            "execute",
            "directory-prefix",
            "remote-name-all",
            "stderr",
            "libcurl",
            "etag-save",
            "hsts",
            "engine",
        ],
        ..NONE
    },
    DetourWords { programs: &["jq"], letters: "Lf", long: &["from-file", "library-path"], ..NONE },
    DetourWords { programs: &["rsync"], letters: "e", long: &["rsh", "rsync-path"], ..NONE },
    DetourWords { programs: &["man"], letters: "PpH", long: &["pager", "preprocessor", "html"], ..NONE },
    DetourWords {
        programs: &["gcc", "g++", "cc", "c++", "clang", "clang++"],
        letters: "B",
        long: &["wrapper", "fplugin", "specs"],
        ..NONE
    },
    DetourWords {
        programs: &[
            "uv", "poetry", "pdm", "hatch", "pipenv", "bundle", "rbenv", "conda", "kubectl", "gh", "brew",
        ],
        verbs: &["run", "exec", "x", "tool", "config", "alias", "extension", "shell", "debug", "cp"],
        letters: "C",
        long: &["config", "kubeconfig"],
        place_long: &["directory", "project"],
        ..NONE
    },
];

impl DetourWords {
    pub(super) fn find(&self, args: &[Word]) -> Vec<Detour> {
        let mut found = Vec::new();
        let (mut has_verb, mut are_operands, mut was_option) = (false, false, false);
        let mut moved_by = None;
        // `tar xf`: letters without a dash.
        let is_bundle = self.programs.contains(&"tar");
        for (at, word) in args.iter().enumerate() {
            let Some(text) = word.shape() else {
                found.push(wrong(at));
                continue;
            };
            let next = args.get(at + 1).and_then(Word::shape);
            let is_option = !are_operands && (text.len() > 1 && text.starts_with('-'));
            let follows_option = std::mem::replace(&mut was_option, is_option && !text.contains('='));
            if text == "--" {
                // Words after `--` belong to the program that the verb runs.
                if has_verb && (!self.has_places || self.programs.contains(&"npm")) {
                    break;
                }
                are_operands = true;
            } else if is_option || is_bundle && at == 0 {
                let text = if is_option { text.to_owned() } else { format!("-{text}") };
                let before = found.len();
                self.option(at, &text, next, &mut found);
                let leads = found[before..].iter().any(|detour| detour.to.is_some());
                moved_by = moved_by.or(leads.then_some(at));
            } else {
                // The word after an option may be its value, and not the verb.
                let is_verb = !has_verb || self.programs.contains(&"docker");
                has_verb |= !follows_option;
                if is_verb && self.verbs.contains(&text) || self.has_settings && text.contains('=') {
                    found.push(wrong(at));
                } else if self.has_places {
                    found.push(place(at, text.split("::").next().unwrap_or(text)));
                }
            }
        }
        moved(args, found, moved_by)
    }

    fn option(&self, at: usize, text: &str, next: Option<&str>, found: &mut Vec<Detour>) {
        let name = text.trim_start_matches('-');
        let (name, value) = name.split_once('=').map_or((name, None), |(name, value)| (name, Some(value)));
        // `-exec` of go, `-Dx` of mvn: a long option may begin with one dash.
        let is = |all: &[&str]| {
            all.iter().any(|long| {
                *long == name
                    || text.starts_with("--") && name.len() > 1 && long.starts_with(name)
                    || name.len() > 3 && long.starts_with(name)
            })
        };
        let is_long = text.starts_with("--");
        let letter_of = |letters: &str| name.find(|letter: char| letters.contains(letter));
        if is(self.long) || !is_long && letter_of(self.letters).is_some() {
            found.push(wrong(at));
        } else if is(self.place_long) {
            found.push(value.or(next).map_or_else(|| wrong(at), |to| place(at, to)));
        } else if !is_long && let Some(letter) = letter_of(self.place_letters) {
            let glued = &name[letter + 1..];
            let to = if glued.is_empty() { next } else { Some(glued) };
            found.push(to.map_or_else(|| wrong(at), |to| place(at, to)));
        }
    }
}
