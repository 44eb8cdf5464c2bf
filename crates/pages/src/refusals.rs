//! The words for values that the domain refuses, beside the field of the value.

use cuepoint_domain::address::{AddressError, DestinationRefusal};
use cuepoint_domain::money::{Amount, MoneyError};
use cuepoint_domain::text::TextError;
use cuepoint_domain::tip::TipRefusal;
use cuepoint_domain::topup::GuestTopupLimit;
use cuepoint_domain::withdrawal::Limit;

use crate::frame::Frame;
use crate::texts::Text;

impl Frame<'_> {
    /// Why a text is refused.
    #[must_use]
    pub fn refused_text(&self, error: TextError) -> Text {
        let t = self.t;
        match error {
            TextError::Empty => t.fill_in(),
            TextError::TooLong(most) => t.too_long(most),
            TextError::TooShort(least) => t.too_short(least),
            TextError::ControlCharacter => t.line_breaks(),
            TextError::Malformed => t.not_this_form(),
        }
    }

    /// Why an e-mail address is refused.
    #[must_use]
    pub fn refused_email(&self, error: TextError) -> Text {
        match error {
            TextError::Malformed => self.t.not_an_email(),
            other => self.refused_text(other),
        }
    }

    /// Why a phone number is refused.
    #[must_use]
    pub fn refused_phone(&self, error: TextError) -> Text {
        match error {
            TextError::Malformed => self.t.not_a_phone(),
            other => self.refused_text(other),
        }
    }

    /// Why the text of an amount is refused.
    #[must_use]
    pub fn refused_money(&self, error: MoneyError) -> Text {
        let t = self.t;
        match error {
            MoneyError::NotANumber => t.not_an_amount(),
            MoneyError::TooManyDecimals(most) => t.decimals(most),
            MoneyError::TooLarge => t.amount_too_large(),
        }
    }

    /// Why a tip is refused.
    #[must_use]
    pub fn refused_tip(&self, refusal: TipRefusal) -> Text {
        let t = self.t;
        match refusal {
            TipRefusal::Oneself => t.tip_to_oneself(),
            TipRefusal::Blocked => t.blocked_by_dj(),
            TipRefusal::TooSmall(least) => t.at_least(&self.amount(least.money())),
            TipRefusal::AboveLimit(most) => t.at_most(&self.amount(most.money())),
            TipRefusal::OutOfRange => t.amount_too_large(),
        }
    }

    /// Why a top-up below the minimum is refused.
    #[must_use]
    pub fn refused_topup_minimum(&self, least: Amount) -> Text {
        self.t.at_least(&self.amount(least.money()))
    }

    /// Why a top-up of a guest account is refused.
    #[must_use]
    pub fn refused_guest_topup(&self, limit: GuestTopupLimit) -> Text {
        match limit {
            GuestTopupLimit::InWallet(most) => self.t.at_most_in_wallet(&self.amount(most.money())),
            GuestTopupLimit::Per24h(most) => self.t.at_most_per_hours(&self.amount(most.money()), 24),
        }
    }

    /// Why the amount of a withdrawal is refused.
    #[must_use]
    pub fn refused_withdrawal(&self, limit: Limit) -> Text {
        let t = self.t;
        match limit {
            Limit::Single(most) => t.at_most(&self.amount(most.money())),
            Limit::Rolling(window) => {
                t.at_most_per_hours(&self.amount(window.most.money()), window.length.whole_hours())
            }
            Limit::Cleared(most) => t.at_most_cleared(&self.amount(most)),
        }
    }

    /// Why the destination of a withdrawal is refused: beside the currency, the network or the address.
    #[must_use]
    pub fn refused_destination(&self, refusal: DestinationRefusal) -> Text {
        let t = self.t;
        match refusal {
            DestinationRefusal::Currency => t.payout_currency(),
            DestinationRefusal::Network => t.payout_network(),
            DestinationRefusal::Address(AddressError::Malformed) => t.address_malformed(),
            DestinationRefusal::Address(AddressError::OtherNetwork) => t.address_other_network(),
            DestinationRefusal::Address(AddressError::TestNetwork) => t.address_test_network(),
            DestinationRefusal::Address(AddressError::Ownerless) => t.address_ownerless(),
            DestinationRefusal::Address(AddressError::AnyoneCanSpend) => t.address_anyone(),
        }
    }
}
