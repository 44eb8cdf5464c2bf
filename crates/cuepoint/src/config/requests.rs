//! Currency, song requests and their fees.

use std::time::Duration;

use cuepoint_domain::money::{BasisPoints, Currency};
use cuepoint_domain::music_request::RequestTerms;
use serde::Deserialize;

use super::ConfigError;
use super::values::{DAY, HOUR, Seconds, Text, Whole};

/// The settings for song requests.
#[derive(Clone, Debug)]
pub struct Requests {
    /// The deadlines, the commission and the limits of requests.
    pub terms: RequestTerms,
    /// The interval at which the holds of overdue requests are settled.
    pub sweep_interval: Duration,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WalletSection {
    currency: Text,
    scale: Whole<u8, 0, 8>,
}

impl TryFrom<WalletSection> for Currency {
    type Error = ConfigError;

    fn try_from(section: WalletSection) -> Result<Self, ConfigError> {
        Self::new(&section.currency.0, section.scale.0).ok_or_else(|| {
            ConfigError::new("wallet.currency", "must be 3 to 12 capital letters or digits, such as USD")
        })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FeesSection {
    commission_bps: Whole<u16, 0, 10_000>,
}

const MONTH: u32 = DAY.saturating_mul(30);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RequestsSection {
    pending_ttl_seconds: Seconds<1, MONTH>,
    accepted_ttl_seconds: Seconds<1, MONTH>,
    sweep_interval_seconds: Seconds<1, HOUR>,
    max_open_per_dj: Whole<u32, 0, 1_000>,
}

impl RequestsSection {
    pub(super) fn with_fees(self, fees: &FeesSection) -> Result<Requests, ConfigError> {
        let commission = BasisPoints::new(fees.commission_bps.0)
            .ok_or_else(|| ConfigError::new("fees.commission_bps", "must be from 0 to 10000"))?;
        let most_open = self.max_open_per_dj.0;
        let terms = RequestTerms {
            pending_for: self.pending_ttl_seconds.to_time(),
            accepted_for: self.accepted_ttl_seconds.to_time(),
            commission,
            most_open_per_dj: (most_open > 0).then_some(most_open),
        };
        Ok(Requests { terms, sweep_interval: self.sweep_interval_seconds.to_std() })
    }
}
