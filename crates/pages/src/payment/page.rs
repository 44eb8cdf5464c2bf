//! The page `/topups/{reference}` of the owner.

use askama::Template;
use cuepoint_domain::gig::DjCode;
use cuepoint_domain::money::{Amount, Money};
use cuepoint_domain::provider_reference::ProviderReference;
use cuepoint_domain::text::PaymentUrl;
use cuepoint_domain::topup::{Topup, TopupStatus};
use time::Duration;

use super::draft::{DraftPurpose, DraftView};
use crate::closed::Closed;
use crate::format::host;
use crate::forms::Keys;
use crate::frame::{Frame, Live, RenderedPart, render_live, renders};
use crate::texts::Text;

/// The time after which the page offers another payment, if there is no payment page yet.
const LATE_AFTER: Duration = Duration::seconds(30);

/// The page `/topups/{reference}`.
#[derive(Template, Clone, Debug)]
#[template(path = "payment/page.html")]
pub struct PaymentPage<'a> {
    pub frame: &'a Frame<'a>,
    pub part: PaymentPart<'a>,
}

/// The live part of the page: the state of the payment, and the way on.
#[derive(Template, Clone, Debug)]
#[template(path = "payment/part.html")]
pub struct PaymentPart<'a> {
    pub frame: &'a Frame<'a>,
    pub reference: ProviderReference,
    pub amount: Amount,
    pub state: PaymentState<'a>,
    /// What this payment is for; `None` if it only tops up the wallet.
    pub pays_for: Option<DraftView<'a>>,
    /// The key of the draft that is sent; empty without one.
    pub draft_key: &'a str,
    /// The gig to which the page leads: the one where the payment began, or the one of the draft.
    pub gig: Option<DjCode>,
    /// Whether the payment is for the guest account that the reader had before the login.
    pub is_of_kept_guest: bool,
    pub keys: Keys<'a>,
    /// The part has no stream: it is read every 2 seconds for 2 minutes, and every 15 seconds afterwards.
    pub live: Live<'a>,
}

