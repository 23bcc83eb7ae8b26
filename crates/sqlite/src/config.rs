//! Published settings. The empty scope is the user's.

use consort_core::config::ConfigStore;
use consort_core::engine::StoreError;
use consort_core::project::ProjectId;
use rusqlite::params;

use crate::SqliteTx;

impl ConfigStore for SqliteTx<'_> {
    fn published(&self, project: Option<&ProjectId>) -> Result<Vec<(String, String)>, StoreError> {
        // The user's come first, so that the project's override them.
        self.pairs("SELECT key, value FROM settings WHERE scope IN ('', ?1) ORDER BY scope", project)
    }

    fn published_in(&self, project: Option<&ProjectId>) -> Result<Vec<(String, String)>, StoreError> {
        self.pairs("SELECT key, value FROM settings WHERE scope = ?1 ORDER BY key", project)
    }

    fn publish(
        &mut self,
        project: Option<&ProjectId>,
        values: &[(String, String)],
    ) -> Result<(), StoreError> {
        self.change(|tx| {
            tx.execute("DELETE FROM settings WHERE scope = ?1", [scope(project)])?;
            let mut insert = tx.prepare("INSERT INTO settings VALUES (?1, ?2, ?3)")?;
            for (key, value) in values {
                insert.execute(params![scope(project), key, value])?;
            }
            Ok(())
        })
    }
}

impl SqliteTx<'_> {
    fn pairs(&self, sql: &str, project: Option<&ProjectId>) -> Result<Vec<(String, String)>, StoreError> {
        self.ask(|tx| {
            let mut statement = tx.prepare_cached(sql)?;
            statement.query_map([scope(project)], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        })
    }
}

fn scope(project: Option<&ProjectId>) -> &str {
    project.map_or("", ProjectId::as_str)
}
