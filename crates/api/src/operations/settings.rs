//! What clients have to know about a deployment.

use cuepoint_domain::application::queries::SettingsQueries;
use cuepoint_domain::money::{Amount, Currency, Money};
use cuepoint_domain::withdrawal::WithdrawalAmount;
use serde::Serialize;
use utoipa::ToSchema;

use crate::call::ApiCall;
use crate::declaration::{ok, operations};
use crate::endpoint::anonymous;
use crate::state::ApiSettings;
use crate::wire::envelope::ApiResponse;
use crate::wire::error::ApiError;
use cuepoint_transport::rate_limits::Class;
use cuepoint_views::view;
use cuepoint_views::wire::money::Number;
use cuepoint_views::withdrawal_options::WithdrawalOptionsView;

operations! {
    /// Show the settings of the deployment
    ///
    /// What clients have to know about this deployment. No token is needed. The settings change only with the
    /// configuration of the deployment.
    GET "/api/v1/settings" "getSettings" {
        tag: Service,
        run: anonymous(show),
        answers: ok::<SettingsData>("The settings."),
        class: Class::Public,
    }
}

view! {
    /// The settings of a deployment.
    pub struct SettingsView as Settings of (settings: &SettingsQueries, api: &ApiSettings) {
        let currency = &api.currency;
        /// Environment of the deployment: `development`, `test` or `production`. Only production has real money.
        #[schema(example = "production")]
        environment: &'static str = api.environment,
        /// Speed of the clock of the service, as a multiple of real time. It is 1 except in demonstrations.
        #[schema(minimum = 1, maximum = 3600, example = 1)]
        clock_rate: u32 = api.clock_rate.get(),
        /// Currency of all wallets, fees, tips and top-ups.
        #[schema(example = "USD")]
        currency: String = currency.code().to_owned(),
        /// Number of decimals of the currency.
        #[schema(minimum = 0, maximum = 8, example = 2)]
        scale: u8 = currency.scale(),
        /// Commission: the share of a fee or a tip that the platform keeps, in hundredths of a percent.
        #[schema(minimum = 0, maximum = 10000, example = 1500)]
        commission_bps: u16 = settings.requests().commission.get(),
        /// Times to live of music requests.
        requests: MusicRequestLifetimesView = MusicRequestLifetimesView::new(settings),
        /// Smallest and largest amounts that a request can name.
        amounts: AmountRangesView = AmountRangesView::new(settings, currency),
        /// Destinations of withdrawals.
        withdrawals: WithdrawalOptionsView = WithdrawalOptionsView::new(settings.withdrawals()),
        /// What the deployment offers.
        configured: ConfiguredFeaturesView = ConfiguredFeaturesView::new(settings),
    }
}

view! {
    /// Times to live of music requests.
    struct MusicRequestLifetimesView as MusicRequestLifetimes of (settings: &SettingsQueries) {
        /// Seconds until a pending request expires.
        #[schema(minimum = 1, example = 900)]
        pending_ttl_seconds: i64 = settings.requests().pending_for.whole_seconds(),
        /// Seconds until an accepted request expires.
        #[schema(minimum = 1, example = 3600)]
        accepted_ttl_seconds: i64 = settings.requests().accepted_for.whole_seconds(),
    }
}

view! {
    /// Smallest and largest amounts.
    struct AmountRangesView as AmountRanges of (settings: &SettingsQueries, currency: &Currency) {
        let largest = currency.largest();
        let least = |limit: Option<Amount>| limit.map_or(Money::from_minor(1), Amount::money);
        let most = |limit: Option<Amount>| limit.map_or(largest, Amount::money);
        let (tips, withdrawable) = (settings.tips(), most(settings.withdrawals().limits.max_amount));
        /// Of a top-up.
        topup: AmountRangeView = AmountRangeView::new(least(settings.least_topup()), largest, currency),
        /// Of a withdrawal.
        withdrawal: AmountRangeView =
            AmountRangeView::new(WithdrawalAmount::minimum(currency), withdrawable, currency),
        /// Of a tip.
        tip: AmountRangeView = AmountRangeView::new(least(tips.min_amount), most(tips.max_amount), currency),
        /// Of a fee. The minimum for a request is the price of its DJ.
        fee: AmountRangeView = AmountRangeView::new(Money::ZERO, largest, currency),
    }
}

view! {
    /// A smallest and a largest amount, in major units.
    struct AmountRangeView as AmountRange of (
        minimum: Money,
        maximum: Money,
        currency: &Currency,
    ) {
        /// Smallest amount.
        #[decimal(example = 1.00)]
        minimum: Number = Number::money(currency, minimum),
        /// Largest amount.
        #[decimal(example = 1000.00)]
        maximum: Number = Number::money(currency, maximum),
    }
}

view! {
    /// What a deployment offers.
    struct ConfiguredFeaturesView as ConfiguredFeatures of (settings: &SettingsQueries) {
        /// Whether wallets can be topped up.
        topups: bool = settings.takes_topups(),
        /// Whether codes and messages are sent by e-mail.
        email: bool = settings.sends_email(),
        /// Whether codes are sent to phones.
        phone: bool = settings.sends_to_phones(),
    }
}

/// The settings of a deployment in an answer.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct SettingsData {
    /// The settings.
    pub settings: SettingsView,
}

async fn show(call: ApiCall) -> Result<ApiResponse, ApiError> {
    let settings = SettingsView::new(&call.use_cases().settings, call.settings());
    ApiResponse::new("Settings.", SettingsData { settings })
}
