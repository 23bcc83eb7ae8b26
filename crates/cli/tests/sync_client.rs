//! Tests of `consort know sync`: two machines that share nothing but a server on one of them.

use std::fs;
use std::io::BufRead as _;
use std::io::BufReader;
use std::process::Child;
use std::process::Command;
use std::process::Stdio;
use std::time::Duration;
use std::time::Instant;

use consort_testkit::Sealed;

struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Process {
    fn end(mut self) {
        let pid = rustix::process::Pid::from_child(&self.0);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        assert!(self.0.wait().unwrap().success());
    }
}

fn world() -> Sealed {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    world.with_falcon_and_raven()
}

/// Makes a world with a clone of the repository at this address.
fn clone_of(address: &str) -> Sealed {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    world.git(&["remote", "add", "origin", address]);
    world.with_falcon_and_raven()
}

/// A URL without a project's name means the same repository, not another one of the same name.
#[test]
fn a_namesake_is_another_project() {
    let there = clone_of("https://example.com/acme/shop.git");
    add(&there, "theirs", "known there");
    let made = there.run("token new --for serve");
    let (server, port) = serve(&there, "0");
    for (address, code) in [("git@example.com:acme/shop", 0), ("https://example.com/other/shop", 1)] {
        let here = clone_of(address);
        let token = here.path().join("token-of-there");
        fs::write(&token, made.stdout.trim()).unwrap();
        let url = format!("http://127.0.0.1:{port}");
        let sync = ["know", "sync", &url, "--server-token", token.to_str().unwrap(), "--once"];
        let ran = here.run_as(None, &sync);
        assert_eq!(ran.code, code, "{address}: {ran}");
        assert_eq!(names(&here), if code == 0 { "(theirs)" } else { "()" });
    }
    server.end();
}

fn serve(world: &Sealed, port: &str) -> (Process, String) {
    let mut child = world.consort(["serve", "--port", port]).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let port = line.strip_prefix("Serving http://127.0.0.1:").unwrap().split(':').next().unwrap().to_owned();
    (Process(child), port)
}

fn add(world: &Sealed, name: &str, text: &str) {
    let ran = world.run_as(None, &["know", "add", "principle", name, text]);
    assert_eq!(ran.code, 0, "{ran}");
}

fn names(world: &Sealed) -> String {
    let ran = world.run_as(None, &["know", "query", "(sort (map :name (get-principles)))"]);
    assert_eq!(ran.code, 0, "{ran}");
    ran.stdout.trim_end().replace('"', "")
}

fn until(world: &Sealed, expected: &str) {
    let end = Instant::now() + Duration::from_secs(60);
    while names(world) != expected {
        assert!(Instant::now() < end, "{} instead of {expected}", names(world));
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Makes the server's world, another world, and a file with a token for the server.
fn two() -> (Sealed, Sealed, String) {
    let (there, here) = (world(), world());
    let made = there.run("token new --for serve");
    assert_eq!(made.code, 0, "{made}");
    let file = here.path().join("token-of-there");
    fs::write(&file, made.stdout.trim()).unwrap();
    (there, here, file.display().to_string())
}

#[test]
fn one_exchange_gives_each_what_the_other_had() {
    let (there, here, token) = two();
    add(&there, "theirs", "known there");
    add(&here, "ours", "known here");
    let (server, port) = serve(&there, "0");
    let url = format!("http://127.0.0.1:{port}/sync/shop");
    let ran = here.run_as(None, &["know", "sync", &url, "--server-token", &token, "--once"]);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(ran.stdout.starts_with("In step with 127.0.0.1:"), "{ran}");
    assert_eq!((names(&there), names(&here)), ("(ours theirs)".into(), "(ours theirs)".into()));
    let via = here.run_as(None, &["know", "query", "(@ (get-principle \"theirs\") :via)"]);
    assert_eq!(via.stdout, "\"sync\"\n");

    fs::write(here.path().join("wrong"), "nobody-knows-this-token-0123456789").unwrap();
    let wrong = here.run_as(None, &["know", "sync", &url, "--server-token", "../wrong", "--once"]);
    assert!(wrong.code == 1 && wrong.stderr.contains("refuses: 401"), "{wrong}");
    let elsewhere = format!("http://127.0.0.1:{port}/sync/nowhere");
    let unknown = here.run_as(None, &["know", "sync", &elsewhere, "--server-token", &token, "--once"]);
    assert!(unknown.code == 1 && unknown.stderr.contains("refuses: 404"), "{unknown}");
    server.end();
    let gone = here.run_as(None, &["know", "sync", &url, "--server-token", &token, "--once"]);
    assert!(gone.code == 1 && gone.stderr.contains("cannot be reached"), "{gone}");
    let https = here.run_as(None, &["know", "sync", "https://example.org", "--server-token", &token]);
    assert!(https.code == 1 && https.stderr.contains("ssh -L"), "{https}");
    let agent = here.run_as(Some("s1"), &["know", "sync", &url, "--once"]);
    assert_eq!(agent.code, 1, "an agent sends everything away: {agent}");
}

#[test]
fn it_goes_on_and_comes_back_after_the_server_was_gone() {
    let (there, here, token) = two();
    let (server, port) = serve(&there, "0");
    let mut sync: Command = here.consort(["know", "sync", &format!("http://127.0.0.1:{port}/sync/shop")]);
    sync.args(["--server-token", &token]).stdout(Stdio::null()).stderr(Stdio::null());
    let client = Process(sync.spawn().unwrap());
    add(&there, "first", "said there");
    until(&here, "(first)");
    add(&here, "second", "said here");
    until(&there, "(first second)");

    server.end();
    add(&here, "third", "while nobody served");
    add(&there, "fourth", "there, too");
    let (server, _) = serve(&there, &port);
    until(&there, "(first fourth second third)");
    until(&here, "(first fourth second third)");
    client.end();
    server.end();
}

/// A server notices files that change while nobody else looks.
#[test]
fn a_server_watches_the_files_of_those_at_work() {
    let world = world();
    fs::write(world.project().join("a.rs"), "one").unwrap();
    let ran = world.run_as(Some("s1"), &["know", "add", "file", "a.rs", "What it is"]);
    assert_eq!(ran.code, 0, "{ran}");
    let (server, _) = serve(&world, "0");
    let marks =
        || world.run("journal tail -n 50").stdout.matches("consort: something known was changed").count();
    let before = marks();
    let end = Instant::now() + Duration::from_secs(60);
    // Changes the file again and again, because the server may not have looked before the first change.
    let mut round = 0;
    while marks() == before {
        assert!(Instant::now() < end, "{}", world.run("journal tail -n 50"));
        round += 1;
        fs::write(world.project().join("a.rs"), format!("another {round}")).unwrap();
        std::thread::sleep(Duration::from_millis(300));
    }
    server.end();
}
