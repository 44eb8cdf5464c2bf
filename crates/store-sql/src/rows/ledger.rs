//! Entries and postings.

use cuepoint_domain::entity_ref::EntityRef;
use cuepoint_domain::ids::{OperationId, UserId};
use cuepoint_domain::ledger::{Balance, ChainHash, Entry, Posting};
use cuepoint_domain::money::Currency;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::withdrawal::Income;
use uuid::Uuid;

use super::{Corrupt, Named, Sum, hash, known, money};
use crate::schema::{StoredEntry, StoredPosting};
use crate::table::Numbered;

/// The condition of SQLite's partial index of income, for statements that use it: the kinds of [`Income::KINDS`].
pub const INCOME: &str = "ledger_entries.kind IN ('topup', 'earning')";

/// The wallet, the time, and the changes of the available and the owed balance of an entry of income.
pub type IncomeRow = (i64, Timestamp, Sum, Sum);

/// Converts an entry of income, with the owner of its wallet.
pub fn income(
    (wallet, at, available, owed): IncomeRow,
    currency: &Currency,
) -> Result<(UserId, Income), Corrupt> {
    let wallet = known("ledger_entries.wallet_id", UserId::new(wallet))?;
    let available = money(currency, "ledger_entries.available_change", &available)?;
    let owed = money(currency, "ledger_entries.owed_change", &owed)?;
    let income = known("ledger_entries.available_change", Income::credited(at, available, owed))?;
    Ok((wallet, income))
}

impl StoredEntry {
    /// Converts an entry to its row.
    #[must_use]
    pub fn of(entry: &Entry, currency: &Currency) -> Self {
        Self {
            wallet_id: entry.wallet.get(),
            seq: entry.seq,
            operation_id: Uuid::from_u128(entry.operation.0),
            kind: Named::of(entry.kind),
            reference_kind: entry.reference.kind_name().to_owned(),
            reference_id: entry.reference.id(),
            available_change: Sum::of(currency, entry.change.available),
            held_change: Sum::of(currency, entry.change.held),
            owed_change: Sum::of(currency, entry.change.owed),
            available_after: Sum::of(currency, entry.after.available),
            held_after: Sum::of(currency, entry.after.held),
            owed_after: Sum::of(currency, entry.after.owed),
            at: entry.at,
            previous: entry.previous.0.to_vec(),
            hash: entry.hash.0.to_vec(),
        }
    }

    /// Converts the row to its entry.
    pub fn entry(self, currency: &Currency) -> Result<Entry, Corrupt> {
        let reference = EntityRef::stored(&self.reference_kind, self.reference_id);
        Ok(Entry {
            wallet: known("wallet_id", UserId::new(self.wallet_id))?,
            seq: self.seq,
            operation: OperationId(self.operation_id.as_u128()),
            kind: known("ledger_entries.kind", self.kind.get())?,
            reference: known("reference_kind", reference)?,
            change: Balance {
                available: money(currency, "ledger_entries.available_change", &self.available_change)?,
                held: money(currency, "ledger_entries.held_change", &self.held_change)?,
                owed: money(currency, "ledger_entries.owed_change", &self.owed_change)?,
            },
            after: Balance {
                available: money(currency, "ledger_entries.available_after", &self.available_after)?,
                held: money(currency, "ledger_entries.held_after", &self.held_after)?,
                owed: money(currency, "ledger_entries.owed_after", &self.owed_after)?,
            },
            at: self.at,
            previous: ChainHash(hash("previous", &self.previous)?),
            hash: ChainHash(hash("hash", &self.hash)?),
        })
    }
}

impl StoredPosting {
    /// Converts a posting to its row.
    #[must_use]
    pub fn of(posting: &Posting, currency: &Currency) -> Self {
        Self {
            operation_id: Uuid::from_u128(posting.operation.0),
            account: Named::of(posting.account),
            amount: Sum::of(currency, posting.amount),
            at: posting.at,
        }
    }
}

impl StoredPosting {
    /// Converts the row to its posting.
    pub fn posting(self, currency: &Currency) -> Result<Posting, Corrupt> {
        Ok(Posting {
            operation: OperationId(self.operation_id.as_u128()),
            account: known("account", self.account.get())?,
            amount: money(currency, "postings.amount", &self.amount)?,
            at: self.at,
        })
    }
}

impl Numbered<StoredPosting> {
    /// Converts the row to its posting.
    pub fn posting(self, currency: &Currency) -> Result<Posting, Corrupt> {
        self.row.posting(currency)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuepoint_domain::ledger::EntryKind;

    #[test]
    fn the_condition_of_income_names_its_kinds() {
        let kinds = Income::KINDS.map(EntryKind::name).join("', '");
        assert_eq!(INCOME, format!("ledger_entries.kind IN ('{kinds}')"));
    }

    #[test]
    fn who_has_paid_has_income_or_a_charged_fee() {
        let [topup, earning] = Income::KINDS;
        assert_eq!(EntryKind::PAYMENTS, [topup, earning, EntryKind::Capture]);
    }
}
