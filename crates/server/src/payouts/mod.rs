//! Who sends money out.

mod manual;
mod webhook;
mod worker;

pub use manual::Manual;
pub use webhook::PayoutWebhook;
pub(crate) use worker::send_due;
