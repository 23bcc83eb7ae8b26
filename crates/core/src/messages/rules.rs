//! Pure rules of messages: whether a message may be sent, its type and priority, when each letter is
//! delivered and counts as read, and which letters are worth waking a session for. No store, no clock, no
//! machine.

use super::Delivery;
use super::DeliveryPoint;
use super::Letter;
use super::LetterState;
use super::MailFlags;
use super::Message;
use super::MessageChange;
use super::MessageRefusal;
use super::MessageType;
use super::Priority;
use super::Recipient;
use super::RecordedMessage;
use super::RepliedTo;
use super::SendOutcome;
use super::SendRequest;
use super::Sender;
use super::SentMessage;
use crate::Timestamp;
use crate::host::MachineProcess;
use crate::journal::Actor;
use crate::journal::Change;
use crate::journal::ChangeId;
use crate::project::ProjectId;

/// Most bytes of a message's text. Longer texts belong in a file.
pub const LONGEST_TEXT: usize = 16 << 10;

/// Least milliseconds between a delivery and the next tool call that comes from a new answer of the model. A
/// tool call that follows sooner belongs to the same answer, as no model gives another one that fast.
const SHORTEST_ANSWER: i64 = 250;

pub(super) fn check_text(text: &str) -> Result<(), MessageRefusal> {
    match text {
        _ if text.trim().is_empty() => Err(MessageRefusal::Empty),
        _ if text.len() > LONGEST_TEXT => Err(MessageRefusal::TooLong { bytes: text.len() }),
        _ => Ok(()),
    }
}

/// The recipients that one name in a request stands for, or the reason there are none.
pub(super) type RecipientsFound = Result<Vec<Recipient>, MessageRefusal>;

/// The facts from which a request to send is decided.
pub(super) struct SendFacts {
    pub(super) from: Sender,
    /// The project that the message will be numbered in.
    pub(super) project: Option<ProjectId>,
    /// The name of that project, if it is not the sender's.
    pub(super) elsewhere: Option<String>,
    /// The message that is replied to.
    pub(super) answered: Option<Message>,
    /// The recipients found for each name in the request, in order.
    pub(super) found: Vec<RecipientsFound>,
    /// The message that was sent before under the same key.
    pub(super) former: Option<Message>,
}

/// The decision about a request to send.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Decision {
    Send { sent: RecordedMessage, failed: Vec<MessageRefusal> },
    SentBefore(SendOutcome),
}

/// Decides a request: composes the message, or finds that it was sent before under its key.
pub(super) fn send(facts: SendFacts, request: &SendRequest) -> Result<Decision, MessageRefusal> {
    let SendFacts { from, elsewhere, answered, found, former, .. } = facts;
    let addressed = address(found);
    if let Some(Message { id, number, project, sent, .. }) = former {
        // Recipients that can no longer be reached make no difference.
        let is_same = sent.text == request.text && addressed.map_or(true, |(to, _)| to == sent.to);
        let key = request.key.clone().unwrap_or_default();
        return match is_same {
            true => {
                let (to, failed) = (sent.to, Vec::new());
                let outcome = SendOutcome { id, number, project, elsewhere, duplicate: true, to, failed };
                Ok(Decision::SentBefore(outcome))
            }
            false => Err(MessageRefusal::KeyUsed { key, number }),
        };
    }
    let (to, failed) = addressed?;
    let sent = RecordedMessage {
        from,
        to,
        kind: request.kind,
        priority: request.priority.unwrap_or_else(|| request.kind.priority()),
        text: request.text.clone(),
        thread: answered.as_ref().map(Message::thread),
        reply_to: answered.map(|message| RepliedTo {
            id: message.id,
            number: message.number,
            project: message.project,
        }),
        key: request.key.clone(),
    };
    Ok(Decision::Send { sent, failed })
}

/// Splits the names of a request into recipients (at least one, each once) and refusals. An unknown name is a
/// mistake, perhaps a text without quotes: then nothing is sent. A gone agent is only reported as not
/// reached; a sender that names itself among others is ignored.
fn address(found: Vec<RecipientsFound>) -> Result<(Vec<Recipient>, Vec<MessageRefusal>), MessageRefusal> {
    let (mut to, mut failed): (Vec<Recipient>, Vec<MessageRefusal>) = Default::default();
    for found in found {
        match found {
            Ok(recipients) => {
                for recipient in recipients {
                    if to.iter().all(|known| known.who != recipient.who) {
                        to.push(recipient);
                    }
                }
            }
            Err(refusal @ (MessageRefusal::NoSuchAgent { .. } | MessageRefusal::Nobody)) => {
                return Err(refusal);
            }
            Err(refusal) => failed.push(refusal),
        }
    }
    match failed.first() {
        Some(refusal) if to.is_empty() => Err(refusal.clone()),
        None if to.is_empty() => Err(MessageRefusal::Alone),
        _ => {
            failed.retain(|refusal| !matches!(refusal, MessageRefusal::ToSelf { .. }));
            Ok((to, failed))
        }
    }
}

