//! Tests of ways to pass for the person or for another agent.
//!
//! Commands that weaken nothing (reading, and sending as the person) may work from a
//! terminal that a program has made; **commands that weaken protection take a
//! word typed there**. A program that reads the word and types it is not stopped:
//! it means harm, and runs as the same user.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;
use std::time::Duration;

use consort_testkit::Sealed;
use consort_testkit::attach_terminal;

/// Makes a world in which Falcon has reserved `src/`; commands that the hosting process runs are an
/// agent's.
fn world() -> Sealed {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    let world = world.with_falcon_and_raven();
    assert_eq!(world.run_as(Some("s1"), &["reserve", "src/"]).code, 0);
    world
}

/// Commands by which an agent tries to speak as the person, or to take protection away.
const TRIES: &[&str] = &[
    "holds override src/",
    "send Falcon 'as your user'",
    "release --force src/",
    "config set claims.enforcement off",
    "config set privacy.store_prompts true",
    "agent leave --agent Falcon",
    "journal rebuild",
    "uninit --yes",
    "init --yes --agent claude",
    "token new --for 'holds override'",
    "serve --port 0",
];

/// Asserts that the holder got no message from a person, and that nothing of its protection is gone.
fn assert_nothing_came_of_it(world: &Sealed, way: &str) {
    let heard = world.run_as(Some("s1"), &["inbox"]).to_string();
    assert!(!heard.contains("from your user"), "{way}: {heard}");
    let held = world.run("holds list").stdout;
    assert!(held.contains("src/") && !held.contains("everyone"), "{way}: {held}");
    assert!(world.run("who").stdout.contains("Falcon"), "{way}");
    assert_eq!(world.run("config get claims.enforcement").stdout, "block\n", "{way}");
    let explained = world.run_as(Some("s2"), &["explain", "src/a.rs"]).stdout;
    assert!(explained.contains("You may not write it."), "{way}: {explained}");
    // From a clean environment, `init --yes` counts as a script's, such as an installer's, and may
    // work: it adds protection.
    let is_clean = way.contains("environment") || way.contains("tmux");
    assert!(is_clean || !world.home().join(".claude/settings.json").exists(), "{way}");
    assert!(fs::read_dir(world.home().join(".config/consort/tokens")).is_err(), "{way}");
}

