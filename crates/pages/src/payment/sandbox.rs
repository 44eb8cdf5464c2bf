//! The payment page of the sandbox, where a tester chooses how a payment ends.

use askama::Template;
use cuepoint_domain::money::Amount;
use cuepoint_domain::provider_reference::ProviderReference;

use crate::frame::{Frame, renders};

/// The payment page of the sandbox: `POST /sandbox/payments/{reference}` with `outcome` (`pay`, `refuse` or `later`).
#[derive(Template, Clone, Debug)]
#[template(path = "payment/sandbox.html")]
pub struct SandboxPage<'a> {
    pub frame: &'a Frame<'a>,
    pub reference: ProviderReference,
    pub amount: Amount,
    /// Whether the payment can still end in several ways.
    pub is_open: bool,
}

renders!(SandboxPage);
