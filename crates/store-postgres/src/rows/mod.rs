//! The rows of PostgreSQL's tables: each column is declared here once. Conversions to values of the domain
//! are in [`cuepoint_store_sql::rows`].

mod accounts;
mod entities;
mod ledger;
pub(crate) mod table_row;
mod webhooks;

pub(crate) use accounts::{
    ChallengeRow, NewChallengeRow, NewUserRow, SessionRow, TokenRow, UserRow, WalletRow, is_present,
};
pub(crate) use cuepoint_store_sql::rows::{Corrupt, known, session_id, user_id};
pub(crate) use entities::{MessageRecordRow, MusicRequestRow, ProviderMessageRow, TopupRow, WithdrawalRow};
pub(crate) use ledger::{
    EntryRow, EventRow, KeyRow, NewEventRow, NewPostingRow, OperationRow, PostingRow, ReceiptText,
};
pub(crate) use webhooks::{
    WebhookAttemptRow, WebhookDeliveryRow, WebhookEndpointRecordRow, WebhookEndpointRow,
};

use cuepoint_domain::timestamp::Timestamp;
use time::{Duration, OffsetDateTime};

/// A timestamp as a column holds it.
pub(crate) fn column_time(at: Timestamp) -> OffsetDateTime {
    at.to_utc()
}

/// A duration in microseconds, as intervals of the database are computed from.
pub(crate) fn micros_of(length: Duration) -> i64 {
    i64::try_from(length.whole_microseconds()).unwrap_or(i64::MAX)
}

pub(crate) fn timestamp(at: OffsetDateTime) -> Timestamp {
    Timestamp::new(at)
}
