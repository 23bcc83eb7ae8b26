//! The command `consort waiting`: lists the agents that wait for you, and what can be done.

use std::time::Duration;

use consort_core::App;
use consort_core::monitor::PaneViewer as _;
use consort_core::text;
use consort_host::Tmux;
use serde_json::Value;

use crate::error::CommandError;
use crate::error::CommandResult;
use crate::panes::waiting;
use crate::world::World;

/// How often is looked for more.
const TICK: Duration = Duration::from_secs(1);

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Go on, and print the list again whenever it has changed
    #[arg(long)]
    follow: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let mut opened = world.open()?;
    let mut last = None;
    loop {
        let items = items(world, &mut opened.app)?;
        if last.as_ref() != Some(&items) {
            show(world, &mut opened.app, &items, args.json)?;
        }
        if !args.follow {
            return Ok(());
        }
        last = Some(items);
        Tmux::new(&world.paths.data).pause(TICK);
        opened.app.close_if_replaced();
    }
}

fn items(world: &World, app: &mut App) -> Result<Vec<Value>, CommandError> {
    Ok(waiting::all(world, app)?.iter().map(|one| one.item(app)).collect())
}

fn show(world: &World, app: &mut App, items: &[Value], is_json: bool) -> CommandResult {
    if is_json {
        return world.out.items(app, &items);
    }
    if items.is_empty() {
        return world.out.line("No agent waits for you.");
    }
    items.iter().try_for_each(|item| world.out.text(paragraph(item)))
}

/// `3  Falcon (claude) permission: Do you want to proceed?`, and below it what can be done.
fn paragraph(item: &Value) -> String {
    let text = |value: &Value, most| text::one_line(value.as_str().unwrap_or_default(), most);
    let agent = &item["agent"];
    let (name, cli) = (text(&agent["name"], 40), text(&agent["cli"], 20));
    let number = item["number"].as_i64().map_or_else(String::new, |number| number.to_string());
    let about = match text(&item["about"], 300) {
        about if about.is_empty() => String::new(),
        about => format!(": {about}"),
    };
    let mut shown = format!("{number:>3}  {name} ({cli}) {}{about}\n", text(&item["why"], 20));
    if let Some(reset) = item["reset_at"].as_str() {
        shown.push_str(&format!("     it goes on after {reset}\n"));
    }
    let options: Vec<String> =
        item["options"].as_array().into_iter().flatten().map(|option| text(option, 120)).collect();
    if !options.is_empty() {
        shown.push_str(&format!("     {}\n", options.join(" · ")));
    }
    let way = match text(&item["why"], 20).as_str() {
        "permission" | "plan" | "dialog" => format!("consort pane attach {name}"),
        _ => format!("consort answer {name} '…'"),
    };
    shown.push_str(&format!("     {way}\n"));
    shown
}
