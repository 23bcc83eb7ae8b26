
export default (pi: any) => {
  let session: string | undefined
  let cwd = process.cwd()
  /** What tells whether the session is at work; where there is nobody to come back to it, nothing. */
  let here: any
  /** Until when a turn may be about to begin, because the person has sent something. */
  let beginning = 0
  const facts = (more = {}) => ({ session_id: session, cwd, ...more })
  /** As pi itself will read a path. */
  const path = (text: any) =>
    typeof text === "string" ? text.replace(/^@/, "").replace(/^~(?=\/)/, process.env.HOME ?? "~") : text
  const use = (event: any) => ({
    tool_name: event.toolName,
    tool_input: { ...event.input, path: path(event.input?.path) },
    tool_use_id: event.toolCallId,
  })
  const message = (texts: string[], display: boolean) => ({
    customType: "consort",
    content: texts.join("\n\n"),
    display,
  })
  /** What there is to say to a session that has not been prompted yet. */
  let waiting: string[] = []
  /** The mail that is to begin a turn. */
  let mail: string[] = []
  const taken = () => {
    const told = [...waiting, ...mail]
    waiting = []
    mail = []
    return told
  }

  /** pi would lose the person's words if another turn began just before theirs; some never do. */
  const isBeginning = () => Date.now() < beginning
  const isIdle = () => {
    try {
      return Boolean(session && here?.isIdle())
    } catch {
      return false
    }
  }
  // Only where a turn has begun meanwhile this steers it: pi throws away with Escape
  // what is to steer, and what a tool's result brings it keeps.
  const begin = () => {
    if (!mail.length || !session) return
    if (isBeginning()) setTimeout(begin, 500).unref?.()
    else pi.sendMessage(message(taken(), true), { triggerTurn: true, deliverAs: "steer" })
  }
  const { open, shut, close } = ear({
    facts,
    free: () => isIdle() && !isBeginning(),
    put: (text: string) => {
      mail.push(text)
      begin()
    },
    // As `consort status --line` has it; mail is not counted: an idle session is woken for it.
    meet: ({ name, others, task }: any) => {
      const parts = [name, others === 1 ? "1 peer" : `${others} peers`, task].filter(Boolean)
      here?.ui?.setStatus?.("consort", `consort: ${parts.join(" · ")}`)
    },
  })

  pi.on("session_start", async (_: any, ctx: any) => {
    session = ctx.sessionManager?.getSessionId?.()
    cwd = ctx.cwd ?? cwd
    if (!session) return
    process.env.CONSORT_SESSION = session
    // Another session in the same process loads this file again.
    const replaces = (globalThis as any).consortReplaced
    delete (globalThis as any).consortReplaced
    const { context } = await consort("session-start", facts({ model: ctx.model?.id, replaces }))
    if (context) waiting.push(context)
    if (ctx.mode === "print" || ctx.mode === "json") return
    here = ctx
    open()
  })
  pi.on("input", async (_: any, ctx: any) => {
    // What comes in a turn is heard in it, unless that ends just now.
    beginning = Date.now() + (ctx.isIdle?.() ? 30000 : 2000)
  })
  pi.on("before_agent_start", async (event: any) => {
    if (!session) return
    const { context } = await consort("prompt", facts({ prompt: event.prompt }))
    const told = context ? [...taken(), context] : taken()
    if (told.length) return { message: message(told, false) }
  })
  pi.on("agent_start", async () => {
    beginning = 0
    shut()
  })
  pi.on("tool_call", async (event: any) => {
    if (!session) return
    const { deny, rewrite } = await consort("tool-before", facts(use(event)))
    if (deny) return { block: true, reason: deny }
    // Only what is changed in place counts.
    if (rewrite && event.input) event.input.command = rewrite
  })
  pi.on("tool_result", async (event: any) => {
    if (!session) return
    const error = event.isError ? "failed" : undefined
    // Only what tells that something was read-only: results may be long.
    const text = event.content?.map((part: any) => part.text ?? "").join("\n") ?? ""
    const note = /read-only file system|EROFS|resource busy|EBUSY/i.exec(text)?.[0]
    const { context } = await consort("tool-after", facts({ ...use(event), error, note }))
    if (context) return { content: [...event.content, { type: "text", text: context }] }
  })
  // Mail that comes now keeps the turn going, once; one that failed would only fail again.
  let wentOn = false
  pi.on("agent_before_settle", async (event: any) => {
    if (!session || wentOn || event.outcome !== "completed") return
    const { context } = await consort("end", facts())
    if (!context) return
    wentOn = true
    const entry = { type: "custom_message", ...message([context], true) }
    return { entries: [...(event.entries ?? []), entry], continue: true }
  })
  pi.on("agent_settled", async () => {
    wentOn = false
    if (!session) return
    await consort("idle", facts())
    open()
  })
  // pi does not wait for these, so each waits for the one before.
  let asking = Promise.resolve({})
  pi.on("ui_prompt_start", async (event: any) => {
    if (session) asking = asking.then(() => consort("waiting", facts({ message: event.title })))
  })
  pi.on("ui_prompt_end", async () => {
    if (session) asking = asking.then(() => consort(isIdle() ? "resting" : "resumed", facts()))
  })
  const leave = () => {
    close()
    if (session) farewell([facts()])
    session = undefined
  }
  pi.on("session_shutdown", async (event: any) => {
    process.off("exit", leave)
    if (event?.reason && event.reason !== "quit" && event.reason !== "reload") {
      // Another one takes its place, and has all that it had.
      ;(globalThis as any).consortReplaced = session
      close()
      session = undefined
    }
    leave()
  })
  process.on("exit", leave)
}
