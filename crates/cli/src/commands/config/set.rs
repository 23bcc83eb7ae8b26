//! The command `consort config set`: changes a setting for yourself, or for this
//! project.

use consort_core::App;
use consort_core::config;
use consort_core::config::Acceptance;
use consort_core::config::SettingSource;

use crate::config::load;
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

/// Whether it protects less than what counts now or by default. Where that cannot be told,
/// it may.
fn loosens(world: &World, app: &mut App, key: &str, value: &str) -> bool {
    let acceptances = app.acceptances().unwrap_or_default();
    let loaded = load(&world.paths, &world.place().worktree, &[], &acceptances);
    config::is_protected(key)
        && loaded.map_or(true, |loaded| loaded.is_partial || loaded.resolved.is_loosened_by(key, value))
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
    if (args.key.as_str(), value.as_str()) == ("claims.shield", "rewrite") {
        output::note(
            "Warning: commands are rewritten where a CLI has no permission rules, which is pi alone. Elsewhere your \
             rules would see the rewritten command instead of yours, so none is.",
        );
    }
    let worktree = world.place().worktree;
    let file = match args.project {
        true => TheirFile::in_repository(&worktree, &project_file(&worktree)),
        false => TheirFile::OfUser(world.paths.user_config()),
    };
    let (path, text) = (file.path(), file.read()?.unwrap_or_default());
    let source =
        if args.project { SettingSource::Project(path.clone()) } else { SettingSource::User(path.clone()) };
    let confirmed = confirmed.map(|facts| (facts, source));
    let changed = with_value(&text, &args.key, &value).map_err(|error| {
        CommandError::user(
            format!("{} cannot be changed: {}", path.display(), error.trim_end()),
            "fix the file, then try again; nothing was changed",
        )
    })?;
    if args.project {
        file.write(changed.as_bytes(), &world.pending())?;
    } else {
        private_dir(&world.paths.config)?;
        write_own(&path, changed.as_bytes(), &world.pending())?;
    }
    if let Some((facts, source)) = confirmed {
        app.accept(&facts, &Acceptance::new(&source, &args.key, &value).into_iter().collect::<Vec<_>>())?;
    }
    // Opening publishes what hooks need; it also says who overrides this.
    let config = world.open()?.config;
    let now = config.get(&args.key);
    if now != value {
        let winner = config.settings.iter().find(|setting| setting.key == args.key);
        let source = winner.map_or_else(String::new, |setting| setting.source.to_string());
        output::note(format_args!("Warning: `{}` stays `{now}`: {source} overrides it", args.key));
    }
    world.out.line(format!("{} = {value} in {}", args.key, path.display()))
}
