//! Dispatch verb that asks for a run: the gates are checked, and the run or its refusal is
//! recorded.

use std::path::PathBuf;

use crate::App;
use crate::Timestamp;
use crate::dispatch::Account;
use crate::dispatch::Accounts;
use crate::dispatch::AskedBy;
use crate::dispatch::Cost;
use crate::dispatch::DispatchChange;
use crate::dispatch::DispatchError;
use crate::dispatch::DispatchLimits;
use crate::dispatch::GateFacts;
use crate::dispatch::GateRefusal;
use crate::dispatch::ModelTier;
use crate::dispatch::RequestedRun;
use crate::dispatch::ReviewOf;
use crate::dispatch::RunRecord;
use crate::dispatch::RunSpec;
use crate::dispatch::Safety;
use crate::dispatch::gates;
use crate::engine::StoreError;
use crate::engine::Tx;
use crate::host::Host;
use crate::host::MachineProcess;
use crate::journal::Actor;
use crate::journal::Change;
use crate::journal::ChangeId;
use crate::presence;
use crate::presence::AgentName;
use crate::presence::Caller;
use crate::presence::CallerFacts;
use crate::project::ProjectId;
use crate::secrets::redacted;
use crate::tasks;
use crate::tasks::TaskKey;
use crate::tasks::TaskRequest;
use crate::text;

/// A request for a run.
#[derive(Clone, Debug)]
pub struct RunRequest {
    pub caller: CallerFacts,
    pub project: ProjectId,
    pub task: String,
    pub role: String,
    pub cli: String,
    pub model: Option<String>,
    /// The tier that the model must have, and the tier of the model that is named, if it is known.
    pub tier: (ModelTier, Option<ModelTier>),
    pub safety: Safety,
    pub name: AgentName,
    pub cwd: PathBuf,
    pub has_worktree: bool,
    pub timeout_s: Option<u64>,
    pub prompt_hash: String,
    pub batch: Option<String>,
    pub follows: Option<ChangeId>,
    /// The task of a spec that the run takes; the request names its id and its spec.
    pub takes: Option<TaskRequest>,
    /// The work that the run reviews. Consort itself asks for such a run, **but only for one that
    /// just reads** ([`Safety::Suggest`]).
    pub reviews: Option<ReviewOf>,
    /// Whether the first line of the task may be kept.
    pub keeps_title: bool,
    pub limits: DispatchLimits,
    /// The refusal of the person's own gate, if it refuses.
    pub own_gate: Option<GateRefusal>,
}

impl RunRequest {
    /// Builds the spec that is recorded.
    fn spec(
        &self,
        title: String,
        reserved: Cost,
        parent: Option<&RunRecord>,
        takes: Option<TaskKey>,
    ) -> RunSpec {
        RunSpec {
            title,
            role: self.role.clone(),
            cli: self.cli.clone(),
            model: self.model.clone(),
            safety: self.safety,
            name: self.name.clone(),
            cwd: self.cwd.clone(),
            has_worktree: self.has_worktree,
            timeout_s: self.timeout_s,
            reserved,
            cap: self.limits.caps.run,
            prompt_hash: self.prompt_hash.clone(),
            depth: gates::depth_below(parent),
            parent: parent.map(|parent| parent.id),
            batch: self.batch.clone(),
            follows: self.follows,
            takes,
            reviews: self.reviews.clone(),
        }
    }
}

/// Returns the title that a run is listed by: the first line of its task, or only the length of a
/// task that may not be kept.
fn title(request: &RunRequest) -> String {
    if !request.keeps_title {
        return format!(
            "({} that are not kept)",
            text::counted_noun(request.task.chars().count(), "character")
        );
    }
    redacted(&text::one_line(request.task.trim().lines().next().unwrap_or_default(), TITLE))
}

/// Number of latest runs that the gates look at.
const LATEST: usize = 20;

/// Longest title of a run, in characters.
const TITLE: usize = 120;

