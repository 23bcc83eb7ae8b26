//! The command `consort reply`: answers a message, in its thread.

use consort_core::messages::MessageName;
use consort_core::messages::MessageType;

use super::send;
use crate::error::CommandError;
use crate::exit::ExitCode;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The message: `41`, or `web#41` for one of another project
    #[arg(value_name = "N")]
    number: MessageName,
    /// Your answer, or `-` to read it from standard input
    #[arg(required = true)]
    text: Vec<String>,
    /// The kind of message
    #[arg(short = 't', long = "type", value_name = "TYPE", default_value = "info", value_parser = send::message_type())]
    kind: MessageType,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(world: &World, args: &Args) -> Result<ExitCode, CommandError> {
    send::run(world, &send::Args::reply(args.number.clone(), args.text.join(" "), args.kind, args.json))
}
