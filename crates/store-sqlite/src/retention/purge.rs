//! The purge of rows past their retention.

use cuepoint_domain::network::KnownNetwork;
use cuepoint_domain::operation::KeyRecord;
use cuepoint_domain::security_log::SecurityEvent;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::challenge::Purpose;
use cuepoint_domain::user::code_quotas;
use cuepoint_domain::user::session::Session;
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use time::Duration;

use super::age::{PAST_RETENTION, micros_of};
use super::pace::{BATCH, Pace, in_batches, is_whole};
use super::redaction::redact_due;
use crate::connect::failure::SqliteFailure;
use crate::writer::Writer;

/// The tables of the purge: their key, the expression of their index by age, a further condition, and the retention of
/// their rows.
const RETENTION: [(&str, &str, &str, &str, Duration); 8] = [
    ("idempotency_keys", "scope", "at", "true", KeyRecord::RETENTION),
    ("refresh_tokens", "hash", "expires_at", "true", Duration::ZERO),
    ("sessions", "id", "min(coalesce(ended_at, expires_at), expires_at)", "true", Session::RETENTION),
    ("login_networks", "id", "seen_at", "true", KnownNetwork::RETENTION),
    ("challenges", "id", "issued_at", "purpose <> 'email_restore'", Purpose::Email.kept_for()),
    ("challenges", "id", "issued_at", "purpose = 'email_restore'", Purpose::EmailRestore.kept_for()),
    ("phone_codes", "id", "sent_at", "true", code_quotas::WINDOW),
    ("security_events", "id", "at", "true", SecurityEvent::RETENTION),
];

/// Deletes rows past their retention, and redacts receipts past theirs.
pub(crate) async fn purge_expired(writer: &Writer, now: Timestamp) -> Result<(), SqliteFailure> {
    let now = now.unix_micros();
    for (table, key, since, condition, kept_for) in RETENTION {
        let statement = format!(
            "DELETE FROM {table} WHERE {key} IN \
             (SELECT {key} FROM {table} WHERE {since} <= {PAST_RETENTION} AND {condition} LIMIT ?)"
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
