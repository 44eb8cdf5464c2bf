mod clock_rate;
mod effective;
mod files;
mod missing_keys;
mod payouts;
mod production;
mod storage;
mod tips;
mod variables;
mod warnings;

use std::path::{Path, PathBuf};

use cuepoint_domain::address::{AddressPolicy, Network, OptionsTable, PayoutOption};
use cuepoint_domain::money::Money;
use cuepoint_domain::music_request::RequestTerms;
use cuepoint_domain::withdrawal::WithdrawalTerms;

use super::*;
use cuepoint_adapters::networks::{ClientAddress, Networks};
use cuepoint_adapters::outgoing::NameServers;
use cuepoint_transport::rate_limits::Quotas;

const PRODUCTION: &[(&str, &str)] = &[
    ("storage.postgres.url", "postgres://cuepoint:hidden-word@db/cuepoint"),
    ("auth.signing_key_file", "/etc/cuepoint/keys"),
    ("webhooks.key_file", "/etc/cuepoint/webhook-keys"),
];

const SECRETS: &str =
    "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=, whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

fn layers(environment: DeploymentEnvironment, keys: &[(&str, &str)]) -> Layers {
    Layers { environment, ..Layers::test(keys) }
}

fn settings(keys: &[(&str, &str)]) -> Settings {
    Layers::test(keys).settings().unwrap()
}

fn refused(settings: Result<Settings, Problems>, sentence: &str) {
    match settings {
        Ok(settings) => panic!("{settings:?} should be refused: {sentence}"),
        Err(error) => assert_eq!(error.to_string(), sentence),
    }
}

#[test]
fn the_compiled_defaults_are_complete() {
    let settings = layers(DeploymentEnvironment::Development, &[]).settings().unwrap();
    assert_eq!((settings.server.host.as_str(), settings.server.port), ("127.0.0.1", 8080));
    assert_eq!((settings.server.connections.workers, settings.server.public_url), (None, None));
    assert_eq!(settings.storage.directory(), Some(Path::new("./cuepoint-data")));
    assert_eq!(settings.auth.access_token_ttl, time::Duration::minutes(15));
    assert_eq!(settings.auth.refresh_token_ttl, time::Duration::days(30));
    assert_eq!(settings.auth.cookie_session, time::Duration::days(90));
    assert_eq!((settings.currency.code(), settings.currency.scale()), ("USD", 2));
    assert_eq!(settings.requests.terms, RequestTerms::default());
    let options = settings.withdrawals.options.clone();
    assert_eq!(settings.withdrawals, WithdrawalTerms { options, ..WithdrawalTerms::default() });
    let tether = settings.withdrawals.options.currency("USDT").unwrap();
    assert_eq!(tether.networks().first(), Some(&Network::Ethereum));
    assert_eq!(settings.topups.provider, TopupProviderKind::Sandbox);
    assert_eq!(settings.payouts.provider, PayoutProviderKind::Manual);
    assert_eq!((settings.topups.terms.max_attempts, settings.payouts.terms.max_attempts), (10, 5));
    assert_eq!(settings.topups.pending_for, time::Duration::days(7));
    assert!(settings.topups.secrets.is_empty() && settings.payouts.secrets.is_empty());
    assert!(settings.cors_allowed_origins.is_empty());
    let number = |number| std::num::NonZeroU32::new(number).unwrap();
    let quotas = Quotas {
        login: number(600),
        registrations: number(600),
        public: number(12_000),
        guess: number(5),
        refreshes: number(60),
        requests: number(10),
        withdrawals: number(5),
        webhooks_per_hour: number(10),
        webhook_changes_per_hour: number(20),
        gigs_per_hour: number(20),
        boards: number(12_000),
        nearby: number(600),
        pages: number(240),
        guests: number(600),
        guest_requests: number(600),
        unknown_codes: number(60),
        other: number(60),
        failed_logins: number(5),
        failed_logins_per_address: number(480),
        failed_logins_per_hour: number(100),
        waiting_passwords: number(64),
    };
    assert_eq!(settings.rate_limits, Some(quotas));
    assert_eq!(settings.phone_codes_per_day, Some(number(1_000)));
    assert_eq!(settings.server.trusted_proxies, Networks::default());
    assert_eq!(settings.webhooks.allowed_networks, Networks::default());
    assert_eq!(settings.webhooks.name_servers, NameServers::default());
    let everywhere = ClientAddress { address: None, proven: false };
    let here = ClientAddress { address: Some("127.0.0.1".parse().unwrap()), proven: true };
    assert!(settings.reachable.operators.admit(everywhere));
    assert!(settings.reachable.metrics.admit(here) && !settings.reachable.metrics.admit(everywhere));
    assert!(settings.bootstrap.is_none());
}

