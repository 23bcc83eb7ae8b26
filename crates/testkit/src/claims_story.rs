//! The story tests of claims and tasks that every engine must pass.

use consort_core::Timestamp;
use consort_core::claims::Case;
use consort_core::claims::ClaimError;
use consort_core::claims::Extent;
use consort_core::claims::Hold;
use consort_core::claims::HoldMode;
use consort_core::claims::HoldRequest;
use consort_core::claims::PendingWrite;
use consort_core::claims::ReleaseRequest;
use consort_core::claims::ReleaseTarget;
use consort_core::claims::Strength;
use consort_core::claims::Verdict;
use consort_core::engine::Engine;
use consort_core::host::Clock as _;
use consort_core::journal::Actor;
use consort_core::presence::ActivityUpdate;
use consort_core::presence::LeaveReason;
use consort_core::presence::NameWish;
use consort_core::presence::Status;
use consort_core::tasks::CompleteRequest;
use consort_core::tasks::TaskError;
use consort_core::tasks::TaskRequest;

use crate::FakeHost;
use crate::store_story::StoryApp;
use crate::store_story::facts;
use crate::store_story::join;

/// The time until a contest's deadline, in seconds.
const CONTEST: i64 = 120;

const HERE: &str = "/shop/main";

/// Takes a hold as the agent that process `pid` hosts; 0 is the person.
pub fn hold(
    app: &mut StoryApp,
    pid: u32,
    what: &[&str],
    strength: Strength,
    mode: HoldMode,
) -> Result<Vec<Hold>, ClaimError> {
    app.host().set_caller_ancestors(&[pid]);
    let what = what.iter().map(|what| (*what).to_owned()).collect();
    let (caller, cwd) = (facts(app.host(), None), HERE.into());
    let request = HoldRequest { caller, cwd, what, strength, mode, reason: None, ttl: None };
    app.hold(&request).map(|outcome| outcome.holds)
}

pub fn reserve(app: &mut StoryApp, pid: u32, what: &[&str]) -> Result<Vec<Hold>, ClaimError> {
    hold(app, pid, what, Strength::Blocking, HoldMode::Exclusive)
}

pub fn release(app: &mut StoryApp, pid: u32, what: &str, force: bool) -> Result<usize, ClaimError> {
    app.host().set_caller_ancestors(&[pid]);
    let what = ReleaseTarget::These(vec![what.to_owned()]);
    let (caller, cwd) = (facts(app.host(), None), HERE.into());
    let request = ReleaseRequest { caller, cwd, what, strength: None, force };
    app.release(&request).map(|outcome| outcome.released.len())
}

pub fn contest(app: &mut StoryApp, pid: u32, what: &str) -> Result<Hold, ClaimError> {
    app.host().set_caller_ancestors(&[pid]);
    let caller = facts(app.host(), None);
    app.contest(&caller, HERE.as_ref(), what, Some("urgent"))
}

/// Lists all present holds.
pub fn present_holds(app: &mut StoryApp) -> Vec<Hold> {
    let caller = facts(app.host(), None);
    app.holds(&caller, None, 0).unwrap().holds.into_iter().map(|seen| seen.hold).collect()
}

/// Asserts **the invariant**: no two present holds of different holders overlap
/// unless both are shared.
pub fn assert_nobody_is_in_anybodys_way(holds: &[Hold]) {
    for (at, one) in holds.iter().enumerate() {
        for other in &holds[at + 1..] {
            let overlap = match (one.resource.pattern(), other.resource.pattern()) {
                (Some(a), Some(b)) => a.overlaps(b, Case::Matters),
                _ => one.resource == other.resource,
            };
            let is_shared = one.mode == HoldMode::Shared && other.mode == HoldMode::Shared;
            assert!(
                !overlap || is_shared || one.holder == other.holder || one.project != other.project,
                "{one:#?}\nand\n{other:#?}"
            );
        }
    }
}

/// Asks the guard about a write by `session`.
fn write(app: &mut StoryApp, session: &str, path: &str) -> Verdict {
    let target = PendingWrite {
        path: format!("{HERE}/{path}").into(),
        extent: Extent::File,
        by: String::new(),
        is_entry: false,
        needs: consort_core::claims::PathCondition::Nothing,
        range: Vec::new(),
    };
    app.guard(&session.into(), &[target], &|_| None, &|_| ())
}

fn is_held<T>(result: Result<T, ClaimError>) -> bool {
    matches!(result, Err(ClaimError::Held(_)))
}

