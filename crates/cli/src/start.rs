//! Where the system enters.
//!
//! Rust's own entry reads `/proc/self/maps` and makes a stack for its overflow
//! handler, a dozen system calls that are an eighth of what a hook takes. Where
//! the C library hands the arguments to Rust by itself, **only what the program
//! relies on is done here**: a closed pipe is an error and no death, and no file
//! gets the number of a standard stream that was closed.

use std::ffi::c_char;
use std::ffi::c_int;
use std::io;
use std::os::fd::AsFd;
use std::os::fd::IntoRawFd as _;

const SIGPIPE: c_int = 13;
const SIG_IGN: usize = 1;

#[expect(unsafe_code, reason = "the C library's `signal`, of which any arguments are safe")]
unsafe extern "C" {
    safe fn signal(signal: c_int, handler: usize) -> usize;
}

#[expect(unsafe_code, reason = "the one name by which the C library knows a program")]
#[unsafe(no_mangle)]
extern "C" fn main(_: c_int, _: *const *const c_char) -> c_int {
    signal(SIGPIPE, SIG_IGN);
    // The lowest number that is free is taken, hence in this order.
    fill(io::stdin());
    fill(io::stdout());
    fill(io::stderr());
    crate::run().leave()
}

/// Opens `/dev/null` where a standard stream was closed.
fn fill(stream: impl AsFd) {
    if rustix::io::fcntl_getfd(stream).is_err()
        && let Ok(null) = std::fs::OpenOptions::new().read(true).write(true).open("/dev/null")
    {
        let _ = null.into_raw_fd();
    }
}
