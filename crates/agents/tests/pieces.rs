//! What is ours goes into other people's files and out of them again, and
//! nothing else moves.

#![expect(clippy::unwrap_used, reason = "a helper that cannot go on should stop the test")]

use std::path::Path;

use consort_agents::ALL;
use consort_agents::Connection;
use consort_agents::Level;
use consort_agents::Part;
use consort_agents::Piece;

const PROGRAM: &str = "/opt/consort/bin/consort";

fn piece(kind: &str, part: Part) -> Piece {
    let cli = consort_agents::find(kind).unwrap();
    let level = Level::User(Path::new("/home/x/.x"));
    cli.pieces(level, &|_| None).into_iter().find(|piece| piece.part == part).unwrap()
}

/// What is left of a file that nobody remembers.
fn without(piece: &Piece, text: &str) -> String {
    piece.wiring.disconnect(text, PROGRAM, None).unwrap().unwrap()
}

#[test]
fn every_piece_goes_in_and_out() {
    for cli in ALL {
        for level in [Level::User(Path::new("/home/x/.x")), Level::Project(Path::new("/project"))] {
            for piece in cli.pieces(level, &|_| None) {
                let new = piece.wiring.connect(None, PROGRAM).unwrap();
                assert_eq!(piece.wiring.connection(&new, PROGRAM).unwrap(), Connection::Current, "{new}");
                // Again: nothing changes.
                assert_eq!(piece.wiring.connect(Some(&new), PROGRAM).unwrap(), new);
                let left = piece.wiring.disconnect(&new, PROGRAM, None).unwrap().unwrap_or_default();
                assert!(matches!(left.trim(), "" | "{}"), "{left}");
            }
        }
    }
}

#[test]
fn others_stay_as_they_are() {
    let json =
        "{\n  // mine\n  \"mcpServers\": {\n    \"other\": {\"command\": \"x\"}\n  },\n  \"theme\": 1\n}\n";
    let toml = "# mine\nmodel = \"m\"\n\n[mcp_servers.other]\ncommand = \"x\" # why\n";
    let text = "# Rules\n\nBe kind.\n";
    for (piece, theirs) in [
        (piece("gemini", Part::Mcp), json),
        (piece("codex", Part::Mcp), toml),
        (piece("codex", Part::Primer), text),
    ] {
        assert_eq!(piece.wiring.connection(theirs, PROGRAM).unwrap(), Connection::Absent);
        let both = piece.wiring.connect(Some(theirs), PROGRAM).unwrap();
        assert_eq!(piece.wiring.connection(&both, PROGRAM).unwrap(), Connection::Current, "{both}");
        assert_eq!(without(&piece, &both), theirs);
    }
}

#[test]
fn another_place_of_ours_is_outdated_and_what_somebody_changed_is_theirs() {
    for kind in ["claude", "codex", "gemini", "opencode", "copilot"] {
        let piece = piece(kind, Part::Mcp);
        let old = piece.wiring.connect(None, "/old/place/consort").unwrap();
        assert_eq!(piece.wiring.connection(&old, PROGRAM).unwrap(), Connection::Outdated, "{old}");
        let new = piece.wiring.connect(Some(&old), PROGRAM).unwrap();
        assert!(new.contains(PROGRAM) && !new.contains("/old/place"), "{new}");
        let (before, after) = new.rsplit_once("\"mcp\"").unwrap();
        let theirs = format!("{before}\"mcp\", \"--set\", \"a.b=c\"{after}");
        assert_eq!(piece.wiring.connection(&theirs, PROGRAM).unwrap(), Connection::Current);
        assert_eq!(piece.wiring.connect(Some(&theirs), PROGRAM).unwrap(), theirs);
        assert_eq!(without(&piece, &theirs), theirs);
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
        let error = piece(kind, Part::Mcp).wiring.connect(Some(theirs), PROGRAM);
        assert!(error.is_err(), "{theirs}: {error:?}");
    }
}

#[test]
fn what_is_written_once_and_renewed_has_one_block() {
    let piece = piece("codex", Part::Primer);
    let both = piece.wiring.connect(Some("before\n"), PROGRAM).unwrap() + "after\n";
    let old = both.replace("Be brief", "Be long");
    assert_eq!(piece.wiring.connection(&old, PROGRAM).unwrap(), Connection::Outdated);
    assert_eq!(piece.wiring.connect(Some(&old), PROGRAM).unwrap(), both);
    assert_eq!(without(&piece, &both), "before\nafter\n");
}

