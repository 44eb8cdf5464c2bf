//! The payment page of the sandbox. It reads no cookie.

use cuepoint_adapters::observability::provider_log;
use cuepoint_domain::application::{ProviderMessageRefusal, SandboxOutcome};
use cuepoint_domain::provider_message::MessageSource;
use cuepoint_domain::provider_reference::ProviderReference;
use cuepoint_domain::topup::TopupStatus;
use cuepoint_pages::payment::SandboxPage;
use cuepoint_transport::rate_limits::Class;

use crate::call::PageCall;
use crate::failure::PageFailure;
use crate::response::PageResponse;
use crate::route::{PageRoute, public, public_form};

/// The path of a payment page.
const PATH: &str = "/sandbox/payments/{reference}";

/// The routes of a service with a payment page of the sandbox.
#[must_use]
pub fn routes() -> Vec<PageRoute> {
    vec![public(PATH, show), public_form(PATH, Class::Other, end)]
}

async fn show(call: PageCall) -> Result<PageResponse, PageFailure> {
    let reference = reference(&call)?;
    let topup = call.use_cases().sandbox.payment(reference).await?;
    let is_open = topup.status == TopupStatus::Pending;
    let frame = call.frame(None);
    let page = SandboxPage { frame: &frame, reference, amount: topup.amount, is_open };
    Ok(PageResponse::page(page.render()))
}

async fn end(call: PageCall) -> Result<PageResponse, PageFailure> {
    let reference = reference(&call)?;
    let outcome = match call.form.text("outcome") {
        "pay" => Some(SandboxOutcome::Paid),
        "refuse" => Some(SandboxOutcome::Refused),
        "later" => None,
        _ => return Err(PageFailure::NoForm),
    };
    call.count_valid()?;
    let sandbox = &call.use_cases().sandbox;
    match outcome {
        Some(outcome) => {
            let (message, outcome) = sandbox.end(reference, outcome).await?;
            provider_log::observe(MessageSource::Topups, &message, &outcome);
        }
        None => drop(sandbox.payment(reference).await?),
    }
    Ok(PageResponse::see(&format!("/topups/{reference}?returned=1")))
}

fn reference(call: &PageCall) -> Result<ProviderReference, PageFailure> {
    call.parameter.parse().map_err(|_| PageFailure::NotFound)
}

impl From<ProviderMessageRefusal> for PageFailure {
    fn from(refusal: ProviderMessageRefusal) -> Self {
        Self::Broken(refusal.to_string())
    }
}
