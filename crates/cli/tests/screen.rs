//! Tests of the screen, in a real terminal with a client.

mod flows;
mod places;
mod real;
mod stage;
