//! One file per event.

pub(crate) mod compacting;
pub(crate) mod prompt;
pub(crate) mod session_end;
pub(crate) mod session_start;
pub(crate) mod subagent;
pub(crate) mod tool_after;
pub(crate) mod tool_before;
pub(crate) mod turn_end;
pub(crate) mod waiting;

use consort_core::App;
use consort_core::engine::Engine;
use consort_core::hooks::HookCall;
use consort_core::host::Host;
use consort_core::presence::PresenceError;
use consort_core::presence::Pulse;
use consort_core::presence::PulseOutcome;

use crate::Surroundings;
use crate::join_request;

/// Notes a pulse. A session met for the first time (the hooks were installed
/// while it ran) joins first.
fn pulse<E: Engine, H: Host>(
    app: &mut App<E, H>,
    call: &HookCall,
    around: &dyn Surroundings,
    pulse: &Pulse,
) -> Result<(), PresenceError> {
    if app.pulse(&call.session, pulse)? == PulseOutcome::Stranger {
        let request = join_request(app.host(), call, around)?;
        let (_, outcome) = app.arrive(&request, &|name| around.variable(name))?;
        if outcome.is_some() {
            app.pulse(&call.session, pulse)?;
        }
    }
    Ok(())
}
