//! Who takes the guests' money.

mod none;
mod sandbox;
mod webhook;

pub use none::{NoProvider, NoTopups};
pub use sandbox::Sandbox;
pub use webhook::TopupWebhook;
