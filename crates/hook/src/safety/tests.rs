//! Tests the action class of commands (`corpus.txt`) and of tools.

use consort_core::dispatch::ActionClass;
use consort_core::dispatch::classify;
use consort_core::policy::Action;
use consort_core::policy::PermissionRequest;

use crate::policy::commands;

fn class_of(command: &str) -> ActionClass {
    let request = PermissionRequest {
        tool: "Bash".into(),
        name: "Bash".into(),
        is_own: true,
        action: Action::Commands(commands(command)),
    };
    classify(&request, "Bash").class
}

/// In the corpus, a class in brackets is followed by its commands, one per line; `\n` stands for a
/// new line.
#[test]
fn every_command_is_of_its_class() {
    let (mut class, mut count, mut wrong) = ("", 0, Vec::new());
    for line in include_str!("corpus.txt").lines().filter(|line| !line.is_empty() && !line.starts_with("# "))
    {
        if let Some(name) =
            line.strip_prefix('[').and_then(|line| line.strip_suffix(']')).filter(|name| !name.contains(' '))
        {
            class = name;
            assert!(ActionClass::ALL.iter().any(|known| known.as_str() == name), "{name}");
            continue;
        }
        count += 1;
        let found = class_of(&line.replace("\\n", "\n"));
        if found.as_str() != class {
            wrong.push(format!("{line}: {} and not {class}", found.as_str()));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(count >= 200, "{count}");
}

#[test]
fn every_tool_is_of_its_class_and_what_nobody_knows_of_the_strictest() {
    let cases = [
        ("Grep", ActionClass::FileRead),
        ("list_directory", ActionClass::FileRead),
        ("TodoWrite", ActionClass::FileRead),
        ("update_plan", ActionClass::FileRead),
        ("WebFetch", ActionClass::Network),
        ("google_web_search", ActionClass::Network),
        ("save_memory", ActionClass::FileWrite),
        ("write_stdin", ActionClass::BashExec),
        ("Task", ActionClass::AgentDispatch),
        ("spawn_agent", ActionClass::AgentDispatch),
        ("mcp__consort__send", ActionClass::FileRead),
        ("consort_reserve", ActionClass::FileRead),
        ("consort-task", ActionClass::FileRead),
        ("mcp__consort__run", ActionClass::AgentDispatch),
        ("mcp__consort__config", ActionClass::SystemModify),
        ("mcp__not_consort__send", ActionClass::SystemModify),
        ("mcp__github__create_issue", ActionClass::SystemModify),
        ("pan_apply_config", ActionClass::SystemModify),
        ("", ActionClass::SystemModify),
    ];
    for (tool, class) in cases {
        let request =
            PermissionRequest { tool: tool.into(), name: tool.into(), is_own: true, action: Action::Other };
        assert_eq!(classify(&request, tool).class, class, "{tool}");
    }
}
