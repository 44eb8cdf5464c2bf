//! Exact money: whole minor units internally, decimal text at the boundaries, never a float.

mod decimal_text;
mod typed;

use std::fmt;
use std::str::FromStr;

use bigdecimal::num_bigint::BigInt;
use bigdecimal::{BigDecimal, ToPrimitive};
use thiserror::Error;

pub use decimal_text::DecimalText;

/// The maximum number of digits in a number as written.
const MAX_DIGITS: u32 = 38;
/// The largest absolute exponent in a number as written.
const MAX_EXPONENT: u32 = 20;
/// The largest amount of a single number, in whole units.
pub const MAX_WHOLE_UNITS: i64 = 1_000_000_000_000;
/// The scale of the stores' `numeric(28,8)` columns.
const MAX_SCALE: u8 = 8;
/// The largest balance in minor units, which fits `numeric(28,8)` at every scale.
const MAX_BALANCE: i128 = 99_999_999_999_999_999_999;

/// A sum of money in minor units of the wallet's currency (cents at scale 2); may be negative.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Money(i128);

impl Money {
    /// Zero.
    pub const ZERO: Self = Self(0);
    /// The largest balance of a wallet: available plus held, or owed.
    pub const MAX_BALANCE: Self = Self(MAX_BALANCE);

    /// A sum of this many minor units.
    #[must_use]
    pub const fn from_minor(units: i128) -> Self {
        Self(units)
    }

    /// The number of minor units.
    #[must_use]
    pub const fn minor(self) -> i128 {
        self.0
    }

    /// The sum, or `None` on overflow.
    #[must_use]
    pub const fn checked_add(self, other: Self) -> Option<Self> {
        match self.0.checked_add(other.0) {
            Some(units) => Some(Self(units)),
            None => None,
        }
    }

    /// The difference, or `None` on overflow.
    #[must_use]
    pub const fn checked_sub(self, other: Self) -> Option<Self> {
        match self.0.checked_sub(other.0) {
            Some(units) => Some(Self(units)),
            None => None,
        }
    }

    /// The negated sum, saturated on overflow.
    #[must_use]
    pub const fn negated(self) -> Self {
        Self(self.0.saturating_neg())
    }

    /// Whether it is negative.
    #[must_use]
    pub const fn is_negative(self) -> bool {
        self.0 < 0
    }

    /// Whether it is zero.
    #[must_use]
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// The share of `bps` hundredths of a percent, rounded half to even to a minor unit; the other party's
    /// share is the difference.
    ///
    /// `None` on overflow, which no amount within the contract's limits causes.
    #[must_use]
    pub fn share(self, bps: BasisPoints) -> Option<Self> {
        const WHOLE: i128 = 10_000;
        let product = self.0.checked_mul(i128::from(bps.get()))?;
        let quotient = product.div_euclid(WHOLE);
        let remainder = product.rem_euclid(WHOLE);
        let odd = quotient.rem_euclid(2) == 1;
        let up = remainder > 5_000 || (remainder == 5_000 && odd);
        quotient.checked_add(i128::from(up)).map(Self)
    }
}

impl fmt::Debug for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Money({})", self.0)
    }
}

/// A positive amount: the only value that a transfer accepts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Amount(Money);

impl Amount {
    /// The amount, or `None` unless it is positive.
    #[must_use]
    pub const fn new(money: Money) -> Option<Self> {
        if money.0 > 0 { Some(Self(money)) } else { None }
    }

    /// The amount as a sum.
    #[must_use]
    pub const fn money(self) -> Money {
        self.0
    }
}

/// Basis points: hundredths of a percent, from 0 to 10 000.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct BasisPoints(u16);

impl BasisPoints {
    /// The basis points, or `None` above 10 000.
    #[must_use]
    pub const fn new(bps: u16) -> Option<Self> {
        if bps <= 10_000 { Some(Self(bps)) } else { None }
    }

    /// The number of hundredths of a percent.
    #[must_use]
    pub const fn get(self) -> u16 {
        self.0
    }
}

/// Why a text is not an amount of the wallet's currency.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum MoneyError {
    /// Not a JSON number, more than 38 digits, an exponent beyond ±20, or a negative zero.
    #[error("not a number")]
    NotANumber,
    /// More decimals than the currency has; trailing zeros do not count.
    #[error("more than {0} decimals")]
    TooManyDecimals(u8),
    /// An absolute value above 1 000 000 000 000.
    #[error("too large")]
    TooLarge,
}

/// The currency of a deployment: its code and its number of decimals.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Currency {
    code: String,
    scale: u8,
}

