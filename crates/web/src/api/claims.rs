//! Routes of the claims room: explain, holds (also contest, override, restore), reserve, release.

use std::path::Path;
use std::path::PathBuf;

use consort_core::Timestamp;
use consort_core::claims::HoldMode;
use consort_core::claims::HoldRequest;
use consort_core::claims::ReleaseRequest;
use consort_core::claims::ReleaseTarget;
use consort_core::claims::RestoreMode;
use consort_core::claims::Strength;
use serde::Deserialize;
use serde_json::json;

use super::ApiCall;
use super::ApiResult;
use super::missing;
use super::told;
use crate::reply::ApiError;

/// Minutes for which a reservation is overridden by default, and at most.
const USUAL_MINUTES: u32 = 10;
const MOST_MINUTES: u32 = 1_440;

/// The paths to reserve, release, contest, override or restore, with the options of these verbs.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Paths {
    /// The directory that relative paths start from.
    cwd: PathBuf,
    #[serde(default)]
    paths: Vec<String>,
    reason: Option<String>,
    #[serde(default)]
    advisory: bool,
    #[serde(default)]
    shared: bool,
    /// Seconds until the reservation is released by itself.
    ttl_s: Option<u32>,
    /// Seconds for which to override a reservation.
    for_s: Option<u32>,
    /// Whether to only show what would be restored.
    #[serde(default)]
    dry_run: bool,
}

impl ApiCall<'_> {
    /// Explains who has reserved a path, or how a shell command would be judged.
    pub(super) fn explain(&mut self) -> ApiResult {
        if let Some(command) = self.about.command.clone() {
            let cwd = self.cwd()?;
            let judged = self.calls.judge_command(self.app, &self.caller, &cwd, &command)?;
            return told(self.app.wrap_one("command", &judged));
        }
        let path = self.about.path.clone().ok_or_else(|| missing("path"))?;
        let cwd = match Path::new(&path).is_absolute() {
            true => self.cwd().unwrap_or_else(|_| PathBuf::from("/")),
            false => self.cwd()?,
        };
        let outcome = self.app.explain_path(&self.caller, &cwd, &path)?;
        told(self.app.wrap_one("path", &outcome))
    }

    pub(super) fn holds(&mut self) -> ApiResult {
        let project = self.project()?.map(|project| project.id);
        let outcome = self.app.holds(&self.caller, project.as_ref(), 0)?;
        self.items(&outcome.holds)
    }

    pub(super) fn reserve(&mut self, want: Paths) -> ApiResult {
        let request = HoldRequest {
            caller: self.caller.clone(),
            cwd: want.cwd,
            what: want.paths,
            strength: if want.advisory { Strength::Advisory } else { Strength::Blocking },
            mode: if want.shared { HoldMode::Shared } else { HoldMode::Exclusive },
            reason: want.reason,
            ttl: want.ttl_s.map(|seconds| i64::from(seconds) * Timestamp::SECOND),
        };
        let outcome = self.app.hold(&request)?;
        self.items(&outcome.holds)
    }

    pub(super) fn release(&mut self, want: Paths) -> ApiResult {
        let what = if want.paths.is_empty() { ReleaseTarget::Mine } else { ReleaseTarget::These(want.paths) };
        let caller = self.caller.clone();
        let request = ReleaseRequest { caller, cwd: want.cwd, what, strength: None, force: false };
        let outcome = self.app.release(&request)?;
        self.items(&outcome.released)
    }

    /// Contests or overrides another's reservation, or restores a file that another has changed.
    pub(super) fn act_on_hold(&mut self, verb: &str, want: &Paths) -> ApiResult {
        let (cwd, path) = (&want.cwd, want.paths.first().map_or("", String::as_str));
        match verb {
            "contest" => {
                let hold = self.app.contest(&self.caller, cwd, path, want.reason.as_deref())?;
                told(self.app.wrap_one("reservation", &hold))
            }
            "override" => {
                let minutes = want.for_s.map_or(USUAL_MINUTES, |seconds| seconds.div_ceil(60));
                if !(1..=MOST_MINUTES).contains(&minutes) {
                    return Err(ApiError::malformed("expected a minute at least and a day at most".into()));
                }
                let hold = self.app.override_hold(&self.caller, cwd, path, minutes)?;
                told(self.app.wrap_one("reservation", &hold))
            }
            "restore" => {
                let mut outcome = self.app.restore(&self.caller, cwd, path, RestoreMode::Look)?;
                if !want.dry_run && outcome.before.as_deref() != Some(&outcome.after) {
                    let over = outcome.checksum_before();
                    outcome = self.app.restore(&self.caller, cwd, path, RestoreMode::Do { over })?;
                }
                let restore = json!({
                    "path": outcome.path, "by": outcome.by, "kept_at": outcome.kept_at,
                    "restored": outcome.restored, "replaced": outcome.replaced,
                });
                told(self.app.wrap_one("restore", &restore))
            }
            _ => Err(ApiError::not_found()),
        }
    }
}
