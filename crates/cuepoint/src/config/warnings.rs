//! Warnings about what a valid configuration cannot do.

use super::storage::{DIRECTORY, POSTGRES_URL};
use super::{DeploymentEnvironment, EmailChannel, Settings, Storage, TopupProviderKind};

/// The warning of a deployment in which nobody can decide about withdrawals. The configuration does not show it.
pub const NO_OPERATOR: &str = "there is no active operator: nobody can approve withdrawals or correct balances; add one with \
     `cuepoint operator add EMAIL`";

impl Settings {
    /// The warnings about what cannot work with these settings, each as one sentence that names the key.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let is_production = self.environment == DeploymentEnvironment::Production;
        let backend = self.storage.name();
        let ignored = |key: &str| format!("{key} is ignored, because storage.backend is {backend}");
        let is_sqlite = matches!(self.storage, Storage::Sqlite { .. });
        let is_postgres = matches!(self.storage, Storage::Postgres(_));
        let checks: [(bool, String); 12] = [
            (
                matches!(self.storage, Storage::Memory),
                format!("storage.backend is {backend}: all data ends with this process"),
            ),
            (self.storage_keys.directory && !is_sqlite, ignored(DIRECTORY)),
            (self.storage_keys.postgres_url && !is_postgres, ignored(POSTGRES_URL)),
            (
                self.topups.provider == TopupProviderKind::None,
                "topups.provider is none: users cannot pay in".to_owned(),
            ),
            (
                matches!(self.notifier.email, EmailChannel::None),
                "notifier.email is none: e-mail addresses cannot be verified and passwords cannot be reset"
                    .to_owned(),
            ),
            (
                is_production && self.server.public_url.is_none() && !self.pages.enabled,
                "server.public_url is not set: links in answers begin with the address on which the server listens"
                    .to_owned(),
            ),
            (
                is_production && self.server.trusted_proxies.is_empty(),
                "server.trusted_proxies is empty: behind a reverse proxy, all clients share the rate limits of the \
                 proxy's address"
                    .to_owned(),
            ),
            (
                is_production && self.topups.of_guests.most_per_24h.is_none(),
                "topups.guest_max_per_24h is not set: a stolen card can pay any amount into a guest account".to_owned(),
            ),
            (
                is_production && self.tips.max_amount.is_none(),
                "tips.max_amount is not set: one tip can move the whole balance of a stolen card".to_owned(),
            ),
            (
                is_production && self.withdrawals.clearing_time.is_none(),
                "withdrawals.clearing_hours is 0: the money of a stolen card can be withdrawn at once".to_owned(),
            ),
            (
                is_production && self.rate_limits.is_none(),
                "rate_limits.enabled is false: strangers can guess passwords without a limit".to_owned(),
            ),
            (
                self.auth.refresh_token_ttl < self.auth.access_token_ttl,
                "auth.refresh_token_ttl_seconds is less than auth.access_token_ttl_seconds: access tokens outlive \
                 their session and are not revoked with it"
                    .to_owned(),
            ),
        ];
        checks.into_iter().filter_map(|(applies, warning)| applies.then_some(warning)).collect()
    }
}
