//! Who takes the guests' money.

mod none;
mod sandbox;

pub use none::{NoProvider, NoTopups};
pub use sandbox::Sandbox;
