//! The command `consort serve`: serves MCP clients and programs over HTTP, on this
//! machine.

use std::fs;
use std::net::IpAddr;
use std::net::Ipv4Addr;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;

use consort_core::host::Clock as _;
use consort_host::Machine;
use consort_mcp::Server;
use consort_web::HttpServer;
use consort_web::Token;
use consort_web::Tokens;
use tokio::net::TcpListener;
use tokio::signal::unix::SignalKind;
use tokio::signal::unix::signal;
use tokio_util::sync::CancellationToken;

use crate::connect;
use crate::error::CommandError;
use crate::error::CommandResult;
use crate::knowledge;
use crate::output;
use crate::panes;
use crate::person;
use crate::served_calls::ServedCalls;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Which port to listen on; 0 is any that is free
    #[arg(long, default_value_t = 4917)]
    port: u16,
    /// Which of this machine's addresses to listen on
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    bind: IpAddr,
    /// A name by which clients may call this machine, besides localhost
    #[arg(long, value_name = "NAME")]
    host: Vec<String>,
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    person::refuse_agents(&mut world.app())?;
    let kept = world.paths.tokens();
    let data = world.paths.data.clone();
    let tokens = Tokens {
        all: token(world, &world.paths.token())?,
        read: token(world, &world.paths.token_read())?,
        person: Box::new(move |shown| {
            super::token::check(&kept, shown, "serve", Machine::new(&data).now()).is_ok()
        }),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| failed("it cannot be begun", &error))?;
    world.save_in_background();
    knowledge::watch::in_background(world);
    let watching = panes::background::watch(world);
    let served = runtime.block_on(serve(world, args, tokens));
    drop(watching);
    world.saved.finish();
    // A thread may wait on its listener for a while longer, which nobody needs.
    runtime.shutdown_background();
    served
}

async fn serve(world: &World, args: &Args, tokens: Tokens) -> CommandResult {
    let wanted = SocketAddr::new(args.bind, args.port);
    let listener = TcpListener::bind(wanted).await.map_err(|error| {
        CommandError::user(
            format!("{wanted} cannot be listened on: {error}"),
            "`--port 0` takes any port that is free",
        )
    })?;
    let address = listener.local_addr().map_err(|error| failed("its address cannot be told", &error))?;
    let end = CancellationToken::new();
    end_with_signals(end.clone()).map_err(|error| failed("signals cannot be heard", &error))?;

    let calls = Arc::new(ServedCalls::new(world));
    let mcp = Server::new(world.open_app(), Arc::clone(&calls) as _);
    let hosts = args.host.iter().cloned().chain([address.ip().to_string()]);
    let site = HttpServer::new(world.open_app(), calls, tokens, end.clone())
        .with_host_names(hosts)
        .with_service("/mcp", consort_mcp::service(mcp, end));

    greet(world, address)?;
    site.serve(listener).await.map_err(|error| failed("it has ended", &error))
}

fn greet(world: &World, address: SocketAddr) -> CommandResult {
    world.out.text(format!(
        "Serving http://{address}: MCP at /mcp, JSON at /api, the journal at /api/events, knowledge at /sync\n\
         The token is in {}\n\
         The one that may only read is in {}\n",
        world.paths.token().display(),
        world.paths.token_read().display()
    ))?;
    if !address.ip().is_loopback() {
        output::note("Others on the network can reach this, and nothing is encrypted on the way.");
    }
    Ok(())
}

fn end_with_signals(end: CancellationToken) -> std::io::Result<()> {
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    tokio::spawn(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        end.cancel();
    });
    Ok(())
}

/// Reads a token of this person, made when it is first needed. It stays the same, so that clients that were
/// configured with it go on working.
fn token(world: &World, path: &Path) -> Result<Token, CommandError> {
    connect::private_dir(&world.paths.data)?;
    if !path.exists() {
        make_token(world, path).map_err(|error| CommandError::file("cannot make", path, error))?;
    }
    read_token(path)
}

/// Makes a token; of two processes that make one at once the first counts.
fn make_token(world: &World, path: &Path) -> std::io::Result<()> {
    let machine = Machine::new(&world.paths.data);
    let random = [machine.random(), machine.random()].concat();
    let secret: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    consort_files::create_whole(path, format!("{secret}\n").as_bytes()).map(drop)
}

fn read_token(path: &Path) -> Result<Token, CommandError> {
    let cannot_read = |error| CommandError::file("cannot read", path, error);
    let mode = fs::metadata(path).map_err(cannot_read)?.permissions().mode();
    if mode & 0o077 != 0 {
        return Err(CommandError::user(
            format!("{} can be read by others", path.display()),
            format!("`rm {}`: the next one is kept from them", path.display()),
        ));
    }
    Token::new(&fs::read_to_string(path).map_err(cannot_read)?).ok_or_else(|| {
        CommandError::user(
            format!("{} holds no token", path.display()),
            format!("`rm {}`: a new one is made", path.display()),
        )
    })
}

fn failed(what: &str, error: &std::io::Error) -> CommandError {
    CommandError::user(format!("{what}: {error}"), "`consort doctor` may know more")
}
