//! The story test of messages that every engine must pass.

use consort_core::Timestamp;
use consort_core::engine::Engine;
use consort_core::host::NewsTopic;
use consort_core::journal::Actor;
use consort_core::journal::Change;
use consort_core::journal::Number;
use consort_core::journal::TailRequest;
use consort_core::messages::DeliveredBatch;
use consort_core::messages::DeliveryPoint;
use consort_core::messages::MessageChange;
use consort_core::messages::MessageError;
use consort_core::messages::MessageName;
use consort_core::messages::MessageRefusal;
use consort_core::messages::Recipients;
use consort_core::messages::SendRequest;
use consort_core::messages::UnreadLettersRequest;
use consort_core::presence::LeaveReason;
use consort_core::presence::NameWish;

use crate::store_story::MONTH_RETENTION;
use crate::store_story::StoryApp;
use crate::store_story::facts;
use crate::store_story::join;

/// Makes a request from the caller that the host is set to.
pub fn request(app: &StoryApp, to: &[&str], text: &str) -> SendRequest {
    let to = Recipients::Named(to.iter().map(|name| (*name).to_owned()).collect());
    SendRequest { caller: facts(app.host(), None), to, text: text.into(), ..Default::default() }
}

/// Sends a message; `from` is the process that hosts the sender, 0 for the person.
fn send(app: &mut StoryApp, from: u32, to: &[&str], text: &str) -> Result<Number, MessageRefusal> {
    app.host().set_caller_ancestors(&[from]);
    let request = request(app, to, text);
    refusal(app.send(&request).map(|outcome| outcome.number))
}

fn refusal<T>(result: Result<T, MessageError>) -> Result<T, MessageRefusal> {
    result.map_err(|error| match error {
        MessageError::Refused(refusal) => refusal,
        MessageError::Store(error) => panic!("{error}"),
    })
}

fn named(number: Number) -> MessageName {
    MessageName::Number { project: None, number }
}

fn who(session: &str) -> Actor {
    Actor::Agent(session.into())
}

/// Reads a mailbox to its end; returns the messages' numbers in order.
fn read(app: &mut StoryApp, mailbox: &Actor) -> Vec<Number> {
    app.host().play_process(99);
    let letters =
        app.inbox(&UnreadLettersRequest { mailbox: mailbox.clone(), from: None, peek: false }).unwrap();
    app.mark_read(mailbox, &letters).unwrap();
    letters.iter().map(|letter| letter.message.number).collect()
}

/// Collects the mail of a session as a hook in the process `pid` would.
fn collect(app: &mut StoryApp, pid: u32, session: &str, moment: DeliveryPoint) -> Option<DeliveredBatch> {
    app.host().play_process(pid);
    app.collect(&session.into(), moment, &|_| None).unwrap()
}

/// Describes the receipts of the last message sent: `Bear read, you waiting`.
fn receipts(app: &mut StoryApp, from: &Actor) -> String {
    let last = app.sent(from, 1).unwrap().pop().unwrap();
    let one = |receipt: &consort_core::messages::DeliveryReceipt| {
        format!("{} {}", receipt.name, format!("{:?}", receipt.state).to_lowercase())
    };
    last.receipts.iter().map(one).collect::<Vec<_>>().join(", ")
}

