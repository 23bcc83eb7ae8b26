//! The C function `main` of the program, in place of Rust's own start-up code.
//!
//! Rust's own entry reads `/proc/self/maps` and makes a stack for its overflow handler, a dozen system calls
//! that are an eighth of a hook's time. Since glibc hands the arguments to Rust by itself, **only what the
//! program relies on is done here**: writing to a closed pipe is an error instead of death, and no file gets
//! the number of a standard stream that was closed.

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
    // `shield` becomes another program, which must inherit signals and streams unchanged.
    if std::env::args_os().nth(1).is_some_and(|command| command == "shield") {
        crate::run().leave();
    }
    // SAFETY: ignoring a signal runs no code.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
    // `open` takes the lowest free number, hence this order.
    fill(stdio::stdin());
    HAS_STDOUT.store(!fill(stdio::stdout()), Ordering::Relaxed);
    fill(stdio::stderr());
    crate::run().leave()
}

/// Whether there was a standard output when the program started.
pub(crate) static HAS_STDOUT: AtomicBool = AtomicBool::new(true);

/// Opens `/dev/null` in place of a closed standard stream, for the programs that we start as well, and tells
/// whether the stream was closed. Without a `/dev/null` it opens a directory: nothing can be read from it or
/// written to it.
fn fill(stream: BorrowedFd<'_>) -> bool {
    let is_closed = rustix::io::fcntl_getfd(stream).is_err();
    if is_closed {
        let null = rustix::fs::open("/dev/null", OFlags::RDWR, Mode::empty())
            .or_else(|_| rustix::fs::open("/", OFlags::RDONLY, Mode::empty()));
        match null {
            Ok(null) => drop(null.into_raw_fd()),
            // A file of ours would get the number of the closed stream.
            Err(_) => {
                let is_hook = std::env::args_os().nth(1).is_some_and(|command| command == "hook");
                std::process::exit(if is_hook { 0 } else { 255 });
            }
        }
    }
    is_closed
}

/// Returns freed memory to the system. The allocator keeps it for each thread, so a query that was stopped
/// for its size would go on occupying its memory.
#[expect(unsafe_code, reason = "only the C library can do it")]
pub(crate) fn give_back_memory() {
    // SAFETY: `malloc_trim` touches only free memory.
    unsafe { libc::malloc_trim(0) };
}
