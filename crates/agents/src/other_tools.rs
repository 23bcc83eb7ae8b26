//! Guesses from the name of a tool that is not a CLI's own, mostly of an MCP server, whether the tool reads
//! or writes the paths it is given. No hook has such a tool's schema.

use std::path::PathBuf;

use consort_core::hooks::ToolAction;

/// The files and the command in a tool's input.
#[derive(Default)]
pub(crate) struct Given {
    pub(crate) paths: Vec<PathBuf>,
    /// The path that a file is moved or copied from.
    pub(crate) source: Option<PathBuf>,
    pub(crate) command: Option<String>,
}

const WRITES: &[&str] = &[
    "append",
    "apply",
    "change",
    "copy",
    "create",
    "delete",
    "edit",
    "format",
    "insert",
    "make",
    "mkdir",
    "modify",
    "move",
    "overwrite",
    "patch",
    "put",
    "reformat",
    "refactor",
    "remove",
    "rename",
    "replace",
    "rm",
    "save",
    "set",
    "touch",
    "truncate",
    "unlink",
    "update",
    "upload",
    "write",
];
const READS: &[&str] = &[
    "cat", "describe", "diff", "find", "get", "glob", "grep", "head", "info", "list", "ls", "open", "query",
    "read", "search", "show", "stat", "tail", "tree", "view",
];
const RUNS: &[&str] =
    &["bash", "cmd", "command", "exec", "execute", "process", "run", "shell", "start", "terminal"];

/// Guesses what a tool of that name does; [`ToolAction::Visits`] if the name does not show it.
pub(crate) fn guess_action(name: &str, given: Given) -> ToolAction {
    // Our own MCP server handles its tools itself.
    if name.to_lowercase().contains("consort") {
        return ToolAction::Other;
    }
    let words = words(name);
    let has = |verbs: &[&str]| words.iter().any(|word| verbs.contains(&word.as_str()));
    let Given { mut paths, source, command } = given;
    match command {
        // In a tool with many verbs, `command` is the verb.
        Some(verb) if matches!(verb.as_str(), "view" | "create" | "str_replace" | "insert" | "undo_edit") => {
            return match paths.pop() {
                Some(path) if verb == "view" => ToolAction::Reads(path),
                Some(path) => ToolAction::Writes(vec![path]),
                None => ToolAction::Other,
            };
        }
        Some(command) if has(RUNS) => return ToolAction::Runs(command),
        _ => {}
    }
    let verb = words.iter().find(|word| WRITES.contains(&word.as_str()) || READS.contains(&word.as_str()));
    // `search_and_replace` writes, `list_recent_edits` does not.
    let only_reads =
        verb.is_some_and(|verb| matches!(verb.as_str(), "get" | "list" | "read" | "view" | "show"));
    if has(WRITES) && !only_reads {
        // A file that is copied is not changed.
        let is_moved = !has(&["copy"]);
        paths.extend(source.filter(|_| is_moved));
        return if paths.is_empty() { ToolAction::Other } else { ToolAction::Writes(paths) };
    }
    match paths.into_iter().next() {
        Some(path) if verb.is_some() => ToolAction::Reads(path),
        Some(path) => ToolAction::Visits(path),
        None => ToolAction::Other,
    }
}

/// Splits a tool's name into words, without the server's name if `__` separates it.
fn words(name: &str) -> Vec<String> {
    let name = name.rsplit("__").next().unwrap_or(name);
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for c in name.chars() {
        let is_new = !c.is_alphanumeric() || c.is_uppercase() && was_lower;
        if is_new {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut()
            && c.is_alphanumeric()
        {
            word.extend(c.to_lowercase());
        }
        was_lower = c.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on_path(name: &str) -> ToolAction {
        guess_action(name, Given { paths: vec!["a".into()], ..Given::default() })
    }

    #[test]
    fn the_name_says_what_is_done() {
        for name in [
            "mcp__filesystem__write_file",
            "mcp__filesystem__edit_file",
            "mcp__serena__replace_symbol_body",
            "mcp__serena__insert_after_symbol",
            "mcp__jetbrains__create_new_file",
            "mcp__jetbrains__reformat_file",
            "mcp__desktop-commander__edit_block",
            "filesystem_write_file",
            "filesystem-write_file",
            "mcp_filesystem_writeFile",
            "search_and_replace",
        ] {
            assert_eq!(on_path(name), ToolAction::Writes(vec!["a".into()]), "{name}");
        }
        for name in ["mcp__filesystem__read_text_file", "serena_get_symbols_overview", "list_recent_edits"] {
            assert_eq!(on_path(name), ToolAction::Reads("a".into()), "{name}");
        }
        assert_eq!(on_path("mcp__x__frobnicate"), ToolAction::Visits("a".into()));
        assert_eq!(on_path("mcp__consort__write"), ToolAction::Other);
    }

    #[test]
    fn what_is_moved_is_written_at_both_ends() {
        let given = || Given { paths: vec!["b".into()], source: Some("a".into()), command: None };
        assert_eq!(
            guess_action("mcp__fs__move_file", given()),
            ToolAction::Writes(vec!["b".into(), "a".into()])
        );
        assert_eq!(guess_action("mcp__fs__copy_file", given()), ToolAction::Writes(vec!["b".into()]));
    }

    #[test]
    fn a_command_is_a_command_in_any_tool() {
        let given = |command: &str, paths: &[&str]| Given {
            paths: paths.iter().map(PathBuf::from).collect(),
            command: Some(command.into()),
            ..Given::default()
        };
        let run = guess_action("mcp__desktop-commander__start_process", given("rm a", &[]));
        assert_eq!(run, ToolAction::Runs("rm a".into()));
        assert_eq!(
            guess_action("str_replace_based_edit_tool", given("view", &["a"])),
            ToolAction::Reads("a".into())
        );
        assert_eq!(
            guess_action("str_replace_based_edit_tool", given("insert", &["a"])),
            ToolAction::Writes(vec!["a".into()])
        );
    }
}
