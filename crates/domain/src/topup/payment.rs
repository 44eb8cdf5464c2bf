//! A payment provider's messages about a top-up, and their effects.

use crate::money::{Currency, Money};
use crate::provider_message::Contradiction;
use crate::topup::{Topup, TopupStatus};

/// The amount paid, as reported by the provider.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PaidAmount {
    /// This much of the wallet's currency.
    Sum(Money),
    /// A number that is not a sum of the wallet's currency, such as one with too many decimals.
    Other,
}

impl PaidAmount {
    /// The amount given by a JSON number; it is never rounded.
    #[must_use]
    pub fn read(number: &str, currency: &Currency) -> Self {
        currency.parse(number).map_or(Self::Other, Self::Sum)
    }
}

/// The currency paid in, as reported by the provider.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PaidCurrency {
    /// The wallet's currency.
    Own,
    /// Another currency.
    Other,
}

impl PaidCurrency {
    /// The currency of this code, in any letter case.
    #[must_use]
    pub fn read(code: &str, currency: &Currency) -> Self {
        if code.trim().eq_ignore_ascii_case(currency.code()) { Self::Own } else { Self::Other }
    }
}

/// The payment, as far as the provider reports it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Payment {
    pub amount: Option<PaidAmount>,
    pub currency: Option<PaidCurrency>,
}

impl Payment {
    /// Whether it contradicts the top-up; omitted values do not.
    fn differs_from(self, topup: &Topup) -> bool {
        let asked = PaidAmount::Sum(topup.amount.money());
        self.amount.is_some_and(|paid| paid != asked) || self.currency == Some(PaidCurrency::Other)
    }
}

/// A provider's message about a top-up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TopupUpdate {
    /// The money arrived.
    Confirmed(Payment),
    /// The money will never arrive.
    Failed,
    /// The payer took money back.
    Reversed {
        amount: PaidAmount,
        /// The currency, if the provider reports it.
        currency: Option<PaidCurrency>,
    },
}

/// The effect of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TopupUpdateDecision {
    /// The top-up ends, confirmed or failed.
    Settle {
        /// Whether it is confirmed.
        confirmed: bool,
    },
    /// The money goes into suspense, because the owner was erased.
    Suspend,
    /// The money is taken back.
    Reverse,
    /// The message was already known.
    Known,
    /// The message must report the payment.
    Incomplete {
        /// Whether the amount is missing.
        amount: bool,
        /// Whether the currency is missing.
        currency: bool,
    },
    /// The top-up has a status of a newer version, which alone can decide; the provider must send the message
    /// again.
    Unknown,
    /// The message contradicts the top-up: nothing changes, and an operator must investigate.
    Contradiction(Contradiction),
}

/// Decides on a provider's message, idempotently; `owner_erased` is true if the top-up's owner was erased.
///
/// A confirmation reports the payment, and settles only a top-up of the same amount and currency. Top-ups
/// opened by an earlier version may be confirmed without it, because their providers were never required to
/// report it. Only the whole amount is taken back: an operator must handle a partial reversal.
#[must_use]
pub fn decide_update(topup: &Topup, update: TopupUpdate, owner_erased: bool) -> TopupUpdateDecision {
    match (update, topup.status) {
        (_, TopupStatus::Unknown(_)) => TopupUpdateDecision::Unknown,
        (TopupUpdate::Confirmed(paid), _) => hear_confirmation(topup, paid, owner_erased),
        (TopupUpdate::Failed, TopupStatus::Pending) => TopupUpdateDecision::Settle { confirmed: false },
        (TopupUpdate::Failed, TopupStatus::Failed) if topup.suspense.is_none() => TopupUpdateDecision::Known,
        (TopupUpdate::Failed, TopupStatus::Failed | TopupStatus::Confirmed | TopupStatus::Reversed)
        | (TopupUpdate::Reversed { .. }, TopupStatus::Pending | TopupStatus::Failed) => {
            TopupUpdateDecision::Contradiction(Contradiction::StatusContradiction)
        }
        (TopupUpdate::Reversed { amount, currency }, status) => {
            match (reversal_contradiction(topup, amount, currency), status) {
                (Some(contradiction), _) => TopupUpdateDecision::Contradiction(contradiction),
                (None, TopupStatus::Confirmed) => TopupUpdateDecision::Reverse,
                (None, _) => TopupUpdateDecision::Known,
            }
        }
    }
}

