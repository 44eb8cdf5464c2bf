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

/// These offers, the lowest fee first, without those that give no better place than a lower one. The first one stays, and
/// so does one that `is_kept`, or whose place is unknown.
#[must_use]
pub fn with_better_places<T>(
    mut offers: Vec<T>,
    position: impl Fn(&T) -> Option<u32>,
    is_kept: impl Fn(&T) -> bool,
) -> Vec<T> {
    let mut best: Option<u32> = None;
    offers.retain(|offer| {
        let place = position(offer);
        let is_better = place.zip(best).is_none_or(|(place, best)| place < best);
        if is_better {
            best = place.or(best);
        }
        is_better || is_kept(offer)
    });
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
    fn offers_without_a_better_place_are_left_out_unless_they_are_kept() {
        for (places, kept, expected) in [
            (vec![Some(6), Some(4), Some(2)], 0, vec![0, 1, 2]),
            (vec![Some(6), Some(6), Some(2)], 0, vec![0, 2]),
            (vec![Some(2), Some(1), Some(1)], 0, vec![0, 1]),
            (vec![Some(1), Some(1), Some(1)], 0, vec![0]),
            (vec![Some(1), Some(1), Some(1)], 2, vec![0, 2]),
            (vec![None, None, None], 0, vec![0, 1, 2]),
            (vec![Some(1), None, Some(1)], 0, vec![0, 1]),
        ] {
            let offers: Vec<(usize, Option<u32>)> = places.iter().copied().enumerate().collect();
            let shown = with_better_places(offers, |offer| offer.1, |offer| offer.0 == kept);
            let shown: Vec<usize> = shown.into_iter().map(|offer| offer.0).collect();
            assert_eq!(shown, expected, "{places:?}");
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
