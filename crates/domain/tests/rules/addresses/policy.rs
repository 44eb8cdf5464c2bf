//! The destinations that a policy accepts, and their stored form.

use cuepoint_domain::address::{
    AddressError, AddressPolicy, Destination, DestinationRefusal, OptionsError, OptionsTable, PayoutOption,
};
use cuepoint_domain::text::Line;

fn option(currency: &str, networks: &[&str]) -> Result<PayoutOption, OptionsError> {
    PayoutOption::new(currency, networks.iter().copied())
}

fn table() -> OptionsTable {
    OptionsTable::new(vec![
        option("BTC", &["bitcoin"]).unwrap(),
        option("usdt", &["Ethereum", "TRON"]).unwrap(),
    ])
    .unwrap()
}

fn destination(currency: &str, network: &str, address: &str) -> Destination {
    let line = |text| Line::new(text).unwrap();
    Destination { currency: line(currency), network: line(network), wallet_address: line(address) }
}

const TETHER: &str = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t";
const SATOSHI: &str = "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa";

#[test]
fn a_lenient_policy_keeps_any_text() {
    let anything = destination("bitCoins", "Any Net", "somewhere nice");
    for options in [OptionsTable::default(), table()] {
        assert_eq!(AddressPolicy::Lenient.judge(&options, anything.clone()), Ok(anything.clone()));
    }
}

#[test]
fn a_strict_policy_keeps_the_canonical_form() {
    for (given, kept) in [
        (("btc", "BitCoin", SATOSHI), ("BTC", "bitcoin", SATOSHI)),
        (("Usdt", "TRON", TETHER), ("USDT", "tron", TETHER)),
        (
            ("USDT", "ethereum", "0x5AAEB6053F3E94C9B9A09F33669435E7EF1BEAED"),
            ("USDT", "ethereum", "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"),
        ),
    ] {
        let (given, kept) = (destination(given.0, given.1, given.2), destination(kept.0, kept.1, kept.2));
        assert_eq!(AddressPolicy::Strict.judge(&table(), given), Ok(kept.clone()));
        assert_eq!(AddressPolicy::Strict.judge(&table(), kept.clone()), Ok(kept));
    }
}

#[test]
fn a_strict_policy_returns_the_reason_for_a_refusal() {
    for (currency, network, address, refusal) in [
        ("EUR", "sepa", "anything", DestinationRefusal::Currency),
        ("BTC", "tron", SATOSHI, DestinationRefusal::Network),
        ("USDT", "bitcoin", SATOSHI, DestinationRefusal::Network),
        ("USDT", "moon", TETHER, DestinationRefusal::Network),
        ("BTC", "bitcoin", TETHER, DestinationRefusal::Address(AddressError::OtherNetwork)),
        ("BTC", "bitcoin", "bc1q", DestinationRefusal::Address(AddressError::Malformed)),
        (
            "BTC",
            "bitcoin",
            "mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn",
            DestinationRefusal::Address(AddressError::TestNetwork),
        ),
        (
            "USDT",
            "tron",
            "T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb",
            DestinationRefusal::Address(AddressError::Ownerless),
        ),
    ] {
        let judged = AddressPolicy::Strict.judge(&table(), destination(currency, network, address));
        assert_eq!(judged, Err(refusal), "{currency} on {network} to {address}");
    }
}

#[test]
fn invalid_payout_options_are_refused_with_an_explanation() {
    let known = "bitcoin, litecoin, dogecoin, ethereum, arbitrum, optimism, base, polygon, bsc, avalanche, tron, \
        solana, xrp, stellar, ton";
    for (refused, said) in [
        (OptionsTable::new(Vec::new()).map(drop), "must have at least one currency".to_owned()),
        (option("BTC", &[]).map(drop), "BTC has no network".to_owned()),
        (
            option("B", &["bitcoin"]).map(drop),
            "\"B\" is not a currency of 2 to 12 letters or digits".to_owned(),
        ),
        (
            option("B C", &["bitcoin"]).map(drop),
            "\"B C\" is not a currency of 2 to 12 letters or digits".to_owned(),
        ),
        (option("BTC", &["moon"]).map(drop), format!("\"moon\" is none of the networks {known}")),
        (option("eth", &["base", "BASE"]).map(drop), "base of ETH is there twice".to_owned()),
        (
            OptionsTable::new(vec![
                option("BTC", &["bitcoin"]).unwrap(),
                option("btc", &["bitcoin"]).unwrap(),
            ])
            .map(drop),
            "BTC is there twice".to_owned(),
        ),
    ] {
        assert_eq!(refused.map_err(|error| error.to_string()), Err(said));
    }
}
