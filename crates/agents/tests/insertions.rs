//! Tests that insertions are added to people's files and removed again, and that nothing else in the files
//! changes.

#![expect(clippy::unwrap_used, reason = "a helper that cannot go on should stop the test")]

use std::path::Path;

use consort_agents::ALL;
use consort_agents::Insertion;
use consort_agents::InsertionContent;
use consort_agents::InsertionFormat;
use consort_agents::InsertionState;
use consort_agents::Level;

const PROGRAM: &str = "/opt/consort/bin/consort";

fn insertion(kind: &str, purpose: InsertionContent) -> Insertion {
    let cli = consort_agents::find(kind).unwrap();
    let level = Level::User(Path::new("/home/x/.x"));
    cli.insertions(level, &|_| None).into_iter().find(|insertion| insertion.purpose == purpose).unwrap()
}

/// Removes an insertion from a file whose earlier text is unknown.
fn without(insertion: &Insertion, text: &str) -> String {
    insertion.format.disconnect(text, PROGRAM, None).unwrap().unwrap()
}

#[test]
fn every_piece_goes_in_and_out() {
    for cli in ALL {
        for level in [Level::User(Path::new("/home/x/.x")), Level::Project(Path::new("/project"))] {
            for insertion in cli.insertions(level, &|_| None) {
                // Rules for tools need the table of the server.
                let under = match insertion.format {
                    InsertionFormat::TomlTools(_) => {
                        let server = cli.mcp(level, &|_| None).unwrap();
                        server.format.connect(None, PROGRAM).unwrap()
                    }
                    _ => String::new(),
                };
                let new = insertion.format.connect(Some(&under), PROGRAM).unwrap();
                assert_eq!(
                    insertion.format.insertion_state(&new, PROGRAM).unwrap(),
                    InsertionState::Current,
                    "{new}"
                );
                // A plugin starts the program by this name.
                assert_eq!(new.contains("spawn(PROGRAM"), new.contains("const PROGRAM = \""), "{new}");
                // Connecting again changes nothing.
                assert_eq!(insertion.format.connect(Some(&new), PROGRAM).unwrap(), new);
                let left = insertion.format.disconnect(&new, PROGRAM, None).unwrap().unwrap_or_default();
                assert!(left == under || matches!(left.trim(), "" | "{}"), "{left}");
            }
        }
    }
}

/// Rules that an earlier version wrote for the whole server are replaced by rules for
/// single tools; what somebody has changed is left alone.
#[test]
fn tools_are_approved_one_by_one() {
    let server = insertion("codex", InsertionContent::Mcp);
    let tools = consort_agents::find("codex").unwrap().allow(Level::User(Path::new("/home/x/.x"))).remove(1);
    let plain = server.format.connect(Some("model = \"m\"\n"), PROGRAM).unwrap();
    assert_eq!(tools.format.insertion_state(&plain, PROGRAM).unwrap(), InsertionState::Absent);
    let old =
        plain.replace("args = [\"mcp\"]\n", "args = [\"mcp\"]\ndefault_tools_approval_mode = \"approve\"\n");
    assert_eq!(server.format.insertion_state(&old, PROGRAM).unwrap(), InsertionState::Current);
    assert_eq!(tools.format.insertion_state(&old, PROGRAM).unwrap(), InsertionState::Outdated);
    let new = tools.format.connect(Some(&old), PROGRAM).unwrap();
    assert!(new.contains("who = { approval_mode = \"approve\" }"), "{new}");
    assert!(!new.contains("default_tools_approval_mode"), "{new}");
    assert_eq!(without(&tools, &new), plain);
    assert_eq!(without(&server, &new), "model = \"m\"\n");
    let theirs = new.replace("who = { approval_mode = \"approve\" }", "who = { approval_mode = \"prompt\" }");
    assert_eq!(without(&server, &theirs), theirs);
    assert_eq!(tools.format.connect(Some(&theirs), PROGRAM).unwrap(), theirs);
}

/// No allow rule is a prefix of a verb for which the user is asked.
#[test]
fn no_rule_covers_what_is_asked_about() {
    use consort_agents::allow::ALLOWED;
    use consort_agents::allow::ASKED;
    for verb in ALLOWED {
        let covers = |asked: &&&str| **asked == *verb || asked.starts_with(&format!("{verb} "));
        assert_eq!(ASKED.iter().find(covers), None, "{verb}");
        assert!(!verb.is_empty());
    }
}

