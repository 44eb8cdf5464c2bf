use cuepoint_domain::address::{AddressPolicy, Network, OptionsTable, PayoutOption};
use cuepoint_domain::money::Money;
use cuepoint_domain::withdrawal::WithdrawalTerms;

use super::*;

const PRODUCTION: &[(&str, &str)] = &[
    ("storage.postgres.url", "postgres://cuepoint:hidden-word@db/cuepoint"),
    ("auth.signing_key_file", "/etc/cuepoint/keys"),
];

const SECRETS: &str =
    "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=, whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

fn layers(environment: Environment, keys: &[(&str, &str)]) -> Layers {
    Layers { environment, ..Layers::test(keys) }
}

fn settings(keys: &[(&str, &str)]) -> Settings {
    Layers::test(keys).settings().unwrap()
}

fn refused(settings: Result<Settings, ConfigError>, sentence: &str) {
    match settings {
        Ok(settings) => panic!("{settings:?} should be refused: {sentence}"),
        Err(error) => assert_eq!(error.to_string(), sentence),
    }
}

/// What comes of a file of this content; `name` tells the tests' files apart.
fn of_file(name: &str, content: &str, keys: &[(&str, &str)]) -> Result<Settings, ConfigError> {
    let path = std::env::temp_dir().join(format!("cuepoint-config-{name}-{}.toml", std::process::id()));
    std::fs::write(&path, content).unwrap();
    let settings = Layers { file: Some(path.clone()), ..Layers::test(keys) }.settings();
    std::fs::remove_file(path).unwrap();
    settings
}

#[test]
fn the_bare_binary_has_every_value_that_it_needs() {
    let settings = layers(Environment::Development, &[]).settings().unwrap();
    assert_eq!((settings.server.host.as_str(), settings.server.port), ("127.0.0.1", 8080));
    assert_eq!((settings.server.workers, settings.server.public_url), (None, None));
    assert!(matches!(settings.storage, Storage::Memory));
    assert_eq!(settings.auth.access_token_ttl, time::Duration::minutes(15));
    assert_eq!(settings.auth.refresh_token_ttl, time::Duration::days(30));
    assert_eq!((settings.currency.code(), settings.currency.scale()), ("USD", 2));
    assert_eq!(settings.requests.terms.pending_for, time::Duration::minutes(15));
    assert_eq!(settings.requests.terms.accepted_for, time::Duration::hours(1));
    assert_eq!(settings.requests.terms.commission.get(), 0);
    let options = settings.withdrawals.options.clone();
    assert_eq!(settings.withdrawals, WithdrawalTerms { options, ..WithdrawalTerms::default() });
    let tether = settings.withdrawals.options.currency("USDT").unwrap();
    assert_eq!(tether.networks().first(), Some(&Network::Ethereum));
    assert_eq!(settings.topups.provider, TopupProviderKind::Sandbox);
    assert_eq!(settings.payouts.provider, PayoutProviderKind::Manual);
    assert_eq!(settings.payouts.terms.max_attempts, 5);
    assert!(settings.topups.secrets.is_empty() && settings.payouts.secrets.is_empty());
    assert!(settings.cors_allowed_origins.is_empty() && settings.rate_limits);
    assert!(settings.bootstrap.is_none());
}

#[test]
fn each_environment_has_values_of_its_own() {
    let test = settings(&[]);
    assert_eq!((test.topups.provider, test.rate_limits), (TopupProviderKind::Sandbox, false));
    let production = layers(Environment::Production, PRODUCTION).settings().unwrap();
    assert_eq!((production.topups.provider, production.rate_limits), (TopupProviderKind::None, true));
    assert!(matches!(production.storage, Storage::Postgres(Postgres { pool_size: 8, .. })));
    let policies = (test.withdrawals.address_policy, production.withdrawals.address_policy);
    assert_eq!(policies, (AddressPolicy::Lenient, AddressPolicy::Strict));
}

