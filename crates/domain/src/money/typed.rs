//! Amounts as people type them.

use super::{Currency, Money, MoneyError};

impl Currency {
    /// Parses an amount that a person typed: digits with at most one separator, a point or a comma. More digits after it
    /// than the currency has decimals are refused even if they are zeros, because `1,000` can mean a thousand.
    ///
    /// # Errors
    /// Any [`MoneyError`].
    pub fn parse_typed(&self, text: &str) -> Result<Money, MoneyError> {
        let (whole, decimals) = text.trim().split_once(['.', ',']).unwrap_or((text.trim(), ""));
        let are_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if !are_digits(whole) || !are_digits(decimals) || (whole.is_empty() && decimals.is_empty()) {
            return Err(MoneyError::NotANumber);
        }
        if decimals.len() > usize::from(self.scale()) {
            return Err(MoneyError::TooManyDecimals(self.scale()));
        }
        let whole = match whole.trim_start_matches('0') {
            "" => "0",
            digits => digits,
        };
        let decimals = if decimals.is_empty() { "0" } else { decimals };
        self.parse(&format!("{whole}.{decimals}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn minor(scale: u8, text: &str) -> Result<i128, MoneyError> {
        Currency::new("EUR", scale).unwrap().parse_typed(text).map(Money::minor)
    }

    #[test]
    fn point_and_comma_separate_decimals() {
        for (text, expected) in [
            ("12.50", 1_250),
            ("12,5", 1_250),
            (" 7 ", 700),
            ("0,99", 99),
            (",5", 50),
            ("3.", 300),
            ("007", 700),
        ] {
            assert_eq!(minor(2, text), Ok(expected), "{text}");
        }
        assert_eq!((minor(0, "12"), minor(3, "1,000")), (Ok(12), Ok(1_000)));
    }

    #[test]
    fn ambiguous_and_malformed_amounts_are_refused() {
        for text in ["1,000", "1.000", "12.505"] {
            assert_eq!(minor(2, text), Err(MoneyError::TooManyDecimals(2)), "{text}");
        }
        for text in ["", ".", ",", "1.000,00", "-5", "+5", "1e3", "5 EUR", "١٢", "0x5", "1 000"] {
            assert_eq!(minor(2, text), Err(MoneyError::NotANumber), "{text}");
        }
        assert_eq!(minor(2, &"9".repeat(20)), Err(MoneyError::TooLarge));
        assert_eq!(minor(2, &"9".repeat(300)), Err(MoneyError::NotANumber));
    }
}
