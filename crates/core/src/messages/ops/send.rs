//! Sending.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;

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
use crate::messages::Message;
use crate::messages::MessageChange;
use crate::messages::MessageError;
use crate::messages::Recipient;
use crate::messages::Recipients;
use crate::messages::Refusal;
use crate::messages::SendOutcome;
use crate::messages::SendRequest;
use crate::messages::Sender;
use crate::messages::Sent;
use crate::messages::rules;
use crate::presence;
use crate::presence::Agent;
use crate::presence::Caller;
use crate::presence::CallerFacts;
use crate::presence::PulseStore;
use crate::presence::SessionId;
use crate::project::ProjectId;
use crate::text;

/// How often a process goes on to serve others before it lets the next one, which
/// has to open the store first: that takes as long as a dozen messages do.
const FAVOURS: usize = 32;

/// What can be handed to whoever asked, in whichever process.
type Verdict = Result<SendOutcome, Refusal>;

impl<E: Engine, H: Host> App<E, H> {
    /// Sends a message. Where many processes send at once, one of them carries
    /// out what the others ask, each as an entry of its own.
    pub fn send(&mut self, request: &SendRequest) -> Result<SendOutcome, MessageError> {
        rules::check_text(&request.text)?;
        let now = self.host.now();
        let id = EntryId::new(now, self.host.random());
        let pulses = self.engine.pulses();
        let office = Office::new(&self.host, &pulses);
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
            None => verdict(office.carry_out(&mut tx, id, now, request, &mut topics))?,
        };
        // Where there is a crowd, the store that is open serves it better than
        // one that each would open. Ours is sent first: what befalls a favour is
        // not our failure.
        let mut is_sent = false;
        for _ in 0..FAVOURS {
            let requests = tx.take_requests(self.host.now());
            if requests.is_empty() {
                break;
            }
            let goes_on = match tx.commit_and_go_on() {
                Err(error) if !is_sent => return Err(error.into()),
                goes_on => goes_on.unwrap_or(false),
            };
            is_sent = true;
            self.host.ring(&std::mem::take(&mut topics));
            if !goes_on || office.serve(&mut tx, requests, &mut topics).is_err() {
                return Ok(verdict?);
            }
        }
        match tx.commit() {
            Err(error) if !is_sent => return Err(error.into()),
            Err(_) => {}
            Ok(()) => self.host.ring(&topics),
        }
        Ok(verdict?)
    }
}

/// A refusal is an answer; a store that fails is none.
fn verdict(result: Result<SendOutcome, MessageError>) -> Result<Verdict, StoreError> {
    match result {
        Ok(outcome) => Ok(Ok(outcome)),
        Err(MessageError::Refused(refusal)) => Ok(Err(refusal)),
        Err(MessageError::Store(error)) => Err(error),
    }
}

/// What it takes to carry requests out, one's own and others'. What was asked a
/// moment ago is not asked again: while we have the turn nobody joins or leaves.
struct Office<'a, H, P> {
    host: &'a H,
    pulses: &'a P,
    alive: RefCell<BTreeMap<SessionId, bool>>,
    branches: RefCell<BTreeMap<PathBuf, Option<String>>>,
    /// Who called last: a crowd is many processes of one agent.
    caller: RefCell<Option<(CallerFacts, Caller)>>,
    /// Present agents by the names they were called.
    named: RefCell<BTreeMap<String, Agent>>,
}

/// A message that is about to be recorded.
struct Draft {
    sent: Sent,
    project: Option<ProjectId>,
    failed: Vec<Refusal>,
}

impl<'a, H: Host, P: PulseStore> Office<'a, H, P> {
    fn new(host: &'a H, pulses: &'a P) -> Self {
        Self {
            host,
            pulses,
            alive: Default::default(),
            branches: Default::default(),
            caller: Default::default(),
            named: Default::default(),
        }
    }

