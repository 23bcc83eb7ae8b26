//! Messages verb that sends a message to agents or to the person: resolves the recipients, and records one
//! entry.

use super::history::find;
use super::project_name;
use crate::App;
use crate::app::commit;
use crate::engine::StoreError;
use crate::engine::Tx;
use crate::host::Host;
use crate::journal::Actor;
use crate::journal::Change;
use crate::journal::EntryId;
use crate::journal::NewEntry;
use crate::journal::TailRequest;
use crate::messages::Message;
use crate::messages::MessageChange;
use crate::messages::MessageError;
use crate::messages::MessageRefusal;
use crate::messages::Recipient;
use crate::messages::Recipients;
use crate::messages::RecordedMessage;
use crate::messages::SendOutcome;
use crate::messages::SendRequest;
use crate::messages::Sender;
use crate::messages::rules;
use crate::messages::rules::Decision;
use crate::messages::rules::RecipientsFound;
use crate::messages::rules::SendFacts;
use crate::presence;
use crate::presence::Agent;
use crate::presence::Caller;
use crate::presence::PresenceChange;
use crate::presence::find_by_word;
use crate::project::ProjectId;
use crate::secrets;
use crate::secrets::SecretFinding;
use crate::side_files::SideFiles;
use crate::text;

impl App {
    /// Sends a message. **An error means that nothing was sent.**
    pub fn send(&mut self, request: &SendRequest) -> Result<SendOutcome, MessageError> {
        rules::check_text(&request.text)?;
        let (now, secret) = (self.host.now(), secrets::find(&request.text));
        let files = self.engine.side_files();
        let mut tx = self.engine.write()?;
        let caller = presence::who_calls(&*self.host, &*files, &*tx, &request.caller)?;
        let may_say_all = request.even_so && matches!(caller, Caller::Person);
        if let Some(SecretFinding { what, at }) = secret.filter(|_| !may_say_all) {
            return Err(MessageRefusal::Secret { what, at }.into());
        }
        let me = speaker(&*tx, caller, request.as_agent.as_deref())?;
        let sending = Sending { host: &*self.host, files: &*files, tx: &*tx, me: me.as_ref() };
        let facts = sending.gather(request)?;
        let (project, elsewhere) = (facts.project.clone(), facts.elsewhere.clone());
        match rules::send(facts, request)? {
            Decision::SentBefore(outcome) => Ok(outcome),
            Decision::Send { sent, failed } => {
                let (actor, to) = (sent.from.who.clone(), sent.to.clone());
                let changes = vec![Change::Messages(MessageChange::Sent(Box::new(sent)))];
                let id = EntryId::new(now, self.host.random());
                let entry = NewEntry { id, at: now, project: project.clone(), actor, changes };
                let number = tx.record(&entry)?.numbers[0].unwrap_or_default();
                commit(&*self.host, tx)?;
                let id = entry.change_id(0);
                Ok(SendOutcome { id, number, project, elsewhere, duplicate: false, to, failed })
            }
        }
    }
}

/// The context for resolving a request to send: store, machine and sender.
struct Sending<'a> {
    host: &'a dyn Host,
    files: &'a dyn SideFiles,
    tx: &'a dyn Tx,
    me: Option<&'a Agent>,
}