/// Tells the story of claims and reservations, beginning with an empty store.
pub fn claims_story(engine: impl Engine + 'static) {
    let mut app = StoryApp::new(engine);
    let host = app.host().clone();
    join(&mut app, "s1", 1, NameWish::Insist("Falcon".into())).unwrap();
    join(&mut app, "s2", 2, NameWish::Insist("Raven".into())).unwrap();

    // A request is granted as a whole or not at all, and every conflict is named.
    let first = reserve(&mut app, 1, &["src/auth/", "config.yaml"]).unwrap();
    assert_eq!(first.len(), 2);
    let Err(ClaimError::Held(conflicts)) = reserve(&mut app, 2, &["docs/", "src/*/login.rs", "config.yaml"])
    else {
        panic!("granted twice")
    };
    let named: Vec<String> = conflicts.iter().map(|seen| seen.hold.resource.shown()).collect();
    assert_eq!(named, ["src/auth/", "config.yaml"]);
    assert_eq!(present_holds(&mut app).len(), 2, "nothing was taken on the way");
    reserve(&mut app, 2, &["src/authentication/"]).unwrap();

    // A write to another's path is refused; a write to one's own or to a free path passes.
    assert!(
        matches!(write(&mut app, "s2", "src/auth/login.rs"), Verdict::Denied(why) if why.contains("Falcon"))
    );
    assert_eq!(write(&mut app, "s1", "src/auth/login.rs"), Verdict::Free);
    assert_eq!(write(&mut app, "s2", "src/authentication/x.rs"), Verdict::Free);
    assert_eq!(write(&mut app, "s2", "README.md"), Verdict::Free);

    // The person can override a hold, for a while; an agent cannot.
    host.set_caller_ancestors(&[2]);
    let caller = facts(&host, None);
    assert!(matches!(
        app.override_hold(&caller, HERE.as_ref(), "config.yaml", 5),
        Err(ClaimError::NotAllowed(_))
    ));
    host.set_caller_ancestors(&[]);
    let caller = facts(&host, None);
    app.override_hold(&caller, HERE.as_ref(), "config.yaml", 5).unwrap();
    assert_eq!(write(&mut app, "s2", "config.yaml"), Verdict::Free);
    host.advance(5 * Timestamp::MINUTE);
    assert!(matches!(write(&mut app, "s2", "config.yaml"), Verdict::Denied(_)));

    contested(&mut app);
    abandoned(&mut app);

    // The person's own reservation holds agents off until it is released.
    reserve(&mut app, 0, &["secrets/"]).unwrap();
    assert!(matches!(write(&mut app, "s3", "secrets/key"), Verdict::Denied(why) if why.contains("@me")));
    assert!(matches!(release(&mut app, 3, "secrets/", true), Err(ClaimError::ThePersons { .. })));
    release(&mut app, 0, "secrets/", false).unwrap();
    assert_eq!(write(&mut app, "s3", "secrets/key"), Verdict::Free);

    assert!(matches!(release(&mut app, 3, "nothing", false), Err(ClaimError::NotHeld { .. })));
    assert!(app.journal_verify().unwrap().is_sound());
}

/// Shares advisory claims, contests one, and takes it after the deadline.
fn contested(app: &mut StoryApp) {
    let host = app.host().clone();
    hold(app, 1, &["topic:auth"], Strength::Advisory, HoldMode::Shared).unwrap();
    hold(app, 2, &["topic:auth"], Strength::Advisory, HoldMode::Shared).unwrap();
    assert!(is_held(hold(app, 2, &["topic:auth"], Strength::Advisory, HoldMode::Exclusive)));
    release(app, 1, "topic:auth", false).unwrap();
    let sole = hold(app, 2, &["topic:auth"], Strength::Advisory, HoldMode::Exclusive).unwrap();
    assert!(is_held(hold(app, 1, &["topic:auth"], Strength::Advisory, HoldMode::Shared)));
    assert!(matches!(release(app, 1, "topic:auth", false), Err(ClaimError::NotYours { .. })));
    assert!(matches!(release(app, 1, "topic:auth", true), Err(ClaimError::NotContested { .. })));
    assert!(matches!(contest(app, 2, "topic:auth"), Err(ClaimError::Yours { .. })));
    contest(app, 1, "topic:auth").unwrap();
    assert!(app.letters("s2").iter().any(|text| text.contains("topic:auth")), "the holder is told");
    host.advance(19_500);
    let again = contest(app, 1, "topic:auth").unwrap();
    assert_eq!(again.contest.unwrap().at, Timestamp(host_now(app) - 19_500), "the first one's time runs");
    assert!(matches!(release(app, 1, "topic:auth", true), Err(ClaimError::TooEarly { seconds: 101, .. })));
    host.advance(CONTEST * Timestamp::SECOND);
    assert_eq!(release(app, 1, "topic:auth", true).unwrap(), 1);
    let mine = hold(app, 1, &["topic:auth"], Strength::Advisory, HoldMode::Exclusive).unwrap();
    assert!(mine[0].generation > sole[0].generation, "a new holder, a higher generation");
    let renewed = hold(app, 1, &["topic:auth"], Strength::Advisory, HoldMode::Exclusive).unwrap();
    assert_eq!(renewed[0].generation, mine[0].generation, "the same holder, the same generation");
}

