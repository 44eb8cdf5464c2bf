//! Currency, song requests and their fees, gigs and tips.

use std::time::Duration;

use cuepoint_domain::money::{Amount, BasisPoints, Currency};
use cuepoint_domain::music_request::{RequestTerms, SongUrl};
use cuepoint_domain::tip::TipTerms;
use serde::Deserialize;

use super::ConfigError;
use super::problems::Collector;
use super::values::{
    AmountText, DAY, FromText, HOUR, Seconds, TextValue, Whole, amount, amount_above_zero, amount_unless_zero,
};

/// The settings for song requests.
#[derive(Clone, Debug)]
pub struct Requests {
    /// The deadlines, the commission and the limits of requests.
    pub terms: RequestTerms,
    /// The maximum duration of a gig.
    pub longest_gig: time::Duration,
    /// The interval at which overdue requests and the requests of ended gigs are settled.
    pub sweep_interval: Duration,
    /// The price that the form of a DJ's first gig proposes.
    pub usual_price: Amount,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WalletSection {
    currency: TextValue,
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
    song_url: TextValue<SongUrl>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GigsSection {
    max_hours: Whole<u32, 1, 168>,
    max_open: Whole<u32, 1, 1_000>,
    max_requests: Whole<u32, 10, 100_000>,
    pending_ttl_seconds: Seconds<1, DAY>,
    accepted_ttl_seconds: Seconds<1, DAY>,
    usual_price: AmountText,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TipsSection {
    min_amount: AmountText,
    max_amount: Option<AmountText>,
}

impl FeesSection {
    fn commission(&self) -> Result<BasisPoints, ConfigError> {
        BasisPoints::new(self.commission_bps.0)
            .ok_or_else(|| ConfigError::new("fees.commission_bps", "must be from 0 to 10000"))
    }
}

impl TipsSection {
    pub(super) fn with_fees(
        self,
        fees: &FeesSection,
        currency: &Currency,
        errors: &mut Collector,
    ) -> Option<TipTerms> {
        let min_amount = errors.keep(amount_unless_zero("tips.min_amount", Some(self.min_amount), currency));
        let max_amount = errors.keep(amount("tips.max_amount", self.max_amount, currency));
        // An error of the commission is reported with the requests.
        let commission = fees.commission().ok();
        let (min_amount, max_amount) = (min_amount?, max_amount?);
        if max_amount.is_some_and(|most| min_amount.is_some_and(|least| most < least)) {
            errors.push(ConfigError::new("tips.max_amount", "must be at least tips.min_amount"));
        }
        Some(TipTerms { commission: commission?, min_amount, max_amount })
    }
}

impl FromText for SongUrl {
    fn from_text(text: &str) -> Result<Self, String> {
        Self::new(text)
            .map_err(|_| "must be a web address of at most 1024 characters with {song} in it".to_owned())
    }
}

impl RequestsSection {
    pub(super) fn with_fees(
        self,
        fees: &FeesSection,
        gigs: GigsSection,
        currency: &Currency,
    ) -> Result<Requests, ConfigError> {
        let most_open = self.max_open_per_dj.0;
        let terms = RequestTerms {
            pending_for: self.pending_ttl_seconds.to_time(),
            accepted_for: self.accepted_ttl_seconds.to_time(),
            gig_pending_for: gigs.pending_ttl_seconds.to_time(),
            gig_accepted_for: gigs.accepted_ttl_seconds.to_time(),
            commission: fees.commission()?,
            most_open_per_dj: (most_open > 0).then_some(most_open),
            most_open_per_gig: gigs.max_open.0,
            most_made_per_gig: gigs.max_requests.0,
            song_url: self.song_url.0,
        };
        let longest_gig = time::Duration::hours(i64::from(gigs.max_hours.0));
        let usual_price = amount_above_zero("gigs.usual_price", &gigs.usual_price, currency)?;
        let sweep_interval = self.sweep_interval_seconds.to_std();
        Ok(Requests { terms, longest_gig, sweep_interval, usual_price })
    }
}
