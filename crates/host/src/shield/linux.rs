//! The shield of Linux: read-only bind mounts in a mount namespace.
//!
//! Root makes a mount namespace directly: that succeeds or changes nothing. Others need a user namespace
//! first, and a half-made one cannot be left again: its caller would be nobody. (Ubuntu lets everybody
//! make one and then refuses its id map.) So **a child makes both namespaces and the mounts, and this
//! process joins them when all is done.**

use std::ffi::CString;
use std::ffi::OsString;
use std::fs;
use std::fs::File;
use std::io;
use std::io::Read as _;
use std::io::Write as _;
use std::os::fd::AsRawFd as _;
use std::os::fd::FromRawFd as _;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::path::PathBuf;

/// Makes paths read-only for this process and the programs it becomes. Only for a process without other
/// threads. The command stays as it is.
pub fn enter(paths: &[PathBuf], _command: &mut Vec<OsString>) -> io::Result<()> {
    let here = std::env::current_dir();
    if unshare(libc::CLONE_NEWNS).is_ok() {
        mount_all(paths)?;
    } else {
        join_child(paths)?;
    }
    // The current directory was opened before the mounts, so it is entered again by name.
    here.and_then(std::env::set_current_dir)
}

/// Checks that a shield can be made here; the error says why not.
pub fn is_available() -> Result<(), String> {
    let in_child = |work: fn() -> io::Result<()>| -> io::Result<()> { Child::start(work)?.end() };
    let root = in_child(|| unshare(libc::CLONE_NEWNS).and_then(|()| be_slave()));
    let Err(error) = root.or_else(|_| in_child(make_namespaces)) else { return Ok(()) };
    let is_set = |file: &str, value: &str| fs::read_to_string(file).is_ok_and(|text| text.trim() == value);
    Err(if is_set("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1") {
        "AppArmor does not permit user namespaces (kernel.apparmor_restrict_unprivileged_userns)".into()
    } else if is_set("/proc/sys/kernel/unprivileged_userns_clone", "0") {
        "user namespaces are switched off (kernel.unprivileged_userns_clone)".into()
    } else if is_set("/proc/sys/user/max_user_namespaces", "0") {
        "user namespaces are switched off (user.max_user_namespaces)".into()
    } else {
        format!("user namespaces are not permitted here, by a container or a sandbox: {error}")
    })
}

/// Has a child make the namespaces and the mounts, and joins the namespaces.
fn join_child(paths: &[PathBuf]) -> io::Result<()> {
    let child = Child::start(|| make_namespaces().and_then(|()| mount_all(paths)))?;
    let namespace = |kind: &str| File::open(format!("/proc/{}/ns/{kind}", child.pid));
    let joined = namespace("user").and_then(|user| {
        let mounts = namespace("mnt")?;
        let old = File::open(".");
        set_namespace(&user, libc::CLONE_NEWUSER)?;
        set_namespace(&mounts, libc::CLONE_NEWNS)?;
        // Joining changes to the root directory, so return; the caller enters the directory by name, if
        // it can.
        if let Ok(old) = old {
            let _ = rustix::process::fchdir(old);
        }
        Ok(())
    });
    child.end()?;
    joined
}

/// Makes a user namespace in which the caller keeps its ids, and a mount namespace in it.
fn make_namespaces() -> io::Result<()> {
    let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
    unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNS)?;
    // Without this line the kernel refuses the map of the group.
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{0} {0} 1\n", user.as_raw()))?;
    fs::write("/proc/self/gid_map", format!("{0} {0} 1\n", group.as_raw()))?;
    be_slave()
}

/// Hides mounts made here from the outside; mounts made outside are still seen here.
fn be_slave() -> io::Result<()> {
    mount(None, Path::new("/"), libc::MS_REC | libc::MS_SLAVE)
}

/// Mounts the paths read-only. A path that has gone meanwhile needs no protection.
fn mount_all(paths: &[PathBuf]) -> io::Result<()> {
    be_slave()?;
    for path in paths {
        match mount_read_only(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            mounted => mounted?,
        }
    }
    Ok(())
}