#[test]
fn each_environment_has_its_own_defaults() {
    let test = settings(&[]);
    assert_eq!((test.topups.provider, test.rate_limits), (TopupProviderKind::Sandbox, None));
    assert!(matches!(test.storage, Storage::Memory));
    let production = layers(DeploymentEnvironment::Production, PRODUCTION).settings().unwrap();
    assert_eq!(production.topups.provider, TopupProviderKind::None);
    assert!(production.rate_limits.is_some());
    assert!(matches!(production.storage, Storage::Postgres(Postgres { pool_size: 8, .. })));
    let policies = (test.withdrawals.address_policy, production.withdrawals.address_policy);
    assert_eq!(policies, (AddressPolicy::Lenient, AddressPolicy::Strict));
    let clearing = (test.withdrawals.clearing_time, production.withdrawals.clearing_time);
    assert_eq!(clearing, (None, Some(time::Duration::hours(72))));
    let verified = (test.withdrawals.requires_verified_email, production.withdrawals.requires_verified_email);
    assert_eq!(verified, (false, true));
}

#[test]
fn configuration_keys_can_be_set_by_variables() {
    let settings = settings(&[
        ("server.host", "::1"),
        ("server.port", "0"),
        ("server.workers", "3"),
        ("server.public_url", "https://api.example.com/"),
        ("server.trusted_proxies", "10.0.0.0/8, ::1"),
        ("server.max_connections", "11"),
        ("server.head_timeout_seconds", "12"),
        ("server.body_timeout_seconds", "13"),
        ("server.keep_alive_seconds", "14"),
        ("storage.backend", "postgres"),
        ("storage.dir", "/data"),
        ("storage.postgres.url", "postgres://db/x"),
        ("storage.postgres.pool_size", "4"),
        ("storage.postgres.migrate_on_start", "false"),
        ("auth.signing_key_file", "/keys"),
        ("auth.access_token_ttl_seconds", "60"),
        ("auth.refresh_token_ttl_seconds", "3600"),
        ("auth.cookie_session_days", "30"),
        ("wallet.currency", "BTC"),
        ("wallet.scale", "8"),
        ("fees.commission_bps", "1000"),
        ("requests.pending_ttl_seconds", "1"),
        ("requests.accepted_ttl_seconds", "2"),
        ("requests.sweep_interval_seconds", "3"),
        ("requests.song_url", "https://example.com/?q={song}"),
        ("gigs.max_hours", "4"),
        ("gigs.max_open", "5"),
        ("gigs.max_requests", "50"),
        ("gigs.pending_ttl_seconds", "6"),
        ("gigs.accepted_ttl_seconds", "7"),
        ("ledger.audit_interval_seconds", "4"),
        ("events.max_streams", "5"),
        ("events.shown_for_days", "6"),
        ("webhooks.allowed_networks", "10.20.0.0/16, fd00::1"),
        ("webhooks.name_servers", "10.0.0.53, [fd00::53]:5353"),
        ("webhooks.key_file", "/webhook-keys"),
        ("withdrawals.address_policy", "strict"),
        ("withdrawals.options", "btc: bitcoin, USDT: tron  Ethereum"),
        ("withdrawals.auto_approve_below", "0.00000001"),
        ("withdrawals.second_approval_above", "0.00000001"),
        ("adjustments.max_amount", "0.5"),
        ("tips.max_amount", "0.25"),
        ("withdrawals.max_amount", "12.5"),
        ("withdrawals.max_per_24h", "1000000000000"),
        ("withdrawals.max_per_30d", "3e1"),
        ("withdrawals.clearing_hours", "8"),
        ("withdrawals.verified_email", "true"),
        ("topups.provider", "webhook"),
        ("topups.sandbox", "page"),
        ("phone.codes_per_day", "7"),
        ("topups.webhook_url", "https://pay.example.com/charges?from=us"),
        ("topups.webhook_secrets", SECRETS),
        ("topups.max_attempts", "4"),
        ("topups.retry_seconds", "6"),
        ("topups.poll_interval_seconds", "7"),
        ("topups.pending_days", "30"),
        ("topups.min_amount", "2.5"),
        ("topups.guest_max_balance", "100"),
        ("topups.guest_max_per_24h", "50"),
        ("topups.return_url", "https://app.example/topups/{reference}"),
        ("payouts.provider", "webhook"),
        ("payouts.webhook_url", "http://payouts.example.com"),
        ("payouts.webhook_secrets", SECRETS),
        ("payouts.max_attempts", "1"),
        ("payouts.retry_seconds", "2"),
        ("payouts.poll_interval_seconds", "3"),
        ("cors.allowed_origins", "https://a.example, http://localhost:3000"),
        ("access.metrics_networks", "192.0.2.0/24"),
        ("access.operator_networks", "192.0.2.1"),
        ("rate_limits.enabled", "true"),
        ("rate_limits.login_per_minute", "1"),
        ("rate_limits.requests_per_minute", "2"),
        ("rate_limits.withdrawals_per_minute", "3"),
        ("rate_limits.default_per_minute", "4"),
        ("rate_limits.failed_logins_per_minute", "5"),
        ("rate_limits.failed_logins_per_hour", "6"),
        ("rate_limits.webhooks_per_hour", "7"),
        ("rate_limits.webhook_changes_per_hour", "8"),
        ("rate_limits.registrations_per_minute", "9"),
        ("rate_limits.public_per_minute", "10"),
        ("rate_limits.guess_per_minute", "11"),
        ("rate_limits.refreshes_per_minute", "12"),
        ("rate_limits.failed_logins_per_address", "13"),
        ("rate_limits.waiting_passwords_per_network", "14"),
        ("rate_limits.boards_per_minute", "15"),
        ("rate_limits.unknown_codes_per_minute", "16"),
        ("rate_limits.gigs_per_hour", "17"),
        ("rate_limits.nearby_per_minute", "18"),
        ("rate_limits.guests_per_minute", "19"),
        ("rate_limits.guest_requests_per_minute", "20"),
        ("rate_limits.pages_per_minute", "21"),
        ("bootstrap.operator_email", "ada@example.com"),
        ("bootstrap.operator_password", "12345678"),
    ]);
    let rows = vec![
        PayoutOption::new("BTC", ["bitcoin"]).unwrap(),
        PayoutOption::new("USDT", ["tron", "ethereum"]).unwrap(),
    ];
    assert_eq!(settings.withdrawals.options, OptionsTable::new(rows).unwrap());
    assert_eq!(settings.withdrawals.address_policy, AddressPolicy::Strict);
    let minor = |amount: Option<cuepoint_domain::money::Amount>| amount.map(|a| a.money());
    assert_eq!(settings.server.public_url.as_deref(), Some("https://api.example.com"));
    assert_eq!((settings.server.port, settings.server.connections.workers), (0, Some(3)));
    assert_eq!(settings.server.trusted_proxies, Networks::parse(["10.0.0.0/8", "::1"]).unwrap());
    assert_eq!(settings.server.connections.max_connections, 11);
    assert_eq!(settings.phone_codes_per_day, std::num::NonZeroU32::new(7));
    assert_eq!(settings.server.connections.head_timeout, std::time::Duration::from_secs(12));
    assert_eq!(settings.server.body_timeout, std::time::Duration::from_secs(13));
    assert_eq!(settings.server.connections.keep_alive, std::time::Duration::from_secs(14));
    assert_eq!(settings.reachable.metrics, Networks::parse(["192.0.2.0/24"]).unwrap());
    assert_eq!(settings.reachable.operators, Networks::parse(["192.0.2.1"]).unwrap());
    let Quotas {
        login,
        requests,
        withdrawals,
        webhooks_per_hour,
        webhook_changes_per_hour,
        other,
        failed_logins,
        failed_logins_per_hour,
        registrations,
        public,
        guess,
        refreshes,
        failed_logins_per_address,
        waiting_passwords,
        boards,
        unknown_codes,
        gigs_per_hour,
        nearby,
        guests,
        guest_requests,
        pages,
    } = settings.rate_limits.unwrap();
    let per_hour = [failed_logins_per_hour, webhooks_per_hour, webhook_changes_per_hour];
    let by_address = [registrations, public, guess, refreshes, failed_logins_per_address, waiting_passwords];
    let quotas = [
        &[login, requests, withdrawals, other, failed_logins][..],
        &per_hour,
        &by_address,
        &[boards, unknown_codes, gigs_per_hour, nearby, guests, guest_requests, pages],
    ]
    .concat();
    assert!(quotas.into_iter().map(std::num::NonZeroU32::get).eq(1..=21));
    let Storage::Postgres(postgres) = settings.storage else { panic!("{:?}", settings.storage) };
    assert_eq!((postgres.pool_size, postgres.migrate_on_start), (4, false));
    assert_eq!(settings.requests.sweep_interval, std::time::Duration::from_secs(3));
    assert_eq!(settings.requests.longest_gig, time::Duration::hours(4));
    let terms = &settings.requests.terms;
    assert_eq!((terms.most_open_per_gig, terms.most_made_per_gig), (5, 50));
    assert_eq!([terms.gig_pending_for, terms.gig_accepted_for], [6, 7].map(time::Duration::seconds));
    assert_eq!(settings.audit_interval, Some(std::time::Duration::from_secs(4)));
    assert_eq!((settings.events.max_streams, settings.events.shown_for), (5, Some(time::Duration::days(6))));
    assert_eq!(settings.webhooks.allowed_networks, Networks::parse(["10.20.0.0/16", "fd00::1"]).unwrap());
    let name_servers = NameServers::parse(["10.0.0.53:53", "[fd00::53]:5353"]).unwrap();
    assert_eq!(settings.webhooks.name_servers, name_servers);
    assert_eq!(minor(settings.withdrawals.auto_approve_below), Some(Money::from_minor(1)));
    assert_eq!(minor(settings.withdrawals.second_approval_above), Some(Money::from_minor(1)));
    assert_eq!(minor(settings.adjustments.max_amount), Some(Money::from_minor(50_000_000)));
    assert_eq!(minor(settings.tips.max_amount), Some(Money::from_minor(25_000_000)));
    assert_eq!([terms.commission.get(), settings.tips.commission.get()], [1_000; 2]);
    assert_eq!(minor(settings.withdrawals.limits.max_amount), Some(Money::from_minor(1_250_000_000)));
    assert_eq!(minor(settings.withdrawals.limits.max_per_30d), Some(settings.currency.whole(30)));
    assert_eq!(settings.withdrawals.clearing_time, Some(time::Duration::hours(8)));
    assert!(settings.withdrawals.requires_verified_email);
    let url = |text: &str| text.parse().unwrap();
    assert_eq!(
        settings.topups.provider,
        TopupProviderKind::Webhook(Some(url("https://pay.example.com/charges?from=us")))
    );
    assert_eq!(settings.topups.pending_for, time::Duration::days(30));
    let page = settings.topups.return_page.unwrap().link("r-1");
    assert_eq!(page, "https://app.example/topups/r-1");
    assert_eq!(minor(settings.topups.least), Some(Money::from_minor(250_000_000)));
    let of_guests = settings.topups.of_guests;
    assert_eq!(minor(of_guests.most_in_wallet), Some(Money::from_minor(10_000_000_000)));
    assert_eq!(minor(of_guests.most_per_24h), Some(Money::from_minor(5_000_000_000)));
    let (orders, poll_interval) = (settings.topups.terms, settings.topups.poll_interval);
    assert_eq!((orders.max_attempts, orders.retry_after), (4, time::Duration::seconds(6)));
    assert_eq!(
        (orders.lease, poll_interval),
        (time::Duration::seconds(30), std::time::Duration::from_secs(7))
    );
    assert_eq!(settings.payouts.provider, PayoutProviderKind::Webhook(url("http://payouts.example.com/")));
    assert_eq!(format!("{:?}", settings.payouts.secrets), "SigningSecrets(2)");
    assert_eq!(settings.payouts.terms.retry_after, time::Duration::seconds(2));
    assert_eq!(settings.payouts.poll_interval, std::time::Duration::from_secs(3));
    assert_eq!(settings.cors_allowed_origins, ["https://a.example", "http://localhost:3000"]);
    let bootstrap = settings.bootstrap.unwrap();
    assert_eq!((bootstrap.email.as_str(), bootstrap.password.reveal()), ("ada@example.com", "12345678"));
}

