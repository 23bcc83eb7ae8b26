"""Runs a command at a terminal and types Ctrl-C when it has said `up`, and once more when it
has said that this ends it at once. Prints what was shown, its exit code and how many
milliseconds it took after the second."""
import os, pty, sys, time

pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
shown, typed, since = "", 0, 0
while True:
    try:
        part = os.read(terminal, 4096)
    except OSError:
        break
    if not part:
        break
    shown += part.decode()
    if typed == 0 and "  up" in shown or typed == 1 and "Ctrl-C again" in shown:
        os.write(terminal, b"\x03")
        typed, since = typed + 1, time.monotonic()
code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
print(shown)
print(f"exit {code} after {int((time.monotonic() - since) * 1000)}")
