//! The command `consort roles set`: changes a value of a role, in the user's file.

use consort_agents::run_files::with_role_value;
use consort_core::dispatch::RoleError;
use consort_core::dispatch::RoleKey;
use consort_core::dispatch::RoleLayer;
use consort_core::dispatch::RoleSource;
use consort_core::dispatch::RoleValue;
use consort_core::dispatch::RoleValues;
use consort_core::dispatch::check_role_name;
use consort_core::dispatch::find_role;
use consort_core::dispatch::is_looser;
use consort_core::dispatch::role_key;
use consort_core::text;

use crate::connect::TheirFile;
use crate::connect::private_dir;
use crate::connect::write_own;
use crate::error::CommandError;
use crate::error::CommandResult;
use crate::output;
use crate::person;
use crate::roles;
use crate::roles::BadFile;
use crate::world::OpenWorld;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Its name in `consort roles list`
    role: String,
    /// The key: `model`, `cli`, `safety`, `max_turns`, …
    key: String,
    /// The new value; a list has commas between its words
    value: String,
    /// Make a role that is not there yet
    #[arg(long)]
    new: bool,
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let key = role_key(&args.key)?;
    let value = key.typed(&args.value)?;
    check_role_name(&args.role)?;
    let mut opened = world.open()?;
    let worktree = opened.place.worktree.clone();
    let (layers, bad) = roles::layers(&world.paths, &worktree)?;
    let path = world.paths.user_roles();
    require_person(&mut opened, &args.role, key, &value, &layers)?;
    if let Some(bad) = bad.iter().find(|bad| bad.path == path) {
        return Err(unchanged(bad));
    }
    let all = roles::resolved(layers, roles::default_safety(&opened.config));
    if let (Err(error @ RoleError::UnknownRole { .. }), false) = (find_role(&all, &args.role), args.new) {
        let CommandError::Explained { error, kind, mut hints } = error.into() else {
            return Err(CommandError::Told);
        };
        hints.push("`--new` makes a role that is not there yet".into());
        return Err(CommandError::Explained { error, kind, hints });
    }
    let text = TheirFile::OfUser(path.clone()).read()?.unwrap_or_default();
    let changed = with_role_value(&text, &args.role, key, &value)
        .map_err(|problems| unchanged(&BadFile { path: path.clone(), problems }))?;
    private_dir(&world.paths.config)?;
    write_own(&path, changed.as_bytes(), &world.temporary_files())?;
    let (layers, bad) = roles::layers(&world.paths, &worktree)?;
    for file in &bad {
        output::note(format_args!("Warning: {}", file.error().in_a_line()));
    }
    let is_overridden = value_in(&layers, &args.role, key, |source| matches!(source, RoleSource::Project(_)));
    if is_overridden.is_some() {
        output::note(format_args!("Warning: this project's file says `{}` of it too", key.name));
    }
    let shown = text::one_line(&value.to_string(), 80);
    world.out.line(format!("{}.{} = {shown} in {}", args.role, key.name, path.display()))
}

fn unchanged(bad: &BadFile) -> CommandError {
    CommandError::user(bad.error().in_a_line(), "fix the file, then try again; nothing was changed")
}

/// Refuses callers other than the person; a value that lets runs do more takes the typed word.
fn require_person(
    opened: &mut OpenWorld,
    role: &str,
    key: &'static RoleKey,
    value: &RoleValue,
    layers: &[RoleLayer],
) -> CommandResult {
    let before = value_in(layers, role, key, |source| !matches!(source, RoleSource::Project(_)));
    let default = roles::default_safety(&opened.config);
    let app = &mut opened.app;
    if is_looser(key, before, value, default) {
        let shown = text::one_line(&value.to_string(), 80);
        person::confirmed_caller(app, &format!("set {} of the role {role} to {shown}", key.name))?;
    } else {
        let facts = person::acting_caller(app)?;
        app.require_person(&facts)?;
    }
    Ok(())
}

/// Finds the value of a role's key in the nearest of the files that `is_meant` accepts.
fn value_in<'a>(
    layers: &'a [RoleLayer],
    role: &str,
    key: &RoleKey,
    is_meant: impl Fn(&RoleSource) -> bool,
) -> Option<&'a RoleValue> {
    let layers = layers.iter().rev().filter(|layer| is_meant(&layer.source));
    let mut entries = layers.flat_map(|layer| &layer.roles).filter(|entry| entry.name == role);
    let of = |entry: &'a RoleValues| entry.values.iter().find(|(one, _)| *one == key).map(|(_, value)| value);
    entries.find_map(of)
}
