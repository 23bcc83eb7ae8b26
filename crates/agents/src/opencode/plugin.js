
export const Consort = async ({ directory }) => {
  const sessions = new Set()
  /** Sessions that others have started: what they do is done by those. */
  const parents = new Map()
  const facts = (session, more) => {
    const parent = parents.get(session)
    return { session_id: parent ?? session, agent_id: parent ? session : undefined, cwd: directory, ...more }
  }

  /** What a session is told when it begins; sessions are met when they first speak. */
  const meet = async (session, model) => {
    if (sessions.has(session) || parents.has(session)) return []
    sessions.add(session)
    const { context } = await consort("session-start", facts(session, { model }))
    return context ? [context] : []
  }

  process.on("exit", () => farewell([...sessions].map((session) => facts(session))))

  return {
    "chat.message": async ({ sessionID }, output) => {
      const model = output.message?.model?.modelID
      const texts = (output.parts ?? []).filter((part) => part.type === "text" && !part.synthetic)
      if (!texts.length) return
      const prompt = texts.map((part) => part.text).join("\n")
      const told = await meet(sessionID, model)
      const { context } = await consort("prompt", facts(sessionID, { model, prompt }))
      if (context) told.push(context)
      if (told.length) {
        const { id, ...like } = texts[0]
        output.parts.push({ ...like, id: `${id}c`, text: told.join("\n\n"), synthetic: true })
      }
    },
    "tool.execute.before": async ({ tool, sessionID, callID }, output) => {
      const use = { tool_name: tool, tool_input: output?.args, tool_use_id: callID }
      const { deny } = await consort("tool-before", facts(sessionID, use))
      if (deny) throw new Error(deny)
    },
    "tool.execute.after": async ({ tool, sessionID, callID, args }, output) => {
      const use = { tool_name: tool, tool_input: args, tool_use_id: callID }
      const { context } = await consort("tool-after", facts(sessionID, use))
      if (!context || !output) return
      // What comes from an MCP server is a list of parts.
      if (Array.isArray(output.content)) output.content.push({ type: "text", text: context })
      else output.output = `${output.output ?? ""}\n\n${context}`
    },
    "shell.env": async ({ sessionID }, output) => {
      if (sessionID && output?.env) output.env.CONSORT_SESSION = parents.get(sessionID) ?? sessionID
    },
    event: async ({ event }) => {
      const info = event.properties?.info
      if (event.type === "session.created" && info?.parentID) parents.set(info.id, info.parentID)
      const session = event.properties?.sessionID ?? info?.id
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
