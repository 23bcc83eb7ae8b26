//! The C function `main` of the program, in the place of Rust's own start-up code.
//!
//! Rust's own entry reads `/proc/self/maps` and makes a stack for its overflow
//! handler, a dozen system calls that are an eighth of what a hook takes. Where
//! the C library hands the arguments to Rust by itself, **only what the program
//! relies on is done here**: a closed pipe is an error and no death, and no file
//! gets the number of a standard stream that was closed.

use std::ffi::c_char;
use std::ffi::c_int;
use std::os::fd::BorrowedFd;
use std::os::fd::IntoRawFd as _;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering;

use rustix::fs::Mode;
use rustix::fs::OFlags;
use rustix::stdio;

#[expect(
    unsafe_code,
    reason = "the one name by which the C library knows a program, and what it is told first"
)]
#[unsafe(no_mangle)]
extern "C" fn main(_: c_int, _: *const *const c_char) -> c_int {
    // What is about to become another program is left as it was started.
    if std::env::args_os().nth(1).is_some_and(|command| command == "shield") {
        crate::run().leave();
    }
    // SAFETY: to ignore a signal runs nothing.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
    // The lowest number that is free is taken, hence in this order.
    fill(stdio::stdin());
    HAS_STDOUT.store(!fill(stdio::stdout()), Ordering::Relaxed);
    fill(stdio::stderr());
    crate::run().leave()
}

/// Whether there was a standard output when the program started.
pub(crate) static HAS_STDOUT: AtomicBool = AtomicBool::new(true);

/// Opens `/dev/null` where a standard stream was closed, for what we start as
/// well; whether it was. Where there is none, a directory: nothing can be read from
/// it or written to it.
fn fill(stream: BorrowedFd<'_>) -> bool {
    let is_closed = rustix::io::fcntl_getfd(stream).is_err();
    if is_closed {
        let null = rustix::fs::open("/dev/null", OFlags::RDWR, Mode::empty())
            .or_else(|_| rustix::fs::open("/", OFlags::RDONLY, Mode::empty()));
        match null {
            Ok(null) => drop(null.into_raw_fd()),
            // A file of ours would get its number.
            Err(_) => {
                let is_hook = std::env::args_os().nth(1).is_some_and(|command| command == "hook");
                std::process::exit(if is_hook { 0 } else { 255 });
            }
        }
    }
    is_closed
}

/// Returns what was freed to the system. The allocator keeps it for each thread, and a query
/// that was stopped for its size would go on taking its memory.
#[expect(unsafe_code, reason = "only the C library can do it")]
pub(crate) fn give_back_memory() {
    // SAFETY: it touches only what is free.
    unsafe { libc::malloc_trim(0) };
}
