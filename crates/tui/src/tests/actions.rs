//! Tests of the effects of keys.

use consort_core::presence::Status;

use super::sample::*;
use crate::*;

#[test]
fn agents_are_grouped_by_project_and_spec() {
    let mut model = model(120, 40);
    let names =
        |model: &Model| -> Vec<String> { model.agents().iter().map(|agent| agent.name.clone()).collect() };
    assert_eq!(names(&model), ["Falcon", "Raven", "Otter", "Wren"], "no spec is last");
    press(&mut model, "p");
    assert_eq!(names(&model), ["Falcon", "Raven", "Otter", "Wren", "Heron"]);
    press(&mut model, "p");
    assert_eq!(names(&model), ["Heron"]);
    press(&mut model, "uu");
    assert_eq!(model.scope.as_deref(), Some("shop"), "both steps are taken back");
}

#[test]
fn pinned_muted_and_sorted_can_be_taken_back() {
    let mut model = model(120, 40);
    press(&mut model, "↓↓↓*");
    assert_eq!(model.agents()[2].name, "Wren", "it is first within its group");
    press(&mut model, "u");
    assert_eq!(model.agents()[2].name, "Otter");
    press(&mut model, "gz");
    assert_eq!(model.queue().last().unwrap().agent, "Falcon", "what a muted one wants is last");
    press(&mut model, "us");
    assert_eq!(model.sort, Sort::Name);
    press(&mut model, "u");
    assert_eq!(model.sort, Sort::Attention);
    press(&mut model, "u");
    assert!(model.toast.unwrap().text.starts_with("There is nothing to undo"));
}

#[test]
fn messages_go_where_they_are_meant() {
    let mut model = model(120, 40);
    let effects = press(&mut model, "mhello\n");
    let Effect::Run(command) = &effects[0] else { panic!("{effects:?}") };
    assert_eq!(
        (command.words.join(" ").as_str(), command.input.as_deref()),
        ("send Falcon -", Some("hello"))
    );
    assert_eq!(ran(&press(&mut model, "ball of you\n")), "send all -");
    assert_eq!(ran(&press(&mut model, "rthanks\n")), "reply 38 -", "the last message of the selected one");
    // In the messages, the next line goes to the same agent; Tab goes on to the next agent.
    press(&mut model, "2→\n");
    assert_eq!(ran(&press(&mut model, "one\n")), "send Falcon -");
    assert_eq!(ran(&press(&mut model, "two\n")), "send Falcon -");
    assert_eq!(ran(&press(&mut model, "\tthree\n")), "send Otter -");
}

#[test]
fn what_is_read_on_the_screen_is_marked_as_read() {
    let mut model = model(120, 40);
    // Passing by a chat does not mark it as read.
    assert_eq!(press(&mut model, "2→→"), []);
    assert!(model.unread_from("Otter") > 0);
    let effects = press(&mut model, "\n");
    assert_eq!(effects, [Effect::MarkRead { from: "Otter".into() }]);
    assert_eq!(model.unread_from("Otter"), 0);
}

#[test]
fn letters_are_typed_while_a_line_is_open() {
    let mut model = model(120, 40);
    press(&mut model, "mqxo?");
    assert!(!model.is_over && model.overlay.is_none());
    assert_eq!(model.input.as_ref().unwrap().line.text(), "qxo?");
    press(&mut model, "\u{1b}q");
    assert!(model.is_over);
}

#[test]
fn what_ends_or_loosens_something_asks() {
    let mut model = model(120, 40);
    assert!(press(&mut model, "x").is_empty());
    assert!(press(&mut model, "\n").is_empty(), "Enter alone is no yes");
    assert_eq!(press(&mut model, "y"), [Effect::Interrupt { agent: "Falcon".into() }]);
    assert!(press(&mut model, "6x").is_empty());
    assert_eq!(ran(&press(&mut model, "y")), "runs stop 12");
    press(&mut model, "4↓o");
    assert!(matches!(model.input.as_ref().unwrap().purpose, InputPurpose::Word { .. }));
    update(&mut model, Event::Paste("otter".into()));
    assert!(model.input.as_ref().unwrap().line.is_empty(), "the word is typed, not pasted");
}

#[test]
fn an_override_is_ended_without_a_word() {
    let mut model = model(120, 40);
    press(&mut model, "4");
    assert_eq!(model.reservations()[0].path, "docs/login.md");
    let wanted = Effect::EndOverride { path: "docs/login.md".into(), worktree: "/w/shop".into() };
    assert_eq!(press(&mut model, "o"), [wanted]);
}

/// Tmux sends Esc and a key that follows at once as one key with Alt.
#[test]
fn alt_is_esc_and_a_key() {
    use crossterm::event::*;
    let mut model = model(120, 40);
    press(&mut model, "?");
    let key = KeyEvent::new(KeyCode::Char('8'), KeyModifiers::ALT);
    update(&mut model, crate::Event::Key(key));
    assert!(model.overlay.is_none());
    assert_eq!(model.panel, Panel::Settings);
}

