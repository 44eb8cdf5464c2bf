//! The tips that a page proposes.

use crate::gig::offers::rounded_up;
use crate::money::{Amount, Currency, Money};
use crate::tip::TipTerms;

/// What is proposed for a DJ without a price, in whole units of the currency.
const WITHOUT_PRICE: u32 = 5;

/// The proposed tips for a DJ with this price of a popular song: half of it, all of it, and twice as much, each rounded up
/// to two significant digits. Amounts that the terms refuse are not proposed, and equal amounts occur once.
#[must_use]
pub fn presets(price: Money, terms: &TipTerms, currency: &Currency) -> Vec<Amount> {
    let base = if price > Money::ZERO { price } else { currency.whole(WITHOUT_PRICE) };
    let halves = [1, 2, 4].into_iter().filter_map(|halves| {
        let times = base.minor().checked_mul(halves)?.checked_add(1)?.checked_div(2)?;
        Amount::new(Money::from_minor(rounded_up(times)?))
    });
    let largest = Amount::new(currency.largest());
    let is_possible = |amount: &Amount| {
        terms.min_amount.is_none_or(|least| *amount >= least)
            && terms.max_amount.or(largest).is_none_or(|most| *amount <= most)
    };
    let mut presets: Vec<Amount> = halves.filter(is_possible).collect();
    presets.dedup();
    presets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_tips_follow_the_price_within_the_terms() {
        let currency = Currency::new("EUR", 2).unwrap();
        let limit = |minor| Amount::new(Money::from_minor(minor));
        for (price, least, most, expected) in [
            (1_250, None, None, vec![630, 1_300, 2_500]),
            (1_000, None, None, vec![500, 1_000, 2_000]),
            (0, None, None, vec![250, 500, 1_000]),
            (1, None, None, vec![1, 2]),
            (1_000, limit(600), limit(1_000), vec![1_000]),
            (1_000, limit(5_000), None, vec![]),
        ] {
            let terms = TipTerms { min_amount: least, max_amount: most, ..TipTerms::default() };
            let tips = presets(Money::from_minor(price), &terms, &currency);
            let tips: Vec<i128> = tips.into_iter().map(|amount| amount.money().minor()).collect();
            assert_eq!(tips, expected, "{price}");
        }
    }
}
