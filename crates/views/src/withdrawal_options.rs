//! Views of withdrawal options for clients.

use cuepoint_domain::address::PayoutOption;
use cuepoint_domain::withdrawal::WithdrawalTerms;

use crate::view;
use crate::wire::names;

view! {
    /// The destinations of withdrawals.
    pub struct WithdrawalOptionsView as WithdrawalOptions of (terms: &WithdrawalTerms) {
        /// `strict` accepts only these options, with an address of the network. `lenient` accepts any text.
        #[schema(value_type = names::AddressPolicy, example = "strict")]
        address_policy: &'static str = terms.address_policy.name(),
        /// The currencies that are paid out, with their networks.
        options: Vec<WithdrawalOptionView> =
            terms.options.rows().iter().map(WithdrawalOptionView::new).collect(),
    }
}

view! {
    /// A cryptocurrency with its networks.
    pub struct WithdrawalOptionView as WithdrawalOption of (option: &PayoutOption) {
        /// The cryptocurrency.
        #[schema(example = "USDT")]
        currency: String = option.currency().to_owned(),
        /// Networks of the currency.
        #[schema(value_type = Vec<names::PayoutNetwork>, example = json!(["ethereum", "tron"]))]
        networks: Vec<&'static str> = option.networks().iter().map(|network| network.name()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuepoint_domain::address::{AddressPolicy, OptionsTable};

    #[test]
    fn the_json_of_withdrawal_options_is_stable() {
        let tether = PayoutOption::new("usdt", ["TRON", "ethereum"]).unwrap();
        let options = OptionsTable::new(vec![tether]).unwrap();
        let terms = WithdrawalTerms { address_policy: AddressPolicy::Strict, options, ..Default::default() };
        assert_eq!(
            serde_json::to_string(&WithdrawalOptionsView::new(&terms)).unwrap(),
            r#"{"address_policy":"strict","options":[{"currency":"USDT","networks":["tron","ethereum"]}]}"#
        );
    }
}
