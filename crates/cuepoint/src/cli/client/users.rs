//! `cuepoint users`: shows, suspends and restores users.

use anyhow::Context;
use clap::{Args, Subcommand};
use cuepoint_domain::ids::UserId;
use cuepoint_domain::text::Email;
use serde::Deserialize;
use serde_json::value::RawValue;
use url::form_urlencoded::byte_serialize;

use super::object::ApiObject;
use super::session::{ApiSession, expected};
use super::table::TableColumn;
use super::{AFTER_HELP, ChangeArguments, Output, ServiceArguments};
use crate::config::Options;

/// The fields of a user.
const FIELDS: &[TableColumn] = &[
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

#[derive(Subcommand)]
pub(in crate::cli) enum UsersCommand {
    /// Show a user.
    #[command(after_help = AFTER_HELP)]
    Show {
        /// The id or the e-mail address of the user.
        #[arg(value_parser = UserArgument::parse)]
        user: UserArgument,
        #[command(flatten)]
        service: ServiceArguments,
    },
    /// Suspend a user, and end all their sessions.
    #[command(after_help = AFTER_HELP)]
    Suspend(UserToChange),
    /// Lift the suspension of a user.
    #[command(after_help = AFTER_HELP)]
    Restore(UserToChange),
}

/// A user to change.
#[derive(Args)]
pub(in crate::cli) struct UserToChange {
    /// The id or the e-mail address of the user.
    #[arg(value_parser = UserArgument::parse)]
    user: UserArgument,
    #[command(flatten)]
    change: ChangeArguments,
}

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
    fn parse(written: &str) -> Result<Self, String> {
        if let Ok(number) = written.parse() {
            return UserId::new(number).map(Self::Id).ok_or_else(|| "ids are positive".to_owned());
        }
        Email::new(written)
            .map(Self::Email)
            .map_err(|_| "it is neither an id nor an e-mail address".to_owned())
    }

    async fn find(&self, session: &ApiSession) -> anyhow::Result<ApiObject> {
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

/// Executes the command.
///
/// # Errors
/// When the service cannot be called, or refuses.
pub(in crate::cli) fn run(command: UsersCommand, options: Options) -> anyhow::Result<()> {
    match command {
        UsersCommand::Show { user, service } => {
            super::run(&service, options, async |session: &ApiSession| {
                Ok(Output::of(&user.find(session).await?, FIELDS, service.json))
            })
        }
        UsersCommand::Suspend(asked) => change(&asked, "suspend", options),
        UsersCommand::Restore(asked) => change(&asked, "restore", options),
    }
}

/// Changes the status of a user, by the last part of the operation's path.
fn change(asked: &UserToChange, change: &str, options: Options) -> anyhow::Result<()> {
    let UserToChange { user, change: ChangeArguments { reason, service } } = asked;
    super::run(service, options, async |session: &ApiSession| {
        let id: UserId = match user {
            UserArgument::Id(id) => *id,
            UserArgument::Email(_) => {
                let id = user.find(session).await?.value("id").and_then(UserId::new);
                id.context("the service shows no id of the user")?
            }
        };
        let data = session.change(&format!("/operator/users/{id}/{change}"), reason).await;
        let changed = self::user(&data.with_context(|| format!("user {id}"))?)?;
        Ok(Output::of(&changed, FIELDS, service.json))
    })
}

fn user(data: &RawValue) -> anyhow::Result<ApiObject> {
    ApiObject::new(expected::<UserData>(data)?.user)
}
