//! The form of a withdrawal, and its confirmation.

use askama::Template;
use cuepoint_domain::address::OptionsTable;
use cuepoint_domain::ledger::Balance;
use cuepoint_domain::money::Amount;
use cuepoint_domain::text::Line;
use cuepoint_domain::user::User;

use crate::format::groups_of_four;
use crate::forms::{FieldState, FormError, errors};
use crate::frame::{Frame, renders};

/// The form of a withdrawal, or why there is none.
#[derive(Clone, PartialEq, Debug)]
pub enum Payout<'a> {
    Form(PayoutForm<'a>),
    /// Guest accounts have no withdrawals.
    NeedsAccount,
    /// The e-mail address has to be verified first.
    NeedsVerifiedEmail,
    /// The wallet owes money.
    Owes,
    /// Nothing is available.
    NothingAvailable,
}

/// The form of a withdrawal: `POST /wallet/payout` with `amount`, `wallet_address` and `payout` (`CURRENCY/network`).
/// Nothing moves: the answer is [`ConfirmPayoutPage`].
#[derive(Clone, PartialEq, Debug)]
pub struct PayoutForm<'a> {
    pub amount: FieldState,
    /// The chosen option.
    pub payout: FieldState,
    pub wallet_address: FieldState,
    /// The currencies with their networks.
    pub options: &'a OptionsTable,
}

impl Payout<'_> {
    /// Why this user gets no form; `None` if they get one.
    #[must_use]
    pub fn obstacle(user: &User, balance: Balance, requires_verified_email: bool) -> Option<Self> {
        if user.is_guest_account() {
            Some(Self::NeedsAccount)
        } else if !balance.owed.is_zero() {
            Some(Self::Owes)
        } else if requires_verified_email && !user.email_verified {
            Some(Self::NeedsVerifiedEmail)
        } else {
            balance.available.is_zero().then_some(Self::NothingAvailable)
        }
    }
}

impl PayoutForm<'_> {
    pub(crate) fn errors(&self, frame: &Frame<'_>) -> Vec<FormError<'_>> {
        let t = frame.t;
        errors([
            ("payout_amount", t.amount(), &self.amount),
            ("payout", t.payout_in(), &self.payout),
            ("wallet_address", t.payout_address(), &self.wallet_address),
        ])
    }

    pub(crate) fn is_refused(&self, frame: &Frame<'_>) -> bool {
        !self.errors(frame).is_empty()
    }

    /// The values of the options: currency and network.
    pub(crate) fn choices(&self) -> Vec<(String, String)> {
        let rows = self.options.rows().iter();
        let choices = rows.flat_map(|row| {
            row.networks().iter().map(|network| {
                let (currency, network) = (row.currency(), network.name());
                (format!("{currency}/{network}"), format!("{currency} · {network}"))
            })
        });
        choices.collect()
    }

    pub(crate) fn is_chosen(&self, value: &str) -> bool {
        self.payout.value.eq_ignore_ascii_case(value)
    }
}

/// The page that shows a withdrawal once more: `POST /wallet/payout/confirm` with `key`, `amount`, `payout` and
/// `wallet_address`.
#[derive(Template, Clone, Debug)]
#[template(path = "wallet/confirm_payout.html")]
pub struct ConfirmPayoutPage<'a> {
    pub frame: &'a Frame<'a>,
    /// The idempotency key.
    pub key: &'a str,
    pub amount: Amount,
    pub currency: &'a Line,
    pub network: &'a Line,
    /// The address in canonical form.
    pub wallet_address: &'a Line,
}

impl ConfirmPayoutPage<'_> {
    fn groups(&self) -> Vec<String> {
        groups_of_four(self.wallet_address.as_str())
    }
}

renders!(ConfirmPayoutPage);
