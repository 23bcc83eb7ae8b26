//! The texts that an agent reads about others' holds: refusals, warnings and notices, each with
//! the next step. Names of files are others' words: they are shown on one line and quoted for the
//! shell.

use super::CommandView;
use super::Contest;
use super::Extent;
use super::FileStamp;
use super::Hold;
use super::HoldMode;
use super::HoldView;
use super::LastWrite;
use super::ObstructedWrite;
use super::PublishedHold;
use super::Strength;
use super::Trespass;
use super::WorktreeOverlap;
use crate::Timestamp;
use crate::journal::Actor;
use crate::presence::Agent;
use crate::presence::Status;
use crate::text;

/// Most items that a text lists; more are only counted.
const SHOWN: usize = 4;

pub(super) fn denial(obstacles: &[ObstructedWrite], now: Timestamp) -> String {
    let mut told = format!("[consort] Blocked: {}", obstacle_lines(obstacles, now));
    if let Some(first) = obstacles.first() {
        let ask = match &first.held.hold.holder {
            Actor::Agent(_) => first.held.name.as_str(),
            _ => "@me",
        };
        let place = text::shell_quoted(&first.place.to_string_lossy());
        let join = match first.held.hold.mode {
            HoldMode::Shared => format!(" It is shared; join it: consort reserve --shared {place}."),
            HoldMode::Exclusive => String::new(),
        };
        told.push_str(&format!(
            "\nOptions: ask (consort send {ask} '…') · wait up to 90 s (consort wait --timeout 90s {place}) · if unanswered, \
             the same path with consort holds contest · do something else.{join} Do not get around this with another tool."
        ));
    }
    text::disarm_hook_tags(&told).into_owned()
}

/// Tells a holder of an override: that others may write all the same.
pub fn override_notice(hold: &Hold, now: Timestamp) -> String {
    let left = hold.until.map_or_else(String::new, |until| {
        format!(" for another {}", text::age(until.since(now) + Timestamp::MINUTE - 1))
    });
    format!("{} is overridden: everyone may write it{left}.", text::foreign(&hold.resource.shown(), 200))
}

/// Explains the judgement of a command, the holders in its way, and its writes, in lines.
pub fn judgement(command: &CommandView) -> Vec<String> {
    let verdict = match command.verdict {
        "refused" => "Refused: an agent that calls this would be stopped.",
        "warned" => "Let through, and the agent is told.",
        "unknown" => {
            "Unknown: its text does not tell all it writes. It is let through, and what others have reserved is \
             looked at afterwards."
        }
        "shielded" => {
            "Shielded: its text does not tell all it writes. In Claude Code what others have reserved is read-only \
             while it runs."
        }
        _ => "Free: it writes nothing that others have reserved.",
    };
    let mut lines = vec![verdict.to_owned()];
    lines.extend(command.reasons.iter().map(|reason| format!("  {reason}")));
    if !command.writes.is_empty() {
        let writes = command.writes.iter().map(|path| text::foreign(path, 200));
        lines.push(format!("It would write {}.", text::first_few(writes, 6)));
    }
    lines
}

/// Refuses a write that meets a reservation which the store could not confirm.
pub(super) fn unconfirmed(path: &str, line: &PublishedHold) -> String {
    let told = format!(
        "[consort] Blocked: {} is reserved by {} (of {}). The store did not answer in time to confirm it: try again, \
         or work on something else. `consort doctor` says what is wrong.",
        text::foreign(path, 200),
        text::one_line(&line.label, 80),
        text::foreign(line.pattern.as_str(), 200),
    );
    text::disarm_hook_tags(&told).into_owned()
}

pub(super) fn warning(obstacles: &[ObstructedWrite], now: Timestamp) -> String {
    let told = format!(
        "[consort] Warning only: {}\nYou may still write, but message them first.",
        obstacle_lines(obstacles, now)
    );
    text::disarm_hook_tags(&told).into_owned()
}

