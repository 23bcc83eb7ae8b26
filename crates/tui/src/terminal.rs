//! Runs the screen in a terminal: reads keys, draws cells. The only part of this crate with input and output.

use std::fmt::Write as _;
use std::io;
use std::io::Write as _;
use std::os::fd::AsFd;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use crossterm::event;
use ratatui_core::buffer::Buffer;
use ratatui_core::buffer::Cell;
use ratatui_core::layout::Rect;
use ratatui_core::style::Color;
use ratatui_core::style::Modifier;
use rustix::event::PollFd;
use rustix::event::PollFlags;

use crate::Effect;
use crate::EffectRunner;
use crate::Event;
use crate::Model;
use crate::News;
use crate::update;
use crate::view;

/// Enters the alternate screen, hides the cursor, and turns on mouse events and bracketed paste.
const ENTER: &str = "\x1b[?1049h\x1b[?25l\x1b[?1000h\x1b[?1006h\x1b[?2004h\x1b[2J";
const LEAVE: &str = "\x1b[?2004l\x1b[?1006l\x1b[?1000l\x1b[0m\x1b[?25h\x1b[?1049l";

/// Longest wait for the first event.
const FIRST: Duration = Duration::from_secs(2);

/// Runs the screen until the person quits or `is_ended` returns true. Each event in `events` is announced by
/// a byte in `wake`.
pub fn run(
    model: &mut Model,
    door: &mut dyn EffectRunner,
    events: &Receiver<Event>,
    wake: impl AsFd,
    is_ended: &dyn Fn() -> bool,
) -> io::Result<()> {
    let mut screen = Screen::enter()?;
    let first = size();
    carry_out(update(model, Event::Resize(first.0, first.1)), door, &mut screen)?;
    // Keys are read only once the first data is shown, or `FIRST` has passed.
    screen.draw(model)?;
    if let Ok(event) = events.recv_timeout(FIRST) {
        carry_out(update(model, event), door, &mut screen)?;
    }
    while !model.is_over && !is_ended() {
        screen.draw(model)?;
        let woken = wait(&wake)?;
        if woken.by_news {
            // Bytes that are left unread wake the loop again.
            let _ = rustix::io::read(&wake, &mut [0; 256]);
        }
        while let Ok(event) = events.try_recv() {
            carry_out(update(model, event), door, &mut screen)?;
        }
        // crossterm reads forever from a terminal that is gone, so it is polled only if there is input.
        while woken.by_keys && !is_gone() && event::poll(Duration::ZERO)? {
            // A key applies to the screen at the moment it is pressed, so the time is updated first.
            let now = door.touched();
            carry_out(update(model, Event::News(vec![News::Now(now)])), door, &mut screen)?;
            let event = match event::read()? {
                event::Event::Key(key) => Event::Key(key),
                event::Event::Mouse(mouse) => Event::Mouse(mouse),
                event::Event::Paste(text) => Event::Paste(text),
                event::Event::Resize(columns, rows) => Event::Resize(columns, rows),
                event::Event::FocusGained | event::Event::FocusLost => continue,
            };
            carry_out(update(model, event), door, &mut screen)?;
        }
        let now = size();
        if now != model.size {
            carry_out(update(model, Event::Resize(now.0, now.1)), door, &mut screen)?;
        }
    }
    Ok(())
}

/// The reason why a sleep has ended. After a signal, such as for a resized window, both are false.
struct Woken {
    by_keys: bool,
    by_news: bool,
}

/// Sleeps until a key is pressed, the window is resized, or there is news.
fn wait(wake: &impl AsFd) -> io::Result<Woken> {
    let stdin = rustix::stdio::stdin();
    let mut ready = [PollFd::new(&stdin, PollFlags::IN), PollFd::new(wake, PollFlags::IN)];
    match rustix::event::poll(&mut ready, None) {
        Ok(_) => {}
        Err(rustix::io::Errno::INTR) => return Ok(Woken { by_keys: false, by_news: false }),
        Err(error) => return Err(error.into()),
    }
    let terminal = ready[0].revents();
    if terminal.intersects(PollFlags::HUP | PollFlags::ERR) {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let by_news = ready[1].revents().contains(PollFlags::IN);
    Ok(Woken { by_keys: terminal.contains(PollFlags::IN), by_news })
}

/// Tells whether the terminal is gone; the next sleep finds that too, and ends the screen.
fn is_gone() -> bool {
    let stdin = rustix::stdio::stdin();
    let mut ready = [PollFd::new(&stdin, PollFlags::IN)];
    let now = rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 };
    // A poll that a signal interrupts does not count as gone.
    let looked = rustix::event::poll(&mut ready, Some(&now));
    looked.is_ok() && ready[0].revents().intersects(PollFlags::HUP | PollFlags::ERR)
}

fn size() -> (u16, u16) {
    crossterm::terminal::size().ok().filter(|(columns, rows)| columns * rows > 0).unwrap_or((80, 24))
}

fn carry_out(effects: Vec<Effect>, door: &mut dyn EffectRunner, screen: &mut Screen) -> io::Result<()> {
    for effect in effects {
        match effect {
            Effect::InTerminal(command) => {
                restore_terminal();
                door.in_terminal(&command);
                screen.take_terminal()?;
            }
            Effect::Redraw => screen.shown = None,
            Effect::Copy(text) => write(&format!("\x1b]52;c;{}\x07", base64(text.as_bytes())))?,
            effect => door.carry_out(effect),
        }
    }
    Ok(())
}

