//! Who takes the guests' money.

mod none;
mod sandbox;

pub use none::NoProvider;
pub use sandbox::Sandbox;
