//! The dialect that our own plugins speak, where an agent CLI has plugins
//! instead of hooks: a plugin calls `consort hook` and nothing else.

use consort_core::hooks::HookCall;
use consort_core::hooks::HookEvent;
use consort_core::hooks::HookReply;
use serde::Serialize;

use crate::connect::TIMEOUT;
use crate::owned;
use crate::payload::Payload;
use crate::payload::Tools;

pub(crate) fn read(event: &str, payload: &[u8], tools: &Tools) -> Option<HookCall> {
    let mut payload = Payload::parse(payload)?;
    let event = match event {
        "session-start" => HookEvent::SessionStart,
        "prompt" => HookEvent::Prompt(payload.prompt.0.take().unwrap_or_default()),
        "tool-before" => HookEvent::ToolBefore(payload.tool(tools)?),
        "tool-after" => HookEvent::ToolAfter {
            failed: payload.error.0.is_some(),
            tool: payload.tool(tools).unwrap_or_default(),
        },
        "waiting" => HookEvent::Waiting(payload.message.0.take().unwrap_or_else(|| "your attention".into())),
        "idle" => HookEvent::TurnEnd { may_go_on: false },
        "failed" => HookEvent::TurnFailed(payload.error.0.take().unwrap_or_else(|| "an error".into())),
        "session-end" => HookEvent::SessionEnd,
        _ => return None,
    };
    Some(payload.call(event))
}

/// `{"context": …}` or `{"deny": …}`.
pub(crate) fn write(reply: &HookReply) -> Option<String> {
    #[derive(Serialize)]
    #[serde(rename_all = "snake_case")]
    enum Reply<'a> {
        Context(&'a str),
        Deny(&'a str),
    }

    let reply = match reply {
        HookReply::Silence => return None,
        HookReply::Context(text) | HookReply::GoOn(text) => Reply::Context(text),
        HookReply::Deny(reason) => Reply::Deny(reason),
    };
    serde_json::to_string(&reply).ok()
}

/// A plugin as it is written for this program: its template, with how to reach
/// us in the place of `HOOK`. A missing program must never stop an agent, so
/// every failure is an empty answer.
pub(crate) fn plugin(template: &str, kind: &str, program: &str) -> String {
    let hook = format!(
        r#"// {notice}
import {{ spawn, spawnSync }} from "node:child_process"

const PROGRAM = {program}

/** Tells consort of an event; its answer, or nothing whatever goes wrong. */
const consort = (event, payload) =>
  new Promise((resolve) => {{
    try {{
      let answer = ""
      const hook = spawn(PROGRAM, ["hook", "{kind}", event], {{ stdio: ["pipe", "pipe", "ignore"] }})
      const late = setTimeout(() => hook.kill(), {timeout})
      const end = () => {{
        clearTimeout(late)
        try {{
          resolve(JSON.parse(answer))
        }} catch {{
          resolve({{}})
        }}
      }}
      hook.on("error", end)
      hook.on("close", end)
      hook.stdin.on("error", () => {{}})
      hook.stdout.on("data", (part) => (answer += part))
      hook.stdin.end(JSON.stringify(payload))
    }} catch {{
      resolve({{}})
    }}
  }})

/** The same for the last word of a process. */
const farewell = (payload) => {{
  try {{
    spawnSync(PROGRAM, ["hook", "{kind}", "session-end"], {{ input: JSON.stringify(payload), timeout: 2000 }})
  }} catch {{}}
}}
"#,
        notice = owned::NOTICE,
        program = serde_json::Value::from(program),
        timeout = TIMEOUT * 1_000,
    );
    hook + template
}