    fn caller(&self, tx: &impl Tx, facts: &CallerFacts) -> Result<Caller, StoreError> {
        let mut last = self.caller.borrow_mut();
        match last.as_ref() {
            Some((known, caller)) if known == facts => Ok(caller.clone()),
            _ => {
                let caller = presence::who_calls(self.host, self.pulses, tx, facts)?;
                *last = Some((facts.clone(), caller.clone()));
                Ok(caller)
            }
        }
    }

    fn by_name(&self, tx: &impl Tx, name: &str) -> Result<Option<Agent>, StoreError> {
        if let Some(agent) = self.named.borrow().get(name) {
            return Ok(Some(agent.clone()));
        }
        let found = tx.by_name(name)?;
        if let Some(agent) = &found {
            self.named.borrow_mut().insert(name.to_owned(), agent.clone());
        }
        Ok(found)
    }

    fn is_alive(&self, agent: &Agent) -> bool {
        let ask = || presence::is_alive(self.host, self.pulses, agent);
        *self.alive.borrow_mut().entry(agent.session.clone()).or_insert_with(ask)
    }

    fn branch(&self, agent: &Agent) -> Option<String> {
        let ask = || self.host.branch(&agent.worktree).or_else(|| agent.branch.clone());
        self.branches.borrow_mut().entry(agent.worktree.clone()).or_insert_with(ask).clone()
    }

    /// Carries out what others have left on the desk.
    fn serve(
        &self,
        tx: &mut impl Tx,
        requests: Vec<(EntryId, Vec<u8>)>,
        topics: &mut Vec<Topic>,
    ) -> Result<(), StoreError> {
        for (id, request) in requests {
            // Not ours to judge: its owner will see to it.
            let Ok(request) = serde_json::from_slice::<SendRequest>(&request) else { continue };
            let verdict = verdict(self.carry_out(tx, id, self.host.now(), &request, topics))?;
            let answer = serde_json::to_vec(&verdict).map_err(|error| StoreError::Failed(error.into()))?;
            tx.answer(id, answer);
        }
        Ok(())
    }

    /// Decides and records one request; a refusal records nothing.
    fn carry_out(
        &self,
        tx: &mut impl Tx,
        id: EntryId,
        now: Timestamp,
        request: &SendRequest,
        topics: &mut Vec<Topic>,
    ) -> Result<SendOutcome, MessageError> {
        let caller = self.caller(tx, &request.caller)?;
        let me = speaker(tx, caller, request.as_agent.as_deref())?;
        let from = sender(me.as_ref(), |me| self.branch(me));
        let former = match &request.key {
            Some(key) => tx.by_key(&from.who, key)?.map(|message| (key, message)),
            None => None,
        };
        let draft = self.draft(tx, request, me.as_ref(), from);
        if let Some((key, former)) = former {
            return sent_before(key, former, &request.text, draft.ok().as_ref());
        }
        let draft = draft?;
        for recipient in &draft.sent.to {
            if let Actor::Agent(session) = &recipient.who {
                tx.raise_flag(session)?;
            }
        }
        let (actor, to) = (draft.sent.from.who.clone(), draft.sent.to.clone());
        let changes = vec![Change::Messages(MessageChange::Sent(Box::new(draft.sent)))];
        let entry = NewEntry { id, at: now, project: draft.project, actor, changes };
        let number = tx.record(&entry)?;
        topics.extend(entry.topics());
        Ok(SendOutcome { number, duplicate: false, to, failed: draft.failed })
    }