impl Currency {
    /// The currency; `None` unless the code is 3 to 12 upper-case letters or digits and the scale at most 8.
    #[must_use]
    pub fn new(code: &str, scale: u8) -> Option<Self> {
        let fits = (3..=12).contains(&code.len())
            && code.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit());
        (fits && scale <= MAX_SCALE).then(|| Self { code: code.to_owned(), scale })
    }

    /// The code, such as `USD`.
    #[must_use]
    pub fn code(&self) -> &str {
        &self.code
    }

    /// The number of decimals, at most 8.
    #[must_use]
    pub const fn scale(&self) -> u8 {
        self.scale
    }

    /// An amount of this many whole units.
    #[must_use]
    pub fn whole(&self, units: u32) -> Money {
        Money(i128::from(units).saturating_mul(self.minor_per_unit()))
    }

    /// Parses a JSON number as a sum of money.
    ///
    /// The text is validated before any arithmetic, so that no input costs more than reading it.
    ///
    /// # Errors
    /// Any [`MoneyError`]; a sum is never rounded.
    pub fn parse(&self, number: &str) -> Result<Money, MoneyError> {
        let zero = judge(number).ok_or(MoneyError::NotANumber)?;
        if zero {
            return if number.starts_with('-') { Err(MoneyError::NotANumber) } else { Ok(Money::ZERO) };
        }
        let decimal = BigDecimal::from_str(number).map_err(|_| MoneyError::NotANumber)?;
        self.from_decimal(&decimal)
    }

    /// The largest amount that a client can name.
    #[must_use]
    pub fn largest(&self) -> Money {
        Money(i128::from(MAX_WHOLE_UNITS).saturating_mul(self.minor_per_unit()))
    }

    /// Converts a decimal of moderate size, as read from a store's column.
    ///
    /// # Errors
    /// [`MoneyError::TooManyDecimals`] and [`MoneyError::TooLarge`]; nothing is rounded.
    pub fn from_decimal(&self, decimal: &BigDecimal) -> Result<Money, MoneyError> {
        let money = self.column(decimal)?;
        if money.0.unsigned_abs() > self.largest().0.unsigned_abs() {
            Err(MoneyError::TooLarge)
        } else {
            Ok(money)
        }
    }

    /// Converts the value of a `numeric(28,8)` column, which may be a balance above the limit of a single
    /// amount.
    ///
    /// # Errors
    /// [`MoneyError::TooManyDecimals`] if the currency's scale is too small, [`MoneyError::TooLarge`] beyond
    /// the column's range.
    pub fn column(&self, decimal: &BigDecimal) -> Result<Money, MoneyError> {
        let (digits, decimals) = decimal.as_bigint_and_scale();
        self.units(digits.to_i128().ok_or(MoneyError::TooLarge)?, decimals)
    }

    /// Converts a number of units of the last of so many decimals, as [`Self::column`] does.
    ///
    /// # Errors
    /// As [`Self::column`].
    pub fn units(&self, number: i128, decimals: i64) -> Result<Money, MoneyError> {
        let missing = i64::from(self.scale).saturating_sub(decimals);
        let power = u32::try_from(missing.unsigned_abs()).ok().and_then(|places| 10_i128.checked_pow(places));
        match power {
            _ if number == 0 => Ok(Money::ZERO),
            Some(power) if missing >= 0 => number.checked_mul(power).map(Money).ok_or(MoneyError::TooLarge),
            Some(power) if number.checked_rem(power) == Some(0) => {
                number.checked_div(power).map(Money).ok_or(MoneyError::TooLarge)
            }
            None if missing >= 0 => Err(MoneyError::TooLarge),
            Some(_) | None => Err(MoneyError::TooManyDecimals(self.scale)),
        }
    }

    /// The sum as a decimal with exactly the currency's decimals.
    #[must_use]
    pub fn to_decimal(&self, money: Money) -> BigDecimal {
        BigDecimal::new(BigInt::from(money.0), i64::from(self.scale))
    }

    /// The sum as text with exactly the currency's decimals: `12.50`.
    #[must_use]
    pub fn print(&self, money: Money) -> String {
        self.text(money).as_str().to_owned()
    }

    /// The text of [`Self::print`], without an allocation.
    #[must_use]
    pub fn text(&self, money: Money) -> DecimalText {
        DecimalText::new(money.0, self.scale)
    }

    fn minor_per_unit(&self) -> i128 {
        10_i128.saturating_pow(u32::from(self.scale))
    }
}