pub fn messages_story(engine: impl Engine + 'static) {
    let mut app = StoryApp::new(engine);
    let host = app.host().clone();
    for (session, pid, name) in [("raven", 10, "Raven"), ("bear", 11, "Bear")] {
        join(&mut app, session, pid, NameWish::Insist(name.into())).unwrap();
    }

    refused(&mut app);

    // A message is one entry with one letter, and notifies only its recipients.
    let before = app.journal_last_seq().unwrap();
    let first = send(&mut app, 10, &["bear"], "hello").unwrap();
    assert_eq!((first, app.journal_last_seq().unwrap()), (1, before + 1));
    assert!(host.last_notified().contains(&NewsTopic::Mailbox(who("bear"))));
    assert!(!host.last_notified().contains(&NewsTopic::Mailbox(Actor::Person)));
    assert_eq!(receipts(&mut app, &who("raven")), "Bear waiting");
    let peek = UnreadLettersRequest { mailbox: who("bear"), from: None, peek: true };
    assert_eq!(app.inbox(&peek).unwrap().len(), 1);
    assert_eq!(read(&mut app, &who("bear")), [first]);
    assert_eq!(read(&mut app, &who("bear")), [0; 0]);
    assert_eq!(receipts(&mut app, &who("raven")), "Bear read");

    // A message with the same key is sent once; another text with that key is refused.
    host.set_caller_ancestors(&[10]);
    let keyed = SendRequest { key: Some("k".into()), ..request(&app, &["Bear"], "once") };
    let outcome = app.send(&keyed).unwrap();
    let again = app.send(&keyed).unwrap();
    assert!(!outcome.duplicate && again.duplicate && again.number == outcome.number);
    let other = SendRequest { text: "other".into(), ..keyed };
    assert!(matches!(refusal(app.send(&other)), Err(MessageRefusal::KeyUsed { .. })));
    assert_eq!(read(&mut app, &who("bear")), [outcome.number]);

    // A reply without names finds the sender, even renamed, and joins the thread.
    app.rename(&"raven".into(), "Crow", Actor::Person).unwrap();
    host.set_caller_ancestors(&[11]);
    let reply = SendRequest {
        to: Recipients::Sender,
        reply_to: Some(named(first)),
        ..request(&app, &[], "hello yourself")
    };
    let reply = app.send(&reply).unwrap();
    assert_eq!(reply.to[0].name, "Crow");
    let here = app.find_agent("Bear").unwrap().project.id;
    let thread: Vec<Number> = app
        .thread(&named(reply.number), Some(&here))
        .unwrap()
        .iter()
        .map(|post| post.message.number)
        .collect();
    assert_eq!(thread, [first, reply.number]);
    assert_eq!(read(&mut app, &who("raven")), [reply.number]);

    // A reply to one's own message goes to its recipients.
    let more = SendRequest {
        to: Recipients::Sender,
        reply_to: Some(named(reply.number)),
        ..request(&app, &[], "and")
    };
    assert_eq!(app.send(&more).unwrap().to[0].name, "Crow");
    assert_eq!(read(&mut app, &who("raven")).len(), 1);

    // The person gets mail too; `all` means all other agents.
    let to_person = send(&mut app, 11, &["@me"], "look").unwrap();
    assert_eq!(read(&mut app, &Actor::Person), [to_person]);
    let to_all = send(&mut app, 11, &["all"], "everyone").unwrap();
    assert_eq!(receipts(&mut app, &who("bear")), "Crow waiting");
    assert_eq!(read(&mut app, &who("raven")), [to_all]);

    by_hooks(&mut app);
    in_batches(&mut app);
    let three = inherited_by_name(&mut app);
    forgotten(&mut app, three);
}

/// Refusals change nothing.
fn refused(app: &mut StoryApp) {
    let before = app.journal_last_seq().unwrap();
    assert_eq!(send(app, 10, &["Bear"], " "), Err(MessageRefusal::Empty));
    let unknown = MessageRefusal::NoSuchAgent { name: "Bears".into(), nearest: Some("Bear".into()) };
    assert_eq!(send(app, 10, &["Bears"], "hi"), Err(unknown));
    assert_eq!(send(app, 10, &["raven"], "hi"), Err(MessageRefusal::ToSelf { name: "Raven".into() }));
    assert_eq!(send(app, 10, &[], "hi"), Err(MessageRefusal::Nobody));
    let as_bear = SendRequest { as_agent: Some("Bear".into()), ..request(app, &["@me"], "forged") };
    assert!(matches!(refusal(app.send(&as_bear)), Err(MessageRefusal::NotTheCaller { .. })));
    assert_eq!(app.journal_last_seq().unwrap(), before);
}

/// Delivers letters by hooks: handed over, shown, and read once the model has answered.
fn by_hooks(app: &mut StoryApp) {
    let host = app.host().clone();
    assert_eq!(collect(app, 50, "bear", DeliveryPoint::AfterTool), None);
    let one = send(app, 10, &["Bear"], "one").unwrap();
    assert_eq!(collect(app, 50, "bear", DeliveryPoint::BeforeTool), None);
    let batch = collect(app, 50, "bear", DeliveryPoint::AfterTool).unwrap();
    assert!(batch.text.contains("> one") && batch.text.contains("from Crow"), "{}", batch.text);
    assert_eq!(receipts(app, &who("raven")), "Bear delivered");
    app.note_batch_shown(&batch).unwrap();
    host.kill(50);
    assert_eq!(collect(app, 51, "bear", DeliveryPoint::AfterTool), None);
    assert_eq!(receipts(app, &who("raven")), "Bear delivered");
    host.advance(1_000);
    assert_eq!(collect(app, 52, "bear", DeliveryPoint::BeforeTool), None);
    assert_eq!(receipts(app, &who("raven")), "Bear read");

    // If the hook is killed before it has shown the letter, the letter is delivered again and says
    // so; not while the hook is still running.
    let two = send(app, 10, &["Bear"], "two").unwrap();
    collect(app, 60, "bear", DeliveryPoint::AfterTool).unwrap();
    assert_eq!(collect(app, 61, "bear", DeliveryPoint::AfterTool), None);
    host.kill(60);
    let batch = collect(app, 62, "bear", DeliveryPoint::Prompt).unwrap();
    assert!(batch.text.contains("shown again"), "{}", batch.text);
    app.note_batch_shown(&batch).unwrap();
    assert_eq!(collect(app, 63, "bear", DeliveryPoint::End { may_go_on: true }), None);
    assert_eq!(receipts(app, &who("raven")), "Bear read");
    assert!(two > one);
}