    fn draft(
        &self,
        tx: &impl Tx,
        request: &SendRequest,
        me: Option<&Agent>,
        from: Sender,
    ) -> Result<Draft, MessageError> {
        let answered = match request.reply_to {
            None => None,
            Some(number) => Some(tx.message(number)?.ok_or(Refusal::NoSuchMessage { number })?),
        };
        let mut project = me.map(|me| me.project.id.clone()).or_else(|| request.project.clone());
        if project.is_none()
            && let Some(repository) = &request.repository
        {
            project = tx.project_of(repository)?.map(|project| project.id);
        }
        let (to, failed) = self.recipients(tx, request, me, project.as_ref(), answered.as_ref())?;
        if project.is_none()
            && let Actor::Agent(session) = &to[0].who
        {
            project = tx.agent(session)?.map(|(agent, _)| agent.project.id);
        }
        let sent = Sent {
            from,
            to,
            kind: request.kind,
            priority: request.priority.unwrap_or_else(|| request.kind.priority()),
            text: request.text.clone(),
            reply_to: request.reply_to,
            thread: answered.map(|message| message.thread()),
            key: request.key.clone(),
        };
        Ok(Draft { sent, project, failed })
    }

    /// Who is reached, at least one, and who is not.
    fn recipients(
        &self,
        tx: &impl Tx,
        request: &SendRequest,
        me: Option<&Agent>,
        project: Option<&ProjectId>,
        answered: Option<&Message>,
    ) -> Result<(Vec<Recipient>, Vec<Refusal>), MessageError> {
        let mut to: Vec<Recipient> = Vec::new();
        let mut failed = Vec::new();
        let mut add = |found: Result<Vec<Recipient>, MessageError>| {
            match found {
                Ok(found) => to.extend(found),
                // A name that nobody ever had is a mistake, perhaps a text
                // without quotes: then nobody gets anything. Who is gone just
                // is not reached.
                Err(MessageError::Refused(refusal))
                    if !matches!(refusal, Refusal::NoSuchAgent { .. } | Refusal::Nobody) =>
                {
                    failed.push(refusal);
                }
                Err(error) => return Err(error),
            }
            Ok(())
        };
        match &request.to {
            Recipients::Everywhere => add(self.others(tx, me, None))?,
            Recipients::Sender => {
                let from = answered.map(|message| &message.sent.from).ok_or(Refusal::Nobody)?;
                add(self.writer(tx, me, from))?;
            }
            Recipients::Named(names) if names.is_empty() => return Err(Refusal::Nobody.into()),
            Recipients::Named(names) => {
                for name in names {
                    add(match (name.to_lowercase().as_str(), project) {
                        ("all", Some(project)) => self.others(tx, me, Some(project)),
                        ("all", None) => Ok(Vec::new()),
                        ("@me", _) => Ok(vec![person()]),
                        _ => self.named(tx, me, name),
                    })?;
                }
            }
        }
        let mut known = Vec::new();
        to.retain(|recipient| {
            let is_new = !known.contains(&recipient.who);
            known.push(recipient.who.clone());
            is_new
        });
        match failed.first() {
            Some(refusal) if to.is_empty() => Err(refusal.clone().into()),
            None if to.is_empty() => Err(Refusal::Alone.into()),
            _ => Ok((to, failed)),
        }
    }

    /// Everyone else that is present, in that project or anywhere.
    fn others(
        &self,
        tx: &impl Tx,
        me: Option<&Agent>,
        project: Option<&ProjectId>,
    ) -> Result<Vec<Recipient>, MessageError> {
        let mut agents = tx.present()?;
        agents.retain(|agent| {
            project.is_none_or(|project| agent.project.id == *project)
                && me.is_none_or(|me| me.session != agent.session)
                && self.is_alive(agent)
        });
        Ok(agents.iter().map(recipient).collect())
    }

    /// The agent of that name.
    fn named(&self, tx: &impl Tx, me: Option<&Agent>, name: &str) -> Result<Vec<Recipient>, MessageError> {
        let Some(agent) = self.by_name(tx, name)? else { return Err(unknown(tx, name)?.into()) };
        let name = agent.name.to_string();
        if me.is_some_and(|me| me.session == agent.session) {
            return Err(Refusal::ToSelf { name }.into());
        }
        if !self.is_alive(&agent) {
            return Err(Refusal::Gone { name }.into());
        }
        Ok(vec![recipient(&agent)])
    }

