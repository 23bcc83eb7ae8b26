//! Claims verb `release`: gives up one's own holds, or takes away another's.

use super::asker;
use super::gather;
use super::parse_resources;
use super::speaker;
use crate::App;
use crate::claims::ClaimError;
use crate::claims::ReleaseOutcome;
use crate::claims::ReleaseRequest;
use crate::claims::ReleaseTarget;
use crate::claims::rules;
use crate::claims::rules::ForceRight;
use crate::claims::rules::HoldSelector;
use crate::presence;
use crate::presence::Caller;

impl App {
    /// Releases the holds that are named, or all that the caller has. To take away another's hold
    /// takes an unanswered contest, or the person.
    pub fn release(&mut self, request: &ReleaseRequest) -> Result<ReleaseOutcome, ClaimError> {
        let now = self.host.now();
        let (files, case) = (self.engine.side_files(), self.host.case());
        if let ReleaseTarget::These(what) = &request.what {
            self.settle_projects_of(&request.cwd, what)?;
        }
        let tx = self.engine.write()?;
        let me = speaker(presence::who_calls(&*self.host, &*files, &*tx, &request.caller)?)?;
        let wanted = match &request.what {
            ReleaseTarget::Mine => HoldSelector::Mine,
            ReleaseTarget::These(what) => {
                let meant = |text: &String| {
                    let meant = parse_resources(&*self.host, &*tx, &request.cwd, text, request.strength)?;
                    Ok((text.clone(), meant))
                };
                HoldSelector::These(what.iter().map(meant).collect::<Result<_, ClaimError>>()?)
            }
        };
        let asker = asker(&*self.host, me.as_ref());
        let near = match &wanted {
            HoldSelector::Mine => tx.holds_of(&asker.actor)?,
            HoldSelector::These(asked) => {
                let meant = asked.iter().flat_map(|(_, meant)| meant);
                tx.holds_near(&meant.map(|one| one.resource.clone()).collect::<Vec<_>>(), case)?
            }
        };
        let live = gather(&*self.host, &*files, &*tx, near, now)?;
        let confirmed = presence::require_confirmed(&Caller::Person, &request.caller);
        let right = ForceRight { force: request.force, confirmed };
        let decide = |live| rules::release(live, &asker, &wanted, request.strength, &right, case, now);
        let (released, changes) = match decide(&live) {
            // A similar name may be meant: all holds are searched for one.
            Err(ClaimError::NotHeld { nearest: None, .. }) => {
                decide(&gather(&*self.host, &*files, &*tx, tx.all_holds()?, now)?)?
            }
            decided => decided?,
        };
        let project = released.iter().find_map(|hold| hold.project.clone()).or_else(|| asker.project.clone());
        Self::conclude(&*self.host, tx, now, project, asker.actor, changes)?;
        Ok(ReleaseOutcome { released })
    }
}
