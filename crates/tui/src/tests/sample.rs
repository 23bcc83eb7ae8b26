//! Sample data for tests: a screen with something in every panel, and helpers that press keys and draw.

use consort_core::Timestamp;
use consort_core::presence::Status;
use crossterm::event::KeyCode;
use crossterm::event::KeyEvent;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;

use crate::*;

pub(super) const NOW: Timestamp = Timestamp(1_800_000_000_000);

pub(super) fn ago(seconds: i64) -> Timestamp {
    NOW.minus(seconds * 1_000)
}

pub(super) fn agent(name: &str, status: Status, doing: &str) -> AgentInfo {
    AgentInfo {
        key: format!("s-{name}"),
        name: name.to_owned(),
        cli: "claude".to_owned(),
        project: "shop".to_owned(),
        spec: None,
        status,
        doing: doing.to_owned(),
        task: None,
        task_why: None,
        lines: None,
        unread: 0,
        cost: None,
        last_active: ago(40),
        branch: Some("main".to_owned()),
        model: None,
        worktree: "/w/shop".to_owned(),
        place: "%3".to_owned(),
        has_pane: true,
        machine: None,
        subagents: Vec::new(),
        is_you: false,
    }
}

pub(super) fn item(kind: ItemKind, number: i64, agent: &str, text: &str, options: &[&str]) -> Item {
    Item {
        key: format!("{} {number} {agent}", kind.words()),
        number,
        kind,
        agent: agent.to_owned(),
        cli: Some("claude".to_owned()),
        tool: None,
        text: text.to_owned(),
        questions: Vec::new(),
        options: options.iter().map(|option| (*option).to_owned()).collect(),
        since: Some(ago(120)),
        until: None,
        about: About::Nothing,
    }
}

pub(super) fn message(id: &str, from: &str, to: &[&str], seconds: i64, text: &str) -> MessageInfo {
    MessageInfo {
        id: id.to_owned(),
        called: id.to_owned(),
        at: ago(seconds),
        from: from.to_owned(),
        to: to.iter().map(|to| (*to).to_owned()).collect(),
        text: text.to_owned(),
        kind: None,
        is_mine: from == "you",
        is_unread: false,
        receipt: (from == "you").then(|| "read".to_owned()),
    }
}

fn agents() -> Vec<AgentInfo> {
    let falcon = AgentInfo {
        spec: Some("login.md".to_owned()),
        task: Some("TASK-02".to_owned()),
        task_why: Some("knows the session store".to_owned()),
        lines: Some((120, 14)),
        unread: 1,
        model: Some("opus".to_owned()),
        ..agent("Falcon", Status::Waiting, "may run: cargo test --workspace")
    };
    let raven = AgentInfo {
        cli: "codex".to_owned(),
        spec: Some("login.md".to_owned()),
        cost: Some(1_240_000),
        subagents: vec!["explorer".to_owned()],
        ..agent("Raven", Status::Working, "Edit src/auth/session.rs")
    };
    let otter = AgentInfo { last_active: ago(900), ..agent("Otter", Status::Working, "Bash make") };
    let heron =
        AgentInfo { project: "web".to_owned(), cli: "gemini".to_owned(), ..agent("Heron", Status::Idle, "") };
    vec![falcon, raven, otter, agent("Wren", Status::Idle, ""), heron]
}

fn queue() -> Vec<Item> {
    let permission = Item {
        tool: Some("Bash".to_owned()),
        ..item(ItemKind::Permission, 3, "Falcon", "cargo test --workspace", &["allow", "always", "deny"])
    };
    let long = "Which of these should the cookie be called? It is written into every response, \
                so it cannot be changed later without logging everybody out.";
    let question = item(ItemKind::Question, 4, "Raven", long, &["session", "sid", "Type something."]);
    let limit = Item {
        until: Some(NOW.plus(3_600_000)),
        ..item(ItemKind::Limit, 5, "Wren", "5-hour limit reached", &["nudge", "wait", "close", "take over"])
    };
    let contest = Item {
        until: Some(NOW.plus(70_000)),
        about: About::Reservation { path: "src/auth/".to_owned(), worktree: "/w/shop".to_owned() },
        ..item(ItemKind::Contest, 6, "Raven", "Otter wants src/auth/: the release", &[])
    };
    let mail = Item {
        about: About::Message("41".to_owned()),
        ..item(ItemKind::Mail, 7, "Otter", "Shall I merge?", &[])
    };
    let collision = Item {
        about: About::Pair { other: "Otter".to_owned(), number: 4 },
        ..item(ItemKind::Collision, 0, "Falcon", "Falcon and Otter are likely to collide: src/login.rs", &[])
    };
    vec![question, permission, limit, contest, mail, collision]
}

