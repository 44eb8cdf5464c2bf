//! The chain of a wallet's entries, followed from the first to the newest.

use crate::audit::Finding;
use crate::ledger::{Balance, ChainHash, Entry, Wallet};
use crate::money::Money;
use crate::timestamp::Timestamp;

/// The state that a wallet's entries have led to so far.
#[derive(Clone, Debug)]
pub(super) struct EntryChain {
    wallet: Wallet,
    seq: i64,
    after: Balance,
    head: ChainHash,
    at: Timestamp,
}

impl EntryChain {
    /// The chain of this wallet, before its first entry.
    pub(super) fn of(wallet: Wallet) -> Self {
        Self { wallet, seq: 0, after: Balance::default(), head: ChainHash::START, at: Timestamp::EPOCH }
    }

    /// Follows the next entry.
    pub(super) fn follow(&mut self, entry: &Entry) -> Result<(), Finding> {
        let (wallet, seq) = (entry.wallet, entry.seq);
        if wallet != self.wallet.user {
            return Err(Finding::OrphanEntry { wallet, seq });
        }
        let expected = self.seq.saturating_add(1);
        if seq != expected {
            return Err(Finding::Gap { wallet, expected, found: Some(seq) });
        }
        let moved = |before: Money, change: Money, after: Money| before.checked_add(change) == Some(after);
        let sums = moved(self.after.available, entry.change.available, entry.after.available)
            && moved(self.after.held, entry.change.held, entry.after.held)
            && moved(self.after.owed, entry.change.owed, entry.after.owed);
        if !sums {
            return Err(Finding::Sum { wallet, seq });
        }
        if entry.previous != self.head || entry.hash != entry.link() {
            return Err(Finding::Chain { wallet, seq });
        }
        if entry.at < self.at {
            return Err(Finding::Time { wallet, seq });
        }
        self.seq = seq;
        self.after = entry.after;
        self.head = entry.hash;
        self.at = entry.at;
        Ok(())
    }

    /// Compares the final state with the wallet.
    pub(super) fn close(self) -> Result<(), Finding> {
        let wallet = self.wallet.user;
        if self.seq < self.wallet.seq {
            return Err(Finding::Gap { wallet, expected: self.seq.saturating_add(1), found: None });
        }
        let led =
            Wallet { user: wallet, balance: self.after, seq: self.seq, last_at: self.at, head: self.head };
        if led == self.wallet { Ok(()) } else { Err(Finding::Balance { wallet }) }
    }
}
