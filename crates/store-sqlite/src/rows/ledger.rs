//! Operations, idempotency keys, entries, postings and security events: append-only rows.

use cuepoint_domain::ledger::{Entry, Posting};
use cuepoint_domain::money::Currency;
use cuepoint_domain::operation::{KeyRecord, PositionedOperation, Receipt, StoredReceipt};
use cuepoint_domain::security_log::SecurityEvent;
use cuepoint_store_sql::rows::{
    Corrupt, StoredEntry, StoredEvent, StoredKey, StoredOperation, StoredPosting,
};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Nullable, SmallInt, Text};

use super::table_row::{TableRow, row_value, table_row};
use crate::schema::{postings, security_events};

table_row! {
    /// An operation.
    operations: OperationRow = StoredOperation {
        id: Binary as Vec<u8>,
        kind: Text as String,
        actor_user_id: Nullable<BigInt> as Option<i64>,
        reason: Nullable<Text> as Option<String>,
        at: BigInt as i64,
        receipt: Text as String,
        posting_rules: Nullable<SmallInt> as Option<i16>,
        position: Nullable<BigInt> as Option<i64>,
        owner_id: Nullable<BigInt> as Option<i64>,
        dj_id: Nullable<BigInt> as Option<i64>,
    }
}

row_value!(OperationRow = StoredOperation: read StoredReceipt, stored with currency);
row_value!(OperationRow = StoredOperation: read Receipt, receipt with currency);
row_value!(OperationRow = StoredOperation: read PositionedOperation, positioned with currency);

table_row! {
    /// An idempotency key.
    idempotency_keys: KeyRow = StoredKey {
        scope: Binary as Vec<u8>,
        fingerprint: Binary as Vec<u8>,
        operation_id: Binary as Vec<u8>,
        at: BigInt as i64,
    }
}

impl KeyRow {
    /// Returns the key with the receipt of its operation.
    pub(crate) fn record(self, operation: OperationRow, currency: &Currency) -> Result<KeyRecord, Corrupt> {
        self.decode(currency)?.record(&operation.decode(currency)?, currency)
    }
}

table_row! {
    /// An entry.
    ledger_entries: EntryRow = StoredEntry {
        wallet_id: BigInt as i64,
        seq: BigInt as i64,
        operation_id: Binary as Vec<u8>,
        kind: Text as String,
        reference_kind: Text as String,
        reference_id: BigInt as i64,
        available_change: Text as String,
        held_change: Text as String,
        owed_change: Text as String,
        available_after: Text as String,
        held_after: Text as String,
        owed_after: Text as String,
        at: BigInt as i64,
        previous: Binary as Vec<u8>,
        hash: Binary as Vec<u8>,
    }
}

row_value!(EntryRow = StoredEntry: read Entry, entry with currency);

table_row! {
    /// A posting before it has an id.
    postings: NewPostingRow = StoredPosting {
        operation_id: Binary as Vec<u8>,
        account: Text as String,
        amount: Text as String,
        at: BigInt as i64,
    }
}

row_value!(NewPostingRow = StoredPosting: read Posting, posting with currency);

/// A posting with its id.
#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = postings, check_for_backend(diesel::sqlite::Sqlite))]
pub(crate) struct PostingRow {
    pub(crate) id: i64,
    #[diesel(embed)]
    posting: NewPostingRow,
}

impl PostingRow {
    pub(crate) fn posting(self, currency: &Currency) -> Result<Posting, Corrupt> {
        self.posting.posting(currency)
    }
}

table_row! {
    /// A security event before it has an id.
    security_events: NewEventRow = StoredEvent {
        kind: Text as String,
        user_id: Nullable<BigInt> as Option<i64>,
        actor_id: Nullable<BigInt> as Option<i64>,
        session_id: Nullable<BigInt> as Option<i64>,
        address: Nullable<Text> as Option<String>,
        agent: Nullable<Text> as Option<String>,
        detail: Nullable<Text> as Option<String>,
        at: BigInt as i64,
    }
}

row_value!(NewEventRow = StoredEvent: SecurityEvent, event);

/// A security event with its id.
#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = security_events, check_for_backend(diesel::sqlite::Sqlite))]
pub(crate) struct EventRow {
    id: i64,
    #[diesel(embed)]
    event: NewEventRow,
}

impl EventRow {
    pub(crate) fn event(self, currency: &Currency) -> Result<(i64, SecurityEvent), Corrupt> {
        Ok((self.id, self.event.event(currency)?))
    }
}
