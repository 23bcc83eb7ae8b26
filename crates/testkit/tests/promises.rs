//! Tests of the workspace itself: dependencies between crates, sizes, and places of SQL and unsafe code.

#![expect(clippy::unwrap_used, reason = "a helper that cannot go on should stop the test")]

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Returns every package with the packages that it needs at run time, by name.
fn graph() -> BTreeMap<String, BTreeSet<String>> {
    let output = Command::new(env!("CARGO"))
        .current_dir(root())
        .args([
            "metadata",
            "--format-version",
            "1",
            "--offline",
            "--filter-platform",
            "x86_64-unknown-linux-gnu",
        ])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let name_of: BTreeMap<&str, &str> = metadata["packages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|package| (package["id"].as_str().unwrap(), package["name"].as_str().unwrap()))
        .collect();
    let is_normal = |dependency: &&Value| {
        let kinds = dependency["dep_kinds"].as_array().unwrap();
        kinds.iter().any(|kind| kind["kind"].is_null())
    };
    let nodes = metadata["resolve"]["nodes"].as_array().unwrap();
    nodes
        .iter()
        .map(|node| {
            let needs = node["deps"].as_array().unwrap().iter().filter(is_normal);
            let needs = needs.map(|dependency| name_of[dependency["pkg"].as_str().unwrap()].to_owned());
            (name_of[node["id"].as_str().unwrap()].to_owned(), needs.collect())
        })
        .collect()
}

/// Returns all packages that a package brings into the program, itself left out. Procedural
/// macros run in the compiler only.
fn closure(graph: &BTreeMap<String, BTreeSet<String>>, package: &str) -> BTreeSet<String> {
    const AT_COMPILE_TIME: &[&str] = &["serde_derive", "thiserror-impl"];
    let mut found = BTreeSet::new();
    let mut open = vec![package.to_owned()];
    while let Some(package) = open.pop() {
        for need in &graph[&package] {
            if !AT_COMPILE_TIME.contains(&need.as_str()) && found.insert(need.clone()) {
                open.push(need.clone());
            }
        }
    }
    found
}

#[test]
fn crates_depend_only_downwards() {
    const MAY: &[(&str, &[&str])] = &[
        ("consort-core", &[]),
        ("consort-files", &[]),
        ("consort-sqlite", &["consort-core", "consort-files"]),
        ("consort-host", &["consort-core", "consort-files"]),
        ("consort-agents", &["consort-core", "consort-files"]),
        ("consort-hook", &["consort-core", "consort-shell"]),
        ("consort-shell", &[]),
        ("consort-testkit", &["consort-core"]),
        (
            "consort-cli",
            &[
                "consort-agents",
                "consort-core",
                "consort-files",
                "consort-hook",
                "consort-host",
                "consort-knowledge",
                "consort-mcp",
                "consort-sqlite",
                "consort-tui",
                "consort-web",
            ],
        ),
        ("consort-crdt", &[]),
        ("consort-scheme", &[]),
        ("consort-knowledge", &["consort-core", "consort-crdt", "consort-scheme"]),
        ("consort-mcp", &["consort-core", "consort-knowledge"]),
        ("consort-web", &["consort-core", "consort-crdt", "consort-knowledge"]),
        ("consort-tui", &["consort-core"]),
        ("consort-bench", &["consort-agents", "consort-core", "consort-host", "consort-sqlite"]),
    ];
    let graph = graph();
    let ours = graph.keys().filter(|name| name.starts_with("consort-"));
    assert_eq!(
        ours.cloned().collect::<BTreeSet<_>>(),
        MAY.iter().map(|(name, _)| (*name).to_owned()).collect()
    );
    for (package, may) in MAY {
        let needs = graph[*package].iter().filter(|need| need.starts_with("consort-"));
        for need in needs {
            assert!(may.contains(&need.as_str()), "{package} must not depend on {need}");
        }
    }
}

#[test]
fn core_is_kept_free_of_machinery() {
    let allowed = ["itoa", "memchr", "serde", "serde_core", "serde_json", "thiserror", "zmij"];
    assert_allowed("consort-core", &allowed);
}

/// Checks all code that a hook can run: the door, the engine, the machine, the
/// agents. It has no argument parser, no runtime, no regular expressions, no logger.
#[test]
fn a_hook_brings_little() {
    let base = ["consort-core", "itoa", "memchr", "serde", "serde_core", "serde_json", "thiserror", "zmij"];
    // The parser of the shell's grammar, which needs nothing else.
    assert_allowed("consort-hook", &[&base[..], &["consort-shell", "rable"]].concat());
    let with = |more: &[&'static str]| [&base, more].concat();
    let system = ["bitflags", "consort-files", "errno", "libc", "linux-raw-sys", "rustix"];
    // The hash that tells one content of a file from another.
    let hash = ["arrayref", "arrayvec", "blake3", "cfg-if", "constant_time_eq", "cpufeatures"];
    assert_allowed("consort-host", &with(&[&system[..], &hash].concat()));
    // The screen's layouts have the hash map of SQLite's cache built with two of its features;
    // no hook runs them.
    let sqlite = [
        "allocator-api2",
        "bitflags",
        "consort-files",
        "equivalent",
        "errno",
        "fallible-iterator",
        "fallible-streaming-iterator",
        "foldhash",
        "hashbrown",
        "hashlink",
        "libc",
        "libsqlite3-sys",
        "linux-raw-sys",
        "rusqlite",
        "rustix",
        "smallvec",
    ];
    assert_allowed("consort-sqlite", &with(&sqlite));
    // The settings editors, for `init`; no hook touches them.
    let editors = [
        "allocator-api2",
        "equivalent",
        "foldhash",
        "hashbrown",
        "indexmap",
        "jsonc-parser",
        "toml_datetime",
        "toml_edit",
        "toml_parser",
        "toml_writer",
        "winnow",
    ];
    assert_allowed("consort-agents", &with(&[&system[..], &editors].concat()));
}

fn assert_allowed(package: &str, allowed: &[&str]) {
    let found = closure(&graph(), package);
    let extra: Vec<_> = found.iter().filter(|name| !allowed.contains(&name.as_str())).collect();
    assert!(extra.is_empty(), "{package} brings {extra:?}: is that worth it?");
}

#[test]
fn the_lock_file_stays_small() {
    let lock = std::fs::read_to_string(root().join("Cargo.lock")).unwrap();
    let packages = lock.matches("[[package]]").count();
    // The MCP library, its runtime and the HTTP server are near half of them; Yjs is a tenth.
    // Websockets are 22, with the handshake's hash and random numbers that only a client needs.
    // Watching files is 9, most of them for other systems.
    // Noticing Ctrl-C is one.
    // The screen is 25: itself, the terminal (6) and the cells (18, of which five are for colours
    // that are not built).
    assert!(packages <= 246, "{packages} packages: a new dependency is a decision");
}

#[test]
fn files_stay_readable() {
    let mut long = Vec::new();
    visit(&root().join("crates"), &mut |path| {
        let lines = std::fs::read_to_string(path).unwrap().lines().count();
        if lines > 500 {
            long.push(format!("{} has {lines} lines", path.display()));
        }
    });
    assert!(long.is_empty(), "{long:#?}: is there a verb to split by?");
}

#[test]
fn the_architecture_fits_on_three_screens() {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    assert!(text.lines().count() <= 150);
    let wide: Vec<&str> = text.lines().filter(|line| line.chars().count() > 120).collect();
    assert!(wide.is_empty(), "{wide:#?}");
}

#[test]
fn no_two_types_share_a_name() {
    // Every command of the CLI has its own `Args`, and every group of commands its `Command`.
    let of_clap = |name: &str| matches!(name, "Args" | "Command");
    let mut defined: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for package in ["core", "sqlite", "hook", "mcp", "tui", "web", "cli"] {
        visit(&root().join("crates").join(package).join("src"), &mut |path| {
            let is_test = path.components().any(|part| part.as_os_str() == "tests")
                || path.file_stem().is_some_and(|stem| stem.to_string_lossy().ends_with("tests"));
            let text = if is_test { String::new() } else { std::fs::read_to_string(path).unwrap() };
            for name in text.split("mod tests {").next().unwrap().lines().filter_map(defined_type) {
                defined.entry(name.to_owned()).or_default().push(path.to_owned());
            }
        });
    }
    assert!(defined.len() > 500, "only {} types were found", defined.len());
    defined.retain(|name, files| (files.len() > 1 && !of_clap(name)) || name == "Room");
    assert!(defined.is_empty(), "{defined:#?}: one name, one meaning");
}

/// Returns the name of the type that a line at the outermost level defines.
fn defined_type(line: &str) -> Option<&str> {
    let words = line.strip_prefix("pub").map_or(line, |rest| match rest.strip_prefix('(') {
        Some(rest) => rest.split_once(')').map_or("", |(_, rest)| rest),
        None => rest,
    });
    let is_indented = line.starts_with(' ');
    let (kind, rest) = words.trim_start().split_once(' ').filter(|_| !is_indented)?;
    let name = rest.split(|c: char| !c.is_alphanumeric()).next()?;
    matches!(kind, "struct" | "enum" | "trait" | "type").then_some(name)
}

#[test]
fn sql_is_in_one_crate_unsafe_code_in_few_files_and_every_variable_is_declared() {
    visit(&root().join("crates"), &mut |path| {
        let source = path.components().any(|part| part.as_os_str() == "src");
        let text = std::fs::read_to_string(path).unwrap();
        if source && !path.starts_with(root().join("crates/sqlite")) {
            for word in ["rusqlite", "SELECT ", "INSERT INTO"] {
                assert!(!text.contains(word), "{word} in {}", path.display());
            }
        }
        // The testkit is here because it gives a command a terminal between fork and exec.
        let may = [
            "cli/src/entry_point.rs",
            "cli/src/hook_deadline.rs",
            "host/src/shield/mod.rs",
            "host/src/shield/linux.rs",
            "host/src/worker.rs",
            "sqlite/src/wal_index.rs",
            "sqlite/src/write_queue.rs",
            "testkit/src/seat.rs",
        ];
        if source && !may.iter().any(|may| path.ends_with(may)) {
            assert!(!text.contains("unsafe_code"), "unsafe code in {}", path.display());
        }
        let declares = path.ends_with("host/src/env.rs") || path.starts_with(root().join("crates/testkit"));
        if source && !declares {
            assert!(!text.contains("env::var("), "an undeclared variable in {}", path.display());
        }
    });
}

fn visit(dir: &Path, check: &mut impl FnMut(&Path)) {
    for entry in std::fs::read_dir(dir).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            visit(&path, check);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            check(&path);
        }
    }
}
