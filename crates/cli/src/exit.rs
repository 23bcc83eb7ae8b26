//! The exit codes of the program, and their meanings.
//!
//!  | code | meaning |
//! |---|---|
//! | 0 | done |
//! | 1 | it cannot be done as asked, or a check found something |
//! | 2 | the command line is wrong |
//! | 3 | the reader of our output stopped reading |
//! | 4 | someone else holds what was asked for, or a gate, policy or budget refused it |
//! | 5 | the store stayed busy; trying again may work |
//! | 6 | what is stored contradicts itself |
//! | 7 | the time to wait was over |
//! | 8 | the run failed |
//! | 255 | internal error |
//!
//! A hook always exits 0.

use consort_core::explain::ErrorKind;

/// An exit code whose number can be read, unlike that of `std::process::ExitCode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ExitCode(u8);

impl ExitCode {
    pub(crate) const SUCCESS: Self = Self(0);

    /// Ends the program with this code.
    pub(crate) fn leave(self) -> ! {
        std::process::exit(self.0.into())
    }
}

impl From<u8> for ExitCode {
    fn from(code: u8) -> Self {
        Self(code)
    }
}

pub(crate) const FOUND_SOMETHING: u8 = 1;
pub(crate) const NOT_AS_ASKED: u8 = 1;
pub(crate) const USAGE: u8 = 2;
pub(crate) const PIPE: u8 = 3;
pub(crate) const REFUSED: u8 = 4;
pub(crate) const TIMED_OUT: u8 = 7;
pub(crate) const RUN_FAILED: u8 = 8;

pub(crate) fn code(kind: ErrorKind) -> u8 {
    match kind {
        ErrorKind::User => 1,
        ErrorKind::Conflict => 4,
        ErrorKind::Busy | ErrorKind::Retry => 5,
        ErrorKind::Damaged => 6,
        ErrorKind::Internal => 255,
    }
}
