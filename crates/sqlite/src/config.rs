//! SQL of the configuration room: published settings. The empty scope is the user's.

use std::path::Path;

use consort_core::config::Acceptance;
use consort_core::config::ConfigStore;
use consort_core::engine::StoreError;
use rusqlite::Row;
use rusqlite::params;

use crate::SqliteTx;
use crate::side_files::published;

impl ConfigStore for SqliteTx<'_> {
    fn published(&self, worktree: Option<&Path>) -> Result<Vec<(String, String)>, StoreError> {
        // There is a handful of rows, so the short statement is the quick one. The user's come first, so
        // that the worktree's override them.
        let read = |row: &Row<'_>| Ok((row.get(0)?, (row.get(1)?, row.get(2)?)));
        let mut all: Vec<(String, (String, String))> = self.ask(|tx| {
            tx.prepare_cached("SELECT owner, key, value FROM facts WHERE kind = 'setting'")?
                .query_map([], read)?
                .collect()
        })?;
        let here = scope(worktree);
        all.retain(|(scope, _)| scope.is_empty() || *scope == here);
        all.sort_by(|(one, _), (other, _)| one.cmp(other));
        Ok(all.into_iter().map(|(_, pair)| pair).collect())
    }

    fn published_in(&self, worktree: Option<&Path>) -> Result<Vec<(String, String)>, StoreError> {
        let sql = "SELECT key, value FROM facts WHERE kind = 'setting' AND owner = ?1 ORDER BY key";
        let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
        self.ask(|tx| tx.prepare_cached(sql)?.query_map([scope(worktree)], read)?.collect())
    }

    fn is_published(&self) -> Result<bool, StoreError> {
        self.ask(|tx| published::is_of(&self.store.path, tx))
    }

    fn acceptances(&self) -> Result<Vec<Acceptance>, StoreError> {
        let sql = "SELECT owner, key, value FROM facts WHERE kind = 'accepted' ORDER BY owner, key";
        let read =
            |row: &Row<'_>| Ok(Acceptance { scope: row.get(0)?, key: row.get(1)?, value: row.get(2)? });
        self.ask(|tx| tx.prepare_cached(sql)?.query_map([], read)?.collect())
    }

    fn accept(&mut self, Acceptance { scope, key, value }: &Acceptance) -> Result<(), StoreError> {
        let sql = "REPLACE INTO facts VALUES ('accepted', ?1, ?2, ?3)";
        self.change(|tx| tx.execute(sql, params![key, scope, value]).map(drop))
    }

    fn publish_all(&mut self) {
        self.after.publish.all = true;
    }

    fn publish(&mut self, worktree: Option<&Path>, values: &[(String, String)]) -> Result<(), StoreError> {
        self.after.publish.convergence = true;
        self.change(|tx| {
            tx.execute("DELETE FROM facts WHERE kind = 'setting' AND owner = ?1", [scope(worktree)])?;
            let mut insert = tx.prepare("INSERT INTO facts VALUES ('setting', ?1, ?2, ?3)")?;
            for (key, value) in values {
                insert.execute(params![key, scope(worktree), value])?;
            }
            Ok(())
        })
    }
}

fn scope(worktree: Option<&Path>) -> String {
    worktree.map_or_else(String::new, |worktree| worktree.to_string_lossy().into_owned())
}
