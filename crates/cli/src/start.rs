//! Where the system enters.
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

use rustix::fs::Mode;
use rustix::fs::OFlags;
use rustix::stdio;

const SIGPIPE: c_int = 13;
const SIG_IGN: usize = 1;

#[expect(unsafe_code, reason = "the C library's `signal`")]
unsafe extern "C" {
    fn signal(signal: c_int, handler: usize) -> usize;
}

#[expect(
    unsafe_code,
    reason = "the one name by which the C library knows a program, and what it is told first"
)]
#[unsafe(no_mangle)]
extern "C" fn main(_: c_int, _: *const *const c_char) -> c_int {
    // SAFETY: to ignore a signal runs nothing.
    unsafe { signal(SIGPIPE, SIG_IGN) };
    // The lowest number that is free is taken, hence in this order.
    [stdio::stdin(), stdio::stdout(), stdio::stderr()].into_iter().for_each(fill);
    crate::run().leave()
}

/// Opens `/dev/null` where a standard stream was closed, for what we start as well.
fn fill(stream: BorrowedFd<'_>) {
    if rustix::io::fcntl_getfd(stream).is_err() {
        match rustix::fs::open("/dev/null", OFlags::RDWR, Mode::empty()) {
            Ok(null) => drop(null.into_raw_fd()),
            Err(_) => std::process::abort(),
        }
    }
}
