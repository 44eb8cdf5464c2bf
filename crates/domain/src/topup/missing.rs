//! What a guest pays in for a fee.

use crate::money::{Amount, Money};

/// The amount to pay in, so that the available balance covers a fee: what is missing, but at least the smallest top-up;
/// `None` if nothing is missing.
#[must_use]
pub fn missing(fee: Money, available: Money, least: Option<Amount>) -> Option<Amount> {
    let short = fee.checked_sub(available).and_then(Amount::new)?;
    Some(least.map_or(short, |least| least.max(short)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_paid_in_and_at_least_the_smallest_topup() {
        let money = Money::from_minor;
        let amount = |minor| Amount::new(money(minor));
        for (fee, available, least, expected) in [
            (1_250, 0, None, amount(1_250)),
            (1_250, 1_000, None, amount(250)),
            (1_250, 1_000, amount(500), amount(500)),
            (1_250, 0, amount(500), amount(1_250)),
            (1_250, 1_250, amount(500), None),
            (0, 0, amount(500), None),
        ] {
            assert_eq!(missing(money(fee), money(available), least), expected, "{fee} {available}");
        }
    }
}
