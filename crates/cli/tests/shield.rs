//! Tests of `consort shield -- <command>`, with real namespaces.

use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::fs::symlink;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::Command;
use std::process::Stdio;

use consort_testkit::Ran;
use consort_testkit::Sealed;
use serde_json::json;

/// Makes a world in which Falcon holds `held`; other paths are free.
fn world(held: &[&str]) -> Sealed {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    for file in ["src/auth/login.rs", "src/auth/deep/a.rs", "src/cart.rs", "src/other.txt", "gen/one.json"] {
        let path = world.project().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "before\n").unwrap();
    }
    // The command that runs this script does not tell what the script writes.
    fs::write(world.project().join("try.py"), "open('src/auth/login.rs', 'a').write('y\\n')\n").unwrap();
    let world = world.with_falcon_and_raven();
    for path in held {
        let ran = world.run_as(Some("s1"), &["reserve", path]);
        assert_eq!(ran.code, 0, "{ran}");
    }
    world
}

/// Runs a command of Raven's behind the shield.
fn shielded(world: &Sealed, words: &[&str]) -> Ran {
    let words: Vec<&str> = ["shield", "--"].iter().chain(words).copied().collect();
    world.run_as(Some("s2"), &words)
}

/// Runs a script whose text does not tell what it writes behind the shield.
fn opaque(world: &Sealed, script: &str) -> Ran {
    shielded(world, &["sh", "-c", &format!("$NOTHING true; {script}")])
}

fn content(world: &Sealed, path: &str) -> String {
    fs::read_to_string(world.project().join(path)).unwrap()
}

#[test]
fn what_others_have_reserved_is_read_only_and_the_rest_is_not() {
    let world = world(&["src/auth/", "src/cart.rs", "gen/*.json"]);
    fs::write(world.project().join("gen/two.json"), "before\n").unwrap();
    fs::write(world.project().join("gen/free.txt"), "before\n").unwrap();
    for path in ["src/auth/login.rs", "src/auth/deep/a.rs", "src/cart.rs", "gen/one.json", "gen/two.json"] {
        let ran = opaque(&world, &format!("echo x >> {path}"));
        assert!(ran.code != 0 && ran.stderr.contains("Read-only file system"), "{path}: {ran}");
        assert_eq!(content(&world, path), "before\n");
    }
    for path in ["src/other.txt", "gen/free.txt", "gen/new.json", "src/new.rs"] {
        let ran = opaque(&world, &format!("echo x >> {path}"));
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{path}");
    }
    // A new file in a reserved directory fails, and so does replacing or removing a reserved file.
    let ran = opaque(&world, "echo x > src/auth/new.rs");
    assert!(ran.stderr.contains("Read-only file system"), "{ran}");
    for script in
        ["mv src/other.txt src/cart.rs", "rm src/cart.rs", "mv src/cart.rs src/x.rs", "rm -r src/auth"]
    {
        let ran = opaque(&world, script);
        let is_told = ["Device or resource busy", "Read-only file system"]
            .iter()
            .any(|error| ran.stderr.contains(error));
        assert!(ran.code != 0 && is_told, "{script}: {ran}");
    }
    assert_eq!(content(&world, "src/cart.rs"), "before\n");
    // Reading still works, and the mounts are not visible outside.
    assert_eq!(opaque(&world, "cat src/auth/login.rs").stdout, "before\n");
    fs::write(world.project().join("src/auth/login.rs"), "Falcon's\n").unwrap();
    assert_eq!(fs::read_to_string("/proc/self/mountinfo").unwrap().matches("/src/auth").count(), 0);
}

