//! The verbs of the convergence room, one file each, and the settings that they share.

mod close_predictions;
mod domains;
mod handoff;
mod predict;
mod prompt;
mod radar;
mod share_finished_work;
mod suggest;

pub(crate) use close_predictions::close_predictions;
pub(crate) use radar::predictions_for;

use std::path::Path;

use crate::App;
use crate::Timestamp;
use crate::claims::FileStamp;
use crate::config::HookSettings;
use crate::convergence::Counters;
use crate::convergence::Domains;
use crate::convergence::PublishedConvergence;
use crate::convergence::ScoringContext;
use crate::convergence::model;
use crate::convergence::topics::words_of;
use crate::host::Host;

/// Path of a project's settings file.
const PROJECT_FILE: &str = ".consort/config.toml";

/// The settings, threshold and domains that apply to a session in a worktree.
struct PublishedView {
    settings: HookSettings,
    threshold: f64,
    domains: Domains,
    noise: Vec<String>,
    note: PublishedConvergence,
}

impl App {
    /// Returns the published data for agents in that worktree, or reads it from the store if the published
    /// data is out of date. If neither can be read, returns an empty note.
    fn radar_note(&mut self, worktree: &Path) -> PublishedConvergence {
        let published = self.engine.side_files().radar(worktree);
        published.unwrap_or_else(|| {
            let stored = self.engine.read().and_then(|tx| tx.radar_note(worktree));
            stored.unwrap_or_default()
        })
    }
}

impl PublishedView {
    fn new(
        note: PublishedConvergence,
        worktree: &Path,
        host: &dyn Host,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Self {
        let mut settings = HookSettings::from_published(&note.settings, environment);
        // The project's settings file may not be published yet: a new worktree brings a file that no command
        // has read. Then no prompt is kept.
        let is_unknown =
            || !note.is_published_here && host.stamp(&worktree.join(PROJECT_FILE)) != FileStamp::default();
        settings.store_prompts &= note.threshold.is_some() && !is_unknown();
        let configured = model::configured_domains(&note.settings, environment);
        let domains = model::domains(&configured, &note.assigned, &note.learned, host.now());
        // The names of the user and the machine say nothing about the work.
        let who = ["USER", "LOGNAME", "HOME"].into_iter().filter_map(environment);
        let home = who.map(|value| value.rsplit('/').next().unwrap_or_default().to_owned());
        let extra = model::configured("convergence.noise", &note.settings, environment);
        let noise = home.chain([host.name()]).chain(extra).flat_map(|words| words_of(&words)).collect();
        let threshold = note.threshold.unwrap_or(Counters::default().threshold);
        Self { settings, threshold, domains, noise, note }
    }

    fn scoring_context(&self, now: Timestamp) -> ScoringContext<'_> {
        let files = self.settings.convergence_files;
        ScoringContext { files, threshold: self.threshold, domains: &self.domains, without: None, now }
    }
}
