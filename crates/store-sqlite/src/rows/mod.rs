//! The rows of SQLite's tables: each column is declared here once. Conversions to values of the domain are in
//! [`cuepoint_store_sql::rows`].

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
pub(crate) use ledger::{EntryRow, EventRow, KeyRow, NewEventRow, NewPostingRow, OperationRow, PostingRow};
pub(crate) use webhooks::{
    WebhookAttemptRow, WebhookDeliveryRow, WebhookEndpointRecordRow, WebhookEndpointRow,
};
