//! Sending.

use crate::App;
use crate::Timestamp;
use crate::engine::Engine;
use crate::engine::StoreError;
use crate::engine::Turn;
use crate::engine::Tx;
use crate::host::Host;
use crate::host::Topic;
use crate::journal::Actor;
use crate::journal::Change;
use crate::journal::EntryId;
use crate::journal::NewEntry;
use crate::messages::MessageChange;
use crate::messages::MessageError;
use crate::messages::Recipient;
use crate::messages::Recipients;
use crate::messages::Refusal;
use crate::messages::SendOutcome;
use crate::messages::SendRequest;
use crate::messages::Sender;
use crate::messages::Sent;
use crate::messages::ops::name_of;
use crate::messages::rules;
use crate::presence;
use crate::presence::Agent;
use crate::presence::Caller;
use crate::presence::PulseStore;
use crate::project::ProjectId;
use crate::text;

/// How often a process goes on to serve others before it lets the next one.
const FAVOURS: usize = 16;

type Verdict = Result<SendOutcome, Refusal>;

impl<E: Engine, H: Host> App<E, H> {
    /// Sends a message. Where many processes send at once, one of them carries
    /// out what the others ask, each as an entry of its own.
    pub fn send(&mut self, request: &SendRequest) -> Result<SendOutcome, MessageError> {
        rules::check_text(&request.text)?;
        let now = self.host.now();
        let id = EntryId::new(now, self.host.random());
        let pulses = self.engine.pulses();
        // Plain data is always JSON.
        let written = || serde_json::to_vec(request).unwrap_or_default();
        let (mut tx, is_unsure) = match self.engine.write_or_leave(id, &written)? {
            Turn::Answered(answer) => {
                let verdict: Verdict =
                    serde_json::from_slice(&answer).map_err(|error| StoreError::Failed(error.into()))?;
                return Ok(verdict?);
            }
            Turn::Mine(tx) => (tx, false),
            Turn::Unsure(tx) => (tx, true),
        };
        let mut topics = Vec::new();
        let done = if is_unsure { already_done(&tx, id)? } else { None };
        let verdict = match done {
            Some(outcome) => Ok(outcome),
            None => carry_out(&self.host, &pulses, &mut tx, id, now, request, &mut topics)?,
        };
        // Where there is a crowd, the store that is open serves it better than
        // one that each would open. Once ours is sent, what befalls a favour is
        // not our failure.
        let mut is_sent = false;
        for _ in 0..FAVOURS {
            match serve(&self.host, &pulses, &mut tx, &mut topics) {
                Ok(0) => break,
                Ok(_) => {}
                Err(_) if is_sent => return Ok(verdict?),
                Err(error) => return Err(error.into()),
            }
            match tx.commit_and_go_on() {
                Ok(()) => is_sent = true,
                Err(_) if is_sent => return Ok(verdict?),
                Err(error) => return Err(error.into()),
            }
            self.host.ring(&std::mem::take(&mut topics));
        }
        match tx.commit() {
            Err(error) if !is_sent => return Err(error.into()),
            _ => self.host.ring(&topics),
        }
        Ok(verdict?)
    }
}

/// Carries out what others have left on the desk; says how many there were.
fn serve<T: Tx>(
    host: &impl Host,
    pulses: &impl PulseStore,
    tx: &mut T,
    topics: &mut Vec<Topic>,
) -> Result<usize, StoreError> {
    let requests = tx.take_requests();
    let count = requests.len();
    for (id, request) in requests {
        // Not ours to judge: its owner will see to it.
        let Ok(request) = serde_json::from_slice::<SendRequest>(&request) else { continue };
        let verdict = carry_out(host, pulses, tx, id, host.now(), &request, topics)?;
        let answer = serde_json::to_vec(&verdict).map_err(|error| StoreError::Failed(error.into()))?;
        tx.answer(id, answer);
    }
    Ok(count)
}

/// Decides and records one request; a refusal records nothing.
fn carry_out<T: Tx>(
    host: &impl Host,
    pulses: &impl PulseStore,
    tx: &mut T,
    id: EntryId,
    now: Timestamp,
    request: &SendRequest,
    topics: &mut Vec<Topic>,
) -> Result<Verdict, StoreError> {
    let draft = match decide(host, pulses, tx, request)? {
        Ok(Decision::Send(draft)) => draft,
        Ok(Decision::Sent(outcome)) => return Ok(Ok(outcome)),
        Err(refusal) => return Ok(Err(refusal)),
    };
    for recipient in &draft.to {
        if let Actor::Agent(session) = &recipient.who {
            tx.raise_flag(session)?;
        }
    }
    let actor = draft.sent.from.who.clone();
    let changes = vec![Change::Messages(MessageChange::Sent(Box::new(draft.sent)))];
    let entry = NewEntry { id, at: now, project: draft.project, actor, changes };
    let number = tx.record(&entry)?;
    topics.extend(Topic::of(&entry));
    Ok(Ok(SendOutcome { number, duplicate: false, to: draft.to, failed: draft.failed }))
}

