//! The verbs of the convergence room, one file each, and what they share.

mod close_predictions;
mod delegate;
mod domains;
mod handoff;
mod prompt;
mod propagate;
mod radar;
mod settle;

pub(crate) use close_predictions::close_predictions;

use std::path::Path;

use crate::App;
use crate::Timestamp;
use crate::claims::Stamp;
use crate::config::HookSettings;
use crate::config::settings_from;
use crate::convergence::Counters;
use crate::convergence::Domains;
use crate::convergence::RadarNote;
use crate::convergence::ScoringContext;
use crate::convergence::model;
use crate::convergence::topics::words_of;
use crate::host::Host;

/// Where a project keeps its settings.
const PROJECT_FILE: &str = ".consort/config.toml";

/// What applies to a session in that worktree, without asking the store.
struct View {
    settings: HookSettings,
    threshold: f64,
    domains: Domains,
    noise: Vec<String>,
    note: RadarNote,
}

impl App {
    /// What is published for who works in that worktree; from the store, where
    /// what is published is older. Without either, nothing is known.
    fn radar_note(&mut self, worktree: &Path) -> RadarNote {
        let published = self.engine.side_files().radar(worktree);
        published.unwrap_or_else(|| {
            let stored = self.engine.read().and_then(|tx| tx.radar_note(worktree));
            stored.unwrap_or_default()
        })
    }
}

impl View {
    fn new(
        note: RadarNote,
        worktree: &Path,
        host: &dyn Host,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Self {
        let mut settings = settings_from(&note.settings, environment);
        // What a project's file says may not be known here yet: a new worktree
        // brings one that no command has seen. Then no prompt is kept.
        let is_unknown =
            || !note.is_published_here && host.stamp(&worktree.join(PROJECT_FILE)) != Stamp::default();
        settings.store_prompts &= note.threshold.is_some() && !is_unknown();
        let configured = model::configured_domains(&note.settings, environment);
        let domains = model::domains(&configured, &note.assigned, &note.learned, host.now());
        // Who this is, and where, says nothing about the work.
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
