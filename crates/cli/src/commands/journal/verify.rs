//! The command `consort journal verify`: replays the journal beside the tables, and
//! compares.

use consort_core::explain::ErrorKind;
use consort_core::text;

use crate::error::CommandError;
use crate::exit;
use crate::exit::ExitCode;
use crate::output;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(world: &World, args: &Args) -> Result<ExitCode, CommandError> {
    let mut app = world.app();
    let found = app.journal_verify()?;
    let sound = found.is_sound();
    if args.json {
        world.out.one(&mut app, "journal", &found)?;
    } else if sound && found.is_published {
        world.out.line(format!(
            "Sound: {}, last {}.",
            text::counted_noun(found.entries, "entry"),
            found.last_seq
        ))?;
    }
    if !found.unknown.is_empty() {
        let seqs = &found.unknown;
        output::note(format_args!("Warning: a newer consort wrote entries {seqs:?}; they were passed over"));
    }
    if !found.is_published && !args.json {
        world.out.line("what hooks read beside the store is older than it")?;
        output::note("Hint: `consort status` writes it again; until then hooks ask the store itself");
    }
    if !sound && !args.json {
        for seq in &found.missing {
            world.out.line(format!("entry {seq} is missing"))?;
        }
        for line in found.differences.iter().chain(&found.integrity) {
            world.out.line(text::one_line(line, 300))?;
        }
        for seq in &found.unreadable {
            world.out.line(format!("entry {seq} cannot be read"))?;
        }
        // Rebuilding from a journal with holes would lose what the tables still know.
        if found.missing.is_empty() && found.unreadable.is_empty() && found.integrity.is_empty() {
            output::note("Hint: `consort journal rebuild` makes the tables say what the journal says");
        } else {
            output::note(
                "Hint: keep a copy of the store before anything else; `consort doctor` says where it is",
            );
        }
    }
    Ok(ExitCode::from(match (sound, found.is_published) {
        (true, true) => 0,
        (true, false) => exit::FOUND_SOMETHING,
        (false, _) => exit::code(ErrorKind::Damaged),
    }))
}
