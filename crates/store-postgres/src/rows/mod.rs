//! Rows as the tables keep them, and the domain's values that they stand for.
//!
//! A row that stands for no value was written by other hands: reading it is an error, never a guess.

mod challenge;
mod ledger;
mod music_request;
mod operation;
mod provider_message;
mod security_event;
mod session;
mod text;
mod topup;
mod user;
mod wallet;
mod withdrawal;

pub(crate) use challenge::{ChallengeRow, NewChallengeRow};
pub(crate) use ledger::{EntryRow, NewPostingRow, PostingRow};
pub(crate) use music_request::MusicRequestRow;
pub(crate) use operation::{KeyRow, OperationRow, ReceiptText};
pub(crate) use provider_message::{MessageRecordRow, ProviderMessageRow};
pub(crate) use security_event::{EventRow, NewEventRow};
pub(crate) use session::{EndedSessionsRow, SessionRow, TokenRow};
pub(crate) use topup::{SuspenseRow, TopupRow};
pub(crate) use user::{NewUserRow, UserRow, is_present};
pub(crate) use wallet::WalletRow;
pub(crate) use withdrawal::WithdrawalRow;

use bigdecimal::BigDecimal;
use cuepoint_domain::money::{Amount, Currency, Money, MoneyError};
use cuepoint_domain::session::Visitor;
use cuepoint_domain::text::Line;
use cuepoint_domain::timestamp::Timestamp;
use thiserror::Error;
use time::{Duration, OffsetDateTime};

/// Why a row stands for no value of the domain.
#[derive(Debug, Error)]
pub(crate) enum Corrupt {
    /// A column holds what no value of the domain is.
    #[error("the column {0} holds a value that is none of the domain's")]
    Column(&'static str),
    /// A sum does not fit the deployment's currency.
    #[error("the column {0} holds a sum that does not fit the currency: {1}")]
    Sum(&'static str, MoneyError),
    /// A receipt without its profile stands where a whole one has to be.
    #[error("a receipt that has to be whole is redacted")]
    Redacted,
    /// A receipt is not of the form that this version writes.
    #[error("a receipt cannot be read: {0}")]
    Receipt(#[from] serde_json::Error),
}

/// From where somebody came, as two columns hold it.
fn columns_of(visitor: &Visitor) -> (Option<String>, Option<String>) {
    let address = visitor.address.map(|address| address.to_string());
    (address, visitor.agent.as_ref().map(|agent| agent.as_str().to_owned()))
}

/// From where somebody came, by the columns that hold it.
fn visitor(address: Option<&str>, agent: Option<String>) -> Result<Visitor, Corrupt> {
    let address = address.map(|address| known("address", address.parse().ok())).transpose()?;
    Ok(Visitor { address, agent: agent.map(Line::from_stored) })
}

/// The value of a column, or the column's name in an error.
pub(crate) fn known<T>(column: &'static str, value: Option<T>) -> Result<T, Corrupt> {
    value.ok_or(Corrupt::Column(column))
}

fn money(currency: &Currency, column: &'static str, decimal: &BigDecimal) -> Result<Money, Corrupt> {
    currency.column(decimal).map_err(|error| Corrupt::Sum(column, error))
}

fn amount(currency: &Currency, column: &'static str, decimal: &BigDecimal) -> Result<Amount, Corrupt> {
    known(column, Amount::new(money(currency, column, decimal)?))
}

fn hash(column: &'static str, bytes: &[u8]) -> Result<[u8; 32], Corrupt> {
    known(column, bytes.try_into().ok())
}

/// A moment as a column holds it.
pub(crate) fn column_time(at: Timestamp) -> OffsetDateTime {
    at.to_utc()
}

/// A length of time in microseconds, as an interval of the database has it.
pub(crate) fn micros_of(length: Duration) -> i64 {
    i64::try_from(length.whole_microseconds()).unwrap_or(i64::MAX)
}

pub(crate) fn timestamp(at: OffsetDateTime) -> Timestamp {
    Timestamp::new(at)
}
