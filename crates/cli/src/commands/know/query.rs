//! The command `consort know query`: runs one query of the knowledge, and prints the answer.

use std::ffi::OsString;
use std::io::Read as _;

use consort_core::Timestamp;
use consort_knowledge::Answer;
use consort_knowledge::Format;

use crate::error::CommandError;
use crate::exit;
use crate::exit::ExitCode;
use crate::knowledge;
use crate::knowledge::ScopeArgs;
use crate::knowledge::USUAL_TOKENS;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Expressions: `(get-principles)`; `-` reads standard input
    #[arg(required_unless_present_any = ["functions", "examples"], value_name = "EXPRESSION")]
    expressions: Vec<String>,
    /// Print examples of every sort, and ask nothing
    #[arg(long)]
    examples: bool,
    /// List what can be asked, and ask nothing
    #[arg(long)]
    functions: bool,
    /// Print every record whole, instead of lists as tables
    #[arg(long, conflicts_with = "json")]
    records: bool,
    /// Most tokens that the answer may cost
    #[arg(long, value_name = "NUMBER", default_value_t = USUAL_TOKENS)]
    tokens: usize,
    #[command(flatten)]
    pub(super) scope: ScopeArgs,
}

impl Args {
    /// Parses expressions and nothing else without clap, which costs as much as the answer often does. `None`
    /// is left to clap.
    pub(super) fn quick(arguments: impl Iterator<Item = OsString>) -> Option<Self> {
        let is_expression = |text: &String| !text.is_empty() && !text.starts_with('-');
        let one = |argument: OsString| argument.into_string().ok().filter(is_expression);
        let expressions: Vec<String> = arguments.map(one).collect::<Option<_>>()?;
        let (functions, examples, records, scope) = (false, false, false, ScopeArgs::default());
        let args = Self { expressions, examples, functions, records, tokens: USUAL_TOKENS, scope };
        (!args.expressions.is_empty()).then_some(args)
    }
}

pub(super) fn run(world: &World, args: &Args) -> Result<ExitCode, CommandError> {
    if args.functions {
        let one = |function: &&consort_knowledge::Signature| match function.about {
            "" => function.usage.to_owned(),
            about => format!("{}  {about}", function.usage),
        };
        let lines: Vec<String> =
            consort_knowledge::FUNCTIONS.iter().collect::<Vec<_>>().iter().map(one).collect();
        world.out.line(lines.join("\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    if args.examples {
        world.out.text(consort_knowledge::EXAMPLES)?;
        return Ok(ExitCode::SUCCESS);
    }
    let source = match args.expressions.as_slice() {
        [input] if input == "-" => {
            let mut source = String::new();
            std::io::stdin().lock().read_to_string(&mut source).map_err(|error| {
                CommandError::user(format!("standard input cannot be read: {error}"), "pipe an expression in")
            })?;
            source
        }
        expressions => expressions.join("\n"),
    };
    let mut opened = world.open()?;
    let scope = args.scope.of(&opened);
    let format = match (args.scope.json, args.records) {
        (true, _) => Format::Json,
        (_, true) => Format::Record,
        _ => Format::Columnar,
    };
    let answer = knowledge::ask(&mut opened, &scope, &source, format, args.tokens)?;
    if args.scope.json {
        return print_json(world, opened.app.host().now(), &answer);
    }
    world.out.line(answer.text)?;
    Ok(ExitCode::from(if answer.has_failed { exit::FOUND_SOMETHING } else { 0 }))
}

/// Prints an answer as JSON, and returns its exit code.
pub(super) fn print_json(world: &World, now: Timestamp, answer: &Answer) -> Result<ExitCode, CommandError> {
    world.out.json(&answer.envelope(now))?;
    Ok(ExitCode::from(if answer.has_failed { exit::FOUND_SOMETHING } else { 0 }))
}
