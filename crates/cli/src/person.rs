//! Proves at the command line that the person is calling: the terminal, a typed word, a
//! token.
//!
//! A terminal of its own is enough to speak and to reserve. **What weakens or
//! removes protection takes more**: a word that is shown on the terminal and typed
//! back, or a token that the person made for that very command. It stops accidents
//! and agents that go too far, not a program that means harm.

use std::fs::OpenOptions;
use std::io::BufRead as _;
use std::io::BufReader;
use std::io::Write as _;
use std::sync::OnceLock;

use consort_core::presence::Caller;
use consort_core::presence::CallerFacts;
use consort_core::presence::NotAllowed;
use consort_core::presence::Proof;
use consort_core::presence::Unproven;
use consort_core::text;

use crate::error::CommandError;
use crate::world::caller_facts;
use consort_core::App;

/// Words that are short, easily typed and not easily confused.
const WORDS: &[&str] = &[
    "otter", "maple", "comet", "pearl", "tiger", "cedar", "amber", "robin", "lemon", "delta", "ivory",
    "raven", "coral", "mango", "panda", "onyx", "tulip", "wheat", "zebra", "hazel",
];

/// Set once a token was given on the command line that is good for this command.
static HAS_TOKEN: OnceLock<()> = OnceLock::new();

/// Notes that a token was given which is good for this command.
pub(crate) fn accept_token() {
    let _ = HAS_TOKEN.set(());
}

pub(crate) fn has_token() -> bool {
    HAS_TOKEN.get().is_some()
}

/// Returns the facts about the caller, for a command that changes something. At a terminal whose environment
/// an agent CLI has made, the person can type a word as proof.
pub(crate) fn acting_caller(app: &mut App) -> Result<CallerFacts, CommandError> {
    let facts = caller_facts(app);
    // Hooks report what a connected agent does; of an agent that was joined by hand, only its calls are seen.
    if facts.in_agent {
        let _ = app.note_caller(&facts);
    }
    // No other caller can prove itself by a typed word, whatever the store says of it.
    if facts.in_agent || !matches!(facts.proof, Proof::None(Unproven::Marked(_))) {
        return Ok(facts);
    }
    match caller(app, &facts) {
        Caller::Anonymous(NotAllowed::Anonymous(Unproven::Marked(variable))) => {
            let why = format!("This terminal carries {variable}, which an agent CLI sets.");
            Ok(match typed(app, &why) {
                TypedWord::TheWord => CallerFacts { proof: Proof::Typed, ..facts },
                TypedWord::Another | TypedWord::Nothing => facts,
            })
        }
        _ => Ok(facts),
    }
}

/// Refuses an anonymous caller, for commands that change something but record no
/// author.
pub(crate) fn refuse_anonymous(app: &mut App) -> Result<(), CommandError> {
    let facts = acting_caller(app)?;
    match caller(app, &facts) {
        Caller::Anonymous(why) => Err(why.into()),
        Caller::Agent(_) | Caller::Person => Ok(()),
    }
}

/// Returns the facts about the caller, confirmed by the person, for a command that weakens or removes
/// protection; `what` says what the command does.
pub(crate) fn confirmed_caller(app: &mut App, what: &str) -> Result<CallerFacts, CommandError> {
    let facts = caller_facts(app);
    let may_type = match caller(app, &facts) {
        Caller::Person => !facts.proof.is_confirmed(),
        Caller::Anonymous(NotAllowed::Anonymous(Unproven::Marked(_))) => true,
        Caller::Agent(_) | Caller::Anonymous(_) => false,
    };
    let typed = if may_type { typed(app, &format!("This will {what}.")) } else { TypedWord::Nothing };
    let facts = match typed {
        TypedWord::TheWord => CallerFacts { proof: Proof::Typed, ..facts },
        TypedWord::Another => {
            return Err(CommandError::user("that was not the word", "run it again to be shown another"));
        }
        TypedWord::Nothing => facts,
    };
    match caller(app, &facts) {
        Caller::Person if facts.proof.is_confirmed() => Ok(facts),
        Caller::Person => Err(NotAllowed::NotConfirmed.into()),
        Caller::Agent(_) => Err(NotAllowed::NotThePerson.into()),
        Caller::Anonymous(why) => Err(why.into()),
    }
}

/// Refuses a caller that could not confirm anything: there is no use in showing it what it would agree to.
pub(crate) fn may_confirm(app: &mut App) -> Result<(), CommandError> {
    let facts = caller_facts(app);
    match caller(app, &facts) {
        Caller::Person | Caller::Anonymous(NotAllowed::Anonymous(Unproven::Marked(_))) => Ok(()),
        Caller::Agent(_) => Err(NotAllowed::NotThePerson.into()),
        Caller::Anonymous(why) => Err(why.into()),
    }
}

/// Returns who calls. If the store cannot tell, the processes alone decide: a damaged store must not keep the
/// person from repairing it.
fn caller(app: &mut App, facts: &CallerFacts) -> Caller {
    app.caller(facts).unwrap_or_else(|_| match &facts.proof {
        _ if facts.in_agent => Caller::Anonymous(NotAllowed::NotJoined),
        Proof::None(why) => Caller::Anonymous(NotAllowed::Anonymous(why.clone())),
        Proof::Terminal | Proof::Typed | Proof::Token => Caller::Person,
    })
}

/// The answer to a word that was shown on the terminal.
enum TypedWord {
    TheWord,
    Another,
    /// No answer, because there is no terminal.
    Nothing,
}

/// Shows a word on the terminal, and reads what is typed back.
fn typed(app: &App, why: &str) -> TypedWord {
    let word = WORDS[usize::from(app.host().random()[0]) % WORDS.len()];
    let ask = || -> std::io::Result<String> {
        let mut terminal = OpenOptions::new().read(true).write(true).open("/dev/tty")?;
        write!(terminal, "{}\nType {word} to go on: ", text::printable(why))?;
        terminal.flush()?;
        let mut answer = String::new();
        BufReader::new(&terminal).read_line(&mut answer)?;
        Ok(answer.trim().to_owned())
    };
    match ask() {
        Ok(answer) if answer == word => TypedWord::TheWord,
        Ok(_) => TypedWord::Another,
        Err(_) => TypedWord::Nothing,
    }
}

/// Refuses agents and callers with an agent's environment. The rest are the person
/// and the person's scripts.
pub(crate) fn refuse_agents(app: &mut App) -> Result<(), CommandError> {
    let facts = acting_caller(app)?;
    match caller(app, &facts) {
        Caller::Agent(_) => Err(NotAllowed::NotThePerson.into()),
        Caller::Anonymous(why @ (NotAllowed::NotJoined | NotAllowed::Anonymous(Unproven::Marked(_)))) => {
            Err(why.into())
        }
        Caller::Person | Caller::Anonymous(_) => Ok(()),
    }
}
