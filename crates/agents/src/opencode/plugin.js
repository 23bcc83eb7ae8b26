
export const Consort = async ({ directory }) => {
  const sessions = new Set()
  const facts = (session, more) => ({ session_id: session, cwd: directory, ...more })

  /** What a session is told when it begins; sessions are met when they first speak. */
  const meet = async (session, model) => {
    if (sessions.has(session)) return []
    sessions.add(session)
    const { context } = await consort("session-start", facts(session, { model }))
    return context ? [context] : []
  }

  process.on("exit", () => sessions.forEach((session) => farewell(facts(session))))

  return {
    "chat.message": async ({ sessionID }, output) => {
      const model = output.message?.model?.modelID
      const texts = output.parts.filter((part) => part.type === "text" && !part.synthetic)
      const prompt = texts.map((part) => part.text).join("\n")
      const told = await meet(sessionID, model)
      const { context } = await consort("prompt", facts(sessionID, { model, prompt }))
      if (context) told.push(context)
      const [first] = texts
      if (told.length && first) first.text = told.join("\n\n") + "\n\n" + first.text
    },
    "tool.execute.before": async ({ tool, sessionID, callID }, { args }) => {
      const use = { tool_name: tool, tool_input: args, tool_use_id: callID }
      const { deny } = await consort("tool-before", facts(sessionID, use))
      if (deny) throw new Error(deny)
    },
    "tool.execute.after": async ({ tool, sessionID, callID, args }, output) => {
      const use = { tool_name: tool, tool_input: args, tool_use_id: callID }
      const { context } = await consort("tool-after", facts(sessionID, use))
      if (context) output.output += "\n\n" + context
    },
    "shell.env": async ({ sessionID }, { env }) => {
      if (sessionID) env.CONSORT_SESSION = sessionID
    },
    event: async ({ event }) => {
      const session = event.properties?.sessionID
      if (!sessions.has(session)) return
      if (event.type === "session.idle") await consort("idle", facts(session))
      if (event.type === "permission.asked") await consort("waiting", facts(session, { message: "a permission" }))
      if (event.type === "session.error") await consort("failed", facts(session, { error: event.properties?.error?.name }))
      if (event.type === "session.deleted") {
        sessions.delete(session)
        await consort("session-end", facts(session))
      }
    },
  }
}
