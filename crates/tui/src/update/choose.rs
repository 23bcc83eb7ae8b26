//! Opens the lists to choose from (a run or an agent to start, an agent to give work to, an answer to a
//! contest or a collision), and carries out the choice.

use consort_core::presence::Status;
use consort_core::text;

use super::actions;
use super::run;
use super::typing;
use crate::About;
use crate::Choice;
use crate::CommandRun;
use crate::Effect;
use crate::InputPurpose;
use crate::Item;
use crate::ItemKind;
use crate::Model;
use crate::Overlay;
use crate::WeakeningChange;

fn choose(model: &mut Model, title: String, options: Vec<(String, Choice)>) {
    model.overlay = Some(Overlay::Choose { title, options, at: 0 });
}

/// Opens the list of things to start: a run, or an agent in a pane.
pub(super) fn new_work(model: &mut Model) {
    let mut options = vec![("a run: a task without a terminal".to_owned(), Choice::NewRun)];
    let panes = model.clis.iter().map(|cli| (format!("{cli} in a pane"), Choice::OpenPane(cli.clone())));
    options.extend(panes);
    choose(model, "Start".into(), options);
}

/// Returns the agents other than `but` that could take work over.
fn others(model: &Model, but: &str) -> Vec<String> {
    let agents = model.data.agents.iter().filter(|agent| agent.status != Status::Gone && agent.name != but);
    agents.map(|agent| agent.name.clone()).collect()
}

/// Opens the list of agents to hand the selected agent's work over to.
pub(super) fn hand_over(model: &mut Model) {
    let Some(from) = actions::agent_in_question(model) else {
        model.say("Select an agent first.");
        return;
    };
    let others = others(model, &from);
    if others.is_empty() {
        model.say(format!("Nobody else is here to take over from {from}."));
        return;
    }
    let choice = |to: String| (to.clone(), Choice::HandOver { from: from.clone(), to });
    let options = others.into_iter().map(choice).collect();
    choose(model, format!("Hand the work of {from} over to"), options);
}

/// Opens the list of agents to propose the selected task to.
pub(super) fn assign(model: &mut Model) {
    let Some(task) = model.tasks().get(model.row()).map(|task| (*task).clone()) else { return };
    if task.state == crate::TaskColumn::Done {
        model.say(format!("{} is done.", task.id));
        return;
    }
    let others = others(model, task.who.as_deref().unwrap_or_default());
    if others.is_empty() {
        model.say("Nobody is here to take it.");
        return;
    }
    let title = format!("Propose {} to", task.id);
    let choice = |to: String| (to.clone(), Choice::Assign { task: Box::new(task.clone()), to });
    let options = others.into_iter().map(choice).collect();
    choose(model, title, options);
}

/// Opens the list of actions for a contest or a collision.
pub(super) fn about_item(model: &mut Model, item: &Item) {
    let mut options = Vec::new();
    match (&item.kind, &item.about) {
        (ItemKind::Contest, About::Reservation { path, worktree }) => {
            let (path, worktree) = (path.clone(), worktree.clone());
            options.push((format!("write to {}, who has it", item.agent), Choice::Write(item.agent.clone())));
            let release = Choice::Release { path: path.clone(), worktree: worktree.clone() };
            options.push((format!("release it from {}: it is free to take (asks)", item.agent), release));
            options.push((
                "let everyone write it for 10 minutes (asks)".into(),
                Choice::Override { path, worktree },
            ));
            options.push(("wait: it is decided by itself".into(), Choice::Nothing));
        }
        (_, About::Pair { other, number }) => {
            let both = Choice::WriteBoth(item.agent.clone(), other.clone());
            options.push((format!("write to {} and {other}", item.agent), both));
            let show = ["radar", "show", &number.to_string()].map(str::to_owned).to_vec();
            options.push(("show why".into(), Choice::Show(show)));
            options.push(("hide it".into(), Choice::Hide(item.key.clone())));
        }
        _ => return,
    }
    choose(model, text::one_line(&item.text, 70), options);
}

/// Carries out a choice.
pub(super) fn chosen(model: &mut Model, choice: Choice) -> Vec<Effect> {
    match choice {
        Choice::NewRun => typing::begin(model, InputPurpose::Run),
        Choice::OpenPane(cli) => typing::begin(model, InputPurpose::Open(cli)),
        Choice::HandOver { from, to } => {
            let what = format!(
                "Hand the work of {from} over to {to}? {to} gets a message with all that is known of it; \
                 {from} goes on until you stop it."
            );
            let effect = Effect::Run(CommandRun::new(["agent", "handoff", &from, "--to", &to]));
            model.overlay = Some(Overlay::Confirm { what, effect });
        }
        Choice::Assign { task, to } => {
            let words = format!(
                "Please take {} of {}: {}\nClaim it: consort task claim {} --spec {}",
                task.id,
                task.spec,
                task.title,
                task.id,
                text::shell_quoted(&task.file)
            );
            return run(model, CommandRun::new(["send", "-t", "delegate", &to, "-"]).with_input(&words));
        }
        Choice::Write(name) => typing::begin(model, InputPurpose::Message(name)),
        Choice::WriteBoth(one, other) => {
            typing::begin(model, InputPurpose::Message(format!("{one},{other}")))
        }
        Choice::Override { path, worktree } => {
            typing::ask_word(model, WeakeningChange::Override { path, worktree });
        }
        Choice::Release { path, worktree } => {
            typing::ask_word(model, WeakeningChange::Release { path, worktree });
        }
        Choice::Show(words) => {
            return run(model, CommandRun { words, ..CommandRun::default() }.as_page());
        }
        Choice::Hide(key) => {
            model.dismissed.insert(key);
        }
        Choice::Nothing => {}
    }
    Vec::new()
}
