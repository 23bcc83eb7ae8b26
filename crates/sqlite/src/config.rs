//! SQL of the configuration room: published settings. The empty scope is the user's.

use std::path::Path;

use consort_core::config::Acceptance;
use consort_core::config::ConfigStore;
use consort_core::engine::StoreError;

use crate::SqliteTx;
use crate::facts;
use crate::facts::Fact;
use crate::facts::Keys;
use crate::side_files::published;

pub(crate) const SETTING: &str = "setting";
const ACCEPTED: &str = "accepted";

impl ConfigStore for SqliteTx<'_> {
    fn published(&self, worktree: Option<&Path>) -> Result<Vec<(String, String)>, StoreError> {
        let scope = scope(worktree);
        let mut of_worktree = Vec::new();
        let read = |fact: &Fact<'_>| {
            let owner = fact.owner()?;
            let setting = || Ok((fact.key()?.to_owned(), fact.value()?.to_owned()));
            if owner.is_empty() {
                return setting().map(Some);
            }
            if owner == scope {
                of_worktree.push(setting()?);
            }
            Ok(None)
        };
        // The user's come first, so that the worktree's override them.
        let mut settings = self.ask(|tx| facts::list(tx, SETTING, Keys::All, read))?;
        settings.extend(of_worktree);
        Ok(settings)
    }

    fn published_in(&self, worktree: Option<&Path>) -> Result<Vec<(String, String)>, StoreError> {
        let scope = scope(worktree);
        let read = |fact: &Fact<'_>| {
            let is_in_scope = fact.owner()? == scope;
            Ok(is_in_scope.then_some((fact.key()?.to_owned(), fact.value()?.to_owned())))
        };
        self.ask(|tx| facts::list(tx, SETTING, Keys::All, read))
    }

    fn is_published(&self) -> Result<bool, StoreError> {
        self.ask(|tx| published::is_of(&self.store.path, tx))
    }

    fn acceptances(&self) -> Result<Vec<Acceptance>, StoreError> {
        let read = |fact: &Fact<'_>| {
            let (scope, key, value) = (fact.owner()?.into(), fact.key()?.into(), fact.value()?.into());
            Ok(Some(Acceptance { scope, key, value }))
        };
        let mut acceptances = self.ask(|tx| facts::list(tx, ACCEPTED, Keys::All, read))?;
        acceptances.sort_by(|one, other| one.scope.cmp(&other.scope));
        Ok(acceptances)
    }

    fn accept(&mut self, Acceptance { scope, key, value }: &Acceptance) -> Result<(), StoreError> {
        self.change(|tx| facts::put(tx, ACCEPTED, key, scope, value))
    }

    fn publish_all(&mut self) {
        self.after.publish.all = true;
    }

    fn publish(&mut self, worktree: Option<&Path>, values: &[(String, String)]) -> Result<(), StoreError> {
        self.after.publish.convergence = true;
        self.change(|tx| {
            let scope = scope(worktree);
            tx.execute("DELETE FROM facts WHERE kind = ?1 AND owner = ?2", [SETTING, &scope])?;
            values.iter().try_for_each(|(key, value)| facts::put(tx, SETTING, key, &scope, value))
        })
    }
}

fn scope(worktree: Option<&Path>) -> String {
    worktree.map_or_else(String::new, |worktree| worktree.to_string_lossy().into_owned())
}
