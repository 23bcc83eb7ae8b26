//! All tests that run the program itself, in one binary: each of sixty binaries would
//! contain the whole program, and be linked again after every change.

#![expect(clippy::unwrap_used, reason = "a helper that cannot go on should stop the test")]

mod after_commands;
mod agents;
mod allow;
mod approvals;
mod approvals_real;
mod chaos;
mod claim_races;
mod claims;
mod claude;
mod config;
mod connect;
mod convergence;
mod delivery;
mod demo;
mod doctor;
mod doors;
mod giving_back;
mod guard;
mod guard_corpus;
mod headless_real;
mod hook_deadline;
mod hooks;
mod hostile_ids;
mod hostile_repository;
mod impersonation;
mod injected_texts;
mod journal;
mod knowledge;
mod locks;
mod mail_races;
mod mcp;
mod messages;
mod newcomer;
mod notify;
mod other_tools;
mod overlaps;
mod pane;
mod pane_ladder;
mod pane_typing;
mod pane_waiting;
mod pane_watch;
mod panes;
mod panes_deliveries;
mod panes_dialogs;
mod panes_real;
mod panes_stage;
mod panes_states;
mod payloads;
mod policy;
mod policy_tries;
mod presence;
mod published;
mod quoting;
mod races;
mod renamed;
mod renewal;
mod restore;
mod roles;
mod roster;
mod runs;
mod runs_real;
mod safety;
mod sandbox;
mod saved_by_person;
mod screen;
mod sdk_clients;
mod serve;
mod shield;
mod shield_agents;
mod soak;
mod succession;
mod surface;
mod sync;
mod sync_client;
mod terminal;
mod tmux;
mod tokens;
mod upgrade;
mod waiting;
mod wake;
mod with;
mod without_us;

#[path = "mcp/client.rs"]
mod client;
#[path = "serve/http_server.rs"]
mod http_server;

/// Checks that every file of tests is a module here; otherwise its tests would never run.
#[test]
fn every_file_of_tests_is_named() {
    let named = include_str!("all.rs");
    let here = concat!(env!("CARGO_MANIFEST_DIR"), "/tests");
    for entry in std::fs::read_dir(here).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        if path.extension().is_some_and(|extension| extension == "rs") && name != "all" {
            assert!(named.contains(&format!("\nmod {name};\n")), "{name} is missing in all.rs");
        }
    }
}
