//! The purge of rows past their retention.

use cuepoint_domain::music_request::MusicRequest;
use cuepoint_domain::network::KnownNetwork;
use cuepoint_domain::operation::KeyRecord;
use cuepoint_domain::ports::Unavailable;
use cuepoint_domain::security_log::SecurityEvent;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::challenge::Purpose;
use cuepoint_domain::user::code_quotas;
use cuepoint_domain::user::session::Session;
use time::Duration;
use tokio::time::Instant;

use super::batches::is_whole;
use super::redaction::redact_due;
use super::statements::{self, Expired, PURGE_PACE, purge_some};
use crate::SqlStore;

/// The rows of the purge, and their retention.
const RETENTION: [(Expired, Duration); 9] = [
    (statements::IDEMPOTENCY_KEYS, KeyRecord::RETENTION),
    (statements::REFRESH_TOKENS, Duration::ZERO),
    (statements::SESSIONS, Session::RETENTION),
    (statements::LOGIN_NETWORKS, KnownNetwork::RETENTION),
    (statements::CHALLENGES, Purpose::Email.kept_for()),
    (statements::RESTORATIONS, Purpose::EmailRestore.kept_for()),
    (statements::PHONE_CODES, code_quotas::WINDOW),
    (statements::SECURITY_EVENTS, SecurityEvent::RETENTION),
    (statements::DEDICATIONS, MusicRequest::DEDICATION_RETENTION),
];

/// Deletes rows past their retention, and redacts receipts past theirs if the feature level permits it.
pub(crate) async fn purge_expired(store: &SqlStore, now: Timestamp) -> Result<(), Unavailable> {
    for (rows, kept_for) in RETENTION {
        loop {
            let began = Instant::now();
            let input = (rows, now, kept_for);
            let purged = store.write_repeatable(input, async |connection, (rows, now, kept_for)| {
                purge_some(connection, rows, now, kept_for).await
            });
            if !is_whole(purged.await?) {
                break;
            }
            PURGE_PACE.rest(began).await;
        }
    }
    if !store.feature_level().redacts_receipts() {
        return Ok(());
    }
    // After the keys, so that every key that is found has a whole receipt.
    redact_due(store, now).await
}