#[test]
fn others_stay_as_they_are() {
    let json =
        "{\n  // mine\n  \"mcpServers\": {\n    \"other\": {\"command\": \"x\"}\n  },\n  \"theme\": 1\n}\n";
    let toml = "# mine\nmodel = \"m\"\n\n[mcp_servers.other]\ncommand = \"x\" # why\n";
    let text = "# Rules\n\nBe kind.\n";
    for (insertion, theirs) in [
        (insertion("gemini", InsertionContent::Mcp), json),
        (insertion("codex", InsertionContent::Mcp), toml),
        (insertion("codex", InsertionContent::Primer), text),
    ] {
        assert_eq!(insertion.format.insertion_state(theirs, PROGRAM).unwrap(), InsertionState::Absent);
        let both = insertion.format.connect(Some(theirs), PROGRAM).unwrap();
        assert_eq!(
            insertion.format.insertion_state(&both, PROGRAM).unwrap(),
            InsertionState::Current,
            "{both}"
        );
        assert_eq!(without(&insertion, &both), theirs);
    }
}

#[test]
fn another_place_of_ours_is_outdated_and_what_somebody_changed_is_theirs() {
    for kind in ["claude", "codex", "gemini", "opencode", "copilot"] {
        let insertion = insertion(kind, InsertionContent::Mcp);
        let old = insertion.format.connect(None, "/old/place/consort").unwrap();
        assert_eq!(
            insertion.format.insertion_state(&old, PROGRAM).unwrap(),
            InsertionState::Outdated,
            "{old}"
        );
        let new = insertion.format.connect(Some(&old), PROGRAM).unwrap();
        assert!(new.contains(PROGRAM) && !new.contains("/old/place"), "{new}");
        let (before, after) = new.rsplit_once("\"mcp\"").unwrap();
        let theirs = format!("{before}\"mcp\", \"--set\", \"a.b=c\"{after}");
        assert_eq!(insertion.format.insertion_state(&theirs, PROGRAM).unwrap(), InsertionState::Current);
        assert_eq!(insertion.format.connect(Some(&theirs), PROGRAM).unwrap(), theirs);
        assert_eq!(without(&insertion, &theirs), theirs);
    }
}

#[test]
fn what_cannot_be_understood_is_left_alone() {
    for (kind, theirs) in [
        ("gemini", "{\"mcpServers\": []}"),
        ("gemini", "[]"),
        ("gemini", "{\"a\": }"),
        ("codex", "a = "),
        ("codex", "mcp_servers = 1"),
        ("codex", "mcp_servers = { other = { command = \"x\" } }"),
        ("codex", "[mcp_servers]\nconsort = 1\n"),
    ] {
        let error = insertion(kind, InsertionContent::Mcp).format.connect(Some(theirs), PROGRAM);
        assert!(error.is_err(), "{theirs}: {error:?}");
    }
}

#[test]
fn what_is_written_once_and_renewed_has_one_block() {
    let insertion = insertion("codex", InsertionContent::Primer);
    let both = insertion.format.connect(Some("before\n"), PROGRAM).unwrap() + "after\n";
    let old = both.replace("Be brief", "Be long");
    assert_eq!(insertion.format.insertion_state(&old, PROGRAM).unwrap(), InsertionState::Outdated);
    assert_eq!(insertion.format.connect(Some(&old), PROGRAM).unwrap(), both);
    assert_eq!(without(&insertion, &both), "before\nafter\n");
}

/// Editors on other systems write such marks and line endings.
#[test]
fn marks_and_line_endings_stay() {
    for (kind, part, theirs) in [
        ("codex", InsertionContent::Mcp, "\u{feff}model = \"m\"\r\n\r\n[other]\r\na = 1\r\n"),
        ("codex", InsertionContent::Mcp, "a   =   1 # odd\n\n\n"),
        ("codex", InsertionContent::Primer, "\u{feff}# Rules\r\n\r\nBe kind.\r\n"),
        ("codex", InsertionContent::Primer, "# Rules  \n\n\n"),
        ("opencode", InsertionContent::Mcp, "\u{feff}{\r\n  \"theme\": 1\r\n}\r\n"),
        ("gemini", InsertionContent::Hooks, "\u{feff}{\n  \"theme\": 1\n}\n"),
    ] {
        let insertion = insertion(kind, part);
        // A file without the insertion is not changed.
        assert_eq!(without(&insertion, theirs), theirs);
        let both = insertion.format.connect(Some(theirs), PROGRAM).unwrap();
        assert_eq!(
            insertion.format.insertion_state(&both, PROGRAM).unwrap(),
            InsertionState::Current,
            "{both:?}"
        );
        if theirs.contains("\r\n") {
            assert_eq!(both.matches('\n').count(), both.matches("\r\n").count(), "{both:?}");
        }
        assert_eq!(without(&insertion, &both), theirs);
    }
}

