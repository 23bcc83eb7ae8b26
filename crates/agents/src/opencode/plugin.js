
export const Consort = async ({ client, directory }) => {
  const sessions = new Map()
  /** Sessions that others have started: what they do is done by those. */
  const parents = new Map()
  const facts = (session, more) => {
    const parent = parents.get(session)
    return { session_id: parent ?? session, agent_id: parent ? session : undefined, cwd: directory, ...more }
  }
  /** What is started for one turn ends with it, and is not woken. */
  const isForOneTurn = process.argv.slice(2).find((word) => !word.startsWith("-")) === "run"

  /** A session: whether it is at work, as whom it was last spoken to, what it could not be told. */
  const begin = (session) => {
    const known = { isBusy: true, like: {}, unsaid: [] }
    known.ear = ear({
      facts: () => facts(session),
      free: () => !known.isBusy && !isForOneTurn,
      // Like the person's last words: by default it would be another agent, with other permissions.
      put: async (text) => {
        const parts = [{ type: "text", text, synthetic: true }]
        try {
          const { error } = await client.session.promptAsync({ path: { id: session }, body: { ...known.like, parts } })
          if (error) throw error
        } catch {
          known.unsaid.push(text)
          return
        }
        // It does not show what was put in: the person should know why it is at work.
        try {
          await client.tui.showToast({ body: { title: "consort", message: "Woken by a message", variant: "info" } })
        } catch {}
      },
    })
    sessions.set(session, known)
    return known
  }

  /** In the terminal there is one session at a time: the one that was last spoken to. */
  const isTerminal = !["run", "serve", "web", "acp"].includes(process.argv.slice(2).find((word) => !word.startsWith("-")))
  let current

  /** What a session is told when it begins; sessions are met when they first speak. */
  const meet = async (session, model) => {
    if (parents.has(session)) return []
    const replaces = isTerminal && current !== session ? current : undefined
    if (sessions.has(session) && !replaces) return []
    current = session
    if (replaces) {
      // It is not on the screen any more: nothing wakes it there.
      sessions.get(replaces)?.ear.close()
      sessions.delete(replaces)
    }
    if (!sessions.has(session)) begin(session)
    const { context } = await consort("session-start", facts(session, { model, replaces }))
    return context ? [context] : []
  }

  /** Questions of its dialogs, each with what ends our waiting for another's answer. */
  const asked = new Map()
  const ask = (session, id, what, url) => {
    // It refuses by itself there.
    if (isForOneTurn) return
    const forget = answering(facts(session, what), async (body) => {
      asked.delete(id)
      if (!body) return
      try {
        await client._client.post({ url, path: { requestID: id }, body, headers: { "Content-Type": "application/json" } })
      } catch {}
    })
    asked.set(id, forget)
  }

  process.on("exit", () => farewell([...sessions.keys()].map((session) => facts(session))))

  return {
    "chat.message": async ({ sessionID }, output) => {
      const model = output.message?.model?.modelID
      const texts = (output.parts ?? []).filter((part) => part.type === "text" && !part.synthetic)
      if (!texts.length) return
      const prompt = texts.map((part) => part.text).join("\n")
      const told = await meet(sessionID, model)
      const known = sessions.get(sessionID)
      if (known) {
        known.isBusy = true
        known.ear.shut()
        const { agent, model, variant } = output.message ?? {}
        known.like = { agent, model, variant }
        told.push(...known.unsaid.splice(0))
      }
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
      // Only what tells that something was read-only: results may be long.
      const note = /read-only file system|EROFS|resource busy|EBUSY/i.exec(output?.output ?? "")?.[0]
      const use = { tool_name: tool, tool_input: args, tool_use_id: callID, note }
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
      const known = sessions.get(session)
      if (!known) return
      if (event.type === "session.status" && event.properties?.status?.type !== "idle") {
        known.isBusy = true
        known.ear.shut()
      }
      if (event.type === "session.idle") {
        known.isBusy = false
        await consort("idle", facts(session))
        known.ear.open()
      }
      if (event.type === "permission.asked") {
        const { id, permission, metadata, patterns, always } = event.properties
        const { filepath, ...rest } = metadata ?? {}
        const tool_input = filepath ? { file_path: filepath, ...rest } : metadata?.command ? metadata : { patterns }
        ask(session, id, { tool_name: permission, tool_input, always }, `/permission/{requestID}/reply`)
      }
      if (event.type === "question.asked") {
        const { id, questions } = event.properties
        ask(session, id, { tool_name: "question", tool_input: { questions } }, `/question/{requestID}/reply`)
      }
      if (["permission.replied", "question.replied", "question.rejected"].includes(event.type)) {
        asked.get(event.properties?.requestID)?.()
        await consort("resumed", facts(session))
      }
      if (event.type === "session.error") await consort("failed", facts(session, { error: event.properties?.error?.name }))
      if (event.type === "session.deleted") {
        known.ear.close()
        sessions.delete(session)
        await consort("session-end", facts(session))
      }
    },
  }
}
