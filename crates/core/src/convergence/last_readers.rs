//! Remembers who read a file last, in a table of slots beside the store.

use std::path::Path;

use crate::Timestamp;
use crate::presence::SessionId;
use crate::side_files::READERS;
use crate::side_files::SideFiles;
use crate::side_files::escaped;
use crate::side_files::path_key;
use crate::side_files::unescaped;

impl dyn SideFiles + '_ {
    /// Records that a session has read a file, given by its real path.
    pub fn set_last_reader(&self, path: &Path, session: &SessionId, at: Timestamp) {
        let mut readers = vec![(session.clone(), at)];
        // The previous reader stays in the slot: it is told if this session writes the file.
        readers.extend(self.last_reader(path, session));
        let readers = readers.iter().map(|(who, at)| format!("{} {}", at.0, escaped(who.as_str())));
        let _ = self.set_slot(READERS, &path_key(path), &readers.collect::<Vec<_>>().join("\t"));
    }

    /// Returns the session other than `but` that read a file last, and the time.
    pub fn last_reader(&self, path: &Path, but: &SessionId) -> Option<(SessionId, Timestamp)> {
        let reader = |text: &str| {
            let (at, session) = text.split_once(' ')?;
            Some((SessionId::from(unescaped(session)), Timestamp(at.parse().ok()?)))
        };
        let readers = self.slot(READERS, &path_key(path))?;
        readers.split('\t').map_while(reader).find(|(session, _)| session != but)
    }
}
