//! `Tmux`, which implements core's port to terminals by running tmux commands.
//!
//! One tmux client does a whole sweep: a chain of commands, with a line between their outputs that no
//! screen can contain. A chain ends at the first pane that is gone, so the panes after it are asked for
//! again. Sockets are always explicit, panes are named by id, and text is pasted through a buffer of its
//! own name: all of a server's users share its buffers.

mod answer;

use std::ffi::OsString;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use consort_core::Timestamp;
use consort_core::host::Clock as _;
use consort_core::host::Process;
use consort_core::host::Processes as _;
use consort_core::monitor::EndMethod;
use consort_core::monitor::KeyPress;
use consort_core::monitor::NewPane;
use consort_core::monitor::PaneAddress;
use consort_core::monitor::PaneManager;
use consort_core::monitor::PaneViewer;
use consort_core::monitor::PaneWriter;
use consort_core::monitor::ProcessTrees;
use consort_core::monitor::ServerPanes;
use consort_core::monitor::TerminalError;
use consort_core::monitor::TreeProcess;
use rustix::process::Pid;
use rustix::process::Signal;

use crate::Machine;
use crate::env;
use crate::run_program::Ran;
use crate::run_program::run_with_input;

/// Longest time a server may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// The tmux session in which our own server keeps its windows.
const SESSION: &str = "consort";

/// Columns and rows of a window that nobody looks at: tall, because lines that have scrolled away in the
/// alternate screen are lost.
const SIZE: (usize, usize) = (200, 50);

/// The tmux on this machine.
pub struct Tmux {
    machine: Machine,
}

impl Tmux {
    /// Makes the adapter; `data` is our data directory.
    pub fn new(data: &Path) -> Self {
        Self { machine: Machine::new(data) }
    }

    /// Returns the socket of the server that this process's terminal is in, else of our own.
    pub fn server_socket() -> PathBuf {
        env::terminal().tmux.unwrap_or_else(Self::own_server_socket)
    }

    /// Returns the socket of the server that we start if the person has none: `tmux -L consort`.
    pub fn own_server_socket() -> PathBuf {
        let dir = env::get("TMUX_TMPDIR").unwrap_or_else(|| "/tmp".into());
        Path::new(&dir).join(format!("tmux-{}", rustix::process::getuid().as_raw())).join("consort")
    }

