//! Accounts, the transfers between them, and the wallets that group them.

use strum::{EnumIter, EnumString, IntoStaticStr};

use crate::ids::UserId;
use crate::ledger::{ChainHash, EntryKind};
use crate::money::{Amount, Money};
use crate::names::named_enum;
use crate::timestamp::Timestamp;

/// An account of the ledger.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Account {
    /// Money that a user can spend.
    Available(UserId),
    /// Money held until a request or a withdrawal ends.
    Held(UserId),
    /// Money of the platform.
    Platform(PlatformAccount),
    /// Money that came from or went to an external account; the sum is the negative of all money inside.
    Outside(OutsideAccount),
}

impl Account {
    /// The owner of the wallet that the account belongs to, if any.
    #[must_use]
    pub const fn owner(self) -> Option<UserId> {
        match self {
            Self::Available(user) | Self::Held(user) => Some(user),
            Self::Platform(_) | Self::Outside(_) => None,
        }
    }
}

/// Platform accounts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, IntoStaticStr, EnumString, EnumIter)]
#[strum(serialize_all = "snake_case")]
pub enum PlatformAccount {
    /// The platform's share of fees and tips.
    #[strum(serialize = "platform_commission")]
    Commission,
}

named_enum!(PlatformAccount);

/// External accounts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, IntoStaticStr, EnumString, EnumIter)]
#[strum(serialize_all = "snake_case")]
pub enum OutsideAccount {
    /// Money paid in by guests.
    #[strum(serialize = "outside_topups")]
    Topups,
    /// Money paid out.
    #[strum(serialize = "outside_payouts")]
    Payouts,
    /// Operators' corrections.
    #[strum(serialize = "outside_adjustments")]
    Adjustments,
    /// Money that arrived for erased accounts, until an operator settles it.
    #[strum(serialize = "outside_suspense")]
    Suspense,
}

named_enum!(OutsideAccount);

/// The kind of a transfer, which determines the entry kinds of both sides and whether a receivable is
/// affected.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum TransferKind {
    /// A guest pays in.
    Topup,
    /// Available money is put on hold.
    Hold,
    /// Held money becomes available again.
    Release,
    /// Held money is paid.
    Capture,
    /// A capture is returned; any shortfall of the payee becomes owed.
    Refund,
    /// An operator corrects a balance.
    Adjustment,
    /// The payer takes a top-up back; any shortfall of the wallet becomes owed.
    Chargeback,
    /// Available money of a guest is given to a DJ.
    Tip,
}

impl TransferKind {
    /// The entry kind in the debited wallet.
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
            Self::Tip => EntryKind::Tip,
        }
    }

    /// The entry kind in the credited wallet.
    #[must_use]
    pub const fn credit_entry(self) -> EntryKind {
        match self {
            Self::Capture | Self::Tip => EntryKind::Earning,
            Self::Refund => EntryKind::Refund,
            Self::Topup | Self::Hold | Self::Release | Self::Adjustment | Self::Chargeback => {
                self.debit_entry()
            }
        }
    }
}

/// Money moved from one account to another: balanced by construction, never zero or negative.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Transfer {
    /// The account that the money leaves.
    pub debit: Account,
    /// The account that the money enters.
    pub credit: Account,
    pub amount: Amount,
    pub kind: TransferKind,
}

/// The three balances of a wallet, none of them negative.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Balance {
    /// Money that can be spent now.
    pub available: Money,
    /// Money held until a request or a withdrawal ends.
    pub held: Money,
    /// The debt, repaid first from later income.
    pub owed: Money,
}

impl Balance {
    /// The money in the wallet, held or not.
    #[must_use]
    pub fn total(&self) -> Money {
        // A wallet holds at most `Money::MAX_BALANCE`.
        self.available.checked_add(self.held).unwrap_or(self.available)
    }
}

/// A wallet: its balances and the head of its chain of entries.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wallet {
    /// The owner.
    pub user: UserId,
    pub balance: Balance,
    /// The number of entries, which is the number of the newest.
    pub seq: i64,
    /// The time of the newest entry; the Unix epoch if there is none.
    pub last_at: Timestamp,
    /// The hash of the newest entry.
    pub head: ChainHash,
}

impl Wallet {
    /// An empty wallet of a user.
    #[must_use]
    pub fn empty(user: UserId) -> Self {
        Self { user, balance: Balance::default(), seq: 0, last_at: Timestamp::EPOCH, head: ChainHash::START }
    }
}