/// Describes the holders in the way, a line each, and counts those that are not shown.
pub(super) fn obstacle_lines(obstacles: &[ObstructedWrite], now: Timestamp) -> String {
    let mut holders: Vec<Vec<&ObstructedWrite>> = Vec::new();
    for obstacle in obstacles {
        let holder = &obstacle.held.hold.holder;
        match holders.iter_mut().find(|its| its[0].held.hold.holder == *holder) {
            Some(its) => its.push(obstacle),
            None => holders.push(vec![obstacle]),
        }
    }
    let mut lines: Vec<String> = holders.iter().take(SHOWN).map(|its| fact(its, now)).collect();
    if holders.len() > SHOWN {
        lines.push(format!("And {} more.", holders.len() - SHOWN));
    }
    lines.join("\n")
}

/// Describes all obstacles of one holder: ``src/auth/login.rs (of src/auth/) is reserved by
/// GoldFalcon (claude on feat/x, idle for 5m), 12m ago, working on TASK-01: "rewriting the login".``
fn fact(its: &[&ObstructedWrite], now: Timestamp) -> String {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for obstacle in its {
        let (why, what) = subject(obstacle);
        match groups.iter_mut().find(|(known, _)| *known == why) {
            Some((_, whats)) if whats.contains(&what) => {}
            Some((_, whats)) => whats.push(what),
            None => groups.push((why, vec![what])),
        }
    }
    let count: usize = groups.iter().map(|(_, whats)| whats.len()).sum();
    let whats = groups.into_iter().map(|(why, whats)| why + &text::first_few(whats, SHOWN));
    let whats = whats.collect::<Vec<_>>().join("; ");
    let way_out = match its[0].by.as_str() {
        "git add" | "git commit" | "git stash" | "git clean" => " Name your own paths instead.",
        _ => "",
    };
    let are = if count == 1 { "is" } else { "are" };
    format!("{whats} {are} {}.{way_out}", held_by(&its[0].held, its[0].state, now))
}

/// Returns the reason a command meets a hold, where that does not go without saying, and the
/// paths in the way.
fn subject(obstacle: &ObstructedWrite) -> (String, String) {
    let (path, held) =
        (text::foreign(&obstacle.path, 200), text::foreign(&obstacle.held.hold.resource.shown(), 200));
    let by = text::one_line(&obstacle.by, 40);
    let why = match obstacle.extent {
        Extent::Changes => format!("`{by}` includes all that is uncommitted here, and "),
        Extent::Worktree => format!("`{by}` changes the whole worktree, and "),
        Extent::Commits => format!("`{by}` brings other commits here, which differ in what is reserved: "),
        Extent::File | Extent::Tree | Extent::Glob => String::new(),
    };
    let what = match obstacle.extent {
        _ if !why.is_empty() || path == held => held,
        Extent::Tree | Extent::Glob if !path.is_empty() && held.starts_with(&format!("{path}/")) => {
            format!("{held} (in {path})")
        }
        _ if path.is_empty() => format!("everything here ({held} of it)"),
        _ => format!("{path} (of {held})"),
    };
    (why, what)
}

/// Describes a hold:
/// ``reserved by GoldFalcon (claude on feat/x), 12m ago, working on TASK-01: "rewriting the login"``
fn held_by(held: &HoldView, state: Option<(Status, Timestamp)>, now: Timestamp) -> String {
    let hold = &held.hold;
    let verb = match hold.strength {
        Strength::Advisory => "claimed",
        _ => "reserved",
    };
    let since = text::ago(now.since(hold.since));
    let task = held.task.as_ref();
    let task = task.map_or_else(String::new, |task| format!(", working on {}", text::foreign(task, 60)));
    let reason = hold.reason.as_ref();
    let reason = reason.map_or_else(String::new, |reason| format!(": {}", text::quoted(reason, 120)));
    let who = who(&hold.holder, &hold.label);
    let does = state.and_then(|(status, at)| does(status, at, now));
    let who = match who.strip_suffix(')').zip(does) {
        Some((who, does)) => format!("{who}, {does})"),
        None => who,
    };
    format!("{verb} by {who}, {since}{task}{reason}")
}

