//! Entries and postings.

use bigdecimal::BigDecimal;
use cuepoint_domain::ids::{OperationId, UserId};
use cuepoint_domain::ledger::{Balance, ChainHash, EntityRef, Entry, EntryKind, Posting, PostingAccount};
use cuepoint_domain::money::Currency;
use diesel::prelude::*;
use time::OffsetDateTime;
use uuid::Uuid;

use super::{Corrupt, column_time, hash, known, money, timestamp};
use crate::schema::{ledger_entries, postings};

/// An entry.
#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = ledger_entries, check_for_backend(diesel::pg::Pg))]
pub(crate) struct EntryRow {
    pub(crate) wallet_id: i64,
    pub(crate) seq: i64,
    pub(crate) operation_id: Uuid,
    pub(crate) kind: String,
    pub(crate) reference_kind: String,
    pub(crate) reference_id: i64,
    pub(crate) available_change: BigDecimal,
    pub(crate) held_change: BigDecimal,
    pub(crate) owed_change: BigDecimal,
    pub(crate) available_after: BigDecimal,
    pub(crate) held_after: BigDecimal,
    pub(crate) owed_after: BigDecimal,
    pub(crate) at: OffsetDateTime,
    pub(crate) previous: Vec<u8>,
    pub(crate) hash: Vec<u8>,
}

impl EntryRow {
    pub(crate) fn of(entry: &Entry, currency: &Currency) -> Self {
        Self {
            wallet_id: entry.wallet.get(),
            seq: entry.seq,
            operation_id: Uuid::from_u128(entry.operation.0),
            kind: entry.kind.name().to_owned(),
            reference_kind: entry.reference.kind_name().to_owned(),
            reference_id: entry.reference.id(),
            available_change: currency.to_decimal(entry.change.available),
            held_change: currency.to_decimal(entry.change.held),
            owed_change: currency.to_decimal(entry.change.owed),
            available_after: currency.to_decimal(entry.after.available),
            held_after: currency.to_decimal(entry.after.held),
            owed_after: currency.to_decimal(entry.after.owed),
            at: column_time(entry.at),
            previous: entry.previous.0.to_vec(),
            hash: entry.hash.0.to_vec(),
        }
    }

    pub(crate) fn entry(self, currency: &Currency) -> Result<Entry, Corrupt> {
        let reference = EntityRef::stored(&self.reference_kind, self.reference_id);
        Ok(Entry {
            wallet: known("wallet_id", UserId::new(self.wallet_id))?,
            seq: self.seq,
            operation: OperationId(self.operation_id.as_u128()),
            kind: known("ledger_entries.kind", EntryKind::stored(&self.kind))?,
            reference: known("reference_kind", reference)?,
            change: Balance {
                available: money(currency, "available_change", &self.available_change)?,
                held: money(currency, "held_change", &self.held_change)?,
                owed: money(currency, "owed_change", &self.owed_change)?,
            },
            after: Balance {
                available: money(currency, "available_after", &self.available_after)?,
                held: money(currency, "held_after", &self.held_after)?,
                owed: money(currency, "owed_after", &self.owed_after)?,
            },
            at: timestamp(self.at),
            previous: ChainHash(hash("previous", &self.previous)?),
            hash: ChainHash(hash("hash", &self.hash)?),
        })
    }
}

/// A posting that is still to be written.
#[derive(Clone, Debug)]
pub(crate) struct NewPostingRow {
    pub(crate) operation_id: Uuid,
    pub(crate) account: String,
    pub(crate) amount: BigDecimal,
    pub(crate) at: OffsetDateTime,
}

impl NewPostingRow {
    pub(crate) fn of(posting: &Posting, currency: &Currency) -> Self {
        Self {
            operation_id: Uuid::from_u128(posting.operation.0),
            account: posting.account.name().to_owned(),
            amount: currency.to_decimal(posting.amount),
            at: column_time(posting.at),
        }
    }
}

/// A posting.
#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = postings, check_for_backend(diesel::pg::Pg))]
pub(crate) struct PostingRow {
    pub(crate) id: i64,
    operation_id: Uuid,
    account: String,
    amount: BigDecimal,
    at: OffsetDateTime,
}

impl PostingRow {
    pub(crate) fn posting(self, currency: &Currency) -> Result<Posting, Corrupt> {
        Ok(Posting {
            operation: OperationId(self.operation_id.as_u128()),
            account: known("account", PostingAccount::stored(&self.account))?,
            amount: money(currency, "postings.amount", &self.amount)?,
            at: timestamp(self.at),
        })
    }
}
