//! The command `consort waiting`: lists everything that waits for you, and what can be done about it.

use std::io::BufRead as _;
use std::io::IsTerminal as _;
use std::sync::mpsc;
use std::time::Duration;

use consort_core::App;
use consort_core::Timestamp;
use consort_core::explain::Explain as _;
use consort_core::presence::Caller;
use consort_core::text;
use serde_json::Value;

use crate::commands::answer;
use crate::error::CommandError;
use crate::error::CommandResult;
use crate::notify;
use crate::output;
use crate::panes::inbox;
use crate::time;
use crate::world::OpenWorld;
use crate::world::World;
use crate::world::caller_facts;

/// Interval between two looks for changes.
const TICK: Duration = Duration::from_secs(1);

/// Most lines of a question that are printed; the JSON has all of them.
const MOST_LINES: usize = 40;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Go on, and print the list again whenever it has changed; on a terminal, take answers: `3 allow`
    #[arg(long)]
    follow: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let mut opened = world.open()?;
    let items = items(world, &mut opened.app)?;
    show(world, &mut opened.app, &items, args.json)?;
    let caller = caller_facts(&opened.app);
    if let Caller::Anonymous(why) = opened.app.caller(&caller)? {
        output::note(format_args!("The person's mail is left out: {why}"));
        why.hints().iter().for_each(|hint| output::note(format_args!("Hint: {hint}")));
    }
    if args.follow { follow(world, &mut opened, items, args.json) } else { Ok(()) }
}

/// Prints the list whenever it has changed, and takes typed lines as answers. On a terminal it also notes
/// that the person looks, so that agents whose own dialog would be hidden may ask here.
fn follow(world: &World, opened: &mut OpenWorld, mut last: Vec<Value>, is_json: bool) -> CommandResult {
    let OpenWorld { app, config, .. } = opened;
    let is_watched = !is_json && std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    let typed = is_watched.then(typed_lines);
    let mut last_key = app.host().now();
    loop {
        if is_watched {
            app.note_question_list_drawn(last_key);
        }
        match &typed {
            None => std::thread::sleep(TICK),
            Some(typed) => match typed.recv_timeout(TICK) {
                Ok(line) => {
                    last_key = app.host().now();
                    answer_line(world, app, &line)?;
                }
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                // The input has ended.
                Err(mpsc::RecvTimeoutError::Disconnected) => return Ok(()),
            },
        }
        app.close_if_replaced();
        notify::tell(app, &world.paths.data, config)?;
        let items = items(world, app)?;
        if items != last {
            show(world, app, &items, is_json)?;
            last = items;
        }
    }
}

/// Reads the lines that are typed at the terminal, in a thread.
fn typed_lines() -> mpsc::Receiver<String> {
    let (send, typed) = mpsc::channel();
    std::thread::spawn(move || {
        let lines = std::io::stdin().lock().lines().map_while(Result::ok);
        lines.map(|line| send.send(line)).take_while(Result::is_ok).for_each(drop);
    });
    typed
}

/// Carries out a typed line such as `3 allow`; an error is printed, and the list goes on.
fn answer_line(world: &World, app: &mut App, line: &str) -> CommandResult {
    let mut words = line.split_whitespace().map(str::to_owned);
    let Some(which) = words.next() else { return Ok(()) };
    match answer::answer(world, app, &which, &words.collect::<Vec<_>>()) {
        Ok(()) => Ok(()),
        Err(CommandError::Pipe) => Err(CommandError::Pipe),
        Err(error) => {
            output::note(error.in_a_line());
            Ok(())
        }
    }
}

fn items(world: &World, app: &mut App) -> Result<Vec<Value>, CommandError> {
    Ok(inbox::all(world, app)?.iter().map(|one| one.json(app)).collect())
}

fn show(world: &World, app: &mut App, items: &[Value], is_json: bool) -> CommandResult {
    if is_json {
        return world.out.items(app, &items);
    }
    if items.is_empty() {
        return world.out.line("Nothing waits for you.");
    }
    let now = app.host().now();
    items.iter().try_for_each(|item| world.out.text(paragraph(item, now)))
}

/// Formats an item: `3  Falcon (claude) permission, 2 min ago`, below it the question and the commands that
/// answer it.
fn paragraph(item: &Value, now: Timestamp) -> String {
    let text = |value: &Value, most| text::one_line(value.as_str().unwrap_or_default(), most);
    let (agent, why) = (&item["agent"], text(&item["why"], 20));
    let name = text(&agent["name"], 40);
    let cli = agent["cli"].as_str().map_or_else(String::new, |cli| format!(" ({})", text::one_line(cli, 20)));
    let number = item["number"].as_i64().unwrap_or_default();
    let since = item["since_at"].as_str().and_then(|at| time::parse_since(at, now).ok());
    let since = since.map_or_else(String::new, |at| format!(", {}", text::ago(now.since(at))));
    let tool =
        item["tool"].as_str().map_or_else(String::new, |tool| format!(" {}", text::one_line(tool, 40)));
    let mut shown = format!("{number:>3}  {name}{cli} {why}{tool}{since}\n");
    let asked = item["question"].as_str().or(item["about"].as_str()).unwrap_or_default();
    for line in text::printable(asked).lines().take(MOST_LINES) {
        shown.push_str(&format!("     | {line}\n"));
    }
    if asked.lines().count() > MOST_LINES {
        shown.push_str("     | … (all of it with --json)\n");
    }
    // A single question was printed above, and its options follow below.
    let questions = item["questions"].as_array().filter(|questions| questions.len() > 1);
    for question in questions.into_iter().flatten() {
        let options = question["options"].as_array().into_iter().flatten().map(|option| text(option, 80));
        shown.push_str(&format!(
            "     {} {}\n",
            text(&question["text"], 120),
            options.collect::<Vec<_>>().join(" · ")
        ));
    }
    if let Some(reset) = item["reset_at"].as_str() {
        let when = time::parse_since(reset, now).map_or_else(|_| reset.to_owned(), time::local);
        let what = if why == "contest" { "it is decided at" } else { "it goes on at" };
        shown.push_str(&format!("     {what} {when}\n"));
    }
    // The options in the form in which they can be typed.
    let word = |option: &Value| match text(option, 120) {
        word if word.bytes().all(|byte| byte.is_ascii_alphanumeric()) => word,
        words => text::shell_quoted(&words),
    };
    let options: Vec<String> = item["options"].as_array().into_iter().flatten().map(word).collect();
    match why.as_str() {
        "message" if options.is_empty() => shown.push_str("     consort inbox\n"),
        "message" => shown.push_str(&format!("     consort answer {number} '…'\n")),
        "contest" => {
            for command in item["commands"].as_array().into_iter().flatten() {
                let (does, command) = (text(&command["does"], 80), text(&command["command"], 400));
                shown.push_str(&format!("     {does}: {command}\n"));
            }
        }
        _ => shown.push_str(&format!("     consort answer {number} {}\n", options.join(" | "))),
    }
    shown
}