/// Validates the grammar and length of a JSON number: `None` if it is not a number of acceptable size,
/// otherwise whether all its digits are zero.
fn judge(number: &str) -> Option<bool> {
    let unsigned = number.strip_prefix('-').unwrap_or(number);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let leading_zero = whole.len() > 1 && whole.starts_with('0');
    if !digits(whole) || leading_zero || fraction.is_some_and(|part| !digits(part)) {
        return None;
    }
    let written = whole.len().saturating_add(fraction.map_or(0, str::len));
    if u32::try_from(written).map_or(true, |written| written > MAX_DIGITS) {
        return None;
    }
    if let Some(exponent) = exponent {
        let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        if !digits(exponent) {
            return None;
        }
        let size = exponent.bytes().fold(0_u32, |sum, digit| {
            sum.saturating_mul(10).saturating_add(u32::from(digit.saturating_sub(b'0')))
        });
        if size > MAX_EXPONENT {
            return None;
        }
    }
    Some(mantissa.bytes().all(|b| b == b'0' || b == b'.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usd() -> Currency {
        Currency::new("USD", 2).unwrap()
    }

    #[test]
    fn valid_amounts_are_parsed() {
        for (text, minor, printed) in [
            ("1", 100, "1.00"),
            ("1.00", 100, "1.00"),
            ("1e0", 100, "1.00"),
            ("1E+2", 10_000, "100.00"),
            ("1250e-2", 1_250, "12.50"),
            ("0.1000", 10, "0.10"),
            ("0", 0, "0.00"),
            ("0.00", 0, "0.00"),
            ("0e20", 0, "0.00"),
            ("-5.25", -525, "-5.25"),
            ("0.01", 1, "0.01"),
            ("-0.01", -1, "-0.01"),
            ("1000000000000", 100_000_000_000_000, "1000000000000.00"),
            ("1.000000000000000000000000000000000000", 100, "1.00"),
        ] {
            let money = usd().parse(text).unwrap_or_else(|e| panic!("{text}: {e}"));
            assert_eq!(money.minor(), minor, "{text}");
            assert_eq!(usd().print(money), printed, "{text}");
        }
    }

    #[test]
    fn invalid_amounts_are_rejected() {
        use MoneyError::{NotANumber, TooLarge, TooManyDecimals};
        for (text, error) in [
            ("", NotANumber),
            ("-", NotANumber),
            ("-0", NotANumber),
            ("-0.00", NotANumber),
            ("-0e5", NotANumber),
            ("01", NotANumber),
            ("+1", NotANumber),
            (".5", NotANumber),
            ("1.", NotANumber),
            ("1e", NotANumber),
            ("1e+", NotANumber),
            ("0x10", NotANumber),
            ("NaN", NotANumber),
            ("1 ", NotANumber),
            ("1_000", NotANumber),
            ("\"5\"", NotANumber),
            ("1e21", NotANumber),
            ("1e400", NotANumber),
            ("1e999999999", NotANumber),
            ("1e99999999999999999999999999", NotANumber),
            ("1.00000000000000000000000000000000000000", NotANumber),
            ("1.005", TooManyDecimals(2)),
            ("0.999999999999999999999", TooManyDecimals(2)),
            ("1e-3", TooManyDecimals(2)),
            ("1000000000000.01", TooLarge),
            ("-1000000000000.01", TooLarge),
            ("1e20", TooLarge),
        ] {
            assert_eq!(usd().parse(text), Err(error), "{text}");
        }
    }

    #[test]
    fn shares_round_half_to_even() {
        let bps = |n| BasisPoints::new(n).unwrap();
        for (minor, bps, share) in [
            (1, bps(5_000), 0),
            (3, bps(5_000), 2),
            (5, bps(5_000), 2),
            (100, bps(0), 0),
            (100, bps(10_000), 100),
            (333, bps(1_000), 33),
            (335, bps(1_000), 34),
            (345, bps(1_000), 34),
        ] {
            assert_eq!(Money(minor).share(bps), Some(Money(share)), "{minor} at {bps:?}");
        }
    }

    #[test]
    fn a_commission_and_the_rest_add_up_to_the_fee() {
        for bps in (0..=10_000).step_by(7) {
            for fee in 1..=2_000 {
                let fee = Money(fee);
                let commission = fee.share(BasisPoints::new(bps).unwrap()).unwrap();
                let rest = fee.checked_sub(commission).unwrap();
                assert!(!commission.is_negative() && !rest.is_negative());
                assert_eq!(commission.checked_add(rest), Some(fee));
            }
        }
    }

    #[test]
    fn a_currency_without_decimals_refuses_cents() {
        let yen = Currency::new("JPY", 0).unwrap();
        assert_eq!(yen.parse("1.5"), Err(MoneyError::TooManyDecimals(0)));
        assert_eq!(yen.print(yen.parse("1.0").unwrap()), "1");
    }
}
