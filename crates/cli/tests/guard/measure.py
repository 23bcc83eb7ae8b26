#!/usr/bin/env python3
"""Measure which reserved paths each command of corpus.jsonl really writes.

Every command runs in a fresh copy of the fixture (tmpfs), mounted at /home/dev/shop, inside its own
mount+pid+net+ipc namespace: everything else read-only, /tmp, /home, /dev private, no capabilities, no network.
Output: truth.jsonl {"id","wrote","exit","timed_out"} and debug.jsonl (stderr tails, other paths written).
Results are cached in .cache.json by (fixture, command, cwd); --fresh ignores the cache; --selftest checks the cage.

--shield PROGRAM IDS: runs the commands whose ids are in the file IDS behind `PROGRAM shield`, as an agent's while another
one has reserved those paths, and prints which of them were written all the same.
"""
import ctypes, hashlib, json, os, resource, shutil, signal, stat, subprocess, sys, time

HERE = os.path.dirname(os.path.abspath(__file__))
RESERVED_DIRS = ["src/auth"]
RESERVED_FILES = ["config/app.yaml", "package.json", "Cargo.toml", "docs/guide.md"]
REPO = "/home/dev/shop"
TIMEOUT = 10
ENV = {
    "PATH": os.environ["PATH"],
    "HOME": "/home/dev", "USER": "dev", "LOGNAME": "dev", "LANG": "C.UTF-8", "TERM": "dumb", "SHELL": "/bin/bash", "TZ": "UTC",
    "PAGER": "cat", "GIT_PAGER": "cat", "GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0",
    "RUSTUP_HOME": os.environ.get("RUSTUP_HOME", ""), "CARGO_HOME": os.environ.get("CARGO_HOME", ""), "CARGO_NET_OFFLINE": "true", "RUSTUP_AUTO_INSTALL": "0",
    "npm_config_update_notifier": "false", "npm_config_offline": "true", "npm_config_fund": "false", "npm_config_audit": "false",
}

SHIELD_ENV = dict(ENV, CONSORT_HOME="/home/consort")

# ------------------------------------------------------------------ inside the namespace (pid 1)
def session(program, name):
    """This process hosts a session of that name from now on."""
    call = json.dumps({"session_id": name, "cwd": REPO})
    subprocess.run([program, "hook", "claude", "SessionStart"], input=call.encode(), env=SHIELD_ENV, stdout=subprocess.DEVNULL, check=True)

def holder(program):
    """Another agent, in a process of its own, that has reserved what is measured and stays."""
    r, w = os.pipe()
    if os.fork() == 0:
        session(program, "holder")
        for path in [d + "/" for d in RESERVED_DIRS] + RESERVED_FILES:
            subprocess.run([program, "reserve", path], cwd=REPO, env=SHIELD_ENV, stdout=subprocess.DEVNULL, check=True)
        os.write(w, b"x")
        while True:
            signal.pause()
    os.close(w)
    if os.read(r, 1) != b"x":
        raise OSError("nothing could be reserved")

def inner(run, cwd, cmdfile, outfile, fd):
    libc = ctypes.CDLL(None, use_errno=True)
    RO, REMOUNT, BIND, REC, PRIV, NOSUID = 1, 32, 4096, 16384, 1 << 18, 2
    def mount(src, dst, typ, flags, data=None, must=True):
        e = lambda s: s.encode() if s is not None else None
        if libc.mount(e(src), e(dst), e(typ), ctypes.c_ulong(flags), e(data)) != 0 and must:
            raise OSError(ctypes.get_errno(), f"mount {src} {dst}")
    cmd = open(cmdfile).read()
    out = open(outfile, "wb")
    mount("none", "/", None, REC | PRIV)
    mount("tmpfs", "/home", "tmpfs", NOSUID, "size=256m")
    os.makedirs(REPO)
    mount(run, REPO, None, BIND)
    mounts = [l.split()[1] for l in open("/proc/self/mounts")]
    mount("tmpfs", "/tmp", "tmpfs", NOSUID, "size=256m,mode=1777")
    dev = "/tmp/.dev"; os.mkdir(dev)
    mount("tmpfs", dev, "tmpfs", NOSUID, "size=16m,mode=755")
    for n in ("null", "zero", "full", "random", "urandom", "tty"):
        open(f"{dev}/{n}", "w").close(); mount(f"/dev/{n}", f"{dev}/{n}", None, BIND)
    for l, t in (("fd", "/proc/self/fd"), ("stdin", "/proc/self/fd/0"), ("stdout", "/proc/self/fd/1"), ("stderr", "/proc/self/fd/2")):
        os.symlink(t, f"{dev}/{l}")
    os.mkdir(f"{dev}/shm"); os.chmod(f"{dev}/shm", 0o1777)
    mount(dev, "/dev", None, BIND | REC)
    libc.umount2(dev.encode(), 2); os.rmdir(dev)
    mount("proc", "/proc", "proc", RO | NOSUID)
    for m in dict.fromkeys(mounts):
        if m.startswith(("/home", "/proc", "/dev", "/tmp")):
            continue
        mount(None, m, None, REMOUNT | BIND | RO, must=(m == "/"))
    program = os.environ.get("SHIELD_PROGRAM")
    if program:
        holder(program)
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid()
            if program:
                session(program, "runner")
            os.chdir(os.path.join(REPO, cwd))
            null = os.open("/dev/null", os.O_RDONLY)
            os.dup2(null, 0); os.dup2(out.fileno(), 1); os.dup2(out.fileno(), 2)
            os.closerange(3, 64)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 27, 1 << 27))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            os.umask(0o022)
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)
            plain = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs", "/bin/bash", "-c", cmd]
            if program:
                # Its parent hosts the session, as an agent CLI does.
                code = subprocess.call([program, "shield", "--"] + plain, env=SHIELD_ENV)
                os._exit(code & 0xff)
            os.execve("/usr/bin/setpriv", plain, ENV)
        finally:
            os._exit(126)
    deadline = time.monotonic() + TIMEOUT
    code, timed = None, False
    while True:
        try:
            p, st = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            break
        if p == pid:
            code = os.waitstatus_to_exitcode(st)
            if program:
                os.kill(-1, signal.SIGKILL)
        if p == 0:
            if time.monotonic() > deadline:
                timed = True
                os.kill(-1, signal.SIGKILL)
                break
            time.sleep(0.004)
    os.write(fd, json.dumps({"exit": code, "timed_out": timed}).encode())
    os._exit(0)