fn reservations() -> Vec<ReservationInfo> {
    let one = |path: &str, holder: &str| ReservationInfo {
        path: path.to_owned(),
        project: Some("shop".to_owned()),
        holder: holder.to_owned(),
        is_enforced: true,
        is_overridden: false,
        is_shared: false,
        reason: None,
        since: ago(240),
        until: None,
        contest: None,
        worktree: "/w/shop".to_owned(),
        is_yours: false,
    };
    vec![
        ReservationInfo {
            reason: Some("login() becomes sign_in()".to_owned()),
            contest: Some(("Otter".to_owned(), NOW.plus(70_000), Some("the release".to_owned()))),
            ..one("src/auth/", "Raven")
        },
        one("src/auth/token.rs", "Falcon"),
        ReservationInfo { is_enforced: false, ..one("topic:billing", "Wren") },
        ReservationInfo { is_overridden: true, is_enforced: false, ..one("docs/login.md", "you") },
    ]
}

fn tasks() -> Vec<TaskInfo> {
    let task = |id: &str, title: &str, state, who: Option<&str>| TaskInfo {
        spec: "login.md".to_owned(),
        file: "/w/shop/login.md".to_owned(),
        id: id.to_owned(),
        title: title.to_owned(),
        state,
        who: who.map(str::to_owned),
        at: who.map(|_| ago(300)),
        words: None,
        waits_for: Vec::new(),
    };
    vec![
        task("TASK-01", "the session store", TaskColumn::Done, Some("Raven")),
        task("TASK-02", "the login page", TaskColumn::Claimed, Some("Falcon")),
        TaskInfo {
            waits_for: vec!["TASK-02".to_owned()],
            ..task("TASK-03", "log out", TaskColumn::Blocked, None)
        },
        task("TASK-04", "document the cookies", TaskColumn::Ready, None),
    ]
}

pub(super) fn run(number: i64, has_ended: bool) -> RunInfo {
    RunInfo {
        number,
        mark: if has_ended { "✓" } else { "●" }.to_owned(),
        state: if has_ended { "done" } else { "running" }.to_owned(),
        has_ended,
        is_well: true,
        name: format!("Runner{number}"),
        role: "dev".to_owned(),
        cli: "claude".to_owned(),
        model: Some("sonnet".to_owned()),
        title: format!("fix the tests of part {number}"),
        started_at: Some(ago(95)),
        ended_at: has_ended.then(|| ago(30)),
        turns: Some(7),
        tokens: Some(48_200),
        cost: Some(310_000),
        doing: if has_ended { String::new() } else { "Bash cargo test".to_owned() },
        heard_at: Some(ago(2)),
    }
}

fn settings() -> Vec<SettingInfo> {
    let setting = |key: &str, value: &str, tier: &str, source: &str, about: &str| SettingInfo {
        key: key.to_owned(),
        value: value.to_owned(),
        tier: tier.to_owned(),
        source: source.to_owned(),
        about: about.to_owned(),
    };
    vec![
        setting(
            "claims.enforcement",
            "block",
            "project",
            "/w/shop/.consort/config.toml",
            "what a reservation does",
        ),
        setting(
            "context.mode",
            "minimal",
            "user",
            "/home/you/.config/consort/config.toml",
            "what sessions are told",
        ),
        setting("notify.desktop", "false", "default", "default", "notifications on the desktop"),
    ]
}

