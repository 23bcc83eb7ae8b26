//! Letting go; and taking away, where that may be.

use super::Standing;
use super::actor;
use super::meanings;
use super::released;
use super::speaker;
use crate::App;
use crate::Timestamp;
use crate::claims::ClaimError;
use crate::claims::ClaimStore as _;
use crate::claims::Hold;
use crate::claims::Release;
use crate::claims::ReleaseOutcome;
use crate::claims::ReleaseRequest;
use crate::claims::Strength;
use crate::claims::Which;
use crate::claims::rules;
use crate::engine::Engine;
use crate::host::Host;
use crate::journal::Actor;
use crate::presence;
use crate::project::ProjectId;
use crate::text;

impl<E: Engine, H: Host> App<E, H> {
    /// Lets go of what is named, or of all that the caller holds. Taking away
    /// what another holds takes a contest that went unanswered for `timeout`
    /// seconds, or the person.
    pub fn release(&mut self, request: &ReleaseRequest, timeout: i64) -> Result<ReleaseOutcome, ClaimError> {
        let now = self.host.now();
        let (pulses, case) = (self.engine.pulses(), self.host.case());
        let mut tx = self.engine.write()?;
        let me = speaker(presence::who_calls(&self.host, &pulses, &tx, &request.caller)?)?;
        let holder = actor(me.as_ref());
        let mut gone: Vec<(Hold, Release)> = Vec::new();
        let mut asked = Vec::new();
        if let Which::These(what) = &request.what {
            for text in what {
                let meant = meanings(&self.host, &mut tx, &request.cwd, text, request.strength, now)?;
                asked.push((text, meant));
            }
        }
        let standing = Standing::new(&self.host, &pulses, &tx, tx.all_holds()?, now)?;
        let fits = |hold: &&Hold| match request.strength {
            Some(strength) => hold.strength == strength,
            None => hold.strength != Strength::Lifted,
        };
        if request.what == Which::Mine {
            let mine = standing.holds.iter().filter(fits).filter(|hold| hold.holder == holder);
            gone.extend(mine.map(|hold| (hold.clone(), Release::Asked)));
        }
        for (text, meant) in &asked {
            let exact = |hold: &&Hold| {
                meant.iter().any(|one| hold.project == one.project && hold.resource == one.resource)
            };
            let met: Vec<&Hold> = standing.holds.iter().filter(fits).filter(exact).collect();
            if let Some(mine) = met.iter().find(|hold| hold.holder == holder) {
                gone.push(((*mine).clone(), Release::Asked));
                continue;
            }
            // By force, whatever is in the way of it.
            let is_meant = |hold: &&Hold| meant.iter().any(|one| rules::meets(hold, one, case));
            let near = standing.holds.iter().filter(fits).filter(is_meant);
            let others: Vec<&Hold> = if request.force { near.collect() } else { met };
            if others.is_empty() {
                if standing.over.iter().any(|(hold, _)| exact(&hold)) {
                    continue;
                }
                let known = standing.holds.iter().map(|hold| hold.resource.shown()).collect::<Vec<_>>();
                let nearest = text::nearest(text, known.iter().map(String::as_str)).map(str::to_owned);
                return Err(ClaimError::NotHeld { resource: (*text).clone(), nearest });
            }
            for hold in others {
                may_take(hold, request.force, me.is_none(), now, timeout)?;
                gone.push((hold.clone(), Release::Forced));
            }
        }
        let mut changes = standing.notices();
        changes.extend(gone.iter().map(|(hold, why)| released(hold, *why)));
        let project: Option<ProjectId> = gone
            .iter()
            .find_map(|(hold, _)| hold.project.clone())
            .or_else(|| me.as_ref().map(|me| me.project.id.clone()));
        Self::conclude(&self.host, tx, now, project, holder, changes)?;
        Ok(ReleaseOutcome { released: gone.into_iter().map(|(hold, _)| hold).collect() })
    }
}

/// Whether what another holds may be taken away now.
fn may_take(
    hold: &Hold,
    force: bool,
    is_person: bool,
    now: Timestamp,
    timeout: i64,
) -> Result<(), ClaimError> {
    let (resource, holder) = (hold.resource.shown(), hold.label.clone());
    if !force {
        return Err(ClaimError::NotYours { resource, holder });
    }
    if is_person {
        return Ok(());
    }
    match rules::seconds_left(hold, now, timeout * Timestamp::SECOND) {
        _ if hold.holder == Actor::Person => Err(ClaimError::NotYours { resource, holder }),
        None => Err(ClaimError::NotContested { resource, holder }),
        Some(0) => Ok(()),
        Some(seconds) => Err(ClaimError::TooEarly { resource, holder, seconds }),
    }
}
