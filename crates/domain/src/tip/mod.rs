//! Tips: money that a guest gives to the DJ of a gig, apart from any request.
//!
//! A tip has no states. It moves the money at once and is final: only adjustments of an operator correct it.

mod entity_facts;
mod presets;

pub use presets::presets;

use strum::{EnumIter, EnumMessage, EnumString, IntoStaticStr};
use thiserror::Error;

use crate::gig::Gig;
use crate::ids::{GigId, TipId, UserId};
use crate::ledger::{Account, PlatformAccount, Transfer, TransferKind};
use crate::money::{Amount, BasisPoints, Money};
use crate::names::{explained_enum, named_enum};
use crate::timestamp::Timestamp;

/// A tip.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tip {
    /// The tip's id.
    pub id: TipId,
    /// The guest who gives and pays it.
    pub guest: UserId,
    /// The DJ; never the guest.
    pub dj: UserId,
    /// The gig of the DJ that is open, or has just ended.
    pub gig: GigId,
    pub amount: Amount,
    /// The platform's part of the amount.
    pub commission: Money,
    /// The time of the tip.
    pub created_at: Timestamp,
}

/// A deployment's terms for tips.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TipTerms {
    /// The platform's share of the amount, as of a fee.
    pub commission: BasisPoints,
    /// The smallest tip; `None` means that every amount is enough.
    pub min_amount: Option<Amount>,
    /// The largest tip; `None` means no limit.
    pub max_amount: Option<Amount>,
}

/// The DJ of a gig, as a guest finds them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TippedDj<'a> {
    /// A [recent](Gig::is_recent) gig of the DJ.
    pub gig: &'a Gig,
    /// Whether the DJ blocks the guest.
    pub blocks_guest: bool,
}

/// Why a tip is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum TipRefusal {
    /// The DJ is the guest.
    #[error("the DJ is the guest")]
    Oneself,
    /// The DJ has blocked this guest.
    #[error("the DJ blocks the guest")]
    Blocked,
    /// The amount is below this minimum.
    #[error("the tip is below the minimum")]
    TooSmall(Amount),
    /// The amount exceeds this limit of one tip.
    #[error("the tip is above the limit")]
    AboveLimit(Amount),
    /// The commission overflows, which no amount within the contract's limits causes.
    #[error("the commission is out of range")]
    OutOfRange,
}

/// The side of a user in a tip.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, IntoStaticStr, EnumString, EnumIter, EnumMessage,
)]
#[strum(serialize_all = "snake_case")]
pub enum TipDirection {
    /// The user gave the tip.
    Given,
    /// The user received the tip.
    Received,
}

named_enum!(TipDirection);
explained_enum!(TipDirection);

/// The tips that a user gave, or those that the user received.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TipFilter {
    /// The user.
    pub user: UserId,
    /// The side of the user.
    pub direction: TipDirection,
}

impl TipFilter {
    /// Whether the filter matches this tip.
    #[must_use]
    pub fn shows(&self, tip: &Tip) -> bool {
        self.user
            == match self.direction {
                TipDirection::Given => tip.guest,
                TipDirection::Received => tip.dj,
            }
    }
}

/// The new tip of a guest to a DJ, and its transfers. Whether the DJ is active, the guest's debt and the funds are
/// checked when the plan is applied.
///
/// # Errors
/// [`TipRefusal`], the first that applies, in the order of its variants.
pub(crate) fn give(
    id: TipId,
    guest: UserId,
    to: TippedDj<'_>,
    amount: Amount,
    terms: &TipTerms,
    now: Timestamp,
) -> Result<(Tip, Vec<Transfer>), TipRefusal> {
    let TippedDj { gig, blocks_guest } = to;
    if gig.dj == guest {
        return Err(TipRefusal::Oneself);
    }
    if blocks_guest {
        return Err(TipRefusal::Blocked);
    }
    if let Some(least) = terms.min_amount.filter(|least| amount < *least) {
        return Err(TipRefusal::TooSmall(least));
    }
    if let Some(most) = terms.max_amount.filter(|most| amount > *most) {
        return Err(TipRefusal::AboveLimit(most));
    }
    let commission = amount.money().share(terms.commission).ok_or(TipRefusal::OutOfRange)?;
    let tip = Tip { id, guest, dj: gig.dj, gig: gig.id, amount, commission, created_at: now };
    let transfers = transfers(&tip).ok_or(TipRefusal::OutOfRange)?;
    Ok((tip, transfers))
}

/// The transfers of a tip: the DJ receives the exact remainder after the commission. `None` if its amounts contradict
/// each other.
fn transfers(tip: &Tip) -> Option<Vec<Transfer>> {
    let rest = tip.amount.money().checked_sub(tip.commission)?;
    if rest.is_negative() || tip.commission.is_negative() {
        return None;
    }
    let guest = Account::Available(tip.guest);
    let parts = [
        (Account::Available(tip.dj), rest),
        (Account::Platform(PlatformAccount::Commission), tip.commission),
    ];
    let transfer = |(credit, part): (Account, Money)| {
        Amount::new(part).map(|amount| Transfer { debit: guest, credit, amount, kind: TransferKind::Tip })
    };
    Some(parts.into_iter().filter_map(transfer).collect())
}

/// The sum of these amounts; `None` if it is too large.
#[must_use]
pub fn sum(amounts: impl IntoIterator<Item = Amount>) -> Option<Money> {
    amounts.into_iter().try_fold(Money::ZERO, |sum, amount| sum.checked_add(amount.money()))
}
