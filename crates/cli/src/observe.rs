//! Gathers what can be seen of agents from outside: what their CLIs publish about
//! sessions, and where their windows are.

use std::path::Path;

use consort_core::presence::Agent;
use consort_core::presence::Observed;
use consort_host::env;

pub(crate) fn look(home: &Path, agents: &[Agent]) -> Vec<Observed> {
    let quadrants = consort_host::quadrants(agents);
    agents
        .iter()
        .zip(quadrants)
        .map(|(agent, quadrant)| {
            let cli = consort_agents::find(&agent.kind);
            let live = cli.and_then(|cli| cli.live_state(&cli.config_dir(home, &env::get), agent));
            Observed { live, quadrant }
        })
        .collect()
}
