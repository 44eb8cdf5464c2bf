//! Settings of withdrawals and adjustments.

use cuepoint_domain::address::{AddressPolicy, OptionsTable, PayoutOption};
use cuepoint_domain::ledger::adjustment::AdjustmentTerms;
use cuepoint_domain::money::Currency;
use cuepoint_domain::withdrawal::{WithdrawalLimits, WithdrawalTerms};
use serde::Deserialize;
use time::Duration;

use super::ConfigError;
use super::problems::Collector;
use super::values::{
    AmountText, Flag, FromList, FromText, TextList, TextValue, Whole, amount, amount_unless_zero,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WithdrawalsSection {
    address_policy: TextValue<AddressPolicy>,
    options: TextList<OptionsTable>,
    auto_approve_below: Option<AmountText>,
    second_approval_above: Option<AmountText>,
    max_amount: Option<AmountText>,
    max_per_24h: Option<AmountText>,
    max_per_30d: Option<AmountText>,
    clearing_hours: Whole<u32, 0, 8_760>,
    verified_email: Flag,
}

impl FromText for AddressPolicy {
    fn from_text(text: &str) -> Result<Self, String> {
        let policy = Self::all().find(|policy| policy.name() == text.trim());
        policy.ok_or_else(|| {
            format!("must be one of {}", Self::all().map(Self::name).collect::<Vec<_>>().join(", "))
        })
    }
}

/// One row per currency: its code, a colon, and its networks separated by spaces.
impl FromList for OptionsTable {
    fn from_list(texts: Vec<&str>) -> Result<Self, String> {
        let row = |text: &str| {
            let (currency, networks) = text.split_once(':').ok_or_else(|| {
                format!("{text:?} is not a currency with its networks, such as \"ETH: ethereum base\"")
            })?;
            PayoutOption::new(currency.trim(), networks.split_whitespace()).map_err(|error| error.to_string())
        };
        let rows = texts.into_iter().map(row).collect::<Result<_, _>>()?;
        Self::new(rows).map_err(|error| error.to_string())
    }
}

impl WithdrawalsSection {
    pub(super) fn check(self, currency: &Currency, errors: &mut Collector) -> Option<WithdrawalTerms> {
        let [below_key, above_key] = ["withdrawals.auto_approve_below", "withdrawals.second_approval_above"];
        let mut sum = |key, text| errors.keep(amount(key, text, currency));
        let max_amount = sum("withdrawals.max_amount", self.max_amount);
        let max_per_24h = sum("withdrawals.max_per_24h", self.max_per_24h);
        let max_per_30d = sum("withdrawals.max_per_30d", self.max_per_30d);
        let second_approval_above = sum(above_key, self.second_approval_above);
        let auto_approve_below =
            errors.keep(amount_unless_zero(below_key, self.auto_approve_below, currency));
        let (second_approval_above, auto_approve_below) = (second_approval_above?, auto_approve_below?);
        if let (Some(above), Some(below)) = (second_approval_above, auto_approve_below)
            && above < below
        {
            let reason =
                "must not be less than withdrawals.auto_approve_below, below which no approval is needed";
            errors.push(ConfigError::new(above_key, reason));
        }
        let limits = WithdrawalLimits {
            max_amount: max_amount?,
            max_per_24h: max_per_24h?,
            max_per_30d: max_per_30d?,
        };
        let clearing = Duration::hours(i64::from(self.clearing_hours.0));
        Some(WithdrawalTerms {
            limits,
            clearing_time: (!clearing.is_zero()).then_some(clearing),
            requires_verified_email: self.verified_email.0,
            auto_approve_below,
            second_approval_above,
            address_policy: self.address_policy.0,
            options: self.options.0,
        })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AdjustmentsSection {
    max_amount: Option<AmountText>,
}

impl AdjustmentsSection {
    pub(super) fn check(self, currency: &Currency) -> Result<AdjustmentTerms, ConfigError> {
        Ok(AdjustmentTerms { max_amount: amount("adjustments.max_amount", self.max_amount, currency)? })
    }
}
