//! The one timer over a hook's whole life.
//!
//! Whatever hangs (an open standard input, a full pipe, SQLite's own waiting, a
//! pipe in the place of a file), the kernel interrupts the process after two
//! seconds, and the handler ends it with exit code 0. A crash ends it the same
//! way. **If a reserved path was matched by then, the handler writes the refusal
//! that was prepared for it.**
//!
//! What it cannot help against: a process that is stopped, killed, or stuck in
//! the kernel without being interruptible.

use std::ffi::c_int;
use std::ffi::c_uint;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering;

/// For a hook's whole life.
const SECONDS: c_uint = 2;

/// What fits into a pipe in one piece: a longer write could wait for its reader.
const LONGEST: usize = 4_096;

const SIGILL: c_int = 4;
const SIGABRT: c_int = 6;
const SIGBUS: c_int = if cfg!(target_os = "linux") { 7 } else { 10 };
const SIGFPE: c_int = 8;
const SIGSEGV: c_int = 11;
const SIGALRM: c_int = 14;
const SIGXFSZ: c_int = 25;
const SIG_IGN: usize = 1;
const SIG_UNBLOCK: c_int = if cfg!(target_os = "linux") { 1 } else { 2 };
const POLLOUT: i16 = 4;
const STDOUT: c_int = 1;

/// As large as any system's.
#[repr(C, align(8))]
struct SignalSet([u8; 128]);

#[repr(C)]
struct PollFd {
    fd: c_int,
    events: i16,
    revents: i16,
}

#[cfg(target_os = "linux")]
type Count = std::ffi::c_ulong;
#[cfg(not(target_os = "linux"))]
type Count = c_uint;

#[expect(unsafe_code, reason = "what a signal handler may call")]
unsafe extern "C" {
    fn signal(signal: c_int, handler: usize) -> usize;
    fn alarm(seconds: c_uint) -> c_uint;
    fn sigemptyset(set: *mut SignalSet) -> c_int;
    fn sigaddset(set: *mut SignalSet, signal: c_int) -> c_int;
    fn pthread_sigmask(how: c_int, set: *const SignalSet, old: *mut SignalSet) -> c_int;
    fn poll(fds: *mut PollFd, count: Count, timeout: c_int) -> c_int;
    fn write(fd: c_int, bytes: *const c_void, count: usize) -> isize;
    fn _exit(code: c_int) -> !;
}

/// The answer to give if time runs out: where it is and how long.
static ANSWER: AtomicPtr<u8> = AtomicPtr::new(null_mut());
static LENGTH: AtomicUsize = AtomicUsize::new(0);

/// An answer is being written already.
static IS_ANSWERING: AtomicBool = AtomicBool::new(false);

/// Starts the timer. The first thing a hook does.
#[expect(unsafe_code, reason = "signal handlers are set by the C library")]
pub(crate) fn start() {
    let handler = end as extern "C" fn(c_int) as usize;
    // SAFETY: the handler only calls what may be called in one, and never returns;
    // to ignore a signal runs nothing; the set is initialised before it is used.
    unsafe {
        for number in [SIGALRM, SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE] {
            signal(number, handler);
        }
        // A file that may not grow is an error and no death.
        signal(SIGXFSZ, SIG_IGN);
        // The process that started us may have blocked it.
        let mut set = SignalSet([0; 128]);
        sigemptyset(&mut set);
        sigaddset(&mut set, SIGALRM);
        pthread_sigmask(SIG_UNBLOCK, &set, null_mut());
        alarm(SECONDS);
    }
}

/// Prepares the answer to give if time runs out from now on.
pub(crate) fn prepare(answer: String) {
    if answer.len() <= LONGEST {
        let bytes = Box::leak(answer.into_bytes().into_boxed_slice());
        LENGTH.store(bytes.len(), Ordering::Release);
        ANSWER.store(bytes.as_mut_ptr(), Ordering::Release);
    }
}

/// The answer that was prepared is not the one to give any more.
pub(crate) fn withdraw() {
    ANSWER.store(null_mut(), Ordering::Release);
}

/// The real answer is being written: nothing may come between.
pub(crate) fn is_answering() {
    IS_ANSWERING.store(true, Ordering::Release);
}

#[expect(unsafe_code, reason = "what a signal handler may call")]
extern "C" fn end(_: c_int) {
    let answer = ANSWER.load(Ordering::Acquire);
    // SAFETY: what `prepare` left is never freed; the calls are safe in a handler.
    unsafe {
        if !answer.is_null() && !IS_ANSWERING.load(Ordering::Acquire) {
            let mut stdout = PollFd { fd: STDOUT, events: POLLOUT, revents: 0 };
            // A pipe that is full would keep us here.
            if poll(&mut stdout, 1, 0) == 1 && stdout.revents & POLLOUT != 0 {
                write(STDOUT, answer.cast(), LENGTH.load(Ordering::Acquire));
            }
        }
        _exit(0)
    }
}
