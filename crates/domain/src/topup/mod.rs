//! Top-ups: money paid in by guests.

mod compared_payment;
mod entity_facts;
mod guest_limits;
mod missing;
mod orders;
mod payment;
mod payment_pages;
mod suspense;

pub use compared_payment::{LinkIssueRefusal, may_get_link};
pub use guest_limits::{GuestTopupLimit, GuestTopupLimits};
pub use missing::missing;
pub use orders::{Answered, NextOrder, OrderReply, OrderTerms, Orders, answered, next_order, unanswered};
pub use payment::{PaidAmount, PaidCurrency, Payment, TopupUpdate, TopupUpdateDecision, decide_update};
pub use payment_pages::PaymentPages;
pub use suspense::{Suspense, SuspenseRefusal, SuspenseSettlement, settle_suspense, suspend};

use strum::{EnumIter, EnumMessage, EnumString, IntoStaticStr};

use crate::gig::DjCode;
use crate::ids::{OperationId, TopupId, UserId};
use crate::ledger::{Account, OutsideAccount, Transfer, TransferKind};
use crate::money::Amount;
use crate::names::{explained_enum, named_enum};
use crate::provider_reference::ProviderReference;
use crate::text::PaymentUrl;
use crate::timestamp::Timestamp;
use crate::unknown::UnknownName;

/// The status of a top-up.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, IntoStaticStr, EnumString, EnumIter, EnumMessage,
)]
#[strum(serialize_all = "snake_case")]
pub enum TopupStatus {
    /// The payment provider has not confirmed the payment yet.
    Pending,
    /// The money is in the wallet.
    Confirmed,
    /// The payment provider refused the payment, or the account was erased before the payment arrived.
    Failed,
    /// The money was in the wallet, and the payer charged it back.
    Reversed,
    /// A status of a newer version: no rule moves the top-up or its money.
    #[strum(disabled)]
    Unknown(UnknownName),
}

named_enum!(TopupStatus, Unknown);
explained_enum!(TopupStatus);

/// A filter for lists of top-ups.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TopupFilter {
    /// Only this user's.
    pub user: UserId,
    pub status: Option<TopupStatus>,
}

impl TopupFilter {
    /// The filter for all top-ups of a user.
    #[must_use]
    pub const fn of(user: UserId) -> Self {
        Self { user, status: None }
    }
}

impl TopupStatus {
    /// The statuses allowed next, for any actor.
    const fn edges(self) -> &'static [Self] {
        match self {
            Self::Pending => &[Self::Confirmed, Self::Failed],
            Self::Confirmed => &[Self::Reversed],
            Self::Failed | Self::Reversed | Self::Unknown(_) => &[],
        }
    }
}

/// A top-up.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Topup {
    /// The top-up's id.
    pub id: TopupId,
    /// The operation that opened it, which never changes; `None` if an earlier version did, which recorded no
    /// such reference.
    pub opening: Option<OperationId>,
    /// The owner of the wallet.
    pub user: UserId,
    pub amount: Amount,
    pub status: TopupStatus,
    /// The page on which the guest pays, once the provider has named it.
    pub payment_url: Option<PaymentUrl>,
    /// The code of the DJ on whose page the payment began, to which its page leads back. It never changes.
    pub page_code: Option<DjCode>,
    /// The state of its orders at the provider; `None` if an earlier version opened it, after ordering it.
    pub orders: Option<Orders>,
    /// The money that arrived after its owner was erased; the top-up then stays failed.
    pub suspense: Option<Suspense>,
    /// The creation time.
    pub created_at: Timestamp,
    /// The time of the last change of status.
    pub updated_at: Timestamp,
}

impl Topup {
    /// The permanent reference by which the payment provider identifies it.
    #[must_use]
    pub fn reference(&self) -> ProviderReference {
        ProviderReference::of(self.id.get(), self.opening)
    }

    /// The top-up after ending with this status at `at`; it is not ordered again.
    pub(crate) fn ended(&self, status: TopupStatus, at: Timestamp) -> Self {
        let updated_at = at.max(self.updated_at);
        Self { status, orders: self.orders.map(Orders::over), updated_at, ..self.clone() }
    }
}

/// The initial state of a new top-up's payment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Charge {
    /// Already paid.
    Confirmed,
    /// The guest has yet to pay, and the provider learns of the top-up by other means.
    Pending,
    /// The guest has yet to pay, and the request that opens the top-up orders it at the provider.
    Ordered(Orders),
}

/// The top-up opened by this operation, with the transfer if it is already paid.
#[must_use]
pub fn open(
    opening: OperationId,
    id: TopupId,
    user: UserId,
    amount: Amount,
    charge: Charge,
    now: Timestamp,
) -> (Topup, Option<Transfer>) {
    let (status, orders) = match charge {
        Charge::Confirmed => (TopupStatus::Confirmed, Orders::default()),
        Charge::Pending => (TopupStatus::Pending, Orders::default()),
        Charge::Ordered(orders) => (TopupStatus::Pending, orders),
    };
    let topup = Topup {
        id,
        opening: Some(opening),
        user,
        amount,
        status,
        payment_url: None,
        page_code: None,
        orders: Some(orders),
        suspense: None,
        created_at: now,
        updated_at: now,
    };
    let transfer = (status == TopupStatus::Confirmed).then(|| credit(&topup));
    (topup, transfer)
}

