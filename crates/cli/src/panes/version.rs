//! Which version of a CLI is installed: asked once for each file, because a CLI takes half a
//! second to say so.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::time::Duration;

use consort_agents::AgentCli;
use consort_core::App;

use crate::connect;

/// How long a CLI may take to say its version.
const PATIENCE: Duration = Duration::from_secs(5);

/// What the installed CLI says of its version; nothing if it is not found or does not say.
pub(crate) fn said(app: &App, cli: &dyn AgentCli) -> Option<String> {
    let program = connect::find_program(cli.program())?;
    let found = fs::metadata(&program).ok()?;
    let file = format!("{} {} {} {}", program.display(), found.ino(), found.len(), found.mtime());
    if let Some(known) = app.cli_version(cli.kind(), &file) {
        return Some(known);
    }
    let said = consort_host::ask_version(&program, PATIENCE)?.trim().to_owned();
    app.note_cli_version(cli.kind(), &file, &said);
    Some(said)
}
