//! Warnings about what a valid configuration cannot do.

use super::*;

const COMPLETE: &[(&str, &str)] = &[
    ("server.public_url", "https://api.example.com"),
    ("server.trusted_proxies", "127.0.0.1"),
    ("topups.provider", "webhook"),
    ("topups.webhook_secrets", SECRETS),
    ("topups.guest_max_per_24h", "50"),
    ("notifier.email", "smtp"),
    ("notifier.smtp_url", "smtps://user:password@mail.example.com"),
    ("notifier.from", "Cuepoint <no-reply@example.com>"),
    ("tips.max_amount", "50"),
];

/// The warnings in production, where these keys of a complete configuration have other values; an empty one is not
/// set.
fn warnings(keys: &[(&str, &str)]) -> Vec<String> {
    let all = [PRODUCTION, COMPLETE, keys].concat();
    let of_key = |key: &str| all.iter().rev().find(|(other, _)| *other == key).copied();
    let mut used: Vec<_> = all.iter().filter_map(|(key, _)| of_key(key)).collect();
    used.dedup();
    layers(DeploymentEnvironment::Production, &used).settings().unwrap().warnings()
}

#[test]
fn each_missing_feature_or_ignored_key_causes_one_warning() {
    assert_eq!(warnings(&[]), [""; 0], "nothing is missing");
    let sqlite = [("storage.backend", "sqlite"), ("storage.dir", "/var/lib/cuepoint")];
    for (keys, expected) in [
        (&[("topups.provider", "none")][..], &["topups.provider is none: users cannot pay in"][..]),
        (
            &[("topups.guest_max_per_24h", "")],
            &["topups.guest_max_per_24h is not set: a stolen card can pay any amount into a guest account"],
        ),
        (
            &[("notifier.email", "none")],
            &["notifier.email is none: e-mail addresses cannot be verified and passwords cannot be reset"],
        ),
        (
            &[("server.public_url", ""), ("pages.enabled", "false")],
            &[
                "server.public_url is not set: links in answers begin with the address on which the server listens",
            ],
        ),
        (
            &[("server.trusted_proxies", "")],
            &[
                "server.trusted_proxies is empty: behind a reverse proxy, all clients share the rate limits of the \
               proxy's address",
            ],
        ),
        (
            &[("withdrawals.clearing_hours", "0")],
            &["withdrawals.clearing_hours is 0: the money of a stolen card can be withdrawn at once"],
        ),
        (
            &[("rate_limits.enabled", "false")],
            &["rate_limits.enabled is false: strangers can guess passwords without a limit"],
        ),
        (
            &[("tips.max_amount", "")],
            &["tips.max_amount is not set: one tip can move the whole balance of a stolen card"],
        ),
        (
            &[("storage.dir", "/var/lib/cuepoint")],
            &["storage.dir is ignored, because storage.backend is postgres"],
        ),
        (&sqlite, &["storage.postgres.url is ignored, because storage.backend is sqlite"]),
    ] {
        assert_eq!(warnings(keys), expected, "{keys:?}");
    }
    let only_sqlite = [&sqlite[..], &[("storage.postgres.url", "")]].concat();
    assert_eq!(warnings(&only_sqlite), [""; 0]);
}

#[test]
fn a_state_directory_unused_by_postgres_causes_no_warning() {
    let mut layers = layers(DeploymentEnvironment::Production, &[PRODUCTION, COMPLETE].concat());
    layers.variables.push(("STATE_DIRECTORY".into(), "/var/lib/cuepoint".into()));
    assert_eq!(layers.settings().unwrap().warnings(), [""; 0]);
}

#[test]
fn a_development_server_without_configuration_causes_no_warning() {
    let settings = layers(DeploymentEnvironment::Development, &[]).settings().unwrap();
    assert_eq!(
        settings.warnings(),
        [""; 0],
        "the service works without any configuration, with the log as its mail"
    );
}