/// Runs a script in the agent's process, and waits until all of it is over.
fn as_agent(world: &Sealed, script: &str, environment: &[(&str, &str)]) -> String {
    let mut shell = world.command("bash");
    shell.args(["-c", script]).envs(environment.iter().copied());
    let (said, errors, _) = world.spawn_as_agent(&shell).output(b"");
    let done = world.path().join("done");
    for _ in 0..200 {
        if done.exists() {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let _ = fs::remove_file(&done);
    format!("{}{}", String::from_utf8_lossy(&said), String::from_utf8_lossy(&errors))
}

#[test]
fn an_agent_is_not_the_person_however_it_calls() {
    let consort = env!("CARGO_BIN_EXE_consort");
    let tries: String = TRIES.iter().map(|line| format!("timeout 3 {consort} {line}\n")).collect();
    let socket = "\"$DIR/t.sock\"";
    for (way, script) in [
        ("directly", "sh $DIR/tries.sh; touch $DIR/done".to_owned()),
        ("detached", "( (sleep .2; sh $DIR/tries.sh; touch $DIR/done) & )".into()),
        ("double fork", "( ( sh $DIR/tries.sh; touch $DIR/done ) & ) & disown -a".into()),
        ("setsid", "setsid -f sh -c 'sh $DIR/tries.sh; touch $DIR/done'".into()),
        ("nohup", "nohup sh -c 'sh $DIR/tries.sh; touch $DIR/done' >/dev/null 2>&1 & disown".into()),
        (
            "without environment",
            "setsid -f env -i HOME=$HOME DIR=$DIR PATH=$PATH sh -c 'cd $DIR/shop; sh $DIR/tries.sh; touch $DIR/done'".into(),
        ),
        ("as another session", "CONSORT_SESSION=s1 setsid -f sh -c 'sh $DIR/tries.sh; touch $DIR/done'".into()),
        ("under another name", "cp $CONSORT $DIR/x; sed s,$CONSORT,$DIR/x,g $DIR/tries.sh > $DIR/y.sh; setsid -f sh -c 'sh $DIR/y.sh; touch $DIR/done'".into()),
        (
            "tmux, detached",
            format!("env -i HOME=$HOME PATH=$PATH TERM=xterm tmux -f /dev/null -S {socket} new-session -d 'cd $DIR/shop; HOME=$HOME sh $DIR/tries.sh; touch $DIR/done'"),
        ),
        (
            "tmux, a pane more",
            format!(
                "env -i HOME=$HOME PATH=$PATH TERM=xterm tmux -f /dev/null -S {socket} new-session -d 'sleep 20'; \
                 tmux -S {socket} split-window 'cd $DIR/shop; HOME=$HOME sh $DIR/tries.sh; touch $DIR/done'"
            ),
        ),
        (
            "tmux, typed",
            format!(
                "env -i HOME=$HOME PATH=$PATH TERM=xterm tmux -f /dev/null -S {socket} new-session -d sh; sleep .3; \
                 tmux -S {socket} send-keys 'cd $DIR/shop; HOME=$HOME sh $DIR/tries.sh; touch $DIR/done' Enter"
            ),
        ),
        ("make", "printf 'all:\\n\\t@sh $(DIR)/tries.sh; touch $(DIR)/done\\n' > $DIR/Makefile; make -s -f $DIR/Makefile || touch $DIR/done".into()),
        ("after leaving", format!("{consort} agent leave; sh $DIR/tries.sh; {consort} agent join --session s2 --pid $PPID --name Raven; touch $DIR/done")),
        ("a git hook", "printf '#!/bin/sh\\nsh $DIR/tries.sh\\n' > .git/hooks/post-commit; chmod +x .git/hooks/post-commit; git -c user.name=t -c user.email=t@t commit -q --allow-empty -m x; rm .git/hooks/post-commit; touch $DIR/done".into()),
        ("a token that is none", "echo ct_00000000_00 > $DIR/token; sed 's,^timeout 3 [^ ]*,& --token-file $DIR/token,' $DIR/tries.sh > $DIR/z.sh; setsid -f sh -c 'sh $DIR/z.sh; touch $DIR/done'".into()),
        ("another pid", format!("{consort} agent join --session s1 --pid $$ --name Falcon; {consort} agent join --pid 1 --session s9; sh $DIR/tries.sh; touch $DIR/done")),
        ("a hook by hand", format!("echo '{{\"session_id\":\"s1\",\"cwd\":\"/\"}}' | setsid -w {consort} hook claude SessionEnd; touch $DIR/done")),
    ] {
        let world = world();
        let dir = world.path().display().to_string();
        fs::write(world.path().join("tries.sh"), &tries).unwrap();
        let script = script.replace("$DIR", &dir).replace("$HOME", &world.home().display().to_string());
        let script = script.replace("$(DIR)", &dir);
        let environment = [("DIR", dir.as_str()), ("CONSORT", consort), ("CONSORT_SESSION", "s2")];
        if way == "a hook by hand" {
            // Runs the hook from another process than the session's own.
            assert!(world.command("bash").args(["-c", &script]).status().unwrap().success());
        } else {
            as_agent(&world, &script, &environment);
        }
        assert_nothing_came_of_it(&world, way);
        let mut end = Command::new("tmux");
        let _ = end.arg("-S").arg(world.path().join("t.sock")).arg("kill-server").output();
    }
}

/// An agent registered for pid 1 would be found above every caller, and each of them
/// would act as that agent.
#[test]
fn an_agent_registers_nothing_above_itself() {
    let world = world();
    for way in ["", "setsid -w "] {
        let said = as_agent(
            &world,
            &format!("{way}$CONSORT agent join --pid 1 --session s9 --kind x; touch $DIR/done"),
            &[("DIR", &world.path().display().to_string()), ("CONSORT", env!("CARGO_BIN_EXE_consort"))],
        );
        assert!(!said.contains("Joined"), "{said}");
    }
    assert!(!world.run("journal tail -n 50").stdout.contains("(x"), "{}", world.run("journal tail -n 50"));
}

/// A program with a terminal that it has made itself may send messages; it may not take
/// protection away, unless it types the word.
#[test]
fn a_made_terminal_may_speak_and_not_weaken() {
    for way in ["script", "python"] {
        let world = world();
        let consort = env!("CARGO_BIN_EXE_consort");
        let try_all = |line: &str| match way {
            "script" => {
                format!("setsid -w timeout -k 1 2 script -qec '{consort} {line}' /dev/null </dev/null")
            }
            _ => format!(
                "setsid -w timeout -k 1 2 python3 -c 'import pty,sys; pty.spawn(sys.argv[1:])' {consort} {line} </dev/null"
            ),
        };
        let dir = world.path().display().to_string();
        for line in [
            "holds override src/",
            "release --force src/",
            "agent leave --agent Falcon",
            "journal rebuild",
            "uninit",
        ] {
            let mut shell = world.command("bash");
            // With a clean environment and no agent above, as any program of the user's can have it.
            shell.args(["-c", &try_all(line)]).env("DIR", &dir);
            let _ = shell.output().unwrap();
        }
        assert_nothing_came_of_it(&world, way);
    }
}

#[test]
fn the_person_types_a_word_or_has_a_token() {
    let world = world();
    // The person types a wrong word.
    let mut refuses = world.command(world.program());
    refuses.args(["holds", "override", "src/"]);
    attach_terminal(&mut refuses, false);
    let output = refuses.output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("that was not the word"));
    // The person types the right word.
    assert_eq!(world.run("holds override src/ --for 1m").code, 0);
    assert!(world.run_as(Some("s2"), &["explain", "src/a.rs"]).stdout.contains("You may write it."));

    // A program without a terminal uses a token, which works only for its own verb.
    let token = world.run("token new --for send --days 1");
    fs::write(world.path().join("token"), &token.stdout).unwrap();
    let with = |arguments: &[&str]| {
        let mut script = world.command("setsid");
        script
            .arg("-w")
            .arg(world.program())
            .args(arguments)
            .arg("--token-file")
            .arg(world.path().join("token"));
        script.output().unwrap()
    };
    let readable = with(&["send", "Falcon", "from a script"]);
    assert!(String::from_utf8_lossy(&readable.stderr).contains("chmod 600"), "{readable:?}");
    fs::set_permissions(world.path().join("token"), fs::Permissions::from_mode(0o600)).unwrap();
    assert!(with(&["send", "Falcon", "from a script"]).status.success());
    assert!(world.run_as(Some("s1"), &["inbox"]).stdout.contains("from your user"));
    let refused = with(&["holds", "override", "src/"]);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("it is for send"), "{refused:?}");
    let without = world
        .command("setsid")
        .arg("-w")
        .arg(world.program())
        .args(["send", "Falcon", "hi"])
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&without.stderr).contains("consort token new"), "{without:?}");
    for change in
        ["know save", "know import x.yjs", "know watch --once", "know cache clear", "know add principle a b"]
    {
        let mut script = world.command("setsid");
        let refused = script.arg("-w").arg(world.program()).args(change.split(' ')).output().unwrap();
        let said = String::from_utf8_lossy(&refused.stderr);
        assert!(!refused.status.success() && said.contains("consort token new"), "{change}: {said}");
    }
    // Reading takes neither a word nor a token.
    let read = world.command("setsid").arg("-w").arg(world.program()).args(["who"]).output().unwrap();
    assert!(String::from_utf8_lossy(&read.stdout).contains("Falcon"));
    // The token is revoked.
    let id = token.stdout.split('_').nth(1).unwrap().to_owned();
    assert_ne!(world.run_as(Some("s2"), &["token", "revoke", &id]).code, 0);
    assert_eq!(world.run(&format!("token revoke {id}")).code, 0);
    assert!(!with(&["send", "Falcon", "again"]).status.success());
}