/// Describes the activity of a holder, which tells whether it is worth waiting for.
fn does(status: Status, at: Timestamp, now: Timestamp) -> Option<String> {
    match (status, text::age(now.since(at)).as_str()) {
        (Status::Working, _) => Some("working".to_owned()),
        (Status::Idle | Status::Away, "now") => Some("idle".to_owned()),
        (Status::Idle | Status::Away, age) => Some(format!("idle for {age}")),
        (Status::Stuck, age) => Some(format!("stuck: idle for {age}")),
        (Status::Waiting, _) => Some("waiting for its user".to_owned()),
        (Status::Gone, _) => None,
    }
}

/// Names an actor as a model knows it: `GoldFalcon (claude on feat/x)`, or `your user`.
fn who(actor: &Actor, label: &str) -> String {
    match actor {
        Actor::Person => "your user".to_owned(),
        Actor::Agent(_) | Actor::Consort => text::one_line(label, 80),
    }
}

/// Warns that another agent has written this file a short while ago.
pub(super) fn recent_write(write: &LastWrite, name: &str, now: Timestamp) -> String {
    let told = format!(
        "[consort] {name} edited {} {} and has not committed it. It may not be done: ask with `consort send {name} \
         '…'` before you change the same lines.",
        text::foreign(&write.path, 200),
        text::ago(now.since(write.at)),
    );
    text::disarm_hook_tags(&told).into_owned()
}

/// Lists the files that were changed since the session read them.
pub(super) fn changed(changes: &[(&str, Option<String>, FileStamp)], now: Timestamp) -> String {
    let one = |(path, by, stamp): &(&str, Option<String>, FileStamp)| {
        let path = text::foreign(path, 200);
        let by = by.as_deref().unwrap_or("someone else");
        match stamp.changed {
            0 => format!("{path} (removed by {by})"),
            changed => format!("{path} (by {by}, {})", text::ago(now.since(Timestamp(changed / 1_000_000)))),
        }
    };
    let files = text::first_few(changes.iter().map(one), SHOWN);
    let told = format!("[consort] Changed since you read it: {files}. Read again before you rely on it.");
    text::disarm_hook_tags(&told).into_owned()
}

/// Lists the reserved files of a session that its user has saved.
pub(super) fn saved(saved: &[(String, FileStamp)], now: Timestamp) -> String {
    let one = |(path, stamp): &(String, FileStamp)| {
        let age = text::ago(now.since(Timestamp(stamp.changed / 1_000_000)));
        format!("{} ({age})", text::foreign(path, 200))
    };
    let files = text::first_few(saved.iter().map(one), SHOWN);
    let told = format!(
        "[consort] Your user has saved what you have reserved, by no agent's hand: {files}. Read it again before you \
         write it."
    );
    text::disarm_hook_tags(&told).into_owned()
}

/// Lists the files in a commit that others have reserved, or edited last.
pub(super) fn commit(
    obstacles: &[ObstructedWrite],
    swept: &[(String, String)],
    is_refused: bool,
    now: Timestamp,
) -> Vec<String> {
    let mut told = Vec::new();
    if !obstacles.is_empty() {
        let verdict = if is_refused { "Commit refused: " } else { "In this commit: " };
        told.push(format!("[consort] {verdict}{}", obstacle_lines(obstacles, now)));
    }
    if is_refused {
        told.push("Leave them out: git restore --staged <path>; or ask their holder.".into());
    }
    let is_new = |(path, _): &&(String, String)| obstacles.iter().all(|obstacle| obstacle.path != *path);
    let one = |(path, name): &(String, String)| format!("{} ({name})", text::foreign(path, 200));
    let files = text::first_few(swept.iter().filter(is_new).map(one), SHOWN);
    if !files.is_empty() {
        told.push(format!(
            "[consort] This commit includes what others edited last and you did not: {files}."
        ));
    }
    told
}

