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

/// A top-up, as staff see it, with names.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = NamedTopup)]
pub struct NamedTopupView {
    /// The top-up.
    #[serde(flatten)]
    topup: OperatorTopupView,
    /// Name of the account; null if it was erased.
    #[schema(example = "Ada")]
    user_name: Option<String>,
}

/// A top-up in an answer to staff.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct OperatorTopupData {
    /// The top-up.
    pub topup: NamedTopupView,
}

/// An event of the security log, with names.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = NamedSecurityEvent)]
pub struct NamedSecurityEventView {
    /// The event.
    #[serde(flatten)]
    event: SecurityEventView,
    /// Name of the affected account; null where unknown, and if it was erased.
    #[schema(example = "Grace")]
    user_name: Option<String>,
    /// Name of the actor; null without authentication, and if the account was erased.
    #[schema(example = "Ada")]
    actor_name: Option<String>,
}

/// Money in suspense, with names.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = NamedSuspense)]
pub struct NamedSuspenseView {
    /// The money.
    #[serde(flatten)]
    suspense: SuspenseView,
    /// Name of the operator who settled the money; null while unsettled, and if the account was erased.
    #[schema(example = "Grace")]
    settled_by_name: Option<String>,
}

/// A provider message, with names.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = NamedProviderMessage)]
pub struct NamedProviderMessageView {
    /// The message.
    #[serde(flatten)]
    message: ProviderMessageView,
    /// Name of the operator who resolved the message; null while unresolved, and if the account was erased.
    #[schema(example = "Grace")]
    resolved_by_name: Option<String>,
}

impl NamedSuspenseView {
    /// The money of this top-up.
    #[must_use]
    pub fn new(
        topup: &topup::Topup,
        suspense: &topup::Suspense,
        names: &UserNames,
        currency: &Currency,
    ) -> Self {
        let settled_by_name = names.of(suspense.settlement.as_ref().map(|settlement| settlement.by));
        Self { suspense: SuspenseView::new(topup, suspense, currency), settled_by_name }
    }
}

impl NamedProviderMessageView {
    /// The message.
    #[must_use]
    pub fn new(message: &provider_message::ProviderMessage, names: &UserNames) -> Self {
        let resolved_by_name = names.of(Self::users(message).next());
        Self { message: ProviderMessageView::new(message), resolved_by_name }
    }

    /// The users whose names it shows.
    pub fn users(message: &provider_message::ProviderMessage) -> impl Iterator<Item = UserId> {
        message.resolution.iter().map(|resolution| resolution.by)
    }
}

impl NamedTopupView {
    /// The current state of the top-up.
    #[must_use]
    pub fn new(topup: &topup::Topup, names: &UserNames, currency: &Currency) -> Self {
        Self { topup: OperatorTopupView::new(topup, currency), user_name: names.of(topup.user) }
    }
}

impl NamedSecurityEventView {
    /// The event with its number.
    #[must_use]
    pub fn new(number: i64, event: &security_log::SecurityEvent, names: &UserNames) -> Self {
        Self {
            event: SecurityEventView::new(number, event),
            user_name: names.of(event.user),
            actor_name: names.of(event.actor),
        }
    }
}
