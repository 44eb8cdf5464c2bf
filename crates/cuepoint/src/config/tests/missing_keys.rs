//! Keys that are missing, or that conflict with others.

use super::{Layers, refused, settings};

#[test]
fn missing_or_conflicting_configuration_keys_are_refused() {
    refused(Layers::test(&[("payouts.provider", "webhook")]).settings(), "payouts.webhook_url: is required");
    let smtp = ("notifier.email", "smtp");
    refused(Layers::test(&[smtp]).settings(), "notifier.smtp_url: is required\nnotifier.from: is required");
    let url = ("notifier.smtp_url", "smtp://127.0.0.1:2525");
    refused(Layers::test(&[smtp, url]).settings(), "notifier.from: is required");
    refused(Layers::test(&[("notifier.phone", "webhook")]).settings(), "notifier.webhook_url: is required");
    refused(
        Layers::test(&[("storage.backend", "postgres"), ("storage.postgres.url", "mysql://db/x")]).settings(),
        "storage.postgres.url: must begin with postgres://",
    );
    let (email, password) = ("bootstrap.operator_email", "bootstrap.operator_password");
    refused(Layers::test(&[(email, "a@example.com")]).settings(), "bootstrap.operator_password: is required");
    refused(Layers::test(&[(password, "12345678")]).settings(), "bootstrap.operator_email: is required");
    let (file, keys) = ("auth.signing_key_file", "auth.signing_keys");
    refused(
        Layers::test(&[(file, "/keys"), (keys, "hidden")]).settings(),
        "auth.signing_keys: must not be set together with auth.signing_key_file",
    );
    let (file, keys) = ("webhooks.key_file", "webhooks.keys");
    refused(
        Layers::test(&[(file, "/keys"), (keys, "hidden")]).settings(),
        "webhooks.keys: must not be set together with webhooks.key_file",
    );
    refused(
        Layers::test(&[(email, "ada"), (password, "12345678")]).settings(),
        "bootstrap.operator_email: is not an e-mail address: not of the expected form",
    );
    refused(
        Layers::test(&[(email, "a@example.com"), (password, "1234567")]).settings(),
        "bootstrap.operator_password: is not a valid password: fewer than 8 characters",
    );
    let (above, below) = ("withdrawals.second_approval_above", "withdrawals.auto_approve_below");
    refused(
        Layers::test(&[(above, "4.99"), (below, "5")]).settings(),
        "withdrawals.second_approval_above: must not be less than withdrawals.auto_approve_below, below which no \
         approval is needed",
    );
    settings(&[(above, "5"), (below, "5")]);
}