    /// Whoever wrote a message, as it is called now; if it is gone, the one that
    /// has its name.
    fn writer(
        &self,
        tx: &impl Tx,
        me: Option<&Agent>,
        sender: &Sender,
    ) -> Result<Vec<Recipient>, MessageError> {
        let Actor::Agent(session) = &sender.who else { return Ok(vec![person()]) };
        if let Some((agent, None)) = tx.agent(session)? {
            return self.named(tx, me, agent.name.as_str());
        }
        // A namesake elsewhere is somebody else.
        let heir =
            self.by_name(tx, &sender.name)?.filter(|heir| Some(&heir.project.id) == sender.project.as_ref());
        match heir {
            Some(heir) => self.named(tx, me, heir.name.as_str()),
            None => Err(Refusal::Gone { name: sender.name.clone() }.into()),
        }
    }
}

/// An agent, or the person, as those it writes to see it.
pub(super) fn sender(me: Option<&Agent>, branch: impl Fn(&Agent) -> Option<String>) -> Sender {
    let Some(me) = me else {
        let (who, name) = (Actor::Person, "you".into());
        return Sender { who, name, kind: None, project: None, branch: None, details: None };
    };
    let place = format!("in {}", me.cwd.display());
    let details = me.model.as_ref().map_or_else(|| place.clone(), |model| format!("{model}, {place}"));
    Sender {
        who: Actor::Agent(me.session.clone()),
        name: me.name.to_string(),
        kind: Some(me.kind.clone()),
        project: Some(me.project.id.clone()),
        branch: branch(me),
        details: Some(text::one_line(&details, 200)),
    }
}

/// Who speaks; `None` is the person. An agent speaks for itself only.
fn speaker(tx: &impl Tx, caller: Caller, as_agent: Option<&str>) -> Result<Option<Agent>, MessageError> {
    match (caller, as_agent) {
        (Caller::Stranger, _) => Err(Refusal::NotRegistered.into()),
        (Caller::Agent(agent), Some(name)) if !agent.name.as_str().eq_ignore_ascii_case(name) => {
            Err(Refusal::NotTheCaller { caller: agent.name.to_string(), name: name.to_owned() }.into())
        }
        (Caller::Agent(agent), _) => Ok(Some(*agent)),
        (Caller::Person, None) => Ok(None),
        (Caller::Person, Some(name)) => match tx.by_name(name)? {
            Some(agent) => Ok(Some(agent)),
            None => Err(unknown(tx, name)?.into()),
        },
    }
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

/// What was sent under the same key already, if it was the same. Whom it could
/// not reach any more is no difference.
fn sent_before(
    key: &str,
    former: Message,
    text: &str,
    draft: Option<&Draft>,
) -> Result<SendOutcome, MessageError> {
    let Message { number, sent, .. } = former;
    if sent.text != text || draft.is_some_and(|draft| draft.sent.to != sent.to) {
        return Err(Refusal::KeyUsed { key: key.to_owned(), number }.into());
    }
    Ok(SendOutcome { number, duplicate: true, to: sent.to, failed: Vec::new() })
}

/// What came of a request that another process took and gave no answer to.
fn already_done(tx: &impl Tx, id: EntryId) -> Result<Option<SendOutcome>, StoreError> {
    let Some(entry) = tx.recent(id)? else { return Ok(None) };
    let sent = entry.changes.into_iter().find_map(|change| match change {
        Change::Messages(MessageChange::Sent(sent)) => Some(sent),
        _ => None,
    });
    let outcome = |sent: Box<Sent>| SendOutcome {
        number: entry.seq,
        duplicate: false,
        to: sent.to,
        failed: Vec::new(),
    };
    Ok(sent.map(outcome))
}

pub(super) fn recipient(agent: &Agent) -> Recipient {
    Recipient { who: Actor::Agent(agent.session.clone()), name: agent.name.to_string() }
}

pub(super) fn person() -> Recipient {
    Recipient { who: Actor::Person, name: "the person".into() }
}
