//! The texts of `--help`: the overview of all commands, and the examples of each page.

/// The help page of the program itself, arranged by the tasks of people and agents.
pub(crate) const OVERVIEW: &str = "\
Lets the coding agents on this machine see each other, talk, and stay out of
each other's way.

Everyday:
  who [agent], whoami   who is here; who you are
  send <to…> '<text>'   to agents, `all`, or your user (`@me`)
  reply <n> '<text>'    to a message
  inbox                 yours: --all, --wait, --sent
  chat <agent>
  reserve <path…>       keep others from writing it
  release [path…]       give it up
  explain <path>        may you write it; -- '<command>'
  wait <path>           until it is free; or --idle <agent>
  task                  list, next, claim, done, drop
  open <cli>            an agent in a pane
  run '<task>'          an agent without one; runs: list, show, stop, …
  waiting, answer       what waits for you; policy: rules
  status, up, down      overview; screen (`consort`)
Groups:
  holds                 list, contest, override, restore
  radar                 list, show, history, topics, merges
  pane                  list, screen, attach, close, …
  agent                 join, leave, rename, handoff, suggest
  know                  search, show, add, query, …
Set-up:
  init, uninit, doctor, config, roles, token, completions, with <cli>
Plumbing:
  journal, serve, mcp, shield, demo

`consort <command> --help`: options, examples. Once: `--set KEY=VALUE`.
Exit codes: 0 done, 1 not as asked, 2 wrong usage, 3 output closed,
4 refused, 5 store busy, 6 damaged, 7 timed out, 8 run failed, 255 internal
";

