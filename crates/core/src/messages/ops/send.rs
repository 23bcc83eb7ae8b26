//! Sending.

use super::look::find;
use crate::App;
use crate::Timestamp;
use crate::app::commit;
use crate::engine::StoreError;
use crate::engine::Tx;
use crate::host::Host;
use crate::journal::Actor;
use crate::journal::Change;
use crate::journal::EntryId;
use crate::journal::NewEntry;
use crate::messages::Answered;
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
use crate::project::ProjectId;
use crate::side_files::SideFiles;
use crate::text;

impl App {
    /// Sends a message. **An error means that nothing was sent.**
    pub fn send(&mut self, request: &SendRequest) -> Result<SendOutcome, MessageError> {
        rules::check_text(&request.text)?;
        let now = self.host.now();
        let id = EntryId::new(now, self.host.random());
        let files = self.engine.side_files();
        let mut tx = self.engine.write()?;
        let outcome = Sending { host: &*self.host, files: &*files }.carry_out(&mut *tx, id, now, request)?;
        commit(&*self.host, tx)?;
        Ok(outcome)
    }
}

/// What it takes to carry out a request.
struct Sending<'a> {
    host: &'a dyn Host,
    files: &'a dyn SideFiles,
}

/// A message that is about to be recorded.
struct Draft {
    sent: Sent,
    project: Option<ProjectId>,
    failed: Vec<Refusal>,
}

impl Sending<'_> {
    fn is_alive(&self, agent: &Agent) -> bool {
        presence::is_alive(self.host, self.files, agent)
    }

    fn branch(&self, agent: &Agent) -> Option<String> {
        self.host.branch(&agent.location.worktree).or_else(|| agent.branch.clone())
    }

    /// Decides and records one request; a refusal records nothing.
    fn carry_out(
        &self,
        tx: &mut dyn Tx,
        id: EntryId,
        now: Timestamp,
        request: &SendRequest,
    ) -> Result<SendOutcome, MessageError> {
        let caller = presence::who_calls(self.host, self.files, tx, &request.caller)?;
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
        let (actor, to) = (draft.sent.from.who.clone(), draft.sent.to.clone());
        let changes = vec![Change::Messages(MessageChange::Sent(Box::new(draft.sent)))];
        let entry = NewEntry { id, at: now, project: draft.project.clone(), actor, changes };
        let number = tx.record(&entry)?.numbers[0].unwrap_or_default();
        let (id, project) = (entry.change_id(0), draft.project);
        Ok(SendOutcome { id, number, project, duplicate: false, to, failed: draft.failed })
    }

    fn draft(
        &self,
        tx: &dyn Tx,
        request: &SendRequest,
        me: Option<&Agent>,
        from: Sender,
    ) -> Result<Draft, MessageError> {
        let mut project = me.map(|me| me.project.id.clone()).or_else(|| request.project.clone());
        if project.is_none()
            && let Some(repository) = &request.repository
        {
            project = tx.project_of(repository)?.map(|project| project.id);
        }
        let answered = match &request.reply_to {
            None => None,
            Some(name) => Some(find(tx, name, project.as_ref())?),
        };
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
            thread: answered.as_ref().map(Message::thread),
            reply_to: answered.map(|message| Answered { id: message.id, number: message.number }),
            key: request.key.clone(),
        };
        Ok(Draft { sent, project, failed })
    }

    /// Who is reached, at least one, and who is not.
    fn recipients(
        &self,
        tx: &dyn Tx,
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
        tx: &dyn Tx,
        me: Option<&Agent>,
        project: Option<&ProjectId>,
    ) -> Result<Vec<Recipient>, MessageError> {
        let mut agents = tx.present()?;
        agents.retain(|agent| {
            project.is_none_or(|project| agent.project.id == *project)
                && me.is_none_or(|me| me.session != agent.session)
        });
        let (agents, _) = presence::partition_alive(self.host, self.files, agents);
        Ok(agents.iter().map(recipient).collect())
    }

    /// The agent of that name.
    fn named(&self, tx: &dyn Tx, me: Option<&Agent>, name: &str) -> Result<Vec<Recipient>, MessageError> {
        let Some(agent) = tx.by_name(name)? else { return Err(unknown(tx, name)?.into()) };
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
        tx: &dyn Tx,
        me: Option<&Agent>,
        sender: &Sender,
    ) -> Result<Vec<Recipient>, MessageError> {
        let Actor::Agent(session) = &sender.who else { return Ok(vec![person()]) };
        if let Some((agent, None)) = tx.agent(session)? {
            return self.named(tx, me, agent.name.as_str());
        }
        // A namesake elsewhere is somebody else.
        let heir = tx.by_name(&sender.name)?.filter(|heir| Some(&heir.project.id) == sender.project.as_ref());
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
    let place = format!("in {}", me.location.cwd.display());
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
fn speaker(tx: &dyn Tx, caller: Caller, as_agent: Option<&str>) -> Result<Option<Agent>, MessageError> {
    match (caller, as_agent) {
        (Caller::Anonymous(why), _) => Err(Refusal::from(why).into()),
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
fn unknown(tx: &dyn Tx, name: &str) -> Result<Refusal, StoreError> {
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
    let Message { id, number, project, sent, .. } = former;
    if sent.text != text || draft.is_some_and(|draft| draft.sent.to != sent.to) {
        return Err(Refusal::KeyUsed { key: key.to_owned(), number }.into());
    }
    Ok(SendOutcome { id, number, project, duplicate: true, to: sent.to, failed: Vec::new() })
}

pub(super) fn recipient(agent: &Agent) -> Recipient {
    Recipient { who: Actor::Agent(agent.session.clone()), name: agent.name.to_string() }
}

pub(super) fn person() -> Recipient {
    Recipient { who: Actor::Person, name: "the person".into() }
}
