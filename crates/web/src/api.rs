//! The JSON API over HTTP: a route for each verb, answered with its outcome.

use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;

use axum::Extension;
use axum::Router;
use axum::body::Bytes;
use axum::extract::Path as Route;
use axum::extract::Query;
use axum::extract::State;
use axum::extract::rejection::QueryRejection;
use axum::http::Method;
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::any;
use consort_core::App;
use consort_core::Timestamp;
use consort_core::call_context::ServedContext;
use consort_core::claims::HoldRequest;
use consort_core::claims::Mode;
use consort_core::claims::ReleaseRequest;
use consort_core::claims::ReleaseTarget;
use consort_core::claims::Strength;
use consort_core::host::ConnectionAddrs;
use consort_core::journal::Actor;
use consort_core::journal::ChangeId;
use consort_core::journal::Seq;
use consort_core::journal::TailRequest;
use consort_core::messages::InboxRequest;
use consort_core::messages::MessageName;
use consort_core::messages::MessageType;
use consort_core::messages::Priority;
use consort_core::messages::Recipients;
use consort_core::messages::SendRequest;
use consort_core::presence::Caller;
use consort_core::presence::CallerFacts;
use consort_core::presence::PresenceError;
use consort_core::presence::Scope;
use consort_core::project::Project;
use consort_core::tasks::CompleteRequest;
use consort_core::tasks::TaskRequest;
use consort_core::tasks::TasksOutcome;
use serde::Deserialize;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::guard::Access;
use crate::reply::Refusal;
use crate::reply::answer;
use crate::server::Inner;

/// How many entries or messages are shown unless asked otherwise, and at most.
const USUAL: usize = 50;
const MOST: usize = 1_000;

pub(crate) fn routes() -> Router<Arc<Inner>> {
    Router::new().route("/api/{*verb}", any(serve))
}

async fn serve(
    State(inner): State<Arc<Inner>>,
    ends: Option<Extension<ConnectionAddrs>>,
    Extension(access): Extension<Access>,
    method: Method,
    Route(verb): Route<String>,
    about: Result<Query<About>, QueryRejection>,
    body: Bytes,
) -> Result<Response, Refusal> {
    let Query(about) = about.map_err(|error| Refusal::malformed(error.body_text()))?;
    let ends = ends.map(|Extension(ends)| ends);
    let call = move |app: &mut App, calls: &dyn ServedContext| {
        let mut call = ApiCall { app, caller: access.proves(calls.caller(ends)), calls, about };
        let verb: Vec<&str> = verb.split('/').collect();
        match method {
            Method::GET => call.look(&verb),
            Method::POST => call.act(&verb, &body),
            _ => Err(Refusal::not_found()),
        }
    };
    Ok(answer(StatusCode::OK, inner.with(call).await?))
}

/// What a call is about.
#[derive(Deserialize)]
struct About {
    /// Its name or id; without it, every project.
    project: Option<String>,
    after: Option<Seq>,
    limit: Option<usize>,
    path: Option<String>,
    /// The directory that a relative path is read from.
    cwd: Option<String>,
}

impl About {
    fn limit(&self) -> usize {
        self.limit.unwrap_or(USUAL).min(MOST)
    }
}

/// Where one call is dealt with. A caller that shows the token is the person, unless
/// its processes say that it is an agent.
struct ApiCall<'a> {
    app: &'a mut App,
    calls: &'a dyn ServedContext,
    caller: CallerFacts,
    about: About,
}

/// An outcome as its own JSON.
type Answer = Result<Vec<u8>, Refusal>;