#[test]
fn its_holder_and_what_its_text_tells_are_not_shielded() {
    let world = world(&["src/auth/"]);
    let ran =
        world.run_as(Some("s1"), &["shield", "--", "sh", "-c", "$NOTHING true; echo x >> src/auth/login.rs"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran}");
    // A command whose text tells what it writes is left to the guard, and not shielded.
    let ran = shielded(&world, &["sh", "-c", "echo x >> src/auth/login.rs"]);
    assert_eq!(ran.code, 0, "{ran}");
    for script in ["sudo() { :; }; sudo", "npm() { :; }; npm run dev", "sleep 0 & wait"] {
        let ran = opaque(&world, &format!("{script}; echo x >> src/auth/login.rs"));
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{script}");
    }
    // A command that the agent runs in the background is not shielded.
    let text = "python3 try.py";
    let call = json!({ "session_id": "s2", "cwd": world.project(), "tool_name": "Bash", "tool_use_id": "t",
        "tool_input": { "command": text, "run_in_background": true } });
    assert_eq!(world.hook("PreToolUse", &call).code, 0);
    assert_eq!(shielded(&world, &["sh", "-c", text]).code, 0);
    assert!(content(&world, "src/auth/login.rs").ends_with("y\n"));
}

/// A process that stays behind the shield is listed once nobody has reserved its paths any more.
#[test]
fn who_stays_behind_a_shield_that_nobody_needs_is_listed() {
    let world = world(&["src/auth/"]);
    let daemon = "import subprocess as s; null = s.DEVNULL; p = s.Popen(['sleep', '600'], stdin=null, stdout=null, \
                  stderr=null, start_new_session=True); print(p.pid)";
    let ran = shielded(&world, &["python3", "-c", daemon]);
    let pid = ran.stdout.trim().to_owned();
    assert!(pid.parse::<u32>().is_ok(), "{ran}");
    let held = world.run("who Raven").stdout;
    assert_eq!(world.run_as(Some("s1"), &["release"]).code, 0);
    let free = world.run("who Raven").stdout;
    assert_eq!(world.ran(world.command("kill").arg(&pid)).code, 0);
    assert!(!held.contains("behind the shield"), "{held}");
    assert!(free.contains(&format!("Process {pid} still runs behind the shield (\"sleep 600\")")), "{free}");
    assert!(free.contains("nobody has reserved any more: src/auth"), "{free}");
}

#[test]
fn settings_and_overrides_count() {
    let world = world(&["src/auth/"]);
    let write = || opaque(&world, "echo x >> src/auth/login.rs").code;
    assert_ne!(write(), 0);
    // An agent's environment does not loosen protection.
    let mut command =
        world.consort(["shield", "--", "sh", "-c", "$NOTHING true; echo x >> src/auth/login.rs"]);
    let ran = world.ran(command.env("CONSORT_SESSION", "s2").env("CONSORT_CLAIMS_SHIELD", "off"));
    assert_ne!(ran.code, 0, "{ran}");
    assert_eq!(world.run("holds override src/auth/login.rs").code, 0);
    assert_eq!(write(), 0);
    assert_ne!(opaque(&world, "echo x >> src/auth/deep/a.rs").code, 0);
    assert_eq!(world.run("config set claims.shield off").code, 0);
    assert_eq!(opaque(&world, "echo x >> src/auth/deep/a.rs").code, 0);
    assert_eq!(world.run("config set claims.shield auto").code, 0);
    assert_ne!(opaque(&world, "echo x >> src/auth/deep/a.rs").code, 0);
    assert_eq!(world.run("config set claims.enforcement warn").code, 0);
    assert_eq!(opaque(&world, "echo x >> src/auth/deep/a.rs").code, 0);
}

/// A command sees its process as it would without the shield.
#[test]
fn the_command_is_as_it_would_have_been() {
    let world = world(&["src/auth/"]);
    let look = "$NOTHING true; echo $$ $PPID; pwd; id; ps -o pgid=,sid=,tty= -p $$; grep -E '^(Sig|Shd)' /proc/self/status; \
                ulimit -a; umask; env | sort | grep -v '^_='; ls -l /proc/$$/fd | wc -l; printf '%s|' \"$0\" \"$@\"";
    // By `exec` from `sh`, so that both have the same parent.
    let run = |shield: &str| {
        let script = format!(
            "cd src/auth/deep; trap '' USR1 PIPE; {shield} sh -c '{}' zero 'a b' \"it's\" ''",
            look.replace('\'', r"'\''")
        );
        let mut command = world.command("sh");
        command.args(["-c", &script]).env("CONSORT_SESSION", "s2").env("ODD", "a\nb");
        let ran = world.ran(&mut command);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran}");
        let (pid, rest) = ran.stdout.split_once('\n').unwrap();
        let (pid, parent) = pid.split_once(' ').unwrap();
        rest.replace(&format!("{pid} "), "$PID ").replace(&format!("{parent} "), "$PARENT ")
    };
    let plain = run("exec");
    let shielded = run(&format!("exec {} shield --", env!("CARGO_BIN_EXE_consort")));
    let numbers = |text: &str| text.chars().filter(|c| !c.is_ascii_digit()).collect::<String>();
    assert_eq!(numbers(&plain), numbers(&shielded));
    let signals =
        |text: &str| text.lines().filter(|line| line.starts_with("Sig")).collect::<Vec<_>>().join("\n");
    assert_eq!(signals(&plain), signals(&shielded));
    // The shield works also inside a reserved directory, for a relative name.
    let script = format!(
        "cd src/auth; exec {} shield -- sh -c '$NOTHING true; echo x > login.rs'",
        env!("CARGO_BIN_EXE_consort")
    );
    let mut command = world.command("sh");
    let ran = world.ran(command.args(["-c", &script]).env("CONSORT_SESSION", "s2"));
    assert!(ran.stderr.contains("Read-only file system"), "{ran}");
}

