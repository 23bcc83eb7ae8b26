//! The dialect that our own plugins speak, where an agent CLI has plugins
//! instead of hooks: a plugin calls `consort hook` and nothing else.

use consort_core::hooks::HookCall;
use consort_core::hooks::HookEvent;
use consort_core::hooks::HookReply;
use serde::Serialize;

use crate::owned;
use crate::payload::Payload;
use crate::payload::Tools;

/// How long a plugin waits for us, in milliseconds.
const PATIENCE: u32 = 3_000;

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
    payload.call(event)
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
    let hook
    let answer = ""
    const end = (kill) => {{
      clearTimeout(late)
      if (kill && hook) {{
        hook.kill("SIGKILL")
        hook.stdout?.destroy()
        hook.stdin?.destroy()
      }}
      try {{
        const told = JSON.parse(answer)
        resolve(told && typeof told === "object" ? told : {{}})
      }} catch {{
        resolve({{}})
      }}
    }}
    const late = setTimeout(() => end(true), {timeout})
    try {{
      const text = JSON.stringify(payload)
      hook = spawn(PROGRAM, ["hook", "{kind}", event], {{ stdio: ["pipe", "pipe", "ignore"] }})
      hook.on("error", () => end(false))
      hook.on("close", () => end(false))
      hook.stdin.on("error", () => {{}})
      hook.stdout.on("error", () => {{}})
      hook.stdout.on("data", (part) => (answer += part))
      hook.stdin.end(text)
    }} catch {{
      end(true)
    }}
  }})

/** The same for the last words of a process, which waits for nobody long. */
const farewell = (payloads) => {{
  const until = Date.now() + 1500
  for (const payload of payloads) {{
    const left = until - Date.now()
    if (left <= 0) return
    try {{
      const input = JSON.stringify(payload)
      spawnSync(PROGRAM, ["hook", "{kind}", "session-end"], {{ input, timeout: left, killSignal: "SIGKILL" }})
    }} catch {{}}
  }}
}}
"#,
        notice = owned::NOTICE,
        program = serde_json::Value::from(program),
        timeout = PATIENCE,
    );
    hook + template
}