/// Checks that an agent that leaves or dies loses its holds at once.
fn abandoned(app: &mut StoryApp) {
    let host = app.host().clone();
    app.leave(&"s2".into(), LeaveReason::Ended, Actor::Consort).unwrap();
    reserve(app, 1, &["src/authentication/"]).unwrap();
    join(app, "s3", 3, NameWish::Insist("Bear".into())).unwrap();
    assert!(is_held(reserve(app, 3, &["src/auth/login.rs"])));
    host.kill(1);
    assert_eq!(write(app, "s3", "src/auth/login.rs"), Verdict::Free);
    reserve(app, 3, &["src/auth/login.rs"]).unwrap();
    assert_nobody_is_in_anybodys_way(&present_holds(app));
}

fn host_now(app: &StoryApp) -> i64 {
    use consort_core::host::Clock as _;
    app.host().now().0
}

const SPEC: &str = "# The login

## TASK-01: Model
## TASK-02: Service
depends: TASK-01
- [ ] TASK-03: Docs (depends: TASK-01, TASK-02)
- [x] TASK-04: Chores
";

fn task(app: &StoryApp, pid: u32, id: Option<&str>) -> TaskRequest {
    app.host().set_caller_ancestors(&[pid]);
    TaskRequest {
        caller: facts(app.host(), None),
        cwd: HERE.into(),
        spec: Some("spec.md".into()),
        id: id.map(str::to_owned),
        words: None,
        is_for_new: false,
    }
}

fn complete(app: &mut StoryApp, pid: u32, id: &str, generation: Option<i64>) -> Result<i64, TaskError> {
    let task = task(app, pid, Some(id));
    app.complete_task(&CompleteRequest { task, generation, take_anyway: false }).map(|done| done.generation)
}

/// Tells the story of holds that writing renews and of holds that are forgotten, beginning with an
/// empty store.
pub fn renewal_story(engine: impl Engine + 'static) {
    let mut app = StoryApp::new(engine);
    let host = app.host().clone();
    join(&mut app, "s1", 1, NameWish::Insist("Falcon".into())).unwrap();
    join(&mut app, "s2", 2, NameWish::Insist("Raven".into())).unwrap();
    host.set_caller_ancestors(&[1]);
    let (caller, what) = (facts(&host, None), vec!["src/".to_owned()]);
    let (strength, mode) = (Strength::Blocking, HoldMode::Exclusive);
    let ttl = Some(60 * Timestamp::MINUTE);
    app.hold(&HoldRequest { caller, cwd: HERE.into(), what, strength, mode, reason: None, ttl }).unwrap();
    let wrote = |app: &mut StoryApp, path: &str| {
        app.note_writes(&"s1".into(), &[format!("{HERE}/{path}").into()]).unwrap();
        present_holds(app)
            .first()
            .and_then(|hold| hold.until)
            .map(|until| until.since(host.now()) / Timestamp::MINUTE)
    };
    // A write renews a hold only after half of its time, and only a write to a path it covers.
    host.advance(20 * Timestamp::MINUTE);
    assert_eq!(wrote(&mut app, "src/a.rs"), Some(40));
    host.advance(20 * Timestamp::MINUTE);
    assert_eq!(wrote(&mut app, "docs/a.md"), Some(20));
    assert_eq!(wrote(&mut app, "src/a.rs"), Some(60));
    let forgotten = |app: &mut StoryApp, session: &str| app.remind_of_forgotten(&session.into()).unwrap();
    assert_eq!(forgotten(&mut app, "s1"), None);
    host.advance(61 * Timestamp::MINUTE);
    assert_eq!(wrote(&mut app, "src/a.rs"), None, "what is over is not renewed");

    reserve(&mut app, 1, &["lib/"]).unwrap();
    host.advance(50 * Timestamp::MINUTE);
    assert_eq!(forgotten(&mut app, "s1"), None);
    wrote(&mut app, "lib/a.rs");
    host.advance(50 * Timestamp::MINUTE);
    assert_eq!(forgotten(&mut app, "s1"), None, "it is worked on");
    host.advance(10 * Timestamp::MINUTE);
    let told = forgotten(&mut app, "s1").unwrap();
    assert!(told.contains("lib/ (reserved 1h ago, last written 1h ago)"), "{told}");
    assert!(told.ends_with("consort release 'lib/'"), "{told}");
    assert_eq!((forgotten(&mut app, "s1"), forgotten(&mut app, "s2")), (None, None), "once, to its holder");
    wrote(&mut app, "lib/a.rs");
    host.advance(70 * Timestamp::MINUTE);
    assert!(forgotten(&mut app, "s1").is_some());

    idle_holders_are_told_of_and_lose_what_others_want(&mut app, &host);
}