#[test]
fn exit_codes_signals_input_and_bytes_pass_through() {
    let world = world(&["src/auth/"]);
    for code in [0, 1, 3, 126, 255] {
        assert_eq!(opaque(&world, &format!("exit {code}")).code, code);
    }
    let missing = shielded(&world, &["consort-no-such-program"]);
    assert_eq!((missing.code, missing.stdout.as_str()), (127, ""), "{missing}");
    let start = |words: &[&OsStr]| {
        let mut command = world.command(env!("CARGO_BIN_EXE_consort"));
        command.arg("shield").arg("--").args(words);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    // A signal reaches the command itself, and is reported as what ended it.
    let mut child = start(&["sh", "-c", "$NOTHING true; echo up; exec sleep 600"].map(OsStr::new));
    let mut up = [0; 3];
    std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut up).unwrap();
    let kill = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    assert_eq!(child.wait().unwrap().signal(), Some(15));
    // Bytes that are not UTF-8 pass unchanged, in and out.
    let odd = OsStr::from_bytes(b"\xff\xfe a'b");
    let mut child = start(&[
        OsStr::new("sh"),
        OsStr::new("-c"),
        OsStr::new("$NOTHING true; cat; printf '%s' \"$1\""),
        OsStr::new("0"),
        odd,
    ]);
    child.stdin.take().unwrap().write_all(b"\x00\xffin").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(0), &b"\x00\xffin\xff\xfe a'b"[..]));
    // `yes | head` ends because the pipe does.
    let script =
        format!("{} shield -- sh -c '$NOTHING true; exec yes' | head -1", env!("CARGO_BIN_EXE_consort"));
    let ran = world.ran(world.command("sh").args(["-c", &script]));
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "y\n", ""));
}

#[test]
fn odd_names_links_and_what_is_not_there_are_no_trouble() {
    let world = world(&["src/a b'c.rs", "missing.rs", "not/there/", "src/link.rs", "src/auth/"]);
    fs::write(world.project().join("src/a b'c.rs"), "before\n").unwrap();
    symlink("other.txt", world.project().join("src/link.rs")).unwrap();
    let ran = opaque(&world, "echo x >> \"src/a b'c.rs\"");
    assert!(ran.stderr.contains("Read-only file system"), "{ran}");
    // A missing path cannot be mounted; the check after the command covers it.
    assert_eq!(opaque(&world, "echo x > missing.rs").code, 0);
    // A shield within a shield.
    let nested = format!(
        "{} shield -- sh -c '$NOTHING true; echo x >> src/auth/login.rs'",
        env!("CARGO_BIN_EXE_consort")
    );
    let ran = opaque(&world, &nested);
    assert!(ran.stderr.contains("Read-only file system"), "{ran}");
}

#[test]
fn a_command_runs_whatever_is_wrong_with_us() {
    let world = world(&["src/auth/"]);
    let run = |change: &dyn Fn(&mut Command)| {
        let mut command = world.consort(["shield", "--", "sh", "-c", "$NOTHING true; echo ran"]);
        change(&mut command);
        world.ran(command.env("CONSORT_SESSION", "s2"))
    };
    for change in [
        &(|command: &mut Command| _ = command.env_remove("HOME")) as &dyn Fn(&mut Command),
        &|command| _ = command.env("CONSORT_HOME", "/proc/nowhere"),
        &|command| _ = command.env("CONSORT_HOME", "relative"),
    ] {
        let ran = run(change);
        assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "ran\n", ""));
    }
    fs::write(world.data().join("consort.db"), "no database").unwrap();
    fs::write(world.data().join("published/store"), "nor this").unwrap();
    let ran = run(&|_| {});
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "ran\n", ""));
}

