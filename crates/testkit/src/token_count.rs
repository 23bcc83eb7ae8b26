//! Counts in tests how many tokens a text costs a model, by the tokenizer of a real
//! one.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::Command;
use std::process::Stdio;

/// Counts the tokens of a text in o200k, by the tokenizer that `scripts/test-tools` installs.
pub fn tokens(text: &str) -> usize {
    let tools = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../.test-tools");
    let script = "import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
        let text = ''; for await (const part of process.stdin) text += part; console.log(countTokens(text))";
    let mut node = Command::new(tools.join("claude/node_modules/.bin/node"))
        .args(["--input-type=module", "-e", script])
        .current_dir(tools.join("tokenizer"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    node.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = node.wait_with_output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().parse().unwrap()
}