#[test]
fn work_is_handed_over_and_proposed() {
    let mut one = model(120, 40);
    press(&mut one, "H");
    assert!(press(&mut one, "2").is_empty(), "one key hands nothing over");
    assert_eq!(ran(&press(&mut one, "y")), "agent handoff Falcon --to Otter");
    let mut other = model(120, 40);
    press(&mut other, "3t");
    let effects = press(&mut other, "\n");
    let Effect::Run(command) = &effects[0] else { panic!("{effects:?}") };
    assert_eq!(command.words.join(" "), "send -t delegate Falcon -");
    assert!(command.input.as_ref().unwrap().contains("TASK-04 of login.md: document the cookies"));
}

#[test]
fn a_run_is_started_and_one_is_back_after_it() {
    let mut model = model(120, 40);
    update(&mut model, Event::News(vec![News::Runs(Vec::new())]));
    press(&mut model, "n1");
    let effects = press(&mut model, "fix it\n");
    assert_eq!(ran(&effects), "run --detach -");
    assert_eq!(model.panel, Panel::Runs);
    // The run has not begun yet, so the panel stays.
    update(&mut model, Event::News(vec![News::Now(NOW.plus(60_000))]));
    assert_eq!(model.panel, Panel::Runs);
    update(&mut model, Event::News(vec![News::Runs(vec![run(13, false)])]));
    let ended = RunInfo { ended_at: Some(NOW.plus(70_000)), ..run(13, true) };
    update(&mut model, Event::News(vec![News::Runs(vec![ended]), News::Now(NOW.plus(72_000))]));
    assert_eq!(model.panel, Panel::Runs, "it lingers");
    assert!(model.has_card(&model.data.runs[0]));
    update(&mut model, Event::News(vec![News::Now(NOW.plus(73_500))]));
    assert_eq!(model.panel, Panel::Agents);
    update(&mut model, Event::News(vec![News::Now(NOW.plus(75_500))]));
    assert!(!model.has_card(&model.data.runs[0]), "five seconds after its end");
}

#[test]
fn a_filter_is_seen_while_it_is_typed() {
    let mut model = model(120, 40);
    press(&mut model, "/rav");
    assert_eq!(model.agents().len(), 1);
    press(&mut model, "\n");
    assert_eq!(model.filter, "rav");
    press(&mut model, "\u{1b}");
    assert_eq!(model.agents().len(), 4);
    press(&mut model, "9/part3\n");
    assert!(model.feed().count() > 0 && model.feed().all(|line| line.text.contains("part3")));
}

