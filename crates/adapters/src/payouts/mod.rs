//! Payout providers.

mod manual;
mod webhook;

pub use manual::Manual;
pub use webhook::PayoutWebhook;
