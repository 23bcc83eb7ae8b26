//! Runs a command with some paths read-only, in place of this process, so the process group, the
//! terminal, the exit code and signals are the command's own.
//!
//! On Linux the paths are bind-mounted onto themselves in a mount namespace, inside a user namespace if
//! one is needed for that. On macOS the command runs under a sandbox profile; **that part has never been
//! run**.
//!
//! **Any failure leaves the process as it was**, and the command runs without a shield.

#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(target_os = "macos", path = "macos.rs")]
#[cfg_attr(not(any(target_os = "linux", target_os = "macos")), path = "elsewhere.rs")]
mod system;

mod running;

use std::ffi::CString;
use std::ffi::OsString;
use std::ffi::c_int;
use std::io;
use std::os::unix::ffi::OsStringExt as _;
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering;
use std::time::Duration;

pub use running::ShieldedProcess;
pub use running::shielded_processes;
pub use system::enter;
pub use system::is_available;

/// A command that is to replace this process.
pub struct ExecCommand {
    words: Vec<CString>,
}

/// The words of the command that the alarm executes, and a null.
static PLAN_B: AtomicPtr<*const libc::c_char> = AtomicPtr::new(std::ptr::null_mut());

impl ExecCommand {
    /// Makes the command; `None` if there are no words, or a word has a NUL in it.
    pub fn new(words: Vec<OsString>) -> Option<Self> {
        let words = words.into_iter().map(|word| CString::new(word.into_vec()));
        let words = words.collect::<Result<Vec<_>, _>>().ok()?;
        (!words.is_empty()).then_some(Self { words })
    }

    /// Sets a timer that executes the command after `patience`, whatever this process does then. Only for
    /// a process without other threads. If the caller has a timer or a handler already, that stays and
    /// none is set.
    #[expect(unsafe_code, reason = "a signal handler and a timer; exec is all it does")]
    pub fn exec_after(&self, patience: Duration) {
        // SAFETY: the handler only calls exec, with words that are never freed; the
        // structs are plain data that the calls fill or read.
        unsafe {
            let (mut action, mut timer): (libc::sigaction, libc::itimerval) = std::mem::zeroed();
            libc::sigaction(libc::SIGALRM, std::ptr::null(), &mut action);
            libc::getitimer(libc::ITIMER_REAL, &mut timer);
            let is_running = timer.it_value.tv_sec != 0 || timer.it_value.tv_usec != 0;
            if action.sa_sigaction != libc::SIG_DFL || is_running {
                return;
            }
            let words: &'static mut [*const libc::c_char] = Vec::leak(self.pointers());
            PLAN_B.store(words.as_mut_ptr(), Ordering::SeqCst);
            action.sa_sigaction = become_plan_b as *const () as usize;
            // The command must not begin with the signal blocked.
            action.sa_flags = libc::SA_NODEFER;
            libc::sigaction(libc::SIGALRM, &action, std::ptr::null_mut());
            alarm_after(patience);
        }
    }

    /// Stops the timer, and executes the command. Returns only if that fails.
    #[expect(unsafe_code, reason = "exec without what the standard library does to signals before it")]
    pub fn exec(&self) -> io::Error {
        let words = self.pointers();
        // SAFETY: the words end with a null and live until the call is over.
        unsafe {
            if !PLAN_B.load(Ordering::SeqCst).is_null() {
                alarm_after(Duration::ZERO);
                libc::signal(libc::SIGALRM, libc::SIG_DFL);
            }
            libc::execvp(words[0], words.as_ptr());
        }
        io::Error::last_os_error()
    }

    fn pointers(&self) -> Vec<*const libc::c_char> {
        self.words.iter().map(|word| word.as_ptr()).chain([std::ptr::null()]).collect()
    }
}

/// Sets the timer; zero stops it. Timers outlive an exec.
#[expect(unsafe_code, reason = "the standard library has no timers")]
fn alarm_after(patience: Duration) {
    let none = libc::timeval { tv_sec: 0, tv_usec: 0 };
    let value = libc::timeval {
        tv_sec: patience.as_secs() as libc::time_t,
        tv_usec: patience.subsec_micros() as libc::suseconds_t,
    };
    let timer = libc::itimerval { it_interval: none, it_value: value };
    // SAFETY: the timer is read during the call only.
    unsafe { libc::setitimer(libc::ITIMER_REAL, &timer, std::ptr::null_mut()) };
}

#[expect(unsafe_code, reason = "it is run by a signal")]
extern "C" fn become_plan_b(_: c_int) {
    let words = PLAN_B.load(Ordering::SeqCst);
    // SAFETY: the words were leaked and end with a null.
    unsafe {
        libc::execvp(*words, words);
        libc::_exit(127);
    }
}
