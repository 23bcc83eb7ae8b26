#!/usr/bin/python3 -SI
"""An agent CLI for tests: does what is between braces in its prompt, in that order, and
prints it as Claude Code does, or as OpenCode does if it is called so.

say TEXT · echo (its prompt) · length (of it) · environment · tool NAME · sleep SECONDS ·
ignore (SIGTERM) · exit CODE · kill SIGNAL · child (one that leaves its process group) ·
bare (the same without our variables) · steps COUNT DOLLARS · cost DOLLARS · limit SECONDS ·
write FILE TEXT · commit FILE TEXT · garbage · silent · fail TEXT · consort ARGUMENTS ·
hook TOOL (what our hook says of it) · mcp TASK (a run by our MCP server on pipes) ·
served PORT TOKEN TASK (the same over HTTP) · stuck (tries again for ever, as OpenCode) ·
lines TEXT (with | for a new line) · flood err|out MEGABYTES · peak (its supervisor's memory, in MB)
"""
import json, os, re, signal, subprocess, sys, time

CONSORT = "@CONSORT@"
HOME = os.environ["HOME"]
is_claude = os.path.basename(sys.argv[0]) == "claude"
if "--help" in sys.argv:
    print("  --append-system-prompt-file <file>\n  --max-turns <n>\n  --agent <name>")
    sys.exit(0)


def note(file, line):
    with open(os.path.join(HOME, file), "a") as out:
        out.write(f"{line}\n")


note("starts", f"{time.clock_gettime_ns(time.CLOCK_REALTIME)} {os.getpid()}")
prompt = sys.stdin.read()
assert sys.stdin.read() == ""
resumed = next((word.split("=", 1)[1] for word in sys.argv if re.match("--(resume|session)=", word)), None)
session = resumed or f"session-{os.getpid()}"
note("calls", json.dumps({"pid": os.getpid(), "run": os.environ.get("CONSORT_RUN"), "cwd": os.getcwd(), "resumed": resumed, "prompt": prompt[:200], "arguments": sys.argv[1:]}))


def put(event):
    sys.stdout.write(json.dumps(event) + "\n")
    sys.stdout.flush()


def used(cost):
    return {"stub": {"inputTokens": 10, "outputTokens": 5, "costUSD": cost}}


count = 0


def say(text):
    global count
    count += 1
    if is_claude:
        put({"type": "assistant", "message": {"id": f"m{count}", "model": "stub", "usage": {"input_tokens": 7},
             "content": [{"type": "text", "text": text}]}})
    else:
        put({"type": "step_start", "sessionID": session, "part": {}})
        put({"type": "text", "sessionID": session, "part": {"messageID": f"m{count}", "text": text}})


def greet():
    call = {"session_id": session, "cwd": os.getcwd(), "hook_event_name": "SessionStart"}
    subprocess.run([CONSORT, "hook", "claude", "SessionStart"], input=json.dumps(call).encode(), stdout=subprocess.DEVNULL)


if is_claude:
    put({"type": "system", "subtype": "init", "session_id": session, "model": "stub"})
answer, cost, silent, failed = "", None, False, None
words = re.findall(r"\{(\w+) ?([^}]*)\}", prompt)
# As a reviewer, the stub does not act on the text that is quoted to it.
if prompt.startswith("Review work"):
    words = [("lines", "## Completed|- the file|## Missed|- its tests|## Half done|- none|## Beyond scope|- none|## Tests|- none at all")]