/// An ordinary user needs a user namespace, and has the same id in it.
#[test]
fn it_works_for_an_ordinary_user() {
    let world = world(&["src/auth/", "src/cart.rs"]);
    let is_root = fs::metadata("/proc/self").unwrap().uid() == 0;
    // The first command brings the published files up to date.
    assert_eq!(world.run("who").code, 0);
    let as_user = |script: &str, flags: &[&str]| {
        let mut command = if is_root { world.command("setpriv") } else { world.command("env") };
        if is_root {
            command.args(["--reuid=1000", "--regid=1000", "--clear-groups"]).args(flags);
        }
        command.args([env!("CARGO_BIN_EXE_consort"), "shield", "--", "sh", "-c", script]);
        command.stdin(Stdio::null());
        let output = command.output().unwrap();
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    if is_root {
        let mut chown = Command::new("chown");
        assert!(chown.args(["-R", "1000:1000"]).arg(world.path()).status().unwrap().success());
    }
    let script = "$NOTHING true; id -u; id -g; pwd; echo x >> src/other.txt && echo written; stat -c %u src/other.txt; \
                  echo x >> src/auth/login.rs; mv src/other.txt src/cart.rs";
    let (stdout, stderr) = as_user(script, &[]);
    let lines: Vec<&str> = stdout.lines().collect();
    assert_eq!(lines.len(), 5, "{stdout}{stderr}");
    assert!(lines[0] == lines[4] && lines[0] != "65534" && lines[3] == "written", "{stdout}{stderr}");
    assert_eq!(Path::new(lines[2]), world.project().canonicalize().unwrap());
    assert!(stderr.contains("Read-only file system") && stderr.contains("busy"), "{stderr}");
    assert_eq!(content(&world, "src/auth/login.rs"), "before\n");
    // The command cannot remove the mounts.
    let (_, stderr) = as_user(
        "$(echo tnuom | rev) -o remount,rw,bind src/auth src/auth 2>&1; echo x >> src/auth/login.rs",
        &[],
    );
    assert_eq!(content(&world, "src/auth/login.rs"), "before\n", "{stderr}");
}

/// This is the case in a container that forbids namespaces.
#[test]
fn without_namespaces_the_command_runs_as_it_is() {
    if !consort_testkit::mounts::ensure_own_mounts("shield::without_namespaces_the_command_runs_as_it_is") {
        return;
    }
    let world = world(&["src/auth/"]);
    let limits = ["/proc/sys/user/max_user_namespaces", "/proc/sys/user/max_mnt_namespaces"];
    let script = format!(
        "for l in {}; do echo 0 > $l || exit 9; done; setpriv --bounding-set=-all --inh-caps=-all true; \
         exec setpriv --bounding-set=-all {} shield -- sh -c '$NOTHING true; id -u; echo x >> src/auth/login.rs && echo ran'",
        limits.join(" "),
        env!("CARGO_BIN_EXE_consort")
    );
    // In a user namespace of its own, so that the limits apply only there.
    let mut command = world.command("unshare");
    let output = command.args(["--user", "--map-root-user", "sh", "-c", &script]).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(
        (String::from_utf8_lossy(&output.stdout).as_ref(), output.status.code()),
        ("0\nran\n", Some(0)),
        "{told}"
    );
}

/// The agent is told who holds the path that it could not write, and nothing if nothing failed.
#[test]
fn the_agent_reads_who_holds_what_it_could_not_write() {
    let world = world(&["src/auth/"]);
    let text = "python3 try.py";
    let call = |more: serde_json::Value| {
        let mut call = json!({ "tool_use_id": "t", "tool_input": { "command": text } });
        call.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
        call
    };
    let _ = world.hook_text("s2", "PreToolUse", &call(json!({})));
    let ran = shielded(&world, &["sh", "-c", text]);
    let told = world.hook_text(
        "s2",
        "PostToolUseFailure",
        &call(json!({ "error": format!("Exit code 1\n{}", ran.stderr) })),
    );
    let told = told.unwrap();
    for part in [
        "src/auth/ (reserved by Falcon",
        "Read-only file system",
        "consort send Falcon",
        "consort wait --timeout 90s 'src/auth/'",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    // It is told once for each command, and nothing for a command that met no reserved path.
    let again =
        world.hook_text("s2", "PostToolUseFailure", &call(json!({ "error": "Read-only file system" })));
    assert!(!again.unwrap_or_default().contains("read-only"));
    let _ = opaque(&world, "true");
    assert!(
        !world
            .hook_text("s2", "PostToolUse", &call(json!({ "tool_response": { "stdout": "" } })))
            .unwrap_or_default()
            .contains("read-only")
    );
}

#[test]
fn more_paths_than_can_be_mounted_are_told_and_not_shielded() {
    let world = world(&["many/*.txt"]);
    fs::create_dir_all(world.project().join("many")).unwrap();
    for n in 0..1_001 {
        fs::write(world.project().join(format!("many/{n}.txt")), "").unwrap();
    }
    let call = json!({ "tool_use_id": "t", "tool_input": { "command": "$NOTHING true" } });
    let _ = world.hook_text("s2", "PreToolUse", &call);
    assert_eq!(opaque(&world, "echo x > many/1.txt").code, 0);
    let told = world.hook_text("s2", "PostToolUse", &call).unwrap();
    assert!(told.contains("more than 1000 files"), "{told}");
    fs::remove_file(world.project().join("many/0.txt")).unwrap();
    assert_ne!(opaque(&world, "echo x > many/1.txt").code, 0);
}
