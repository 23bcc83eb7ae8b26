//! The list of all settings: each key with its type, default and meaning.

/// A setting: its dotted name, what it may hold, and what it does.
#[derive(Debug)]
pub struct Key {
    pub name: &'static str,
    pub kind: ValueKind,
    /// Hooks need it, so it is published into the store.
    pub for_hooks: bool,
    pub about: &'static str,
}

/// What a setting's value looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    Flag,
    Number {
        least: i64,
        most: i64,
    },
    Choice(&'static [&'static str]),
    /// Words, with spaces or commas between them.
    Words,
    /// `auth: jwt login; database: sql`.
    Domains,
    /// `Bash(git push*); Edit(.env)`.
    Rules,
    /// `22:00-07:00`, or nothing.
    Hours,
    /// `2.5`: an amount of money.
    Dollars,
}

/// Every setting there is.
pub const KEYS: &[Key] = &[
    Key {
        name: "presence.auto_register",
        kind: ValueKind::Flag,
        for_hooks: true,
        about: "sessions join by themselves; off: dormant until `consort agent join`",
    },
    Key {
        name: "context.mode",
        kind: ValueKind::Choice(&["full", "minimal", "none"]),
        for_hooks: true,
        about: "how much sessions are told",
    },
    Key {
        name: "context.registration",
        kind: ValueKind::Flag,
        for_hooks: true,
        about: "tell a starting session its name and who is here (mode `full`)",
    },
    Key {
        name: "context.reply_hint",
        kind: ValueKind::Flag,
        for_hooks: true,
        about: "say how to reply to a message (modes `full` and `minimal`)",
    },
    Key {
        name: "context.sender_details",
        kind: ValueKind::Flag,
        for_hooks: true,
        about: "say where a sender works when it first writes (mode `full`)",
    },
    Key {
        name: "context.stale_reads",
        kind: ValueKind::Flag,
        for_hooks: true,
        about: "say when a file that a session has read was changed by others (modes `full` and `minimal`)",
    },
    Key {
        name: "claims.enforcement",
        kind: ValueKind::Choice(&["block", "warn", "off"]),
        for_hooks: true,
        about: "what becomes of a write to what another agent has reserved",
    },
    Key {
        name: "claims.worktrees",
        kind: ValueKind::Choice(&["block", "warn", "off"]),
        for_hooks: true,
        about: "the same in another worktree than its holder's, where nothing of the holder's is overwritten",
    },
    Key {
        name: "claims.shield",
        kind: ValueKind::Choice(&["auto", "off", "rewrite"]),
        for_hooks: true,
        about: "run commands whose text does not tell what they write with others' reservations read-only, where that can be done",
    },
    Key {
        name: "claims.contest_seconds",
        kind: ValueKind::Number { least: 0, most: 86_400 },
        for_hooks: true,
        about: "how long a holder has to answer a contest",
    },
    Key {
        name: "claims.auto_minutes",
        kind: ValueKind::Number { least: 0, most: 1_440 },
        for_hooks: true,
        about: "how long others are told that an agent has edited a file; 0: not at all",
    },
    Key {
        name: "convergence.enabled",
        kind: ValueKind::Flag,
        for_hooks: true,
        about: "foresee where agents' works meet, and say so",
    },
    Key {
        name: "convergence.files",
        kind: ValueKind::Flag,
        for_hooks: true,
        about: "count which files agents read and write, not only what they are asked",
    },
    Key {
        name: "convergence.noise",
        kind: ValueKind::Words,
        for_hooks: true,
        about: "words that are no topics, besides the user's and the host's names",
    },
    Key {
        name: "convergence.domains",
        kind: ValueKind::Domains,
        for_hooks: true,
        about: "which topics belong together: `auth: jwt login; database: sql`",
    },
    Key {
        name: "policy.deny",
        kind: ValueKind::Rules,
        for_hooks: true,
        about: "what no agent may do here, besides your own rules: `Bash(git push*); Edit(.env)`",
    },
    Key {
        name: "policy.ask",
        kind: ValueKind::Rules,
        for_hooks: true,
        about: "what you are asked about first here, whatever allows it, where a CLI can ask",
    },
    Key {
        name: "knowledge.digest_tokens",
        kind: ValueKind::Number { least: 0, most: 4_000 },
        for_hooks: true,
        about: "how much a starting session is told of what earlier ones learned (mode `full`); 0: nothing",
    },
    Key {
        name: "knowledge.save",
        kind: ValueKind::Flag,
        for_hooks: false,
        about: "write .consort/knowledge.yjs whenever something is recorded in the project",
    },
    Key {
        name: "privacy.store_prompts",
        kind: ValueKind::Flag,
        for_hooks: true,
        about: "keep the beginning of prompts for handoffs; off: only a hash and the topics",
    },
    Key {
        name: "privacy.store_commands",
        kind: ValueKind::Flag,
        for_hooks: false,
        about: "keep the commands of sessions while they last, for `know suggest`",
    },
    Key {
        name: "notify.terminal",
        kind: ValueKind::Flag,
        for_hooks: false,
        about: "ring the terminal where you watch, and notify you by it, when an agent needs you",
    },
    Key {
        name: "notify.desktop",
        kind: ValueKind::Flag,
        for_hooks: false,
        about: "notify you on the desktop (notify-send, osascript)",
    },
    Key {
        name: "notify.command",
        kind: ValueKind::Words,
        for_hooks: false,
        about: "run this with the text in $CONSORT_TEXT: `curl -d \"$CONSORT_TEXT\" https://ntfy.sh/<topic>`",
    },
    Key {
        name: "notify.quiet",
        kind: ValueKind::Hours,
        for_hooks: false,
        about: "when you are not notified: `22:00-07:00`",
    },
    Key {
        name: "messages.wake_idle",
        kind: ValueKind::Flag,
        for_hooks: true,
        about: "wake an idle session for a message, where its CLI can be woken",
    },
    Key {
        name: "messages.type_into_panes",
        kind: ValueKind::Flag,
        for_hooks: false,
        about: "type into the pane of an idle agent that cannot be woken otherwise, when it has mail",
    },
    Key {
        name: "messages.retention_days",
        kind: ValueKind::Number { least: 1, most: 36_500 },
        for_hooks: false,
        about: "how long messages are kept that everyone has read",
    },
    Key {
        name: "monitor.review",
        kind: ValueKind::Choice(&["always", "tasks", "asked"]),
        for_hooks: false,
        about: "when a finished agent's work is reviewed by a run that only reads: always, for those with a task, or where asked (`open --review`)",
    },
    Key {
        name: "monitor.nudge",
        kind: ValueKind::Flag,
        for_hooks: false,
        about: "type a word into the pane of an agent that has stalled",
    },
    Key {
        name: "monitor.accept_suggestions",
        kind: ValueKind::Flag,
        for_hooks: false,
        about: "let an agent that was opened go on with what its composer suggests, three times at most",
    },
    Key {
        name: "monitor.continue_after_limit",
        kind: ValueKind::Flag,
        for_hooks: false,
        about: "type a word into the pane of an agent whose usage limit has ended, so that it goes on",
    },
    Key {
        name: "dispatch.cli",
        kind: ValueKind::Words,
        for_hooks: false,
        about: "which agent CLI does the work of a run for which none is named; empty: the first that is installed",
    },
    Key {
        name: "dispatch.safety",
        kind: ValueKind::Choice(&["suggest", "auto-edit", "full-auto"]),
        for_hooks: false,
        about: "how much a run may do by itself for which nothing else is said",
    },
    Key {
        name: "dispatch.agents",
        kind: ValueKind::Choice(&["suggest", "auto-edit", "full-auto"]),
        for_hooks: false,
        about: "how much a run may do that an agent asks for which has to ask you itself",
    },
    Key {
        name: "dispatch.depth",
        kind: ValueKind::Number { least: 0, most: 8 },
        for_hooks: false,
        about: "how many runs may be above one another",
    },
    Key {
        name: "dispatch.timeout_minutes",
        kind: ValueKind::Number { least: 0, most: 10_080 },
        for_hooks: false,
        about: "how long a run may take; 0: as long as it takes",
    },
    Key {
        name: "dispatch.environment",
        kind: ValueKind::Words,
        for_hooks: false,
        about: "which of your variables a run gets besides the usual ones and those of its CLI: `CARGO_* GOPATH`",
    },
    Key {
        name: "dispatch.copy",
        kind: ValueKind::Words,
        for_hooks: false,
        about: "files that git ignores and a run in a worktree of its own needs: `.env target`",
    },
    Key {
        name: "dispatch.set_up",
        kind: ValueKind::Words,
        for_hooks: false,
        about: "a command that makes such a worktree ready: `npm ci`",
    },
    Key {
        name: "dispatch.continue_after_limit",
        kind: ValueKind::Flag,
        for_hooks: false,
        about: "a run that has met a usage limit waits until it ends, and goes on",
    },
    Key {
        name: "dispatch.gate",
        kind: ValueKind::Words,
        for_hooks: false,
        about: "a command that is asked before each run: it reads it as JSON, and allows it by exit code 0, or says why not",
    },
    Key {
        name: "budget.run",
        kind: ValueKind::Dollars,
        for_hooks: false,
        about: "what a run may cost, in dollars; 0: as much as it takes",
    },
    Key {
        name: "budget.day",
        kind: ValueKind::Dollars,
        for_hooks: false,
        about: "what the runs of a project may cost in a day (UTC), in dollars; 0: as much as they take",
    },
    Key {
        name: "budget.project",
        kind: ValueKind::Dollars,
        for_hooks: false,
        about: "what the runs of a project may cost in all, in dollars; 0: as much as they take",
    },
    Key {
        name: "journal.retention_days",
        kind: ValueKind::Number { least: 1, most: 36_500 },
        for_hooks: false,
        about: "how long entries are kept that nothing depends on",
    },
];