impl Sending<'_> {
    /// Gathers the facts from which a request is decided.
    fn gather(&self, request: &SendRequest) -> Result<SendFacts, MessageError> {
        let (tx, me) = (self.tx, self.me);
        let own = me.map(|me| me.project.id.clone());
        let mut here = own.clone().or_else(|| request.project.clone());
        if here.is_none()
            && let Some(repository) = &request.repository
        {
            here = tx.project_of(repository)?.map(|project| project.id);
        }
        let from = super::sender(self.host, me);
        let former = request.key.as_ref().map(|key| tx.by_key(&from.who, key)).transpose()?.flatten();
        let answered = match &request.reply_to {
            None => None,
            Some(name) => match find(tx, name, here.as_ref()) {
                Ok(answered) => Some(answered),
                // The message was sent before, so the message it replied to is not needed.
                Err(_) if former.is_some() => None,
                Err(error) => return Err(error),
            },
        };
        let found = self.found(request, here.as_ref(), answered.as_ref())?;
        let mut project = own.or_else(|| answered.as_ref()?.project.clone());
        // A message of the person's is numbered in the project of its first agent recipient.
        if project.is_none()
            && let Some(session) = found.iter().flatten().flatten().find_map(|to| to.who.session())
        {
            project = tx.agent(session)?.map(|(agent, _)| agent.project.id);
        }
        let project = project.or_else(|| here.clone());
        let numbered_in = former.as_ref().map_or(&project, |former| &former.project);
        let elsewhere = match numbered_in {
            Some(id) if *numbered_in != here => {
                project_name(&tx.projects()?, id).or_else(|| Some(id.short().to_owned()))
            }
            _ => None,
        };
        Ok(SendFacts { from, project, elsewhere, answered, found, former })
    }

    /// Finds the recipients for each name in a request.
    fn found(
        &self,
        request: &SendRequest,
        project: Option<&ProjectId>,
        answered: Option<&Message>,
    ) -> Result<Vec<RecipientsFound>, StoreError> {
        match &request.to {
            Recipients::Everywhere => Ok(vec![Ok(self.others(None)?)]),
            Recipients::Sender => match answered {
                // A reply to one's own message goes to that message's recipients.
                Some(Message { sent, .. })
                    if self.is_me(&sent.from.who) && sent.to.iter().any(|to| !self.is_me(&to.who)) =>
                {
                    let others = sent.to.iter().filter(|to| !self.is_me(&to.who));
                    others.map(|to| self.addressee(&to.who, &to.name, None)).collect()
                }
                Some(Message { sent: RecordedMessage { from, .. }, .. }) => {
                    Ok(vec![self.addressee(&from.who, &from.name, from.project.as_ref())?])
                }
                None => Ok(vec![Err(MessageRefusal::Nobody)]),
            },
            Recipients::Named(names) if names.is_empty() => Ok(vec![Err(MessageRefusal::Nobody)]),
            Recipients::Named(names) => {
                let found = |name: &String| {
                    Ok(match (name.to_lowercase().as_str(), project) {
                        ("all", Some(project)) => Ok(self.others(Some(project))?),
                        ("all", None) => Ok(Vec::new()),
                        ("@me" | "me" | "you" | "user" | "@user" | "person", _) if !self.has(name)? => {
                            Ok(vec![person()])
                        }
                        _ => self.named(name)?,
                    })
                };
                names.iter().map(found).collect()
            }
        }
    }

    /// Returns all other live agents, of one project or of all.
    fn others(&self, project: Option<&ProjectId>) -> Result<Vec<Recipient>, StoreError> {
        let mut agents = self.tx.present()?;
        agents.retain(|agent| {
            project.is_none_or(|project| agent.project.id == *project)
                && self.me.is_none_or(|me| me.session != agent.session)
        });
        let (agents, _) = presence::partition_alive(self.host, self.files, agents);
        Ok(agents.iter().map(recipient).collect())
    }

    /// Tells whether an agent has exactly this name, which may be a word such as `user`.
    fn has(&self, name: &str) -> Result<bool, StoreError> {
        Ok(self.tx.by_name(name)?.is_some())
    }

    /// Finds the agent with this name, or the only agent that the word stands for.
    fn named(&self, name: &str) -> Result<RecipientsFound, StoreError> {
        let agent = match self.tx.by_name(name)? {
            Some(agent) => agent,
            None => {
                let present = self.tx.present()?;
                match find_by_word(name, &present)[..] {
                    [] => return Ok(Err(unknown(self.tx, name)?)),
                    [agent] => agent.clone(),
                    ref several => {
                        let called = several.iter().map(|agent| agent.name.to_string()).collect();
                        return Ok(Err(MessageRefusal::SeveralAgents {
                            name: text::one_line(name, 60),
                            called,
                        }));
                    }
                }
            }
        };
        let name = agent.name.to_string();
        if self.me.is_some_and(|me| me.session == agent.session) {
            return Ok(Err(MessageRefusal::ToSelf { name }));
        }
        if !presence::is_alive(self.host, self.files, &agent) {
            return Ok(Err(MessageRefusal::Gone { name }));
        }
        Ok(Ok(vec![recipient(&agent)]))
    }

    fn is_me(&self, who: &Actor) -> bool {
        match self.me {
            Some(me) => who.session() == Some(&me.session),
            None => *who == Actor::Person,
        }
    }

    /// Finds the agent that sent or received a message, under its current name; if it is gone, the agent of
    /// its project that has its name now.
    fn addressee(
        &self,
        who: &Actor,
        name: &str,
        project: Option<&ProjectId>,
    ) -> Result<RecipientsFound, StoreError> {
        let Actor::Agent(session) = who else { return Ok(Ok(vec![person()])) };
        let known = self.tx.agent(session)?;
        if let Some((agent, None)) = &known {
            return self.named(agent.name.as_str());
        }
        // An agent of the same name in another project is a different agent.
        let project = known.as_ref().map(|(agent, _)| &agent.project.id).or(project);
        let heir = self.tx.by_name(name)?;
        match heir.filter(|heir| Some(&heir.project.id) == project) {
            Some(heir) => self.named(heir.name.as_str()),
            None => Ok(Err(MessageRefusal::Gone { name: name.to_owned() })),
        }
    }
}

