//! The self-check of the ledger: every row is shown once, in order, and the first thing that is wrong is named.

use std::fmt;

use crate::ids::UserId;
use crate::ledger::{Balance, ChainHash, Entry, Posting, Wallet};
use crate::money::Money;
use crate::timestamp::Timestamp;

/// The first thing that is wrong with the ledger.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Finding {
    /// An entry belongs to no wallet that was shown.
    OrphanEntry {
        /// The wallet that it names.
        wallet: UserId,
        /// Its number.
        seq: i64,
    },
    /// Entries are missing, doubled or swapped.
    Gap {
        /// In which wallet.
        wallet: UserId,
        /// The number that should have come.
        expected: i64,
        /// The number that came; `None` where the entries end too early.
        found: Option<i64>,
    },
    /// The balances after an entry are not those before it with its change.
    Sum {
        /// In which wallet.
        wallet: UserId,
        /// After which entry.
        seq: i64,
    },
    /// An entry's fields do not make its hash, or it does not follow the one before.
    Chain {
        /// In which wallet.
        wallet: UserId,
        /// Which entry.
        seq: i64,
    },
    /// A wallet's balance, time or head is not that of its newest entry.
    Balance {
        /// Which wallet.
        wallet: UserId,
    },
    /// All accounts together are not zero.
    Total {
        /// What they are, in minor units.
        sum: Money,
    },
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OrphanEntry { wallet, seq } => {
                write!(f, "entry {seq} of wallet {wallet} belongs to no wallet")
            }
            Self::Gap { wallet, expected, found: Some(found) } => {
                write!(f, "wallet {wallet} has entry {found} where entry {expected} should be")
            }
            Self::Gap { wallet, expected, found: None } => {
                write!(f, "entry {expected} of wallet {wallet} is missing")
            }
            Self::Sum { wallet, seq } => {
                write!(
                    f,
                    "entry {seq} of wallet {wallet}: the balances after it are not those before it plus its change"
                )
            }
            Self::Chain { wallet, seq } => write!(f, "entry {seq} of wallet {wallet}: its hash does not fit"),
            Self::Balance { wallet } => {
                write!(f, "wallet {wallet}: its balance is not that of its newest entry")
            }
            Self::Total { sum } => {
                write!(f, "all accounts together are {} minor units instead of 0", sum.minor())
            }
        }
    }
}

/// What a self-check has seen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Summary {
    /// Wallets.
    pub wallets: u64,
    /// Entries.
    pub entries: u64,
    /// Postings.
    pub postings: u64,
}

/// A self-check under way: shown each wallet followed by its entries in order, then all postings; bounded memory.
#[derive(Clone, Debug, Default)]
pub struct Auditor {
    current: Option<(Wallet, Replay)>,
    total: Money,
    seen: Summary,
    finding: Option<Finding>,
}

/// Where the entries of a wallet have led so far.
#[derive(Clone, Debug)]
struct Replay {
    seq: i64,
    after: Balance,
    head: ChainHash,
    at: Timestamp,
}

impl Auditor {
    /// A self-check that has seen nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Shows the next wallet; the entries of the one before are complete.
    pub fn wallet(&mut self, wallet: Wallet) {
        self.close();
        self.seen.wallets = self.seen.wallets.saturating_add(1);
        let Balance { available, held, owed } = wallet.balance;
        self.add(available);
        self.add(held);
        self.add(owed.negated());
        self.current = Some((
            wallet,
            Replay { seq: 0, after: Balance::default(), head: ChainHash::START, at: Timestamp::EPOCH },
        ));
    }

    /// Shows the next entry of the wallet shown last.
    pub fn entry(&mut self, entry: &Entry) {
        self.seen.entries = self.seen.entries.saturating_add(1);
        let found = match &mut self.current {
            Some((wallet, replay)) if wallet.user == entry.wallet => replay.follow(entry).err(),
            _ => Some(Finding::OrphanEntry { wallet: entry.wallet, seq: entry.seq }),
        };
        self.found(found);
    }

    /// Shows the next posting.
    pub fn posting(&mut self, posting: &Posting) {
        self.seen.postings = self.seen.postings.saturating_add(1);
        self.add(posting.amount);
    }

    /// What was seen, once everything was shown.
    ///
    /// # Errors
    /// The first [`Finding`], in the order in which the rows were shown.
    pub fn finish(mut self) -> Result<Summary, Finding> {
        self.close();
        if !self.total.is_zero() {
            self.found(Some(Finding::Total { sum: self.total }));
        }
        self.finding.map_or(Ok(self.seen), Err)
    }

    fn close(&mut self) {
        let found = self.current.take().and_then(|(wallet, replay)| {
            if replay.seq < wallet.seq {
                return Some(Finding::Gap {
                    wallet: wallet.user,
                    expected: replay.seq.saturating_add(1),
                    found: None,
                });
            }
            let same = replay.seq == wallet.seq
                && replay.after == wallet.balance
                && replay.head == wallet.head
                && replay.at == wallet.last_at;
            (!same).then_some(Finding::Balance { wallet: wallet.user })
        });
        self.found(found);
    }

    fn add(&mut self, amount: Money) {
        self.total = self.total.checked_add(amount).unwrap_or(Money::from_minor(i128::MAX));
    }

    fn found(&mut self, found: Option<Finding>) {
        if self.finding.is_none() {
            self.finding = found;
        }
    }
}

impl Replay {
    fn follow(&mut self, entry: &Entry) -> Result<(), Finding> {
        let (wallet, seq) = (entry.wallet, entry.seq);
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
        *self = Self { seq, after: entry.after, head: entry.hash, at: entry.at };
        Ok(())
    }
}