/// The two examples of each command, sorted by its words. A test parses them.
const EXAMPLES: &[(&str, [&str; 2])] = &[
    ("agent", ["consort agent rename Falcon", "consort agent handoff Raven --tier brief"]),
    ("agent handoff", ["consort agent handoff Raven", "consort agent handoff all --tier brief --json"]),
    (
        "agent join",
        ["consort agent join --spec login.md", "consort agent join --pid $$ --kind shell --name Heron"],
    ),
    ("agent leave", ["consort agent leave", "consort agent leave --agent Raven"]),
    ("agent rename", ["consort agent rename Falcon", "consort agent rename Falcon --agent Raven"]),
    (
        "agent suggest",
        ["consort agent suggest 'rotate the cookie key'", "consort agent suggest 'write the docs' --send"],
    ),
    ("answer", ["consort answer Falcon blue", "consort answer 2 nudge"]),
    ("chat", ["consort chat Raven", "consort chat GrandZenith"]),
    (
        "completions",
        [
            "consort completions fish > ~/.config/fish/completions/consort.fish",
            "consort completions zsh > ~/.zfunc/_consort",
        ],
    ),
    ("config", ["consort config list --sources", "consort config set context.mode minimal"]),
    ("config accept", ["consort config accept", "consort config list --sources && consort config accept"]),
    ("config get", ["consort config get claims.enforcement", "consort config get context.mode --json"]),
    ("config list", ["consort config list", "consort config list --sources"]),
    ("config path", ["consort config path", "consort config path --json"]),
    (
        "config set",
        ["consort config set context.mode minimal", "consort config set --project claims.enforcement block"],
    ),
    (
        "config unset",
        ["consort config unset context.mode", "consort config unset --project claims.enforcement"],
    ),
    ("demo", ["consort demo", "consort demo --json"]),
    ("doctor", ["consort doctor", "consort doctor --fix --yes"]),
    ("down", ["consort down", "consort down && consort pane list"]),
    ("explain", ["consort explain src/auth/login.rs", "consort explain -- 'sed -i s/a/b/ src/*.rs'"]),
    ("holds", ["consort holds list", "consort holds contest src/auth/ --reason 'the release'"]),
    (
        "holds contest",
        ["consort holds contest src/auth/", "consort holds contest topic:auth --reason 'the release'"],
    ),
    ("holds list", ["consort holds list", "consort holds list --all --json"]),
    ("holds override", ["consort holds override src/auth/", "consort holds override src/auth/ --for 1h"]),
    (
        "holds restore",
        [
            "consort holds restore src/auth/login.rs --dry-run",
            "consort holds restore src/auth/login.rs --yes",
        ],
    ),
    ("inbox", ["consort inbox --wait --timeout 5m", "consort inbox --thread 41"]),
    ("init", ["consort init --dry-run", "consort init --agent claude --mcp"]),
    ("journal", ["consort journal tail --follow", "consort journal verify"]),
    ("journal rebuild", ["consort journal rebuild", "consort journal verify || consort journal rebuild"]),
    ("journal tail", ["consort journal tail --follow", "consort journal tail --since 2h --json"]),
    ("journal verify", ["consort journal verify", "consort journal verify --json"]),
    ("know", ["consort know search retry", "consort know stale"]),
    (
        "know add",
        [
            "consort know add principle retry-twice 'Retry twice, then fail'",
            "consort know add file src/auth.rs 'Sessions and their expiry'",
        ],
    ),
    ("know adopt", ["consort know adopt retry-twice --from web", "consort know adopt small-commits"]),
    ("know apply", ["consort know apply learned.json", "consort know apply - --key nightly < learned.json"]),
    (
        "know as-of",
        ["consort know as-of 3d '(get-principles)'", "consort know as-of 2026-11-01 '(overview)'"],
    ),
    ("know cache", ["consort know cache get src/lib.rs outline", "consort know cache size"]),
    ("know cache clear", ["consort know cache clear", "consort know cache size && consort know cache clear"]),
    (
        "know cache get",
        ["consort know cache get src/lib.rs outline", "consort know cache get Cargo.lock tree > tree.txt"],
    ),
    (
        "know cache put",
        [
            "consort know cache put src/lib.rs outline < outline.txt",
            "cargo tree | consort know cache put Cargo.lock tree",
        ],
    ),
    ("know cache size", ["consort know cache size", "watch consort know cache size"]),
    ("know export", ["consort know export > knowledge.jsonl", "consort know export --markdown --to notes"]),
    ("know forget", ["consort know forget retry-twice", "consort know forget old-login --global"]),
    ("know history", ["consort know history retry-twice", "consort know history src/auth.rs"]),
    ("know import", ["consort know import knowledge.jsonl", "consort know import CLAUDE.md"]),
    ("know list", ["consort know list", "consort know list decisions"]),
    (
        "know query",
        ["consort know query '(overview)'", "consort know query '(search-knowledge \"retry\")' --json"],
    ),
    ("know renew", ["consort know renew retry-twice", "consort know renew src/auth.rs"]),
    ("know save", ["consort know save", "consort know save && git add .consort"]),
    ("know search", ["consort know search retry", "consort know search cookie session"]),
    ("know show", ["consort know show retry-twice", "consort know show src/auth.rs"]),
    ("know similar", ["consort know similar retry", "consort know similar cookie session"]),
    ("know stale", ["consort know stale", "consort know stale --global"]),
    ("know suggest", ["consort know suggest", "consort know suggest | head -3"]),
    (
        "know sync",
        ["consort know sync http://host:4917 --once", "consort know sync http://host:4917 --server-token t"],
    ),
    ("know watch", ["consort know watch", "consort know watch --once"]),
    ("mcp", ["consort mcp", "consort mcp --schemas"]),
    ("open", ["consort open claude --prompt 'fix the tests'", "consort open 2 codex --worktree"]),
    ("pane", ["consort pane list", "consort pane screen Raven"]),
    ("pane attach", ["consort pane attach Raven", "consort pane attach Raven --window"]),
    ("pane close", ["consort pane close Raven", "consort pane close --all"]),
    (
        "pane explain",
        [
            "consort pane explain Raven",
            "consort pane explain --cli gemini --capture s.txt --title '◇  Ready'",
        ],
    ),
    ("pane focus", ["consort pane focus Raven", "consort pane focus SwiftOtter"]),
    ("pane list", ["consort pane list", "consort pane list --json"]),
    ("pane screen", ["consort pane screen Raven -n 20", "consort pane screen Raven --follow"]),
    ("pane watch", ["consort pane watch", "consort pane watch Raven --json"]),
    ("policy", ["consort policy list", "consort policy add deny Bash 'git push*'"]),
    (
        "policy add",
        [
            "consort policy add allow Bash 'cargo test*' --in project --for 2h",
            "consort policy add deny Edit '.env'",
        ],
    ),
    ("policy list", ["consort policy list", "consort policy list --json"]),
    ("policy remove", ["consort policy remove 3", "consort policy remove 12"]),
    (
        "policy test",
        ["consort policy test allow Bash 'cargo test*'", "consort policy test --since 2h --json"],
    ),
    ("radar", ["consort radar", "consort radar show 4"]),
    ("radar history", ["consort radar history", "consort radar history --json"]),
    ("radar list", ["consort radar list", "consort radar list --watch"]),
    ("radar merges", ["consort radar merges", "consort radar merges --all --quiet"]),
    ("radar show", ["consort radar show 4", "consort radar show 4 --json"]),
    ("radar topics", ["consort radar topics", "consort radar topics set auth jwt cookie"]),
    ("radar topics forget", ["consort radar topics forget jwt", "consort radar topics forget jwt cookie"]),
    (
        "radar topics set",
        ["consort radar topics set auth jwt cookie", "consort radar topics set database sql"],
    ),
    ("release", ["consort release", "consort release src/auth/ docs/login.md"]),
    ("reply", ["consort reply 41 'Yes, in src/cart.rs'", "consort reply 41 - < answer.md"]),
    (
        "reserve",
        [
            "consort reserve src/auth/ --reason 'login() becomes sign_in()'",
            "consort reserve topic:auth --advisory --ttl 2h",
        ],
    ),
    ("roles", ["consort roles list", "consort roles show reviewer"]),
    ("roles list", ["consort roles list", "consort roles list --json"]),
    ("roles set", ["consort roles set reviewer model opus", "consort roles set mine cli pi --new"]),
    ("roles show", ["consort roles show reviewer", "consort roles show dev --json"]),
    ("roles validate", ["consort roles validate", "consort roles validate .consort/roles.toml"]),
    (
        "run",
        [
            "consort run 'explain how the tests are started' --role scout",
            "consort run --file task.md --worktree --detach",
        ],
    ),
    ("runs", ["consort runs list", "consort runs logs -f 3"]),
    ("runs attach", ["consort runs attach 3", "consort runs attach 3 --json"]),
    ("runs audit", ["consort runs audit", "consort runs audit --json"]),
    (
        "runs batch",
        [
            "consort runs batch tasks.txt --concurrency 2",
            "consort runs batch 'fix a.rs' 'fix b.rs' --worktree",
        ],
    ),
    (
        "runs chain",
        ["consort runs chain steps.toml", "consort runs chain steps.toml --original 'add a login page'"],
    ),
    ("runs cost", ["consort runs cost", "consort runs cost --days 7 --json"]),
    ("runs list", ["consort runs list", "consort runs list --open --json"]),
    ("runs logs", ["consort runs logs 3", "consort runs logs -f 3"]),
    ("runs reset", ["consort runs reset", "consort runs list && consort runs reset"]),
    ("runs resume", ["consort runs resume 3", "consort runs resume 3 'now the docs too'"]),
    ("runs retry", ["consort runs retry 3", "consort runs retry 3 --detach"]),
    ("runs show", ["consort runs show 3", "consort runs show 3 --json"]),
    ("runs stop", ["consort runs stop 3", "consort runs stop --all"]),
    ("send", ["consort send Raven -t question 'Do you call login()?'", "consort send all - < notes.md"]),
    ("serve", ["consort serve", "consort serve --port 8080"]),
    ("shield", ["consort shield -- make test", "consort shield -- ./configure --prefix=/tmp/out"]),
    ("status", ["consort status", "consort status --line"]),
    ("task", ["consort task --spec login.md", "consort task next"]),
    ("task claim", ["consort task claim TASK-02", "consort task claim TASK-02 --spec login.md"]),
    ("task done", ["consort task done", "consort task done TASK-02 --notes 'see docs/login.md'"]),
    ("task drop", ["consort task drop", "consort task drop TASK-02 --spec login.md"]),
    ("task list", ["consort task list --ready", "consort task list --spec login.md --json"]),
    ("task next", ["consort task next", "consort task next --spec login.md --reason 'the login'"]),
    ("token", ["consort token new --for send,reserve > ~/.deploy-token", "consort token list"]),
    ("token list", ["consort token list", "consort token list --json"]),
    (
        "token new",
        [
            "consort token new --for send,reserve > ~/.deploy-token",
            "consort token new --for 'holds override' --days 1",
        ],
    ),
    (
        "token revoke",
        ["consort token revoke 3f9a01c2", "consort token list && consort token revoke 3f9a01c2"],
    ),
    ("uninit", ["consort uninit --dry-run", "consort uninit --agent codex"]),
    ("up", ["consort up", "consort up --plain"]),
    ("wait", ["consort wait src/auth/ --timeout 90s", "consort wait --idle Raven"]),
    ("waiting", ["consort waiting", "consort waiting --follow"]),
    ("who", ["consort who --all", "consort who Raven"]),
    ("with", ["consort with claude", "consort with codex exec 'fix the tests'"]),
];

