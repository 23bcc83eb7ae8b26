//! The command `consort config set`: changes a setting for yourself, or for this
//! project.

use consort_core::App;
use consort_core::config;
use consort_core::config::Acceptance;
use consort_core::config::SettingSource;
use consort_core::presence::CallerFacts;

use crate::config::loosens;
use crate::config::project_file;
use crate::config::with_value;
use crate::config::without_value;
use crate::connect::TheirFile;
use crate::connect::private_dir;
use crate::connect::write_own;
use crate::error::CommandError;
use crate::error::CommandResult;
use crate::output;
use crate::person;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The setting: `context.mode`
    key: String,
    /// Its new value; `consort config list` says what each key means
    value: String,
    /// Change it for everyone in this project, in `.consort/config.toml`
    #[arg(long)]
    project: bool,
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let value = config::key(&args.key)?.check(&args.value)?;
    let told = change(world, &args.key, Some(&value), args.project)?;
    world.out.line(told)
}

/// Sets a setting, or takes it out of its file, if the caller may; returns a sentence about what was done.
pub(super) fn change(
    world: &World,
    key: &str,
    value: Option<&str>,
    is_project: bool,
) -> Result<String, CommandError> {
    let mut app = world.app();
    // An agent that the rules keep from writing must not loosen them.
    let what = match value {
        Some(value) => format!("set {key} to {value}"),
        None => format!("unset {key}"),
    };
    let confirmed = match loosens(world, &mut app, key, &value_or_default(key, value)) {
        true => Some(person::confirmed_caller(&mut app, &what)?),
        false => {
            let facts = person::acting_caller(&mut app)?;
            app.require_person(&facts)?;
            None
        }
    };
    write(world, app, (key, value), is_project, confirmed)
}

/// Returns the value of a setting once it is set, or its default once it is unset.
pub(crate) fn value_or_default(key: &str, value: Option<&str>) -> String {
    let default = || config::key(key).map_or("", |key| key.default);
    value.unwrap_or_else(default).to_owned()
}

/// Writes a setting into its file, or takes it out, and accepts the value if the person has confirmed it;
/// returns a sentence about what was done.
pub(crate) fn write(
    world: &World,
    mut app: App,
    (key, value): (&str, Option<&str>),
    is_project: bool,
    confirmed: Option<CallerFacts>,
) -> Result<String, CommandError> {
    if (key, value) == ("claims.shield", Some("rewrite")) {
        output::note(
            "Warning: commands are rewritten where a CLI has no permission rules, which is pi alone. Elsewhere your \
             rules would see the rewritten command instead of yours, so none is.",
        );
    }
    let worktree = world.place().worktree;
    let file = match is_project {
        true => TheirFile::in_repository(&worktree, &project_file(&worktree)),
        false => TheirFile::OfUser(world.paths.user_config()),
    };
    let (path, text) = (file.path(), file.read()?.unwrap_or_default());
    let source =
        if is_project { SettingSource::Project(path.clone()) } else { SettingSource::User(path.clone()) };
    let unusable = |error: String| {
        CommandError::user(
            format!("{} cannot be changed: {}", path.display(), error.trim_end()),
            "fix the file, then try again; nothing was changed",
        )
    };
    let changed = match value {
        Some(value) => Some(with_value(&text, key, value)),
        None => without_value(&text, key).transpose(),
    };
    let Some(changed) = changed.transpose().map_err(unusable)? else {
        return Ok(format!("{key} is not set in {}", path.display()));
    };
    if is_project {
        file.write(changed.as_bytes(), &world.temporary_files())?;
    } else {
        private_dir(&world.paths.config)?;
        write_own(&path, changed.as_bytes(), &world.temporary_files())?;
    }
    if let (Some(facts), Some(value)) = (confirmed, value) {
        app.accept(&facts, &Acceptance::new(&source, key, value).into_iter().collect::<Vec<_>>())?;
    }
    // Opening the store publishes the settings that hooks need; it also tells which source overrides this
    // one.
    let config = world.open()?.config;
    let now = config.get(key);
    let winner = config.settings.iter().find(|setting| setting.key == key);
    let source = winner.map_or_else(String::new, |setting| setting.source.to_string());
    Ok(match value {
        Some(value) if value == now => format!("{key} = {value} in {}", path.display()),
        Some(value) => {
            format!("{key} = {value} in {}, but it stays `{now}` here: {source} overrides it", path.display())
        }
        None => format!("{key} is no longer set in {}: it is `{now}` now, by {source}", path.display()),
    })
}
