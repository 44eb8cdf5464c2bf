//! Views of accounts for staff.

use cuepoint_domain::user::User;
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::wire::names;
use crate::http::wire::time::WireTimestamp;

/// An account, as staff see it.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Person)]
pub struct PersonView {
    /// Id of the account.
    #[schema(minimum = 1, example = 8)]
    id: i64,
    /// Display name.
    #[schema(example = "Grace")]
    name: String,
    /// E-mail address.
    #[schema(example = "grace@example.com")]
    email: String,
    /// Role.
    #[schema(value_type = names::Role)]
    role: &'static str,
    /// Whether the account is a DJ's.
    is_dj: bool,
    /// Whether the e-mail address is verified.
    email_verified: bool,
    /// Whether the phone number is verified.
    phone_verified: bool,
    /// Time of the suspension; null while the account is active.
    #[schema(value_type = Option<String>, format = DateTime)]
    suspended_at: Option<WireTimestamp>,
    /// Time of the registration.
    #[schema(value_type = String, format = DateTime, example = "2026-01-31T20:15:00.000000Z")]
    created_at: WireTimestamp,
}

/// An account in an answer to staff.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct PersonData {
    /// The account.
    pub user: PersonView,
}

impl PersonView {
    /// The account.
    #[must_use]
    pub fn new(user: &User) -> Self {
        Self {
            id: user.id.get(),
            name: user.name.as_str().to_owned(),
            email: user.email.as_str().to_owned(),
            role: user.role.name(),
            is_dj: user.is_dj(),
            email_verified: user.email_verified,
            phone_verified: user.phone_verified,
            suspended_at: user.suspended_at.map(WireTimestamp),
            created_at: WireTimestamp(user.created_at),
        }
    }
}
