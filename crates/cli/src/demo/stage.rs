//! The stage of the demo: a directory of its own with a home, a store and a small project, and the printing
//! of the story. The directory is removed when the demo ends, however it ends.

use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use consort_core::App;
use consort_core::text;
use consort_files::OurDir;
use consort_host::Machine;
use consort_host::env;
use consort_sqlite::Store;
use consort_sqlite::StoreUser;

use super::Played;
use super::actor::DemoAgent;
use crate::output::Out;
use crate::output::Style;
use crate::runs::follow::Interrupts;

/// The files that the agents work on.
const FILES: &[(&str, &str)] = &[
    ("src/session.rs", "pub const LIFETIME: u64 = 3600;\n"),
    ("src/cart.rs", "pub fn total() -> u64 { 0 }\n"),
    // The command that runs this script does not tell what it writes.
    ("tidy.sh", "for file in src/*.rs; do echo '// tidy' >> \"$file\"; done\n"),
];

/// The margin before quoted text.
const MARGIN: &str = "   │ ";

/// Widest quoted line, in columns, so that it is easily read.
const WIDEST: usize = 100;

/// Pause after each line, on a terminal.
const BEAT: Duration = Duration::from_millis(700);

/// The demo's own directory, and the way it prints.
pub(crate) struct Stage<'a> {
    dir: PathBuf,
    out: &'a Out,
    beat: Duration,
    quiet: bool,
    interrupts: Interrupts,
}

impl<'a> Stage<'a> {
    /// Builds the stage. Without a terminal, or for a program, it pauses nowhere: nobody needs time to read.
    pub(crate) fn build(out: &'a Out, json: bool) -> Played<Self> {
        let interrupts = Interrupts::listen();
        let dir = temporary().join(format!("consort-demo-{}", std::process::id()));
        OurDir::create(&dir)?;
        // A directory of that name may be another user's: `open` refuses that.
        OurDir::open(&dir)?;
        let is_watched = std::io::stdout().is_terminal() && !json;
        let beat = if is_watched { BEAT } else { Duration::ZERO };
        let stage = Self { dir, out, beat, quiet: json, interrupts };
        for (path, text) in FILES {
            let path = stage.project().join(path);
            std::fs::create_dir_all(path.parent().unwrap_or(&path))?;
            std::fs::write(path, text)?;
        }
        std::fs::create_dir_all(stage.dir.join("home"))?;
        let mut git = Command::new("git");
        git.args(["init", "--quiet"]).arg(stage.project());
        // Without git the directory is a project all the same.
        let _ = stage.sealed(git).stderr(std::process::Stdio::null()).status();
        Ok(stage)
    }

    pub(super) fn project(&self) -> PathBuf {
        self.dir.join("shop")
    }

    fn data(&self) -> PathBuf {
        self.dir.join("data")
    }

    /// Opens the store of the demo.
    pub(crate) fn app(&self) -> App {
        App::new(Store::new(self.data().join("consort.db"), StoreUser::Command), Machine::new(&self.data()))
    }

    /// Seals a command off from the person's own home, store and agents.
    fn sealed(&self, mut command: Command) -> Command {
        command.env_clear();
        for kept in ["PATH", "TERM", "LANG", "TMPDIR"] {
            command.envs(std::env::var_os(kept).map(|value| (kept, value)));
        }
        command.env("HOME", self.dir.join("home")).env(env::CONSORT_HOME, self.data());
        // Hooks wait for the person's answer only if a person uses the CLI.
        command.env("CLAUDE_CODE_ENTRYPOINT", "cli").current_dir(self.place());
        command
    }

    fn place(&self) -> PathBuf {
        Some(self.project()).filter(|project| project.is_dir()).unwrap_or_else(|| self.dir.clone())
    }

    /// Begins the session of an agent; also returns what its model is told at the start.
    pub(super) fn enter(&self, name: &'static str, cli: &'static str) -> Played<(DemoAgent, String)> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["demo", "--act"]);
        DemoAgent::enter(self.sealed(command), name, cli, &self.project())
    }

    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.project().join(name)
    }

    /// Prints what happens; a line that is too wide goes on below.
    pub(super) fn say(&self, line: &str) -> Played<()> {
        let words = line.trim_start();
        let margin = &line[..line.len() - words.len()];
        let lines = broken(words, self.out.width.saturating_sub(margin.len()));
        lines.iter().try_for_each(|line| self.show(&format!("{margin}{line}"), |_, text| text.to_owned()))
    }

    /// Prints the title of a scene.
    pub(super) fn scene(&self, number: usize, title: &str) -> Played<()> {
        self.say("")?;
        self.show(&format!("{number}. {title}"), Style::bold)
    }

    /// Quotes what an agent or the person reads, word by word.
    pub(super) fn quote(&self, text: &str) -> Played<()> {
        let shown = text.replace(&*self.project().to_string_lossy(), "shop");
        let width = self.out.width.min(WIDEST) - MARGIN.len();
        let lines = shown.trim().lines().flat_map(|line| broken(line, width));
        lines.into_iter().try_for_each(|line| self.show(&format!("{MARGIN}{line}"), Style::dim))
    }

    /// Prints a line, and gives time to read it. Ctrl-C ends the demo here.
    fn show(&self, line: &str, paint: fn(Style, &str) -> String) -> Played<()> {
        if !self.quiet {
            let _ = self.out.text(paint(self.out.style, &text::printable(line)) + "\n");
            std::thread::sleep(self.beat);
        }
        if self.interrupts.take() { Err("it was interrupted".into()) } else { Ok(()) }
    }
}

/// Returns a line as it is, or broken between words if it is too wide.
fn broken(line: &str, width: usize) -> Vec<String> {
    if line.chars().count() > width { consort_tui::wrap(line, width) } else { vec![line.to_owned()] }
}

/// Returns the directory to build the stage in. Its path must be UTF-8: hooks get paths in JSON.
fn temporary() -> PathBuf {
    let named = std::fs::canonicalize(std::env::temp_dir()).ok();
    named.filter(|dir| dir.is_dir() && dir.to_str().is_some()).unwrap_or_else(|| "/tmp".into())
}

impl Drop for Stage<'_> {
    fn drop(&mut self) {
        let _ = OurDir::remove(&self.dir);
    }
}
