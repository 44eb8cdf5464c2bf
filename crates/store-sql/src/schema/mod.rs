//! The tables that every store has, each declared once. A test of each store compares the declarations with its
//! migrated database.

mod bootstrap;
mod entities;
mod gig_tables;
mod ledger;
mod text;
mod user_data;
mod webhooks;

use std::sync::LazyLock;

pub use bootstrap::bootstrap_operator;
pub use entities::{
    StoredMessage, StoredMessageRecord, StoredRating, StoredRequest, StoredSuspense, StoredTopup,
    StoredWithdrawal, music_requests, provider_messages, ratings, topups, withdrawals,
};
pub use gig_tables::{
    StoredCode, StoredDedication, StoredGig, StoredGigRecord, StoredTip, gig_codes, gigs, request_messages,
    tips,
};
pub use ledger::{
    StoredEntry, StoredKey, StoredOperation, StoredPosting, StoredSecurityEvent, StoredWallet,
    idempotency_keys, ledger_entries, operations, position_gaps, postings, security_events, wallets,
};
pub use user_data::{
    StoredChallenge, StoredPersonalToken, StoredSession, StoredToken, StoredUser, blocks, challenges,
    login_networks, personal_tokens, phone_codes, refresh_tokens, sessions, users,
};
pub use webhooks::{
    StoredWebhookAttempt, StoredWebhookDelivery, StoredWebhookEndpoint, StoredWebhookEndpointRecord,
    webhook_attempts, webhook_deliveries, webhook_endpoints,
};

use crate::table::{Counter, Counting, Declared, Table};

/// Lists the tables.
macro_rules! tables {
    ($($table:ident),+ $(,)?) => {
        /// Every table, in an order in which each row comes after those that its foreign keys name.
        pub const TABLES: &[Table] = &[$(<$table::table as Declared>::TABLE),+];

        diesel::allow_tables_to_appear_in_same_query!($($table),+);
    };
}

tables! {
    users,
    bootstrap_operator,
    wallets,
    operations,
    position_gaps,
    idempotency_keys,
    gig_codes,
    gigs,
    music_requests,
    request_messages,
    ratings,
    tips,
    withdrawals,
    topups,
    ledger_entries,
    postings,
    sessions,
    refresh_tokens,
    personal_tokens,
    login_networks,
    challenges,
    phone_codes,
    blocks,
    security_events,
    provider_messages,
    webhook_endpoints,
    webhook_deliveries,
    webhook_attempts,
}

diesel::joinable!(wallets -> users (user_id));
diesel::joinable!(login_networks -> users (user_id));
diesel::joinable!(idempotency_keys -> operations (operation_id));
diesel::joinable!(gigs -> users (dj_id));
diesel::joinable!(request_messages -> music_requests (request_id));
diesel::joinable!(ratings -> music_requests (request_id));
diesel::joinable!(refresh_tokens -> sessions (session_id));
diesel::joinable!(personal_tokens -> sessions (session_id));
diesel::joinable!(sessions -> users (user_id));
diesel::joinable!(blocks -> users (guest_id));
diesel::joinable!(webhook_endpoints -> users (owner_id));
diesel::joinable!(webhook_deliveries -> webhook_endpoints (endpoint_id));

/// Adjustments, which have ids and no table.
const ADJUSTMENTS: Counter = Counter {
    name: "adjustments",
    sequence: "adjustment_ids",
    counting: Counting::Reserved,
    greatest: "SELECT max(reference_id) FROM ledger_entries WHERE reference_kind = 'adjustment'",
};

/// Every counter of ids.
pub static COUNTERS: LazyLock<Vec<Counter>> =
    LazyLock::new(|| TABLES.iter().filter_map(|table| table.counter).chain([ADJUSTMENTS]).collect());
