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
    currency: FieldState,
    network: FieldState,
    wallet_address: FieldState,
}

impl PayoutFields {
    /// The form with these fields.
    pub(super) fn form(self, options: &OptionsTable) -> PayoutForm<'_> {
        let Self { amount, currency, network, wallet_address } = self;
        PayoutForm { amount, currency, network, wallet_address, options }
    }

    /// The fields of a form without errors. With a choice of options, the currency field shows the chosen one.
    pub(super) fn sent(form: &Form) -> Self {
        let field = |name| FieldState::with(form.text(name));
        let chosen = if form.has("payout") { "payout" } else { "currency" };
        Self {
            amount: field("amount"),
            currency: field(chosen),
            network: field("network"),
            wallet_address: field("wallet_address"),
        }
    }

    /// The withdrawal, or the fields with their errors.
    pub(super) fn read(form: &Form, frame: &Frame<'_>) -> Result<NewWithdrawal, Box<Self>> {
        let (currency, network) = match form.text("payout").split_once('/') {
            Some(chosen) => chosen,
            None => (form.text("currency"), form.text("network")),
        };
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
                fields.currency.error = error(currency.err());
                fields.network.error = error(network.err());
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
                    DestinationRefusal::Network if !form.has("payout") => &mut fields.network,
                    DestinationRefusal::Currency | DestinationRefusal::Network => &mut fields.currency,
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
    fn a_chosen_option_and_typed_texts_name_the_destination() {
        with_frame(|frame| {
            for form in [SENT, b"amount=20.50&currency=BTC&network=bitcoin&wallet_address=bc1q"] {
                let new = PayoutFields::read(&Form::parse(form), frame).unwrap();
                assert_eq!(new.amount.get().money(), Money::from_minor(2_050));
                assert_eq!((new.currency.as_str(), new.network.as_str()), ("BTC", "bitcoin"));
            }
        });
    }

    #[test]
    fn every_wrong_field_has_its_error_and_keeps_its_text() {
        with_frame(|frame| {
            let form = Form::parse(b"amount=0.99&currency=&network=bitcoin&wallet_address=");
            let fields = PayoutFields::read(&form, frame).unwrap_err();
            assert_eq!(fields.amount.value, "0.99");
            let wrong = [&fields.amount, &fields.currency, &fields.network, &fields.wallet_address];
            assert_eq!(wrong.map(|field| field.error.is_some()), [true, true, false, true]);
        });
    }

    #[test]
    fn a_refusal_stands_beside_the_field_that_it_concerns() {
        let destination = |refusal| OpenWithdrawalRefusal::Rule(OpenRefusal::Destination(refusal));
        let limit = OpenWithdrawalRefusal::Rule(OpenRefusal::Limit(Limit::Cleared(Money::ZERO)));
        let typed: &[u8] = b"amount=20&currency=BTC&network=none&wallet_address=bc1q";
        with_frame(|frame| {
            for (form, refusal, place) in [
                (typed, destination(DestinationRefusal::Currency), 1),
                (typed, destination(DestinationRefusal::Network), 2),
                (SENT, destination(DestinationRefusal::Network), 1),
                (typed, destination(DestinationRefusal::Address(AddressError::Malformed)), 3),
                (typed, limit.clone(), 0),
                (typed, OpenWithdrawalRefusal::InsufficientFunds, 0),
            ] {
                let fields = PayoutFields::refused(&Form::parse(form), &refusal, frame).unwrap();
                let all = [fields.amount, fields.currency, fields.network, fields.wallet_address];
                let wrong: Vec<usize> = (0..4).filter(|at| all[*at].error.is_some()).collect();
                assert_eq!(wrong, [place], "{refusal:?}");
            }
            let owes = OpenWithdrawalRefusal::WalletOwes(Money::from_minor(1));
            assert_eq!(PayoutFields::refused(&Form::parse(typed), &owes, frame), None);
        });
    }
}
