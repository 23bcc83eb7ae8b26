//! Notifications to the person: the journal entries that cause one, its words, and the quiet
//! hours. Pure.

use crate::journal::Actor;
use crate::journal::Change;
use crate::journal::Entry;
use crate::messages::MessageChange;
use crate::monitor::MonitorChange;
use crate::monitor::RecordedPaneState;
use crate::policy::PolicyChange;
use crate::presence::SessionId;
use crate::secrets;
use crate::text;

/// Most notices that are shown one by one.
const MOST: usize = 3;

/// Longest text of a notice, in characters.
const LONGEST: usize = 120;

/// A notification to the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PersonNotice {
    /// The agent that the notice is about.
    pub agent: String,
    pub text: String,
    /// Whether the agent waits for an answer.
    pub is_question: bool,
    /// Whether the question was read from the agent's screen; a hook may have reported it already.
    pub is_seen: bool,
}

/// Makes the notices for an entry; `name` returns the name of a session.
pub fn of_entry(entry: &Entry, name: &mut dyn FnMut(&SessionId) -> String) -> Vec<PersonNotice> {
    let notice = |agent: String, what: &str| {
        let text = text::one_line(&secrets::redacted(&format!("{agent} {what}")), LONGEST);
        Some(PersonNotice { agent, text, is_question: false, is_seen: false })
    };
    let of_change = |change: &Change| match change {
        Change::Policy(PolicyChange::Asked(ask)) if ask.holder.is_some() => {
            let told = notice(name(&ask.session), &format!("asks: {} {}", ask.tool, ask.text));
            told.map(|told| PersonNotice { is_question: true, ..told })
        }
        Change::Monitor(MonitorChange::Turned(turn)) => {
            let about = turn.about.as_deref().unwrap_or_default();
            let what = match turn.state {
                RecordedPaneState::Waiting => format!("waits for you: {about}"),
                RecordedPaneState::Limit => format!("has hit its limit: {about}"),
                RecordedPaneState::Error => format!("has an error: {about}"),
                RecordedPaneState::Stalled => format!("has stalled: {about}"),
                RecordedPaneState::Finished => "has finished".to_owned(),
                RecordedPaneState::Dead => "has crashed".to_owned(),
                RecordedPaneState::Exited | RecordedPaneState::Unconfirmed | RecordedPaneState::Working => {
                    return None;
                }
            };
            let is_seen = turn.state == RecordedPaneState::Waiting;
            let told = notice(turn.name.to_string(), what.trim_end_matches([':', ' ']));
            told.map(|told| PersonNotice { is_question: is_seen, is_seen, ..told })
        }
        Change::Messages(MessageChange::Sent(sent)) if sent.to.iter().any(|to| to.who == Actor::Person) => {
            notice(sent.from.name.clone(), &format!("writes: {}", sent.text))
        }
        _ => None,
    };
    entry.changes.iter().map(|kept| &kept.change).filter_map(of_change).collect()
}

/// Joins notices into one text; a question seen on a screen is left out if another notice reports
/// one of the same agent.
pub fn join_notices(notices: &[PersonNotice]) -> Option<String> {
    let is_news = |(at, notice): &(usize, &PersonNotice)| {
        let tells_it = |(place, other): (usize, &PersonNotice)| {
            other.agent == notice.agent && other.is_question && (place < *at || !other.is_seen)
        };
        !(notice.is_seen && notices.iter().enumerate().any(tells_it))
    };
    let news: Vec<&PersonNotice> =
        notices.iter().enumerate().filter(is_news).map(|(_, notice)| notice).collect();
    let mut lines: Vec<String> = news.iter().take(MOST).map(|notice| notice.text.clone()).collect();
    if news.len() > MOST {
        lines.push(format!("and {} more", news.len() - MOST));
    }
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Parses the quiet hours of a setting, `22:00-07:00`, into minutes of the day.
pub fn parse_quiet_hours(text: &str) -> Option<(u32, u32)> {
    let minute = |text: &str| {
        let (hours, minutes) = text.trim().split_once(':')?;
        let (hours, minutes): (u32, u32) = (hours.parse().ok()?, minutes.parse().ok()?);
        (hours < 24 && minutes < 60).then_some(hours * 60 + minutes)
    };
    let (from, to) = text.split_once('-')?;
    Some((minute(from)?, minute(to)?))
}

/// Tells whether a minute of the day is within quiet hours, which may go over midnight.
pub fn is_in_quiet_hours((from, to): (u32, u32), minute: u32) -> bool {
    if from <= to { (from..to).contains(&minute) } else { minute >= from || minute < to }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quiet_hours_may_go_over_midnight() {
        let night = parse_quiet_hours("22:00-07:30").unwrap();
        for (minute, is) in
            [(22 * 60, true), (0, true), (7 * 60 + 29, true), (7 * 60 + 30, false), (12 * 60, false)]
        {
            assert_eq!(is_in_quiet_hours(night, minute), is, "{minute}");
        }
        assert!(is_in_quiet_hours(parse_quiet_hours("12:00-13:00").unwrap(), 12 * 60));
        for wrong in ["", "22-7", "25:00-07:00", "22:00", "22:61-07:00"] {
            assert_eq!(parse_quiet_hours(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn what_a_hook_has_told_is_not_told_again() {
        let notice = |(agent, is_seen): (&str, bool)| PersonNotice {
            agent: agent.into(),
            text: format!("{agent} waits"),
            is_question: true,
            is_seen,
        };
        let all =
            [("A", false), ("A", true), ("B", true), ("C", true), ("D", false), ("E", true)].map(notice);
        assert_eq!(join_notices(&all).unwrap(), "A waits\nB waits\nC waits\nand 2 more");
        assert_eq!(join_notices(&[]), None);
        assert_eq!(join_notices(&[("A", true), ("A", false)].map(notice)).unwrap(), "A waits");
        // Other notices of the same agent are kept.
        let other =
            |text: &str| PersonNotice { text: text.into(), is_question: false, ..notice(("A", false)) };
        let all = [other("A writes: one"), notice(("A", true)), other("A has an error")];
        assert_eq!(join_notices(&all).unwrap(), "A writes: one\nA waits\nA has an error");
    }
}
