//! Reads processes from the kernel: start times, ancestors, namespaces, and whether a process still
//! lives.

use std::ffi::OsString;
use std::io::Read as _;
use std::os::unix::ffi::OsStringExt as _;

use consort_core::host::Process;

/// Most ancestors that are looked at: a loop in a process tree must not hang us.
pub const MAX_ANCESTORS: usize = 64;

pub(crate) struct Stat {
    pub(crate) process: Process,
    parent: u32,
}

/// Returns the ancestors of this process, nearest first, up to the first that `is_meant`.
pub(crate) fn ancestors(boot: &str, is_meant: &dyn Fn(&Process) -> bool) -> Vec<Process> {
    lineage(parent(), boot, is_meant)
}

fn parent() -> u32 {
    rustix::process::getppid().map_or(0, |pid| pid.as_raw_nonzero().get() as u32)
}

/// Returns a process and its ancestors, nearest first, up to the first that `is_meant`.
pub(crate) fn lineage(pid: u32, boot: &str, is_meant: &dyn Fn(&Process) -> bool) -> Vec<Process> {
    let (mut ancestors, mut next) = (Vec::new(), pid);
    // Process 1 counts too: the first process of a container may well be an agent.
    while next > 0 && ancestors.len() < MAX_ANCESTORS {
        let Ok(Some(stat)) = stat(next, boot) else { break };
        next = if is_meant(&stat.process) { 0 } else { stat.parent };
        ancestors.push(stat.process);
    }
    ancestors
}

/// Most bytes that are read of a process's command line or environment. A process may let both point at
/// all of its memory.
const LONGEST: u64 = 512 << 10;

/// Reads a file of `/proc/<pid>`; `None` if it is longer than [`LONGEST`].
pub(crate) fn read_proc(pid: u32, name: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = std::fs::File::open(format!("/proc/{pid}/{name}")).ok()?;
    file.take(LONGEST + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= LONGEST).then_some(bytes)
}

/// Finds the value of a variable in the content of `/proc/<pid>/environ`.
pub(crate) fn variable_in(environment: &[u8], name: &str) -> Option<OsString> {
    let mut all = environment.split(|byte| *byte == 0);
    let value =
        all.find_map(|one| one.strip_prefix(name.as_bytes()).and_then(|rest| rest.strip_prefix(b"=")))?;
    (!value.is_empty()).then(|| OsString::from_vec(value.to_vec()))
}

/// Returns the words that a process was started with; empty if they cannot be read.
pub fn command_line(pid: u32) -> String {
    let line = read_proc(pid, "cmdline").unwrap_or_default();
    String::from_utf8_lossy(&line).replace('\0', " ")
}

/// Returns the program that a process was started as, and its first argument that is no option, which a
/// runtime would run as a script; empty if they cannot be read.
pub fn program_and_script(pid: u32) -> Vec<String> {
    let line = read_proc(pid, "cmdline").unwrap_or_default();
    let mut words = line.split(|byte| *byte == 0);
    let first = words.next();
    let script = words.find(|argument| !argument.starts_with(b"-"));
    first.into_iter().chain(script).map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}

/// Returns the host's name, by which earlier versions knew the machine of a process.
pub(crate) fn former_machine_name(namespace: Option<&str>) -> String {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    namespace.map_or_else(|| name.clone(), |namespace| format!("{name}/{namespace}"))
}

pub(crate) use platform::boot;
pub(crate) use platform::is_ancestor;
pub(crate) use platform::leader;
pub(crate) use platform::lives_in;
pub(crate) use platform::namespace;
pub(crate) use platform::stat;

#[cfg(target_os = "linux")]
mod platform {
    use std::fs;
    use std::fs::File;
    use std::io::Read as _;

    use super::Process;
    use super::Stat;

    /// Returns an id of this boot. Start times count from boot, so the boot is part of them.
    pub(crate) fn boot() -> std::io::Result<String> {
        let mut id = [0; 8];
        File::open("/proc/sys/kernel/random/boot_id")?.read_exact(&mut id)?;
        Ok(String::from_utf8_lossy(&id).into_owned())
    }

    /// The link of the initial process namespace, whose inode is fixed in the kernel's sources.
    const INITIAL: &str = "pid:[4026531836]";

    /// Returns the process namespace, unless it is the machine's own: the same process id in another
    /// namespace is another process.
    pub(crate) fn namespace() -> Option<String> {
        let namespace = fs::read_link("/proc/self/ns/pid").ok()?.to_string_lossy().into_owned();
        (namespace != INITIAL).then_some(namespace)
    }