    /// Runs a chain of commands; returns its output and exit.
    fn run(&self, server: &Path, words: &[OsString], input: &[u8]) -> Result<Ran, TerminalError> {
        let mut tmux = Command::new("tmux");
        // Without -u, characters that are not ASCII would become underscores if no locale is set.
        tmux.arg("-u").arg("-S").arg(server).args(words);
        // With these variables set tmux refuses some commands.
        tmux.env_remove("TMUX").env_remove("TMUX_PANE");
        run_with_input(&mut tmux, PATIENCE, input).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => TerminalError::NotInstalled,
            std::io::ErrorKind::TimedOut => TerminalError::NoServer { server: server.to_owned() },
            _ => TerminalError::Refused { said: error.to_string() },
        })
    }

    /// Runs a chain of commands that must succeed; returns its output.
    fn done(&self, server: &Path, words: &[OsString], input: &[u8]) -> Result<String, TerminalError> {
        let ran = self.run(server, words, input)?;
        match ran.is_success {
            true => Ok(String::from_utf8_lossy(&ran.stdout).into_owned()),
            false => Err(self.refusal(server, &ran)),
        }
    }

    fn refusal(&self, server: &Path, ran: &Ran) -> TerminalError {
        let said = String::from_utf8_lossy(&ran.stderr).trim().to_owned();
        // tmux's commands report a missing pane in two ways.
        let pane = ["can't find pane: ", "no such pane: "].iter().find_map(|gone| said.strip_prefix(gone));
        match pane {
            Some(id) => {
                let pane = PaneAddress { server: server.to_owned(), id: id.to_owned() };
                TerminalError::Gone { pane }
            }
            None if answer::is_no_server(&said) => TerminalError::NoServer { server: server.to_owned() },
            None => TerminalError::Refused { said },
        }
    }

    /// Makes a random word that no screen contains.
    fn boundary(&self) -> String {
        self.machine.random().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl PaneViewer for Tmux {
    fn sweep(&self, server: &Path, shown: &[String]) -> Result<ServerPanes, TerminalError> {
        let boundary = self.boundary();
        let mut chain = words(&["list-panes", "-a", "-F", answer::PANE, ";"]);
        chain.extend(words(&["list-clients", "-F", answer::CLIENT]));
        chain.extend(captures(&boundary, shown));
        let ran = self.run(server, &chain, b"")?;
        let mut sweep = match answer::sweep(&String::from_utf8_lossy(&ran.stdout), &boundary) {
            Some(sweep) => sweep,
            None => return Err(self.refusal(server, &ran)),
        };
        // A pane that is gone ended the chain: the panes after it are asked for again.
        for _ in shown {
            let missing: Vec<String> = shown
                .iter()
                .filter(|id| sweep.panes.contains_key(*id) && !sweep.screens.contains_key(*id))
                .cloned()
                .collect();
            if missing.is_empty() {
                break;
            }
            let ran = self.run(server, &captures(&boundary, &missing)[1..], b"")?;
            let screens = answer::screens(&String::from_utf8_lossy(&ran.stdout), &boundary);
            if screens.is_empty() {
                // The first missing pane has gone since the list was printed.
                sweep.panes.remove(&missing[0]);
            }
            sweep.screens.extend(screens);
        }
        Ok(sweep)
    }

    fn history(&self, pane: &PaneAddress, lines: usize) -> Result<String, TerminalError> {
        let from = format!("-{lines}");
        let text =
            self.done(&pane.server, &words(&["capture-pane", "-p", "-J", "-S", &from, "-t", &pane.id]), b"")?;
        Ok(answer::last_lines(&text, lines))
    }

    fn pause(&self, time: Duration) {
        std::thread::sleep(time);
    }

    fn now(&self) -> Timestamp {
        self.machine.now()
    }
}

impl PaneWriter for Tmux {
    fn paste(&self, pane: &PaneAddress, text: &str) -> Result<(), TerminalError> {
        let buffer = format!("consort-{}", self.boundary());
        // -p frames the text if the program asks for that (bracketed paste), -r keeps line ends as they
        // are, -d deletes the buffer.
        let chain = ["load-buffer", "-b", &buffer, "-", ";", "paste-buffer", "-p", "-r", "-d", "-b", &buffer];
        let mut chain = words(&chain);
        chain.extend(words(&["-t", &pane.id]));
        self.done(&pane.server, &chain, text.as_bytes()).map(drop).inspect_err(|_| {
            // Nobody else is to find the text in the buffer.
            let _ = self.run(&pane.server, &words(&["delete-buffer", "-b", &buffer]), b"");
        })
    }

    fn press(&self, pane: &PaneAddress, key: KeyPress) -> Result<(), TerminalError> {
        let mut chain = words(&["send-keys", "-t", &pane.id]);
        match key {
            KeyPress::Character(character) => chain.extend(words(&["-l", &character.to_string()])),
            key => chain.push(answer::key_name(key).into()),
        }
        self.done(&pane.server, &chain, b"").map(drop)
    }

    fn enter_after(&self, pane: &PaneAddress, text: &str) -> Result<bool, TerminalError> {
        let shows = format!("#{{C/r:{}}}", answer::line_end(text));
        let act = format!("send-keys -t {} Enter ; display-message -p pressed", pane.id);
        let said = self.done(&pane.server, &words(&["if-shell", "-F", "-t", &pane.id, &shows, &act]), b"")?;
        Ok(said.trim() == "pressed")
    }
}

impl PaneManager for Tmux {
    fn open(&self, pane: &NewPane) -> Result<PaneAddress, TerminalError> {
        let NewPane { server, name, cwd, command } = pane;
        if let Some(dir) = server.parent() {
            use std::os::unix::fs::DirBuilderExt as _;
            let _ = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir);
        }
        let is_ours = *server == Self::own_server_socket();
        let is_up = self.run(server, &words(&["has-session", "-t", &format!("={SESSION}")]), b"")?.is_success;
        let (columns, rows) = (SIZE.0.to_string(), SIZE.1.to_string());
        let mut chain = match is_ours && !is_up {
            true => words(&["new-session", "-d", "-s", SESSION, "-x", &columns, "-y", &rows]),
            false if is_ours => words(&["new-window", "-d", "-t", &format!("={SESSION}:")]),
            false => words(&["new-window", "-d"]),
        };
        chain.extend(words(&["-P", "-F", "#{pane_id}", "-n", name, "-c"]));
        chain.push(cwd.into());
        chain.push("--".into());
        chain.extend(command.iter().map(OsString::from));
        let id = self.done(server, &chain, b"")?.trim().to_owned();
        let opened = PaneAddress { server: server.clone(), id };
        match self.keep(&opened, is_ours) {
            // The pane's program has ended already, and so has a server that had no other pane.
            Err(TerminalError::NoServer { .. }) => Err(TerminalError::Gone { pane: opened }),
            kept => kept.map(|()| opened),
        }
    }

    fn select(&self, pane: &PaneAddress) -> Result<(), TerminalError> {
        let chain = ["select-window", "-t", &pane.id, ";", "select-pane", "-t", &pane.id];
        self.done(&pane.server, &words(&chain), b"")?;
        // Clients that show another session of that server switch to the pane too.
        let clients = self.done(&pane.server, &words(&["list-clients", "-F", "#{client_name}"]), b"")?;
        for client in clients.lines() {
            let chain = words(&["switch-client", "-c", client, "-t", &pane.id]);
            let _ = self.run(&pane.server, &chain, b"");
        }
        Ok(())
    }

    fn remove(&self, pane: &PaneAddress) -> Result<(), TerminalError> {
        match self.done(&pane.server, &words(&["kill-pane", "-t", &pane.id]), b"") {
            Err(TerminalError::Gone { .. } | TerminalError::NoServer { .. }) => Ok(()),
            done => done.map(drop),
        }
    }
}

