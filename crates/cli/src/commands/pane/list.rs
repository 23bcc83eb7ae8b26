//! The command `consort pane list`: lists the panes that agents run in.

use consort_core::App;
use consort_core::Timestamp;
use consort_core::monitor::PaneSubject;
use consort_core::text;
use consort_host::Tmux;
use serde_json::Value;
use serde_json::json;

use crate::error::CommandError;
use crate::error::CommandResult;
use crate::panes;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let mut opened = world.open()?;
    let tmux = Tmux::new(&world.paths.data);
    let panes = opened.app.panes()?;
    let mut items = Vec::new();
    for pane in &panes {
        items.push(item(world, &opened.app, &tmux, pane)?);
    }
    if args.json {
        return world.out.items(&mut opened.app, &items);
    }
    if items.is_empty() {
        return world.out.line("No agent runs in a pane that can be seen. Open one: consort open claude");
    }
    items.iter().try_for_each(|item| world.out.line(line(item)))
}

/// Formats a pane as JSON.
pub(crate) fn item(world: &World, app: &App, tmux: &Tmux, pane: &PaneSubject) -> Result<Value, CommandError> {
    let look = panes::look(world, app, tmux, pane)?;
    let state = panes::state_of(look.as_ref(), pane);
    let opened = pane.record.as_ref().and_then(|record| record.opened.as_ref());
    let reading = look.as_ref().map(|look| &look.reading);
    let options: Vec<&str> =
        reading.iter().flat_map(|reading| &reading.options).map(|option| option.label.as_str()).collect();
    let reset = super::explain::reset_at(world, pane, reading);
    Ok(panes::with_agent(
        pane,
        json!({
            "number": pane.number(),
            "pane": pane.address.id,
            "server": pane.address.server,
            "state": state.as_str(),
            "rule": reading.map(|reading| &reading.rule),
            "question": reading.and_then(|reading| reading.question.as_deref()).map(consort_core::secrets::redacted),
            "options": options,
            "reset_at": reset.map(Timestamp::rfc3339),
            "title": look.as_ref().map(|look| look.facts.title.as_str()),
            "cwd": opened.map(|opened| &opened.cwd).or(pane.agent.as_ref().map(|agent| &agent.location.cwd)),
            "opened_by": opened.map(|opened| opened.by.to_string()),
            "opened_at": pane.record.as_ref().and_then(|record| record.opened_at).map(Timestamp::rfc3339),
        }),
    ))
}

fn line(item: &Value) -> String {
    let text = |key: &str| text::one_line(item[key].as_str().unwrap_or_default(), 120);
    let number = item["number"].as_i64().map_or_else(String::new, |number| format!("{number}"));
    let question = match text("question") {
        question if question.is_empty() => String::new(),
        question => format!("  {question}"),
    };
    let (name, cli, state, pane) = (text("name"), text("cli"), text("state"), text("pane"));
    format!("{number:>3}  {name:<16} {cli:<9} {state:<11} {pane:<5}{question}").trim_end().to_owned()
}
