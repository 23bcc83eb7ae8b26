import { spawn, spawnSync } from "node:child_process"

/** Tells consort of an event; its answer, or nothing whatever goes wrong. */
const consort = (event, payload) =>
  new Promise((resolve) => {
    let hook
    let answer = ""
    const end = (kill) => {
      clearTimeout(late)
      if (kill && hook) {
        hook.kill("SIGKILL")
        hook.stdout?.destroy()
        hook.stdin?.destroy()
      }
      try {
        const told = JSON.parse(answer)
        resolve(told && typeof told === "object" ? told : {})
      } catch {
        resolve({})
      }
    }
    const late = setTimeout(() => end(true), PATIENCE)
    try {
      const text = JSON.stringify(payload)
      hook = spawn(PROGRAM, ["hook", KIND, event, ...LEVEL], { stdio: ["pipe", "pipe", "ignore"] })
      hook.on("error", () => end(false))
      hook.on("close", () => end(false))
      hook.stdin.on("error", () => {})
      hook.stdout.on("error", () => {})
      hook.stdout.on("data", (part) => (answer += part))
      hook.stdin.end(text)
    } catch {
      end(true)
    }
  })

/**
 * Starts a hook that stays open: `said` gets each part that it prints, `ended` is called once.
 * Returns how to stop it. It ends by itself when this process does, and does not keep it from
 * ending.
 */
const staying = (event, payload, said, ended) => {
  let hook
  let isOver = false
  const end = () => {
    if (isOver) return
    isOver = true
    ended()
  }
  try {
    hook = spawn(PROGRAM, ["hook", KIND, event, ...LEVEL], { stdio: ["pipe", "pipe", "ignore"] })
    hook.on("error", end)
    hook.on("close", end)
    hook.stdin.on("error", () => {})
    hook.stdout.on("error", () => {})
    hook.stdout.on("data", said)
    hook.stdin.write(JSON.stringify(payload) + "\n")
    for (const handle of [hook, hook.stdin, hook.stdout]) handle.unref?.()
  } catch {
    setImmediate(end)
  }
  return () => {
    try {
      hook?.stdin?.end()
    } catch {}
  }
}

/**
 * Asks consort for an answer of the person's to a dialog, which stays usable: `answered` gets
 * it, or nothing. Returns how to stop waiting for it.
 */
const answering = (payload, answered) => {
  let said = ""
  const end = () => {
    let answer
    try {
      answer = JSON.parse(said)
    } catch {}
    answered(answer?.reply || answer?.answers ? answer : undefined)
  }
  return staying("asks", payload, (part) => (said += part), end)
}

/** The same for the last words of a process, which waits for nobody long. */
const farewell = (payloads) => {
  const until = Date.now() + 1500
  for (const payload of payloads) {
    const left = until - Date.now()
    if (left <= 0) return
    try {
      const input = JSON.stringify(payload)
      spawnSync(PROGRAM, ["hook", KIND, "session-end", ...LEVEL], { input, timeout: left, killSignal: "SIGKILL" })
    } catch {}
  }
}

/**
 * Keeps consort listening for a session's mail: `heard` gets what it says line by
 * line, and nothing when it ends. Returns how to stop it.
 */
const listen = (payload, heard) => {
  let said = ""
  const hear = (part) => {
    const lines = (said + part).split("\n")
    said = lines.pop() ?? ""
    for (const line of lines) {
      try {
        const told = JSON.parse(line)
        if (told?.name || told?.wake) heard(told)
      } catch {}
    }
  }
  return staying("wait", payload, hear, () => heard(undefined))
}

/** How soon to listen again after something failed, first and at most. */
const SOON = 1000
const LATE = 60000

/**
 * The ear of an idle session: `open` it when a turn is over, `shut` it when one
 * begins, `close` it for good. Only what is `free` is woken; `put` then gets the
 * mail, and `meet` who the session is and how many others are here.
 */
const ear = ({ facts, free, put, meet }) => {
  let stop
  let timer
  let pause = SOON
  let isClosed = false
  const shut = () => {
    clearTimeout(timer)
    stop?.()
    stop = undefined
  }
  const again = () => {
    clearTimeout(timer)
    if (isClosed) return
    timer = setTimeout(listening, pause)
    timer.unref?.()
    pause = Math.min(pause * 2, LATE)
  }
  const listening = () => {
    if (stop || isClosed) return
    if (!free()) return again()
    const mine = listen(facts(), (line) => {
      if (stop !== mine) return
      if (line && !line.wake) return meet?.(line)
      shut()
      if (line) fetch()
      else again()
    })
    stop = mine
  }
  // The mail is taken only by one that can put it somewhere: taken, it is delivered.
  const fetch = async () => {
    const { context } = free() ? await consort("mail", facts()) : {}
    if (context) {
      pause = SOON
      await put(context)
    }
    again()
  }
  const open = () => {
    pause = SOON
    listening()
  }
  const close = () => {
    isClosed = true
    shut()
  }
  return { open, shut, close }
}
