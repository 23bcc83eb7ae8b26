//! Letting go; and taking away, where that may be.

use super::LiveHolds;
use super::actor;
use super::parse_resources;
use super::released;
use super::speaker;
use super::tell;
use crate::App;
use crate::Timestamp;
use crate::claims::ClaimError;
use crate::claims::Hold;
use crate::claims::Release;
use crate::claims::ReleaseOutcome;
use crate::claims::ReleaseRequest;
use crate::claims::Strength;
use crate::claims::Which;
use crate::claims::rules;
use crate::journal::Actor;
use crate::presence;
use crate::presence::Caller;
use crate::project::ProjectId;
use crate::text;

impl App {
    /// Lets go of what is named, or of all that the caller holds. Taking away
    /// what another holds takes a contest that went unanswered, or the person.
    pub fn release(&mut self, request: &ReleaseRequest) -> Result<ReleaseOutcome, ClaimError> {
        let now = self.host.now();
        let (files, case) = (self.engine.side_files(), self.host.case());
        if let Which::These(what) = &request.what {
            self.settle_projects_of(&request.cwd, what)?;
        }
        let tx = self.engine.write()?;
        let me = speaker(presence::who_calls(&*self.host, &*files, &*tx, &request.caller)?)?;
        let holder = actor(me.as_ref());
        let mut gone: Vec<(Hold, Release)> = Vec::new();
        let mut asked = Vec::new();
        if let Which::These(what) = &request.what {
            for text in what {
                let meant = parse_resources(&*self.host, &*tx, &request.cwd, text, request.strength)?;
                asked.push((text, meant));
            }
        }
        let live = LiveHolds::new(&*self.host, &*files, &*tx, tx.all_holds()?, now)?;
        let fits = |hold: &&Hold| match request.strength {
            Some(strength) => hold.strength == strength,
            None => hold.strength != Strength::Overridden,
        };
        if request.what == Which::Mine {
            let mine = live.holds.iter().filter(fits).filter(|hold| hold.holder == holder);
            gone.extend(mine.map(|hold| (hold.clone(), Release::Asked)));
        }
        let mut over = Vec::new();
        for (text, meant) in &asked {
            let is_it = |hold: &&Hold| meant.iter().any(|one| one.is_it(hold));
            let met: Vec<&Hold> = live.holds.iter().filter(fits).filter(is_it).collect();
            if let Some(mine) = met.iter().find(|hold| hold.holder == holder) {
                gone.push(((*mine).clone(), Release::Asked));
                continue;
            }
            let left: Vec<&Hold> = live.over.iter().map(|(hold, _)| hold).filter(is_it).collect();
            if met.is_empty() && left.is_empty() {
                let is_near = |hold: &&Hold| meant.iter().any(|one| rules::meets(hold, one, case));
                let near = live.holds.iter().find(is_near).map(|hold| hold.resource.shown());
                let known: Vec<String> = live.holds.iter().map(|hold| hold.resource.shown()).collect();
                let alike = || text::nearest(text, known.iter().map(String::as_str)).map(str::to_owned);
                return Err(ClaimError::NotHeld { resource: (*text).clone(), nearest: near.or_else(alike) });
            }
            over.extend(left.into_iter().cloned());
            for hold in met {
                // The person needs no contest, but says so twice.
                let is_person = me.is_none() && request.force;
                if is_person && !is_due(hold, now) {
                    presence::require_confirmed(&Caller::Person, &request.caller)?;
                }
                may_take(hold, request.force, me.is_none(), now)?;
                gone.push((hold.clone(), Release::Forced));
            }
        }
        let mut changes = live.notices();
        changes.extend(gone.iter().map(|(hold, why)| released(hold, *why)));
        // Whose it was, and who asked for it: in one message, the entry has but one.
        let is_forced = gone.iter().any(|(_, why)| *why == Release::Forced);
        let whom: Vec<&Actor> = gone
            .iter()
            .flat_map(|(hold, _)| [Some(&hold.holder), hold.contest.as_ref().map(|contest| &contest.by)])
            .flatten()
            .collect();
        let what = text::few(gone.iter().map(|(hold, _)| text::foreign(&hold.resource.shown(), 120)), 4);
        let text = match is_forced {
            true => format!("I have taken what was held: {what}."),
            false => format!("I have let go of {what}: it is free."),
        };
        changes.extend(tell(&*self.host, &*tx, me.as_ref(), &whom, text)?);
        let project: Option<ProjectId> = gone
            .iter()
            .find_map(|(hold, _)| hold.project.clone())
            .or_else(|| me.as_ref().map(|me| me.project.id.clone()));
        Self::conclude(&*self.host, tx, now, project, holder, changes)?;
        Ok(ReleaseOutcome { released: gone.into_iter().map(|(hold, _)| hold).chain(over).collect() })
    }
}

/// Whether a contest has run out.
fn is_due(hold: &Hold, now: Timestamp) -> bool {
    hold.contest.as_ref().is_some_and(|contest| now >= contest.until)
}

/// Whether what another holds may be taken away now.
fn may_take(hold: &Hold, force: bool, is_person: bool, now: Timestamp) -> Result<(), ClaimError> {
    let (resource, holder) = (hold.resource.shown(), hold.label.clone());
    match &hold.contest {
        _ if !force => Err(ClaimError::NotYours { resource, holder }),
        _ if is_person => Ok(()),
        _ if hold.holder == Actor::Person => Err(ClaimError::ThePersons { resource }),
        None => Err(ClaimError::NotContested { resource, holder }),
        Some(contest) if now >= contest.until => Ok(()),
        Some(contest) => {
            let seconds = (contest.until.since(now) + Timestamp::SECOND - 1) / Timestamp::SECOND;
            Err(ClaimError::TooEarly { resource, holder, seconds })
        }
    }
}
