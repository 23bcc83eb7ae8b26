//! The screen, in a real terminal that somebody looks at.

mod flows;
mod places;
mod real;
mod stage;