impl ApiCall<'_> {
    /// The commands that read, by their own words.
    fn look(&mut self, verb: &[&str]) -> Answer {
        let project = self.project()?.map(|project| project.id);
        match verb {
            ["version"] => told(json!({ "consort": env!("CARGO_PKG_VERSION") })),
            ["who"] => self.who(None),
            ["who", agent] => self.who(Some(agent)),
            ["explain"] => {
                let (path, cwd) = self.path()?;
                let outcome = self.app.explain_path(&self.caller, &cwd, &path)?;
                told(self.app.one("path", &outcome))
            }
            ["holds"] => {
                let outcome = self.app.holds(&self.caller, project.as_ref(), 0)?;
                self.items(&outcome.holds)
            }
            ["task"] => self.tasks(),
            ["radar", rest @ ..] => self.radar(rest),
            ["agent", "handoff", agent] => {
                let handoff = self.app.handoff(agent)?;
                told(self.app.one("handoff", &handoff))
            }
            ["inbox"] => {
                let mailbox = self.mailbox()?;
                let letters = self.app.inbox(&InboxRequest { mailbox, from: None, peek: true })?;
                self.items(&letters)
            }
            ["inbox", "all"] => {
                let mailbox = self.mailbox()?;
                let received = self.app.received(&mailbox, self.about.limit())?;
                self.items(&received)
            }
            ["inbox", "sent"] => {
                let from = self.mailbox()?;
                let sent = self.app.sent(&from, self.about.limit())?;
                self.items(&sent)
            }
            ["inbox", "thread", name] => {
                let name = name.parse().map_err(Refusal::malformed)?;
                let thread = self.app.thread(&name, project.as_ref())?;
                self.items(&thread)
            }
            ["journal"] => {
                let request =
                    TailRequest { after: self.about.after, since: None, project, limit: self.about.limit() };
                let entries = self.app.journal_tail(&request)?;
                self.items(&entries)
            }
            _ => Err(Refusal::not_found()),
        }
    }

    /// What is likely to collide, and what is known of it.
    fn radar(&mut self, rest: &[&str]) -> Answer {
        let Some(project) = self.project()? else {
            return Err(Refusal::malformed("`project` is missing".into()));
        };
        match rest {
            [] => {
                let calls = self.calls;
                let outcome = self.app.radar(&project.id, &|name| calls.variable(name))?;
                self.items(&outcome.pairs)
            }
            ["history"] => {
                let (past, _) = self.app.past_predictions()?;
                self.items(&past)
            }
            ["merges"] => {
                let overlaps = self.app.overlaps(Some(&project.id))?;
                self.items(&overlaps)
            }
            [number] => {
                let number = number.parse().map_err(|_| Refusal::malformed("expected a number".into()))?;
                let prediction = self.app.prediction(number, &project.id)?;
                told(self.app.one("prediction", &prediction))
            }
            _ => Err(Refusal::not_found()),
        }
    }

    /// The commands that change something, by their own words.
    fn act(&mut self, verb: &[&str], body: &[u8]) -> Answer {
        match verb {
            ["send"] => self.send(body_of(body)?),
            ["reply", name] => {
                let reply: Outgoing = body_of(body)?;
                let name = name.parse().map_err(Refusal::malformed)?;
                self.send(Outgoing { reply: Some(name), ..reply })
            }
            ["inbox", "read"] => self.read(&body_of(body)?),
            ["reserve"] => {
                let want: Paths = body_of(body)?;
                let outcome = self.app.hold(&want.hold(self.caller.clone()))?;
                self.items(&outcome.holds)
            }
            ["release"] => {
                let want: Paths = body_of(body)?;
                let outcome = self.app.release(&want.release(self.caller.clone()))?;
                self.items(&outcome.released)
            }
            ["holds", "contest"] => {
                let want: Paths = body_of(body)?;
                let path = want.paths.first().map_or("", String::as_str);
                let hold = self.app.contest(&self.caller, &want.cwd, path, want.reason.as_deref())?;
                told(self.app.one("reservation", &hold))
            }
            ["task", verb] => self.task(verb, body_of(body)?),
            _ => Err(Refusal::not_found()),
        }
    }

    fn task(&mut self, verb: &str, task: Task) -> Answer {
        let request = TaskRequest {
            caller: self.caller.clone(),
            cwd: task.cwd,
            spec: task.spec,
            id: task.id,
            words: task.notes,
            is_for_new: verb == "next",
        };
        let outcome = match verb {
            "next" | "claim" => self.app.claim_task(&request)?,
            "drop" => self.app.unclaim_task(&request)?,
            "done" => {
                let request = CompleteRequest { task: request, generation: None, take_anyway: false };
                self.app.complete_task(&request)?
            }
            _ => return Err(Refusal::not_found()),
        };
        told(self.app.one("task", &outcome))
    }

    /// The path that a call is about, and where it is read from.
    fn path(&self) -> Result<(String, PathBuf), Refusal> {
        let missing = |what: &str| Refusal::malformed(format!("`{what}` is missing"));
        let path = self.about.path.clone().ok_or_else(|| missing("path"))?;
        let cwd = self.about.cwd.clone().map(PathBuf::from).filter(|cwd| cwd.is_absolute());
        if Path::new(&path).is_absolute() {
            return Ok((path, cwd.unwrap_or_else(|| PathBuf::from("/"))));
        }
        Ok((path, cwd.ok_or_else(|| missing("cwd"))?))
    }

    fn items(&mut self, items: &impl Serialize) -> Answer {
        told(self.app.items(items))
    }

    fn who(&mut self, named: Option<&str>) -> Answer {
        let scope = self.project()?.map_or(Scope::Everywhere, Scope::Project);
        let you = match self.app.caller(&self.caller)? {
            Caller::Agent(agent) => Some(agent.session),
            Caller::Person | Caller::Anonymous(_) => None,
        };
        let calls = self.calls;
        let outcome = self.app.who(&scope, you.as_ref(), |agents| calls.look(agents))?;
        let mut items = Vec::new();
        for seen in &outcome.agents {
            items.push(self.app.who_item(seen)?);
        }
        let Some(named) = named else { return self.items(&items) };
        let agent = self.app.find_agent(named)?;
        let item = items.into_iter().find(|item| item["session"] == agent.session.as_str());
        told(self.app.one("agent", &item))
    }

    /// The specs that are worked on; one that is gone does not hide the others.
    fn tasks(&mut self) -> Answer {
        let project = self.project()?;
        let mut items = Vec::new();
        for (spec, file) in self.app.specs()? {
            if project.as_ref().is_none_or(|project| spec.project.as_ref() == Some(&project.id)) {
                items.extend(
                    self.app.tasks(&TaskRequest::of_spec(file)).ok().iter().flat_map(TasksOutcome::items),
                );
            }
        }
        self.items(&items)
    }

    fn send(&mut self, send: Outgoing) -> Answer {
        let to = match (send.everywhere, send.to.is_empty(), &send.reply) {
            (true, ..) => Recipients::Everywhere,
            (false, true, Some(_)) => Recipients::Sender,
            (false, ..) => Recipients::Named(send.to),
        };
        let unknown = |what: &str| Refusal::malformed(format!("there is no {what} of that name"));
        let kind = send.kind.map(|kind| MessageType::named(&kind).ok_or_else(|| unknown("type")));
        let priority = send.priority.map(|name| Priority::named(&name).ok_or_else(|| unknown("priority")));
        let request = SendRequest {
            caller: self.caller.clone(),
            to,
            kind: kind.transpose()?.unwrap_or_default(),
            priority: priority.transpose()?,
            text: send.text,
            reply_to: send.reply,
            key: send.key,
            project: self.project()?.map(|project| project.id),
            ..SendRequest::default()
        };
        let outcome = self.app.send(&request)?;
        for (agent, activity) in self.app.idle_recipients(&request, &outcome).unwrap_or_default() {
            self.calls.wake(&agent, &activity);
        }
        told(self.app.one("message", &outcome))
    }

    /// A client that has shown messages to somebody says so: until then they wait.
    fn read(&mut self, read: &Read) -> Answer {
        let mailbox = self.mailbox()?;
        let request = InboxRequest { mailbox: mailbox.clone(), from: None, peek: true };
        let mut letters = self.app.inbox(&request)?;
        letters.retain(|letter| read.messages.contains(&letter.message.id));
        self.app.mark_read(&mailbox, &letters)?;
        let read: Vec<ChangeId> = letters.iter().map(|letter| letter.message.id).collect();
        self.items(&read)
    }

    fn project(&mut self) -> Result<Option<Project>, Refusal> {
        let named = self.about.project.as_deref();
        Ok(named.map(|named| self.app.find_project(named)).transpose()?)
    }

    fn mailbox(&mut self) -> Result<Actor, Refusal> {
        match self.app.caller(&self.caller)? {
            Caller::Agent(agent) => Ok(Actor::Agent(agent.session)),
            Caller::Person => Ok(Actor::Person),
            Caller::Anonymous(why) => Err(PresenceError::from(why).into()),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Outgoing {
    #[serde(default)]
    to: Vec<String>,
    #[serde(default)]
    everywhere: bool,
    text: String,
    #[serde(rename = "type")]
    kind: Option<String>,
    priority: Option<String>,
    reply: Option<MessageName>,
    key: Option<String>,
}

/// What is to be reserved, released or contested.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Paths {
    /// Where relative paths are read from.
    cwd: PathBuf,
    #[serde(default)]
    paths: Vec<String>,
    reason: Option<String>,
    #[serde(default)]
    advisory: bool,
    #[serde(default)]
    shared: bool,
    /// Seconds.
    ttl_s: Option<u32>,
}

impl Paths {
    fn hold(self, caller: CallerFacts) -> HoldRequest {
        HoldRequest {
            caller,
            cwd: self.cwd,
            what: self.paths,
            strength: if self.advisory { Strength::Advisory } else { Strength::Blocking },
            mode: if self.shared { Mode::Shared } else { Mode::Exclusive },
            reason: self.reason,
            ttl: self.ttl_s.map(|seconds| i64::from(seconds) * Timestamp::SECOND),
        }
    }

    fn release(self, caller: CallerFacts) -> ReleaseRequest {
        let what = if self.paths.is_empty() { ReleaseTarget::Mine } else { ReleaseTarget::These(self.paths) };
        ReleaseRequest { caller, cwd: self.cwd, what, strength: None, force: false }
    }
}

/// A task that is taken, finished or given back.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Task {
    cwd: PathBuf,
    spec: Option<PathBuf>,
    id: Option<String>,
    /// Why, or what came of it.
    notes: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Read {
    /// By their ids.
    messages: Vec<ChangeId>,
}

fn told(outcome: impl Serialize) -> Answer {
    serde_json::to_vec(&outcome).map_err(|error| Refusal::internal(error.to_string()))
}

fn body_of<T: DeserializeOwned>(body: &[u8]) -> Result<T, Refusal> {
    serde_json::from_slice(body)
        .map_err(|error| Refusal::malformed(format!("the body does not fit: {error}")))
}
