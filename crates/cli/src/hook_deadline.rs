//! The timer that ends a hook process after two seconds, whatever hangs.
//!
//! Whatever hangs (an open standard input, a full pipe, SQLite's own waiting, a pipe in the place of a file),
//! the kernel interrupts the process after two seconds, and the handler ends it with exit code 0. A crash
//! ends it the same way. **If a reserved path was matched by then, the handler writes the refusal that was
//! prepared for it.**
//!
//! The timer cannot end a process that is stopped, killed, or stuck in the kernel without being
//! interruptible.

use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::ptr::addr_of_mut;
use std::ptr::null_mut;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Seconds that a hook process may live, unless it is given longer.
const SECONDS: u32 = 2;

/// Longest answer, in bytes, that fits into a pipe in one piece: a longer write could wait for its reader.
const LONGEST: usize = 4_096;

/// The signals that end a hook: the timer, every crash, and the limit of processor time.
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

/// The address of the answer to give if time runs out, null if there is none; its length is beside it.
static ANSWER: AtomicPtr<u8> = AtomicPtr::new(null_mut());
static LENGTH: AtomicUsize = AtomicUsize::new(0);

/// Whether the real answer is being written already.
static IS_ANSWERING: AtomicBool = AtomicBool::new(false);

/// The stack of the signal handler: the program's own stack may be used up.
static mut STACK: [u8; 16 << 10] = [0; 16 << 10];

/// Starts the timer and sets its handler, before a hook does anything else.
#[expect(unsafe_code, reason = "signal handlers are set by the C library")]
pub(crate) fn start() {
    // SAFETY: the handler only calls functions that are safe in a signal handler, and never returns; ignoring
    // a signal runs no code; nothing else uses the handler's stack; zero is a value of the C library's
    // structs that are zeroed.
    unsafe {
        let stack = libc::stack_t { ss_sp: addr_of_mut!(STACK).cast(), ss_flags: 0, ss_size: 16 << 10 };
        libc::sigaltstack(&stack, null_mut());
        let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
        action.sa_sigaction = end as extern "C" fn(c_int) as usize;
        action.sa_flags = libc::SA_ONSTACK;
        // While the handler runs, no other signal interrupts it.
        libc::sigfillset(&mut action.sa_mask);
        let mut ends: libc::sigset_t = MaybeUninit::zeroed().assume_init();
        for signal in ENDS {
            libc::sigaction(signal, &action, null_mut());
            libc::sigaddset(&mut ends, signal);
        }
        // Writing to a file that may not grow is an error instead of death.
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
        // The process that started us may have blocked these signals.
        libc::sigprocmask(libc::SIG_UNBLOCK, &ends, null_mut());
        libc::alarm(SECONDS);
    }
}

/// Gives the hook longer, because it waits for the person, who can use the CLI's own dialog meanwhile.
#[expect(unsafe_code, reason = "the timer is the C library's")]
pub(crate) fn extend(time: Duration) {
    let seconds = u32::try_from(time.as_secs()).unwrap_or(u32::MAX);
    // SAFETY: `alarm` only sets a timer.
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

/// Withdraws the prepared answer: it would be wrong by now.
pub(crate) fn withdraw() {
    ANSWER.store(null_mut(), Ordering::Release);
}

/// Notes that the real answer is being written: the prepared one must not come between.
pub(crate) fn note_answering() {
    IS_ANSWERING.store(true, Ordering::Release);
}

/// Ends the process at once: nothing of ours waits to be flushed, and the code that is normally run at an
/// exit was never touched before.
#[expect(unsafe_code, reason = "only the C library can do it")]
pub(crate) fn leave() -> ! {
    // SAFETY: `_exit` never returns, and nothing is written after it.
    unsafe { libc::_exit(0) }
}

#[expect(unsafe_code, reason = "what a signal handler may call")]
extern "C" fn end(_: c_int) {
    let answer = ANSWER.load(Ordering::Acquire);
    // SAFETY: the answer that `prepare` stored is never freed; the calls are safe in a handler.
    unsafe {
        if !answer.is_null() && !IS_ANSWERING.load(Ordering::Acquire) {
            let mut stdout = libc::pollfd { fd: libc::STDOUT_FILENO, events: libc::POLLOUT, revents: 0 };
            // Writing to a full pipe would block.
            if libc::poll(&mut stdout, 1, 0) == 1 && stdout.revents & libc::POLLOUT != 0 {
                libc::write(libc::STDOUT_FILENO, answer.cast(), LENGTH.load(Ordering::Acquire));
            }
        }
        libc::_exit(0)
    }
}
