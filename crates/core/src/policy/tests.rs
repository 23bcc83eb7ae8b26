//! Tests of the decisions of rules, on commands that are spelt in many ways.

use super::*;
use crate::Timestamp;
use crate::journal::Number;

fn rule(text: &str) -> Rule {
    let mut words = text.splitn(3, ' ');
    let effect = match words.next() {
        Some("allow") => RuleEffect::Allow,
        Some("ask") => RuleEffect::Ask,
        _ => RuleEffect::Deny,
    };
    let tool = words.next().unwrap_or_default().to_owned();
    Rule { effect, tool, pattern: words.next().map(str::to_owned), project: None, until: None }
}

/// Builds a request from a text in which `;` separates two calls, `?` is an unknown word, and `^`
/// follows a word that leads elsewhere.
fn request(text: &str) -> PermissionRequest {
    let call = |text: &str| {
        let words =
            text.split_whitespace().map(|word| (word != "?").then(|| word.trim_end_matches('^').to_owned()));
        let is_detour = |(_, word): &(usize, &str)| word.ends_with('^');
        let detours = text.split_whitespace().enumerate().filter(is_detour).map(|(at, _)| at).collect();
        ProgramCall { words: words.collect(), detours, ..ProgramCall::default() }
    };
    let calls = text.split(';').map(call).collect();
    let commands = Commands { calls, is_read: true, is_whole: true, is_plain: true, ..Commands::default() };
    of_tool("Bash", Action::Commands(commands))
}

fn of_tool(name: &str, action: Action) -> PermissionRequest {
    PermissionRequest { tool: name.into(), name: name.into(), is_own: true, action }
}

fn said(rules: &[&str], request: &PermissionRequest) -> String {
    let rules: Vec<(Number, Rule)> = (1..).zip(rules.iter().map(|text| rule(text))).collect();
    match decide(&rules, request) {
        Some(PolicyVerdict { effect, name, .. }) => format!("{} {name}", effect.as_str()),
        None => "nothing".to_owned(),
    }
}

#[test]
fn what_a_command_does_counts_and_not_how_it_is_spelt() {
    const RULES: &[&str] = &[
        "allow Bash cargo test*",
        "allow Bash git *",
        "deny Bash git push*",
        "deny Bash rm -rf*",
        "ask Bash git commit --amend*",
        "allow Bash npm run lint",
        "allow Bash ls:*",
    ];
    let cases = [
        ("cargo test", "allow 1"),
        ("cargo test --all -- --nocapture", "allow 1"),
        ("cargo +nightly test", "allow 1"),
        ("cargo --quiet test", "allow 1"),
        ("/usr/bin/cargo test", "allow 1"),
        ("./cargo test", "nothing"),
        ("cargo build", "nothing"),
        ("cargo ?", "nothing"),
        ("cargo test ?", "allow 1"),
        ("cargo test; cargo build", "nothing"),
        ("cd sub; cargo test; echo done", "allow 1"),
        ("cd /project/sub; cargo test", "allow 1"),
        ("cd link^; cargo test", "nothing"),
        ("cargo test-more", "nothing"),
        ("cargo test --config^ x", "nothing"),
        ("git -C^ x status", "nothing"),
        ("cd ../other; cargo test", "nothing"),
        ("echo x", "nothing"),
        ("git status", "allow 2"),
        ("git push origin main", "deny 3"),
        ("git -C sub push", "deny 3"),
        ("git --no-pager push", "deny 3"),
        ("/opt/tools/git push", "deny 3"),
        ("git ?", "ask 3"),
        ("? push", "ask 3"),
        ("git -c alias.x=!sh push", "deny 3"),
        ("git log; git push", "deny 3"),
        ("git config push.default x", "allow 2"),
        ("git commit push", "allow 2"),
        ("git commit -m x --amend", "ask 5"),
        ("git commit --am", "ask 5"),
        ("git commit --amen", "ask 5"),
        ("rm -rf build", "deny 4"),
        ("rm -fr build", "deny 4"),
        ("rm -r -f build", "deny 4"),
        ("rm build -rf", "deny 4"),
        ("rm --recursive --force build", "deny 4"),
        ("rm -r build", "nothing"),
        ("rm ?", "ask 4"),
        ("cargo --config=build.rustc-wrapper=evil test", "nothing"),
        ("cargo --manifest-path ../x/Cargo.toml test", "nothing"),
        ("npm run lint", "allow 6"),
        ("npm run lint --fix", "nothing"),
        ("npm run lint:all", "nothing"),
        ("ls", "allow 7"),
        ("ls -la src", "allow 7"),
        ("lsof", "nothing"),
    ];
    for (text, expected) in cases {
        assert_eq!(said(RULES, &request(text)), expected, "{text}");
    }
}

