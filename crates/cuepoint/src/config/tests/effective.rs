//! The effective configuration, as `cuepoint config check` prints it.

use super::*;

#[test]
fn secrets_are_never_shown() {
    let layers = layers(
        DeploymentEnvironment::Production,
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
fn each_configuration_key_is_shown_once_and_listed_in_the_default_file() {
    let effective = layers(DeploymentEnvironment::Development, &[]).effective().unwrap();
    let first_word = |line: &str| line.split_whitespace().next().unwrap().to_owned();
    let mut shown: Vec<String> =
        effective.lines().map(|line| first_word(line.trim_start_matches("# "))).collect();
    shown.sort();

    let mut section = "";
    let mut named = std::collections::BTreeSet::new();
    for line in include_str!("../../../../../config/default.toml").lines() {
        if let Some(name) = line.strip_prefix('[') {
            section = name.trim_end_matches(']');
        } else if let Some((key, _)) = line.trim_start_matches("# ").split_once(" = ")
            && key.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'_')
        {
            named.insert(format!("{section}.{key}"));
        }
    }
    assert_eq!(shown, named.into_iter().collect::<Vec<_>>());
}
