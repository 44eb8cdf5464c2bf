//! Money: the text of a JSON number is an exact amount or none, and an amount prints as the same number.

use std::str::FromStr;

use bigdecimal::BigDecimal;
use cuepoint_domain::money::{Currency, Money, MoneyError};
use cuepoint_views::wire::money::Number;
use serde::de::IgnoredAny;

/// The input is the text of a number.
pub(crate) fn check(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    for scale in 0..=8 {
        if let Some(currency) = Currency::new("USD", scale) {
            check_currency(&currency, text);
        }
    }
}

fn check_currency(currency: &Currency, text: &str) {
    match currency.parse(text) {
        Ok(money) => {
            assert!(is_json_number(text), "{text:?} is not a JSON number, but was read as {money:?}");
            assert!(!(money.is_zero() && text.starts_with('-')), "{text:?} is a negative zero");
            let printed = currency.print(money);
            assert_eq!(BigDecimal::from_str(text), BigDecimal::from_str(&printed), "{text:?} was rounded");
            assert_eq!(currency.parse(&printed), Ok(money), "{text:?} prints as another amount, {printed:?}");
            check_wire(currency, money, &printed);
        }
        Err(MoneyError::TooManyDecimals(_) | MoneyError::TooLarge) => {
            assert!(is_json_number(text), "{text:?} is not a JSON number");
        }
        Err(MoneyError::NotANumber) => {}
    }
}

/// Checks that the JSON of an amount is its printed text, with as many decimals as the currency has.
fn check_wire(currency: &Currency, money: Money, printed: &str) {
    let shown = serde_json::to_string(&Number::money(currency, money));
    assert_eq!(shown.ok().as_deref(), Some(printed));
    let decimals = printed.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    assert_eq!(decimals, usize::from(currency.scale()), "{printed:?}");
}

/// Whether another JSON parser accepts the text as a number.
fn is_json_number(text: &str) -> bool {
    let number = text.starts_with(|first: char| first == '-' || first.is_ascii_digit());
    number && !text.ends_with(char::is_whitespace) && serde_json::from_str::<IgnoredAny>(text).is_ok()
}
