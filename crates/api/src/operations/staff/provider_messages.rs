//! Provider messages that contradict the ledger, for operators.

use cuepoint_domain::application::Done;
use cuepoint_domain::application::commands::ResolveMessage;
use cuepoint_domain::authorization::{Action, Principal};
use cuepoint_domain::ids::{ProviderMessageId, UserId};
use cuepoint_domain::provider_message::{self, MessageFilter};
use serde::Serialize;
use utoipa::ToSchema;

use crate::call::{self, ApiCall};
use crate::command_call::CommandCall;
use crate::declaration::{json, ok, operations, page};
use crate::endpoint::{authenticated, command};
use crate::operations::staff::reason::{ReasonBody, reason};
use crate::wire::envelope::ApiResponse;
use crate::wire::error::{ApiError, Code};
use crate::wire::filters::{self, QueryFilters as _, filters};
use cuepoint_views::provider_message::ExportedProviderMessageView;
use cuepoint_views::user_names::UserNames;
use cuepoint_views::view;

operations! {
    /// List contradicting provider messages
    ///
    /// For operators and auditors. The messages of providers that contradict the ledger: unresolved ones first,
    /// then the latest first. No message is ever deleted.
    GET "/api/v1/operator/provider-messages" "listProviderMessages" {
        tag: OperatorMoney,
        run: authenticated(Action::ReadMessages, list),
        answers: page::<ProviderMessageDetailsView>(
            "A page of messages: unresolved messages first, then by arrival, newest first."
        ),
        filters: MessageFilters::DECLARED,
        fails: &[Code::ValidationFailed],
    }

    /// Resolve a provider message
    ///
    /// For operators. Records that the message was handled. It moves no money. A resolved message returns 409
    /// `already_settled`.
    POST "/api/v1/operator/provider-messages/{id}/resolve" "resolveProviderMessage" {
        tag: OperatorMoney,
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

view! {
    /// A provider message that contradicts the ledger.
    pub struct ProviderMessageView as ProviderMessage of (message: &provider_message::ProviderMessage) {
        /// The message.
        #[serde(flatten)]
        message: ExportedProviderMessageView = ExportedProviderMessageView::new(message),
        /// Id of the operator who resolved the message; null while unresolved.
        #[id(example = 7)]
        resolved_by: Option<i64> = message.resolution.as_ref().map(|resolution| resolution.by.get()),
    }
}

/// A provider message in an answer.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ProviderMessageData {
    /// The message.
    pub provider_message: ProviderMessageView,
}

view! {
    /// A provider message, with names.
    pub struct ProviderMessageDetailsView as ProviderMessageDetails of (
        message: &provider_message::ProviderMessage,
        names: &UserNames,
    ) {
        /// The message.
        #[serde(flatten)]
        message: ProviderMessageView = ProviderMessageView::new(message),
        /// Name of the operator who resolved the message; null while unresolved and for an erased user.
        #[schema(example = "Grace")]
        resolved_by_name: Option<String> = names.of(Self::users(message).next()),
    }
}

impl ProviderMessageDetailsView {
    /// The users whose names it shows.
    pub fn users(message: &provider_message::ProviderMessage) -> impl Iterator<Item = UserId> {
        message.resolution.iter().map(|resolution| resolution.by)
    }
}

async fn list(call: ApiCall, principal: Principal) -> Result<ApiResponse, ApiError> {
    let MessageFilters { resolved } = call.filters()?;
    let paging = call.paging();
    let filter = MessageFilter { resolved };
    let rows = call.use_cases().provider_messages.list(&principal, filter, paging.request()).await?;
    let names = call.names(&principal, rows.rows.iter().flat_map(ProviderMessageDetailsView::users)).await?;
    call::page("Provider messages.", &paging, &rows, |message| {
        ProviderMessageDetailsView::new(message, &names)
    })
}

async fn resolve(call: CommandCall<ResolveMessage>) -> Result<Done<ApiResponse>, ApiError> {
    let command = ResolveMessage { id: call.id(ProviderMessageId::new)? };
    call.run(command, || reason(&call)).await?.try_map(|message| {
        let provider_message = ProviderMessageView::new(&message);
        ApiResponse::new("Provider message resolved.", ProviderMessageData { provider_message })
    })
}
