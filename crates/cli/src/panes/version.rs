//! Finds the installed version of a CLI: asked once for each file, because a CLI takes half a second to print
//! it, and much longer on a busy machine. For a CLI that is too slow, the package tells that it was installed
//! with.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::Duration;

use consort_agents::AgentCli;
use consort_core::App;
use serde_json::Value;

use crate::connect;

/// Longest time a CLI may take to print its version.
const PATIENCE: Duration = Duration::from_secs(5);

/// Longest package description that is read, in bytes.
const LONGEST: u64 = 1 << 18;

/// Returns the version that the installed CLI prints, or its package names; `None` if neither does.
pub(crate) fn said(app: &App, cli: &dyn AgentCli) -> Option<String> {
    let program = connect::find_program(cli.program())?;
    let found = fs::metadata(&program).ok()?;
    let file = format!("{} {} {} {}", program.display(), found.ino(), found.len(), found.mtime());
    if let Some(known) = app.cli_version(cli.kind(), &file) {
        return Some(known);
    }
    let said = consort_host::ask_version(&program, PATIENCE).map(|said| said.trim().to_owned());
    let said = said.or_else(|| packaged(&program, cli.program()))?;
    app.note_cli_version(cli.kind(), &file, &said);
    Some(said)
}

/// Finds the version of the package that has this program among those it installs.
fn packaged(path: &Path, program: &str) -> Option<String> {
    let path = fs::canonicalize(path).ok()?;
    let above = path.ancestors().skip(1).take(4);
    above.into_iter().find_map(|dir| {
        let text = consort_files::read_regular_file(&dir.join("package.json"), LONGEST).ok()?;
        let package: Value = serde_json::from_slice(&text).ok()?;
        package["bin"].get(program)?;
        package["version"].as_str().map(str::to_owned)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_tells_the_version_of_its_own_programs_alone() {
        let dir = tempfile::tempdir().unwrap();
        let bin = dir.path().join("node_modules/agent/dist");
        fs::create_dir_all(&bin).unwrap();
        fs::write(bin.join("cli.js"), "").unwrap();
        fs::write(dir.path().join("package.json"), r#"{"version":"1.0.0","bin":{"other":"x"}}"#).unwrap();
        assert_eq!(packaged(&bin.join("cli.js"), "agent"), None);
        let package = r#"{"version":"0.61.0","bin":{"agent":"dist/cli.js"}}"#;
        fs::write(dir.path().join("node_modules/agent/package.json"), package).unwrap();
        assert_eq!(packaged(&bin.join("cli.js"), "agent").as_deref(), Some("0.61.0"));
    }
}