/// Returns an example of the command with these words.
pub(crate) fn example(words: &str) -> Option<&'static str> {
    let at = EXAMPLES.binary_search_by_key(&words, |(words, _)| words).ok()?;
    Some(EXAMPLES[at].1[0])
}

/// Adds an example section to the end of every page.
pub(crate) fn with_examples(command: clap::Command) -> clap::Command {
    below(command, "")
}

fn below(mut command: clap::Command, words: &str) -> clap::Command {
    if let Ok(at) = EXAMPLES.binary_search_by_key(&words, |(words, _)| words) {
        let [one, other] = EXAMPLES[at].1;
        command = command.after_help(format!("Examples:\n  {one}\n  {other}"));
    }
    let inner: Vec<String> = command.get_subcommands().map(|inner| inner.get_name().to_owned()).collect();
    for name in inner {
        let words = if words.is_empty() { name.clone() } else { format!("{words} {name}") };
        command = command.mut_subcommand(&name, |inner| below(inner, &words));
    }
    command
}

#[cfg(test)]
mod tests {
    use consort_testkit::tokens;

    use super::*;
    use crate::args::command;
    use crate::args::parse;

    /// Collects every page that is shown, with the words of its command.
    fn pages(command: &clap::Command, above: &str, found: &mut Vec<(String, clap::Command)>) {
        for inner in
            command.get_subcommands().filter(|inner| !inner.is_hide_set() && inner.get_name() != "help")
        {
            let words = format!("{above}{}", inner.get_name());
            pages(inner, &format!("{words} "), found);
            found.push((words, inner.clone()));
        }
    }

