"""An agent CLI for tests that looks like Claude Code: a composer, dialogs, work.

FAKE_LOG      where it notes what was submitted and answered, and when its work is over
FAKE_BLANK    seconds of a blank screen at its start, in which input is lost
FAKE_TRUST    asks whether its folder is trusted, with "No, exit" selected
FAKE_DEAF     how many Enters it ignores
FAKE_WORK     seconds that it works on a prompt (default 1)
FAKE_HANG     works for ever, and only its spinner moves
FAKE_HOOKS    runs the hooks that its settings name
FAKE_LOSE     ignores the prompt that it is started with
FAKE_RESETS   when its limit ends, in its words (default "7pm (UTC)")

A prompt with "permission" in it asks for one; with "question", a question; with "crash",
it dies; one that begins with "run " runs the rest in a shell; "deaf" alone has it ignore two Enters; with "limit" and "error", it shows those. The prompt may be an argument.
"""
import json, os, re, select, shutil, signal, subprocess, sys, termios, time, tty

log = os.environ.get("FAKE_LOG")
RULE = "─"


def note(line):
    if log:
        with open(log, "a") as out:
            out.write(line + "\n")


hooks = {}


def hook(event, **more):
    """What the hooks of an event add to what the model hears."""
    told = []
    if os.environ.get("FAKE_HOOKS"):
        call = {"session_id": f"fake-{os.getpid()}", "cwd": os.getcwd(), "hook_event_name": event, **more}
        for entry in hooks.get(event, []):
            for one in entry["hooks"]:
                ran = subprocess.run(one["command"], shell=True, input=json.dumps(call).encode(), capture_output=True)
                told.append(ran.stdout.decode("utf-8", "replace"))
    return "".join(told)


def size():
    return shutil.get_terminal_size((100, 30))


class Screen:
    def __init__(self):
        self.said, self.typed, self.menu, self.until, self.tick = [], "", None, None, 0
        self.deaf = int(os.environ.get("FAKE_DEAF", "0"))
        self.title, self.hint = "✳ Claude Code", ""

    def draw(self):
        columns, rows = size()
        lines = [" Claude Code v2.1.325", ""] + self.said[-(rows - 14):]
        if self.menu:
            lines += [RULE * columns] + self.menu["above"] + [""]
            for at, label in enumerate(self.menu["options"]):
                cursor = "❯" if at == self.menu["at"] else " "
                number = f"{at + 1}. " if self.menu["numbered"] else ""
                lines.append(f" {cursor} {number}{label}")
            lines += ["", " " + self.menu["keys"]]
        else:
            if self.until:
                glyph = "·✢✳✶✻✽"[self.tick % 6]
                lines += ["", f"{glyph} Baking… ({self.tick}s · ↓ 10 tokens)"]
            lines += ["", RULE * columns]
            typed = self.typed.split("\n")
            hint = "" if self.typed or self.until else f"\x1b[2m{self.hint}\x1b[0m"
            lines += ["❯ " + typed[0] + hint] + ["  " + more for more in typed[1:]]
            footer = "⏸ manual mode on · ? for shortcuts"
            lines += [RULE * columns, "  " + footer + (" · esc to interrupt" if self.until else "")]
        out = "\x1b[H\x1b[2J" + "\r\n".join(line[:columns] for line in lines[-rows:])
        sys.stdout.write(f"\x1b]2;{'◐' if self.until else '✳'} Claude Code\x07" + out)
        sys.stdout.flush()

    def ask(self, what):
        kinds = {
            "permission": ([" Bash command", "   rm -rf build", " Do you want to proceed?"], ["Yes", "Yes, and don't ask again", "No"], "Esc to cancel · Tab to amend", True),
            "question": (["☐ Colour", "Which colour?"], ["Red", "Blue", "Type something."], "Enter to select · ↑/↓ to navigate · Esc to cancel", True),
            "trust": ([" Quick safety check: Is this a project you trust?"], ["No, exit", "Yes, I trust this folder"], "Enter to confirm · Esc to cancel", False),
        }
        above, options, keys, numbered = kinds[what]
        self.menu = {"what": what, "above": above, "options": options, "at": 0, "keys": keys, "numbered": numbered}

    def submit(self):
        if self.deaf > 0:
            self.deaf -= 1
            return
        if not self.typed:
            return
        text, self.typed = self.typed, ""
        note("submitted: " + text.replace("\n", "\\n"))
        self.said += ["❯ " + text.split("\n")[0], ""]
        heard = hook("UserPromptSubmit", prompt=text)
        if heard:
            note("heard: " + heard.replace("\n", " "))
        self.hint = "run the tests" if "suggest" in text else ""
        if text == "deaf":
            self.deaf = 2
        if text.startswith("run "):
            subprocess.run(text[4:], shell=True, capture_output=True)
        if "crash" in text:
            os.kill(os.getpid(), 9)
        if "limit" in text:
            self.said += ["● You've hit your session limit · resets " + os.environ.get("FAKE_RESETS", "7pm (UTC)"), ""]
        elif "error" in text:
            self.said += ["● API Error: 500 the model is away", ""]
        elif "permission" in text:
            self.ask("permission")
            hook("PermissionRequest", tool_name="Bash", tool_input={"command": "rm -rf build"})
        elif "question" in text:
            self.ask("question")
        else:
            hang = 10**9 if os.environ.get("FAKE_HANG") else float(os.environ.get("FAKE_WORK", "1"))
            self.until = time.time() + hang

    def enter(self):
        if not self.menu:
            return self.submit()
        menu, self.menu = self.menu, None
        label = menu["options"][menu["at"]]
        note("answered: " + label)
        if label == "No, exit":
            sys.exit(1)
        if menu["what"] != "trust":
            self.until = time.time() + 2.5

    def key(self, key):
        if key in ("\x1b[A", "\x1b[B", "\x1bOA", "\x1bOB"):
            if self.menu:
                step = -1 if key.endswith("A") else 1
                self.menu["at"] = max(0, min(len(self.menu["options"]) - 1, self.menu["at"] + step))
        elif key == "\r":
            self.enter()
        elif key == "\x1b":
            self.until = None
        elif key == "\x03":
            sys.exit(0)
        elif not self.menu:
            self.typed += key

    def paste(self, text):
        if not self.menu:
            self.typed += text


