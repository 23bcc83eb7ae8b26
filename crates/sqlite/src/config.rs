//! Published settings. The empty scope is the user's.

use std::path::Path;

use consort_core::config::ConfigStore;
use consort_core::engine::StoreError;
use rusqlite::params;

use crate::SqliteTx;

impl ConfigStore for SqliteTx<'_> {
    fn published(&self, worktree: Option<&Path>) -> Result<Vec<(String, String)>, StoreError> {
        // The user's come first, so that the worktree's override them.
        self.pairs("SELECT key, value FROM settings WHERE scope IN ('', ?1) ORDER BY scope", worktree)
    }

    fn published_in(&self, worktree: Option<&Path>) -> Result<Vec<(String, String)>, StoreError> {
        self.pairs("SELECT key, value FROM settings WHERE scope = ?1 ORDER BY key", worktree)
    }

    fn publish(&mut self, worktree: Option<&Path>, values: &[(String, String)]) -> Result<(), StoreError> {
        self.change(|tx| {
            tx.execute("DELETE FROM settings WHERE scope = ?1", [scope(worktree)])?;
            let mut insert = tx.prepare("INSERT INTO settings VALUES (?1, ?2, ?3)")?;
            for (key, value) in values {
                insert.execute(params![scope(worktree), key, value])?;
            }
            Ok(())
        })
    }
}

impl SqliteTx<'_> {
    fn pairs(&self, sql: &str, worktree: Option<&Path>) -> Result<Vec<(String, String)>, StoreError> {
        self.ask(|tx| {
            let mut statement = tx.prepare_cached(sql)?;
            statement.query_map([scope(worktree)], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        })
    }
}

fn scope(worktree: Option<&Path>) -> String {
    worktree.map_or_else(String::new, |worktree| worktree.to_string_lossy().into_owned())
}