    /// Whether a process of another namespace lives; `None` if that cannot be seen. The machine's own
    /// namespace sees all processes.
    pub(crate) fn lives_in(namespace: &str, pid: u32, start: &str, boot: &str) -> Option<bool> {
        let mut is_all_seen = namespace_is_initial();
        for entry in fs::read_dir("/proc").ok()?.flatten() {
            let Some(outer) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
                continue;
            };
            match fs::read_link(format!("/proc/{outer}/ns/pid")) {
                Ok(found) if found.as_os_str() != namespace => continue,
                Ok(_) => {}
                Err(error) => {
                    is_all_seen &= is_gone(&error);
                    continue;
                }
            }
            let status = fs::read_to_string(format!("/proc/{outer}/status")).unwrap_or_default();
            let inner = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
            let inner = inner.and_then(|pids| pids.split_whitespace().last()?.parse().ok());
            if inner == Some(pid)
                && let Ok(Some(found)) = stat(outer, boot)
            {
                return Some(found.process.start == start);
            }
        }
        is_all_seen.then_some(false)
    }

    fn namespace_is_initial() -> bool {
        namespace().is_none()
    }

    /// Reads a process; `Ok(None)` if there is no such process, an error if that cannot be told.
    pub(crate) fn stat(pid: u32, boot: &str) -> std::io::Result<Option<Stat>> {
        let mut line = [0; 1_024];
        match read_stat(pid, &mut line) {
            Ok(length) => Ok(parse(pid, &line[..length], boot)),
            Err(error) if is_gone(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Reads a process's stat line of some three hundred bytes in one system call, where `fs::read` would
    /// need half a dozen.
    fn read_stat(pid: u32, line: &mut [u8; 1_024]) -> std::io::Result<usize> {
        File::open(format!("/proc/{pid}/stat")).and_then(|mut file| file.read(line))
    }

    /// Returns the leader of a process's session; `None` for a leader outside of this namespace, which
    /// has no id here.
    pub(crate) fn leader(pid: u32) -> Option<u32> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let (_, fields) = stat.rsplit_once(") ")?;
        fields.split(' ').nth(3)?.parse().ok().filter(|leader| *leader > 0)
    }

    /// Whether an error means that the process is gone. `ESRCH` may come of a process that ends while its
    /// file is read.
    fn is_gone(error: &std::io::Error) -> bool {
        error.kind() == std::io::ErrorKind::NotFound
            || error.raw_os_error() == Some(rustix::io::Errno::SRCH.raw_os_error())
    }

    /// Whether this process, with its start time, is an ancestor of the caller. Every hook asks, so no
    /// `Process` is made for the ancestors in between.
    pub(crate) fn is_ancestor(process: &Process, boot: &str) -> bool {
        let mut pid = super::parent();
        for _ in 0..super::MAX_ANCESTORS {
            let mut line = [0; 1_024];
            let Ok(length) = read_stat(pid, &mut line) else { return false };
            let Some(fields) = Fields::read(&line[..length]) else { return false };
            if pid == process.pid {
                let start = process.start.strip_prefix(boot).and_then(|start| start.strip_prefix('-'));
                return start == Some(fields.start);
            }
            pid = fields.parent;
            if pid == 0 {
                return false;
            }
        }
        false
    }

    pub(super) fn parse(pid: u32, stat: &[u8], boot: &str) -> Option<Stat> {
        let Fields { program, parent, tty, start } = Fields::read(stat)?;
        let program = String::from_utf8_lossy(program).into_owned();
        let (start, tty) = (format!("{boot}-{start}"), terminal(tty));
        Some(Stat { process: Process { pid, start, tty, program }, parent })
    }

    /// The fields that are read of a living process.
    struct Fields<'a> {
        program: &'a [u8],
        parent: u32,
        tty: u32,
        start: &'a str,
    }

    impl<'a> Fields<'a> {
        /// Parses `pid (program) state ppid pgrp session tty … starttime …`; the program may contain
        /// spaces and parentheses, so it ends at the last parenthesis.
        fn read(stat: &'a [u8]) -> Option<Self> {
            let open = stat.iter().position(|byte| *byte == b'(')?;
            let close = stat.iter().rposition(|byte| *byte == b')')?;
            let program = stat.get(open + 1..close)?;
            // Split as bytes: finding the ends of such short fields in a `str` takes six times as long.
            let mut fields = stat.get(close + 2..)?.split(|byte| *byte == b' ');
            if matches!(fields.next()?, b"Z" | b"X") {
                return None;
            }
            let mut text = |skipped| std::str::from_utf8(fields.nth(skipped)?).ok();
            let (parent, tty) = (text(0)?.parse().ok()?, text(2)?.parse().ok()?);
            Some(Self { program, parent, tty, start: text(14)? })
        }
    }

    /// Returns the path of a terminal by its device number, as `Documentation/admin-guide/devices.txt`
    /// lists them.
    fn terminal(device: u32) -> Option<String> {
        let major = (device >> 8) & 0xfff;
        let minor = (device & 0xff) | ((device >> 12) & 0xf_ff00);
        match major {
            136..=143 => Some(format!("/dev/pts/{}", (major - 136) * 256 + minor)),
            4 if minor < 64 => Some(format!("/dev/tty{minor}")),
            4 => Some(format!("/dev/ttyS{}", minor - 64)),
            _ => None,
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod platform {
    use std::process::Command;
    use std::time::Duration;

    use super::Process;
    use super::Stat;
    use crate::run_program::run;

    pub(crate) fn boot() -> std::io::Result<String> {
        Ok(String::new())
    }

    pub(crate) fn namespace() -> Option<String> {
        None
    }

    pub(crate) fn is_ancestor(process: &Process, boot: &str) -> bool {
        let above = super::ancestors(boot, &|ancestor| ancestor.is(process));
        above.last().is_some_and(|last| last.is(process))
    }

    pub(crate) fn leader(pid: u32) -> Option<u32> {
        let pid = rustix::process::Pid::from_raw(pid as i32);
        Some(rustix::process::getsid(pid).ok()?.as_raw_nonzero().get() as u32)
    }

    pub(crate) fn lives_in(_namespace: &str, _pid: u32, _start: &str, _boot: &str) -> Option<bool> {
        None
    }

    /// Reads a process; `Ok(None)` if there is no such process, an error if that cannot be told.
    pub(crate) fn stat(pid: u32, _boot: &str) -> std::io::Result<Option<Stat>> {
        let mut ps = Command::new("ps");
        ps.args(["-o", "ppid=,stat=,lstart=,tty=,comm=", "-p", &pid.to_string()]);
        // The start is compared as text: it must not depend on the caller's language or time zone.
        ps.env("LC_ALL", "C").env("TZ", "UTC");
        match run(&mut ps, Duration::from_secs(2)) {
            Some(line) => Ok(parse(pid, &line)),
            // `ps` exits with 1 both if there is no such process and if it failed; then `true` shows
            // whether programs run at all.
            None if run(&mut Command::new("true"), Duration::from_secs(2)).is_some() => Ok(None),
            None => Err(std::io::ErrorKind::Other.into()),
        }
    }

    /// Parses `1 Ss Sun Nov 15 02:15:56 2026 ttys001 /bin/zsh`.
    pub(super) fn parse(pid: u32, line: &str) -> Option<Stat> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [parent, state, rest @ ..] = words.as_slice() else { return None };
        if state.starts_with('Z') || rest.len() < 7 {
            return None;
        }
        let start = rest[..5].join(" ");
        let tty = rest[5].starts_with("tty").then(|| format!("/dev/{}", rest[5]));
        let program = rest[6..].join(" ");
        let program = program.rsplit('/').next().unwrap_or(&program).to_owned();
        Some(Stat { process: Process { pid, start, tty, program }, parent: parent.parse().ok()? })
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_program_may_be_called_anything() {
        let line = b"7 (a) b (c)) S 3 7 7 34817 7 0 0 0 0 0 0 0 0 0 20 0 1 0 4242 0 0";
        let stat = platform::parse(7, line, "boot").unwrap();
        assert_eq!(stat.process.program, "a) b (c)");
        assert_eq!(stat.process.start, "boot-4242");
        assert_eq!(stat.process.tty.as_deref(), Some("/dev/pts/1"));
        assert_eq!(stat.parent, 3);
    }

    #[test]
    fn a_zombie_is_dead() {
        let line = b"7 (x) Z 3 7 7 0 7 0 0 0 0 0 0 0 0 0 20 0 1 0 4242 0 0";
        assert!(platform::parse(7, line, "boot").is_none());
    }

    #[test]
    fn this_process_has_one_life_and_ancestors() {
        let boot = boot().unwrap();
        let mine = || stat(std::process::id(), &boot).unwrap().unwrap().process;
        assert_eq!(mine(), mine());
        assert!(!ancestors(&boot, &|_| false).is_empty());
    }
}
