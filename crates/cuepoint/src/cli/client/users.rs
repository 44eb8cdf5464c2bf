//! `cuepoint users`: shows, suspends and restores users; `wallet-link` is in [`super::wallet_link`].

use anyhow::Context;
use clap::{Args, Subcommand};

use super::named_user::{self, FIELDS, UserArgument};
use super::session::ApiSession;
use super::wallet_link::{self, LinkToIssue};
use super::{AFTER_HELP, ChangeArguments, Output, ServiceArguments};
use crate::config::Options;

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
    /// Issue a link that moves the wallet of a guest account to another browser. Shows the last use of the account first:
    /// a phone that is in use is not lost.
    #[command(after_help = AFTER_HELP)]
    WalletLink(LinkToIssue),
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
        UsersCommand::WalletLink(asked) => wallet_link::run(&asked, options),
    }
}

/// Changes the status of a user, by the last part of the operation's path.
fn change(asked: &UserToChange, change: &str, options: Options) -> anyhow::Result<()> {
    let UserToChange { user, change: ChangeArguments { reason, service } } = asked;
    super::run(service, options, async |session: &ApiSession| {
        let id = user.id(session).await?;
        let data = session.change(&format!("/operator/users/{id}/{change}"), reason).await;
        let changed = named_user::user(&data.with_context(|| format!("user {id}"))?)?;
        Ok(Output::of(&changed, FIELDS, service.json))
    })
}
