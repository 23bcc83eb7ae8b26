//! Verbs of the configuration room: publish the settings for hooks, read them in hooks, accept
//! values that loosen protection.

use std::path::Path;

use super::Acceptance;
use super::Config;
use super::ConfigStore;
use super::HookSettings;
use super::KEYS;
use super::SettingSource;
use crate::App;
use crate::app::commit;
use crate::engine::StoreError;
use crate::presence::CallerFacts;
use crate::presence::PresenceError;

impl App {
    /// Lists the values that loosen protection and that the person has accepted.
    pub fn acceptances(&mut self) -> Result<Vec<Acceptance>, StoreError> {
        self.engine.read()?.acceptances()
    }

    /// Accepts values that loosen protection: only the person can, and has to confirm it.
    pub fn accept(&mut self, caller: &CallerFacts, all: &[Acceptance]) -> Result<(), PresenceError> {
        self.require_confirmed(caller)?;
        let mut tx = self.engine.write()?;
        all.iter().try_for_each(|one| tx.accept(one))?;
        Ok(commit(&*self.host, tx)?)
    }

    /// Publishes the values of the configuration files for hooks. Writes only if something
    /// changed; returns whether it wrote.
    pub fn publish(&mut self, config: &Config, worktree: &Path) -> Result<bool, StoreError> {
        let from_files = |wanted: fn(&SettingSource) -> bool| -> Vec<(String, String)> {
            let mut values: Vec<(String, String)> = config
                .accepted
                .iter()
                .filter(|setting| wanted(&setting.source))
                .filter(|setting| KEYS.iter().any(|key| key.name == setting.key && key.for_hooks))
                .map(|setting| (setting.key.to_owned(), setting.value.clone()))
                .collect();
            values.sort();
            values
        };
        self.engine.side_files().set_keeps_commands(worktree, config.stores_commands());
        let user = from_files(|source| matches!(source, SettingSource::User(_)));
        let own = from_files(|source| matches!(source, SettingSource::Project(_)));
        let tx = self.engine.read()?;
        let is_same = tx.published_in(None)? == user && tx.published_in(Some(worktree))? == own;
        // The published lines may be lost, or made from another state of the store.
        let is_current = tx.is_published()?;
        drop(tx);
        if is_same && is_current {
            return Ok(false);
        }
        let mut tx = self.engine.write()?;
        tx.publish_all();
        tx.publish(None, &user)?;
        tx.publish(Some(worktree), &own)?;
        commit(&*self.host, tx)?;
        let keeps =
            |published: &[(String, String)]| HookSettings::from_published(published, &|_| None).store_prompts;
        if !keeps(&user) {
            self.engine.side_files().forget_prompts(None);
        } else if !keeps(&own) {
            self.engine.side_files().forget_prompts(Some(worktree));
        }
        Ok(true)
    }
}

/// Reads the settings for a hook: published values, then the environment's.
pub(crate) fn hook_settings(
    store: &dyn ConfigStore,
    worktree: &Path,
    environment: &dyn Fn(&str) -> Option<String>,
) -> Result<HookSettings, StoreError> {
    Ok(HookSettings::from_published(&store.published(Some(worktree))?, environment))
}
