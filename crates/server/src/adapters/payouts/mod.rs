//! Who sends money out.

mod manual;
mod webhook;

pub use manual::Manual;
pub use webhook::PayoutWebhook;
