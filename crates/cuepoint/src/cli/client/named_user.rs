//! The user that an argument names, as the service shows them.

use anyhow::Context;
use cuepoint_domain::ids::UserId;
use cuepoint_domain::text::Email;
use serde::Deserialize;
use serde_json::value::RawValue;
use url::form_urlencoded::byte_serialize;

use super::object::ApiObject;
use super::session::{ApiSession, expected};
use super::table::TableColumn;

/// The fields of a user.
pub(super) const FIELDS: &[TableColumn] = &[
    TableColumn::left("id", |user| user.text("id")),
    TableColumn::left("name", |user| user.text("name")),
    TableColumn::left("e-mail", |user| user.text("email")),
    TableColumn::left("role", |user| user.text("role")),
    TableColumn::left("DJ", |user| user.text("is_dj")),
    TableColumn::left("e-mail verified", |user| user.text("email_verified")),
    TableColumn::left("phone verified", |user| user.text("phone_verified")),
    TableColumn::left("suspended", |user| user.time("suspended_at")),
    TableColumn::left("registered", |user| user.time("created_at")),
];

/// A user on the command line.
#[derive(Clone)]
pub(in crate::cli) enum UserArgument {
    Id(UserId),
    Email(Email),
}

/// The data of an answer about one user.
#[derive(Deserialize)]
struct UserData {
    user: Box<RawValue>,
}

impl UserArgument {
    pub(super) fn parse(written: &str) -> Result<Self, String> {
        if let Ok(number) = written.parse() {
            return UserId::new(number).map(Self::Id).ok_or_else(|| "ids are positive".to_owned());
        }
        Email::new(written)
            .map(Self::Email)
            .map_err(|_| "it is neither an id nor an e-mail address".to_owned())
    }

    /// The id of the user.
    pub(super) async fn id(&self, session: &ApiSession) -> anyhow::Result<UserId> {
        match self {
            Self::Id(id) => Ok(*id),
            Self::Email(_) => {
                let id = self.find(session).await?.value("id").and_then(UserId::new);
                id.context("the service shows no id of the user")
            }
        }
    }

    /// The user.
    pub(super) async fn find(&self, session: &ApiSession) -> anyhow::Result<ApiObject> {
        match self {
            Self::Id(id) => {
                let data = session.get(&format!("/operator/users/{id}")).await;
                user(&data.with_context(|| format!("user {id}"))?)
            }
            Self::Email(email) => {
                let email = email.as_str();
                let query: String = byte_serialize(email.as_bytes()).collect();
                let page = session.page(&format!("/operator/users?email={query}"), 1).await?;
                let is_named = |user: &ApiObject| {
                    user.value::<String>("email").is_some_and(|found| found.eq_ignore_ascii_case(email))
                };
                let found = page.objects.into_iter().find(is_named);
                found.with_context(|| format!("no user has the e-mail address {email}"))
            }
        }
    }
}

/// The user in the data of an answer.
///
/// # Errors
/// When it has another form.
pub(super) fn user(data: &RawValue) -> anyhow::Result<ApiObject> {
    ApiObject::new(expected::<UserData>(data)?.user)
}
