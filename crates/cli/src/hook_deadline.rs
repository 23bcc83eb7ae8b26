//! The timer that ends a hook process after two seconds, whatever hangs.
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
use std::mem::MaybeUninit;
use std::ptr::addr_of_mut;
use std::ptr::null_mut;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// For a hook's whole life.
const SECONDS: u32 = 2;

/// What fits into a pipe in one piece: a longer write could wait for its reader.
const LONGEST: usize = 4_096;

/// The timer, every way to crash, and the processor time that may be used up.
const ENDS: [c_int; 9] = [
    libc::SIGALRM,
    libc::SIGABRT,
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGILL,
    libc::SIGFPE,
    libc::SIGSYS,
    libc::SIGTRAP,
    libc::SIGXCPU,
];

/// The answer to give if time runs out: where it is and how long.
static ANSWER: AtomicPtr<u8> = AtomicPtr::new(null_mut());
static LENGTH: AtomicUsize = AtomicUsize::new(0);

/// An answer is being written already.
static IS_ANSWERING: AtomicBool = AtomicBool::new(false);

/// Where the handler runs: the program's own stack may be used up.
static mut STACK: [u8; 16 << 10] = [0; 16 << 10];

/// Starts the timer. The first thing a hook does.
#[expect(unsafe_code, reason = "signal handlers are set by the C library")]
pub(crate) fn start() {
    // SAFETY: the handler only calls what may be called in one, and never returns;
    // to ignore a signal runs nothing; nothing else uses the stack it is given; what
    // is zeroed are structs of the C library for which zero is a value.
    unsafe {
        let stack = libc::stack_t { ss_sp: addr_of_mut!(STACK).cast(), ss_flags: 0, ss_size: 16 << 10 };
        libc::sigaltstack(&stack, null_mut());
        let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
        action.sa_sigaction = end as extern "C" fn(c_int) as usize;
        action.sa_flags = libc::SA_ONSTACK;
        // One of them is enough.
        libc::sigfillset(&mut action.sa_mask);
        let mut ends: libc::sigset_t = MaybeUninit::zeroed().assume_init();
        for signal in ENDS {
            libc::sigaction(signal, &action, null_mut());
            libc::sigaddset(&mut ends, signal);
        }
        // A file that may not grow is an error and no death.
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
        // The process that started us may have blocked them.
        libc::sigprocmask(libc::SIG_UNBLOCK, &ends, null_mut());
        libc::alarm(SECONDS);
    }
}

/// Gives the hook longer: it waits for the person, whose own dialog is there meanwhile.
#[expect(unsafe_code, reason = "the timer is the C library's")]
pub(crate) fn extend(time: Duration) {
    let seconds = u32::try_from(time.as_secs()).unwrap_or(u32::MAX);
    // SAFETY: it sets a timer.
    unsafe { libc::alarm(seconds) };
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

/// Ends the process at once: nothing of ours waits to be flushed, and whatever else is run at an
/// end is code that was never touched before.
#[expect(unsafe_code, reason = "only the C library can do it")]
pub(crate) fn leave() -> ! {
    // SAFETY: it returns nowhere, and nothing is written after it.
    unsafe { libc::_exit(0) }
}

#[expect(unsafe_code, reason = "what a signal handler may call")]
extern "C" fn end(_: c_int) {
    let answer = ANSWER.load(Ordering::Acquire);
    // SAFETY: what `prepare` left is never freed; the calls are safe in a handler.
    unsafe {
        if !answer.is_null() && !IS_ANSWERING.load(Ordering::Acquire) {
            let mut stdout = libc::pollfd { fd: libc::STDOUT_FILENO, events: libc::POLLOUT, revents: 0 };
            // A pipe that is full would keep us here.
            if libc::poll(&mut stdout, 1, 0) == 1 && stdout.revents & libc::POLLOUT != 0 {
                libc::write(libc::STDOUT_FILENO, answer.cast(), LENGTH.load(Ordering::Acquire));
            }
        }
        libc::_exit(0)
    }
}