#[test]
fn every_value_can_be_given_as_a_variable() {
    let settings = settings(&[
        ("server.host", "::1"),
        ("server.port", "0"),
        ("server.workers", "3"),
        ("server.public_url", "https://api.example.com/"),
        ("storage.backend", "postgres"),
        ("storage.postgres.url", "postgres://db/x"),
        ("storage.postgres.pool_size", "4"),
        ("storage.postgres.migrate_on_start", "false"),
        ("auth.signing_key_file", "/keys"),
        ("auth.access_token_ttl_seconds", "60"),
        ("auth.refresh_token_ttl_seconds", "3600"),
        ("wallet.currency", "BTC"),
        ("wallet.scale", "8"),
        ("fees.commission_bps", "1000"),
        ("requests.pending_ttl_seconds", "1"),
        ("requests.accepted_ttl_seconds", "2"),
        ("requests.sweep_interval_seconds", "3"),
        ("ledger.audit_interval_seconds", "4"),
        ("withdrawals.address_policy", "strict"),
        ("withdrawals.options", "btc: bitcoin, USDT: tron  Ethereum"),
        ("withdrawals.auto_approve_below", "0.00000001"),
        ("withdrawals.max_amount", "12.5"),
        ("withdrawals.max_per_24h", "1000000000000"),
        ("withdrawals.max_per_30d", "3e1"),
        ("topups.provider", "webhook"),
        ("topups.webhook_url", "https://pay.example.com/charges?from=us"),
        ("topups.webhook_secrets", SECRETS),
        ("payouts.provider", "webhook"),
        ("payouts.webhook_url", "http://payouts.example.com"),
        ("payouts.webhook_secrets", SECRETS),
        ("payouts.max_attempts", "1"),
        ("payouts.retry_seconds", "2"),
        ("payouts.poll_interval_seconds", "3"),
        ("cors.allowed_origins", "https://a.example, http://localhost:3000"),
        ("rate_limits.enabled", "true"),
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
    assert_eq!((settings.server.port, settings.server.workers), (0, Some(3)));
    let Storage::Postgres(postgres) = settings.storage else { panic!("{:?}", settings.storage) };
    assert_eq!((postgres.pool_size, postgres.migrate_on_start), (4, false));
    assert_eq!(settings.requests.sweep_interval, std::time::Duration::from_secs(3));
    assert_eq!(settings.audit_interval, Some(std::time::Duration::from_secs(4)));
    assert_eq!(settings.requests.terms.commission.get(), 1_000);
    assert_eq!(minor(settings.withdrawals.auto_approve_below), Some(Money::from_minor(1)));
    assert_eq!(minor(settings.withdrawals.limits.max_amount), Some(Money::from_minor(1_250_000_000)));
    assert_eq!(minor(settings.withdrawals.limits.max_per_30d), Some(settings.currency.whole(30)));
    let url = |text: &str| text.parse().unwrap();
    assert_eq!(
        settings.topups.provider,
        TopupProviderKind::Webhook(Some(url("https://pay.example.com/charges?from=us")))
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
fn a_bad_value_is_one_sentence_that_names_its_key() {
    for (key, value, reason) in [
        ("server.host", " ", "must be a text that is not empty"),
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
        ("storage.backend", "sqlite", "must be one of memory, postgres"),
        ("storage.postgres.pool_size", "0", "must be a whole number from 1 to 1000"),
        ("storage.postgres.migrate_on_start", "yes", "must be true or false"),
        ("auth.access_token_ttl_seconds", "0", "must be a whole number from 1 to 86400"),
        ("auth.refresh_token_ttl_seconds", "forever", "must be a whole number from 1 to 31622400"),
        ("wallet.currency", "usd", "must be 3 to 12 capital letters or digits, such as USD"),
        ("wallet.scale", "9", "must be a whole number from 0 to 8"),
        ("fees.commission_bps", "10001", "must be a whole number from 0 to 10000"),
        ("requests.pending_ttl_seconds", "0", "must be a whole number from 1 to 2592000"),
        ("requests.accepted_ttl_seconds", "2592001", "must be a whole number from 1 to 2592000"),
        ("requests.sweep_interval_seconds", "3601", "must be a whole number from 1 to 3600"),
        ("ledger.audit_interval_seconds", "604801", "must be a whole number from 0 to 604800"),
        ("withdrawals.address_policy", "any", "must be one of lenient, strict"),
        (
            "withdrawals.options",
            "bitcoin",
            "\"bitcoin\" is no currency with its networks, such as \"ETH: ethereum base\"",
        ),
        (
            "withdrawals.options",
            "BTC: moon",
            "\"moon\" is none of the networks bitcoin, litecoin, dogecoin, ethereum, arbitrum, optimism, base, \
             polygon, bsc, avalanche, tron, solana, xrp, stellar, ton",
        ),
        ("withdrawals.options", "BTC:", "BTC has no network"),
        ("withdrawals.options", ": bitcoin", "\"\" is no currency of 2 to 12 letters or digits"),
        ("withdrawals.options", "BTC: bitcoin, btc: bitcoin", "BTC is there twice"),
        ("withdrawals.auto_approve_below", "1.005", "is no sum of USD: more than 2 decimals"),
        ("withdrawals.auto_approve_below", "-1", "must be more than zero"),
        ("withdrawals.max_amount", "0", "must be more than zero"),
        ("withdrawals.max_per_24h", "ten", "is no sum of USD: not a number"),
        ("withdrawals.max_per_30d", "1e13", "is no sum of USD: too large"),
        ("topups.webhook_url", "pay.example.com", "must be an http(s) address without user and fragment"),
        (
            "topups.webhook_url",
            "https://a:b@pay.example.com",
            "must be an http(s) address without user and fragment",
        ),
        ("topups.webhook_secrets", "hidden-word", "a secret begins with whsec_"),
        ("payouts.webhook_secrets", "whsec_hidden word", "a secret is base64 after whsec_"),
        ("payouts.webhook_secrets", "whsec_aGlkZGVu", "a secret has 24 to 64 bytes"),
        ("payouts.provider", "stripe", "must be one of manual, webhook"),
        ("payouts.max_attempts", "0", "must be a whole number from 1 to 1000"),
        ("payouts.retry_seconds", "86401", "must be a whole number from 1 to 86400"),
        ("payouts.poll_interval_seconds", "0", "must be a whole number from 1 to 3600"),
        ("topups.provider", "paypal", "must be one of none, sandbox, webhook"),
        ("cors.allowed_origins", "*", "\"*\" is no origin such as https://app.example.com"),
        ("cors.allowed_origins", "https://a/", "\"https://a/\" is no origin such as https://app.example.com"),
        ("rate_limits.enabled", "1", "must be true or false"),
    ] {
        refused(Layers::test(&[(key, value)]).settings(), &format!("{key}: {reason}"));
    }
}

#[test]
fn values_that_need_each_other() {
    refused(Layers::test(&[("payouts.provider", "webhook")]).settings(), "payouts.webhook_url: is required");
    refused(Layers::test(&[("storage.backend", "postgres")]).settings(), "storage.postgres.url: is required");
    let (email, password) = ("bootstrap.operator_email", "bootstrap.operator_password");
    refused(Layers::test(&[(email, "a@example.com")]).settings(), "bootstrap.operator_password: is required");
    refused(Layers::test(&[(password, "12345678")]).settings(), "bootstrap.operator_email: is required");
    refused(
        Layers::test(&[(email, "ada"), (password, "12345678")]).settings(),
        "bootstrap.operator_email: is no address: not of the expected form",
    );
    refused(
        Layers::test(&[(email, "a@example.com"), (password, "1234567")]).settings(),
        "bootstrap.operator_password: is no password: fewer than 8 characters",
    );
}

#[test]
fn what_is_for_development_is_refused_in_production() {
    for (key, value, sentence) in [
        (
            "storage.backend",
            "memory",
            "storage.backend: memory is refused in production, because its data ends with the process",
        ),
        (
            "topups.provider",
            "sandbox",
            "topups.provider: sandbox is refused in production, because it gives money away",
        ),
        ("storage.postgres.url", "", "storage.postgres.url: is required"),
        (
            "payouts.webhook_url",
            "http://payouts.example.com",
            "payouts.webhook_url: must be https in production, unless it is on this machine",
        ),
    ] {
        let mut keys: Vec<_> = PRODUCTION.iter().copied().filter(|(other, _)| *other != key).collect();
        keys.push((key, value));
        refused(layers(Environment::Production, &keys).settings(), sentence);
    }
}

#[test]
fn on_this_machine_calls_need_no_encryption() {
    for url in ["http://127.0.0.1:9000/x", "http://[::1]/", "http://localhost", "https://payouts.example.com"]
    {
        let keys = [PRODUCTION, &[("payouts.webhook_url", url)]].concat();
        assert!(layers(Environment::Production, &keys).settings().is_ok(), "{url}");
    }
}

#[test]
fn unknown_keys_are_refused_wherever_they_stand() {
    for (variable, sentence) in [
        ("CUEPOINT__SERVER__PROT", "server.prot: there is no such key (CUEPOINT__SERVER__PROT)"),
        ("CUEPOINT__SERVER", "server: there is no such key (CUEPOINT__SERVER)"),
        ("CUEPOINT__", ": there is no such key (CUEPOINT__)"),
        ("CUEPOINT__SERVER__PORT[", "server.port[: there is no such key (CUEPOINT__SERVER__PORT[)"),
        (
            "CUEPOINT__STORAGE__POSTGRES",
            "storage.postgres: there is no such key (CUEPOINT__STORAGE__POSTGRES)",
        ),
    ] {
        for value in ["1", ""] {
            let variables = vec![(variable.into(), value.into())];
            refused(Layers { variables, ..Layers::test(&[]) }.settings(), sentence);
        }
    }
    let elsewhere = vec![("PORT".into(), "1".into()), ("CUEPOINT_ENV".into(), "test".into())];
    assert!(Layers { variables: elsewhere, ..Layers::test(&[]) }.settings().is_ok());

    refused(of_file("prot", "[server]\nprot = 1", &[]), "server.prot: there is no such key");
    refused(of_file("sever", "[sever]\nport = 1", &[]), "sever.port: there is no such key");
    refused(of_file("scalar", "server = 1", &[]), "server: there is no such key");
}

#[test]
fn a_file_comes_before_the_variables_and_after_what_is_compiled_in() {
    let file = "[server]\nport = 9000\nworkers = 2\n[cors]\nallowed_origins = [\"https://a.example\"]\n\
        [withdrawals]\nmax_amount = 10\noptions = [\"BTC: bitcoin\"]\n";
    let settings = of_file("layers", file, &[("server.workers", "4")]).unwrap();
    assert_eq!((settings.server.port, settings.server.workers), (9_000, Some(4)));
    assert_eq!(settings.cors_allowed_origins, ["https://a.example"]);
    assert_eq!(settings.withdrawals.limits.max_amount.unwrap().money(), settings.currency.whole(10));
    assert_eq!(settings.withdrawals.options.rows().len(), 1);
}

#[test]
fn a_value_of_the_wrong_kind_in_a_file_is_refused() {
    for (name, file, sentence) in [
        ("float", "[server]\nport = 80.5", "server.port: must be a whole number from 0 to 65535"),
        ("bool", "[server]\nport = true", "server.port: must be a whole number from 0 to 65535"),
        ("number", "[rate_limits]\nenabled = 1", "rate_limits.enabled: must be true or false"),
        (
            "money",
            "[withdrawals]\nmax_amount = 0.1",
            "withdrawals.max_amount: must be a sum of money as text, such as \"12.50\"",
        ),
        ("list", "[cors]\nallowed_origins = [1]", "cors.allowed_origins: must be a list of texts"),
        ("no-options", "[withdrawals]\noptions = []", "withdrawals.options: must have at least one currency"),
        ("option", "[withdrawals]\noptions = [1]", "withdrawals.options: must be a list of texts"),
        ("options", "[withdrawals.options]\nBTC = 1", "withdrawals.options.BTC: there is no such key"),
        ("table", "[server.host]\nname = \"x\"", "server.host.name: there is no such key"),
        (
            "secret",
            "[bootstrap]\noperator_password = 12345678",
            "bootstrap.operator_password: must be a text that is not empty",
        ),
    ] {
        refused(of_file(name, file, &[]), sentence);
    }
}

#[test]
fn a_file_that_cannot_be_read_is_refused_without_showing_it() {
    let missing = Layers { file: Some("/nowhere/cuepoint.toml".into()), ..Layers::test(&[]) };
    let error = missing.settings().unwrap_err().to_string();
    assert!(error.starts_with("CUEPOINT_CONFIG: /nowhere/cuepoint.toml cannot be read: "), "{error}");

    let broken = of_file("broken", "[bootstrap]\noperator_password = \"hidden-word\" x\n", &[]);
    let error = broken.unwrap_err().to_string();
    assert!(error.starts_with("CUEPOINT_CONFIG: TOML parse error at line 2"), "{error}");
    assert!(!error.contains("hidden-word") && !error.contains('\n'), "{error}");
}

#[test]
fn environments_have_three_names() {
    for environment in [Environment::Development, Environment::Test, Environment::Production] {
        assert_eq!(environment.name().parse(), Ok(environment));
    }
    assert_eq!(
        "staging".parse::<Environment>().unwrap_err().to_string(),
        "CUEPOINT_ENV: must be development, test or production"
    );
}

#[test]
fn secrets_are_never_shown() {
    let layers = layers(
        Environment::Production,
        &[
            PRODUCTION,
            &[("bootstrap.operator_email", "a@example.com"), ("bootstrap.operator_password", "hidden-word")],
            &[("topups.webhook_secrets", SECRETS), ("payouts.webhook_secrets", SECRETS)],
        ]
        .concat(),
    );
    let shown = format!("{}{:?}", layers.effective().unwrap(), layers.settings().unwrap());
    assert!(!shown.contains("hidden-word") && !shown.contains("whsec_"), "{shown}");
    for line in [
        "payouts.webhook_secrets = [REDACTED]",
        "storage.postgres.url = [REDACTED]",
        "bootstrap.operator_password = [REDACTED]",
        "bootstrap.operator_email = \"a@example.com\"",
        "storage.postgres.pool_size = 8",
        "# server.workers is not set",
        "withdrawals.address_policy = \"strict\"",
        "withdrawals.options = [\"BTC: bitcoin\", ",
    ] {
        assert!(shown.contains(line), "{line} is missing in {shown}");
    }
}

#[test]
fn a_variable_that_is_no_text_is_refused() {
    use std::os::unix::ffi::OsStringExt;
    let bytes = std::ffi::OsString::from_vec(vec![0xff]);
    let layers = Layers { variables: vec![("CUEPOINT__SERVER__HOST".into(), bytes)], ..Layers::test(&[]) };
    refused(layers.settings(), "server.host: CUEPOINT__SERVER__HOST is not UTF-8");
}
