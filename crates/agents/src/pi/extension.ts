
export default (pi: any) => {
  let session: string | undefined
  let cwd = process.cwd()
  const facts = (more = {}) => ({ session_id: session, cwd, ...more })
  /** As pi itself will read a path. */
  const path = (text: any) =>
    typeof text === "string" ? text.replace(/^@/, "").replace(/^~(?=\/)/, process.env.HOME ?? "~") : text
  const use = (event: any) => ({
    tool_name: event.toolName,
    tool_input: { ...event.input, path: path(event.input?.path) },
    tool_use_id: event.toolCallId,
  })
  /** What there is to say to a session that has not been prompted yet. */
  let waiting: string[] = []

  pi.on("session_start", async (_: any, ctx: any) => {
    session = ctx.sessionManager?.getSessionId?.()
    cwd = ctx.cwd ?? cwd
    if (!session) return
    process.env.CONSORT_SESSION = session
    const { context } = await consort("session-start", facts({ model: ctx.model?.id }))
    if (context) waiting.push(context)
    ctx.ui?.setStatus?.("consort", "consort")
  })
  pi.on("before_agent_start", async (event: any) => {
    if (!session) return
    const { context } = await consort("prompt", facts({ prompt: event.prompt }))
    const told = context ? [...waiting, context] : waiting
    waiting = []
    if (told.length) return { message: { customType: "consort", content: told.join("\n\n"), display: false } }
  })
  pi.on("tool_call", async (event: any) => {
    if (!session) return
    const { deny } = await consort("tool-before", facts(use(event)))
    if (deny) return { block: true, reason: deny }
  })
  pi.on("tool_result", async (event: any) => {
    if (!session) return
    const error = event.isError ? "failed" : undefined
    const { context } = await consort("tool-after", facts({ ...use(event), error }))
    if (context) return { content: [...event.content, { type: "text", text: context }] }
  })
  pi.on("agent_settled", async () => {
    if (session) await consort("idle", facts())
  })
  const leave = () => {
    if (session) farewell([facts()])
    session = undefined
  }
  // Another session in the same process loads this file again.
  pi.on("session_shutdown", async () => {
    process.off("exit", leave)
    leave()
  })
  process.on("exit", leave)
}
