//! Tests of settings: five tiers, each value with its source.

use std::fs;

use consort_testkit::Sealed;
use expect_test::expect;

#[test]
fn the_nearest_tier_wins_and_is_named() {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    expect![[r#"
        presence.auto_register = true      # sessions join by themselves; off: dormant until `consort agent join`
        init.offer = true                  # offer to connect agent CLIs when the screen opens
        context.mode = full                # how much sessions are told
        context.registration = true        # tell a starting session its name and who is here (mode `full`)
        context.reply_hint = true          # say how to reply to a message (modes `full` and `minimal`)
        context.sender_details = true      # say where a sender works when it first writes (mode `full`)
        context.stale_reads = true         # say when a file that a session has read was changed by others (modes `full` and `minimal`)
        claims.enforcement = block         # how writes to others' reservations are treated
        claims.worktrees = warn            # the same in another worktree than its holder's, where nothing of the holder's is overwritten
        claims.shield = auto               # make others' reservations read-only for commands whose text does not tell what they write, where that can be done
        claims.contest_seconds = 120       # how long a holder has to answer a contest
        claims.auto_minutes = 10           # how long others are told that an agent has edited a file; 0: not at all
        convergence.enabled = true         # foresee where agents' works meet, and say so
        convergence.files = true           # count which files agents read and write, not only what they are asked
        convergence.noise =                # words that are no topics, besides the user's and the host's names
        convergence.domains = auth: login logout session sessions tok… # which topics belong together: `auth: jwt login; database: sql`
        policy.deny =                      # what no agent may do here, besides your own rules: `Bash(git push*); Edit(.env)`
        policy.ask =                       # what you are asked about first here, whatever allows it, where a CLI can ask
        knowledge.digest_tokens = 400      # how much a starting session is told of what earlier ones learned (mode `full`); 0: nothing
        knowledge.save = false             # write .consort/knowledge.yjs whenever something is recorded in the project
        privacy.store_prompts = true       # keep the beginning of prompts for handoffs; off: only a hash and the topics
        privacy.store_commands = false     # keep the commands of sessions while they last, for `know suggest`
        notify.terminal = true             # ring the terminal where you watch, and notify you by it, when an agent needs you
        notify.desktop = false             # notify you on the desktop (notify-send, osascript)
        notify.command =                   # run this with the text in $CONSORT_TEXT: `curl -d "$CONSORT_TEXT" https://ntfy.sh/<topic>`
        notify.quiet =                     # when you are not notified: `22:00-07:00`
        messages.wake_idle = true          # wake an idle session for a message, where its CLI can be woken
        messages.type_into_panes = false   # type into the pane of an idle agent that cannot be woken otherwise, when it has mail
        messages.retention_days = 30       # how long messages are kept that everyone has read
        monitor.review = asked             # when a finished agent's work is reviewed by a run that only reads: always, for those with a task, or where asked (`open --review`)
        monitor.nudge = false              # type a word into the pane of an agent that has stalled
        monitor.accept_suggestions = false # let an agent that was opened go on with what its composer suggests, three times at most
        monitor.continue_after_limit = false # type a word into the pane of an agent whose usage limit has ended, so that it goes on
        dispatch.cli =                     # which agent CLI does the work of a run for which none is named; empty: the first that is installed
        dispatch.safety = auto-edit        # the safety level of a run, unless it or its role has another
        dispatch.agents = suggest          # the safety level of a run that is started by an agent which has to ask you itself
        dispatch.depth = 2                 # how many runs may be above one another
        dispatch.timeout_minutes = 60      # how long a run may take; 0: as long as it takes
        dispatch.environment =             # which of your variables a run gets besides the usual ones and those of its CLI: `CARGO_* GOPATH`
        dispatch.copy =                    # files that git ignores and a run in a worktree of its own needs: `.env target`
        dispatch.set_up =                  # a command that makes such a worktree ready: `npm ci`
        dispatch.continue_after_limit = true # a run that has met a usage limit waits until it ends, and goes on
        dispatch.gate =                    # a command that is asked before each run: it reads it as JSON, and allows it by exit code 0, or says why not
        budget.run = 5                     # what a run may cost, in dollars; 0: as much as it takes
        budget.day = 50                    # what the runs of a project may cost in a day (UTC), in dollars; 0: as much as they take
        budget.project = 0                 # what the runs of a project may cost in all, in dollars; 0: as much as they take
        journal.retention_days = 30        # how long entries are kept that nothing depends on
        [exit 0]
    "#]]
    .assert_eq(&world.run("config list").to_string());
    world.run("config set journal.retention_days 7");
    world.run("config set --project context.mode minimal");
    let list = world.ran(
        world
            .consort(["config", "list", "--sources", "--set", "presence.auto_register=off"])
            .env("CONSORT_CONTEXT_REGISTRATION", "no"),
    );
    expect![[r#"
        presence.auto_register = false     # --set
        init.offer = true                  # default
        context.mode = minimal             # $WORLD/shop/.consort/config.toml
        context.registration = false       # $CONSORT_CONTEXT_REGISTRATION
        context.reply_hint = true          # default
        context.sender_details = true      # default
        context.stale_reads = true         # default
        claims.enforcement = block         # default
        claims.worktrees = warn            # default
        claims.shield = auto               # default
        claims.contest_seconds = 120       # default
        claims.auto_minutes = 10           # default
        convergence.enabled = true         # default
        convergence.files = true           # default
        convergence.noise =                # default
        convergence.domains = auth: login logout session sessions tok… # default
        policy.deny =                      # default
        policy.ask =                       # default
        knowledge.digest_tokens = 400      # default
        knowledge.save = false             # default
        privacy.store_prompts = true       # default
        privacy.store_commands = false     # default
        notify.terminal = true             # default
        notify.desktop = false             # default
        notify.command =                   # default
        notify.quiet =                     # default
        messages.wake_idle = true          # default
        messages.type_into_panes = false   # default
        messages.retention_days = 30       # default
        monitor.review = asked             # default
        monitor.nudge = false              # default
        monitor.accept_suggestions = false # default
        monitor.continue_after_limit = false # default
        dispatch.cli =                     # default
        dispatch.safety = auto-edit        # default
        dispatch.agents = suggest          # default
        dispatch.depth = 2                 # default
        dispatch.timeout_minutes = 60      # default
        dispatch.environment =             # default
        dispatch.copy =                    # default
        dispatch.set_up =                  # default
        dispatch.continue_after_limit = true # default
        dispatch.gate =                    # default
        budget.run = 5                     # default
        budget.day = 50                    # default
        budget.project = 0                 # default
        journal.retention_days = 7         # $WORLD/home/.config/consort/config.toml
        [exit 0]
    "#]]
    .assert_eq(&list.to_string());
    expect![[r#"
        {"key":"context.mode","source":{"project":"$WORLD/shop/.consort/config.toml"},"value":"minimal"}}
        [exit 0]
    "#]]
    .assert_eq(world.run("config get context.mode --json").to_string().split_once("\"setting\":").unwrap().1);
    expect![[r#"
        user     $WORLD/home/.config/consort/config.toml
        project  $WORLD/shop/.consort/config.toml
        [exit 0]
    "#]]
    .assert_eq(&world.run("config path").to_string());
}

#[test]
fn mistakes_are_explained() {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    expect![[r#"
        [stderr] Error: unknown key `context.mod`
        [stderr] Hint: did you mean `context.mode`?
        [exit 1]
    "#]]
    .assert_eq(&world.run("config get context.mod").to_string());
    expect![[r#"
        [stderr] Error: `never` is not a value for `journal.retention_days`
        [stderr] Hint: use a number from 1 to 36500
        [exit 1]
    "#]]
    .assert_eq(&world.run("config set journal.retention_days never").to_string());
    expect![[r#"
        [stderr] Error: `loud` is not a value for `context.mode`
        [stderr] Hint: use one of: full, minimal, none
        [exit 1]
    "#]]
    .assert_eq(&world.run("who --set context.mode=loud").to_string());
    expect![[r#"
        [stderr] Error: invalid value 'context.mode' for '--set <KEY=VALUE>': expected KEY=VALUE
        [exit 2]
    "#]]
    .assert_eq(&world.run("who --set context.mode").to_string());

    // Mistakes in a file are only warnings: a typo must not stop an agent.
    let config = world.home().join(".config/consort");
    fs::create_dir_all(&config).unwrap();
    fs::write(config.join("config.toml"), "[context]\nmdoe = \"none\"\n").unwrap();
    expect![[r#"
        full
        [stderr] Warning: $WORLD/home/.config/consort/config.toml: unknown key `context.mdoe` (did you mean `context.mode`?)
        [exit 0]
    "#]]
    .assert_eq(&world.run("config get context.mode").to_string());
    fs::write(config.join("config.toml"), "[context\n").unwrap();
    expect![[r#"
        full
        [stderr] Warning: $WORLD/home/.config/consort/config.toml is ignored: TOML parse error at line 1, column 9: unclosed table, expected `]`
        [exit 0]
    "#]].assert_eq(&world.run("config get context.mode").to_string());
    expect![[r#"
        [stderr] Error: $WORLD/home/.config/consort/config.toml cannot be changed: TOML parse error at line 1, column 9
        [stderr]   |
        [stderr] 1 | [context
        [stderr]   |         ^
        [stderr] unclosed table, expected `]`
        [stderr] Hint: fix the file, then try again; nothing was changed
        [exit 1]
    "#]]
    .assert_eq(&world.run("config set context.mode none").to_string());
    assert_eq!(fs::read_to_string(config.join("config.toml")).unwrap(), "[context\n");
}

#[test]
fn a_value_that_is_overridden_says_so() {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    let ran = world
        .ran(world.consort(["config", "set", "context.mode", "none"]).env("CONSORT_CONTEXT_MODE", "minimal"));
    expect![[r#"
        context.mode = none in $WORLD/home/.config/consort/config.toml, but it stays `minimal` here: $CONSORT_CONTEXT_MODE overrides it
        [exit 0]
    "#]]
    .assert_eq(&ran.to_string());
}

#[test]
fn what_is_unset_is_by_default_again() {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    let config = world.path().join("home/.config/consort/config.toml");
    expect![[r#"
        context.mode is not set in $WORLD/home/.config/consort/config.toml
        [exit 0]
    "#]]
    .assert_eq(&world.run("config unset context.mode").to_string());
    assert_eq!(world.run("config set context.mode none").code, 0);
    let text = fs::read_to_string(&config).unwrap();
    fs::write(&config, format!("# mine\n{text}# and this\n")).unwrap();
    expect![[r#"
        context.mode is no longer set in $WORLD/home/.config/consort/config.toml: it is `full` now, by default
        [exit 0]
    "#]]
    .assert_eq(&world.run("config unset context.mode").to_string());
    assert_eq!(fs::read_to_string(&config).unwrap(), "# mine\n[context]\n# and this\n");
    assert_ne!(world.run("config unset context.mood").code, 0);
    // To unset a value that protects more than the default takes the person, who types a word.
    assert_eq!(world.run("config set claims.contest_seconds 80000").code, 0);
    let by_agent = world.run_as(Some("s1"), &["config", "unset", "claims.contest_seconds"]);
    assert_ne!(by_agent.code, 0, "{by_agent}");
    assert!(world.run("config get claims.contest_seconds").stdout.contains("80000"));
    assert_eq!(world.run("config unset claims.contest_seconds").code, 0);
}

#[test]
fn anyone_may_spend_less_and_nobody_more() {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    let budget = |value: &str| {
        let mut command = world.consort(["config", "get", "budget.run"]);
        world.ran(command.env("CONSORT_BUDGET_RUN", value)).stdout.trim().to_owned()
    };
    assert_eq!((budget("2"), budget("9"), budget("0")), ("2".into(), "5".into(), "5".into()));
}
