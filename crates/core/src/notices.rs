//! What the person is notified of: which entries of the journal, in which words, and when not.
//! Pure.

use crate::journal::Actor;
use crate::journal::Change;
use crate::journal::Entry;
use crate::messages::MessageChange;
use crate::monitor::MonitorChange;
use crate::monitor::TurnState;
use crate::policy::PolicyChange;
use crate::presence::SessionId;
use crate::secrets;
use crate::text;

/// So many are told one by one.
const MOST: usize = 3;

/// How much is told of each.
const LONGEST: usize = 120;

/// Something that the person may want to know now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// The agent that it is about.
    pub agent: String,
    pub text: String,
    /// Whether it waits for an answer.
    pub is_question: bool,
    /// Whether it was seen on a screen that shows what a hook may have told already.
    pub is_seen: bool,
}

/// What an entry tells the person; `name` says what a session is called.
pub fn of_entry(entry: &Entry, name: &mut dyn FnMut(&SessionId) -> String) -> Vec<Notice> {
    let notice = |agent: String, what: &str| {
        let text = text::one_line(&secrets::redacted(&format!("{agent} {what}")), LONGEST);
        Some(Notice { agent, text, is_question: false, is_seen: false })
    };
    let of_change = |change: &Change| match change {
        Change::Policy(PolicyChange::Asked(ask)) if ask.holder.is_some() => {
            let told = notice(name(&ask.session), &format!("asks: {} {}", ask.tool, ask.text));
            told.map(|told| Notice { is_question: true, ..told })
        }
        Change::Monitor(MonitorChange::Turned(turn)) => {
            let about = turn.about.as_deref().unwrap_or_default();
            let what = match turn.state {
                TurnState::Waiting => format!("waits for you: {about}"),
                TurnState::Limit => format!("has hit its limit: {about}"),
                TurnState::Error => format!("has an error: {about}"),
                TurnState::Stalled => format!("has stalled: {about}"),
                TurnState::Finished => "has finished".to_owned(),
                TurnState::Dead => "has crashed".to_owned(),
                TurnState::Exited | TurnState::Unconfirmed | TurnState::Working => return None,
            };
            let is_seen = turn.state == TurnState::Waiting;
            let told = notice(turn.name.to_string(), what.trim_end_matches([':', ' ']));
            told.map(|told| Notice { is_question: is_seen, is_seen, ..told })
        }
        Change::Messages(MessageChange::Sent(sent)) if sent.to.iter().any(|to| to.who == Actor::Person) => {
            notice(sent.from.name.clone(), &format!("writes: {}", sent.text))
        }
        _ => None,
    };
    entry.changes.iter().map(|kept| &kept.change).filter_map(of_change).collect()
}

/// Several as one text; what a hook has told is not told again because of a screen.
pub fn grouped(notices: &[Notice]) -> Option<String> {
    let is_news = |(at, notice): &(usize, &Notice)| {
        let tells_it = |(place, other): (usize, &Notice)| {
            other.agent == notice.agent && other.is_question && (place < *at || !other.is_seen)
        };
        !(notice.is_seen && notices.iter().enumerate().any(tells_it))
    };
    let news: Vec<&Notice> = notices.iter().enumerate().filter(is_news).map(|(_, notice)| notice).collect();
    let mut lines: Vec<String> = news.iter().take(MOST).map(|notice| notice.text.clone()).collect();
    if news.len() > MOST {
        lines.push(format!("and {} more", news.len() - MOST));
    }
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// The quiet hours of a setting, `22:00-07:00`, in minutes of the day.
pub fn quiet_hours(text: &str) -> Option<(u32, u32)> {
    let minute = |text: &str| {
        let (hours, minutes) = text.trim().split_once(':')?;
        let (hours, minutes): (u32, u32) = (hours.parse().ok()?, minutes.parse().ok()?);
        (hours < 24 && minutes < 60).then_some(hours * 60 + minutes)
    };
    let (from, to) = text.split_once('-')?;
    Some((minute(from)?, minute(to)?))
}

/// Whether a minute of the day is within them; they may go over midnight.
pub fn is_quiet((from, to): (u32, u32), minute: u32) -> bool {
    if from <= to { (from..to).contains(&minute) } else { minute >= from || minute < to }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quiet_hours_may_go_over_midnight() {
        let night = quiet_hours("22:00-07:30").unwrap();
        for (minute, is) in
            [(22 * 60, true), (0, true), (7 * 60 + 29, true), (7 * 60 + 30, false), (12 * 60, false)]
        {
            assert_eq!(is_quiet(night, minute), is, "{minute}");
        }
        assert!(is_quiet(quiet_hours("12:00-13:00").unwrap(), 12 * 60));
        for wrong in ["", "22-7", "25:00-07:00", "22:00", "22:61-07:00"] {
            assert_eq!(quiet_hours(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn what_a_hook_has_told_is_not_told_again() {
        let notice = |(agent, is_seen): (&str, bool)| Notice {
            agent: agent.into(),
            text: format!("{agent} waits"),
            is_question: true,
            is_seen,
        };
        let all =
            [("A", false), ("A", true), ("B", true), ("C", true), ("D", false), ("E", true)].map(notice);
        assert_eq!(grouped(&all).unwrap(), "A waits\nB waits\nC waits\nand 2 more");
        assert_eq!(grouped(&[]), None);
        assert_eq!(grouped(&[("A", true), ("A", false)].map(notice)).unwrap(), "A waits");
        // What else it has to say is news.
        let other = |text: &str| Notice { text: text.into(), is_question: false, ..notice(("A", false)) };
        let all = [other("A writes: one"), notice(("A", true)), other("A has an error")];
        assert_eq!(grouped(&all).unwrap(), "A writes: one\nA waits\nA has an error");
    }
}
