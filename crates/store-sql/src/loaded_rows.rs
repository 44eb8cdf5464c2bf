//! The rows of a group's lock set, as loaded from the database.

use cuepoint_domain::ids::{GigId, UserId};
use cuepoint_domain::money::Currency;
use cuepoint_domain::music_request::{QueueSize, RequestRating, Voice};
use cuepoint_domain::operation::Book;
use cuepoint_domain::operation::feature_level::FeatureLevel;
use cuepoint_domain::timestamp::Timestamp;

use crate::entity_rows::{EntityRows, Rowed};
use crate::rows::{
    Corrupt, IncomeRow, StoredKey, StoredOperation, StoredRating, StoredWallet, income, known,
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

/// A gig with the numbers of its open requests, of those that count as guests', and of all.
pub type CountedRequests = (i64, i64, i64, i64);

/// The rows that were loaded for a group of plans.
#[derive(Clone, Debug, Default)]
pub struct LoadedRows {
    /// Entities: the locked ones, counted requests, and recent withdrawals.
    pub entities: EntityRows,
    pub wallets: Vec<StoredWallet>,
    /// The newest ratings of voices.
    pub newest_ratings: Vec<(Voice, StoredRating)>,
    /// Recent adjustments.
    pub adjusted: Vec<StoredAdjustment>,
    /// Entries of recent income.
    pub income: Vec<IncomeRow>,
    /// The numbers of requests in queues.
    pub queues: Vec<CountedRequests>,
    /// Operations that were applied before.
    pub operations: Vec<StoredOperation>,
    /// Idempotency keys that were used before, each with its operation.
    pub keys: Vec<(StoredKey, StoredOperation)>,
}

impl LoadedRows {
    /// Adds rows that were loaded separately, such as those read under the locks of these.
    pub fn extend(&mut self, other: Self) {
        // Without `..`, so that no rows are lost here.
        let Self { entities, wallets, newest_ratings, adjusted, income, queues, operations, keys } = other;
        self.entities.extend(entities);
        self.wallets.extend(wallets);
        self.newest_ratings.extend(newest_ratings);
        self.adjusted.extend(adjusted);
        self.income.extend(income);
        self.queues.extend(queues);
        self.operations.extend(operations);
        self.keys.extend(keys);
    }

    /// Builds the book for the checks of the plans.
    ///
    /// # Errors
    /// [`Corrupt`] for the first row without a valid value.
    pub fn book(self, feature_level: FeatureLevel, currency: &Currency) -> Result<Book, Corrupt> {
        let mut book = Book::at(feature_level);
        self.entities.fill(&mut book, currency)?;
        for row in self.wallets {
            let wallet = row.wallet(currency)?;
            book.wallets.insert(wallet.user, wallet);
        }
        for (voice, row) in self.newest_ratings {
            book.put_newest_rating(voice, RequestRating::of_row(row, currency)?);
        }
        for StoredAdjustment { wallet_id, actor_user_id, at } in self.adjusted {
            let wallet = known("ledger_entries.wallet_id", UserId::new(wallet_id))?;
            let by = known("operations.actor_user_id", actor_user_id.and_then(UserId::new))?;
            book.put_adjustment(wallet, by, at);
        }
        for row in self.income {
            let (wallet, income) = income(row, currency)?;
            book.put_income(wallet, income);
        }
        for (gig, open, open_of_guests, made) in self.queues {
            let [open, open_of_guests, made] =
                [open, open_of_guests, made].map(|count| u64::try_from(count).unwrap_or_default());
            let gig = known("music_requests.gig_id", GigId::new(gig))?;
            book.put_queue_size(gig, QueueSize { open, open_of_guests, made });
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
