//! The story test of convergence that every engine must pass.

use consort_core::Timestamp;
use consort_core::convergence::Prediction;
use consort_core::convergence::PredictionOutcome;
use consort_core::convergence::RadarView;
use consort_core::engine::Engine;
use consort_core::journal::Actor;
use consort_core::messages::UnreadLettersRequest;
use consort_core::presence::LeaveReason;
use consort_core::presence::NameWish;
use consort_core::project::ProjectId;

use crate::messages_story;
use crate::store_story::StoryApp;
use crate::store_story::join;

/// Prompts a session a minute later; returns what the session is told.
pub fn prompt(app: &mut StoryApp, session: &str, text: &str) -> Vec<String> {
    app.host().advance(Timestamp::MINUTE);
    app.note_prompt(&session.into(), text, &|_| None).unwrap()
}

/// Has a tool of a session read or write a file; returns what the session is told.
pub fn visit(app: &mut StoryApp, session: &str, path: &str, written: bool) -> Vec<String> {
    let path = std::path::Path::new("/shop/main").join(path);
    if written {
        app.note_writes(&session.into(), std::slice::from_ref(&path)).unwrap();
    }
    app.note_visit(&session.into(), &path, written, false, &|_| None).unwrap()
}

pub fn radar(app: &mut StoryApp) -> RadarView {
    let project = project(app);
    app.radar(&project, &|_| None).unwrap()
}

/// Returns the predictions that have ended, newest first.
pub fn past(app: &mut StoryApp) -> Vec<Prediction> {
    app.past_predictions().unwrap().0
}

fn project(app: &mut StoryApp) -> ProjectId {
    app.project("/shop/main".as_ref()).unwrap().0.id
}

/// Reads a session's unread messages.
fn remarks(app: &mut StoryApp, session: &str) -> Vec<String> {
    app.host().play_process(100);
    let mailbox = Actor::Agent(session.into());
    let letters = app.inbox(&UnreadLettersRequest { mailbox, from: None, peek: false }).unwrap();
    letters.into_iter().map(|letter| letter.message.sent.text).collect()
}

/// Tells the story of agents whose work converges or does not, beginning with an empty store.
pub fn convergence_story(engine: impl Engine + 'static) {
    let mut app = StoryApp::new(engine);
    join(&mut app, "s1", 1, NameWish::Insist("Falcon".into())).unwrap();
    join(&mut app, "s2", 2, NameWish::Insist("Raven".into())).unwrap();

    // Both are told once: one in answer to its prompt, the other by a message.
    assert_eq!(deepen_until_told(&mut app, "cookie"), 1);
    let remarked = [remarks(&mut app, "s1"), remarks(&mut app, "s2")].concat();
    assert_eq!(remarked.len(), 1, "{remarked:#?}");
    assert!(remarked[0].contains("is deepening in cookie, as you are"), "{}", remarked[0]);
    for session in ["s1", "s2"] {
        assert_eq!(prompt(&mut app, session, &format!("cookie {session}y")), [""; 0]);
    }
    let seen = radar(&mut app);
    assert!(seen.pairs.iter().all(|pair| pair.prediction.is_none()), "both went on with it: {seen:#?}");
    let ended = &past(&mut app)[0];
    assert_eq!(ended.ended.as_ref().unwrap().outcome, PredictionOutcome::Occurred);
    assert_eq!(app.prediction(ended.number, ended.project.as_ref().unwrap()).unwrap(), *ended);

    // The agents meet in another topic; this time one writes to the other about it.
    let told = deepen_until_told(&mut app, "invoice");
    assert_eq!(told, 1);
    app.host().set_caller_ancestors(&[1]);
    let request = messages_story::request(&app, &["Raven"], "the invoice is mine until noon");
    app.send(&request).unwrap();
    assert_eq!(prompt(&mut app, "s1", "the invoice again").len(), 0);
    assert_eq!(radar(&mut app).tally.all.prevented, 1);

    // A third agent turns to a file that another works on, then leaves.
    join(&mut app, "s3", 3, NameWish::Insist("Bear".into())).unwrap();
    for words in ["one thing", "another matter", "something different"] {
        prompt(&mut app, "s3", words);
    }
    assert_eq!(visit(&mut app, "s1", "src/tax.rs", true), [""; 0]);
    let told = visit(&mut app, "s3", "src/tax.rs", false);
    assert!(told[0].contains("works on src/tax.rs, where you are too"), "{told:?}");
    assert!(told[0].contains("before editing tax.rs"), "{told:?}");
    assert_eq!(visit(&mut app, "s3", "src/tax.rs", false), [""; 0], "said once");
    app.leave(&"s3".into(), LeaveReason::Ended, Actor::Agent("s3".into())).unwrap();
    assert_eq!(past(&mut app)[0].ended.as_ref().unwrap().outcome, PredictionOutcome::Expired);

    // After the prediction, both work for an hour and have nothing in common.
    join(&mut app, "s4", 4, NameWish::Insist("Otter".into())).unwrap();
    for words in ["first thing", "second matter", "third affair"] {
        prompt(&mut app, "s4", words);
    }
    visit(&mut app, "s1", "src/tax.rs", true);
    assert_eq!(visit(&mut app, "s4", "src/tax.rs", false).len(), 1);
    app.host().advance(Timestamp::HOUR);
    prompt(&mut app, "s1", "lanterns");
    prompt(&mut app, "s4", "meadows");
    assert_eq!(past(&mut app)[0].ended.as_ref().unwrap().outcome, PredictionOutcome::FalsePositive);

    let tally = radar(&mut app).tally;
    assert_eq!((tally.all.total(), tally.threshold), (4, 0.35), "{tally:?}");
    assert!(app.journal_verify().unwrap().is_sound());
    app.journal_rebuild().unwrap();
    assert_eq!(past(&mut app).len(), 4);
    assert_eq!(radar(&mut app).tally, tally);
}

/// Has both agents deepen in a topic until one is told; returns how many texts it is told.
fn deepen_until_told(app: &mut StoryApp, topic: &str) -> usize {
    for round in 0..20 {
        for session in ["s1", "s2"] {
            let told = prompt(app, session, &format!("{topic} {session}x{round}"));
            if !told.is_empty() {
                return told.len();
            }
        }
    }
    0
}
