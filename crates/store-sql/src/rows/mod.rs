//! Rows, and their conversions to values of the domain. Their columns are declared in [`crate::schema`].
//!
//! A row without a valid value was not written by this service: reading it is an error, never a guess.

mod challenge;
mod gig;
mod ledger;
mod music_request;
mod operation;
mod provider_message;
mod rating;
mod revocations;
mod security_event;
mod session;
mod tip;
mod topup;
mod user;
mod wallet;
mod webhook_delivery;
mod webhook_endpoint;
mod withdrawal;

pub use crate::corrupt::{Corrupt, known};
pub use crate::named::{Named, StoredName};
pub use crate::schema::{
    StoredChallenge, StoredCode, StoredDedication, StoredEntry, StoredGig, StoredGigRecord, StoredKey,
    StoredMessage, StoredMessageRecord, StoredOperation, StoredPersonalToken, StoredPosting, StoredRating,
    StoredRequest, StoredSecurityEvent, StoredSession, StoredSuspense, StoredTip, StoredToken, StoredTopup,
    StoredUser, StoredWallet, StoredWebhookAttempt, StoredWebhookDelivery, StoredWebhookEndpoint,
    StoredWebhookEndpointRecord, StoredWithdrawal,
};
pub use crate::sum::Sum;
pub use ledger::{INCOME, IncomeRow, income};
pub use operation::{StoredPositionGap, operation_page, position_gap};
pub use revocations::{StatusRow, revocation_list};
pub use session::{SessionsEnd, session_id, user_id};
pub use user::{ACTING_OPERATOR, NewUser, UNERASED_GUEST, is_present, names};
pub use webhook_endpoint::current_secret;

use cuepoint_domain::money::{Amount, Currency, Money};
use cuepoint_domain::text::Line;
use cuepoint_domain::user::session::ClientInfo;

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

fn money(currency: &Currency, column: &'static str, sum: &Sum) -> Result<Money, Corrupt> {
    sum.money(currency, column)
}

fn amount(currency: &Currency, column: &'static str, sum: &Sum) -> Result<Amount, Corrupt> {
    known(column, Amount::new(money(currency, column, sum)?))
}

fn hash(column: &'static str, bytes: &[u8]) -> Result<[u8; 32], Corrupt> {
    known(column, bytes.try_into().ok())
}