impl App {
    /// Records a run that is to begin. The calling process owns it until its supervisor takes it
    /// over.
    pub fn ask_run(&mut self, request: &RunRequest) -> Result<RunRecord, DispatchError> {
        let now = self.host.now();
        let files = self.engine.side_files();
        let mut tx = self.engine.write()?;
        let is_ours = request.reviews.is_some() && request.safety == Safety::Suggest;
        let who = match is_ours {
            true => None,
            false => Some(presence::who_calls(&*self.host, &*files, &*tx, &request.caller)?),
        };
        let (by, asked_by) = match who {
            None => (Actor::Consort, AskedBy::Person),
            Some(Caller::Person) => (Actor::Person, AskedBy::Person),
            Some(Caller::Anonymous(why)) => return Err(why.into()),
            Some(Caller::Agent(agent)) => {
                let asks = files.activity(&agent.session).and_then(|activity| activity.asks_first);
                (Actor::Agent(agent.session), AskedBy::Agent { asks_first: asks != Some(false) })
            }
        };
        let parent = run_above(&*self.host, &*tx, &request.caller)?;
        let latest = tx.runs(&request.project, None, LATEST)?;
        let [chance, more, ..] = self.host.random();
        let facts = GateFacts {
            now,
            asked_by,
            limits: &request.limits,
            parent: parent.as_ref(),
            latest: &latest,
            accounts: accounts(&*tx, &request.project, now)?,
            chance: u16::from_le_bytes([chance, more]).into(),
        };
        let wish = RequestedRun {
            task: &request.task,
            role: &request.role,
            cli: &request.cli,
            model: request.model.as_deref(),
            tier: request.tier,
            safety: request.safety,
        };
        let title = title(request);
        let reserved = match gates::check(&facts, &wish).and_then(|passed| match &request.own_gate {
            Some(refusal) => Err(refusal.clone()),
            None => Ok(passed),
        }) {
            Ok(reservation) => reservation.amount,
            Err(refusal) => {
                let changes = vec![refused(&refusal, title)];
                Self::conclude(&*self.host, tx, now, Some(request.project.clone()), by, changes)?;
                return Err(refusal.into());
            }
        };
        let id = crate::journal::EntryId::new(now, self.host.random());
        let mut changes = Vec::new();
        let mut takes = None;
        if let Some(task) = &request.takes {
            // The run becomes the first change; those that free or take tasks come after it.
            let run = (ChangeId { entry: id, place: 0 }, &request.name);
            changes = tasks::claim_for_run(&*self.host, &*files, &*tx, task, run, now)?;
            takes = changes.last().and_then(|change| match change {
                Change::Tasks(change) => Some(change.key().clone()),
                _ => None,
            });
        }
        let spec = request.spec(title, reserved, parent.as_ref(), takes);
        let owner = own_process(&*self.host);
        let asked = DispatchChange::Asked { spec: Box::new(spec), by: by.clone(), owner };
        changes.insert(0, Change::Dispatch(asked));
        let project = Some(request.project.clone());
        let entry = crate::journal::NewEntry { id, at: now, project, actor: by, changes };
        tx.record(&entry)?;
        let record = tx.run_of(entry.change_id(0))?;
        crate::app::commit(&*self.host, tx)?;
        record.ok_or_else(|| DispatchError::NoSuchRun { name: entry.change_id(0).to_string() })
    }
}

/// Returns this process, by which others can check whether the owner of a run is alive.
pub(super) fn own_process(host: &dyn Host) -> MachineProcess {
    host.own_machine_process().unwrap_or_default()
}

/// Returns the money that a project has spent and set aside, today and in all.
pub(super) fn accounts(tx: &dyn Tx, project: &ProjectId, now: Timestamp) -> Result<Accounts, DispatchError> {
    let today = now.0.div_euclid(Timestamp::DAY);
    let mut accounts = Accounts::default();
    for spending in tx.spending(project, 0)? {
        let add = |account: &mut Account| {
            account.spent.known.0 += spending.cost.0;
            account.spent.unknown_runs += u32::try_from(spending.unknown).unwrap_or(u32::MAX);
        };
        add(&mut accounts.project);
        if spending.day == today {
            add(&mut accounts.day);
        }
    }
    for run in tx.open_runs()?.iter().filter(|run| run.project.as_ref() == Some(project)) {
        accounts.day.reserve(run.spec.reserved);
        accounts.project.reserve(run.spec.reserved);
    }
    Ok(accounts)
}

fn refused(refusal: &GateRefusal, title: String) -> Change {
    Change::Dispatch(DispatchChange::Refused {
        gate: refusal.gate.to_owned(),
        why: refusal.why.clone(),
        title,
    })
}

/// Finds the innermost run in whose process tree the caller is. The ancestors that the caller knows
/// end with the process that hosts its agent, which is below the run's owner; so the host is asked
/// too.
pub(crate) fn run_above(
    host: &dyn Host,
    tx: &dyn Tx,
    caller: &CallerFacts,
) -> Result<Option<RunRecord>, StoreError> {
    let machine = host.name();
    let is_above = |run: &RunRecord| {
        let owner = &run.owner;
        owner.machine == machine
            && (caller.ancestors.iter().any(|process| owner.process.is(process))
                || host.is_ancestor(&owner.process))
    };
    let above = tx.open_runs()?.into_iter().filter(is_above);
    Ok(above.max_by_key(|run| run.spec.depth))
}