/// The terminal in raw mode on its alternate screen; dropping this restores the terminal.
struct Screen {
    /// The cells that the terminal shows; `None` if unknown, as at first.
    shown: Option<Buffer>,
    cursor: Option<(u16, u16)>,
}

impl Screen {
    fn enter() -> io::Result<Self> {
        // A panic ends the program without dropping this.
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            restore_terminal();
            before(info);
        }));
        let mut screen = Self { shown: None, cursor: None };
        screen.take_terminal()?;
        Ok(screen)
    }

    /// Puts the terminal into raw mode on its alternate screen, at first and after a command has used it.
    fn take_terminal(&mut self) -> io::Result<()> {
        crossterm::terminal::enable_raw_mode()?;
        self.shown = None;
        write(ENTER)
    }

    /// Draws the cells that have changed.
    fn draw(&mut self, model: &mut Model) -> io::Result<()> {
        let area = Rect::new(0, 0, model.size.0, model.size.1);
        let mut buffer = Buffer::empty(area);
        let drawn = view::draw(model, &mut buffer);
        model.targets = drawn.targets;
        let known = self.shown.take().filter(|shown| shown.area == area);
        let mut text = String::new();
        let before = known.unwrap_or_else(|| {
            text.push_str("\x1b[0m\x1b[2J");
            Buffer::empty(area)
        });
        paint(&before, &buffer, &mut text);
        if !text.is_empty() || self.cursor != drawn.cursor {
            text.push_str(&match drawn.cursor {
                Some((x, y)) => format!("\x1b[{};{}H\x1b[?25h", y + 1, x + 1),
                None => "\x1b[?25l".to_owned(),
            });
            // Terminals with synchronized output show the whole change at once.
            write(&format!("\x1b[?2026h\x1b[?25l{text}\x1b[?2026l"))?;
        }
        (self.shown, self.cursor) = (Some(buffer), drawn.cursor);
        Ok(())
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore_terminal();
    }
}

fn restore_terminal() {
    let _ = write(LEAVE);
    let _ = crossterm::terminal::disable_raw_mode();
}

fn write(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

/// Adds the escape sequences that turn one screen into the other to `text`.
fn paint(before: &Buffer, after: &Buffer, text: &mut String) {
    let mut at = None;
    let mut style: Option<(Color, Color, Modifier)> = None;
    for (x, y, cell) in before.diff(after) {
        if at != Some((x, y)) {
            let _ = write!(text, "\x1b[{};{}H", y + 1, x + 1);
        }
        let wanted = (cell.fg, cell.bg, cell.modifier);
        if style != Some(wanted) {
            push_style(text, cell);
            style = Some(wanted);
        }
        text.push_str(cell.symbol());
        let width = view::paper::cells(cell.symbol()).max(1);
        at = Some((x + width, y));
    }
    if style.is_some() {
        text.push_str("\x1b[0m");
    }
}

fn push_style(text: &mut String, cell: &Cell) {
    text.push_str("\x1b[0");
    for (modifier, code) in [
        (Modifier::BOLD, 1),
        (Modifier::DIM, 2),
        (Modifier::ITALIC, 3),
        (Modifier::UNDERLINED, 4),
        (Modifier::REVERSED, 7),
    ] {
        if cell.modifier.contains(modifier) {
            let _ = write!(text, ";{code}");
        }
    }
    for (colour, base) in [(cell.fg, 30), (cell.bg, 40)] {
        let code = match colour {
            Color::Reset => continue,
            Color::Black => base,
            Color::Red => base + 1,
            Color::Green => base + 2,
            Color::Yellow => base + 3,
            Color::Blue => base + 4,
            Color::Magenta => base + 5,
            Color::Cyan => base + 6,
            Color::Gray => base + 7,
            Color::DarkGray => base + 60,
            Color::LightRed => base + 61,
            Color::LightGreen => base + 62,
            Color::LightYellow => base + 63,
            Color::LightBlue => base + 64,
            Color::LightMagenta => base + 65,
            Color::LightCyan => base + 66,
            Color::White => base + 67,
            Color::Indexed(index) => {
                let _ = write!(text, ";{};5;{index}", base + 8);
                continue;
            }
            Color::Rgb(red, green, blue) => {
                let _ = write!(text, ";{};2;{red};{green};{blue}", base + 8);
                continue;
            }
        };
        let _ = write!(text, ";{code}");
    }
    text.push('m');
}

fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let at = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for digit in 0..4 {
            match digit <= chunk.len() {
                true => text.push(char::from(ALPHABET[(bits >> (18 - 6 * digit)) as usize & 63])),
                false => text.push('='),
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_painted() {
        let area = Rect::new(0, 0, 10, 2);
        let (mut before, mut after) = (Buffer::empty(area), Buffer::empty(area));
        before.set_string(0, 0, "hello", ratatui_core::style::Style::new());
        after.set_string(0, 0, "hallo", ratatui_core::style::Style::new());
        let mut text = String::new();
        paint(&before, &after, &mut text);
        assert_eq!(text, "\x1b[1;2H\x1b[0ma\x1b[0m");
        text.clear();
        paint(&after, &after.clone(), &mut text);
        assert_eq!(text, "");
    }

    #[test]
    fn what_is_copied_is_encoded() {
        for (plain, encoded) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")]
        {
            assert_eq!(base64(plain.as_bytes()), encoded);
        }
    }
}
