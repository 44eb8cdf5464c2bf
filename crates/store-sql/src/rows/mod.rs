//! Rows as plain data, and their conversions to values of the domain. Money is a [`Sum`] and time a
//! [`Timestamp`]: each store encodes both for its columns.
//!
//! A row without a valid value was not written by this service: reading it is an error, never a guess.
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
mod webhook_delivery;
mod webhook_endpoint;
mod withdrawal;

pub use challenge::StoredChallenge;
pub use ledger::{StoredEntry, StoredPosting};
pub use music_request::StoredRequest;
pub use operation::{StoredKey, StoredOperation, StoredPositionGap, operation_page, position_gap};
pub use provider_message::{StoredMessage, StoredMessageRecord};
pub use security_event::StoredEvent;
pub use session::{SessionsEnd, StoredSession, StoredToken, session_id, user_id};
pub use sum::Sum;
pub use topup::{StoredSuspense, StoredTopup};
pub use user::{StoredUser, names};
pub use wallet::StoredWallet;
pub use webhook_delivery::{StoredWebhookAttempt, StoredWebhookDelivery};
pub use webhook_endpoint::{StoredWebhookEndpoint, StoredWebhookEndpointRecord, current_secret};
pub use withdrawal::StoredWithdrawal;

use cuepoint_domain::money::{Amount, Currency, Money, MoneyError};
use cuepoint_domain::text::Line;
use cuepoint_domain::user::session::ClientInfo;
use thiserror::Error;

/// Why a row has no value of the domain.
#[derive(Debug, Error)]
pub enum Corrupt {
    /// A column holds an invalid value.
    #[error("the column {0} holds an invalid value")]
    Column(&'static str),
    /// A sum does not fit the deployment's currency.
    #[error("the column {0} holds a sum that does not fit the currency: {1}")]
    Sum(&'static str, MoneyError),
    /// A redacted receipt, where a whole one is required.
    #[error("a receipt that has to be whole is redacted")]
    Redacted,
    /// A receipt is not in the format of this version.
    #[error("a receipt cannot be read: {0}")]
    Receipt(#[from] serde_json::Error),
}

/// Encodes client info as two columns.
fn columns_of(client: &ClientInfo) -> (Option<String>, Option<String>) {
    let address = client.address.map(|address| address.to_string());
    (address, client.agent.as_ref().map(|agent| agent.as_str().to_owned()))
}

/// Decodes client info from its columns.
fn client(address: Option<&str>, agent: Option<String>) -> Result<ClientInfo, Corrupt> {
    let address = address.map(|address| known("address", address.parse().ok())).transpose()?;
    Ok(ClientInfo { address, agent: agent.map(Line::from_stored) })
}

/// Returns the value of a column, or an error with the column's name.
///
/// # Errors
/// [`Corrupt::Column`] if there is no value.
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
