//! Gathers everything that can be seen of agents from outside: the data that their CLIs publish about
//! sessions, and the places of their windows.

use std::collections::BTreeMap;
use std::path::Path;
use std::path::PathBuf;

use consort_core::presence::Agent;
use consort_core::presence::Observed;
use consort_host::env;

pub(crate) fn look(home: &Path, agents: &[Agent]) -> Vec<Observed> {
    let parts = consort_host::screen_parts(agents);
    // If a CLI has no directory here, none of its sessions has published anything.
    let mut dirs: BTreeMap<&str, Option<PathBuf>> = BTreeMap::new();
    agents
        .iter()
        .zip(parts)
        .map(|(agent, quadrant)| {
            let cli = consort_agents::find(&agent.kind);
            let live = cli.and_then(|cli| {
                let find = || Some(cli.config_dir(home, &env::get)).filter(|dir| dir.is_dir());
                cli.cli_status(dirs.entry(&agent.kind).or_insert_with(find).as_deref()?, agent)
            });
            Observed { live, quadrant }
        })
        .collect()
}
