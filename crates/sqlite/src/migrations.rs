//! Creates and upgrades the database schema: numbered, append-only migrations.
//!
//! A database has the number of its last migration (`user_version`). A newer binary runs the missing
//! ones, under a write lock while others wait; an older binary that meets a newer database reads what it
//! still understands and writes nothing.

use rusqlite::Connection;
use rusqlite::TransactionBehavior;

use crate::journal;
use crate::old_formats;

const MIGRATIONS: &[&str] = &[
    include_str!("../migrations/0001_foundation.sql"),
    include_str!("../migrations/0002_messages.sql"),
    include_str!("../migrations/0003_facts.sql"),
    include_str!("../migrations/0004_hands_and_indexes.sql"),
    include_str!("../migrations/0005_store_id.sql"),
    include_str!("../migrations/0006_side_files.sql"),
    include_str!("../migrations/0007_travelling_journal.sql"),
    include_str!("../migrations/0008_agents_in_a_row.sql"),
];

/// The first schema in which entries have a format.
const FORM_SINCE: usize = 7;

/// The first schema in which an agent is one text and a few columns.
const AGENTS_IN_A_ROW_SINCE: usize = 8;

/// The newest schema that this binary knows.
pub const NEWEST_SCHEMA: u32 = MIGRATIONS.len() as u32;

pub(crate) fn version(connection: &Connection) -> rusqlite::Result<u32> {
    connection.prepare_cached("PRAGMA user_version")?.query_row([], |row| row.get(0))
}

/// Brings the schema up to date; does nothing if another process just has.
pub(crate) fn run(connection: &Connection) -> rusqlite::Result<()> {
    let tx = rusqlite::Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    let from = version(&tx)? as usize;
    for (number, sql) in MIGRATIONS.iter().enumerate().skip(from) {
        tx.execute_batch(sql)?;
        match number + 1 {
            FORM_SINCE => old_formats::rewrite(&tx)?,
            AGENTS_IN_A_ROW_SINCE => old_formats::repack_agents(&tx)?,
            _ => {}
        }
        tx.pragma_update(None, "user_version", number as u32 + 1)?;
    }
    // Entries were rewritten, or changes that were not understood may be now.
    let is_behind = "SELECT 1 FROM facts WHERE kind = 'newer'";
    if from < FORM_SINCE || from < MIGRATIONS.len() && tx.prepare(is_behind)?.exists([])? {
        journal::remake_projections(&tx)?;
    }
    tx.commit()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::presence;

    /// A row that was migrated is the row that replaying its entry makes.
    #[test]
    fn an_agent_of_schema_7_is_the_one_it_was() {
        let connection = Connection::open_in_memory().unwrap();
        for (number, sql) in MIGRATIONS.iter().enumerate().take(7) {
            connection.execute_batch(sql).unwrap();
            connection.pragma_update(None, "user_version", number as u32 + 1).unwrap();
        }
        let agents = "INSERT INTO agents VALUES
            ('s1', 'Falcon', 'claude', 'example.com/shop', 'shop', 'main', NULL, 42, 'm', 7, 'boot-9', NULL,
             'node', '/tmp/a\"b\\c' || char(9, 10, 1, 127) || 'é''/', '/tmp', NULL, NULL, NULL),
            ('s2', 'Tiger', 'codex', 'example.com/shop', 'shop', NULL, 'gpt', 43, 'm', 8, 'boot-10',
             '/dev/pts/1', 'codex', '/tmp', '/tmp', '{\"terminal\":{\"pane\":null,\"tmux\":null,\"window\":null,\"program\":\"tmux\"}}', NULL, NULL)";
        connection.execute_batch(agents).unwrap();
        run(&connection).unwrap();
        let present = presence::present(&connection).unwrap();
        let rows = |connection: &Connection| -> Vec<String> {
            let sql = "SELECT session || name || pid || rest FROM agents ORDER BY session";
            let mut statement = connection.prepare(sql).unwrap();
            statement.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
        };
        let migrated = rows(&connection);
        assert_eq!(present.len(), 2);
        assert_eq!(present[0].location.cwd.to_str(), Some("/tmp/a\"b\\c\t\n\u{1}\u{7f}é'/"));
        assert_eq!(present[1].location.terminal.program.as_deref(), Some("tmux"));
        assert_eq!(present[1].location.process.tty.as_deref(), Some("/dev/pts/1"));
        for agent in &present {
            presence::put(&connection, agent).unwrap();
        }
        assert_eq!(rows(&connection), migrated);
    }
}
