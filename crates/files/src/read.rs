//! Reads one regular file up to a size limit, without blocking on a pipe or a device.

use std::io;
use std::os::fd::AsFd;
use std::path::Path;

use rustix::buffer::spare_capacity;
use rustix::fs::CWD;
use rustix::fs::FileType;
use rustix::fs::Mode;
use rustix::fs::OFlags;

/// Reads a regular file of at most `limit` bytes. A pipe, a device or a longer
/// file is an error; links are followed.
pub fn read_regular_file(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    // Non-blocking: otherwise opening a pipe would block until somebody writes to it.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    read_open(&rustix::fs::openat(CWD, path, flags, Mode::empty())?, limit)
}

/// Tells whether the file behind a path is a regular file; links are followed.
pub fn is_regular(path: &Path) -> bool {
    rustix::fs::stat(path).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode).is_file())
}

/// Reads an open file, if it is a regular file of at most `limit` bytes.
pub fn read_open(file: impl AsFd, limit: u64) -> io::Result<Vec<u8>> {
    let stat = rustix::fs::fstat(&file)?;
    if !FileType::from_raw_mode(stat.st_mode).is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    let too_long = || io::Error::new(io::ErrorKind::FileTooLarge, format!("it is longer than {limit} bytes"));
    if stat.st_size as u64 > limit {
        return Err(too_long());
    }
    // One read with a byte of room to spare: if it does not fill the room, the file is read whole.
    let mut bytes = Vec::with_capacity(stat.st_size as usize + 1);
    loop {
        rustix::io::read(&file, spare_capacity(&mut bytes))?;
        if bytes.len() as u64 > limit {
            return Err(too_long());
        }
        if bytes.len() < bytes.capacity() {
            return Ok(bytes);
        }
        // The file has grown since `fstat`.
        bytes.reserve(1);
    }
}
