//! The usual price of a song, and the smallest and the largest tip.

use super::*;

#[test]
fn the_smallest_tip_is_no_more_than_the_largest() {
    let tips = |least, most| {
        let keys = [("tips.min_amount", least), ("tips.max_amount", most)];
        layers(DeploymentEnvironment::Development, &keys).settings()
    };
    refused(tips("2.01", "2"), "tips.max_amount: must be at least tips.min_amount");
    refused(tips("0.001", "2"), "tips.min_amount: is not an amount in USD: more than 2 decimals");
    refused(tips("0", "0"), "tips.max_amount: must be greater than zero");
    refused(tips("-1", "2"), "tips.min_amount: must be greater than zero");
    for (least, expected) in [("2", Some(200)), ("0", None)] {
        let least = tips(least, "2").unwrap().tips.min_amount;
        assert_eq!(least.map(|least| least.money()), expected.map(Money::from_minor));
    }
}

#[test]
fn the_usual_price_is_a_sum_of_the_currency_above_zero() {
    let price = |price| {
        let layers = layers(DeploymentEnvironment::Development, &[("gigs.usual_price", price)]);
        layers.settings().map(|settings| settings.requests.usual_price.money())
    };
    let refused = |text, sentence: &str| assert_eq!(price(text).unwrap_err().to_string(), sentence, "{text}");
    refused("0", "gigs.usual_price: must be greater than zero");
    refused("-5", "gigs.usual_price: must be greater than zero");
    refused("0.001", "gigs.usual_price: is not an amount in USD: more than 2 decimals");
    refused("five", "gigs.usual_price: is not an amount in USD: not a number");
    refused("1e15", "gigs.usual_price: is not an amount in USD: too large");
    assert_eq!(price("7.5").unwrap(), Money::from_minor(750));
    let default = layers(DeploymentEnvironment::Development, &[]).settings().unwrap();
    assert_eq!(default.requests.usual_price.money(), Money::from_minor(500));
}