/// Makes a screen of this size with all sample data.
pub(super) fn model(columns: u16, rows: u16) -> Model {
    let mut model = Model::new("shop", (columns, rows), NOW, 7);
    model.hint = "Open another terminal and run `claude`; it will appear here.".to_owned();
    model.clis = vec!["claude".to_owned(), "codex".to_owned()];
    let unread = MessageInfo {
        is_unread: true,
        kind: Some("question".to_owned()),
        ..message("41", "Otter", &["you"], 130, "Shall I merge?")
    };
    let messages = vec![
        message("38", "Falcon", &["you"], 900, "I begin with the login page."),
        message(
            "39",
            "you",
            &["Falcon"],
            880,
            "Good. Keep the cookie's name, it is in the docs\nand in the tests.",
        ),
        message(
            "40",
            "you",
            &["Falcon", "Raven", "Otter", "Wren"],
            400,
            "The release is tomorrow: no new dependencies.",
        ),
        unread,
    ];
    let feed = (1..=40).map(|seq| FeedLine {
        seq,
        at: ago((41 - seq) * 30),
        text: match seq % 3 {
            0 => format!("Raven (codex on main) reserves src/part{seq}.rs"),
            1 => format!("Falcon to you: message #{seq} info: done with step {seq}"),
            _ => format!("run {seq} was started"),
        },
    });
    let pair = Pair {
        one: "Falcon".to_owned(),
        other: "Otter".to_owned(),
        confidence: 0.62,
        kind: "approaching".to_owned(),
        trend: "rising".to_owned(),
        about: vec!["src/login.rs".to_owned(), "cookie".to_owned()],
        number: Some(4),
    };
    let heading = AgentTopicsInfo {
        name: "Falcon".to_owned(),
        deepening: vec!["login".to_owned()],
        emerging: vec!["cookie".to_owned()],
        stable: Vec::new(),
        fading: vec!["layout".to_owned()],
    };
    let news = vec![
        News::Queue(queue()),
        News::Agents(agents()),
        News::Messages(messages),
        News::Reservations(reservations()),
        News::Tasks(tasks()),
        News::Radar(vec![pair], vec![heading]),
        News::Runs(vec![run(12, false), run(11, true)]),
        News::Settings(settings()),
        News::Feed(feed.collect()),
    ];
    update(&mut model, Event::News(news));
    model
}

pub(super) fn press(model: &mut Model, keys: &str) -> Vec<Effect> {
    let mut effects = Vec::new();
    for key in keys.chars() {
        let code = match key {
            '\n' => KeyCode::Enter,
            '\t' => KeyCode::Tab,
            '\u{1b}' => KeyCode::Esc,
            '↑' => KeyCode::Up,
            '↓' => KeyCode::Down,
            '←' => KeyCode::Left,
            '→' => KeyCode::Right,
            key => KeyCode::Char(key),
        };
        effects.extend(update(model, Event::Key(KeyEvent::from(code))));
    }
    effects.retain(|effect| !matches!(effect, Effect::Look(_)));
    effects
}

/// Returns the command that the effects run, else the effects as text.
pub(super) fn ran(effects: &[Effect]) -> String {
    let words = effects.iter().find_map(|effect| match effect {
        Effect::Run(command) => Some(command.words.join(" ")),
        _ => None,
    });
    words.unwrap_or_else(|| format!("{effects:?}"))
}

/// Draws the screen, and returns it as lines of text.
pub(super) fn drawn(model: &mut Model) -> String {
    let area = Rect::new(0, 0, model.size.0, model.size.1);
    let mut buffer = Buffer::empty(area);
    model.targets = view::draw(model, &mut buffer).targets;
    let mut text = String::new();
    for y in 0..area.height {
        let mut line = String::new();
        let mut x = 0;
        while x < area.width {
            let symbol = buffer.cell((x, y)).map_or(" ", |cell| cell.symbol());
            line.push_str(symbol);
            x += view::paper::cells(symbol).max(1);
        }
        // Selected rows are reversed, which text does not show, so they get a mark.
        let is_reversed = |x| {
            let cell = buffer.cell((x, y));
            cell.is_some_and(|cell| cell.modifier.contains(ratatui_core::style::Modifier::REVERSED))
        };
        let reversed = (0..area.width).filter(|x| is_reversed(*x)).count();
        text.push_str(line.trim_end());
        if reversed > 20 {
            text.push_str(" «");
        }
        text.push('\n');
    }
    text
}