/// As editors on other systems leave them.
#[test]
fn marks_and_line_endings_stay() {
    for (kind, part, theirs) in [
        ("codex", Part::Mcp, "\u{feff}model = \"m\"\r\n\r\n[other]\r\na = 1\r\n"),
        ("codex", Part::Mcp, "a   =   1 # odd\n\n\n"),
        ("codex", Part::Primer, "\u{feff}# Rules\r\n\r\nBe kind.\r\n"),
        ("codex", Part::Primer, "# Rules  \n\n\n"),
        ("opencode", Part::Mcp, "\u{feff}{\r\n  \"theme\": 1\r\n}\r\n"),
        ("gemini", Part::Hooks, "\u{feff}{\n  \"theme\": 1\n}\n"),
    ] {
        let piece = piece(kind, part);
        // What is not connected is not written anew.
        assert_eq!(without(&piece, theirs), theirs);
        let both = piece.wiring.connect(Some(theirs), PROGRAM).unwrap();
        assert_eq!(piece.wiring.connection(&both, PROGRAM).unwrap(), Connection::Current, "{both:?}");
        if theirs.contains("\r\n") {
            assert_eq!(both.matches('\n').count(), both.matches("\r\n").count(), "{both:?}");
        }
        assert_eq!(without(&piece, &both), theirs);
    }
}

#[test]
fn comments_around_our_table_stay() {
    let piece = piece("codex", Part::Mcp);
    let ours = piece.wiring.connect(None, "/old/place/consort").unwrap();
    let (header, keys) = ours.split_once('\n').unwrap();
    let text = format!("a = 1\n\n# mine\n{header}\n# mine too\n{keys}\n# another's\n[other]\n");
    let renewed = piece.wiring.connect(Some(&text), PROGRAM).unwrap();
    assert!(
        renewed.starts_with(&format!("a = 1\n\n# mine\n{header}\ncommand = \"{PROGRAM}\"\n")),
        "{renewed}"
    );
    assert!(renewed.ends_with("# mine too\n\n# another's\n[other]\n"), "{renewed}");
    let left = "a = 1\n\n# mine\n# mine too\n\n# another's\n[other]\n";
    assert_eq!(without(&piece, &text), left);
    assert_eq!(without(&piece, &renewed), left);
    // Written in another way, it is somebody's own.
    for theirs in [
        text.replace(header, &format!("{header} # mine")),
        text.replace(keys, "command = \"consort\" # mine\n"),
    ] {
        assert_eq!(piece.wiring.connect(Some(&theirs), PROGRAM).unwrap(), theirs);
        assert_eq!(without(&piece, &theirs), theirs);
    }
}

#[test]
fn comments_in_json_stay_and_so_does_what_was_empty() {
    for (kind, part, name) in [
        ("opencode", Part::Mcp, "mcp"),
        ("claude", Part::Mcp, "mcpServers"),
        ("claude", Part::Hooks, "hooks"),
    ] {
        let piece = piece(kind, part);
        let theirs = format!("{{\n  \"{name}\": {{\n    // mine\n  }}\n}}\n");
        for program in [PROGRAM, "/old/place/consort"] {
            let both = piece.wiring.connect(Some(&theirs), program).unwrap();
            assert!(without(&piece, &both).contains("// mine"), "{both}");
            assert!(piece.wiring.connect(Some(&both), PROGRAM).unwrap().contains("// mine"), "{both}");
        }
        // An empty one stays where it is known to have been there; elsewhere it says nothing.
        let theirs = format!("{{\n  \"{name}\": {{}}\n}}\n");
        let both = piece.wiring.connect(Some(&theirs), PROGRAM).unwrap();
        let left = piece.wiring.disconnect(&both, PROGRAM, Some(&theirs)).unwrap().unwrap();
        assert!(left.contains(&format!("\"{name}\": {{")), "{left}");
        assert_eq!(without(&piece, &both).replace([' ', '\n'], ""), "{}");
    }
}

#[test]
fn an_editor_may_change_how_our_lines_end() {
    let piece = piece("codex", Part::Primer);
    let both = piece.wiring.connect(Some("before\n"), PROGRAM).unwrap();
    for changed in [both.trim_end().to_owned(), both.replace('\n', "\r\n")] {
        assert_eq!(piece.wiring.connection(&changed, PROGRAM).unwrap(), Connection::Current, "{changed:?}");
        assert_eq!(piece.wiring.connect(Some(&changed), PROGRAM).unwrap(), changed);
        assert_eq!(without(&piece, &changed).trim_end(), "before");
        let old = changed.replace("Be brief", "Be long");
        let renewed = piece.wiring.connect(Some(&old), PROGRAM).unwrap();
        assert_eq!(renewed.trim_end(), changed.trim_end());
    }
}

#[test]
fn what_is_not_ours_has_nothing_to_take_out() {
    for (kind, part, theirs) in [
        ("claude", Part::Primer, "# My own skill\n"),
        ("claude", Part::Hooks, "{\"hooks\": []}"),
        ("gemini", Part::Mcp, "[]"),
        ("codex", Part::Mcp, "mcp_servers = 1"),
    ] {
        assert_eq!(without(&piece(kind, part), theirs), theirs);
    }
}

#[test]
fn which_program_is_called_is_read_from_what_is_written() {
    for cli in ALL {
        for piece in cli.pieces(Level::User(Path::new("/home/x/.x")), &|_| None) {
            if piece.part == Part::Primer {
                continue;
            }
            for program in [PROGRAM, "consort", "/a b/it's/consort"] {
                let text = piece.wiring.connect(None, program).unwrap();
                let programs = piece.wiring.programs(&text, PROGRAM);
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
