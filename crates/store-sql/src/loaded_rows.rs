//! The rows that the lock set of a group named, as the database has them.

use cuepoint_domain::ids::UserId;
use cuepoint_domain::ledger::Book;
use cuepoint_domain::ledger::feature_level::FeatureLevel;
use cuepoint_domain::money::Currency;
use cuepoint_domain::timestamp::Timestamp;

use crate::rows::{
    Corrupt, StoredKey, StoredMessage, StoredOperation, StoredRequest, StoredTopup, StoredUser, StoredWallet,
    StoredWithdrawal, known,
};

/// An adjustment by a person.
#[derive(Clone, Copy, Debug)]
pub struct StoredAdjustment {
    /// The owner of the wallet.
    pub wallet_id: i64,
    /// Who adjusted it.
    pub actor_user_id: Option<i64>,
    /// The time of the entry.
    pub at: Timestamp,
}

/// Rows that were loaded for a group of plans.
#[derive(Clone, Debug, Default)]
pub struct LoadedRows {
    /// Music requests: the locked ones, and those that are counted.
    pub requests: Vec<StoredRequest>,
    /// People.
    pub users: Vec<StoredUser>,
    /// Wallets.
    pub wallets: Vec<StoredWallet>,
    /// Withdrawals: the locked ones, and those of a window.
    pub withdrawals: Vec<StoredWithdrawal>,
    /// Top-ups.
    pub topups: Vec<StoredTopup>,
    /// Messages of providers.
    pub provider_messages: Vec<StoredMessage>,
    /// Recent adjustments.
    pub adjusted: Vec<StoredAdjustment>,
    /// Operations that were applied before.
    pub operations: Vec<StoredOperation>,
    /// Keys that were used before, each with its operation.
    pub keys: Vec<(StoredKey, StoredOperation)>,
}

impl LoadedRows {
    /// The book that the plans are judged on.
    ///
    /// # Errors
    /// [`Corrupt`] for the first row that stands for no value.
    pub fn book(self, feature_level: FeatureLevel, currency: &Currency) -> Result<Book, Corrupt> {
        let mut book = Book::at(feature_level);
        for row in self.requests {
            book.put_request(row.request(currency)?);
        }
        for row in self.users {
            let user = row.user(currency)?;
            book.users.insert(user.id, user);
        }
        for row in self.wallets {
            let wallet = row.wallet(currency)?;
            book.wallets.insert(wallet.user, wallet);
        }
        for row in self.withdrawals {
            book.put_withdrawal(row.withdrawal(currency)?);
        }
        for row in self.topups {
            let topup = row.topup(currency)?;
            book.topups.insert(topup.id, topup);
        }
        for row in self.provider_messages {
            let message = row.message()?;
            book.provider_messages.insert(message.id, message);
        }
        for StoredAdjustment { wallet_id, actor_user_id, at } in self.adjusted {
            let wallet = known("ledger_entries.wallet_id", UserId::new(wallet_id))?;
            let by = known("operations.actor_user_id", actor_user_id.and_then(UserId::new))?;
            book.put_adjustment(wallet, by, at);
        }
        for row in self.operations {
            let receipt = row.stored(currency)?;
            book.operations.insert(receipt.operation(), receipt);
        }
        for (key, operation) in self.keys {
            let record = key.record(&operation, currency)?;
            book.keys.insert(record.key.scope, record);
        }
        Ok(book)
    }
}
