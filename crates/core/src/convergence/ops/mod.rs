//! Convergence's verbs, and what they share.

mod delegate;
mod domains;
mod handoff;
mod leave;
mod pollinate;
mod prompt;
mod radar;
mod settle;

pub(crate) use leave::last_words;

use std::path::Path;

use crate::Timestamp;
use crate::config::HookSettings;
use crate::config::settings_from;
use crate::convergence::Domains;
use crate::convergence::Lens;
use crate::convergence::RadarNote;
use crate::convergence::Signal;
use crate::convergence::Tally;
use crate::convergence::TrailNotes;
use crate::convergence::model;
use crate::presence::SessionId;

/// Two sessions and why they are thought to meet.
struct Sighting {
    pair: [SessionId; 2],
    signal: Signal,
}

/// What applies to a session in that worktree, without asking the store.
struct View {
    settings: HookSettings,
    threshold: f64,
    domains: Domains,
    noise: Vec<String>,
    note: RadarNote,
}

impl View {
    fn new(
        notes: &impl TrailNotes,
        worktree: &Path,
        host: &str,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Self {
        let note = notes.radar(worktree);
        let settings = settings_from(&note.settings, environment);
        let text = |key: &str, default: &str| {
            let published =
                note.settings.iter().rfind(|(name, _)| name == key).map(|(_, value)| value.clone());
            let variable = environment(&crate::config::environment_name(key));
            variable.or(published).unwrap_or_else(|| default.to_owned())
        };
        let assigned = note.assigned.iter().map(|(topic, domain)| (topic.as_str(), domain.as_deref()));
        let learned = note.learned.iter().map(|(topic, domain)| (topic.as_str(), domain.as_str()));
        let domains = model::domains(&text("convergence.domains", Domains::DEFAULT), assigned, learned);
        // Who this is, and where, says nothing about the work.
        let who = [environment("USER"), environment("LOGNAME"), Some(host.to_owned())];
        let home = environment("HOME").and_then(|home| home.rsplit('/').next().map(str::to_owned));
        let mut noise: Vec<String> = who.into_iter().chain([home]).flatten().collect();
        noise.extend(text("convergence.noise", "").split([' ', ',']).map(str::to_owned));
        let noise = noise.iter().map(|word| word.to_lowercase()).collect();
        Self {
            settings,
            threshold: note.threshold.unwrap_or(Tally::default().threshold),
            domains,
            noise,
            note,
        }
    }
    fn lens(&self, now: Timestamp) -> Lens<'_> {
        let files = self.settings.convergence_files;
        Lens { files, threshold: self.threshold, domains: &self.domains, without: None, now }
    }
}
