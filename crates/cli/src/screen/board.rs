//! Gathers reservations, tasks, the radar and the settings for the screen.

use consort_core::claims::HoldMode;
use consort_core::claims::HoldView;
use consort_core::claims::Strength;
use consort_core::config::KEYS;
use consort_core::config::SettingSource;
use consort_core::convergence::PairView;
use consort_core::convergence::RadarView;
use consort_core::convergence::Trend;
use consort_core::presence::CallerFacts;
use consort_core::tasks;
use consort_core::tasks::TaskRequest;
use consort_core::tasks::TaskView;
use consort_core::text;
use consort_tui::AgentTopicsInfo;
use consort_tui::Pair;
use consort_tui::ReservationInfo;
use consort_tui::SettingInfo;
use consort_tui::TaskColumn;
use consort_tui::TaskInfo;

use crate::config;
use crate::error::CommandError;
use crate::world::OpenWorld;
use crate::world::World;

/// Most characters of a text that are shown in a row.
const LONGEST: usize = 200;

pub(super) fn reservations(
    opened: &mut OpenWorld,
    caller: &CallerFacts,
) -> Result<Vec<ReservationInfo>, CommandError> {
    let here = opened.place.worktree.display().to_string();
    let (id, name) = (opened.project.id.clone(), opened.project.name.clone());
    let one = |view: &HoldView| {
        let hold = &view.hold;
        let line = |text: &str| text::one_line(text, LONGEST);
        // Only this project's name is known here; other projects are shown by their ids.
        let project = hold.project.as_ref();
        let project = project.map(|project| if *project == id { line(&name) } else { line(project.short()) });
        let worktree = hold.worktree.as_ref().map(|path| path.display().to_string());
        ReservationInfo {
            path: line(&hold.resource.shown()),
            project,
            holder: if view.yours { "you".to_owned() } else { line(&view.name) },
            is_enforced: hold.strength == Strength::Blocking,
            is_overridden: hold.strength == Strength::Overridden,
            is_shared: hold.mode == HoldMode::Shared,
            reason: hold.reason.as_deref().map(line),
            since: hold.since,
            until: hold.until,
            contest: hold
                .contest
                .as_ref()
                .map(|contest| (line(&contest.label), contest.until, contest.reason.as_deref().map(line))),
            worktree: worktree.unwrap_or_else(|| here.clone()),
            is_yours: view.yours,
        }
    };
    Ok(opened.app.holds(caller, None, 0)?.holds.iter().map(one).collect())
}

/// Lists the tasks of all specs that somebody works from. A spec that cannot be read has none.
pub(super) fn tasks(opened: &mut OpenWorld) -> Result<Vec<TaskInfo>, CommandError> {
    let mut all = Vec::new();
    for (spec, file) in opened.app.specs()? {
        let Ok(outcome) = opened.app.tasks(&TaskRequest::of_spec(file.clone())) else { continue };
        let file = file.display().to_string();
        all.extend(outcome.tasks.iter().map(|task| one_task(task, &spec.path, &file)));
    }
    Ok(all)
}

fn one_task(task: &TaskView, spec: &str, file: &str) -> TaskInfo {
    let line = |text: &str| text::one_line(text, LONGEST);
    let worker = match task.record.as_ref().map(|record| &record.state) {
        Some(tasks::TaskState::Claimed(worker) | tasks::TaskState::Done(worker)) => Some(worker),
        _ => None,
    };
    let state = match task.record.as_ref().map(|record| &record.state) {
        Some(tasks::TaskState::Done(_)) => TaskColumn::Done,
        _ if task.ticked => TaskColumn::Done,
        Some(tasks::TaskState::Claimed(_)) => TaskColumn::Claimed,
        _ if task.ready => TaskColumn::Ready,
        _ => TaskColumn::Blocked,
    };
    TaskInfo {
        spec: line(spec),
        file: file.to_owned(),
        id: line(&task.id),
        title: line(task.title.as_deref().unwrap_or_default()),
        state,
        who: worker.map(|worker| line(&worker.name)),
        at: worker.map(|worker| worker.at),
        words: worker.and_then(|worker| worker.words.as_deref()).map(line),
        waits_for: task.waits_for.iter().map(|id| line(id)).collect(),
    }
}

/// Converts the radar into the pairs of agents that are near each other, and the topics each heads for.
pub(super) fn radar(radar: &RadarView) -> (Vec<Pair>, Vec<AgentTopicsInfo>) {
    let line = |text: &String| text::one_line(text, 80);
    let pair = |seen: &PairView| {
        let prediction = seen.prediction.as_ref().filter(|prediction| prediction.ended.is_none());
        let signal = seen.signals.first().or(prediction.map(|prediction| &prediction.signal))?;
        let about = signal.files.iter().chain(&signal.topics).chain(&signal.domains);
        Some(Pair {
            one: line(&seen.pair[0].name),
            other: line(&seen.pair[1].name),
            confidence: signal.confidence,
            kind: signal.kind.as_str().to_owned(),
            trend: match seen.trend {
                Trend::New => "new",
                Trend::Rising => "rising",
                Trend::Steady => "steady",
                Trend::Falling => "falling",
            }
            .to_owned(),
            about: about.map(line).collect(),
            number: prediction.map(|prediction| prediction.number),
        })
    };
    let all = |topics: &[String]| topics.iter().map(line).collect();
    let headings = radar.agents.iter().map(|agent| AgentTopicsInfo {
        name: line(&agent.name),
        deepening: all(&agent.trajectory.deepening),
        emerging: all(&agent.trajectory.emerging),
        stable: all(&agent.trajectory.stable),
        fading: all(&agent.trajectory.fading),
    });
    (radar.pairs.iter().filter_map(pair).collect(), headings.collect())
}

/// Lists every setting as it is resolved now.
pub(super) fn settings(world: &World, opened: &mut OpenWorld) -> Result<Vec<SettingInfo>, CommandError> {
    let acceptances = opened.app.acceptances().unwrap_or_default();
    let config = config::load(&world.paths, &opened.place.worktree, &world.overrides, &acceptances)?;
    let setting = |one: &consort_core::config::Setting| SettingInfo {
        key: one.key.to_owned(),
        value: text::one_line(&one.value, LONGEST),
        tier: match one.source {
            SettingSource::Flag => "command line",
            SettingSource::Environment(_) => "environment",
            SettingSource::Project(_) => "project",
            SettingSource::User(_) => "user",
            SettingSource::Default => "default",
        }
        .to_owned(),
        source: text::one_line(&one.source.to_string(), LONGEST),
        about: KEYS.iter().find(|key| key.name == one.key).map_or("", |key| key.about).to_owned(),
    };
    Ok(config.resolved.settings.iter().map(setting).collect())
}