enum Decision {
    Send(Draft),
    /// It had been sent under the same key.
    Sent(SendOutcome),
}

struct Draft {
    sent: Sent,
    project: Option<ProjectId>,
    to: Vec<Recipient>,
    failed: Vec<Refusal>,
}

fn decide(
    host: &impl Host,
    pulses: &impl PulseStore,
    tx: &impl Tx,
    request: &SendRequest,
) -> Result<Result<Decision, Refusal>, StoreError> {
    let caller = presence::who_calls(host, pulses, tx, &request.caller)?;
    let (from, me) = match sender(host, tx, caller, request.as_agent.as_deref())? {
        Ok(sender) => sender,
        Err(refusal) => return Ok(Err(refusal)),
    };
    if let Some(key) = &request.key
        && let Some(message) = tx.by_key(&from.who, key)?
    {
        if message.sent.text != request.text {
            return Ok(Err(Refusal::KeyUsed { key: key.clone(), number: message.number }));
        }
        let to = recipients(tx, &message.sent.to)?;
        return Ok(Ok(Decision::Sent(SendOutcome {
            number: message.number,
            duplicate: true,
            to,
            failed: Vec::new(),
        })));
    }
    let answered = match request.reply_to {
        None => None,
        Some(number) => match tx.message(number)? {
            None => return Ok(Err(Refusal::NoSuchMessage { number })),
            some => some,
        },
    };
    let mut project = me.as_ref().map(|me| me.project.id.clone());
    if project.is_none()
        && let Some(repository) = &request.repository
    {
        project = tx.project_of(repository)?.map(|project| project.id);
    }

    let is_alive = |agent: &Agent| presence::is_alive(host, pulses, agent);
    let is_me = |agent: &Agent| me.as_ref().is_some_and(|me| me.session == agent.session);
    let mut to: Vec<Recipient> = Vec::new();
    let mut failed = Vec::new();
    let mut add = |recipient: Recipient| {
        if !to.iter().any(|known: &Recipient| known.who == recipient.who) {
            to.push(recipient);
        }
    };
    let everyone = |project: Option<&ProjectId>| -> Result<Vec<Recipient>, StoreError> {
        let mut agents = tx.present()?;
        agents.retain(|agent| project.is_none_or(|project| agent.project.id == *project));
        agents.retain(|agent| !is_me(agent) && is_alive(agent));
        Ok(agents.iter().map(recipient).collect())
    };
    match &request.to {
        Recipients::Everywhere => everyone(None)?.into_iter().for_each(&mut add),
        Recipients::Sender => match &answered {
            None => return Ok(Err(Refusal::Nobody)),
            Some(message) => match reach(tx, &message.sent.from, &is_me, &is_alive)? {
                Ok(recipient) => add(recipient),
                Err(refusal) => failed.push(refusal),
            },
        },
        Recipients::Named(names) => {
            for name in names {
                if name.eq_ignore_ascii_case("all") {
                    // Without a project nobody is here.
                    let project = project.clone().unwrap_or_else(|| "".into());
                    everyone(Some(&project))?.into_iter().for_each(&mut add);
                } else if name == "@me" {
                    add(person());
                } else {
                    match find(tx, name, &is_me, &is_alive)? {
                        Ok(recipient) => add(recipient),
                        Err(refusal) => failed.push(refusal),
                    }
                }
            }
        }
    }
    // A name that nobody ever had is a mistake, perhaps a text without quotes:
    // then nobody gets anything. Who is gone just is not reached.
    if let Some(mistake) = failed.iter().find(|refusal| matches!(refusal, Refusal::NoSuchAgent { .. })) {
        return Ok(Err(mistake.clone()));
    }
    if to.is_empty() {
        let nobody = match &request.to {
            Recipients::Named(names) if names.is_empty() => Refusal::Nobody,
            _ => Refusal::Alone,
        };
        return Ok(Err(failed.into_iter().next().unwrap_or(nobody)));
    }
    let sent = Sent {
        from,
        to: to.iter().map(|recipient| recipient.who.clone()).collect(),
        kind: request.kind,
        priority: request.priority.unwrap_or_else(|| request.kind.priority()),
        text: request.text.clone(),
        reply_to: request.reply_to,
        thread: answered.map(|message| message.thread()),
        key: request.key.clone(),
    };
    if project.is_none() {
        project = match &to[0].who {
            Actor::Agent(session) => tx.agent(session)?.map(|(agent, _)| agent.project.id),
            Actor::Person | Actor::Consort => None,
        };
    }
    Ok(Ok(Decision::Send(Draft { sent, project, to, failed })))
}