/// Returns the unanswered questions, proposals and handoffs of the last day, newest first: those that the
/// mailbox received and has read, and those that it sent.
pub(super) fn open_threads<'a>(
    mailbox: &Actor,
    received: &'a [SentMessage],
    sent: &'a [SentMessage],
    now: Timestamp,
) -> Vec<&'a Message> {
    let is_asked = |message: &Message| {
        matches!(message.sent.kind, MessageType::Question | MessageType::Delegate | MessageType::Handoff)
            && message.sent.from.who != Actor::Consort
            && now.since(message.at) < Timestamp::DAY
    };
    // Any later message of the other side in the same thread counts as an answer.
    let is_answered = |message: &Message, answers: &[SentMessage]| {
        answers
            .iter()
            .any(|answer| answer.message.thread() == message.thread() && answer.message.seq > message.seq)
    };
    let is_read = |post: &&SentMessage| {
        post.receipts.iter().any(|receipt| receipt.to == *mailbox && receipt.state == LetterState::Read)
    };
    let asked_of_it = received.iter().filter(is_read).map(|post| &post.message);
    let asked_of_it = asked_of_it.filter(|message| is_asked(message) && !is_answered(message, sent));
    let asked_by_it = sent.iter().map(|post| &post.message);
    let asked_by_it = asked_by_it.filter(|message| is_asked(message) && !is_answered(message, received));
    let mut open: Vec<&Message> = asked_of_it.chain(asked_by_it).collect();
    open.sort_by_key(|message| std::cmp::Reverse(message.seq));
    open
}

/// Tells whether a message is worth waking an idle session for. A message to several recipients is so only if
/// its priority is at least high, and one that asks for nothing never is: two polite agents would thank each
/// other for ever.
pub(super) fn is_worth_waking(kind: MessageType, priority: Priority, recipients: usize) -> bool {
    let least = if recipients > 1 { Priority::High } else { Priority::Normal };
    priority >= least && !matches!(kind, MessageType::Ack | MessageType::Claim | MessageType::Release)
}

/// Tells whether a waiting letter is worth waking an idle session for. A letter of Consort itself can wait,
/// unless its priority is high because an answer would soon come too late.
pub(super) fn is_letter_worth_waking(letter: &Letter) -> bool {
    let sent = &letter.message.sent;
    let can_wait = sent.from.who == Actor::Consort && sent.priority < Priority::High;
    !can_wait && is_worth_waking(sent.kind, sent.priority, sent.to.len())
}

impl MailFlags {
    /// Tells whether no flag is set.
    pub fn is_down(self) -> bool {
        self == Self::default()
    }
}

impl DeliveryPoint {
    /// Returns the most bytes of letters that one hook shows to its session. Claude Code keeps only the
    /// beginning of a text longer than ten thousand characters, and at the start other texts need room too.
    pub(super) fn budget(self) -> usize {
        if self == Self::Start { 6_000 } else { 8_000 }
    }

    /// Tells whether a hook at this moment has any mail work to do.
    pub(super) fn concerns(self, flag: MailFlags) -> bool {
        match self {
            Self::Start => true,
            Self::Prompt => !flag.is_down(),
            Self::BeforeTool => flag.handed,
            Self::AfterTool => flag.new,
            Self::End { may_go_on } => flag.handed || ((flag.new || flag.later) && may_go_on),
        }
    }

    /// Tells whether this moment proves that the model has answered since a delivery at `told_at`.
    fn proves_an_answer(self, told_at: Timestamp, now: Timestamp) -> bool {
        match self {
            Self::BeforeTool => now.since(told_at) >= SHORTEST_ANSWER,
            Self::End { .. } => true,
            Self::Start | Self::Prompt | Self::AfterTool => false,
        }
    }

    pub(super) fn hands_over(self) -> bool {
        !matches!(self, Self::BeforeTool | Self::End { may_go_on: false })
    }

