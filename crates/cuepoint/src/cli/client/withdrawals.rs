//! `cuepoint withdrawals`: lists, shows, approves and rejects withdrawals.

use std::collections::BTreeSet;

use anyhow::Context;
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, Subcommand};
use cuepoint_domain::ids::WithdrawalId;
use cuepoint_domain::page::PageRequest;
use cuepoint_domain::withdrawal::WithdrawalStatus;

use super::object::ApiObject;
use super::session::ApiSession;
use super::table::{self, TableColumn};
use super::{AFTER_HELP, ChangeArguments, Output, ServiceArguments};
use crate::config::Options;

/// The maximum number of withdrawals that a command reads: 50 pages, which fit into the quota of a minute.
const MOST: u16 = 5_000;
/// The number of listed withdrawals by default: one page.
const DEFAULT_LIMIT: u16 = 100;

/// The columns of a list. The name of the owner goes last, because its width is unknown.
const COLUMNS: &[TableColumn] = &[
    TableColumn::right("id", |withdrawal| withdrawal.text("id")),
    TableColumn::left("status", |withdrawal| withdrawal.text("status")),
    TableColumn::right("amount", |withdrawal| withdrawal.money("amount")),
    TableColumn::left("created", |withdrawal| withdrawal.time("created_at")),
    TableColumn::left("approvals", approvals),
    TableColumn::left("waits for", |withdrawal| withdrawal.text("waiting_for")),
    TableColumn::left("owner", owner),
];

/// The fields of a withdrawal. The answer to a change lacks some of them.
const FIELDS: &[TableColumn] = &[
    TableColumn::left("id", |withdrawal| withdrawal.text("id")),
    TableColumn::left("status", |withdrawal| withdrawal.text("status")),
    TableColumn::left("amount", |withdrawal| withdrawal.money("amount")),
    TableColumn::left("owner", owner),
    TableColumn::left("payout in", |withdrawal| withdrawal.text("currency")),
    TableColumn::left("network", |withdrawal| withdrawal.text("network")),
    TableColumn::left("address", |withdrawal| withdrawal.text("wallet_address")),
    TableColumn::left("transaction", |withdrawal| withdrawal.text("txid")),
    TableColumn::left("reference", |withdrawal| withdrawal.text("reference")),
    TableColumn::left("approvals", approvals),
    TableColumn::left("approved by", |withdrawal| withdrawal.text("approvals")),
    TableColumn::left("names", |withdrawal| withdrawal.text("approval_names")),
    TableColumn::left("waits for", |withdrawal| withdrawal.text("waiting_for")),
    TableColumn::left("debt of owner", |withdrawal| withdrawal.money("owed")),
    TableColumn::left("sum in 24 hours", |withdrawal| withdrawal.money("sum_24h")),
    TableColumn::left("login changed", |withdrawal| withdrawal.time("login_changed_at")),
    TableColumn::left("created", |withdrawal| withdrawal.time("created_at")),
    TableColumn::left("updated", |withdrawal| withdrawal.time("updated_at")),
];

#[derive(Subcommand)]
pub(in crate::cli) enum WithdrawalsCommand {
    /// List withdrawals of all users, newest first.
    #[command(after_help = AFTER_HELP)]
    List {
        /// Only withdrawals with this status.
        #[arg(long, value_parser = statuses())]
        status: Option<String>,
        /// The maximum number of withdrawals. A note says if there are more.
        #[arg(long, value_name = "NUMBER", default_value_t = DEFAULT_LIMIT,
            value_parser = clap::value_parser!(u16).range(1..=i64::from(MOST)))]
        limit: u16,
        #[command(flatten)]
        service: ServiceArguments,
    },
    /// Show a withdrawal.
    #[command(after_help = AFTER_HELP)]
    Show {
        /// The id of the withdrawal.
        #[arg(value_parser = id)]
        id: WithdrawalId,
        #[command(flatten)]
        service: ServiceArguments,
    },
    /// Approve a pending withdrawal, or give the first of two approvals.
    #[command(after_help = AFTER_HELP)]
    Approve(WithdrawalToChange),
    /// Reject a pending or approved withdrawal, and release its amount.
    #[command(after_help = AFTER_HELP)]
    Reject(WithdrawalToChange),
}

/// A withdrawal to change.
#[derive(Args)]
pub(in crate::cli) struct WithdrawalToChange {
    /// The id of the withdrawal.
    #[arg(value_parser = id)]
    id: WithdrawalId,
    #[command(flatten)]
    change: ChangeArguments,
}

