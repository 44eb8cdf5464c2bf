//! Every key that the configuration may have.

/// A key, and whether its value is never shown.
pub(super) struct Key {
    pub(super) name: &'static str,
    pub(super) secret: bool,
}

const fn open(name: &'static str) -> Key {
    Key { name, secret: false }
}

const fn secret(name: &'static str) -> Key {
    Key { name, secret: true }
}

/// Every key, in the order in which they are shown.
pub(super) const KEYS: &[Key] = &[
    open("server.host"),
    open("server.port"),
    open("server.workers"),
    open("server.public_url"),
    open("server.trusted_proxies"),
    open("server.max_connections"),
    open("server.head_timeout_seconds"),
    open("server.body_timeout_seconds"),
    open("server.keep_alive_seconds"),
    open("storage.backend"),
    secret("storage.postgres.url"),
    open("storage.postgres.pool_size"),
    open("storage.postgres.migrate_on_start"),
    open("auth.signing_key_file"),
    secret("auth.signing_keys"),
    open("auth.access_token_ttl_seconds"),
    open("auth.refresh_token_ttl_seconds"),
    open("auth.argon2_memory_kib"),
    open("auth.argon2_iterations"),
    open("auth.argon2_parallelism"),
    open("auth.breached_passwords"),
    open("wallet.currency"),
    open("wallet.scale"),
    open("fees.commission_bps"),
    open("requests.pending_ttl_seconds"),
    open("requests.accepted_ttl_seconds"),
    open("requests.sweep_interval_seconds"),
    open("requests.max_open_per_dj"),
    open("ledger.audit_interval_seconds"),
    open("withdrawals.address_policy"),
    open("withdrawals.options"),
    open("withdrawals.auto_approve_below"),
    open("withdrawals.second_approval_above"),
    open("withdrawals.max_amount"),
    open("withdrawals.max_per_24h"),
    open("withdrawals.max_per_30d"),
    open("adjustments.max_amount"),
    open("notifier.email"),
    secret("notifier.smtp_url"),
    open("notifier.from"),
    open("notifier.phone"),
    open("notifier.webhook_url"),
    secret("notifier.webhook_secrets"),
    open("phone.codes_per_day"),
    open("topups.provider"),
    open("topups.webhook_url"),
    open("topups.pending_days"),
    secret("topups.webhook_secrets"),
    open("topups.max_attempts"),
    open("topups.retry_seconds"),
    open("topups.poll_interval_seconds"),
    open("payouts.provider"),
    open("payouts.webhook_url"),
    secret("payouts.webhook_secrets"),
    open("payouts.max_attempts"),
    open("payouts.retry_seconds"),
    open("payouts.poll_interval_seconds"),
    open("cors.allowed_origins"),
    open("access.metrics_networks"),
    open("access.operator_networks"),
    open("rate_limits.enabled"),
    open("rate_limits.login_per_minute"),
    open("rate_limits.failed_logins_per_minute"),
    open("rate_limits.failed_logins_per_hour"),
    open("rate_limits.requests_per_minute"),
    open("rate_limits.withdrawals_per_minute"),
    open("rate_limits.default_per_minute"),
    open("bootstrap.operator_email"),
    secret("bootstrap.operator_password"),
];

/// Whether there is such a key.
pub(super) fn is_known(name: &str) -> bool {
    KEYS.iter().any(|key| key.name == name)
}