/// Checks that a holder that is idle for long and answers no contest loses the contested holds, and
/// only those.
fn idle_holders_are_told_of_and_lose_what_others_want(app: &mut StoryApp, host: &FakeHost) {
    reserve(app, 1, &["docs/"]).unwrap();
    app.note_activity(&"s1".into(), &ActivityUpdate::of(Status::Idle)).unwrap();
    contest(app, 2, "lib/").unwrap();
    host.advance(14 * Timestamp::MINUTE);
    assert!(app.free_stuck().unwrap().is_empty(), "not idle for long");
    assert_eq!(app.tell_of_stuck().unwrap(), 0, "not idle for long");
    host.advance(2 * Timestamp::MINUTE);
    assert_eq!((app.tell_of_stuck().unwrap(), app.tell_of_stuck().unwrap()), (1, 0), "who asked, once");
    let told = "Falcon, which holds lib/ that you asked for, has been idle for 16m";
    assert!(app.letters("s2").iter().any(|text| text.starts_with(told)), "{:#?}", app.letters("s2"));
    // An agent that waits for a hold without having contested it is told too.
    host.set_caller_ancestors(&[2]);
    host.play_process(77);
    let waiter = facts(host, None);
    let mut held = app.holds(&waiter, None, 0).unwrap().holds;
    held.retain(|seen| seen.hold.resource.shown() == "docs/");
    assert_eq!(held.len(), 1);
    app.note_activity(&"s1".into(), &ActivityUpdate::of(Status::Idle)).unwrap();
    app.note_waiting(&waiter, host.now(), &held).unwrap();
    host.advance(14 * Timestamp::MINUTE);
    assert_eq!(app.tell_of_stuck().unwrap(), 0, "not idle for long again");
    host.advance(2 * Timestamp::MINUTE);
    app.tell_of_stuck().unwrap();
    let told = "Falcon, for which you wait, has been idle for 16m: docs/.";
    assert!(app.letters("s2").iter().any(|text| text.starts_with(told)), "{:#?}", app.letters("s2"));
    app.stop_waiting(&waiter).unwrap();
    let freed: Vec<String> = app.free_stuck().unwrap().iter().map(|hold| hold.resource.shown()).collect();
    assert_eq!(freed, ["lib/"]);
    assert!(app.free_stuck().unwrap().is_empty());
    for session in ["s1", "s2"] {
        let is_told =
            |text: &String| text.starts_with("lib/, which Falcon") && text.contains("did not answer Raven");
        assert!(app.letters(session).iter().any(is_told), "{:#?}", app.letters(session));
    }
    // A working holder keeps what it has, even if it is contested.
    app.note_activity(&"s1".into(), &ActivityUpdate::of(Status::Working)).unwrap();
    contest(app, 2, "docs/").unwrap();
    host.advance(30 * Timestamp::MINUTE);
    assert!(app.free_stuck().unwrap().is_empty());
    assert!(app.journal_verify().unwrap().is_sound());
}

