//! The story test of presence and the journal that every engine must pass, and the app
//! on which all stories run.

use std::ops::Deref;
use std::ops::DerefMut;

use consort_core::App;
use consort_core::Timestamp;
use consort_core::config::Retention;
use consort_core::engine::Engine;
use consort_core::host::Processes as _;
use consort_core::journal::Actor;
use consort_core::journal::TailRequest;
use consort_core::messages::UnreadLettersRequest;
use consort_core::presence::ActivityOutcome;
use consort_core::presence::ActivityUpdate;
use consort_core::presence::Agent;
use consort_core::presence::Caller;
use consort_core::presence::CallerFacts;
use consort_core::presence::JoinOutcome;
use consort_core::presence::JoinRequest;
use consort_core::presence::LeaveReason;
use consort_core::presence::NameWish;
use consort_core::presence::NotAllowed;
use consort_core::presence::Observed;
use consort_core::presence::PresenceError;
use consort_core::presence::Proof;
use consort_core::presence::SessionId;
use consort_core::presence::Status;
use consort_core::presence::WhoOutcome;
use consort_core::presence::WhoScope;

use crate::FakeHost;

/// The retention of a month for everything.
pub const MONTH_RETENTION: Retention = Retention { journal_days: 30, message_days: 30 };

/// An app with any engine, on a fake machine.
pub struct StoryApp {
    app: App,
    host: FakeHost,
}

impl StoryApp {
    pub fn new(engine: impl Engine + 'static) -> Self {
        let host = FakeHost::default();
        Self { app: App::new(engine, host.clone()), host }
    }

    /// Returns the fake machine that the app runs on.
    pub fn host(&self) -> &FakeHost {
        &self.host
    }

    /// Returns the texts of a session's waiting letters.
    pub fn letters(&mut self, session: &str) -> Vec<String> {
        let request = UnreadLettersRequest { mailbox: Actor::Agent(session.into()), from: None, peek: true };
        let letters = self.app.inbox(&request).unwrap();
        letters.into_iter().map(|letter| letter.message.sent.text.clone()).collect()
    }
}

impl Deref for StoryApp {
    type Target = App;

    fn deref(&self) -> &App {
        &self.app
    }
}

impl DerefMut for StoryApp {
    fn deref_mut(&mut self) -> &mut App {
        &mut self.app
    }
}

/// Asks to join from `/shop/main`, hosted by process `pid`, which is started.
pub fn join(
    app: &mut StoryApp,
    session: &str,
    pid: u32,
    wish: NameWish,
) -> Result<JoinOutcome, PresenceError> {
    join_at(app, session, pid, wish, "/shop/main")
}

/// Asks to join from `cwd`, hosted by process `pid`, which is started.
pub fn join_at(
    app: &mut StoryApp,
    session: &str,
    pid: u32,
    wish: NameWish,
    cwd: &str,
) -> Result<JoinOutcome, PresenceError> {
    let process = app.host().start_process(pid, "first");
    app.join(&JoinRequest {
        session: session.into(),
        wish,
        kind: "test".into(),
        process,
        cwd: cwd.into(),
        model: None,
        terminal: Default::default(),
        spec: None,
        replaces: None,
    })
}

/// Returns the facts about the caller that the host is set to, with the session that it claims to be.
pub fn facts(host: &FakeHost, claimed: Option<&str>) -> CallerFacts {
    let hints = claimed.map(Into::into).into_iter().collect();
    CallerFacts { ancestors: host.ancestors(), hints, proof: Proof::Typed, ..Default::default() }
}

/// Lists all agents, with no more than the store tells of them.
pub fn who(app: &mut StoryApp) -> WhoOutcome {
    app.who(&WhoScope::Everywhere, None, nothing_observed).unwrap()
}

fn nothing_observed(agents: &[Agent]) -> Vec<Observed> {
    agents.iter().map(|_| Observed::default()).collect()
}

