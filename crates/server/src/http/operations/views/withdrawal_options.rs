//! What can be paid out, as clients see it.

use cuepoint_domain::withdrawal::WithdrawalTerms;
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::wire::names;

/// What can be paid out, and how closely a destination is looked at.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct WithdrawalOptions {
    /// `strict`: only these options are taken, with an address of the network. `lenient`: any text is.
    #[schema(value_type = names::AddressPolicy, example = "strict")]
    address_policy: &'static str,
    /// Every currency that is paid out.
    options: Vec<WithdrawalOption>,
}

/// A currency that is paid out.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct WithdrawalOption {
    /// The currency.
    #[schema(example = "USDT")]
    currency: String,
    /// The networks that it is paid out on.
    #[schema(value_type = Vec<names::Network>, example = json!(["ethereum", "tron"]))]
    networks: Vec<&'static str>,
}

impl WithdrawalOptions {
    /// What these terms allow.
    #[must_use]
    pub fn new(terms: &WithdrawalTerms) -> Self {
        let rows = terms.options.rows().iter().map(|row| WithdrawalOption {
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
            serde_json::to_string(&WithdrawalOptions::new(&terms)).unwrap(),
            r#"{"address_policy":"strict","options":[{"currency":"USDT","networks":["tron","ethereum"]}]}"#
        );
    }
}
