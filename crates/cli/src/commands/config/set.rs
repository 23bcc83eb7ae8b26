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
    // Who is kept from writing by them does not loosen the rules.
    let mut app = world.app();
    let confirmed = match loosens(world, &mut app, &args.key, &value) {
        true => Some(person::confirmed(&mut app, &format!("set {} to {value}", args.key))?),
        false => {
            let facts = person::acting(&mut app)?;
            app.require_person(&facts)?;
            None
        }
    };
    let told = set(world, app, (&args.key, &value), args.project, confirmed)?;
    world.out.line(told)
}

/// Writes a setting into its file, and accepts it where the person has confirmed that; what was
/// done, in words.
pub(crate) fn set(
    world: &World,
    mut app: App,
    (key, value): (&str, &str),
    is_project: bool,
    confirmed: Option<CallerFacts>,
) -> Result<String, CommandError> {
    if (key, value) == ("claims.shield", "rewrite") {
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
    let confirmed = confirmed.map(|facts| (facts, source));
    let changed = with_value(&text, key, value).map_err(|error| {
        CommandError::user(
            format!("{} cannot be changed: {}", path.display(), error.trim_end()),
            "fix the file, then try again; nothing was changed",
        )
    })?;
    if is_project {
        file.write(changed.as_bytes(), &world.pending())?;
    } else {
        private_dir(&world.paths.config)?;
        write_own(&path, changed.as_bytes(), &world.pending())?;
    }
    if let Some((facts, source)) = confirmed {
        app.accept(&facts, &Acceptance::new(&source, key, value).into_iter().collect::<Vec<_>>())?;
    }
    // Opening publishes what hooks need; it also says who overrides this.
    let config = world.open()?.config;
    let now = config.get(key);
    let told = format!("{key} = {value} in {}", path.display());
    if now == value {
        return Ok(told);
    }
    let winner = config.settings.iter().find(|setting| setting.key == key);
    let source = winner.map_or_else(String::new, |setting| setting.source.to_string());
    Ok(format!("{told}, but it stays `{now}` here: {source} overrides it"))
}