/// Who sends. An agent speaks for itself only.
fn sender(
    host: &impl Host,
    tx: &impl Tx,
    caller: Caller,
    as_agent: Option<&str>,
) -> Result<Result<(Sender, Option<Agent>), Refusal>, StoreError> {
    let agent = match (caller, as_agent) {
        (Caller::Stranger, _) => return Ok(Err(Refusal::NotRegistered)),
        (Caller::Agent(agent), Some(name)) if !agent.name.as_str().eq_ignore_ascii_case(name) => {
            let caller = agent.name.to_string();
            return Ok(Err(Refusal::NotTheCaller { caller, name: name.to_owned() }));
        }
        (Caller::Agent(agent), _) => *agent,
        (Caller::Person, Some(name)) => match tx.by_name(name)? {
            Some(agent) => agent,
            None => return Ok(Err(unknown(tx, name)?)),
        },
        (Caller::Person, None) => {
            let name = name_of(tx, &Actor::Person)?;
            let (who, kind, project, branch, details) = (Actor::Person, None, None, None, None);
            return Ok(Ok((Sender { who, name, kind, project, branch, details }, None)));
        }
    };
    let branch = host.branch(&agent.worktree).or_else(|| agent.branch.clone());
    let place = format!("in {}", agent.cwd.display());
    let details = agent.model.as_ref().map_or_else(|| place.clone(), |model| format!("{model}, {place}"));
    let from = Sender {
        who: Actor::Agent(agent.session.clone()),
        name: agent.name.to_string(),
        kind: Some(agent.kind.clone()),
        project: Some(agent.project.id.clone()),
        branch,
        details: Some(text::one_line(&details, 200)),
    };
    Ok(Ok((from, Some(agent))))
}

/// The agent of that name, if it can be reached.
fn find(
    tx: &impl Tx,
    name: &str,
    is_me: &impl Fn(&Agent) -> bool,
    is_alive: &impl Fn(&Agent) -> bool,
) -> Result<Result<Recipient, Refusal>, StoreError> {
    Ok(match tx.by_name(name)? {
        Some(agent) if is_me(&agent) => Err(Refusal::ToSelf { name: agent.name.to_string() }),
        Some(agent) if !is_alive(&agent) => Err(Refusal::Gone { name: agent.name.to_string() }),
        Some(agent) => Ok(recipient(&agent)),
        None => Err(unknown(tx, name)?),
    })
}

/// Whoever wrote a message, as it is called now; gone, the one that has its
/// name.
fn reach(
    tx: &impl Tx,
    sender: &Sender,
    is_me: &impl Fn(&Agent) -> bool,
    is_alive: &impl Fn(&Agent) -> bool,
) -> Result<Result<Recipient, Refusal>, StoreError> {
    if let Actor::Agent(session) = &sender.who {
        return match tx.agent(session)? {
            Some((agent, None)) => find(tx, agent.name.as_str(), is_me, is_alive),
            _ => find(tx, &sender.name, is_me, is_alive),
        };
    }
    Ok(Ok(person()))
}

/// Why nobody present has this name.
fn unknown(tx: &impl Tx, name: &str) -> Result<Refusal, StoreError> {
    if let Some(agent) = tx.gone_by_name(name)?.pop() {
        return Ok(Refusal::Gone { name: agent.name.to_string() });
    }
    let present = tx.present()?;
    let nearest = text::nearest(name, present.iter().map(|agent| agent.name.as_str()));
    Ok(Refusal::NoSuchAgent { name: text::one_line(name, 60), nearest: nearest.map(str::to_owned) })
}

fn recipient(agent: &Agent) -> Recipient {
    Recipient { who: Actor::Agent(agent.session.clone()), name: agent.name.to_string() }
}

fn person() -> Recipient {
    Recipient { who: Actor::Person, name: "you".into() }
}

fn recipients(tx: &impl Tx, to: &[Actor]) -> Result<Vec<Recipient>, StoreError> {
    to.iter().map(|who| Ok(Recipient { who: who.clone(), name: name_of(tx, who)? })).collect()
}

/// What came of a request that another process took and gave no answer to.
fn already_done(tx: &impl Tx, id: EntryId) -> Result<Option<SendOutcome>, StoreError> {
    let Some(entry) = tx.recent(id)? else { return Ok(None) };
    let sent = entry.changes.into_iter().find_map(|change| match change {
        Change::Messages(MessageChange::Sent(sent)) => Some(sent),
        _ => None,
    });
    let Some(sent) = sent else { return Ok(None) };
    let to = recipients(tx, &sent.to)?;
    Ok(Some(SendOutcome { number: entry.seq, duplicate: false, to, failed: Vec::new() }))
}