# ------------------------------------------------------------------ outside
def entry(path):
    try:
        s = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    t = stat.S_IFMT(s.st_mode)
    h = ""
    if t == stat.S_IFREG:
        h = hashlib.sha256(open(path, "rb").read()).hexdigest()
    elif t == stat.S_IFLNK:
        h = os.readlink(path)
    size = s.st_size if t != stat.S_IFDIR else 0
    return (t, stat.S_IMODE(s.st_mode), size, s.st_mtime_ns, h), (s.st_ino, s.st_ctime_ns, s.st_nlink)

def manifest(root):
    m = {}
    for f in RESERVED_FILES:
        m[f] = entry(os.path.join(root, f))
    for d in RESERVED_DIRS:
        top = os.path.join(root, d)
        m[d + "/"] = entry(top)
        if os.path.isdir(top) and not os.path.islink(top):
            for dp, dn, fn in os.walk(top):
                for n in dn + fn:
                    p = os.path.join(dp, n)
                    r = os.path.relpath(p, root)
                    isdir = os.path.isdir(p) and not os.path.islink(p)
                    m[r + ("/" if isdir else "")] = entry(p)
    return m

def quick(root):
    """everything else, for debug only"""
    m = {}
    for dp, dn, fn in os.walk(root):
        if dp == root:
            dn[:] = [d for d in dn if d not in (".git", ".remote")]
        for n in fn:
            p = os.path.join(dp, n); s = os.lstat(p); m[os.path.relpath(p, root)] = (s.st_mtime_ns, s.st_size, s.st_mode)
    return m

def diff(a, b):
    wrote, meta = [], []
    for p in sorted(set(a) | set(b)):
        x, y = a.get(p), b.get(p)
        if (x and x[0]) != (y and y[0]):
            wrote.append(p)
        elif x and y and x[1] != y[1]:
            meta.append(p)
    # a directory whose only change is its mtime is listed only if no changed entry lies directly inside it
    keep = []
    for p in wrote:
        if p.endswith("/") and a.get(p) and b.get(p) and a[p][0][:2] == b[p][0][:2]:
            if any(q != p and q.startswith(p) and (a.get(q) is None) != (b.get(q) is None) for q in wrote):
                continue
        keep.append(p)
    return keep, meta

