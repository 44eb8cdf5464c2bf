//! The fields of a withdrawal, and the errors beside them.

use cuepoint_domain::address::{DestinationRefusal, OptionsTable};
use cuepoint_domain::application::commands::OpenWithdrawalRefusal;
use cuepoint_domain::money::Amount;
use cuepoint_domain::text::{Line, TextError};
use cuepoint_domain::withdrawal::{NewWithdrawal, OpenRefusal, WithdrawalAmount};
use cuepoint_pages::forms::FieldState;
use cuepoint_pages::frame::Frame;
use cuepoint_pages::texts::Text;
use cuepoint_pages::wallet::PayoutForm;

use crate::form::Form;

/// The fields of a withdrawal, as they were sent, with what is wrong with them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(in crate::handlers) struct PayoutFields {
    amount: FieldState,
    payout: FieldState,
    wallet_address: FieldState,
}

impl PayoutFields {
    /// The form with these fields.
    pub(super) fn form(self, options: &OptionsTable) -> PayoutForm<'_> {
        let Self { amount, payout, wallet_address } = self;
        PayoutForm { amount, payout, wallet_address, options }
    }

    /// The fields of a form without errors.
    pub(super) fn sent(form: &Form) -> Self {
        let field = |name| FieldState::with(form.text(name));
        Self { amount: field("amount"), payout: field("payout"), wallet_address: field("wallet_address") }
    }

    /// The withdrawal, or the fields with their errors.
    pub(super) fn read(form: &Form, frame: &Frame<'_>) -> Result<NewWithdrawal, Box<Self>> {
        let chosen = form.text("payout");
        let (currency, network) = chosen.split_once('/').unwrap_or((chosen, ""));
        let amount = amount_of(form, frame);
        let (currency, network) = (Line::new(currency), Line::new(network));
        match (amount, currency, network, Line::new(form.text("wallet_address"))) {
            (Ok(amount), Ok(currency), Ok(network), Ok(wallet_address)) => {
                Ok(NewWithdrawal { amount, wallet_address, currency, network })
            }
            (amount, currency, network, wallet_address) => {
                let mut fields = Self::sent(form);
                let error = |error: Option<TextError>| error.map(|error| frame.refused_text(error));
                fields.amount.error = amount.err();
                fields.payout.error = error(currency.err().or(network.err()));
                fields.wallet_address.error = error(wallet_address.err());
                Err(Box::new(fields))
            }
        }
    }

    /// The fields with the error of a refusal; `None` for a refusal that the wallet itself shows.
    pub(super) fn refused(form: &Form, refusal: &OpenWithdrawalRefusal, frame: &Frame<'_>) -> Option<Self> {
        let mut fields = Self::sent(form);
        let (field, error) = match refusal {
            OpenWithdrawalRefusal::Rule(OpenRefusal::Destination(refusal)) => {
                let field = match refusal {
                    DestinationRefusal::Currency | DestinationRefusal::Network => &mut fields.payout,
                    DestinationRefusal::Address(_) => &mut fields.wallet_address,
                };
                (field, frame.refused_destination(*refusal))
            }
            OpenWithdrawalRefusal::Rule(OpenRefusal::Limit(limit)) => {
                (&mut fields.amount, frame.refused_withdrawal(*limit))
            }
            OpenWithdrawalRefusal::InsufficientFunds => (&mut fields.amount, frame.t.not_enough_money()),
            OpenWithdrawalRefusal::WalletOwes(_) | OpenWithdrawalRefusal::EmailUnverified => return None,
        };
        field.error = Some(error);
        Some(fields)
    }
}

fn amount_of(form: &Form, frame: &Frame<'_>) -> Result<WithdrawalAmount, Text> {
    let currency = &frame.site.currency;
    let money = currency.parse_typed(form.text("amount")).map_err(|error| frame.refused_money(error))?;
    let amount = Amount::new(money).and_then(|amount| WithdrawalAmount::new(amount, currency));
    amount.ok_or_else(|| frame.t.at_least(&frame.amount(WithdrawalAmount::minimum(currency))))
}

#[cfg(test)]
mod tests {
    use cuepoint_domain::address::AddressError;
    use cuepoint_domain::money::{Currency, Money};
    use cuepoint_domain::timestamp::Timestamp;
    use cuepoint_domain::withdrawal::Limit;
    use cuepoint_pages::accent::AccentSheet;
    use cuepoint_pages::frame::Site;
    use cuepoint_pages::language::Language;

    use super::*;

    fn with_frame(check: impl Fn(&Frame<'_>)) {
        let site = Site {
            currency: Currency::new("USD", 2).unwrap(),
            links: Vec::new(),
            accent: AccentSheet::new(cuepoint_pages::accent::Colour::DEFAULT),
        };
        check(&Frame::new(&site, Language::English, Timestamp::EPOCH));
    }

    const SENT: &[u8] = b"amount=20%2C5&payout=BTC%2Fbitcoin&wallet_address=bc1q";

    #[test]
    fn a_chosen_option_names_currency_and_network() {
        with_frame(|frame| {
            let new = PayoutFields::read(&Form::parse(SENT), frame).unwrap();
            assert_eq!(new.amount.get().money(), Money::from_minor(2_050));
            assert_eq!((new.currency.as_str(), new.network.as_str()), ("BTC", "bitcoin"));
        });
    }

    #[test]
    fn every_wrong_field_has_its_error_and_keeps_its_text() {
        with_frame(|frame| {
            for chosen in ["", "BTC", "/bitcoin", "BTC/"] {
                let form = format!("amount=0.99&payout={chosen}&wallet_address=");
                let fields = PayoutFields::read(&Form::parse(form.as_bytes()), frame).unwrap_err();
                assert_eq!((fields.amount.value.as_str(), fields.payout.value.as_str()), ("0.99", chosen));
                let wrong = [&fields.amount, &fields.payout, &fields.wallet_address];
                assert!(wrong.iter().all(|field| field.error.is_some()), "{chosen}: {fields:?}");
            }
            let form = Form::parse(b"amount=20&payout=BTC%2Fbitcoin&wallet_address=");
            let fields = PayoutFields::read(&form, frame).unwrap_err();
            let wrong = [&fields.amount, &fields.payout, &fields.wallet_address];
            assert_eq!(wrong.map(|field| field.error.is_some()), [false, false, true]);
        });
    }

    #[test]
    fn a_refusal_stands_beside_the_field_that_it_concerns() {
        let destination = |refusal| OpenWithdrawalRefusal::Rule(OpenRefusal::Destination(refusal));
        let limit = OpenWithdrawalRefusal::Rule(OpenRefusal::Limit(Limit::Cleared(Money::ZERO)));
        with_frame(|frame| {
            let form = Form::parse(SENT);
            for (refusal, place) in [
                (destination(DestinationRefusal::Currency), 1),
                (destination(DestinationRefusal::Network), 1),
                (destination(DestinationRefusal::Address(AddressError::Malformed)), 2),
                (limit.clone(), 0),
                (OpenWithdrawalRefusal::InsufficientFunds, 0),
            ] {
                let fields = PayoutFields::refused(&form, &refusal, frame).unwrap();
                let all = [fields.amount, fields.payout, fields.wallet_address];
                let wrong: Vec<usize> = (0..3).filter(|at| all[*at].error.is_some()).collect();
                assert_eq!(wrong, [place], "{refusal:?}");
            }
            let owes = OpenWithdrawalRefusal::WalletOwes(Money::from_minor(1));
            assert_eq!(PayoutFields::refused(&form, &owes, frame), None);
        });
    }
}