#[test]
fn what_loosens_protection_has_to_be_accepted() {
    let world = world();
    let file = world.project().join(".consort/config.toml");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "[claims]\nenforcement = \"off\"\n[privacy]\nstore_prompts = true\n").unwrap();
    let who = world.run("who");
    assert!(who.stderr.contains("loosens protection and was not accepted"), "{who}");
    assert_eq!(world.run("config get claims.enforcement").stdout, "block\n");
    let doctor = world.run("doctor").stdout;
    let fix = "fix: ${EDITOR:-vi} $WORLD/shop/.consort/config.toml\n";
    assert!(doctor.contains("config accept") && doctor.contains(fix), "{doctor}");
    let explained = world.run_as(Some("s2"), &["explain", "src/a.rs"]).stdout;
    assert!(explained.contains("You may not write it."), "{explained}");
    // An agent's own environment does not loosen protection either.
    let mut loose = world.consort(["explain", "src/a.rs"]);
    let loose = world.ran(loose.env("CONSORT_SESSION", "s2").env("CONSORT_CLAIMS_ENFORCEMENT", "off"));
    assert!(loose.stdout.contains("You may not write it."), "{loose}");
    assert_eq!(world.run_as(Some("s2"), &["config", "accept"]).code, 1);
    let accepted = world.run("config accept");
    assert!(accepted.stdout.contains("claims.enforcement: block -> off"), "{accepted}");
    assert_eq!(world.run("config get claims.enforcement").stdout, "off\n");
}