for word, rest in words:
    if word == "say":
        answer = rest
        say(rest)
    elif word == "echo":
        answer = prompt
    elif word == "length":
        answer = f"{len(prompt)} {prompt[:1]}"
    elif word == "environment":
        answer = json.dumps(dict(os.environ))
    elif word == "tool":
        put({"type": "assistant", "message": {"id": "t", "content": [{"type": "tool_use", "id": rest, "name": rest, "input": {"command": "true"}}]}})
        put({"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": rest, "content": "ok"}]}})
    elif word == "sleep":
        time.sleep(float(rest))
    elif word == "ignore":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    elif word == "exit":
        sys.exit(int(rest))
    elif word == "kill":
        os.kill(os.getpid(), int(rest))
        time.sleep(9)
    elif word in ("child", "bare"):
        env = None if word == "child" else {"PATH": os.environ["PATH"]}
        child = subprocess.Popen(["sleep", "1000"], start_new_session=True, env=env, stdin=subprocess.DEVNULL)
        with open(f"/proc/{child.pid}/stat") as stat:
            note("children", f"{child.pid} {stat.read().rsplit(') ', 1)[1].split()[19]}")
    elif word == "steps":
        many, each = rest.split()
        for _ in range(int(many)):
            say(f"step {count + 1}")
            put({"type": "step_finish", "sessionID": session, "part": {"reason": "tool-calls", "cost": float(each), "tokens": {"input": 10, "output": 5}}})
            time.sleep(0.1)
    elif word == "cost":
        cost = float(rest)
    elif word == "limit" and not resumed:
        until = int(time.time() + float(rest))
        put({"type": "rate_limit_event", "rate_limit_info": {"resetsAt": until}})
        put({"type": "result", "subtype": "success", "is_error": True, "api_error_status": 429, "result": "You've hit your limit",
             "modelUsage": used(0.25)})
        sys.exit(1)
    elif word == "write" or word == "commit":
        file, text = rest.split(" ", 1)
        with open(file, "w") as out:
            out.write(text + "\n")
        if word == "commit":
            git = ["git", "-c", "user.name=stub", "-c", "user.email=stub@example.com"]
            subprocess.run(git + ["add", file], check=True)
            subprocess.run(git + ["commit", "-q", "-m", f"stub: {file}"], check=True)
    elif word == "garbage":
        sys.stdout.write("\x1b[31m{\"type\": \"resu\nnull\n[1, 2\n\"text\"\n\x00\xff\n{}\n{\"type\":\"result\"\n")
    elif word == "silent":
        silent = True
    elif word == "fail":
        failed = rest
    elif word == "flood":
        stream, many = rest.split()
        for _ in range(int(many)):
            if stream == "err":
                sys.stderr.write(("e" * 99 + "\n") * 10486)
            else:
                say("o" * (1 << 20))
    elif word == "peak":
        with open(f"/proc/{os.getppid()}/status") as status:
            answer = str(int(re.search(r"VmHWM:\s+(\d+)", status.read())[1]) // 1024)
    elif word == "lines":
        answer = rest.replace("|", "\n")
    elif word == "stuck" and not resumed:
        say("as far as I got")
        for _ in range(5):
            sys.stderr.write('level=ERROR message="stream error" error.error="AI_APICallError: Too Many Requests"\n')
            sys.stderr.flush()
        time.sleep(600)
    elif word == "hook":
        call = {"session_id": session, "cwd": os.getcwd(), "hook_event_name": "PreToolUse", "tool_name": rest, "tool_input": {"command": "true"}}
        ran = subprocess.run([CONSORT, "hook", "claude", "PreToolUse"], input=json.dumps(call), capture_output=True, text=True)
        answer = ran.stdout or "nothing against it"
    elif word == "mcp":
        greet()
        calls = [{"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "stub", "version": "1"}}},
                 {"method": "notifications/initialized"},
                 {"id": 2, "method": "tools/call", "params": {"name": "run", "arguments": {"task": rest, "role": "scout", "wait": 20}}}]
        server = subprocess.Popen([CONSORT, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=dict(os.environ, CONSORT_SESSION=session))
        for call in calls:
            server.stdin.write(json.dumps({"jsonrpc": "2.0", **call}) + "\n")
            server.stdin.flush()
        answer = next(line for line in server.stdout if '"id":2' in line)
        server.stdin.close()
        server.wait()
    elif word == "served":
        greet()
        port, token, task = rest.split(" ", 2)
        meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientInfo": {"name": "stub", "version": "1"}, "io.modelcontextprotocol/clientCapabilities": {}}
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "run", "arguments": {"task": task, "role": "scout", "wait": 20}, "_meta": meta}}
        headers = {"authorization": f"Bearer {token}", "content-type": "application/json", "accept": "application/json, text/event-stream",
                   "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "run"}
        import http.client
        connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=60)
        connection.request("POST", "/mcp", json.dumps(call), headers)
        answer = connection.getresponse().read().decode()
    elif word == "consort":
        greet()
        environment = dict(os.environ, CONSORT_SESSION=session)
        ran = subprocess.run([CONSORT] + rest.split("|"), capture_output=True, text=True, stdin=subprocess.DEVNULL, env=environment)
        answer = f"exit {ran.returncode}: {ran.stdout}{ran.stderr}"
if silent:
    pass
elif is_claude:
    result = {"type": "result", "subtype": "success", "is_error": False, "num_turns": 1, "result": answer}
    if failed:
        result.update(is_error=True, result=failed)
    if cost is not None:
        result["modelUsage"] = used(cost)
    put(result)
else:
    say(answer or "done")
    put({"type": "step_finish", "sessionID": session, "part": {"reason": "stop", "tokens": {"input": 1, "output": 1}}})
sys.exit(1 if failed else 0)
