//! Tests that peers which talk y-protocols end with the same content.

#![expect(clippy::unwrap_used, reason = "a helper that cannot go on should stop the test")]

use consort_crdt::Change;
use consort_crdt::Document;
use consort_crdt::Edit;
use consort_crdt::Stamp;
use consort_crdt::sync;
use consort_crdt::sync::Answer;
use serde_json::Value;
use serde_json::json;

fn write(document: &mut Document, writer: u64, value: i64) -> Vec<u8> {
    let before = document.state_vector();
    let change = Change::Set { field: "f".to_owned(), value: json!(value) };
    let edit = Edit { entity: format!("of {writer}"), change };
    document.edit(&[edit], &Stamp { at: value, writer, by: Value::Null }).unwrap();
    document.update_since(&before).unwrap()
}

/// Lets both peers greet, and passes frames on until neither replies.
fn converse(server: &mut Document, client: &mut Document, may_write: bool) -> Vec<Answer> {
    let mut to_client = vec![sync::greeting_frame(server)];
    let mut to_server = vec![sync::greeting_frame(client)];
    let mut answers = Vec::new();
    while !to_client.is_empty() || !to_server.is_empty() {
        for frame in std::mem::take(&mut to_server) {
            let answer = sync::answer(server, &frame, may_write).unwrap();
            to_client.extend(answer.replies.clone());
            answers.push(answer);
        }
        for frame in std::mem::take(&mut to_client) {
            to_server.extend(sync::answer(client, &frame, true).unwrap().replies);
        }
    }
    answers
}

#[test]
fn two_that_meet_end_alike() {
    let (mut server, mut client) = (Document::new(), Document::new());
    write(&mut server, 1, 10);
    write(&mut client, 2, 20);
    let answers = converse(&mut server, &mut client, true);
    assert_eq!(server.entities(), client.entities());
    assert_eq!(server.entities().len(), 2);
    assert_eq!(answers.iter().map(|answer| answer.merged.len()).sum::<usize>(), 1);
    assert_eq!(answers.iter().filter(|answer| answer.relay.is_some()).count(), 1);
    let again = converse(&mut server, &mut client, true);
    assert!(again.iter().all(|answer| answer.merged.is_empty() && answer.relay.is_none()));
}

#[test]
fn one_that_may_only_read_gets_all_and_changes_nothing() {
    let (mut server, mut client) = (Document::new(), Document::new());
    write(&mut server, 1, 10);
    let update = write(&mut client, 2, 20);
    let before = server.state();
    let answers = converse(&mut server, &mut client, false);
    assert!(answers.iter().all(|answer| answer.merged.is_empty() && answer.relay.is_none()));
    assert_eq!(sync::answer(&mut server, &sync::update_frame(&update), false).unwrap(), Answer::default());
    assert_eq!((server.state(), client.entities().len()), (before, 2));
}

#[test]
fn an_update_is_passed_on_once() {
    let (mut server, mut client) = (Document::new(), Document::new());
    let frame = sync::update_frame(&write(&mut client, 2, 20));
    let answer = sync::answer(&mut server, &frame, true).unwrap();
    assert_eq!((answer.merged.len(), answer.relay.as_ref(), answer.replies.len()), (1, Some(&frame), 0));
    assert_eq!(answer.update.map(|update| sync::update_frame(&update)), Some(frame.clone()));
    assert_eq!(sync::answer(&mut server, &frame, true).unwrap(), Answer::default());
}

#[test]
fn one_that_sends_the_second_before_the_first_is_greeted_again() {
    let (mut server, mut client) = (Document::new(), Document::new());
    write(&mut client, 2, 20);
    let second = sync::update_frame(&write(&mut client, 2, 21));
    let answer = sync::answer(&mut server, &second, true).unwrap();
    assert_eq!(
        answer,
        Answer { replies: vec![sync::greeting_frame(&server)], is_gap: true, ..Answer::default() }
    );
    let all = sync::answer(&mut client, &answer.replies[0], true).unwrap().replies;
    sync::answer(&mut server, &all[0], true).unwrap();
    assert_eq!(server.entities(), client.entities());
}

#[test]
fn presence_is_passed_on_as_it_is_and_the_unknown_refused() {
    let mut document = Document::new();
    for frame in [&[1, 1, 0][..], &[1, 7, 1, 9, 1, 3, b'"', b'a', b'"'], &[3]] {
        let answer = sync::answer(&mut document, frame, false).unwrap();
        assert_eq!(answer, Answer { relay: Some(frame.to_vec()), ..Answer::default() });
    }
    for frame in [
        &[][..],
        &[0],
        &[1],
        &[1, 9, 1],
        &[1, 2, 9, 9],
        &[1, 2, 0, 0],
        &[1, 6, 1, 9, 1, 2, b'"', b'a'],
        &[2, 0],
        &[4],
        &[0, 3, 0],
        &[0, 0, 0],
        &[0, 2, 1, 9],
        &[3, 0],
    ] {
        assert!(sync::answer(&mut document, frame, true).is_err(), "{frame:?}");
    }
}
