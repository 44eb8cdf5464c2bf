//! Operations, idempotency keys, entries, postings and security events: append-only rows.

use std::io::Write;

use bigdecimal::BigDecimal;
use cuepoint_domain::ledger::{Entry, Posting};
use cuepoint_domain::money::Currency;
use cuepoint_domain::operation::{KeyRecord, PositionedOperation, Receipt, StoredReceipt};
use cuepoint_domain::security_log::SecurityEvent;
use cuepoint_store_sql::rows::{
    Corrupt, StoredEntry, StoredEvent, StoredKey, StoredOperation, StoredPosting,
};
use diesel::deserialize::{self, FromSql, FromSqlRow};
use diesel::expression::AsExpression;
use diesel::pg::{Pg, PgValue};
use diesel::prelude::*;
use diesel::serialize::{self, IsNull, Output, ToSql};
use diesel::sql_types::{
    BigInt, Bytea, Jsonb, Nullable, Numeric, SmallInt, Text, Timestamptz, Uuid as SqlUuid,
};
use time::OffsetDateTime;
use uuid::Uuid;

use super::table_row::{ColumnValue, row_value, table_row};
use crate::schema::{postings, security_events};

table_row! {
    /// An operation.
    operations: OperationRow = StoredOperation {
        id: SqlUuid as Uuid,
        kind: Text as String,
        actor_user_id: Nullable<BigInt> as Option<i64>,
        reason: Nullable<Text> as Option<String>,
        at: Timestamptz as OffsetDateTime,
        receipt: Jsonb as ReceiptText,
        posting_rules: Nullable<SmallInt> as Option<i16>,
        position[later]: Nullable<BigInt> as Option<i64>,
        owner_id: Nullable<BigInt> as Option<i64>,
        dj_id: Nullable<BigInt> as Option<i64>,
    }
}

row_value!(OperationRow = StoredOperation: read StoredReceipt, stored with currency);
row_value!(OperationRow = StoredOperation: read Receipt, receipt with currency);
row_value!(OperationRow = StoredOperation: read PositionedOperation, positioned with currency);

/// A receipt as JSON text, written and read without a document tree.
#[derive(Clone, PartialEq, Eq, Debug, AsExpression, FromSqlRow)]
#[diesel(sql_type = Jsonb)]
pub(crate) struct ReceiptText(String);

impl ReceiptText {
    /// The column's value of a JSON text.
    pub(crate) const fn from_text(json: String) -> Self {
        Self(json)
    }

    /// The JSON text.
    pub(crate) fn into_text(self) -> String {
        self.0
    }
}

impl ColumnValue<String> for ReceiptText {
    fn encode(json: String) -> Self {
        Self::from_text(json)
    }

    fn decode(self) -> String {
        self.into_text()
    }
}

/// The version of the binary format of `jsonb`: this byte, followed by the text.
const JSONB_VERSION: u8 = 1;

impl ToSql<Jsonb, Pg> for ReceiptText {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
        out.write_all(&[JSONB_VERSION])?;
        out.write_all(self.0.as_bytes())?;
        Ok(IsNull::No)
    }
}

impl FromSql<Jsonb, Pg> for ReceiptText {
    fn from_sql(value: PgValue<'_>) -> deserialize::Result<Self> {
        match value.as_bytes().split_first() {
            Some((&JSONB_VERSION, text)) => Ok(Self(std::str::from_utf8(text)?.to_owned())),
            _ => Err("the binary form of jsonb is of an unknown version".into()),
        }
    }
}

table_row! {
    /// An idempotency key.
    idempotency_keys: KeyRow = StoredKey {
        scope: Bytea as Vec<u8>,
        fingerprint: Bytea as Vec<u8>,
        operation_id: SqlUuid as Uuid,
        at: Timestamptz as OffsetDateTime,
    }
}

impl KeyRow {
    /// Returns the key with the receipt of its operation.
    pub(crate) fn record(self, operation: OperationRow, currency: &Currency) -> Result<KeyRecord, Corrupt> {
        StoredKey::from(self).record(&operation.into(), currency)
    }
}

table_row! {
    /// An entry.
    ledger_entries: EntryRow = StoredEntry {
        wallet_id: BigInt as i64,
        seq: BigInt as i64,
        operation_id: SqlUuid as Uuid,
        kind: Text as String,
        reference_kind: Text as String,
        reference_id: BigInt as i64,
        available_change: Numeric as BigDecimal,
        held_change: Numeric as BigDecimal,
        owed_change: Numeric as BigDecimal,
        available_after: Numeric as BigDecimal,
        held_after: Numeric as BigDecimal,
        owed_after: Numeric as BigDecimal,
        at: Timestamptz as OffsetDateTime,
        previous: Bytea as Vec<u8>,
        hash: Bytea as Vec<u8>,
    }
}

row_value!(EntryRow = StoredEntry: read Entry, entry with currency);

table_row! {
    /// A posting before it has an id.
    postings: NewPostingRow = StoredPosting {
        operation_id: SqlUuid as Uuid,
        account: Text as String,
        amount: Numeric as BigDecimal,
        at: Timestamptz as OffsetDateTime,
    }
}

row_value!(NewPostingRow = StoredPosting: read Posting, posting with currency);

/// A posting with its id.
#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = postings, check_for_backend(diesel::pg::Pg))]
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
        at: Timestamptz as OffsetDateTime,
    }
}

row_value!(NewEventRow = StoredEvent: SecurityEvent, event);

/// A security event with its id.
#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = security_events, check_for_backend(diesel::pg::Pg))]
pub(crate) struct EventRow {
    id: i64,
    #[diesel(embed)]
    event: NewEventRow,
}

impl EventRow {
    pub(crate) fn event(self) -> Result<(i64, SecurityEvent), Corrupt> {
        Ok((self.id, self.event.event()?))
    }
}
