//! The offers that a page proposes to a guest: the price, and two higher fees.

use crate::money::{Currency, Money};

/// The fees that are proposed for a song at this price: the price, then one and a half times and twice the price, each
/// rounded up to two significant digits. Equal fees occur once. A price of 0 is the only offer.
#[must_use]
pub fn offers(price: Money, currency: &Currency) -> Vec<Money> {
    let mut offers = vec![price];
    if price.is_zero() || price.is_negative() {
        return offers;
    }
    for halves in [3, 4] {
        let times =
            price.minor().checked_mul(halves).and_then(|double| double.checked_add(1)?.checked_div(2));
        let offer = times.and_then(rounded_up).map(Money::from_minor);
        offers.extend(offer.filter(|offer| *offer > price && *offer <= currency.largest()));
        offers.dedup();
    }
    offers
}

/// The positive number, rounded up to two significant digits; `None` if the result is too large.
pub(crate) fn rounded_up(number: i128) -> Option<i128> {
    let mut unit: i128 = 1;
    while number.checked_div(unit)? >= 100 {
        unit = unit.checked_mul(10)?;
    }
    number.checked_add(unit.checked_sub(1)?)?.checked_div(unit)?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_higher_offers_follow_the_price() {
        let currency = Currency::new("EUR", 2).unwrap();
        let largest = currency.largest().minor();
        for (price, expected) in [
            (0, vec![0]),
            (1_250, vec![1_250, 1_900, 2_500]),
            (1_000, vec![1_000, 1_500, 2_000]),
            (333, vec![333, 500, 670]),
            (99, vec![99, 150, 200]),
            (2, vec![2, 3, 4]),
            (1, vec![1, 2]),
            (largest, vec![largest]),
            (largest / 2, vec![largest / 2, largest / 4 * 3, largest]),
        ] {
            let offers: Vec<i128> =
                offers(Money::from_minor(price), &currency).into_iter().map(Money::minor).collect();
            assert_eq!(offers, expected, "{price}");
        }
    }

    #[test]
    fn numbers_are_rounded_up_to_two_significant_digits() {
        for (number, rounded) in
            [(1, 1), (99, 99), (100, 100), (101, 110), (1_875, 1_900), (9_901, 10_000), (990, 990)]
        {
            assert_eq!(rounded_up(number), Some(rounded), "{number}");
        }
        assert_eq!(rounded_up(i128::MAX), None);
    }
}