/// The effect of a later message about a top-up.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Settlement {
    /// No change: already known, or excluded by an earlier message.
    Unchanged,
    /// The top-up ends with this status, with the money if it is confirmed.
    Settled {
        /// The final status.
        to: TopupStatus,
        /// The transfer, if the money came or is taken back.
        transfer: Option<Transfer>,
    },
}

/// Settles a top-up on the provider's final update: paid, or never to be paid. Only a pending top-up changes.
#[must_use]
pub fn settle(topup: &Topup, confirmed: bool) -> Settlement {
    match topup.status {
        TopupStatus::Confirmed | TopupStatus::Failed | TopupStatus::Reversed | TopupStatus::Unknown(_) => {
            Settlement::Unchanged
        }
        TopupStatus::Pending if confirmed => {
            Settlement::Settled { to: TopupStatus::Confirmed, transfer: Some(credit(topup)) }
        }
        TopupStatus::Pending => Settlement::Settled { to: TopupStatus::Failed, transfer: None },
    }
}

/// The top-up after its money arrived for an erased owner: a pending one fails. `None` if it has already ended.
pub(crate) fn abandon(topup: &Topup, at: Timestamp) -> Option<Topup> {
    (topup.status == TopupStatus::Pending).then(|| topup.ended(TopupStatus::Failed, at))
}

/// The status of a top-up does not allow a reversal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReversalRefusal {
    pub current: TopupStatus,
    /// The statuses allowed next, for any actor.
    pub allowed: Vec<TopupStatus>,
}

/// Reverses a confirmed top-up that was charged back: the money is taken from the available balance, and any
/// shortfall becomes owed. Held amounts are not touched, and payees of the money keep it. A second reversal
/// changes nothing.
///
/// # Errors
/// [`ReversalRefusal`].
pub fn reverse(topup: &Topup) -> Result<Settlement, ReversalRefusal> {
    match topup.status {
        TopupStatus::Reversed => Ok(Settlement::Unchanged),
        TopupStatus::Confirmed => {
            Ok(Settlement::Settled { to: TopupStatus::Reversed, transfer: Some(chargeback(topup)) })
        }
        current @ (TopupStatus::Pending | TopupStatus::Failed | TopupStatus::Unknown(_)) => {
            Err(ReversalRefusal { current, allowed: current.edges().to_vec() })
        }
    }
}

/// The transfers of each operation that moved its money, in order; `None` if its state contradicts itself.
pub(crate) fn history(topup: &Topup) -> Option<Vec<Vec<Transfer>>> {
    match (topup.status, &topup.suspense) {
        (TopupStatus::Pending | TopupStatus::Failed | TopupStatus::Unknown(_), None) => Some(Vec::new()),
        (TopupStatus::Confirmed, None) => Some(vec![vec![credit(topup)]]),
        (TopupStatus::Reversed, None) => Some(vec![vec![credit(topup)], vec![chargeback(topup)]]),
        (TopupStatus::Failed, Some(suspense)) => Some(suspense::history(topup, suspense)),
        (
            TopupStatus::Pending | TopupStatus::Confirmed | TopupStatus::Reversed | TopupStatus::Unknown(_),
            Some(_),
        ) => None,
    }
}

fn credit(topup: &Topup) -> Transfer {
    Transfer {
        debit: Account::Outside(OutsideAccount::Topups),
        credit: Account::Available(topup.user),
        amount: topup.amount,
        kind: TransferKind::Topup,
    }
}

fn chargeback(topup: &Topup) -> Transfer {
    let Transfer { debit, credit, amount, .. } = credit(topup);
    Transfer { debit: credit, credit: debit, amount, kind: TransferKind::Chargeback }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::money::Money;

    fn opened(charge: Charge) -> (Topup, Option<Transfer>) {
        let amount = Amount::new(Money::from_minor(500)).unwrap();
        let (id, user) = (TopupId::new(1).unwrap(), UserId::new(2).unwrap());
        open(OperationId(9), id, user, amount, charge, Timestamp::EPOCH)
    }

    #[test]
    fn a_topup_is_credited_once_on_confirmation() {
        let (at_once, credited) = opened(Charge::Confirmed);
        assert_eq!(at_once.status, TopupStatus::Confirmed);
        assert!(credited.is_some());
        assert_eq!(settle(&at_once, true), Settlement::Unchanged);
        assert_eq!(at_once.orders, Some(Orders::default()));

        let (later, nothing) = opened(Charge::Pending);
        assert_eq!(nothing, None);
        assert_eq!(
            settle(&later, true),
            Settlement::Settled { to: TopupStatus::Confirmed, transfer: credited }
        );
        assert_eq!(settle(&later, false), Settlement::Settled { to: TopupStatus::Failed, transfer: None });
        let newer = Topup { status: TopupStatus::stored("on_hold").unwrap(), ..later };
        for confirmed in [true, false] {
            assert_eq!(settle(&newer, confirmed), Settlement::Unchanged);
        }
    }

    #[test]
    fn a_failed_topup_cannot_be_confirmed() {
        let (mut topup, _) = opened(Charge::Pending);
        topup.status = TopupStatus::Failed;
        assert_eq!(settle(&topup, true), Settlement::Unchanged);
    }
}