#[test]
fn an_invalid_value_is_reported_on_one_line_with_its_key() {
    for (key, value, reason) in [
        ("server.host", " ", "must be a non-empty string"),
        ("server.port", "65536", "must be a whole number from 0 to 65535"),
        ("server.port", "-1", "must be a whole number from 0 to 65535"),
        ("server.port", "80.5", "must be a whole number from 0 to 65535"),
        ("server.port", "true", "must be a whole number from 0 to 65535"),
        ("server.workers", "0", "must be a whole number from 1 to 512"),
        ("server.public_url", "example.com", "must be http(s)://host or http(s)://host:port, without a path"),
        ("server.public_url", "ftp://x", "must be http(s)://host or http(s)://host:port, without a path"),
        (
            "server.public_url",
            "https://x/api",
            "must be http(s)://host or http(s)://host:port, without a path",
        ),
        (
            "server.public_url",
            "https://a:b@x",
            "must be http(s)://host or http(s)://host:port, without a path",
        ),
        ("storage.backend", "oracle", "must be one of sqlite, postgres, memory"),
        (
            "storage.backend",
            "postgres://cuepoint:hidden-word@db/x",
            "must be one of sqlite, postgres, memory",
        ),
        ("storage.dir", " ", "must be a non-empty string"),
        ("storage.postgres.pool_size", "0", "must be a whole number from 1 to 1000"),
        ("storage.postgres.migrate_on_start", "yes", "must be true or false"),
        ("auth.access_token_ttl_seconds", "0", "must be a whole number from 1 to 86400"),
        ("auth.refresh_token_ttl_seconds", "forever", "must be a whole number from 1 to 31622400"),
        ("auth.cookie_session_days", "0", "must be a whole number from 1 to 366"),
        ("wallet.currency", "usd", "must be 3 to 12 capital letters or digits, such as USD"),
        ("wallet.scale", "9", "must be a whole number from 0 to 8"),
        ("fees.commission_bps", "10001", "must be a whole number from 0 to 10000"),
        ("requests.pending_ttl_seconds", "0", "must be a whole number from 1 to 2592000"),
        ("requests.accepted_ttl_seconds", "2592001", "must be a whole number from 1 to 2592000"),
        ("requests.sweep_interval_seconds", "3601", "must be a whole number from 1 to 3600"),
        (
            "requests.song_url",
            "https://example.com/",
            "must be a web address of at most 1024 characters with {song} in it",
        ),
        ("gigs.max_hours", "0", "must be a whole number from 1 to 168"),
        ("ledger.audit_interval_seconds", "604801", "must be a whole number from 0 to 604800"),
        ("events.max_streams", "0", "must be a whole number from 1 to 1000000"),
        ("events.shown_for_days", "36501", "must be a whole number from 0 to 36500"),
        (
            "webhooks.allowed_networks",
            "localhost",
            "\"localhost\" is not an IP address or a network such as 10.0.0.0/8",
        ),
        (
            "webhooks.name_servers",
            "dns.example",
            "\"dns.example\" is not an address such as 10.0.0.53 or [fd00::53]:5353",
        ),
        ("withdrawals.address_policy", "any", "must be one of lenient, strict"),
        (
            "withdrawals.options",
            "bitcoin",
            "\"bitcoin\" is not a currency with its networks, such as \"ETH: ethereum base\"",
        ),
        (
            "withdrawals.options",
            "BTC: moon",
            "\"moon\" is none of the networks bitcoin, litecoin, dogecoin, ethereum, arbitrum, optimism, base, \
             polygon, bsc, avalanche, tron, solana, xrp, stellar, ton",
        ),
        ("withdrawals.options", "BTC:", "BTC has no network"),
        ("withdrawals.options", ": bitcoin", "\"\" is not a currency of 2 to 12 letters or digits"),
        ("withdrawals.options", "BTC: bitcoin, btc: bitcoin", "BTC is there twice"),
        ("withdrawals.auto_approve_below", "1.005", "is not an amount in USD: more than 2 decimals"),
        ("withdrawals.auto_approve_below", "-1", "must be greater than zero"),
        ("withdrawals.second_approval_above", "0", "must be greater than zero"),
        ("adjustments.max_amount", "0", "must be greater than zero"),
        ("withdrawals.max_amount", "0", "must be greater than zero"),
        ("withdrawals.max_per_24h", "ten", "is not an amount in USD: not a number"),
        ("withdrawals.max_per_30d", "1e13", "is not an amount in USD: too large"),
        ("topups.webhook_url", "pay.example.com", "must be an http or https URL without a user or fragment"),
        (
            "topups.webhook_url",
            "https://a:b@pay.example.com",
            "must be an http or https URL without a user or fragment",
        ),
        ("topups.webhook_secrets", "hidden-word", "a secret begins with whsec_"),
        ("payouts.webhook_secrets", "whsec_hidden word", "a secret is base64 after whsec_"),
        ("payouts.webhook_secrets", "whsec_aGlkZGVu", "a secret has 24 to 64 bytes"),
        ("payouts.provider", "stripe", "must be one of manual, webhook"),
        ("payouts.max_attempts", "0", "must be a whole number from 1 to 1000"),
        ("payouts.retry_seconds", "86401", "must be a whole number from 1 to 86400"),
        ("payouts.poll_interval_seconds", "0", "must be a whole number from 1 to 3600"),
        ("auth.argon2_memory_kib", "7167", "must be a whole number from 7168 to 1048576"),
        ("auth.argon2_iterations", "0", "must be a whole number from 1 to 16"),
        ("auth.argon2_parallelism", "17", "must be a whole number from 1 to 16"),
        ("auth.breached_passwords", "maybe", "must be one of refuse, accept"),
        ("notifier.email", "pigeon", "must be one of none, log, smtp"),
        ("notifier.product_name", "two\nlines", "must be a line of 1 to 30 characters"),
        ("notifier.from", "nobody", "is not a sender such as Cuepoint <no-reply@example.com>"),
        ("notifier.phone", "sms", "must be one of none, log, webhook"),
        (
            "notifier.reset_url",
            "https://app.example/reset",
            "must be an http or https URL with {token} once, after the host",
        ),
        (
            "notifier.reset_url",
            "https://{token}.example/",
            "must be an http or https URL with {token} once, after the host",
        ),
        (
            "notifier.reset_url",
            "https://app.example/{token}/{token}",
            "must be an http or https URL with {token} once, after the host",
        ),
        (
            "notifier.reset_url",
            "app://reset#{token}",
            "must be an http or https URL with {token} once, after the host",
        ),
        (
            "notifier.reset_url",
            "https://a:b@app.example/#{token}",
            "must be an http or https URL with {token} once, after the host",
        ),
        ("topups.provider", "paypal", "must be one of none, sandbox, webhook"),
        ("topups.max_attempts", "0", "must be a whole number from 1 to 1000"),
        ("topups.retry_seconds", "3601", "must be a whole number from 1 to 3600"),
        ("topups.poll_interval_seconds", "0", "must be a whole number from 1 to 3600"),
        ("topups.pending_days", "366", "must be a whole number from 0 to 365"),
        ("cors.allowed_origins", "*", "\"*\" is not an origin such as https://app.example.com"),
        (
            "cors.allowed_origins",
            "https://a/",
            "\"https://a/\" is not an origin such as https://app.example.com",
        ),
        ("rate_limits.enabled", "1", "must be true or false"),
        ("phone.codes_per_day", "100001", "must be a whole number from 0 to 100000"),
        ("phone.codes_per_day", "many", "must be a whole number from 0 to 100000"),
        ("rate_limits.login_per_minute", "0", "must be a whole number from 1 to 1000000"),
        ("rate_limits.webhooks_per_hour", "0", "must be a whole number from 1 to 1000000"),
        ("rate_limits.default_per_minute", "1000001", "must be a whole number from 1 to 1000000"),
        (
            "server.trusted_proxies",
            "10.0.0.1, nginx",
            "\"nginx\" is not an IP address or a network such as 10.0.0.0/8",
        ),
        ("access.metrics_networks", "*", "\"*\" is not an IP address or a network such as 10.0.0.0/8"),
        (
            "access.operator_networks",
            "::/129",
            "\"::/129\" is not an IP address or a network such as 10.0.0.0/8",
        ),
        ("server.max_connections", "0", "must be a whole number from 1 to 1000000"),
        ("server.head_timeout_seconds", "0", "must be a whole number from 1 to 300"),
        ("server.body_timeout_seconds", "301", "must be a whole number from 1 to 300"),
    ] {
        refused(Layers::test(&[(key, value)]).settings(), &format!("{key}: {reason}"));
    }
}

#[test]
fn smtp_urls_are_validated_and_never_shown() {
    for url in [
        "smtps://user:p%40ss@mail.example.com",
        "smtp://mail.example.com:587?tls=required",
        "smtps://mail.example.com/our.name",
        "smtp://127.0.0.1:25",
    ] {
        let keys = [PRODUCTION, &[("notifier.smtp_url", url)]].concat();
        assert!(layers(DeploymentEnvironment::Production, &keys).settings().is_ok(), "{url}");
    }
    let sentence = "notifier.smtp_url: must be smtps://host, smtp://host?tls=required or smtp://host, with user:password@";
    for url in [
        "mail.example.com",
        "http://mail.example.com",
        "smtp://",
        "smtp://a?tls=opportunistic",
        "smtps://a?x",
    ] {
        refused(Layers::test(&[("notifier.smtp_url", url)]).settings(), sentence);
    }
}
