//! The messages of providers that contradict the ledger, for operators.

use cuepoint_domain::access::Caller;
use cuepoint_domain::ids::ProviderMessageId;
use cuepoint_domain::ledger::{Outcome, Receipt};
use cuepoint_domain::ports::Applied;
use cuepoint_domain::provider_message::MessageFilter;

use crate::app::App;
use crate::http::call::{self, Call};
use crate::http::openapi::bodies::{PageQuery, Reason};
use crate::http::operations::views::{ProviderMessage, ProviderMessageData};
use crate::http::wire::envelope::{Answer, Success};
use crate::http::wire::error::ApiError;
use crate::http::wire::page::Page;
use crate::http::wire::query::Filters;
use crate::http::wire::{messages, values};

/// Lists the messages of providers that contradict the ledger.
#[utoipa::path(
    get,
    path = "/api/v1/operator/provider-messages",
    operation_id = "listProviderMessages",
    tag = "Operators",
    params(
        PageQuery,
        (
            "resolved" = Option<u8>,
            Query,
            minimum = 0,
            maximum = 1,
            description = "1: only those that are resolved; 0: only those that are not.",
        ),
    ),
    responses((
        status = 200,
        description = "A page of messages, unresolved ones first, then those that came last.",
        body = Success<Page<ProviderMessage>>,
    )),
)]
pub async fn list(call: Call, caller: Caller) -> Result<Answer, ApiError> {
    let mut filters = Filters::of(&call.query);
    let resolved = filters.read("resolved", values::yes_or_no, messages::flag);
    filters.complete()?;
    let paging = call.paging(&["resolved"]);
    let filter = MessageFilter { resolved };
    let rows = call.app.services.inbox.messages(&caller, filter, paging.request()).await?;
    call::page("Provider messages.", &paging, &rows, ProviderMessage::new)
}

/// Resolves a message of a provider. It moves no money.
#[utoipa::path(
    post,
    path = "/api/v1/operator/provider-messages/{id}/resolve",
    operation_id = "resolveProviderMessage",
    tag = "Operators",
    request_body = Reason,
    responses((status = 200, description = "The message is resolved.", body = Success<ProviderMessageData>)),
)]
pub async fn resolve(call: Call, caller: Caller) -> Result<Applied, ApiError> {
    let inbox = &call.app.services.inbox;
    let message = inbox.message(&caller, call.id(ProviderMessageId::new)?).await?;
    let mut fields = call.fields();
    let reason = fields.required("reason", values::line);
    let reason = fields.complete(|| reason)?;
    Ok(inbox.resolve(&call.command(&caller), reason, message).await?)
}

/// What a resolved message is shown as.
pub fn resolved(_: &App, receipt: &Receipt) -> Result<Answer, ApiError> {
    let Outcome::Message(message) = &receipt.outcome else {
        return Err(ApiError::internal("a resolution came to something else"));
    };
    let provider_message = ProviderMessage::new(message);
    Answer::ok("Provider message resolved.", ProviderMessageData { provider_message })
}
