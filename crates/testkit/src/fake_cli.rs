//! A fake agent CLI for tests: it looks like Claude Code in its terminal, needs no model, and can
//! be made to show the rare failures of real CLIs.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use crate::Sealed;

/// The line that the fake CLI logs when its work is over.
const RESTS: &str = "rests";

/// The program `claude` of a sealed world.
pub struct FakeCli {
    bin: PathBuf,
    log: PathBuf,
}

impl FakeCli {
    /// Installs the program in a directory of its own in the world.
    pub fn install(world: &Sealed) -> Self {
        let bin = world.path().join("bin");
        fs::create_dir_all(&bin).unwrap();
        let script = bin.join("fake_cli.py");
        fs::write(&script, include_str!("fake_cli.py")).unwrap();
        let program = bin.join("claude");
        // tmux shows a program by the name that it was started by.
        fs::write(&program, format!("#!/bin/bash\nexec -a claude python3 {} \"$@\"\n", script.display()))
            .unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        Self { bin, log: world.path().join("fake.log") }
    }

    /// Returns the variables by which a command finds the fake CLI, with those that set its behaviour.
    pub fn environment(&self, ways: &[(&str, &str)]) -> Vec<(String, String)> {
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", self.bin.display());
        let own = [("PATH".to_owned(), path), ("FAKE_LOG".to_owned(), self.log.display().to_string())];
        own.into_iter().chain(ways.iter().map(|(name, value)| ((*name).into(), (*value).into()))).collect()
    }

    /// Returns the prompts and answers that were submitted to it, in order.
    pub fn submitted_texts(&self) -> Vec<String> {
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        log.lines().filter(|line| *line != RESTS).map(str::to_owned).collect()
    }

    /// Counts how often it has worked and come to rest.
    pub fn count_rests(&self) -> usize {
        fs::read_to_string(&self.log).unwrap_or_default().lines().filter(|line| *line == RESTS).count()
    }
}
