//! The smallest and the largest tip.

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
