//! Accounts, the transfers between them, and the wallet that three of them make.

use strum::{EnumIter, EnumString, IntoStaticStr};

use crate::ids::UserId;
use crate::ledger::{ChainHash, EntryKind};
use crate::money::{Amount, Money};
use crate::names::named_enum;
use crate::timestamp::Timestamp;

/// Where money is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Account {
    /// What a person can spend.
    Available(UserId),
    /// What waits for a request or a withdrawal to end.
    Held(UserId),
    /// What belongs to the house.
    Platform(PlatformAccount),
    /// What came from, or went to, the world; its sum is the negative of what is inside.
    Outside(OutsideAccount),
}

impl Account {
    /// The owner of the wallet that the account is part of, if it is part of one.
    #[must_use]
    pub const fn owner(self) -> Option<UserId> {
        match self {
            Self::Available(user) | Self::Held(user) => Some(user),
            Self::Platform(_) | Self::Outside(_) => None,
        }
    }
}

/// Accounts of the house.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, IntoStaticStr, EnumString, EnumIter)]
#[strum(serialize_all = "snake_case")]
pub enum PlatformAccount {
    /// Its share of the fees.
    #[strum(serialize = "platform_commission")]
    Commission,
}

named_enum!(PlatformAccount);

/// Accounts of the world.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, IntoStaticStr, EnumString, EnumIter)]
#[strum(serialize_all = "snake_case")]
pub enum OutsideAccount {
    /// What guests paid in.
    #[strum(serialize = "outside_topups")]
    Topups,
    /// What was paid out.
    #[strum(serialize = "outside_payouts")]
    Payouts,
    /// What operators corrected.
    #[strum(serialize = "outside_adjustments")]
    Adjustments,
    /// Money that arrived for accounts that were erased, until an operator has dealt with it.
    #[strum(serialize = "outside_suspense")]
    Suspense,
}

named_enum!(OutsideAccount);

/// Why money moves, which decides how the entries of both sides are called and whether a receivable is touched.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum TransferKind {
    /// A guest pays in.
    Topup,
    /// Available money is set aside.
    Hold,
    /// Money set aside is available again.
    Release,
    /// Money set aside is paid.
    Capture,
    /// A capture is given back; what the payer no longer has becomes owed.
    Refund,
    /// An operator corrects a balance.
    Adjustment,
    /// Money that was paid in is taken back by who paid it; what the wallet no longer has becomes owed.
    Chargeback,
}

impl TransferKind {
    /// How the entry of the wallet is called that the money leaves.
    #[must_use]
    pub const fn debit_entry(self) -> EntryKind {
        match self {
            Self::Topup => EntryKind::Topup,
            Self::Hold => EntryKind::Hold,
            Self::Release => EntryKind::Release,
            Self::Capture => EntryKind::Capture,
            Self::Refund => EntryKind::Reversal,
            Self::Adjustment => EntryKind::Adjustment,
            Self::Chargeback => EntryKind::Chargeback,
        }
    }

    /// How the entry of the wallet is called that the money reaches.
    #[must_use]
    pub const fn credit_entry(self) -> EntryKind {
        match self {
            Self::Capture => EntryKind::Earning,
            Self::Refund => EntryKind::Refund,
            Self::Topup | Self::Hold | Self::Release | Self::Adjustment | Self::Chargeback => {
                self.debit_entry()
            }
        }
    }
}

/// Money from one account to another: balanced by construction, never zero or negative.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Transfer {
    /// Where it leaves.
    pub debit: Account,
    /// Where it arrives.
    pub credit: Account,
    /// How much.
    pub amount: Amount,
    /// Why.
    pub kind: TransferKind,
}

/// The three balances of a wallet, none of them below zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Balance {
    /// What can be spent now.
    pub available: Money,
    /// What waits for a request or a withdrawal to end.
    pub held: Money,
    /// What later income pays back first.
    pub owed: Money,
}

/// A wallet: its balances and the end of its chain of entries.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wallet {
    /// Its owner.
    pub user: UserId,
    /// What is in it.
    pub balance: Balance,
    /// How many entries it has, which is the number of the newest.
    pub seq: i64,
    /// When its newest entry was made; the start of 1970 without any.
    pub last_at: Timestamp,
    /// The hash of its newest entry.
    pub head: ChainHash,
}

impl Wallet {
    /// A person's empty wallet.
    #[must_use]
    pub fn empty(user: UserId) -> Self {
        Self { user, balance: Balance::default(), seq: 0, last_at: Timestamp::EPOCH, head: ChainHash::START }
    }
}