#[test]
fn comments_around_our_table_stay() {
    let insertion = insertion("codex", InsertionContent::Mcp);
    let ours = insertion.format.connect(None, "/old/place/consort").unwrap();
    let (header, keys) = ours.split_once('\n').unwrap();
    let text = format!("a = 1\n\n# mine\n{header}\n# mine too\n{keys}\n# another's\n[other]\n");
    let renewed = insertion.format.connect(Some(&text), PROGRAM).unwrap();
    assert!(
        renewed.starts_with(&format!("a = 1\n\n# mine\n{header}\ncommand = \"{PROGRAM}\"\n")),
        "{renewed}"
    );
    assert!(renewed.ends_with("# mine too\n\n# another's\n[other]\n"), "{renewed}");
    let left = "a = 1\n\n# mine\n# mine too\n\n# another's\n[other]\n";
    assert_eq!(without(&insertion, &text), left);
    assert_eq!(without(&insertion, &renewed), left);
    // A table that is written in another way is somebody's own.
    for theirs in [
        text.replace(header, &format!("{header} # mine")),
        text.replace(keys, "command = \"consort\" # mine\n"),
    ] {
        assert_eq!(insertion.format.connect(Some(&theirs), PROGRAM).unwrap(), theirs);
        assert_eq!(without(&insertion, &theirs), theirs);
    }
}

#[test]
fn comments_in_json_stay_and_so_does_what_was_empty() {
    for (kind, part, name) in [
        ("opencode", InsertionContent::Mcp, "mcp"),
        ("claude", InsertionContent::Mcp, "mcpServers"),
        ("claude", InsertionContent::Hooks, "hooks"),
    ] {
        let insertion = insertion(kind, part);
        let theirs = format!("{{\n  \"{name}\": {{\n    // mine\n  }}\n}}\n");
        for program in [PROGRAM, "/old/place/consort"] {
            let both = insertion.format.connect(Some(&theirs), program).unwrap();
            assert!(without(&insertion, &both).contains("// mine"), "{both}");
            assert!(insertion.format.connect(Some(&both), PROGRAM).unwrap().contains("// mine"), "{both}");
        }
        // An empty object stays if the file is known to have had it; otherwise it is removed.
        let theirs = format!("{{\n  \"{name}\": {{}}\n}}\n");
        let both = insertion.format.connect(Some(&theirs), PROGRAM).unwrap();
        let left = insertion.format.disconnect(&both, PROGRAM, Some(&theirs)).unwrap().unwrap();
        assert!(left.contains(&format!("\"{name}\": {{")), "{left}");
        assert_eq!(without(&insertion, &both).replace([' ', '\n'], ""), "{}");
    }
}

#[test]
fn an_editor_may_change_how_our_lines_end() {
    let insertion = insertion("codex", InsertionContent::Primer);
    let both = insertion.format.connect(Some("before\n"), PROGRAM).unwrap();
    for changed in [both.trim_end().to_owned(), both.replace('\n', "\r\n")] {
        assert_eq!(
            insertion.format.insertion_state(&changed, PROGRAM).unwrap(),
            InsertionState::Current,
            "{changed:?}"
        );
        assert_eq!(insertion.format.connect(Some(&changed), PROGRAM).unwrap(), changed);
        assert_eq!(without(&insertion, &changed).trim_end(), "before");
        let old = changed.replace("Be brief", "Be long");
        let renewed = insertion.format.connect(Some(&old), PROGRAM).unwrap();
        assert_eq!(renewed.trim_end(), changed.trim_end());
    }
}

#[test]
fn what_is_not_ours_has_nothing_to_take_out() {
    for (kind, part, theirs) in [
        ("claude", InsertionContent::Primer, "# My own skill\n"),
        ("claude", InsertionContent::Hooks, "{\"hooks\": []}"),
        ("gemini", InsertionContent::Mcp, "[]"),
        ("codex", InsertionContent::Mcp, "mcp_servers = 1"),
    ] {
        assert_eq!(without(&insertion(kind, part), theirs), theirs);
    }
}

#[test]
fn which_program_is_called_is_read_from_what_is_written() {
    for cli in ALL {
        for insertion in cli.insertions(Level::User(Path::new("/home/x/.x")), &|_| None) {
            if matches!(
                insertion.purpose,
                InsertionContent::Primer | InsertionContent::Shield | InsertionContent::Allow
            ) {
                continue;
            }
            for program in [PROGRAM, "consort", "/a b/it's/consort"] {
                let text = insertion.format.connect(None, program).unwrap();
                let programs = insertion.format.programs(&text, PROGRAM);
                assert!(!programs.is_empty() && programs.iter().all(|found| found == program), "{text}");
            }
        }
    }
}

#[test]
fn where_claude_keeps_its_servers_is_said_by_the_variable() {
    let claude = consort_agents::find("claude").unwrap();
    let level = Level::User(Path::new("/home/x/.claude"));
    let file = |environment: &dyn Fn(&str) -> Option<String>| claude.mcp(level, environment).unwrap().file;
    assert_eq!(file(&|_| None), Path::new("/home/x/.claude.json"));
    assert_eq!(file(&|_| Some("/home/x/.claude".into())), Path::new("/home/x/.claude/.claude.json"));
}
