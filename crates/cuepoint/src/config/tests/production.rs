//! Settings that production refuses.

use super::*;

const ENCRYPTED: (&str, &str) = ("server.public_url", "https://music.example.com");

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
        let keys = [PRODUCTION, &[ENCRYPTED], keys].concat();
        let settings = layers(DeploymentEnvironment::Production, &keys).settings().unwrap();
        settings.check_server().map_err(|errors| Problems::from(errors).to_string())
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

/// What a server in an environment refuses of these keys, without the mail server.
fn of_server(environment: DeploymentEnvironment, keys: &[(&str, &str)]) -> Result<(), String> {
    let keys = [PRODUCTION, &[("withdrawals.verified_email", "false")], keys].concat();
    let settings = layers(environment, &keys).settings().expect("other commands run with these keys");
    settings.check_server().map_err(|errors| Problems::from(errors).to_string())
}

#[test]
fn production_refuses_a_plain_or_missing_public_url_while_it_has_pages() {
    let plain = "server.public_url: must be https in production, because everybody in the network could read logins and \
                 cookies";
    let missing = "server.public_url: is required in production: set it to the https address that guests see, or \
                   pages.enabled to false";
    let proxies = [&[][..], &[("server.trusted_proxies", "127.0.0.1")]];
    for (url, with_pages, without_pages) in [
        (None, Err(missing), Ok(())),
        (Some("http://music.example.com"), Err(plain), Err(plain)),
        (Some("http://127.0.0.1:8080"), Err(plain), Err(plain)),
        (Some("http://[::1]"), Err(plain), Err(plain)),
        (Some("http://localhost"), Err(plain), Err(plain)),
        (Some("https://music.example.com"), Ok(()), Ok(())),
        (Some("https://music.example.com:8443/"), Ok(()), Ok(())),
    ] {
        for (pages, expected) in [("true", with_pages), ("false", without_pages)] {
            let url = url.map(|url| ("server.public_url", url));
            let keys: Vec<_> = url.into_iter().chain([("pages.enabled", pages)]).collect();
            for proxies in proxies {
                let keys = [&keys[..], proxies].concat();
                let found = of_server(DeploymentEnvironment::Production, &keys);
                assert_eq!(found, expected.map_err(str::to_owned), "{keys:?}");
                assert_eq!(of_server(DeploymentEnvironment::Development, &keys), Ok(()), "{keys:?}");
            }
        }
    }
}

#[test]
fn production_accepts_plain_origins_of_this_machine_alone() {
    for (origins, refused) in [
        ("https://app.example.com, http://localhost, http://localhost:8100, http://127.0.0.1", None),
        ("https://app.example.com, http://app.example.com", Some("http://app.example.com")),
        ("http://localhost.example.com", Some("http://localhost.example.com")),
    ] {
        let keys = [ENCRYPTED, ("cors.allowed_origins", origins)];
        let sentence = refused.map(|origin| {
            format!(
                "cors.allowed_origins: {origin:?} must be https in production, unless it is on this machine"
            )
        });
        let found = of_server(DeploymentEnvironment::Production, &keys);
        assert_eq!(found.err(), sentence, "{origins}");
        assert_eq!(of_server(DeploymentEnvironment::Development, &keys), Ok(()));
    }
}

#[test]
fn all_problems_of_a_server_are_reported_at_once() {
    let keys = [("withdrawals.verified_email", "true"), ("cors.allowed_origins", "http://app.example.com")];
    let said = of_server(DeploymentEnvironment::Production, &keys).unwrap_err();
    let named: Vec<&str> = said.lines().map(|line| line.split_once(':').unwrap().0).collect();
    assert_eq!(named, ["server.public_url", "cors.allowed_origins", "withdrawals.verified_email"]);
}

#[test]
fn the_time_of_https_alone_is_a_year_in_production_and_not_set_elsewhere() {
    let of = |environment, keys: &[(&str, &str)]| {
        let keys = [PRODUCTION, keys].concat();
        layers(environment, &keys).settings().map(|settings| settings.server.hsts_seconds)
    };
    assert_eq!(of(DeploymentEnvironment::Production, &[]), Ok(Some(31_536_000)));
    assert_eq!(of(DeploymentEnvironment::Development, &[]), Ok(None));
    assert_eq!(of(DeploymentEnvironment::Production, &[("server.hsts_seconds", "0")]), Ok(Some(0)));
    for bad in ["-1", "1000000000000", "1.5", "a year"] {
        let sentence = "server.hsts_seconds: must be a whole number from 0 to 315360000";
        let found = of(DeploymentEnvironment::Production, &[("server.hsts_seconds", bad)]);
        assert_eq!(found.map_err(|error| error.to_string()), Err(sentence.to_owned()), "{bad}");
    }
}
