//! The colours of the screen. Nothing is shown by colour alone, and only the terminal's own colours are used,
//! so that its theme applies.

use ratatui_core::style::Color;
use ratatui_core::style::Modifier;
use ratatui_core::style::Style;

use crate::TerminalColours;

/// Styles by meaning.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Theme {
    pub(crate) plain: Style,
    pub(crate) bold: Style,
    pub(crate) dim: Style,
    pub(crate) good: Style,
    pub(crate) warn: Style,
    pub(crate) bad: Style,
    pub(crate) accent: Style,
    pub(crate) selected: Style,
    pub(crate) bar: Style,
}

impl Theme {
    pub(crate) fn of(colours: TerminalColours) -> Self {
        let plain = Style::new();
        let colour = |dark: Color, light: Color| match (colours.has_colour, colours.is_light) {
            (false, _) => plain,
            (true, false) => plain.fg(dark),
            (true, true) => plain.fg(light),
        };
        Self {
            plain,
            bold: plain.add_modifier(Modifier::BOLD),
            dim: plain.add_modifier(Modifier::DIM),
            good: colour(Color::Green, Color::Green),
            // Yellow cannot be read on white.
            warn: colour(Color::Yellow, Color::Magenta).add_modifier(Modifier::BOLD),
            bad: colour(Color::LightRed, Color::Red).add_modifier(Modifier::BOLD),
            accent: colour(Color::Cyan, Color::Blue),
            // A selected row is one uniform bar, whatever its texts' styles are.
            selected: plain.fg(Color::Reset).add_modifier(Modifier::REVERSED).remove_modifier(Modifier::DIM),
            bar: plain.add_modifier(Modifier::BOLD),
        }
    }
}
