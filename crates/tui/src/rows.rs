//! Makes the rows of each panel from the model's data: groups, filters and sorts them.

use consort_core::presence::Status;

use crate::AgentInfo;
use crate::ChatTab;
use crate::FeedLine;
use crate::Item;
use crate::MessageInfo;
use crate::Model;
use crate::Panel;
use crate::ReservationInfo;
use crate::RunInfo;
use crate::SettingInfo;
use crate::Sort;
use crate::TaskColumn;
use crate::TaskInfo;

/// The time for which a finished run keeps its card, in milliseconds.
const LINGERS: i64 = 5_000;

/// A row of the list of agents.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum AgentRow<'a> {
    Project(&'a str, usize),
    Spec(Option<&'a str>),
    Agent(&'a AgentInfo),
}

/// A row of the tree of reservations.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum PathRow<'a> {
    Directory { name: String, depth: usize },
    Held { name: String, depth: usize, reservation: &'a ReservationInfo },
}

impl Model {
    fn passes(&self, text: &str) -> bool {
        self.filter.is_empty() || contains(text, &self.filter)
    }

    pub(crate) fn is_in_scope(&self, project: &str) -> bool {
        self.scope.as_deref().is_none_or(|scope| scope == project)
    }

    /// Returns the items that need the person, the most urgent first and those of muted agents last.
    pub(crate) fn queue(&self) -> Vec<&Item> {
        let mut queue: Vec<&Item> = self.data.queue.iter().filter(|item| !self.is_dealt_with(item)).collect();
        queue.sort_by_cached_key(|item| {
            let is_muted = self.agent_named(&item.agent).is_some_and(|agent| self.muted.contains(&agent.key));
            (is_muted, item.kind, item.since)
        });
        queue
    }

    fn is_dealt_with(&self, item: &Item) -> bool {
        self.answered.contains_key(&item.key) || self.dismissed.contains(&item.key)
    }

    /// Returns the selected item of the queue, or the first.
    pub(crate) fn selected_item(&self) -> Option<&Item> {
        let queue = self.queue();
        let selected = self.item.as_ref().and_then(|key| queue.iter().find(|item| item.key == *key));
        selected.or(queue.first()).copied()
    }

    pub(crate) fn item_at(&self) -> usize {
        let queue = self.queue();
        let at = self.item.as_ref().and_then(|key| queue.iter().position(|item| item.key == *key));
        at.unwrap_or(0)
    }

    pub(crate) fn agent_named(&self, name: &str) -> Option<&AgentInfo> {
        self.data.agents.iter().find(|agent| agent.name == name)
    }

    /// Returns the agents of the list in order, without headings.
    pub(crate) fn agents(&self) -> Vec<&AgentInfo> {
        self.agent_rows()
            .into_iter()
            .filter_map(|row| match row {
                AgentRow::Agent(agent) => Some(agent),
                AgentRow::Project(..) | AgentRow::Spec(_) => None,
            })
            .collect()
    }

    /// Returns the rows of the list: the agents by project and spec, with a heading for each.
    pub(crate) fn agent_rows(&self) -> Vec<AgentRow<'_>> {
        let wanted = |agent: &&AgentInfo| {
            // Agents that are gone are listed only with all projects, as in `who --all`.
            let is_listed = agent.status != Status::Gone || self.scope.is_none();
            is_listed
                && self.is_in_scope(&agent.project)
                && (self.filter.is_empty() || self.passes(&words(agent)))
        };
        let mut agents: Vec<&AgentInfo> = self.data.agents.iter().filter(wanted).collect();
        agents.sort_by(|one, other| self.compare(one, other));
        let mut rows = Vec::new();
        let (mut project, mut spec) = (None, None);
        let has_specs = agents.iter().any(|agent| agent.spec.is_some());
        for agent in &agents {
            if project != Some(&agent.project) {
                project = Some(&agent.project);
                spec = None;
                let count = agents.iter().filter(|other| other.project == agent.project).count();
                rows.push(AgentRow::Project(&agent.project, count));
            }
            if has_specs && spec != Some(&agent.spec) {
                spec = Some(&agent.spec);
                rows.push(AgentRow::Spec(agent.spec.as_deref()));
            }
            rows.push(AgentRow::Agent(agent));
        }
        rows
    }

    /// Compares two agents by project (this one first), spec (none last), gone, muted and pinned, then the
    /// chosen order.
    fn compare(&self, one: &AgentInfo, other: &AgentInfo) -> std::cmp::Ordering {
        let mark = |agent: &AgentInfo| {
            let is_gone = agent.status == Status::Gone;
            (is_gone, self.muted.contains(&agent.key), !self.pinned.contains(&agent.key))
        };
        let by = match self.sort {
            Sort::Attention => one.status.cmp(&other.status),
            Sort::Name => std::cmp::Ordering::Equal,
            Sort::Age => other.last_active.cmp(&one.last_active),
            Sort::Lines => {
                let lines = |agent: &AgentInfo| agent.lines.map_or(0, |(added, removed)| added + removed);
                lines(other).cmp(&lines(one))
            }
        };
        let by_group = self.group(one).cmp(&self.group(other));
        by_group.then(mark(one).cmp(&mark(other))).then(by).then_with(|| one.name.cmp(&other.name))
    }

    fn group<'a>(&self, agent: &'a AgentInfo) -> (bool, &'a str, bool, Option<&'a str>) {
        let spec = agent.spec.as_deref();
        (agent.project != self.project, &agent.project, spec.is_none(), spec)
    }

    /// Returns the selected agent, or the first.
    pub(crate) fn selected_agent(&self) -> Option<&AgentInfo> {
        let agents = self.agents();
        let selected = self.agent.as_ref().and_then(|key| agents.iter().find(|agent| agent.key == *key));
        selected.or(agents.first()).copied()
    }

    /// Returns all tabs of the messages.
    pub(crate) fn chat_tabs(&self) -> Vec<ChatTab> {
        let mut names: Vec<&str> = self
            .data
            .agents
            .iter()
            .filter(|agent| agent.status != Status::Gone && self.is_in_scope(&agent.project))
            .map(|agent| agent.name.as_str())
            .collect();
        for message in &self.data.messages {
            let other = if message.is_mine { message.to.first() } else { Some(&message.from) };
            let other = other.filter(|_| !message.is_broadcast() || !message.is_mine);
            names.extend(other.map(String::as_str).filter(|name| *name != "consort"));
        }
        if let ChatTab::With(name) = &self.chat {
            names.push(name);
        }
        names.sort_unstable();
        names.dedup();
        let with = names.into_iter().map(|name| ChatTab::With(name.to_owned()));
        std::iter::once(ChatTab::Agents).chain(with).chain([ChatTab::All]).collect()
    }

    /// Returns the messages of a tab, oldest first.
    pub(crate) fn chat(&self, tab: &ChatTab) -> Vec<&MessageInfo> {
        let is_of = |message: &&MessageInfo| match tab {
            ChatTab::Agents => false,
            ChatTab::All => message.is_broadcast(),
            ChatTab::With(name) => match message.is_mine {
                true => message.to.contains(name),
                false => message.from == *name,
            },
        };
        self.data.messages.iter().filter(is_of).filter(|message| self.passes(&message.text)).collect()
    }

    pub(crate) fn unread_from(&self, name: &str) -> usize {
        self.data.messages.iter().filter(|message| message.is_unread && message.from == name).count()
    }

    /// Returns the tasks by state, in the order in which they are selected.
    pub(crate) fn tasks(&self) -> Vec<&TaskInfo> {
        let mut tasks: Vec<&TaskInfo> = self
            .data
            .tasks
            .iter()
            .filter(|task| {
                let who = task.who.as_deref().unwrap_or_default();
                self.passes(&format!("{} {} {} {who}", task.spec, task.id, task.title))
            })
            .collect();
        tasks.sort_by_key(|task| task.state);
        tasks
    }

    pub(crate) fn tasks_in(&self, state: TaskColumn) -> Vec<(usize, &TaskInfo)> {
        self.tasks().into_iter().enumerate().filter(|(_, task)| task.state == state).collect()
    }

    /// Returns the rows of the reservations as a tree of paths.
    pub(crate) fn path_rows(&self) -> Vec<PathRow<'_>> {
        let mut held: Vec<&ReservationInfo> = self
            .data
            .reservations
            .iter()
            .filter(|one| one.project.as_deref().is_none_or(|project| self.is_in_scope(project)))
            .filter(|one| self.passes(&format!("{} {}", one.path, one.holder)))
            .filter(|one| !self.is_shown_on_hold(one))
            .collect();
        held.sort_by(|one, other| (&one.project, &one.path).cmp(&(&other.project, &other.path)));
        let mut rows = Vec::new();
        let mut open: Vec<String> = Vec::new();
        for reservation in held {
            let path = reservation.path.trim_end_matches('/');
            let mut parts: Vec<&str> = path.split('/').collect();
            let is_directory = reservation.path.ends_with('/');
            let last = parts.pop().unwrap_or_default();
            let name = if is_directory { format!("{last}/") } else { last.to_owned() };
            if self.scope.is_none()
                && let Some(project) = &reservation.project
            {
                parts.insert(0, project);
            }
            let shared = open.iter().zip(&parts).take_while(|(one, other)| one == *other).count();
            open.truncate(shared);
            for part in &parts[shared..] {
                rows.push(PathRow::Directory { name: format!("{part}/"), depth: open.len() });
                open.push((*part).to_owned());
            }
            rows.push(PathRow::Held { name, depth: open.len(), reservation });
            if is_directory {
                // Reservations inside this directory are shown below its row.
                open.push(last.to_owned());
            }
        }
        rows
    }

    /// Returns the reservations in the order of the tree.
    pub(crate) fn reservations(&self) -> Vec<&ReservationInfo> {
        self.path_rows()
            .into_iter()
            .filter_map(|row| match row {
                PathRow::Held { reservation, .. } => Some(reservation),
                PathRow::Directory { .. } => None,
            })
            .collect()
    }

    /// Returns the runs, those with a card first.
    pub(crate) fn runs(&self) -> Vec<&RunInfo> {
        let mut runs: Vec<&RunInfo> = self
            .data
            .runs
            .iter()
            .filter(|run| self.passes(&format!("{} {} {} {}", run.name, run.cli, run.role, run.title)))
            .collect();
        runs.sort_by_key(|run| (!self.has_card(run), std::cmp::Reverse(run.number)));
        runs
    }

    /// Tells whether a run is shown as a card: it runs, or has ended just now.
    pub(crate) fn has_card(&self, run: &RunInfo) -> bool {
        !run.has_ended || run.ended_at.is_some_and(|at| self.now.since(at) < LINGERS)
    }

    pub(crate) fn settings(&self) -> Vec<&SettingInfo> {
        let settings = self.data.settings.iter();
        settings.filter(|one| self.passes(&format!("{} {} {}", one.key, one.value, one.source))).collect()
    }

    /// Returns the entries of the feed that name the chosen agent, if there is one, and pass the filter,
    /// newest first.
    pub(crate) fn feed(&self) -> impl Iterator<Item = &FeedLine> {
        let names = |line: &&FeedLine| self.feed_of.as_ref().is_none_or(|name| line.text.contains(name));
        self.data.feed.iter().rev().filter(names).filter(|line| self.passes(&line.text))
    }

    /// Returns the tabs of the feed: `None` for all entries, or an agent whose entries are shown.
    pub(crate) fn feed_tabs(&self) -> Vec<Option<String>> {
        let agents = self.agents().into_iter().map(|agent| agent.name.clone());
        let mut names: Vec<String> = agents.chain(self.feed_of.clone()).collect();
        names.sort_unstable();
        names.dedup();
        std::iter::once(None).chain(names.into_iter().map(Some)).collect()
    }

    /// Returns a unique key for each row of the panel, for panels in which rows come and go.
    pub(crate) fn row_keys(&self) -> Vec<String> {
        match self.panel {
            Panel::Tasks => self.tasks().iter().map(|task| format!("{} {}", task.file, task.id)).collect(),
            Panel::Reservations => {
                let key = |one: &&ReservationInfo| format!("{:?} {} {}", one.project, one.path, one.holder);
                self.reservations().iter().map(key).collect()
            }
            Panel::Radar => {
                self.data.pairs.iter().map(|pair| format!("{} {}", pair.one, pair.other)).collect()
            }
            Panel::Runs => self.runs().iter().map(|run| run.number.to_string()).collect(),
            Panel::Settings => self.settings().iter().map(|one| one.key.clone()).collect(),
            Panel::Agents | Panel::Messages | Panel::Knowledge | Panel::Feed => Vec::new(),
        }
    }

    /// Tells whether an override needs no row of its own, because the row of a reservation of the same path
    /// shows it.
    fn is_shown_on_hold(&self, one: &ReservationInfo) -> bool {
        let is_it = |other: &ReservationInfo| {
            !other.is_overridden && (&other.project, &other.path) == (&one.project, &one.path)
        };
        one.is_overridden && self.data.reservations.iter().any(is_it)
    }

    /// Finds the override by which the person lets everyone write a reserved path.
    pub(crate) fn find_override(&self, one: &ReservationInfo) -> Option<&ReservationInfo> {
        let covers = |open: &&ReservationInfo| {
            let is_below = open.path.ends_with('/') && one.path.starts_with(&open.path);
            open.is_overridden && open.project == one.project && (open.path == one.path || is_below)
        };
        self.data.reservations.iter().find(covers)
    }

    /// Returns the panels in which rows pass the filter, each with the number of those rows.
    pub(crate) fn matching_panels(&self) -> Vec<(Panel, usize)> {
        let counts = [
            (Panel::Agents, self.agents().len()),
            (Panel::Tasks, self.tasks().len()),
            (Panel::Reservations, self.reservations().len()),
            (Panel::Runs, self.runs().len()),
            (Panel::Settings, self.settings().len()),
            (Panel::Feed, self.feed().count()),
        ];
        counts.into_iter().filter(|(_, count)| *count > 0).collect()
    }

    /// Returns the number of rows of the panel.
    pub(crate) fn row_count(&self) -> usize {
        match self.panel {
            Panel::Agents => self.agents().len(),
            Panel::Messages => self.chat(&self.chat).len(),
            Panel::Tasks => self.tasks().len(),
            Panel::Reservations => self.reservations().len(),
            Panel::Radar => self.data.pairs.len(),
            Panel::Runs => self.runs().len(),
            Panel::Knowledge => self.data.found.1.len(),
            Panel::Settings => self.settings().len(),
            Panel::Feed => self.feed().count(),
        }
    }
}

/// Returns the text of an agent that a filter searches.
fn words(agent: &AgentInfo) -> String {
    let AgentInfo { name, cli, project, doing, task, branch, .. } = agent;
    let (task, branch) = (task.as_deref().unwrap_or_default(), branch.as_deref().unwrap_or_default());
    format!("{name} {cli} {project} {doing} {task} {branch}")
}

/// Tells whether a text contains a word, in any case. Nothing is copied if the word is ASCII, because ten
/// thousand lines are searched at every key.
fn contains(text: &str, word: &str) -> bool {
    match word.is_ascii() {
        true => text.as_bytes().windows(word.len()).any(|part| part.eq_ignore_ascii_case(word.as_bytes())),
        false => text.to_lowercase().contains(&word.to_lowercase()),
    }
}

#[cfg(test)]
mod tests {
    use super::contains;

    #[test]
    fn words_are_found_in_any_case() {
        assert!(contains("Raven joined", "raven") && contains("straße", "AßE".to_lowercase().as_str()));
        assert!(contains("ÄRGER", "ärg") && !contains("Rave", "raven"));
    }
}
