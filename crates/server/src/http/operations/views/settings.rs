//! The view of a deployment's settings.

use cuepoint_domain::application::queries::SettingsQueries;
use cuepoint_domain::money::{Currency, Money};
use cuepoint_domain::withdrawal::WithdrawalAmount;
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::operations::views::WithdrawalOptionsView;
use crate::http::wire::money::Number;

/// The settings of a deployment.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Settings)]
pub struct SettingsView {
    /// Currency of all wallets, of fees and of top-ups.
    #[schema(example = "USD")]
    currency: String,
    /// Number of decimals of the currency.
    #[schema(minimum = 0, maximum = 8, example = 2)]
    scale: u8,
    /// Share of a fee that the platform keeps, in hundredths of a percent.
    #[schema(minimum = 0, maximum = 10000, example = 1500)]
    commission_bps: u16,
    /// Times to live of music requests.
    requests: RequestTimesView,
    /// Smallest and largest amounts that a request can name.
    amounts: AmountsView,
    /// Destinations of withdrawals.
    withdrawals: WithdrawalOptionsView,
    /// What the deployment offers.
    configured: ConfiguredView,
}

/// Times to live of music requests.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[schema(as = RequestTimes)]
pub(super) struct RequestTimesView {
    /// Seconds after which a pending request expires.
    #[schema(minimum = 1, example = 900)]
    pending_ttl_seconds: i64,
    /// Seconds after which an accepted request expires that is not played.
    #[schema(minimum = 1, example = 3600)]
    accepted_ttl_seconds: i64,
}

/// Smallest and largest amounts.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = AmountRanges)]
pub(super) struct AmountsView {
    /// Of a top-up.
    topup: AmountRangeView,
    /// Of a withdrawal.
    withdrawal: AmountRangeView,
    /// Of a fee; the price of the DJ is the minimum of a request to this DJ.
    fee: AmountRangeView,
}

/// A smallest and a largest amount, in major units.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = AmountRange)]
pub(super) struct AmountRangeView {
    /// Smallest amount.
    #[schema(value_type = f64, format = "decimal", example = 1.00)]
    minimum: Number,
    /// Largest amount.
    #[schema(value_type = f64, format = "decimal", example = 1000.00)]
    maximum: Number,
}

/// What a deployment offers.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[schema(as = Configured)]
pub(super) struct ConfiguredView {
    /// Whether wallets can be topped up.
    topups: bool,
    /// Whether codes and messages are sent by e-mail.
    email: bool,
    /// Whether codes are sent to phones.
    phone: bool,
}

/// The settings of a deployment in an answer.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct SettingsData {
    /// The settings.
    pub settings: SettingsView,
}

impl SettingsView {
    /// The settings, without thresholds of approvals, rate limits and internal states.
    #[must_use]
    pub fn new(settings: &SettingsQueries, currency: &Currency) -> Self {
        let (requests, withdrawals) = (settings.requests(), settings.withdrawals());
        let largest = currency.largest();
        let range = |minimum, maximum| AmountRangeView {
            minimum: Number::money(currency, minimum),
            maximum: Number::money(currency, maximum),
        };
        let withdrawable = withdrawals.limits.max_amount.map_or(largest, |amount| amount.money());
        Self {
            currency: currency.code().to_owned(),
            scale: currency.scale(),
            commission_bps: requests.commission.get(),
            requests: RequestTimesView {
                pending_ttl_seconds: requests.pending_for.whole_seconds(),
                accepted_ttl_seconds: requests.accepted_for.whole_seconds(),
            },
            amounts: AmountsView {
                topup: range(Money::from_minor(1), largest),
                withdrawal: range(WithdrawalAmount::minimum(currency), withdrawable),
                fee: range(Money::ZERO, largest),
            },
            withdrawals: WithdrawalOptionsView::new(withdrawals),
            configured: ConfiguredView {
                topups: settings.takes_topups(),
                email: settings.sends_email(),
                phone: settings.sends_to_phones(),
            },
        }
    }
}
