//! Access control by network, web origin and request rate.

use std::num::NonZeroU32;

use serde::Deserialize;

use super::values::{Flag, FromList, TextList, Whole};
use cuepoint_adapters::networks::Networks;
use cuepoint_adapters::outgoing::origin;
use cuepoint_api::state::Reachable;
use cuepoint_transport::rate_limits::Quotas;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AccessSection {
    metrics_networks: TextList<Networks>,
    operator_networks: TextList<Networks>,
}

impl From<AccessSection> for Reachable {
    fn from(section: AccessSection) -> Self {
        Self { metrics: section.metrics_networks.0, operators: section.operator_networks.0 }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CorsSection {
    allowed_origins: TextList<WebOrigins>,
}

struct WebOrigins(Vec<String>);

impl FromList for WebOrigins {
    fn from_list(texts: Vec<&str>) -> Result<Self, String> {
        let check = |text: &str| {
            // Browsers send an origin in exactly one form; any other spelling would never match.
            let spelled = origin(text).filter(|origin| origin == text);
            spelled.ok_or_else(|| format!("{text:?} is not an origin such as https://app.example.com"))
        };
        texts.into_iter().map(check).collect::<Result<_, _>>().map(Self)
    }
}

impl From<CorsSection> for Vec<String> {
    fn from(section: CorsSection) -> Self {
        section.allowed_origins.0.0
    }
}

type CallQuota = Whole<NonZeroU32, 1, 1_000_000>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RateLimitsSection {
    enabled: Flag,
    login_per_minute: CallQuota,
    registrations_per_minute: CallQuota,
    guests_per_minute: CallQuota,
    guest_requests_per_minute: CallQuota,
    guess_per_minute: CallQuota,
    refreshes_per_minute: CallQuota,
    public_per_minute: CallQuota,
    waiting_passwords_per_network: CallQuota,
    failed_logins_per_minute: CallQuota,
    failed_logins_per_address: CallQuota,
    failed_logins_per_hour: CallQuota,
    requests_per_minute: CallQuota,
    withdrawals_per_minute: CallQuota,
    webhooks_per_hour: CallQuota,
    webhook_changes_per_hour: CallQuota,
    gigs_per_hour: CallQuota,
    boards_per_minute: CallQuota,
    nearby_per_minute: CallQuota,
    pages_per_minute: CallQuota,
    unknown_codes_per_minute: CallQuota,
    default_per_minute: CallQuota,
}

impl From<RateLimitsSection> for Option<Quotas> {
    fn from(section: RateLimitsSection) -> Self {
        let quotas = Quotas {
            login: section.login_per_minute.0,
            registrations: section.registrations_per_minute.0,
            guests: section.guests_per_minute.0,
            guest_requests: section.guest_requests_per_minute.0,
            public: section.public_per_minute.0,
            guess: section.guess_per_minute.0,
            refreshes: section.refreshes_per_minute.0,
            requests: section.requests_per_minute.0,
            withdrawals: section.withdrawals_per_minute.0,
            webhooks_per_hour: section.webhooks_per_hour.0,
            webhook_changes_per_hour: section.webhook_changes_per_hour.0,
            gigs_per_hour: section.gigs_per_hour.0,
            boards: section.boards_per_minute.0,
            nearby: section.nearby_per_minute.0,
            pages: section.pages_per_minute.0,
            unknown_codes: section.unknown_codes_per_minute.0,
            other: section.default_per_minute.0,
            failed_logins: section.failed_logins_per_minute.0,
            failed_logins_per_address: section.failed_logins_per_address.0,
            failed_logins_per_hour: section.failed_logins_per_hour.0,
            waiting_passwords: section.waiting_passwords_per_network.0,
        };
        section.enabled.0.then_some(quotas)
    }
}