/// A command about paths is about the chosen project; the numbers on the screen are those of its own project.
#[test]
fn a_command_about_paths_runs_in_the_chosen_project() {
    let mut model = model(120, 40);
    let cwd = |effects: &[Effect]| match effects {
        [Effect::Run(command) | Effect::InTerminal(command)] => command.cwd.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(cwd(&press(&mut model, ":reserve src/\n")), None);
    model.data.agents.iter_mut().filter(|agent| agent.project == "web").for_each(|agent| {
        agent.worktree = "/w/web".to_owned();
    });
    press(&mut model, "pp");
    assert_eq!(model.scope.as_deref(), Some("web"));
    assert_eq!(cwd(&press(&mut model, ":reserve src/\n")).as_deref(), Some("/w/web"));
    assert_eq!(cwd(&press(&mut model, ":--set a=b open claude\n")).as_deref(), Some("/w/web"));
    let elsewhere =
        ["reply 3 yes", "runs show 1", "task claim 2", "radar show 1", "answer 2 allow", "chat Heron"];
    for line in elsewhere {
        assert_eq!(cwd(&press(&mut model, &format!(":{line}\n"))), None, "{line}");
    }
    // Without an agent on this machine, only commands about paths are refused.
    model.data.agents.iter_mut().filter(|agent| agent.project == "web").for_each(|agent| {
        agent.machine = Some("elsewhere".to_owned());
    });
    assert!(press(&mut model, ":reserve src/\n").is_empty());
    assert!(drawn(&mut model).contains("Nobody is at work in web on this machine"));
    assert_eq!(cwd(&press(&mut model, ":who\n")), None);
}

/// The word to type, what it does and the way to leave are visible however long the path is.
#[test]
fn the_word_to_type_is_seen_beside_a_long_path() {
    for (directories, is_cut) in [(12, false), (60, true)] {
        let mut model = model(60, 20);
        for reservation in model.data.reservations.iter_mut().filter(|one| one.path == "src/auth/") {
            reservation.path += &"a-long-directory/".repeat(directories);
        }
        press(&mut model, "4↓o");
        let Some(InputPurpose::Word { word, .. }) = model.input.as_ref().map(|input| input.purpose.clone())
        else {
            panic!("no word is asked for");
        };
        let drawn = drawn(&mut model);
        assert_eq!(drawn.lines().any(|line| line.trim_end() == "…"), is_cut, "{drawn}");
        let screen = drawn.replace('\n', " ");
        assert!(screen.contains(&format!("Type {word} to let everyone write")), "{screen}");
        assert!(screen.contains("for 10 minutes. Esc leaves it."), "{screen}");
    }
}

#[test]
fn commands_run_and_what_they_print_is_shown() {
    let mut model = model(120, 40);
    let effects = press(&mut model, ":who --all\n");
    assert_eq!(ran(&effects), "who --all");
    let Effect::Run(command) = effects[0].clone() else { panic!() };
    let text = "AGENT  KIND\nFalcon claude".to_owned();
    update(&mut model, Event::Done(CommandOutcome { command, is_well: true, text }));
    assert!(drawn(&mut model).contains("Falcon claude"));
    press(&mut model, "\u{1b}");
    assert!(model.overlay.is_none());
    let effects = press(&mut model, ":chat Falcon\n");
    assert_eq!(effects, [Effect::InTerminal(CommandRun::new(["chat", "Falcon"]).as_page())]);
    press(&mut model, ":q\n");
    assert!(model.is_over);
}

#[test]
fn only_what_is_looked_at_is_gathered() {
    let mut one = model(120, 40);
    let effects = update(&mut one, Event::Resize(121, 40));
    assert!(effects.is_empty(), "{effects:?}");
    let effects = update(&mut one, Event::Key(crossterm::event::KeyCode::Right.into()));
    let [Effect::Look(interest)] = effects.as_slice() else { panic!("{effects:?}") };
    assert_eq!((interest.agent.as_deref(), interest.tab), (Some("s-Falcon"), DetailTab::Pane));
    // A detail that is not shown is not asked for.
    let narrow = model(80, 24);
    assert_eq!(narrow.interest.agent, None);
}

#[test]
fn who_works_without_a_tool_for_long_is_marked() {
    let mut model = model(120, 40);
    let otter = model.agent_named("Otter").unwrap();
    assert!(otter.status == Status::Working && otter.seems_stalled(NOW));
    assert!(drawn(&mut model).contains("no tool for 15m"));
}

#[test]
fn the_selected_agent_stays_selected_when_others_come() {
    let mut model = model(120, 40);
    press(&mut model, "↓↓");
    assert_eq!(model.selected_agent().unwrap().name, "Otter");
    let mut agents = model.data.agents.clone();
    agents.insert(0, agent("Able", Status::Waiting, ""));
    update(&mut model, Event::News(vec![News::Agents(agents)]));
    assert_eq!(model.selected_agent().unwrap().name, "Otter");
}

#[test]
fn ten_thousand_lines_of_feed_are_kept_and_no_more() {
    let mut model = model(120, 40);
    let line = |seq| FeedLine { seq, at: NOW, text: format!("entry {seq}") };
    update(&mut model, Event::News(vec![News::Feed((0..12_000).map(line).collect())]));
    assert_eq!(model.data.feed.len(), 10_000);
    press(&mut model, "9");
    assert!(drawn(&mut model).contains("entry 11999"));
    update(&mut model, Event::News(vec![News::FeedBegins]));
    assert!(drawn(&mut model).contains("Nothing has happened yet"));
}

/// A rough limit, which is enough to notice quadratic growth.
#[test]
fn a_hundred_agents_and_ten_thousand_lines_stay_fluid() {
    let mut model = model(200, 60);
    let line = |seq| FeedLine { seq, at: NOW, text: format!("entry {seq}") };
    update(&mut model, Event::News(vec![News::Feed((0..10_000).map(line).collect())]));
    let began = std::time::Instant::now();
    for round in 0..50 {
        let agents =
            (0..100).map(|at| agent(&format!("Agent{at}"), Status::Working, &format!("Edit {round}")));
        update(&mut model, Event::News(vec![News::Agents(agents.collect()), News::Now(NOW.plus(round))]));
        drawn(&mut model);
    }
    press(&mut model, "9/entry 99\n");
    for _ in 0..50 {
        press(&mut model, "↓");
        drawn(&mut model);
    }
    assert!(began.elapsed() < std::time::Duration::from_secs(20), "{:?}", began.elapsed());
}

#[test]
fn a_screen_reader_hears_each_thing_once() {
    let mut model = model(80, 24);
    let mut teller = plain::Teller::default();
    let first = teller.tell(&model).join("\n");
    assert!(first.contains("Falcon (claude) is waiting: may run: cargo test --workspace."), "{first}");
    assert!(
        first.contains("Falcon (claude) needs you, number 3: permission.\n  Bash: cargo test"),
        "{first}"
    );
    assert!(teller.tell(&model).is_empty());
    assert_eq!(plain::typed_words(&model, "3 2").unwrap(), ["answer", "3", "--", "always"]);
    assert_eq!(plain::typed_words(&model, "who --all").unwrap(), ["who", "--all"]);
    assert!(plain::typed_words(&model, "77 yes").unwrap_err().contains("does not wait"));
    update(&mut model, Event::News(vec![News::Queue(Vec::new())]));
    assert!(teller.tell(&model).contains(&"3 does not wait any more.".to_owned()));
}
