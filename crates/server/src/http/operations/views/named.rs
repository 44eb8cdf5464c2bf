//! Views for staff with the names of the users whose ids they show.
//!
//! The name stands beside its id: `user_name` beside `user_id`, `settled_by_name` beside `settled_by`. It is null for
//! an erased user. Events show the same objects without names, as they were right after the event, and so do answers to
//! commands, because a repeated command gets its first answer.

use cuepoint_domain::ids::UserId;
use cuepoint_domain::money::Currency;
use cuepoint_domain::{provider_message, security_log, topup};
use serde::Serialize;
use utoipa::ToSchema;

use super::{OperatorTopupView, ProviderMessageView, SecurityEventView, SuspenseView};
use crate::http::wire::user_names::UserNames;
use crate::http::wire::view::view;

view! {
    /// A top-up, as staff see it, with names.
    pub struct NamedTopupView as NamedTopup of (
        topup: &topup::Topup,
        names: &UserNames,
        currency: &Currency,
    ) {
        /// The top-up.
        #[serde(flatten)]
        topup: OperatorTopupView = OperatorTopupView::new(topup, currency),
        /// Name of the account; null if it was erased.
        #[schema(example = "Ada")]
        user_name: Option<String> = names.of(topup.user),
    }
}

/// A top-up in an answer to staff.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct OperatorTopupData {
    /// The top-up.
    pub topup: NamedTopupView,
}

view! {
    /// An event of the security log, with names.
    pub struct NamedSecurityEventView as NamedSecurityEvent of (
        number: i64,
        event: &security_log::SecurityEvent,
        names: &UserNames,
    ) {
        /// The event.
        #[serde(flatten)]
        event: SecurityEventView = SecurityEventView::new(number, event),
        /// Name of the affected account; null where unknown, and if it was erased.
        #[schema(example = "Grace")]
        user_name: Option<String> = names.of(event.user),
        /// Name of the actor; null without authentication, and if the account was erased.
        #[schema(example = "Ada")]
        actor_name: Option<String> = names.of(event.actor),
    }
}

view! {
    /// Money in suspense, with names.
    pub struct NamedSuspenseView as NamedSuspense of (
        topup: &topup::Topup,
        suspense: &topup::Suspense,
        names: &UserNames,
        currency: &Currency,
    ) {
        /// The money.
        #[serde(flatten)]
        suspense: SuspenseView = SuspenseView::new(topup, suspense, currency),
        /// Name of the operator who settled the money; null while unsettled, and if the account was erased.
        #[schema(example = "Grace")]
        settled_by_name: Option<String> =
            names.of(suspense.settlement.as_ref().map(|settlement| settlement.by)),
    }
}

view! {
    /// A provider message, with names.
    pub struct NamedProviderMessageView as NamedProviderMessage of (
        message: &provider_message::ProviderMessage,
        names: &UserNames,
    ) {
        /// The message.
        #[serde(flatten)]
        message: ProviderMessageView = ProviderMessageView::new(message),
        /// Name of the operator who resolved the message; null while unresolved, and if the account was erased.
        #[schema(example = "Grace")]
        resolved_by_name: Option<String> = names.of(Self::users(message).next()),
    }
}

impl NamedProviderMessageView {
    /// The users whose names it shows.
    pub fn users(message: &provider_message::ProviderMessage) -> impl Iterator<Item = UserId> {
        message.resolution.iter().map(|resolution| resolution.by)
    }
}