/// Lists names and states, in the order of attention: `Bear working, Raven gone`.
pub fn roster(app: &mut StoryApp) -> String {
    let agents = who(app).agents;
    let one = |seen: &consort_core::presence::AgentView| {
        format!("{} {}", seen.agent.name, format!("{:?}", seen.status).to_lowercase())
    };
    agents.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Tells the story of presence and the journal, beginning with an empty store.
pub fn store_story(engine: impl Engine + 'static) {
    let mut app = StoryApp::new(engine);
    let host = app.host().clone();
    let raven: SessionId = "s-raven".into();
    assert_eq!(roster(&mut app), "");

    // Joining gives a name, one entry and one notification; joining again changes nothing.
    let joined = join(&mut app, "s-raven", 10, NameWish::Insist("Raven".into())).unwrap();
    assert!(joined.joined);
    assert_eq!((app.journal_last_seq().unwrap(), host.notified()), (1, 1));
    let again = join(&mut app, "s-raven", 10, NameWish::Prefer("Other".into())).unwrap();
    assert!(!again.joined);
    assert_eq!(again.agent.name.as_str(), "Raven");
    assert_eq!(app.journal_last_seq().unwrap(), 1);

    // Two agents cannot have the same name, whatever its case.
    let taken = join(&mut app, "s-bear", 11, NameWish::Insist("raven".into()));
    assert!(matches!(taken, Err(PresenceError::NameTaken { .. })));
    let bear = join(&mut app, "s-bear", 11, NameWish::Prefer("raven".into())).unwrap();
    assert_eq!(bear.agent.name.as_str(), "raven2");
    assert_eq!(bear.others.len(), 1);
    app.rename(&"s-bear".into(), "Bear", Actor::Person).unwrap();
    let same = app.rename(&"s-bear".into(), "Bear", Actor::Person);
    assert!(matches!(same, Err(PresenceError::SameName { .. })));
    let taken = app.rename(&"s-bear".into(), "RAVEN", Actor::Person);
    assert!(matches!(taken, Err(PresenceError::NameTaken { .. })));

    pulses_and_callers(&mut app);

    // A reused process id does not mean that the agent is alive; reading that it is gone adds no entry.
    host.start_process(10, "second");
    assert_eq!(roster(&mut app), "Bear idle, Raven gone");
    let after_death = app.journal_last_seq().unwrap();
    assert_eq!(roster(&mut app), "Bear idle, Raven gone");
    assert_eq!(app.journal_last_seq().unwrap(), after_death);

    // A session that comes back has its name back, unless someone took it.
    host.kill(10);
    let back = join(&mut app, "s-raven", 12, NameWish::Any).unwrap();
    assert_eq!(back.agent.name.as_str(), "Raven");

    // Asked to leave, it stays away until it asks to join.
    app.leave(&raven, LeaveReason::Asked, Actor::Person).unwrap().unwrap();
    assert_eq!(app.leave(&raven, LeaveReason::Asked, Actor::Person).unwrap(), None);
    assert_eq!(
        app.note_activity(&raven, &ActivityUpdate::of(Status::Working)).unwrap(),
        ActivityOutcome::Dormant
    );
    assert_eq!(roster(&mut app), "Bear idle, Raven gone");

    told_and_forgotten(&mut app);
}

fn pulses_and_callers(app: &mut StoryApp) {
    let host = app.host().clone();
    let raven: SessionId = "s-raven".into();
    // Notes of activity add no entry to the journal.
    let before = app.journal_last_seq().unwrap();
    assert_eq!(
        app.note_activity(&raven, &ActivityUpdate::of(Status::Working)).unwrap(),
        ActivityOutcome::Noted
    );
    assert_eq!(
        app.note_activity(&"nobody".into(), &ActivityUpdate::of(Status::Idle)).unwrap(),
        ActivityOutcome::Stranger
    );
    app.subagent_started(&raven, "a1", "Explore").unwrap();
    assert_eq!(app.journal_last_seq().unwrap(), before);
    assert_eq!(roster(app), "Raven working, Bear idle");
    assert_eq!(who(app).agents[0].subagents[0].kind, "Explore");
    app.subagent_stopped(&raven, "a1").unwrap();
    assert!(who(app).agents[0].subagents.is_empty());

    // The caller is the nearest registered ancestor, whatever the environment says.
    host.set_caller_ancestors(&[99, 11, 10]);
    let caller = app.caller(&facts(&host, Some("s-raven"))).unwrap();
    assert!(matches!(caller, Caller::Agent(agent) if agent.name.as_str() == "Bear"));
    host.set_caller_ancestors(&[99]);
    let person = facts(&host, Some("s-raven"));
    assert_eq!(app.caller(&person).unwrap(), Caller::Person, "a hint makes nobody an agent");
    let in_agent = CallerFacts { in_agent: true, ..person.clone() };
    assert_eq!(app.caller(&in_agent).unwrap(), Caller::Anonymous(NotAllowed::NotJoined));
    let nobody = CallerFacts { proof: Proof::default(), ..person };
    assert!(matches!(app.caller(&nobody).unwrap(), Caller::Anonymous(NotAllowed::Anonymous(_))));
}

fn told_and_forgotten(app: &mut StoryApp) {
    // The journal has all entries, in order and without gaps.
    let entries = app.journal_tail(&TailRequest { limit: 100, ..Default::default() }).unwrap();
    let seqs: Vec<i64> = entries.iter().map(|entry| entry.seq).collect();
    assert_eq!(seqs, (1..=i64::try_from(seqs.len()).unwrap()).collect::<Vec<_>>());
    let since = TailRequest { after: Some(2), limit: 2, ..Default::default() };
    assert_eq!(app.journal_tail(&since).unwrap().iter().map(|entry| entry.seq).collect::<Vec<_>>(), [3, 4]);
    assert!(app.journal_verify().unwrap().is_sound());

    // Retention forgets agents that left long ago, keeps what is needed, and returns its count.
    app.host().advance(40 * Timestamp::DAY);
    let dropped = app.apply_retention(MONTH_RETENTION).unwrap();
    assert!(dropped > 0);
    assert_eq!(app.apply_retention(MONTH_RETENTION).unwrap(), 0);
    assert_eq!(roster(app), "Bear idle");
    let verification = app.journal_verify().unwrap();
    assert!(verification.is_sound(), "{verification:?}");
    let rebuilt = app.journal_rebuild().unwrap();
    assert_eq!(rebuilt, verification.entries);
    assert_eq!(roster(app), "Bear idle");
}