/// Warns an agent that another's work will collide with its own when both are merged.
pub(super) fn overlap(overlap: &WorktreeOverlap, other: &Agent) -> String {
    let list = |paths: &[String]| text::first_few(paths.iter().map(|path| text::foreign(path, 200)), SHOWN);
    let branch =
        other.branch.as_ref().map_or_else(String::new, |branch| format!(" on {}", text::foreign(branch, 60)));
    let mut told = format!("{}{branch} works in another worktree of this repository.", other.name);
    if !overlap.files.is_empty() {
        told.push_str(&format!(" You both have edited: {}.", list(&overlap.files)));
    }
    if !overlap.conflicts.is_empty() {
        told.push_str(&format!(" Your branches conflict in: {}.", list(&overlap.conflicts)));
    }
    told + " Agree on who changes what before you merge."
}

/// Asks a holder to give up a contested hold.
pub(super) fn contest(hold: &Hold, contest: &Contest) -> String {
    // A clock time stays true until it is read; a countdown does not.
    let until = contest.until.utc();
    let until = until.get(11..19).unwrap_or(&until);
    let why = contest.reason.as_ref();
    let why = why.map_or_else(String::new, |reason| format!(": {}", text::quoted(reason, 300)));
    let resource = text::foreign(&hold.resource.shown(), 200);
    let quoted = text::shell_quoted(&hold.resource.shown());
    let verb = if hold.strength == Strength::Blocking { "reserve" } else { "reserve --advisory" };
    format!(
        "{} needs {resource}, which you have reserved{why}. If you are done with it: consort release {quoted}. If you \
         still need it: consort {verb} {quoted}; otherwise it may be taken at {until} UTC.",
        capitalised(&who(&contest.by, &contest.label)),
    )
}

/// Tells that reserved resources were released, or taken from their holder.
pub(super) fn released(by: &Actor, label: &str, gone: &[String], is_taken: bool) -> String {
    let what = text::first_few(gone.iter().map(|one| text::foreign(one, 120)), SHOWN);
    let by = capitalised(&who(by, label));
    match is_taken {
        true => format!("{by} has taken what was reserved: {what}."),
        false => format!("{by} has released {what}: it is free."),
    }
}

/// Tells both the former holder and the agent that contested the hold that it is free, because
/// the holder was idle for long.
pub(super) fn freed(hold: &Hold) -> String {
    let (what, holder) = (text::foreign(&hold.resource.shown(), 120), who(&hold.holder, &hold.label));
    let asked = hold.contest.as_ref().map_or_else(String::new, |contest| who(&contest.by, &contest.label));
    format!(
        "{what}, which {holder} had reserved, is free: it has been idle for long and did not answer {asked}."
    )
}

fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().into_iter().flat_map(char::to_uppercase).chain(characters).collect()
}

/// Reminds a holder of reservations that it has not written for long.
pub(super) fn forgotten(holds: &[(HoldView, Timestamp)], now: Timestamp) -> String {
    let one = |(seen, last): &(HoldView, Timestamp)| {
        let (what, hold) = (text::foreign(&seen.hold.resource.shown(), 200), &seen.hold);
        let written = match *last > hold.since {
            true => format!("last written {}", text::ago(now.since(*last))),
            false => "not written since".to_owned(),
        };
        format!("{what} (reserved {}, {written})", text::ago(now.since(hold.since)))
    };
    let first = holds.first().map(|(seen, _)| text::shell_quoted(&seen.hold.resource.shown()));
    let told = format!(
        "[consort] You still keep others from {}. If you are done with it: consort release {}",
        text::first_few(holds.iter().map(one), SHOWN),
        first.unwrap_or_default(),
    );
    text::disarm_hook_tags(&told).into_owned()
}

/// The notice that more paths are reserved than can be mounted one by one.
pub(super) const TOO_MANY_TO_SHIELD: &str = "[consort] Others have reserved more than 1000 files here, too many to \
     make read-only while a command runs. Yours ran without that; what changed is looked at afterwards.";