/// Describes an agent, or the person if `None`, as the sender of a message.
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

/// Returns the agent that the message is from; `None` is the person. An agent speaks only for itself.
fn speaker(tx: &dyn Tx, caller: Caller, as_agent: Option<&str>) -> Result<Option<Agent>, MessageError> {
    match (caller, as_agent) {
        (Caller::Anonymous(why), _) => Err(MessageRefusal::from(why).into()),
        (Caller::Agent(agent), Some(name)) if !agent.name.as_str().eq_ignore_ascii_case(name) => {
            Err(MessageRefusal::NotTheCaller { caller: agent.name.to_string(), name: name.to_owned() }.into())
        }
        (Caller::Agent(agent), _) => Ok(Some(*agent)),
        (Caller::Person, None) => Ok(None),
        (Caller::Person, Some(name)) => match tx.by_name(name)? {
            Some(agent) => Ok(Some(agent)),
            None => Err(unknown(tx, name)?.into()),
        },
    }
}

/// Returns the refusal for a name that no present agent has.
fn unknown(tx: &dyn Tx, name: &str) -> Result<MessageRefusal, StoreError> {
    if let Some(agent) = tx.gone_by_name(name)?.pop() {
        return Ok(MessageRefusal::Gone { name: agent.name.to_string() });
    }
    let present = tx.present()?;
    let nearest = match name.to_lowercase().as_str() {
        "everyone" | "everybody" | "team" => Some("all".to_owned()),
        _ => match renamed(tx, name, &present)? {
            Some(agent) => Some(agent.name.to_string()),
            None => text::nearest(name, present.iter().map(|agent| agent.name.as_str())).map(str::to_owned),
        },
    };
    Ok(MessageRefusal::NoSuchAgent { name: text::one_line(name, 60), nearest })
}

/// Returns the agent that had this name before it was renamed, as far as the latest entries tell.
fn renamed<'a>(tx: &dyn Tx, name: &str, present: &'a [Agent]) -> Result<Option<&'a Agent>, StoreError> {
    let latest = tx.entries(&TailRequest { limit: 1_000, ..TailRequest::default() })?;
    let changes = latest.iter().rev().flat_map(|entry| &entry.changes);
    let session = changes.filter_map(|kept| match &kept.change {
        Change::Presence(PresenceChange::Renamed { session, from, .. })
            if from.as_str().eq_ignore_ascii_case(name) =>
        {
            Some(session)
        }
        _ => None,
    });
    Ok(session.filter_map(|session| present.iter().find(|agent| agent.session == *session)).next())
}

pub(super) fn recipient(agent: &Agent) -> Recipient {
    Recipient { who: Actor::Agent(agent.session.clone()), name: agent.name.to_string() }
}

pub(super) fn person() -> Recipient {
    Recipient { who: Actor::Person, name: "your user".into() }
}
