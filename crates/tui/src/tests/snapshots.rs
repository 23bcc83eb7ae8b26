//! Compares every panel at three sizes with stored snapshots. `UPDATE_EXPECT=1` writes them again.

use expect_test::expect_file;

use super::sample::drawn;
use super::sample::model;
use super::sample::press;
use crate::*;

const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (200, 60)];

/// Compares the screen after these keys with its snapshot, at every size.
fn check(name: &str, keys: &str, prepare: impl Fn(&mut Model)) {
    for (columns, rows) in SIZES {
        let mut model = model(columns, rows);
        prepare(&mut model);
        press(&mut model, keys);
        let shown = drawn(&mut model);
        let file = format!("{}/src/tests/screens/{name}_{columns}x{rows}.txt", env!("CARGO_MANIFEST_DIR"));
        expect_file![file].assert_eq(&shown);
    }
}

#[test]
fn agents() {
    check("agents", "", |_| {});
}

#[test]
fn everyone() {
    check("everyone", "p", |_| {});
}

#[test]
fn nobody() {
    check("nobody", "", |model| model.data = Data::default());
}

#[test]
fn queue() {
    check("queue", ".", |_| {});
}

#[test]
fn answer() {
    check("answer", "..a", |_| {});
}

#[test]
fn detail() {
    check("detail", "\n→→→", |model| {
        let lines = ["diff --git a/src/a.rs b/src/a.rs", "@@ -1 +1 @@", "-old", "+new"].map(str::to_owned);
        model.data.detail = AgentTabText { agent: "s-Falcon".to_owned(), tab: 3, lines: lines.to_vec() };
    });
}

#[test]
fn messages() {
    check("messages", "2→", |_| {});
}

#[test]
fn broadcasts() {
    check("broadcasts", "2←bhello", |_| {});
}

#[test]
fn tasks() {
    check("tasks", "3", |_| {});
}

#[test]
fn reservations() {
    check("reservations", "4", |_| {});
}

#[test]
fn radar() {
    check("radar", "5", |_| {});
}

#[test]
fn runs() {
    check("runs", "6", |_| {});
}

#[test]
fn knowledge() {
    check("knowledge", "7", |model| {
        let lines = ["principle  retry-twice  Retry twice, then fail", "file  src/auth.rs  Sessions"];
        model.data.found = ("retry".to_owned(), lines.map(str::to_owned).to_vec());
    });
}

#[test]
fn settings() {
    check("settings", "8", |_| {});
}

#[test]
fn feed() {
    check("feed", "9/Raven\n", |_| {});
}

#[test]
fn help() {
    check("help", "?", |_| {});
}

#[test]
fn choose() {
    check("choose", "n", |_| {});
}

#[test]
fn confirm() {
    check("confirm", "x", |_| {});
}

#[test]
fn word() {
    check("word", "4↓o", |_| {});
}

/// From the smallest terminal to the largest, drawing neither panics nor writes outside the buffer.
#[test]
fn every_size_can_be_drawn() {
    for (columns, rows) in [(1, 1), (10, 3), (30, 8), (60, 20), (61, 21), (100, 20), (240, 70)] {
        for keys in [
            "", ".", ".a", "2", "2→", "3", "4", "5", "6", "7", "8", "9", "?", "n", "x", "o", "b", ":", "/",
            "\n",
        ] {
            let mut model = model(columns, rows);
            press(&mut model, keys);
            drawn(&mut model);
        }
    }
}

/// Without colour support, no cell has a colour.
#[test]
fn no_colour_is_needed() {
    use ratatui_core::buffer::Buffer;
    use ratatui_core::layout::Rect;
    use ratatui_core::style::Color;
    let mut model = model(120, 40);
    model.colours = TerminalColours { has_colour: false, is_light: false };
    let mut buffer = Buffer::empty(Rect::new(0, 0, 120, 40));
    view::draw(&model, &mut buffer);
    assert!(buffer.content().iter().all(|cell| cell.fg == Color::Reset && cell.bg == Color::Reset));
}