impl ProcessTrees for Tmux {
    fn tree(&self, root: u32) -> Vec<TreeProcess> {
        self.machine.tree(root)
    }

    fn end(&self, process: &Process, how: EndMethod) {
        let signal = match how {
            EndMethod::Asked => Signal::TERM,
            EndMethod::Forced => Signal::KILL,
        };
        // A process id that was given to another since is not ours to end.
        if let Some(pid) = Pid::from_raw(process.pid as i32).filter(|_| self.machine.is_alive(process)) {
            let _ = rustix::process::kill_process(pid, signal);
        }
    }

    fn lives(&self, process: &Process) -> bool {
        self.machine.is_alive(process)
    }
}

impl Tmux {
    /// Keeps a pane of ours after its program has ended; on our own server also keeps the size of windows
    /// that nobody looks at.
    fn keep(&self, pane: &PaneAddress, is_ours: bool) -> Result<(), TerminalError> {
        let mut chain = words(&["set-option", "-p", "-t", &pane.id, "remain-on-exit", "on"]);
        if is_ours {
            let size = format!("{}x{}", SIZE.0, SIZE.1);
            chain.extend(words(&[";", "set-option", "-t", &format!("={SESSION}:"), "default-size", &size]));
        }
        self.done(&pane.server, &chain, b"").map(drop)
    }
}

fn words(words: &[&str]) -> Vec<OsString> {
    words.iter().map(OsString::from).collect()
}

/// Builds `; display-message -p <boundary> 3 ; capture-pane -p -e -t %3` for each pane.
fn captures(boundary: &str, panes: &[String]) -> Vec<OsString> {
    let each = panes.iter().flat_map(|id| {
        // A percent sign would be read as a time format.
        let mark = format!("{boundary} {}", id.trim_start_matches('%'));
        words(&[";", "display-message", "-p", &mark, ";", "capture-pane", "-p", "-e", "-t", id])
    });
    each.collect()
}