/// The state of a payment, as its owner sees it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PaymentState<'a> {
    /// The provider has not named the payment page yet.
    Preparing {
        /// Whether this takes unusually long.
        is_late: bool,
    },
    /// The guest can pay on this page.
    Payable(&'a PaymentUrl),
    /// The guest came back from this payment page, and the provider has not confirmed the payment.
    Waiting(Option<&'a PaymentUrl>),
    /// The money arrived, and a request or a tip waits for it.
    ConfirmedWithDraft(DraftView<'a>),
    /// The money arrived, and what waited for it cannot be sent.
    ConfirmedTooLate {
        /// What waited.
        what: DraftPurpose,
        /// Why it cannot be sent.
        why: Closed,
    },
    /// The money arrived.
    Confirmed {
        /// The available balance.
        available: Money,
    },
    Failed,
    Reversed,
    /// A status of a newer version.
    Unknown,
}

impl<'a> PaymentState<'a> {
    /// The state of a top-up at the time of the frame, without a draft. `has_returned` says whether the guest came back
    /// from the payment page; `available` is the balance of the wallet.
    #[must_use]
    pub fn of(topup: &'a Topup, has_returned: bool, available: Money, frame: &Frame<'_>) -> Self {
        let url = topup.payment_url.as_ref();
        match (topup.status, url) {
            (TopupStatus::Pending, url) if has_returned => Self::Waiting(url),
            (TopupStatus::Pending, Some(url)) => Self::Payable(url),
            (TopupStatus::Pending, None) => {
                Self::Preparing { is_late: frame.now.since(topup.created_at) >= LATE_AFTER }
            }
            (TopupStatus::Confirmed, _) => Self::Confirmed { available },
            (TopupStatus::Failed, _) => Self::Failed,
            (TopupStatus::Reversed, _) => Self::Reversed,
            (TopupStatus::Unknown(_), _) => Self::Unknown,
        }
    }

    /// Whether the state can change without the guest.
    pub(crate) const fn is_waiting(&self) -> bool {
        matches!(self, Self::Preparing { .. } | Self::Waiting(_) | Self::Unknown)
    }
}

impl PaymentPart<'_> {
    /// The part in its live element.
    #[must_use]
    pub fn render(&self) -> RenderedPart {
        let content = Template::render(self).unwrap_or_default();
        render_live("payment-live", self.live, Some(self.keys), &content)
    }

    fn heading(&self) -> Text {
        let t = self.frame.t;
        match self.state {
            PaymentState::Preparing { .. } => t.preparing_title(),
            PaymentState::Payable(_) => match self.pays_for.as_ref().map(DraftView::purpose) {
                Some(DraftPurpose::Request) => t.pay_title(),
                Some(DraftPurpose::Tip) => t.pay_title_tip(),
                None => t.pay_title_wallet(),
            },
            PaymentState::Waiting(_) => t.waiting_title(),
            PaymentState::ConfirmedWithDraft(_)
            | PaymentState::ConfirmedTooLate { .. }
            | PaymentState::Confirmed { .. } => t.confirmed_title(),
            PaymentState::Failed => t.failed_title(),
            PaymentState::Reversed => t.reversed_title(),
            PaymentState::Unknown => t.unknown_title(),
        }
    }

    /// The class of the symbol of the state.
    fn symbol(&self) -> &'static str {
        match self.state {
            PaymentState::Preparing { .. } | PaymentState::Waiting(_) | PaymentState::Unknown => "busy",
            PaymentState::Payable(_) => "",
            PaymentState::ConfirmedWithDraft(_)
            | PaymentState::ConfirmedTooLate { .. }
            | PaymentState::Confirmed { .. } => "arrived",
            PaymentState::Failed | PaymentState::Reversed => "failed",
        }
    }

    /// Whether another payment of this amount is offered.
    fn offers_another(&self) -> bool {
        match self.state {
            PaymentState::Preparing { is_late } => is_late,
            PaymentState::Failed | PaymentState::Reversed => true,
            PaymentState::Payable(_)
            | PaymentState::Waiting(_)
            | PaymentState::ConfirmedWithDraft(_)
            | PaymentState::ConfirmedTooLate { .. }
            | PaymentState::Confirmed { .. }
            | PaymentState::Unknown => false,
        }
    }

    /// Whether the script sends the draft at once: the guest paid for it. Any other payment leaves the decision to a tap.
    fn sends_at_once(&self) -> bool {
        self.pays_for.is_some()
    }

    /// What this payment is for, while the money has not arrived.
    fn awaited(&self) -> Option<&DraftView<'_>> {
        let awaits = match self.state {
            PaymentState::Preparing { .. }
            | PaymentState::Payable(_)
            | PaymentState::Waiting(_)
            | PaymentState::Failed
            | PaymentState::Unknown => true,
            PaymentState::ConfirmedWithDraft(_)
            | PaymentState::ConfirmedTooLate { .. }
            | PaymentState::Confirmed { .. }
            | PaymentState::Reversed => false,
        };
        self.pays_for.as_ref().filter(|_| awaits)
    }

    /// The part of the price that the wallet pays, if it pays a part.
    fn wallet_share(&self, draft: &DraftView<'_>) -> Option<Money> {
        draft.price().checked_sub(self.amount.money()).filter(|share| *share > Money::ZERO)
    }

    /// The balance after the payment.
    fn balance(&self, available: &Money) -> Text {
        let available = self.frame.amount(available);
        if self.is_of_kept_guest {
            return self.frame.t.phone_balance_is(&available);
        }
        self.frame.t.balance_is(&available)
    }

    fn host<'t>(&self, url: &'t PaymentUrl) -> &'t str {
        host(url.as_str())
    }
}

impl PaymentPage<'_> {
    fn live(&self) -> String {
        self.part.render().html
    }
}

renders!(PaymentPage);

#[cfg(test)]
mod tests {
    use cuepoint_domain::ids::{OperationId, TopupId, UserId};
    use cuepoint_domain::money::Currency;
    use cuepoint_domain::timestamp::Timestamp;
    use cuepoint_domain::topup::{Charge, open};

    use super::*;
    use crate::accent::{AccentSheet, Colour};
    use crate::frame::Site;
    use crate::language::Language;

    #[test]
    fn a_payment_without_a_page_is_late_after_thirty_seconds() {
        let currency = Currency::new("EUR", 2).unwrap();
        let site = Site { currency, links: Vec::new(), accent: AccentSheet::new(Colour::DEFAULT) };
        let amount = Amount::new(Money::from_minor(1_250)).unwrap();
        let (id, user) = (TopupId::new(1).unwrap(), UserId::new(1).unwrap());
        let (topup, _) = open(OperationId(1), id, user, amount, Charge::Pending, Timestamp::EPOCH);
        for (seconds, is_late) in [(0, false), (29, false), (30, true)] {
            let now = Timestamp::EPOCH.plus(Duration::seconds(seconds));
            let frame = Frame::new(&site, Language::English, now);
            let state = PaymentState::of(&topup, false, Money::ZERO, &frame);
            assert_eq!(state, PaymentState::Preparing { is_late });
            assert_eq!(PaymentState::of(&topup, true, Money::ZERO, &frame), PaymentState::Waiting(None));
        }
    }
}
