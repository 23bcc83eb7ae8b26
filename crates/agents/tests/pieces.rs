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
    cli.pieces(Level::User(Path::new("/home/x/.x"))).into_iter().find(|piece| piece.part == part).unwrap()
}

#[test]
fn every_piece_goes_in_and_out() {
    for cli in ALL {
        for level in [Level::User(Path::new("/home/x/.x")), Level::Project(Path::new("/project"))] {
            for piece in cli.pieces(level) {
                let new = piece.wiring.connect(None, PROGRAM).unwrap();
                assert_eq!(piece.wiring.connection(&new, PROGRAM).unwrap(), Connection::Current, "{new}");
                // Again: nothing changes.
                assert_eq!(piece.wiring.connect(Some(&new), PROGRAM).unwrap(), new);
                let left = piece.wiring.disconnect(&new, PROGRAM).unwrap().unwrap_or_default();
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
        assert_eq!(piece.wiring.disconnect(&both, PROGRAM).unwrap().unwrap().trim_end(), theirs.trim_end());
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
        assert_eq!(piece.wiring.disconnect(&theirs, PROGRAM).unwrap().unwrap(), theirs);
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
    assert_eq!(piece.wiring.disconnect(&both, PROGRAM).unwrap().unwrap(), "before\nafter\n");
}