/// The names of the statuses, each with its meaning.
fn statuses() -> PossibleValuesParser {
    WithdrawalStatus::all().map(|status| PossibleValue::new(status.name()).help(status.meaning())).into()
}

fn id(written: &str) -> Result<WithdrawalId, String> {
    let id = written.parse().ok().and_then(WithdrawalId::new);
    id.ok_or_else(|| "it is not a positive integer".to_owned())
}

/// The number of approvals, and of those that a pending withdrawal needs.
fn approvals(withdrawal: &ApiObject) -> Option<String> {
    let given = withdrawal.value::<Vec<i64>>("approvals")?.len();
    match withdrawal.value::<usize>("approvals_needed")? {
        0 => Some(given.to_string()),
        needed => Some(format!("{given} of {needed}")),
    }
}

/// The id of the owner with the name, if the answer has it.
fn owner(withdrawal: &ApiObject) -> Option<String> {
    let name = withdrawal.text("user_name").map(|name| format!(" {name}")).unwrap_or_default();
    Some(format!("{}{name}", withdrawal.text("user_id")?))
}

/// Executes the command.
///
/// # Errors
/// When the service cannot be called, or refuses.
pub(in crate::cli) fn run(command: WithdrawalsCommand, options: Options) -> anyhow::Result<()> {
    match command {
        WithdrawalsCommand::List { status, limit, service } => {
            super::run(&service, options, async |session: &ApiSession| {
                list(session, status.as_deref(), usize::from(limit), service.json).await
            })
        }
        WithdrawalsCommand::Show { id, service } => {
            super::run(&service, options, async |session: &ApiSession| {
                let data = session.get(&format!("/operator/withdrawals/{id}")).await;
                let withdrawal = ApiObject::new(data.with_context(|| format!("withdrawal {id}"))?)?;
                Ok(Output::of(&withdrawal, FIELDS, service.json))
            })
        }
        WithdrawalsCommand::Approve(asked) => change(&asked, "approve", options),
        WithdrawalsCommand::Reject(asked) => change(&asked, "reject", options),
    }
}

/// The withdrawals of these pages, each once, although rows move to later pages when new ones are created. Ends when
/// there are enough, or no more. Returns how many the whole list has.
async fn read(session: &ApiSession, query: &str, limit: usize) -> anyhow::Result<(Vec<ApiObject>, usize)> {
    let path = format!("/operator/withdrawals?per_page={}{query}", PageRequest::MAX_SIZE);
    let (mut found, mut known) = (Vec::new(), BTreeSet::new());
    let mut number: usize = 1;
    loop {
        let page = session.page(&path, number).await?;
        let is_empty = page.objects.is_empty();
        found.extend(page.objects.into_iter().filter(|row| known.insert(row.value::<i64>("id"))));
        if page.is_last || is_empty || found.len() >= limit {
            return Ok((found, page.total));
        }
        number = number.saturating_add(1);
    }
}

async fn list(
    session: &ApiSession,
    status: Option<&str>,
    limit: usize,
    json: bool,
) -> anyhow::Result<Output> {
    let query = status.map(|status| format!("&status={status}")).unwrap_or_default();
    let (mut rows, total) = read(session, &query, limit).await?;
    rows.truncate(limit);
    let shown = rows.len();
    let note = (shown < total).then(|| format!("{shown} of {total} withdrawals are shown: raise --limit"));
    if json {
        let rows: Vec<String> = rows.iter().map(ApiObject::json).collect();
        return Ok(Output { text: format!("[{}]\n", rows.join(",\n")), note });
    }
    if rows.is_empty() {
        return Ok(Output { text: String::new(), note: Some("there are no such withdrawals".to_owned()) });
    }
    Ok(Output { text: table::rows(COLUMNS, &rows), note })
}

/// Moves a withdrawal, by the last part of the operation's path.
fn change(asked: &WithdrawalToChange, change: &str, options: Options) -> anyhow::Result<()> {
    let WithdrawalToChange { id, change: ChangeArguments { reason, service } } = asked;
    super::run(service, options, async |session: &ApiSession| {
        let data = session.change(&format!("/operator/withdrawals/{id}/{change}"), reason).await;
        let changed = ApiObject::new(data.with_context(|| format!("withdrawal {id}"))?)?;
        let is_pending =
            changed.value::<String>("status").as_deref() == Some(WithdrawalStatus::Pending.name());
        let note = is_pending.then(|| format!("withdrawal {id} waits for the approval of another operator"));
        Ok(Output { note, ..Output::of(&changed, FIELDS, service.json) })
    })
}
