//! Views of accounts for staff.

use cuepoint_domain::user::User;
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::wire::names;
use crate::http::wire::time::WireTimestamp;
use crate::http::wire::view::view;

view! {
    /// An account, as staff see it.
    pub struct PersonView as Person of (user: &User) {
        /// Id of the account.
        #[id(example = 8)]
        id: i64 = user.id.get(),
        /// Display name.
        #[schema(example = "Grace")]
        name: String = user.name.as_str().to_owned(),
        /// E-mail address.
        #[schema(example = "grace@example.com")]
        email: String = user.email.as_str().to_owned(),
        /// Role.
        #[schema(value_type = names::Role)]
        role: &'static str = user.role.name(),
        /// Whether the account is a DJ's.
        is_dj: bool = user.is_dj(),
        /// Whether the e-mail address is verified.
        email_verified: bool = user.email_verified,
        /// Whether the phone number is verified.
        phone_verified: bool = user.phone_verified,
        /// Time of the suspension; null while the account is active.
        #[timestamp_or_null()]
        suspended_at: Option<WireTimestamp> = user.suspended_at.map(WireTimestamp),
        /// Time of the registration.
        #[timestamp(example = "2026-01-31T20:15:00.000000Z")]
        created_at: WireTimestamp = WireTimestamp(user.created_at),
    }
}

/// An account in an answer to staff.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct PersonData {
    /// The account.
    pub user: PersonView,
}
