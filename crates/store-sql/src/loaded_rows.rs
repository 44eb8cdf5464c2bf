//! The rows of a group's lock set, as loaded from the database.

use cuepoint_domain::ids::UserId;
use cuepoint_domain::money::Currency;
use cuepoint_domain::operation::Book;
use cuepoint_domain::operation::feature_level::FeatureLevel;
use cuepoint_domain::timestamp::Timestamp;

use crate::rows::{
    Corrupt, StoredKey, StoredMessage, StoredOperation, StoredRequest, StoredTopup, StoredUser, StoredWallet,
    StoredWithdrawal, known,
};

/// An adjustment by a user.
#[derive(Clone, Copy, Debug)]
pub struct StoredAdjustment {
    /// The owner of the wallet.
    pub wallet_id: i64,
    /// The user who adjusted it.
    pub actor_user_id: Option<i64>,
    /// The time of the entry.
    pub at: Timestamp,
}

/// The rows that were loaded for a group of plans.
#[derive(Clone, Debug, Default)]
pub struct LoadedRows {
    /// Music requests: the locked ones, and the counted ones.
    pub requests: Vec<StoredRequest>,
    /// Users.
    pub users: Vec<StoredUser>,
    /// Wallets.
    pub wallets: Vec<StoredWallet>,
    /// Withdrawals: the locked ones, and the recent ones.
    pub withdrawals: Vec<StoredWithdrawal>,
    /// Top-ups.
    pub topups: Vec<StoredTopup>,
    /// Provider messages.
    pub provider_messages: Vec<StoredMessage>,
    /// Recent adjustments.
    pub adjusted: Vec<StoredAdjustment>,
    /// Operations that were applied before.
    pub operations: Vec<StoredOperation>,
    /// Idempotency keys that were used before, each with its operation.
    pub keys: Vec<(StoredKey, StoredOperation)>,
}

impl LoadedRows {
    /// Adds rows that were loaded separately, such as those read under the locks of these.
    pub fn extend(&mut self, other: Self) {
        // Without `..`, so that the rows of a new entity are not lost here.
        let Self {
            requests,
            users,
            wallets,
            withdrawals,
            topups,
            provider_messages,
            adjusted,
            operations,
            keys,
        } = other;
        self.requests.extend(requests);
        self.users.extend(users);
        self.wallets.extend(wallets);
        self.withdrawals.extend(withdrawals);
        self.topups.extend(topups);
        self.provider_messages.extend(provider_messages);
        self.adjusted.extend(adjusted);
        self.operations.extend(operations);
        self.keys.extend(keys);
    }

    /// Builds the book that the plans are judged on.
    ///
    /// # Errors
    /// [`Corrupt`] for the first row without a valid value.
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