    fn all_pages() -> Vec<(String, clap::Command)> {
        let (mut found, root) = (Vec::new(), command());
        pages(&root, "", &mut found);
        found.sort_by(|one, other| one.0.cmp(&other.0));
        found
    }

    #[test]
    fn every_page_has_two_examples_that_can_be_typed() {
        let found = all_pages();
        let pages: Vec<&str> = found.iter().map(|(words, _)| words.as_str()).collect();
        let listed: Vec<&str> = EXAMPLES.iter().map(|(words, _)| *words).collect();
        assert_eq!(pages, listed, "each page has its line in `EXAMPLES`, sorted");
        for (words, examples) in EXAMPLES {
            for example in examples {
                assert!(example.chars().count() <= 78, "{example}");
                // Only the part between the shell's operators is ours.
                let start = example.find("consort ").unwrap();
                let ends = [" > ", " < ", " | ", " && ", " || "];
                let end = ends.iter().filter_map(|end| example[start..].find(end)).min();
                let typed = typed_words(&example[start..end.map_or(example.len(), |end| start + end)]);
                let own = format!("consort {words}");
                let is_own = example[start..].starts_with(&own) || example.contains(&format!(" {own}"));
                assert!(is_own, "`{example}` is no example of `{words}`");
                if let Err(error) = parse(typed.iter().map(Into::into)) {
                    panic!("{example}: {error}");
                }
            }
        }
    }

    /// Splits a line into words as a shell would: quotes hold together.
    fn typed_words(line: &str) -> Vec<String> {
        let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
        for c in line.chars() {
            match (c, quote) {
                ('\'', None) => quote = Some(c),
                (c, Some(open)) if c == open => quote = None,
                (' ', None) => words.push(std::mem::take(&mut word)),
                ('$', None) => word.push('1'),
                (c, _) => word.push(c),
            }
        }
        words.push(word);
        words.retain(|word| !word.is_empty());
        words
    }

    #[test]
    fn every_page_fits_eighty_columns() {
        let mut lines: Vec<(String, String)> = Vec::new();
        for (words, mut page) in all_pages() {
            for text in [page.render_help().to_string(), page.render_long_help().to_string()] {
                lines.extend(text.lines().map(|line| (words.clone(), line.to_owned())));
            }
        }
        lines.extend(OVERVIEW.lines().map(|line| (String::new(), line.to_owned())));
        let long: Vec<_> = lines.iter().filter(|(_, line)| line.chars().count() > 80).collect();
        assert!(long.is_empty(), "{long:#?}");
    }

    #[test]
    fn the_overview_is_short_and_names_every_command() {
        let cost = tokens(OVERVIEW);
        assert!(cost <= 400, "{cost} tokens");
        let is_named = |word: &str| {
            OVERVIEW.split(|c: char| !c.is_alphanumeric() && c != '-').any(|named| named == word)
        };
        for (words, _) in all_pages() {
            let mut words = words.split(' ');
            let top = words.next().unwrap_or_default();
            assert!(is_named(top), "`{top}` is not in the overview");
        }
        for group in ["holds", "radar", "agent", "task"] {
            let root = command();
            let inner = root.find_subcommand(group).unwrap().get_subcommands();
            for inner in inner.filter(|inner| inner.get_name() != "help") {
                assert!(is_named(inner.get_name()), "`{group} {}`", inner.get_name());
            }
        }
    }

    #[test]
    fn common_guesses_are_understood() {
        for (guess, meant) in [
            ("ls", "who"),
            ("list", "who"),
            ("agents", "who"),
            ("msg Raven hi", "send"),
            ("message Raven hi", "send"),
            ("lock a.rs", "reserve"),
            ("unlock", "release"),
            ("history", "journal tail"),
            ("connect", "init"),
            ("check a.rs", "explain"),
        ] {
            let words = std::iter::once("consort").chain(guess.split(' ')).map(Into::into);
            assert_eq!(parse(words).unwrap().1, meant, "{guess}");
        }
    }
}