def run_one(tmpl, work, c):
    run = os.path.join(work, "run")
    subprocess.run(["cp", "-a", tmpl, run], check=True)
    genv = {"PATH": ENV["PATH"], "HOME": work, "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", "-C", run, "update-index", "-q", "--refresh"], env=genv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    before, qb = manifest(run), quick(run)
    cmdfile, outfile = os.path.join(work, "cmd"), os.path.join(work, "out")
    open(cmdfile, "w").write(c["command"])
    r, w = os.pipe()
    t = time.monotonic()
    p = subprocess.Popen(["unshare", "--mount", "--pid", "--fork", "--net", "--ipc", "--uts", "--kill-child", sys.executable, "-I",
                          os.path.abspath(__file__), "--inner", run, c.get("cwd", "."), cmdfile, outfile, str(w)],
                         pass_fds=[w], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    os.close(w)
    try:
        _, err = p.communicate(timeout=TIMEOUT + 8)
    except subprocess.TimeoutExpired:
        p.kill(); p.communicate(); err = b"outer timeout"
    secs = time.monotonic() - t
    data = os.read(r, 65536); os.close(r)
    res = json.loads(data) if data else {"exit": None, "timed_out": True, "cage": err.decode(errors="replace")[-500:]}
    after, qa = manifest(run), quick(run)
    wrote, meta = diff(before, after)
    res["wrote"], res["meta_only"] = wrote, meta
    other = sorted(k for k in set(qa) | set(qb) if qa.get(k) != qb.get(k) and not any(k == x or k.startswith("src/auth/") for x in RESERVED_FILES))
    res["other"] = other[:12]
    out = open(outfile, "rb").read()
    res["secs"] = round(secs, 2)
    res["out"] = out[-1600:].decode(errors="replace")
    subprocess.run(["chmod", "-R", "u+rwX", run], stderr=subprocess.DEVNULL)
    subprocess.run(["rm", "-rf", run], check=True)
    return res

def main():
    os.nice(10)
    os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[-1]})
    work = f"/dev/shm/corpus-measure-{os.getpid()}"
    os.makedirs(work, mode=0o700)
    try:
        tmpl = os.path.join(work, "tmpl"); os.mkdir(tmpl)
        subprocess.run(["bash", os.path.join(HERE, "fixture.sh")], cwd=tmpl, check=True)
        if "--selftest" in sys.argv:
            r = run_one(tmpl, work, {"command": "for d in / /etc /var/tmp /usr/bin /opt /dev/shm /tmp /home/dev . /sys /run /mnt /proc/sys/kernel; do ( : > $d/.cage ) 2>/dev/null && echo WRITABLE $d || echo ro $d; done; grep CapEff /proc/self/status; ls /sys/class/net", "cwd": "."})
            print(r["out"])
            return
        if "--shield" in sys.argv:
            program, ids = sys.argv[sys.argv.index("--shield") + 1:][:2]
            os.environ["SHIELD_PROGRAM"] = os.path.abspath(program)
            wanted = set(open(ids).read().split())
            cases = [c for c in map(json.loads, open(os.path.join(HERE, "corpus.jsonl"))) if c["id"] in wanted]
            written = 0
            for c in cases:
                r = run_one(tmpl, work, c)
                if r["wrote"] or r["exit"] is None:
                    written += 1
                    print(c["id"], json.dumps(c["command"]), r["wrote"], r["out"][-200:], r.get("cage", ""), flush=True)
            print(f"{len(cases)} commands behind the shield, {written} wrote all the same")
            return
        fx = hashlib.sha256(open(os.path.join(HERE, "fixture.sh"), "rb").read()).hexdigest()
        cpath = os.path.join(HERE, ".cache.json")
        cache = {}
        if os.path.exists(cpath) and "--fresh" not in sys.argv:
            cache = json.load(open(cpath))
        corpus = [json.loads(l) for l in open(os.path.join(HERE, "corpus.jsonl"))]
        truth, dbg = [], []
        t0, n = time.time(), 0
        for c in corpus:
            k = hashlib.sha256(json.dumps([fx, c["command"], c.get("cwd", ".")]).encode()).hexdigest()
            if k not in cache:
                cache[k] = run_one(tmpl, work, c); n += 1
                if n % 100 == 0:
                    print(f"{n} run, {time.time()-t0:.0f}s", flush=True)
                    json.dump(cache, open(cpath, "w"))
            r = cache[k]
            truth.append({"id": c["id"], "wrote": r["wrote"], "exit": r["exit"], "timed_out": r["timed_out"]})
            dbg.append({"id": c["id"], "command": c["command"], **r})
        json.dump(cache, open(cpath, "w"))
        with open(os.path.join(HERE, "truth.jsonl"), "w") as f:
            f.writelines(json.dumps(t, ensure_ascii=False) + "\n" for t in truth)
        with open(os.path.join(HERE, "debug.jsonl"), "w") as f:
            f.writelines(json.dumps(t, ensure_ascii=False) + "\n" for t in dbg)
        print(f"{len(corpus)} commands, {n} run now, {time.time()-t0:.0f}s; wrote {sum(bool(t['wrote']) for t in truth)}, not {sum(not t['wrote'] for t in truth)}, timed out {sum(t['timed_out'] for t in truth)}")
    finally:
        subprocess.run(["rm", "-rf", work])

if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1] == "--inner":
        inner(sys.argv[2], sys.argv[3], sys.argv[4], sys.argv[5], int(sys.argv[6]))
    else:
        main()