fn mount_read_only(path: &Path) -> io::Result<()> {
    mount(Some(path), path, libc::MS_BIND | libc::MS_REC)?;
    // In a user namespace a remount must repeat the flags that the mount has.
    let flags = rustix::fs::statvfs(path)?.f_flag.bits();
    let kept = [
        (libc::ST_NOSUID, libc::MS_NOSUID),
        (libc::ST_NODEV, libc::MS_NODEV),
        (libc::ST_NOEXEC, libc::MS_NOEXEC),
        (libc::ST_NOATIME, libc::MS_NOATIME),
        (libc::ST_NODIRATIME, libc::MS_NODIRATIME),
        (libc::ST_RELATIME, libc::MS_RELATIME),
    ];
    let kept = kept.into_iter().filter(|(flag, _)| flags & *flag != 0);
    let kept = kept.fold(0, |all, (_, flag)| all | flag);
    mount(None, path, libc::MS_BIND | libc::MS_REMOUNT | libc::MS_RDONLY | kept)
}

/// A child that does some work and stays until it is ended.
struct Child {
    pid: libc::pid_t,
    /// The end of a pipe; the child stays while it is open.
    stay: OwnedFd,
}

impl Child {
    /// Starts a child, and waits until its work is done.
    #[expect(unsafe_code, reason = "a fork that does system calls only")]
    fn start(work: impl FnOnce() -> io::Result<()>) -> io::Result<Self> {
        let (done, tell) = pipe()?;
        let (end, stay) = pipe()?;
        // SAFETY: there are no other threads, and the child ends below without
        // running anything of the parent's.
        let pid = match unsafe { libc::fork() } {
            -1 => return Err(io::Error::last_os_error()),
            0 => {
                drop((done, stay));
                let code = work().err().map_or(0, |error| error.raw_os_error().unwrap_or(libc::EIO));
                let _ = File::from(tell).write_all(&code.to_ne_bytes());
                // Waits until the parent closes its end.
                let _ = File::from(end).read(&mut [0]);
                // SAFETY: it ends the child, and nothing else.
                unsafe { libc::_exit(0) }
            }
            pid => pid,
        };
        drop((tell, end));
        let child = Self { pid, stay };
        let mut code = [0; 4];
        match File::from(done).read_exact(&mut code).map(|()| i32::from_ne_bytes(code)) {
            Ok(0) => Ok(child),
            failed => {
                child.end()?;
                Err(failed.map_or_else(|error| error, io::Error::from_raw_os_error))
            }
        }
    }

    fn end(self) -> io::Result<()> {
        drop(self.stay);
        let pid = rustix::process::Pid::from_raw(self.pid);
        loop {
            match rustix::process::waitpid(pid, rustix::process::WaitOptions::empty()) {
                Err(rustix::io::Errno::INTR) => {}
                // Also ends the wait if SIGCHLD is ignored: then the kernel reaps children itself.
                _ => return Ok(()),
            }
        }
    }
}

/// Makes a pipe: the end to read from, and the end to write to.
#[expect(unsafe_code, reason = "file descriptors that were just made have no owner yet")]
fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: two descriptors are filled in, which nobody else has.
    match unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) } {
        0 => Ok(unsafe { (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])) }),
        _ => Err(io::Error::last_os_error()),
    }
}

#[expect(unsafe_code, reason = "no file descriptors are shared, which is what can be unsafe in it")]
fn unshare(flags: libc::c_int) -> io::Result<()> {
    // SAFETY: the call takes numbers only.
    result(unsafe { libc::unshare(flags) })
}

#[expect(unsafe_code, reason = "rustix has it for threads only")]
fn set_namespace(namespace: &File, kind: libc::c_int) -> io::Result<()> {
    // SAFETY: the call takes numbers only; the file is open during it.
    result(unsafe { libc::setns(namespace.as_raw_fd(), kind) })
}

#[expect(unsafe_code, reason = "the system's own call, with paths that live during it")]
fn mount(from: Option<&Path>, to: &Path, flags: libc::c_ulong) -> io::Result<()> {
    let text = |path: &Path| CString::new(path.as_os_str().as_bytes()).map_err(io::Error::other);
    let (from, to) = (from.map(text).transpose()?, text(to)?);
    let from = from.as_ref().map_or(std::ptr::null(), |from| from.as_ptr());
    // SAFETY: the paths end with a NUL; nothing else is pointed to.
    result(unsafe { libc::mount(from, to.as_ptr(), std::ptr::null(), flags, std::ptr::null()) })
}

fn result(code: libc::c_int) -> io::Result<()> {
    if code == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