    /// Tells whether a waiting letter should be delivered at this moment.
    fn is_for(self, letter: &Letter, now: Timestamp) -> bool {
        let sent = &letter.message.sent;
        let age = now.since(letter.message.at);
        let fresh = sent.kind.lifetime().is_none_or(|lifetime| age < lifetime);
        match self {
            Self::Start | Self::Prompt => true,
            Self::AfterTool => fresh,
            // The last chance before the session goes idle, so the age of the letter does not matter.
            Self::End { may_go_on } => may_go_on && sent.priority > Priority::Low,
            Self::BeforeTool => false,
        }
    }
}

/// The state of a delivery, by the process that made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DeliveryState {
    /// The process has shown all letters to the session.
    Shown,
    /// The process is still delivering.
    Busy,
    /// The process ended before it had shown the letters.
    CutShort,
}

/// A hook's plan for the unread letters of its session.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct DeliveryPlan {
    /// Letters to record as read.
    pub(super) read: Vec<ChangeId>,
    /// Letters to deliver now, most urgent first, then in order of sending.
    pub(super) hand: Vec<Letter>,
    /// Letters to deliver at another moment.
    pub(super) rest: Vec<Letter>,
    /// Whether there are delivered letters of which it is not yet known that the model has seen them.
    pub(super) pending: bool,
}

/// The letters that were delivered before and are not read, by what becomes of them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct EarlierLetters {
    /// Letters to record as read.
    read: Vec<ChangeId>,
    /// Letters of which it is not yet known that the model has seen them.
    pending: Vec<ChangeId>,
    /// Letters to deliver again, because their delivery was cut short.
    again: Vec<ChangeId>,
}

impl EarlierLetters {
    /// Returns the letters that are not delivered again, sorted.
    pub(super) fn settled(&self) -> Vec<ChangeId> {
        let mut settled = [self.read.as_slice(), &self.pending].concat();
        settled.sort_unstable();
        settled
    }
}

/// Decides what becomes of the letters that were delivered before.
pub(super) fn judge_deliveries(
    deliveries: &[Delivery],
    moment: DeliveryPoint,
    now: Timestamp,
    state: impl Fn(&MachineProcess) -> DeliveryState,
) -> EarlierLetters {
    let mut earlier = EarlierLetters::default();
    for Delivery { at, by, messages } in deliveries {
        let letters = match state(by) {
            DeliveryState::Shown if moment.proves_an_answer(*at, now) => &mut earlier.read,
            DeliveryState::Shown | DeliveryState::Busy => &mut earlier.pending,
            DeliveryState::CutShort => &mut earlier.again,
        };
        letters.extend(messages);
    }
    earlier
}

/// Decides what becomes of the letters that wait at this moment or are delivered again.
pub(super) fn plan(
    letters: Vec<Letter>,
    earlier: &EarlierLetters,
    moment: DeliveryPoint,
    now: Timestamp,
) -> DeliveryPlan {
    let (read, pending) = (earlier.read.clone(), !earlier.pending.is_empty());
    let mut plan = DeliveryPlan { read, pending, ..DeliveryPlan::default() };
    for mut letter in letters {
        letter.again = earlier.again.contains(&letter.message.id);
        if moment.hands_over() && moment.is_for(&letter, now) {
            plan.hand.push(letter);
        } else {
            plan.rest.push(letter);
        }
    }
    most_urgent_first(&mut plan.hand);
    plan
}

/// Sorts letters by priority, highest first; letters of equal priority stay in their order.
pub(super) fn most_urgent_first(letters: &mut [Letter]) {
    letters.sort_by_key(|letter| std::cmp::Reverse(letter.message.sent.priority));
}

/// Returns the mail flags after a plan was carried out and its first `handed` letters were delivered.
pub(super) fn flag_after(plan: &DeliveryPlan, handed: usize, now: Timestamp) -> MailFlags {
    let left = || plan.hand.iter().skip(handed).chain(&plan.rest);
    MailFlags {
        new: left().any(|letter| DeliveryPoint::AfterTool.is_for(letter, now)),
        later: left().next().is_some(),
        handed: plan.pending || handed > 0,
    }
}

/// Returns the change that moves letters from one mailbox to another, if there are any letters.
pub(crate) fn inherited(from: Actor, to: Actor, messages: Vec<ChangeId>) -> Option<Change> {
    if messages.is_empty() {
        return None;
    }
    Some(Change::Messages(MessageChange::Inherited { from, to, messages }))
}

/// Returns the letters that another agent of the same name should inherit: all but those of Consort, which
/// were meant for that session only.
pub(crate) fn meant_for_the_name(letters: &[Letter]) -> Vec<ChangeId> {
    let others = letters.iter().filter(|letter| letter.message.sent.from.who != Actor::Consort);
    others.map(|letter| letter.message.id).collect()
}