def main():
    old = termios.tcgetattr(0)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    screen = Screen()
    try:
        tty.setraw(0)
        sys.stdout.write("\x1b[?1049h\x1b[?2004h")
        blank = float(os.environ.get("FAKE_BLANK", "0"))
        if blank:
            sys.stdout.write("\x1b[2J")
            sys.stdout.flush()
            end = time.time() + blank
            while time.time() < end:
                if select.select([0], [], [], 0.05)[0]:
                    os.read(0, 4096)
        if os.environ.get("FAKE_TRUST"):
            screen.ask("trust")
        words, prompt = sys.argv[1:], ""
        while words:
            word = words.pop(0)
            if word == "--settings":
                hooks.update(json.loads(words.pop(0)).get("hooks", {}))
            elif word == "--permission-mode":
                words.pop(0)
            elif not word.startswith("-"):
                prompt = word
        begun = False
        hook("SessionStart", source="startup")
        rest = ""
        last = None
        while True:
            if not begun and not screen.menu:
                begun = True
                if prompt and not os.environ.get("FAKE_LOSE"):
                    screen.typed = prompt
                    screen.submit()
            now = int(time.time() * 4)
            if now != last:
                last, screen.tick = now, screen.tick + 1
                if screen.until and time.time() >= screen.until:
                    screen.until = None
                    screen.said += ["● Done.", "", "✻ Baked for 1s", ""]
                    heard = hook("Stop", stop_hook_active=False)
                    if heard:
                        note("heard: " + heard.replace("\n", " "))
                    note("rests")
                screen.draw()
            if select.select([0], [], [], 0.05)[0]:
                data = rest + os.read(0, 65536).decode("utf-8", "replace")
                rest = ""
                while data:
                    if data.startswith("\x1b[200~"):
                        if "\x1b[201~" not in data:
                            rest, data = data, ""
                            break
                        text, data = data[6:].split("\x1b[201~", 1)
                        screen.paste(text)
                        continue
                    match = re.match(r"\x1b[\[O][A-D]", data)
                    key = match.group(0) if match else data[0]
                    data = data[len(key):]
                    screen.key(key)
                screen.draw()
    finally:
        sys.stdout.write("\x1b[?2004l\x1b[?1049l")
        sys.stdout.flush()
        termios.tcsetattr(0, termios.TCSADRAIN, old)
        print("Resume this session with:\nclaude --resume 0b1c2d3e-aaaa-bbbb-cccc-0123456789ab")


if "--version" in sys.argv:
    print(os.environ.get("FAKE_VERSION", "2.1.325 (Claude Code)"))
    sys.exit(0)
main()
