//! Tests that a hook's payload is read as the right tool action.

use consort_core::hooks::ToolAction;

use super::payload::*;

const TOOLS: Tools = Tools { write: &["w"], read: &["r"], shell: &["s"], patch: &["p"] };

fn act(more: &str) -> Option<ToolAction> {
    let payload = format!(r#"{{"sessionId":"s1","cwd":"/",{more}}}"#);
    Payload::parse(payload.as_bytes(), &mut Vec::new())?.tool(&TOOLS).map(|tool| tool.act)
}

#[test]
fn whatever_a_field_turns_out_to_be_the_rest_is_read() {
    assert_eq!(
        act(r#""tool_name":"w","tool_input":{"path":"a"}"#),
        Some(ToolAction::Writes(vec!["a".into()]))
    );
    assert_eq!(
        act(r#""toolName":"r","toolArgs":"{\"filePath\":\"a\"}""#),
        Some(ToolAction::Reads("a".into()))
    );
    assert_eq!(act(r#""tool_name":"s","tool_input":{"cmd":"ls"}"#), Some(ToolAction::Runs("ls".into())));
    let patch = r#""tool_name":"p","tool_input":{"command":"*** Add File: x"}"#;
    assert_eq!(act(patch), Some(ToolAction::Writes(vec!["x".into()])));
    assert_eq!(
        act(r#""toolName":"p","toolArgs":"*** Add File:x""#),
        Some(ToolAction::Writes(vec!["x".into()]))
    );
    let piped = r#""tool_name":"s","tool_input":{"cmd":"apply_patch <<'EOF'\n*** Begin Patch\n*** Delete File: x\nEOF"}"#;
    assert_eq!(act(piped), Some(ToolAction::Writes(vec!["x".into()])));
    let both = r#""tool_name":"w","tool_input":{"absolute_path":"b","file_path":"a"},"toolName":"w""#;
    assert_eq!(act(both), Some(ToolAction::Writes(vec!["a".into(), "b".into()])));
    // Half a surrogate pair, an escaped backslash, and a whole pair.
    let half = r#""tool_name":"s","tool_input":{"command":"echo \ud800 \\ud800 \ud83d\ude00 > a"}"#;
    assert_eq!(act(half), Some(ToolAction::Runs("echo \u{fffd} \\ud800 😀 > a".into())));
    let moved = r#""tool_name":"mcp__fs__move_file","tool_input":{"source":"a","destination":"b"}"#;
    assert_eq!(act(moved), Some(ToolAction::Writes(vec!["b".into(), "a".into()])));
    let many = r#""tool_name":"mcp__fs__write_files","tool_input":{"files":[{"path":"a"},{"path":1}],"paths":["b"]}"#;
    assert_eq!(act(many), Some(ToolAction::Writes(vec!["b".into(), "a".into()])));
    for odd in ["1", "null", "[1]", "\"x\"", "true", "{\"path\":{}}", "{\"path\":[1]}"] {
        let more = format!(r#""tool_name":"w","tool_input":{odd},"tool_response":{odd},"model":{odd}"#);
        assert_eq!(act(&more), Some(ToolAction::Other), "{odd}");
    }
}
