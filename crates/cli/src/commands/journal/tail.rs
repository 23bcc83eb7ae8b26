//! The command `consort journal tail`: prints the latest entries, and follows them as
//! they come.

use std::collections::HashMap;

use consort_core::App;
use consort_core::host::NewsTopic;
use consort_core::journal::Entry;
use consort_core::journal::Seq;
use consort_core::journal::TailRequest;
use consort_core::presence::SessionId;
use consort_host::notify;
use consort_host::notify::Listener;

use super::sentence::sentence;
use crate::error::CommandError;
use crate::error::CommandResult;
use crate::time;
use crate::world::OpenWorld;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Go on printing entries as they are recorded
    #[arg(short, long)]
    follow: bool,
    /// Most entries to print, the latest (not with --since)
    #[arg(short = 'n', long, default_value_t = 20, conflicts_with = "since")]
    lines: usize,
    /// Only entries since then: `2h`, `30m`, `2026-11-01`, `2026-11-01T12:00`
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// Only this project's entries: its name or id; without a value, the project here
    #[arg(long, value_name = "PROJECT", num_args = 0..=1, default_missing_value = ".")]
    project: Option<String>,
    /// Print JSON, one entry a line
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let mut opened = world.open()?;
    let project = match args.project.as_deref() {
        None => None,
        Some(".") => Some(opened.project.id.clone()),
        Some(named) => Some(opened.app.find_project(named)?.id),
    };
    let now = opened.app.host().now();
    let since = args.since.as_deref().map(|text| time::parse_since(text, now)).transpose()?;
    let limit = if since.is_some() { usize::MAX } else { args.lines };
    let mut request = TailRequest { after: None, since, project, limit };

    let json = match (args.json, args.follow) {
        (false, _) => Json::No,
        (true, false) => Json::List,
        (true, true) => Json::Stream,
    };
    // `-n 0` prints only the entries that come from now on.
    let begin = if args.lines == 0 { Some(opened.app.journal_last_seq()?) } else { None };
    let cannot_wait = |error| CommandError::file("cannot wait in", &world.paths.listeners(), error);
    // Opened before the first look, so that no entry falls between the two.
    let listener = args.follow.then(|| {
        let topic = request.project.clone().map(NewsTopic::Project);
        Listener::open(&world.paths.listeners(), topic.as_ref())
    });
    let listener = listener.transpose().map_err(cannot_wait)?;
    let mut last = match begin {
        Some(seq) => seq,
        None => print(world, &mut opened, json, &request)?.unwrap_or(0),
    };
    let Some(mut listener) = listener else { return Ok(()) };
    request.limit = usize::MAX;
    loop {
        request.after = Some(last);
        last = print(world, &mut opened, json, &request)?.unwrap_or(last);
        listener.wait(None, notify::POLL_INTERVAL).map_err(cannot_wait)?;
        if opened.app.close_if_replaced() {
            // A store put in the old one's place counts from the beginning.
            last = 0;
        }
    }
}

/// The form in which entries are printed.
#[derive(Clone, Copy)]
enum Json {
    No,
    List,
    Stream,
}

fn print(
    world: &World,
    opened: &mut OpenWorld,
    json: Json,
    request: &TailRequest,
) -> Result<Option<Seq>, CommandError> {
    let entries = opened.app.journal_tail(request)?;
    let mut names = HashMap::new();
    match json {
        // One list; with `--follow` a stream, an object for each entry.
        Json::List => world.out.items(&mut opened.app, &entries)?,
        Json::Stream => {
            let mut print = |entry| world.out.one(&mut opened.app, "entry", entry);
            entries.iter().try_for_each(&mut print)?;
        }
        Json::No => {
            for entry in &entries {
                let line = describe(&mut opened.app, entry, &mut names)?;
                world.out.line(line)?;
            }
        }
    }
    Ok(entries.last().map(|entry| entry.seq))
}

fn describe(
    app: &mut App,
    entry: &Entry,
    names: &mut HashMap<SessionId, String>,
) -> Result<String, CommandError> {
    let what = sentence(app, entry, names)?;
    Ok(format!("{:>6}  {}  {what}", entry.seq, time::local(entry.at)))
}
