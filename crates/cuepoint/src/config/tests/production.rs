//! Settings that production refuses.

use super::*;

#[test]
fn development_settings_are_refused_in_production() {
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
        (
            "topups.sandbox",
            "page",
            "topups.sandbox: page is refused in production, because everybody can confirm payments there",
        ),
        (
            "notifier.email",
            "log",
            "notifier.email: log is refused in production, because it writes secrets into the log",
        ),
        (
            "notifier.phone",
            "log",
            "notifier.phone: log is refused in production, because it writes secrets into the log",
        ),
        (
            "notifier.smtp_url",
            "smtp://user:password@mail.example.com",
            "notifier.smtp_url: must be smtps or have tls=required in production, unless it is on this machine",
        ),
        (
            "notifier.reset_url",
            "http://app.example/reset#{token}",
            "notifier.reset_url: must be https in production, unless it is on this machine",
        ),
        (
            "notifier.restore_url",
            "http://app.example/restore#{token}",
            "notifier.restore_url: must be https in production, unless it is on this machine",
        ),
        (
            "storage.postgres.url",
            "",
            "storage.postgres.url: is required, because storage.backend is postgres; for SQLite, set storage.backend to \
         sqlite, or name the data directory with --data",
        ),
        (
            "payouts.webhook_url",
            "http://payouts.example.com",
            "payouts.webhook_url: must be https in production, unless it is on this machine",
        ),
    ] {
        let mut keys: Vec<_> = PRODUCTION.iter().copied().filter(|(other, _)| *other != key).collect();
        keys.push((key, value));
        refused(layers(DeploymentEnvironment::Production, &keys).settings(), sentence);
    }
}

#[test]
fn a_server_that_requires_verified_addresses_needs_email() {
    let sentence = "withdrawals.verified_email: requires notifier.email: set it to smtp, or withdrawals.verified_email to false";
    let checked = |keys: &[(&str, &str)]| {
        let keys = [PRODUCTION, keys].concat();
        let settings = layers(DeploymentEnvironment::Production, &keys).settings().unwrap();
        settings.check_server().map_err(|error| error.to_string())
    };
    assert_eq!(checked(&[]), Err(sentence.to_owned()));
    assert_eq!(checked(&[("withdrawals.verified_email", "false")]), Ok(()));
    let smtp = [
        ("notifier.email", "smtp"),
        ("notifier.smtp_url", "smtps://user:password@mail.example.com"),
        ("notifier.from", "Cuepoint <no-reply@example.com>"),
    ];
    assert_eq!(checked(&smtp), Ok(()));
}

#[test]
fn loopback_urls_need_no_encryption() {
    for url in ["http://127.0.0.1:9000/x", "http://[::1]/", "http://localhost", "https://payouts.example.com"]
    {
        let keys = [PRODUCTION, &[("payouts.webhook_url", url)]].concat();
        assert!(layers(DeploymentEnvironment::Production, &keys).settings().is_ok(), "{url}");
    }
}
