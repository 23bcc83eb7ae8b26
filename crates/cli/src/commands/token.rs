//! The command `consort token`: lets a script of the person's run commands as the
//! person.
//!
//! A token is good for the commands it was made for, until it expires. Only its
//! hash is kept. It is read from a file or a file descriptor, never from a
//! variable, which every agent started from that shell would inherit.

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::path::PathBuf;

use clap::Subcommand;
use consort_core::Timestamp;
use consort_core::path_part::PathPart;
use consort_core::text;
use serde::Deserialize;
use serde::Serialize;

use crate::connect;
use crate::error::CommandError;
use crate::error::CommandResult;
use crate::person;
use crate::world::World;

/// The prefix of every token.
const PREFIX: &str = "ct_";

/// Longest token that is read, in bytes: longer than any of ours.
const LONGEST: u64 = 1 << 10;

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Make a token, and print it: `consort token new --for send,reserve > ~/.deploy-token`
    New(NewArgs),
    /// List the tokens that are good
    List(ListArgs),
    /// Take a token back
    Revoke {
        /// Its id, from `consort token list`
        id: String,
    },
}

#[derive(clap::Args)]
pub(crate) struct NewArgs {
    /// The commands it is good for: `send,reserve`
    #[arg(long = "for", value_name = "COMMANDS", value_delimiter = ',', required = true)]
    commands: Vec<String>,
    /// Time until it expires
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u16).range(1..=365))]
    days: u16,
}

#[derive(clap::Args)]
pub(crate) struct ListArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The record of a token, as it is stored.
#[derive(Serialize, Deserialize)]
struct StoredToken {
    id: String,
    commands: Vec<String>,
    expires_at: Timestamp,
    /// The hash of the secret part.
    hash: String,
}

pub(crate) fn run(world: &World, command: &Command) -> CommandResult {
    match command {
        Command::New(args) => new(world, args),
        Command::List(args) => list(world, args),
        Command::Revoke { id } => revoke(world, id),
    }
}

fn new(world: &World, args: &NewArgs) -> CommandResult {
    let known = crate::args::command_names();
    if let Some(unknown) = args.commands.iter().find(|name| !known.contains(name)) {
        let nearest = text::nearest(unknown, known.iter().map(String::as_str));
        let hint = nearest
            .map_or_else(|| "`consort --help` lists them".into(), |near| format!("did you mean `{near}`?"));
        return Err(CommandError::user(format!("there is no command `{unknown}`"), hint));
    }
    let mut app = world.app();
    let commands = args.commands.join(", ");
    person::confirmed_caller(
        &mut app,
        &format!("let anyone who has the token run {commands} as you for {} days", args.days),
    )?;
    let hex = |bytes: [u8; 10]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let host = app.host();
    let (id, secret) = (hex(host.random())[..8].to_owned(), hex(host.random()) + &hex(host.random()));
    let expires_at = host.now().plus(i64::from(args.days) * Timestamp::DAY);
    let token =
        StoredToken { id: id.clone(), commands: args.commands.clone(), expires_at, hash: hash(&secret) };
    connect::private_dir(&world.paths.tokens())?;
    let text = serde_json::to_string(&token).unwrap_or_default();
    connect::write_own(&world.paths.tokens().join(&id), text.as_bytes(), &world.temporary_files())?;
    world.out.line(format!("{PREFIX}{id}_{secret}"))
}

fn list(world: &World, args: &ListArgs) -> CommandResult {
    let now = world.app().host().now();
    let mut tokens: Vec<StoredToken> = fs::read_dir(world.paths.tokens())
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| read(&entry.path()))
        .filter(|token| token.expires_at > now)
        .collect();
    tokens.sort_by_key(|token| token.expires_at);
    if args.json {
        let all: Vec<_> = tokens
            .iter()
            .map(|token| serde_json::json!({ "id": token.id, "commands": token.commands, "expires_at": token.expires_at }))
            .collect();
        return world.out.items(&mut world.app(), &all);
    }
    for token in &tokens {
        world.out.line(format!(
            "{}  {}  until {}",
            token.id,
            token.commands.join(", "),
            token.expires_at.utc()
        ))?;
    }
    if tokens.is_empty() {
        world.out.line("There are no tokens. `consort token new --for send` makes one.")?;
    }
    Ok(())
}

fn revoke(world: &World, id: &str) -> CommandResult {
    let path = world.paths.tokens().join(PathPart::new(id)?.as_str());
    let mut app = world.app();
    let facts = person::acting_caller(&mut app)?;
    app.require_person(&facts)?;
    fs::remove_file(&path).map_err(|error| CommandError::file("cannot remove", &path, error))?;
    world.out.line(format!("Token {id} is no longer good."))
}

/// Checks the token in a file, or behind a file descriptor, for this command. A token that is not good is an
/// error, not a call without one.
pub(crate) fn accept(world: &World, file: Option<&Path>, fd: Option<i32>, command: &str) -> CommandResult {
    let shown = match (file, fd) {
        (Some(file), _) => {
            let cannot_read = |error| CommandError::file("cannot read", file, error);
            if fs::metadata(file).map_err(cannot_read)?.mode() & 0o077 != 0 {
                let hint = format!("chmod 600 {}; then nobody else has read it since", file.display());
                return Err(CommandError::user(format!("others may read {}", file.display()), hint));
            }
            consort_files::read_regular_file(file, LONGEST).map_err(cannot_read)?
        }
        (None, Some(fd)) => read_descriptor(fd)?,
        (None, None) => return Ok(()),
    };
    let shown = String::from_utf8_lossy(&shown);
    let now = world.app().host().now();
    check(&world.paths.tokens(), &shown, command, now).map_err(|why| {
        let hint = "`consort token list` shows which are good, and for what";
        CommandError::user(format!("the token is not good for `{command}`: {why}"), hint)
    })?;
    person::accept_token();
    Ok(())
}

/// Checks that a token is good for a command; the error says why it is not.
pub(super) fn check(kept: &Path, shown: &str, command: &str, now: Timestamp) -> Result<(), String> {
    let token = shown.trim().strip_prefix(PREFIX).and_then(|shown| shown.split_once('_'));
    let (id, secret) = token.ok_or("it is no token of ours")?;
    let known = PathPart::new(id).ok().and_then(|id| read(&kept.join(id.as_str())));
    let known = known.filter(|known| known.hash == hash(secret)).ok_or("nobody made it")?;
    if known.expires_at <= now {
        return Err("it has expired".into());
    }
    if !known.commands.iter().any(|known| known == command) {
        return Err(format!("it is for {}", known.commands.join(", ")));
    }
    Ok(())
}

fn read_descriptor(fd: i32) -> Result<Vec<u8>, CommandError> {
    let path = PathBuf::from(format!("/dev/fd/{fd}"));
    let mut bytes = Vec::new();
    let read = fs::File::open(&path).and_then(|file| file.take(LONGEST).read_to_end(&mut bytes));
    read.map_err(|error| CommandError::file("cannot read", &path, error))?;
    Ok(bytes)
}

fn read(path: &Path) -> Option<StoredToken> {
    serde_json::from_slice(&consort_files::read_regular_file(path, LONGEST).ok()?).ok()
}

fn hash(secret: &str) -> String {
    consort_host::hash(secret.as_bytes())
}
