//! Views of withdrawal options for clients.

use cuepoint_domain::withdrawal::WithdrawalTerms;
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::wire::names;

/// The withdrawal options and the address policy.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = WithdrawalOptions)]
pub struct WithdrawalOptionsView {
    /// `strict` accepts only these options, with an address of the network. `lenient` accepts any text.
    #[schema(value_type = names::AddressPolicy, example = "strict")]
    address_policy: &'static str,
    /// The currencies with their networks.
    options: Vec<WithdrawalOptionView>,
}

/// A payout currency with its networks.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = WithdrawalOption)]
pub struct WithdrawalOptionView {
    /// The currency.
    #[schema(example = "USDT")]
    currency: String,
    /// Networks of the currency.
    #[schema(value_type = Vec<names::Network>, example = json!(["ethereum", "tron"]))]
    networks: Vec<&'static str>,
}

impl WithdrawalOptionsView {
    /// The options under these terms.
    #[must_use]
    pub fn new(terms: &WithdrawalTerms) -> Self {
        let rows = terms.options.rows().iter().map(|row| WithdrawalOptionView {
            currency: row.currency().to_owned(),
            networks: row.networks().iter().map(|network| network.name()).collect(),
        });
        Self { address_policy: terms.address_policy.name(), options: rows.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuepoint_domain::address::{AddressPolicy, OptionsTable, PayoutOption};

    #[test]
    fn the_options_have_exactly_these_keys() {
        let tether = PayoutOption::new("usdt", ["TRON", "ethereum"]).unwrap();
        let options = OptionsTable::new(vec![tether]).unwrap();
        let terms = WithdrawalTerms { address_policy: AddressPolicy::Strict, options, ..Default::default() };
        assert_eq!(
            serde_json::to_string(&WithdrawalOptionsView::new(&terms)).unwrap(),
            r#"{"address_policy":"strict","options":[{"currency":"USDT","networks":["tron","ethereum"]}]}"#
        );
    }
}
