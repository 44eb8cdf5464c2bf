//! Rows as plain data, and the domain's values that they stand for. A sum is a [`Sum`], a moment a
//! [`Timestamp`]: each store encodes both as its columns do.
//!
//! A row that stands for no value was not written by this service: reading it is an error, never a guess.
//!
//! [`Timestamp`]: cuepoint_domain::timestamp::Timestamp

#![allow(missing_docs, reason = "the fields are columns, which the migrations describe")]

mod challenge;
mod ledger;
mod music_request;
mod operation;
mod provider_message;
mod security_event;
mod session;
mod sum;
mod text;
mod topup;
mod user;
mod wallet;
mod withdrawal;

pub use challenge::StoredChallenge;
pub use ledger::{StoredEntry, StoredPosting};
pub use music_request::StoredRequest;
pub use operation::{StoredKey, StoredOperation};
pub use provider_message::{StoredMessage, StoredMessageRecord};
pub use security_event::StoredEvent;
pub use session::{SessionsEnd, StoredSession, StoredToken, session_id, user_id};
pub use sum::Sum;
pub use topup::{StoredSuspense, StoredTopup};
pub use user::StoredUser;
pub use wallet::StoredWallet;
pub use withdrawal::StoredWithdrawal;

use cuepoint_domain::account::session::Visitor;
use cuepoint_domain::money::{Amount, Currency, Money, MoneyError};
use cuepoint_domain::text::Line;
use thiserror::Error;

/// Why a row stands for no value of the domain.
#[derive(Debug, Error)]
pub enum Corrupt {
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
///
/// # Errors
/// [`Corrupt::Column`] where there is no value.
pub fn known<T>(column: &'static str, value: Option<T>) -> Result<T, Corrupt> {
    value.ok_or(Corrupt::Column(column))
}

fn money(currency: &Currency, column: &'static str, sum: &Sum) -> Result<Money, Corrupt> {
    sum.money(currency, column)
}

fn amount(currency: &Currency, column: &'static str, sum: &Sum) -> Result<Amount, Corrupt> {
    known(column, Amount::new(money(currency, column, sum)?))
}

fn hash(column: &'static str, bytes: &[u8]) -> Result<[u8; 32], Corrupt> {
    known(column, bytes.try_into().ok())
}