#[test]
fn what_was_not_understood_is_never_allowed() {
    let with = |change: fn(&mut Commands)| {
        let mut request = request("cargo test");
        if let Action::Commands(commands) = &mut request.action {
            change(commands);
        }
        request
    };
    let rules = ["allow Bash cargo test*"];
    assert_eq!(said(&rules, &with(|commands| commands.is_whole = false)), "nothing");
    assert_eq!(said(&["allow Bash"], &with(|commands| commands.is_whole = false)), "nothing");
    assert_eq!(said(&["deny Bash rm*"], &with(|commands| commands.is_whole = false)), "ask 1");
    assert_eq!(said(&rules, &with(|commands| commands.redirects = true)), "nothing");
    assert_eq!(said(&rules, &with(|commands| commands.calls[0].variables = vec!["PATH".into()])), "nothing");
    let harmless = with(|commands| commands.calls[0].variables = vec!["RUST_LOG".into()]);
    assert_eq!(said(&rules, &harmless), "allow 1");
    assert_eq!(said(&rules, &with(|commands| commands.is_plain = false)), "nothing");
    assert_eq!(said(&["allow Bash"], &with(|commands| commands.is_plain = false)), "allow 1");
    let wrapped = |wrapper: &str| {
        let mut request = request("cargo test");
        if let Action::Commands(commands) = &mut request.action {
            let words = wrapper.split(' ').map(|word| Some(word.to_owned())).collect();
            commands.calls.push(ProgramCall { words, is_wrapper: true, ..ProgramCall::default() });
        }
        said(&rules, &request)
    };
    assert_eq!(wrapped("timeout 60 cargo test"), "allow 1");
    for wrapper in ["./timeout 60 cargo test", "timeout -k 1 60 cargo test", "env -C /x cargo test"] {
        assert_eq!(wrapped(wrapper), "nothing", "{wrapper}");
    }
}

#[test]
fn other_tools_are_matched_by_name_and_path() {
    let paths = |path: &str| Action::Paths(vec![PathNames { own: path.into(), anywhere: path.into() }]);
    let edit = |path: &str| of_tool("Edit", paths(path));
    let rules = [
        "allow Edit src/**",
        "deny edit **/secret*",
        "deny mcp__github__*",
        "ask WebFetch http*",
        "allow mcp__fs__*",
    ];
    assert_eq!(said(&rules, &edit("src/a.rs")), "allow 1");
    assert_eq!(said(&rules, &edit("docs/a.md")), "nothing");
    assert_eq!(said(&rules, &edit("src/secrets.rs")), "deny 2");
    assert_eq!(said(&rules, &edit("src/.git/config")), "nothing");
    assert_eq!(said(&["allow Edit **"], &edit("/etc/passwd")), "nothing");
    assert_eq!(said(&["allow Edit /etc/**"], &edit("/etc/passwd")), "allow 1");
    assert_eq!(said(&["allow Edit .github/**"], &edit(".github/x.yml")), "allow 1");
    let tool = |name: &str| of_tool(name, Action::Other);
    assert_eq!(said(&rules, &tool("mcp__github__merge")), "deny 3");
    assert_eq!(said(&rules, &tool("mcp__gitlab__merge")), "nothing");
    // A tool that a pattern cannot be compared with is asked about.
    assert_eq!(said(&rules, &tool("WebFetch")), "ask 4");
    // A guess about other tools refuses, and allows nothing.
    let guessed =
        |name: &str, path: &str| PermissionRequest { name: name.into(), is_own: false, ..edit(path) };
    assert_eq!(said(&rules, &guessed("mcp__deploy__update", "src/a.rs")), "nothing");
    assert_eq!(said(&rules, &guessed("mcp__deploy__update", "src/secrets.rs")), "deny 2");
    assert_eq!(said(&rules, &guessed("mcp__github__update", "src/a.rs")), "deny 3");
    assert_eq!(said(&rules, &guessed("mcp__fs__write", "src/a.rs")), "allow 5");
}

#[test]
fn what_a_command_writes_or_shows_is_edited_or_read() {
    let reaches = |writes: &[&str], reads: &[&str], is_off_limits: bool| {
        let reached = |path: &&str| {
            let files = crate::claims::Pattern::new(path).unwrap();
            ReachedPatterns { own: files.clone(), anywhere: files, is_off_limits }
        };
        let mut request = request("tool x");
        if let Action::Commands(commands) = &mut request.action {
            commands.writes = writes.iter().map(reached).collect();
            commands.reads = reads.iter().map(reached).collect();
        }
        request
    };
    let rules = ["deny Edit conf/.env", "deny Read *.pem", "allow Bash tool*"];
    assert_eq!(said(&rules, &reaches(&["conf/.env"], &[], false)), "deny 1");
    assert_eq!(said(&rules, &reaches(&["conf/"], &[], false)), "deny 1");
    assert_eq!(said(&rules, &reaches(&[], &["a.pem"], false)), "deny 2");
    assert_eq!(said(&rules, &reaches(&["a.pem"], &["conf/.env"], false)), "allow 3");
    assert_eq!(said(&rules, &reaches(&["a"], &[], true)), "nothing");
    assert_eq!(said(&["deny Edit"], &reaches(&["a"], &[], false)), "deny 1");
    assert_eq!(said(&["deny Edit"], &reaches(&[], &[], false)), "nothing");
}

#[test]
fn a_rule_holds_in_its_project_and_until_its_time() {
    let mut one = rule("allow Bash");
    assert!(one.holds(None, Timestamp(5)));
    one.until = Some(Timestamp(5));
    assert!(one.holds(None, Timestamp(4)) && !one.holds(None, Timestamp(5)));
}