fn hear_confirmation(topup: &Topup, paid: Payment, owner_erased: bool) -> TopupUpdateDecision {
    let (amount, currency) = (paid.amount.is_none(), paid.currency.is_none());
    if topup.orders.is_some() && (amount || currency) {
        return TopupUpdateDecision::Incomplete { amount, currency };
    }
    match topup.status {
        TopupStatus::Failed if !owner_erased => {
            TopupUpdateDecision::Contradiction(Contradiction::StatusContradiction)
        }
        _ if paid.differs_from(topup) => TopupUpdateDecision::Contradiction(Contradiction::AmountMismatch),
        TopupStatus::Pending | TopupStatus::Failed if owner_erased && topup.suspense.is_none() => {
            TopupUpdateDecision::Suspend
        }
        TopupStatus::Pending => TopupUpdateDecision::Settle { confirmed: true },
        TopupStatus::Confirmed | TopupStatus::Failed | TopupStatus::Reversed | TopupStatus::Unknown(_) => {
            TopupUpdateDecision::Known
        }
    }
}

/// The contradiction between a reversal and the money of a top-up, unless it takes back exactly that amount.
fn reversal_contradiction(
    topup: &Topup,
    amount: PaidAmount,
    currency: Option<PaidCurrency>,
) -> Option<Contradiction> {
    let asked = topup.amount.money();
    match amount {
        _ if currency == Some(PaidCurrency::Other) => Some(Contradiction::AmountMismatch),
        PaidAmount::Sum(back) if back == asked => None,
        PaidAmount::Sum(back) if Money::ZERO < back && back < asked => Some(Contradiction::PartialReversal),
        PaidAmount::Sum(_) | PaidAmount::Other => Some(Contradiction::AmountMismatch),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{OperationId, TopupId, UserId};
    use crate::money::Amount;
    use crate::timestamp::Timestamp;
    use crate::topup::{Orders, Suspense};

    fn usd() -> Currency {
        Currency::new("USD", 2).unwrap()
    }

    fn topup(status: TopupStatus, orders: Option<Orders>) -> Topup {
        Topup {
            id: TopupId::new(1).unwrap(),
            opening: None,
            user: UserId::new(2).unwrap(),
            amount: Amount::new(Money::from_minor(500)).unwrap(),
            status,
            payment_url: None,
            page_code: None,
            orders,
            suspense: None,
            created_at: Timestamp::EPOCH,
            updated_at: Timestamp::EPOCH,
        }
    }

    fn paid(amount: Option<&str>, currency: Option<&str>) -> TopupUpdate {
        TopupUpdate::Confirmed(Payment {
            amount: amount.map(|amount| PaidAmount::read(amount, &usd())),
            currency: currency.map(|code| PaidCurrency::read(code, &usd())),
        })
    }

    #[test]
    fn the_paid_amount_is_compared_exactly() {
        let settles = TopupUpdateDecision::Settle { confirmed: true };
        let differs = TopupUpdateDecision::Contradiction(Contradiction::AmountMismatch);
        for (amount, currency, decision) in [
            ("5", "USD", settles),
            ("5.00", "usd", settles),
            ("5.000000", " USD ", settles),
            ("50e-1", "USD", settles),
            ("4.99", "USD", differs),
            ("5.01", "USD", differs),
            ("5.000000000000000000001", "USD", differs),
            ("-5", "USD", differs),
            ("0", "USD", differs),
            ("-0", "USD", differs),
            ("1e400", "USD", differs),
            ("5", "EUR", differs),
            ("5", "US", differs),
            ("0.00004321", "BTC", differs),
        ] {
            let topup = topup(TopupStatus::Pending, Some(Orders::default()));
            assert_eq!(
                decide_update(&topup, paid(Some(amount), Some(currency)), false),
                decision,
                "{amount} {currency}"
            );
        }
    }

    fn reversed(amount: &str, currency: Option<&str>) -> TopupUpdate {
        TopupUpdate::Reversed {
            amount: PaidAmount::read(amount, &usd()),
            currency: currency.map(|code| PaidCurrency::read(code, &usd())),
        }
    }

    #[test]
    fn every_update_in_every_status_has_the_expected_outcome() {
        use TopupUpdateDecision::{Incomplete, Known, Reverse, Settle};
        let differs = TopupUpdateDecision::Contradiction(Contradiction::AmountMismatch);
        let partial = TopupUpdateDecision::Contradiction(Contradiction::PartialReversal);
        let excluded = TopupUpdateDecision::Contradiction(Contradiction::StatusContradiction);
        let settled = |confirmed| Settle { confirmed };
        // For a pending, a confirmed, a failed and a reversed top-up.
        for (update, expected) in [
            (paid(Some("5"), Some("USD")), [settled(true), Known, excluded, Known]),
            (paid(Some("6"), Some("USD")), [differs, differs, excluded, differs]),
            (paid(Some("5"), Some("EUR")), [differs, differs, excluded, differs]),
            (TopupUpdate::Failed, [settled(false), excluded, Known, excluded]),
            (reversed("5.00", None), [excluded, Reverse, excluded, Known]),
            (reversed("5", Some("usd")), [excluded, Reverse, excluded, Known]),
            (reversed("4.99", None), [excluded, partial, excluded, partial]),
            (reversed("0.01", Some("USD")), [excluded, partial, excluded, partial]),
            (reversed("5.01", None), [excluded, differs, excluded, differs]),
            (reversed("0", None), [excluded, differs, excluded, differs]),
            (reversed("-5", None), [excluded, differs, excluded, differs]),
            (reversed("4.999", None), [excluded, differs, excluded, differs]),
            (reversed("5", Some("EUR")), [excluded, differs, excluded, differs]),
            (reversed("4", Some("EUR")), [excluded, differs, excluded, differs]),
        ] {
            for (status, expected) in TopupStatus::all().zip(expected) {
                for orders in [None, Some(Orders::default())] {
                    let decision = decide_update(&topup(status, orders), update, false);
                    assert_eq!(decision, expected, "{update:?} of {status:?}");
                }
            }
        }
        for (amount, currency) in [(None, None), (Some("5"), None), (None, Some("USD"))] {
            let update = paid(amount, currency);
            let incomplete = Incomplete { amount: amount.is_none(), currency: currency.is_none() };
            for (status, earlier) in TopupStatus::all().zip([settled(true), Known, excluded, Known]) {
                assert_eq!(decide_update(&topup(status, Some(Orders::default())), update, false), incomplete);
                assert_eq!(
                    decide_update(&topup(status, None), update, false),
                    earlier,
                    "opened by an earlier version"
                );
            }
        }
        // The confirmation of an earlier version's top-up is compared as far as it reports the payment.
        for update in [paid(Some("6"), None), paid(None, Some("EUR"))] {
            assert_eq!(decide_update(&topup(TopupStatus::Pending, None), update, false), differs);
        }
        let newer = topup(TopupStatus::stored("on_hold").unwrap(), None);
        for update in [paid(Some("5"), Some("USD")), TopupUpdate::Failed, reversed("5", None)] {
            assert_eq!(decide_update(&newer, update, false), TopupUpdateDecision::Unknown);
        }
    }

    #[test]
    fn every_update_after_an_erasure_has_the_expected_outcome() {
        use TopupUpdateDecision::{Known, Reverse, Settle, Suspend};
        let differs = TopupUpdateDecision::Contradiction(Contradiction::AmountMismatch);
        let excluded = TopupUpdateDecision::Contradiction(Contradiction::StatusContradiction);
        let suspense =
            || Suspense { operation: OperationId(3), arrived_at: Timestamp::EPOCH, settlement: None };
        let suspended = Topup { suspense: Some(suspense()), ..topup(TopupStatus::Failed, None) };
        let all: Vec<_> = TopupStatus::all().map(|status| topup(status, Some(Orders::default()))).collect();
        let [pending, confirmed, failed, reversed_before] = all.try_into().unwrap();
        let stands = [pending, confirmed, failed, reversed_before, suspended];
        for (update, expected) in [
            (paid(Some("5"), Some("USD")), [Suspend, Known, Suspend, Known, Known]),
            (paid(Some("6"), Some("USD")), [differs; 5]),
            (TopupUpdate::Failed, [Settle { confirmed: false }, excluded, Known, excluded, excluded]),
            (reversed("5", None), [excluded, Reverse, excluded, Known, excluded]),
        ] {
            for (topup, expected) in stands.iter().zip(expected) {
                assert_eq!(decide_update(topup, update, true), expected, "{update:?} of {topup:?}");
            }
        }
    }
}
