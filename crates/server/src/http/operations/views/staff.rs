//! People as staff sees them.

use cuepoint_domain::people::User;
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::wire::names;
use crate::http::wire::time::Moment;

/// A person, as staff sees them.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Person {
    /// Who it is.
    #[schema(minimum = 1, example = 8)]
    id: i64,
    /// What they are called.
    #[schema(example = "Grace")]
    name: String,
    /// Where they get mail.
    #[schema(example = "grace@example.com")]
    email: String,
    /// What they may do beyond their own affairs.
    #[schema(value_type = names::Role)]
    role: &'static str,
    /// Whether they are a DJ.
    is_dj: bool,
    /// Whether the mail address was proven to be theirs.
    email_verified: bool,
    /// Whether the phone number was proven to be theirs.
    phone_verified: bool,
    /// Since when they are shut out; null while they are not.
    #[schema(value_type = Option<String>, format = DateTime)]
    suspended_at: Option<Moment>,
    /// When they registered.
    #[schema(value_type = String, format = DateTime, example = "2026-01-31T20:15:00.000000Z")]
    created_at: Moment,
}

/// A person in an answer to staff.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct PersonData {
    /// The person.
    pub user: Person,
}

impl Person {
    /// The person.
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
            suspended_at: user.suspended_at.map(Moment),
            created_at: Moment(user.created_at),
        }
    }
}
