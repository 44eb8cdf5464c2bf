//! The purge of rows past their retention.

use cuepoint_domain::account::challenge::Challenge;
use cuepoint_domain::account::code_quotas;
use cuepoint_domain::account::security_log::SecurityEvent;
use cuepoint_domain::account::session::Session;
use cuepoint_domain::ledger::KeyRecord;
use cuepoint_domain::network::KnownNetwork;
use cuepoint_domain::timestamp::Timestamp;
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use time::Duration;

use super::age::{PAST_RETENTION, micros_of};
use super::pace::{BATCH, Pace, in_batches, is_whole};
use super::redaction::redact_due;
use crate::connect::failure::SqliteFailure;
use crate::writer::Writer;

/// The tables of the purge: their key, the expression of their index by age, and the retention of their rows.
const RETENTION: [(&str, &str, &str, Duration); 7] = [
    ("idempotency_keys", "scope", "at", KeyRecord::RETENTION),
    ("refresh_tokens", "hash", "expires_at", Duration::ZERO),
    ("sessions", "id", "min(coalesce(ended_at, expires_at), expires_at)", Session::RETENTION),
    ("login_networks", "id", "seen_at", KnownNetwork::RETENTION),
    ("challenges", "id", "issued_at", Challenge::RETENTION),
    ("phone_codes", "id", "sent_at", code_quotas::WINDOW),
    ("security_events", "id", "at", SecurityEvent::RETENTION),
];

/// Deletes rows past their retention, and redacts receipts past theirs.
pub(crate) async fn purge_expired(writer: &Writer, now: Timestamp) -> Result<(), SqliteFailure> {
    let now = now.unix_micros();
    for (table, key, since, kept_for) in RETENTION {
        let statement = format!(
            "DELETE FROM {table} WHERE {key} IN \
             (SELECT {key} FROM {table} WHERE {since} <= {PAST_RETENTION} LIMIT ?)"
        );
        let kept_for = micros_of(kept_for);
        let delete = move |connection: &mut SqliteConnection, (): &()| {
            let batch = diesel::sql_query(&statement).bind::<BigInt, _>(now).bind::<BigInt, _>(kept_for);
            let deleted = batch.bind::<BigInt, _>(BATCH).execute(connection)?;
            Ok(is_whole(deleted).then_some(()))
        };
        in_batches(writer, Pace::Gentle, (), delete).await?;
    }
    // After the keys, so that every key that is found has a whole receipt.
    redact_due(writer, now).await
}
