//! Mail flags and delivery notes in a session's files, which let hooks know without the database whether mail
//! waits, which deliveries were shown, and which senders were introduced.
//!
//! A flag is raised before the commit of the mail that it announces, and lowered after the commit of the
//! delivery or reading that settles it, in both cases under the write lock. So **a flag may say too much,
//! never too little**.

use crate::engine::StoreError;
use crate::host::MachineProcess;
use crate::messages::MailFlags;
use crate::path_part::PathPart;
use crate::presence::SessionId;
use crate::side_files::ACTIVITY;
use crate::side_files::LogLine;
use crate::side_files::MAIL;
use crate::side_files::NOT_BEGUN;
use crate::side_files::SideFiles;

impl dyn SideFiles + '_ {
    /// Reads the mail flags of a session. Unreadable flags count as set.
    pub fn mail_flags(&self, session: &SessionId) -> MailFlags {
        match self.state(session) {
            Ok(Some(state)) => {
                let marks = state.get(MAIL);
                let is_set = |mark: char| marks.len() != 3 || marks.contains(mark);
                MailFlags { new: is_set('n'), later: is_set('l'), handed: is_set('h') }
            }
            Ok(None) => MailFlags::default(),
            Err(_) => MailFlags::UNKNOWN,
        }
    }

    /// Writes the mail flags of a session. The caller must hold the write lock.
    pub fn set_mail_flags(&self, session: &SessionId, flag: MailFlags) -> Result<(), StoreError> {
        let mark = |is_set, mark| if is_set { mark } else { '-' };
        let marks: String =
            [mark(flag.new, 'n'), mark(flag.later, 'l'), mark(flag.handed, 'h')].into_iter().collect();
        let marks = (MAIL, marks.as_str());
        // If the session starts meanwhile, it makes its state without these flags.
        let _ = self.set_fields(session, &[marks])?
            || self.make_session(session, &[marks, (ACTIVITY, NOT_BEGUN)])?
            || self.set_fields(session, &[marks])?;
        Ok(())
    }

    /// Records that a process has shown everything that it delivered to a session.
    pub fn note_shown(&self, session: &SessionId, by: &MachineProcess) -> Result<(), StoreError> {
        self.add(session, &LogLine::Shown(shown_by(by)))
    }

    /// Tells whether a process has shown everything that it delivered to a session.
    pub fn was_shown(&self, session: &SessionId, by: &MachineProcess) -> bool {
        self.read_log(session).has(&LogLine::Shown(shown_by(by)))
    }

    /// Returns the senders that were introduced to a session.
    pub fn introduced_senders(&self, session: &SessionId) -> Vec<String> {
        self.read_log(session).introduced_senders()
    }

    /// Records that these senders were introduced to a session.
    pub fn note_introduced(&self, session: &SessionId, senders: &[String]) -> Result<(), StoreError> {
        senders.iter().try_for_each(|sender| self.add(session, &LogLine::Introduced(sender.clone())))
    }
}

/// Returns the log line of a process that has shown everything it delivered.
fn shown_by(by: &MachineProcess) -> String {
    format!("{} {}", by.process.pid, PathPart::escaped_or_hashed(&by.process.start))
}
