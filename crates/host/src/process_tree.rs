//! Lists the processes that a process has started, with their CPU time and I/O, from the kernel.

use consort_core::host::Process;
use consort_core::monitor::TreeProcess;

/// Lists a process and all below it, itself first, parents before children.
pub(crate) fn tree(root: u32, boot: &str) -> Vec<TreeProcess> {
    let all = platform::all(boot);
    let mut tree: Vec<TreeProcess> = all.iter().filter(|one| one.process.pid == root).cloned().collect();
    let mut next = 0;
    while let Some(parent) = tree.get(next).map(|one| one.process.pid) {
        let children = all.iter().filter(|one| one.parent == parent && one.process.pid != root);
        tree.extend(children.cloned());
        next += 1;
    }
    tree
}

pub(crate) use platform::all;

#[cfg(target_os = "linux")]
mod platform {
    use std::fs;

    use super::Process;
    use super::TreeProcess;
    use crate::process;

    /// Milliseconds of a tick of the clock that processes are charged by: a hundred ticks a second, on
    /// every Linux there is.
    const TICK: u64 = 10;

    pub(crate) fn all(boot: &str) -> Vec<TreeProcess> {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        pids.filter_map(|pid| one(pid, boot)).collect()
    }

    fn one(pid: u32, boot: &str) -> Option<TreeProcess> {
        let line = process::read_proc(pid, "stat")?;
        let text = String::from_utf8_lossy(&line);
        let (before, after) = text.rsplit_once(") ")?;
        let fields: Vec<&str> = after.split(' ').collect();
        // Fields count as in proc(5), where the third is the state.
        let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
        if matches!(fields.first(), Some(&("Z" | "X"))) {
            return None;
        }
        let program = before.split_once('(').map(|(_, program)| program.to_owned()).unwrap_or_default();
        let start = format!("{boot}-{}", fields.get(22 - 3)?);
        let process = Process { pid, start, tty: None, program };
        let cpu_ms = (field(14)? + field(15)?) * TICK;
        let (parent, io) = (u32::try_from(field(4)?).ok()?, io(pid).unwrap_or_default());
        Some(TreeProcess { process, parent, cpu_ms, io })
    }

    fn io(pid: u32) -> Option<u64> {
        let text = fs::read_to_string(format!("/proc/{pid}/io")).ok()?;
        let counted = text.lines().filter(|line| line.starts_with("rchar:") || line.starts_with("wchar:"));
        Some(counted.filter_map(|line| line.split_once(": ")?.1.trim().parse::<u64>().ok()).sum())
    }
}

#[cfg(not(target_os = "linux"))]
mod platform {
    use std::process::Command;
    use std::time::Duration;

    use super::Process;
    use super::TreeProcess;
    use crate::run_program::run;

    pub(crate) fn all(_boot: &str) -> Vec<TreeProcess> {
        let mut ps = Command::new("ps");
        ps.args(["-axo", "pid=,ppid=,stat=,time=,lstart=,comm="]).env("LC_ALL", "C").env("TZ", "UTC");
        let listed = run(&mut ps, Duration::from_secs(2)).unwrap_or_default();
        listed.lines().filter_map(one).collect()
    }

    /// Parses `7 1 Ss 0:03.25 Sun Nov 15 02:15:56 2026 /bin/zsh`.
    fn one(line: &str) -> Option<TreeProcess> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [pid, parent, state, time, rest @ ..] = words.as_slice() else { return None };
        if state.starts_with('Z') || rest.len() < 6 {
            return None;
        }
        let (minutes, seconds) = time.rsplit_once(':')?;
        let seconds: f64 = seconds.parse().ok()?;
        let minutes: u64 = minutes.rsplit(':').next()?.parse().ok()?;
        let program = rest[5..].join(" ");
        let program = program.rsplit('/').next().unwrap_or(&program).to_owned();
        let process = Process { pid: pid.parse().ok()?, start: rest[..5].join(" "), tty: None, program };
        let cpu_ms = minutes * 60_000 + (seconds * 1_000.0) as u64;
        Some(TreeProcess { process, parent: parent.parse().ok()?, cpu_ms, io: 0 })
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn what_a_process_has_started_is_below_it() {
        let boot = crate::process::boot().unwrap();
        let mut child = Command::new("sh").args(["-c", "sleep 60; true"]).spawn().unwrap();
        let programs = || -> Vec<String> {
            tree(child.id(), &boot).iter().map(|one| one.process.program.clone()).collect()
        };
        while programs() != ["sh", "sleep"] {
            std::thread::yield_now();
        }
        let sleep = tree(child.id(), &boot)[1].process.pid;
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(tree(child.id(), &boot), []);
        let sleep = rustix::process::Pid::from_raw(sleep as i32).unwrap();
        rustix::process::kill_process(sleep, rustix::process::Signal::KILL).unwrap();
    }
}
