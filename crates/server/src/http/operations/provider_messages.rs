//! Provider messages that contradict the ledger, for operators.

use cuepoint_domain::application::Done;
use cuepoint_domain::application::commands::ResolveMessage;
use cuepoint_domain::authorization::{Action, Principal};
use cuepoint_domain::ids::ProviderMessageId;
use cuepoint_domain::provider_message::MessageFilter;

use crate::http::call::{self, ApiCall};
use crate::http::command_call::CommandCall;
use crate::http::declaration::{json, ok, operations, page};
use crate::http::endpoint::{authenticated, command};
use crate::http::operations::reason::{ReasonBody, reason};
use crate::http::operations::views::{NamedProviderMessageView, ProviderMessageData, ProviderMessageView};
use crate::http::wire::envelope::ApiResponse;
use crate::http::wire::error::{ApiError, Code};
use crate::http::wire::filters::{self, QueryFilters as _, filters};

operations! {
    /// List contradicting provider messages
    ///
    /// Provider messages that contradict the ledger.
    GET "/api/v1/operator/provider-messages" "listProviderMessages" {
        tag: Operators,
        run: authenticated(Action::ReadMessages, list),
        answers: page::<NamedProviderMessageView>(
            "A page of messages: unresolved messages first, then by arrival, newest first."
        ),
        filters: MessageFilters::DECLARED,
        fails: &[Code::ValidationFailed],
    }

    /// Resolve a provider message
    ///
    /// Records that an operator has handled the message. No balance changes.
    POST "/api/v1/operator/provider-messages/{id}/resolve" "resolveProviderMessage" {
        tag: Operators,
        run: command(resolve),
        answers: ok::<ProviderMessageData>("The resolved message."),
        body: json::<ReasonBody>(),
    }
}

filters! {
    /// The filters of provider messages.
    struct MessageFilters {
        /// 1: only resolved messages; 0: only unresolved messages.
        resolved: bool = filters::FLAG,
    }
}

async fn list(call: ApiCall, principal: Principal) -> Result<ApiResponse, ApiError> {
    let MessageFilters { resolved } = call.filters()?;
    let paging = call.paging();
    let filter = MessageFilter { resolved };
    let rows = call.app.services.provider_messages.list(&principal, filter, paging.request()).await?;
    let names = call.names(&principal, rows.rows.iter().flat_map(NamedProviderMessageView::users)).await?;
    call::page("Provider messages.", &paging, &rows, |message| NamedProviderMessageView::new(message, &names))
}

async fn resolve(call: CommandCall<ResolveMessage>) -> Result<Done<ApiResponse>, ApiError> {
    let command = ResolveMessage { id: call.id(ProviderMessageId::new)? };
    call.run(command, || reason(&call)).await?.try_map(|message| {
        let provider_message = ProviderMessageView::new(&message);
        ApiResponse::new("Provider message resolved.", ProviderMessageData { provider_message })
    })
}
