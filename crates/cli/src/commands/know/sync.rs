//! The command `consort know sync`: exchanges this project's knowledge with a server elsewhere, and goes on
//! as either side changes.

use std::path::PathBuf;
use std::sync::Arc;

use consort_core::project::Project;
use consort_web::Remote;
use consort_web::SyncClient;
use consort_web::SyncConnectionChange;
use consort_web::SyncError;
use serde_json::json;
use tokio::signal::unix::SignalKind;
use tokio::signal::unix::signal;
use tokio_util::sync::CancellationToken;

use crate::error::CommandError;
use crate::error::CommandResult;
use crate::knowledge::envelope;
use crate::output;
use crate::person;
use crate::served_calls::ServedCalls;
use crate::world::OpenWorld;
use crate::world::World;

/// The port that `consort serve` listens on unless told otherwise.
const USUAL_PORT: u16 = 4917;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// A server: `http://host:4917`, or `http://host:4917/sync/<project>` where it calls the project otherwise
    url: String,
    /// The file that holds that server's token; without it, the one of this machine's own server
    #[arg(long, value_name = "FILE")]
    server_token: Option<PathBuf>,
    /// Exchange what there is, and end
    #[arg(long)]
    once: bool,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

pub(super) fn run(world: &World, args: &Args) -> CommandResult {
    let mut opened = world.open()?;
    // All knowledge leaves the machine, so this is for the person.
    person::refuse_agents(&mut opened.app)?;
    person::refuse_anonymous(&mut opened.app)?;
    let remote = remote(world, &opened, args)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| failed(&format!("it cannot be begun: {error}")))?;
    world.save_in_background();
    let synced = runtime.block_on(sync(world, &mut opened, args, &remote));
    world.saved.finish();
    // A thread may wait on its listener for a while longer, which nobody needs.
    runtime.shutdown_background();
    synced
}

async fn sync(world: &World, opened: &mut OpenWorld, args: &Args, remote: &Remote) -> CommandResult {
    let end = CancellationToken::new();
    let cannot_hear = |error: std::io::Error| failed(&format!("signals cannot be heard: {error}"));
    let (mut interrupt, mut terminate) = (
        signal(SignalKind::interrupt()).map_err(cannot_hear)?,
        signal(SignalKind::terminate()).map_err(cannot_hear)?,
    );
    let client = SyncClient::new(world.open_app(), Arc::new(ServedCalls::new(world)), end.clone());
    let say = |news: SyncConnectionChange| match news {
        SyncConnectionChange::Connected => output::note(format_args!("Connected with {}.", remote.address)),
        SyncConnectionChange::Lost(why, pause) => output::note(format_args!(
            "{}: {why}; trying again in {:.0} s.",
            remote.address,
            pause.as_secs_f64().ceil()
        )),
    };
    let ran = tokio::select! {
        ran = client.run(&opened.project.id, remote, args.once, say) => ran,
        _ = interrupt.recv() => Ok(()),
        _ = terminate.recv() => Ok(()),
    };
    end.cancel();
    match ran {
        Ok(()) if args.json => {
            let synced = json!({ "server": remote.address, "project": opened.project.id });
            envelope::one(world, opened.app.host().now(), "synced", &synced)
        }
        Ok(()) => world.out.line(format!("In step with {}.", remote.address)),
        Err(SyncError::Refused(status, said)) => Err(refused(remote, status, &said)),
        Err(SyncError::Broken(why)) => {
            Err(failed(&format!("{} cannot be reached, or broke off: {why}", remote.address)))
        }
    }
}

fn refused(remote: &Remote, status: u16, said: &str) -> CommandError {
    let hint = match status {
        401 | 403 => {
            "on that machine `consort token new --for serve` prints a token; `--server-token` names a file that holds it"
        }
        404 => "name the project as that server does: `http://host:port/sync/<project>`",
        _ => "both sides should run the same version of consort",
    };
    let said = consort_core::text::one_line(said, 200);
    CommandError::user(format!("{} refuses: {status} {said}", remote.address), hint)
}

fn failed(what: &str) -> CommandError {
    CommandError::user(what, "check that `consort serve` runs there, and the address and port")
}

/// Reads the server's address, path and token from the URL and the token's file.
fn remote(world: &World, opened: &OpenWorld, args: &Args) -> Result<Remote, CommandError> {
    let wrong =
        |why: &str| CommandError::user(format!("`{}` {why}", args.url), "write it as `http://host:4917`");
    let (scheme, rest) = args.url.split_once("://").unwrap_or(("http", &args.url));
    match scheme {
        "http" | "ws" => {}
        "https" | "wss" => {
            return Err(CommandError::user(
                "nothing is encrypted here".to_owned(),
                "have SSH do it: `ssh -L 4918:localhost:4917 <host>`, then `http://localhost:4918`",
            ));
        }
        _ => return Err(wrong("is no address of a server")),
    }
    let (address, path) = rest.split_once('/').unwrap_or((rest, ""));
    if address.is_empty() || path.contains(['?', '#', ' ']) {
        return Err(wrong("is no address of a server"));
    }
    let has_port = address.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    let address = if has_port { address.to_owned() } else { format!("{address}:{USUAL_PORT}") };
    // A clone may have another name there, and another project may have this name, so the id is sent; only an
    // id made of a path means nothing elsewhere.
    let Project { id, name } = &opened.project;
    let project = if id.as_str().starts_with("path:") { name.as_str() } else { id.as_str() };
    let path = match path.trim_end_matches('/') {
        "" | "sync" => format!("/sync/{}", escaped(project)),
        path => format!("/{path}"),
    };
    let file = args.server_token.clone().unwrap_or_else(|| world.paths.token());
    let token =
        std::fs::read_to_string(&file).map_err(|error| CommandError::file("cannot read", &file, error))?;
    Ok(Remote { address, path, token: token.trim().to_owned() })
}

/// Escapes a name as part of a URL's path.
fn escaped(name: &str) -> String {
    let escape = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    };
    name.bytes().map(escape).collect()
}