/// Explains to an agent that its command could not write paths that others have reserved.
pub(super) fn shield_met(held: &[HoldView], now: Timestamp) -> String {
    let one = |view: &HoldView| {
        let what = text::foreign(&view.hold.resource.shown(), 200);
        format!(
            "{what} (reserved by {}, {})",
            who(&view.hold.holder, &view.hold.label),
            text::ago(now.since(view.hold.since))
        )
    };
    let all = text::first_few(held.iter().map(one), SHOWN);
    let ask = match held.first() {
        Some(HoldView { hold, name, .. }) if matches!(hold.holder, Actor::Agent(_)) => name.as_str(),
        _ => "@me",
    };
    let place = held.first().map_or_else(String::new, |view| text::shell_quoted(&view.hold.resource.shown()));
    let told = format!(
        "[consort] Your command ran with what others have reserved read-only, so writing there failed (\"Read-only \
         file system\", \"Device or resource busy\"): {all}. Nothing is wrong with the disk. Ask for it: consort send \
         {ask} '…'; wait until it is free: consort wait --timeout 90s {place}; or have the command write elsewhere. \
         Do not get around this with another tool."
    );
    text::disarm_hook_tags(&told).into_owned()
}

/// Tells an agent that it and another wait for each other; the one that has waited longer gets this.
pub(super) fn circle(other: &str, wanted_by_other: &str, wanted_by_you: &str) -> String {
    format!(
        "You and {other} wait for each other: you for {wanted_by_you}, {other} for {wanted_by_other}. Neither gets it \
         before one gives up its own: `consort release <path>`, or agree with {other}."
    )
}

/// Tells an agent that reserved files changed while its command ran: a sentence for each reservation.
pub(super) fn trespass(found: &[Trespass], now: Timestamp) -> String {
    let mut holds: Vec<&HoldView> = Vec::new();
    for one in found {
        if holds.iter().all(|known| known.hold.key() != one.held.hold.key()) {
            holds.push(&one.held);
        }
    }
    let mut lines: Vec<String> = Vec::new();
    for held in holds.iter().take(SHOWN) {
        let its: Vec<&Trespass> = found.iter().filter(|one| one.held.hold.key() == held.hold.key()).collect();
        let resource = text::foreign(&held.hold.resource.shown(), 200);
        let of = match its[..] {
            [one] if text::foreign(&one.path, 200) == resource => String::new(),
            _ => format!(" (of {resource})"),
        };
        let are = if its.len() == 1 { "is" } else { "are" };
        let unsure = match its.iter().any(|one| one.is_unsure) {
            true => format!(" {} ran a command at the same time: the author is unknown.", held.name),
            false => String::new(),
        };
        lines.push(format!("{}{of} {are} {}.{unsure}", strange(&its), held_by(held, None, now)));
    }
    if holds.len() > SHOWN {
        lines.push(format!("And {} more.", holds.len() - SHOWN));
    }
    let told = format!(
        "[consort] While your command ran, files changed that others have reserved. {}\nThey have been notified. Do not \
         revert it yourself; agree with them what to do.",
        lines.join("\n")
    );
    text::disarm_hook_tags(&told).into_owned()
}

/// Tells a holder that its reserved files changed while another's command ran. Somebody else may
/// have changed them meanwhile.
pub(super) fn trespassed(name: &str, found: &[&Trespass], command: &str) -> String {
    let mut told =
        format!("While a command of {name} ran, what you have reserved changed: {}.", strange(found));
    if found.iter().any(|one| one.is_unsure) {
        told.push_str(" You ran a command at the same time: the author is unknown.");
    }
    if let Some(kept) = found.iter().find(|one| one.is_kept) {
        let path = text::shell_quoted(&kept.path);
        told.push_str(&format!(" What you wrote last is kept: consort holds restore {path}."));
    }
    format!("{told} The command: {}", text::quoted(command, 200))
}

/// Lists changed files: `src/auth/login.rs, src/auth/token.rs (removed)`
fn strange(found: &[&Trespass]) -> String {
    let one = |one: &&Trespass| {
        let path = text::foreign(&one.path, 200);
        if one.is_gone { format!("{path} (removed)") } else { path }
    };
    text::first_few(found.iter().map(one), SHOWN)
}