/// Tells the story of tasks, beginning with an empty store.
pub fn task_story(engine: impl Engine + 'static) {
    let mut app = StoryApp::new(engine);
    let host = app.host().clone();
    host.write("/shop/main/spec.md", SPEC);
    join(&mut app, "s1", 1, NameWish::Insist("Falcon".into())).unwrap();
    join(&mut app, "s2", 2, NameWish::Insist("Raven".into())).unwrap();
    let mut claim = |pid, id| {
        let request = task(&app, pid, id);
        app.claim_task(&request).map(|claimed| (claimed.key.id, claimed.generation))
    };

    let (id, old) = claim(1, None).unwrap();
    assert_eq!(id, "TASK-01");
    assert!(matches!(claim(1, Some("TASK-02")), Err(TaskError::AlreadyHaveClaim { .. })));
    assert!(matches!(claim(2, Some("task-01")), Err(TaskError::AlreadyClaimed { by, .. }) if by == "Falcon"));
    assert!(matches!(claim(2, Some("TASK-02")), Err(TaskError::NotReady { .. })));
    assert!(matches!(claim(2, None), Err(TaskError::NothingReady { .. })));
    assert!(matches!(claim(2, Some("TASK-04")), Err(TaskError::AlreadyCompleted { .. })));
    assert!(matches!(claim(2, Some("TASK-0")), Err(TaskError::NoSuchTask { nearest: Some(_), .. })));
    assert!(matches!(complete(&mut app, 2, "TASK-01", None), Err(TaskError::NotYours { .. })));
    assert!(matches!(complete(&mut app, 2, "TASK-02", None), Err(TaskError::NotClaimed { .. })));

    // A dead agent's task is free again, under a higher generation; a completion with the
    // old generation is refused.
    host.kill(1);
    let request = task(&app, 2, None);
    let new = app.claim_task(&request).unwrap().generation;
    assert!(new > old);
    join(&mut app, "s1", 4, NameWish::Any).unwrap();
    assert!(matches!(complete(&mut app, 4, "TASK-01", Some(old)), Err(TaskError::TooLate { .. })));
    assert!(matches!(complete(&mut app, 4, "TASK-01", None), Err(TaskError::NotYours { .. })));
    let request = task(&app, 2, Some("TASK-01"));
    app.unclaim_task(&request).unwrap();
    assert!(matches!(app.unclaim_task(&request), Err(TaskError::NotClaimed { .. })));
    assert!(matches!(complete(&mut app, 2, "TASK-01", None), Err(TaskError::TooLate { .. })));

    // Only the person may mark the task as done although it is not claimed.
    let anyway = |task| CompleteRequest { task, generation: None, take_anyway: true };
    let request = anyway(task(&app, 2, Some("TASK-01")));
    assert!(matches!(app.complete_task(&request), Err(TaskError::NotAllowed(_))));
    let request = anyway(task(&app, 0, Some("TASK-01")));
    app.complete_task(&request).unwrap();
    assert!(matches!(app.complete_task(&request), Err(TaskError::AlreadyCompleted { .. })));

    // An agent that is idle for long on a task is told, once each time.
    let idle = |app: &mut StoryApp| {
        app.note_activity(&"s2".into(), &ActivityUpdate::of(Status::Idle)).unwrap();
        host.advance(16 * Timestamp::MINUTE);
        app.tell_of_stuck().unwrap()
    };
    assert_eq!(idle(&mut app), 0, "it has no task");

    // The task that depended on it is ready now.
    let request = task(&app, 2, None);
    assert_eq!(app.claim_task(&request).unwrap().key.id, "TASK-02");
    assert_eq!((idle(&mut app), app.tell_of_stuck().unwrap(), idle(&mut app)), (1, 0, 1));
    let told = "You have been idle for 16m on the task TASK-02 of spec.md.";
    assert!(app.letters("s2").iter().any(|text| text.starts_with(told)), "{:#?}", app.letters("s2"));
    complete(&mut app, 2, "TASK-02", None).unwrap();
    let request = task(&app, 2, None);
    assert_eq!(app.claim_task(&request).unwrap().key.id, "TASK-03");
    app.leave(&"s2".into(), LeaveReason::Ended, Actor::Consort).unwrap();
    let request = task(&app, 4, None);
    let outcome = app.tasks(&request).unwrap();
    let ready: Vec<&str> =
        outcome.tasks.iter().filter(|task| task.ready).map(|task| task.id.as_str()).collect();
    assert_eq!((ready, outcome.done), (vec!["TASK-03"], 3));
    assert!(app.journal_verify().unwrap().is_sound());
}
