//! What is wrong with a field, in the words of the reader.

use cuepoint_domain::money::MoneyError;
use cuepoint_domain::text::TextError;

use crate::texts::{Text, Texts};

/// What is wrong with a text.
#[must_use]
pub fn of_text(t: &dyn Texts, error: TextError) -> Text {
    match error {
        TextError::Empty => t.field_required(),
        TextError::TooLong(most) => t.too_long(most),
        TextError::TooShort(least) => t.too_short(least),
        TextError::ControlCharacter => t.control_character(),
        TextError::Malformed => t.malformed(),
    }
}

/// What is wrong with an amount.
#[must_use]
pub fn of_amount(t: &dyn Texts, error: MoneyError) -> Text {
    match error {
        MoneyError::NotANumber => t.not_an_amount(),
        MoneyError::TooManyDecimals(most) => t.too_many_decimals(most),
        MoneyError::TooLarge => t.amount_too_large(),
    }
}
