//! `cuepoint users wallet-link`: issues a link for a guest whose phone is lost.

use std::io::{self, BufRead as _, IsTerminal as _};
use std::thread;

use anyhow::{Context, ensure};
use clap::Args;
use cuepoint_domain::provider_reference::ProviderReference;
use serde_json::json;
use tokio::sync::oneshot;

use super::named_user::{self, UserArgument};
use super::object::ApiObject;
use super::session::ApiSession;
use super::table::{self, TableColumn};
use super::{ChangeArguments, Output, say};
use crate::config::Options;

/// The last use of an account.
const LAST_USE: &[TableColumn] = &[TableColumn::left("last use", |account| account.time("last_used_at"))];

/// The fields of a link.
const FIELDS: &[TableColumn] = &[
    TableColumn::left("link", |link| link.text("url")),
    TableColumn::left("valid until", |link| link.time("expires_at")),
];

/// A link to issue.
#[derive(Args)]
pub(in crate::cli) struct LinkToIssue {
    /// The id of the guest account, or its address such as guest-17@guest.invalid.
    #[arg(value_parser = UserArgument::parse)]
    user: UserArgument,
    /// The reference of a confirmed top-up of the account, compared with the statement of its payer.
    #[arg(long)]
    reference: ProviderReference,
    /// Issue the link without a question. Required without a terminal.
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    change: ChangeArguments,
}

/// Shows the last use of the account, asks, and issues the link.
///
/// # Errors
/// When the service cannot be called, or refuses, or the person at the terminal does.
pub(super) fn run(asked: &LinkToIssue, options: Options) -> anyhow::Result<()> {
    let LinkToIssue { user, reference, yes, change: ChangeArguments { reason, service } } = asked;
    super::run(service, options, async |session: &ApiSession| {
        let id = user.id(session).await?;
        let path = format!("/operator/users/{id}/wallet-link");
        let data = session.get(&path).await.with_context(|| format!("user {id}"))?;
        let account = named_user::user(&data)?;
        let last_use = table::fields(LAST_USE, &ApiObject::new(data)?);
        if !yes {
            let is_terminal = io::stdin().is_terminal();
            let question = "Issue the link? It ends all other sessions of the account. [y/N]";
            let shown = format!("{}{last_use}{question}", table::fields(named_user::FIELDS, &account));
            ensure!(is_terminal, "{}: compare it, and pass --yes to issue the link", last_use.trim_end());
            super::print(&format!("{shown} "))?;
            ensure!(is_confirmed().await?, "no link was issued");
        }
        let body = json!({"reference": reference.to_string(), "reason": reason.as_str()});
        let data = session.post(&path, &body).await.with_context(|| format!("user {id}"))?;
        let link = ApiObject::new(data)?;
        if !service.json {
            say(&format!(
                "send the link only to the payer of top-up {reference}: it works once, within an hour"
            ));
        }
        Ok(Output::of(&link, FIELDS, service.json))
    })
}

/// Whether the person at the terminal answers with yes. An interruption does not wait for the answer.
async fn is_confirmed() -> anyhow::Result<bool> {
    let (answered, answer) = oneshot::channel();
    thread::spawn(move || {
        let mut line = String::new();
        drop(answered.send(io::stdin().lock().read_line(&mut line).map(|_| line)));
    });
    let line = answer.await.context("the terminal cannot be read")?.context("the terminal cannot be read")?;
    Ok(matches!(line.trim().to_lowercase().as_str(), "y" | "yes"))
}