/// Delivers many letters a batch at a time, says that there are more, and finds fresh letters behind stale ones.
fn in_batches(app: &mut StoryApp) {
    let host = app.host().clone();
    for n in 0..25 {
        send(app, 10, &["Bear"], &format!("letter {n}")).unwrap();
    }
    let shown = |app: &mut StoryApp, pid: u32, moment: DeliveryPoint| {
        let batch = collect(app, pid, "bear", moment).unwrap();
        app.note_batch_shown(&batch).unwrap();
        host.kill(pid);
        batch.text
    };
    let text = shown(app, 80, DeliveryPoint::AfterTool);
    assert!(text.contains("24 messages") && text.contains("[consort] more: `consort inbox`"), "{text}");
    let text = shown(app, 81, DeliveryPoint::AfterTool);
    assert!(text.contains("> letter 24") && !text.contains("more:"), "{text}");
    host.advance(1_000);
    assert_eq!(collect(app, 82, "bear", DeliveryPoint::BeforeTool), None);

    for n in 0..40 {
        send(app, 10, &["Bear"], &format!("old {n}")).unwrap();
    }
    host.advance(31 * Timestamp::MINUTE);
    send(app, 10, &["Bear"], "fresh").unwrap();
    let text = shown(app, 83, DeliveryPoint::AfterTool);
    assert!(text.contains("> fresh") && !text.contains("> old"), "{text}");
    assert_eq!(collect(app, 84, "bear", DeliveryPoint::AfterTool), None);
    let text = shown(app, 85, DeliveryPoint::Prompt);
    assert!(text.contains("> old 0") && text.contains("more: `consort inbox`"), "{text}");
    assert_eq!(read(app, &who("bear")).len(), 16);
    host.advance(1_000);
    assert_eq!(collect(app, 86, "bear", DeliveryPoint::BeforeTool), None);
}

/// Passes the waiting letters of an agent that is gone to the one that takes its name.
fn inherited_by_name(app: &mut StoryApp) -> Number {
    let host = app.host().clone();
    let three = send(app, 10, &["Bear"], "three").unwrap();
    host.kill(11);
    assert_eq!(send(app, 10, &["Bear"], "late"), Err(MessageRefusal::Gone { name: "Bear".into() }));
    join(app, "wolf", 12, NameWish::Prefer("Wolf".into())).unwrap();
    assert_eq!(read(app, &who("wolf")), [0; 0]);
    join(app, "bear-2", 13, NameWish::Prefer("Bear".into())).unwrap();
    assert_eq!(receipts(app, &who("raven")), "Bear waiting");
    assert!(collect(app, 70, "bear-2", DeliveryPoint::Start).unwrap().text.contains("> three"));
    host.kill(70);
    // A delivery that was cut short waits for the session until it comes back.
    app.leave(&"bear-2".into(), LeaveReason::Ended, Actor::Person).unwrap();
    join(app, "bear-2", 14, NameWish::Any).unwrap();
    assert_eq!(read(app, &who("bear-2")), [three]);
    three
}

/// Retention forgets read messages after some time; unread ones only with their recipient,
/// and the journal says so.
fn forgotten(app: &mut StoryApp, three: Number) {
    let host = app.host().clone();
    let four = send(app, 10, &["Wolf"], "four").unwrap();
    let sent = app.sent(&who("raven"), 1).unwrap();
    let ids = std::collections::BTreeMap::from([(four, sent[0].message.id)]);
    let kept = send(app, 10, &["@me"], "kept").unwrap();
    host.kill(12);
    crate::store_story::roster(app);
    host.advance(31 * Timestamp::DAY);
    app.apply_retention(MONTH_RETENTION).unwrap();
    let entries = app.journal_tail(&TailRequest { limit: 1_000, ..Default::default() }).unwrap();
    let mut news = entries.iter().flat_map(|entry| &entry.changes);
    let is_dropped = |change: &MessageChange| match change {
        MessageChange::Dropped { to, messages } => *to == who("wolf") && *messages == [ids[&four]],
        _ => false,
    };
    assert!(news.any(|kept| matches!(&kept.change, Change::Messages(change) if is_dropped(change))));
    assert!(matches!(refusal(app.thread(&named(three), None)), Err(MessageRefusal::NoSuchMessage { .. })));
    assert_eq!(app.unread_count(&Actor::Person).unwrap(), 1);

    let verification = app.journal_verify().unwrap();
    assert!(verification.is_sound(), "{verification:?}");
    app.journal_rebuild().unwrap();
    assert_eq!(read(app, &Actor::Person), [kept]);
    host.advance(62 * Timestamp::DAY);
    app.apply_retention(MONTH_RETENTION).unwrap();
    assert!(app.journal_verify().unwrap().is_sound());
}
