//! Settings under which a withdrawal could be sent twice concurrently.

use super::*;

#[test]
fn a_retry_interval_shorter_than_a_call_is_refused() {
    let webhook = [
        ("payouts.provider", "webhook"),
        ("payouts.webhook_url", "https://payouts.example.com"),
        ("payouts.webhook_secrets", SECRETS),
    ];
    let settings = |environment, seconds| {
        let base: &[(&str, &str)] =
            if environment == DeploymentEnvironment::Production { PRODUCTION } else { &[] };
        layers(environment, &[base, &webhook, &[("payouts.retry_seconds", seconds)]].concat()).settings()
    };
    let sentence = "payouts.retry_seconds: must be at least 45: with less, a withdrawal could be sent again while \
                    the previous call is in progress";
    for environment in [DeploymentEnvironment::Development, DeploymentEnvironment::Production] {
        for seconds in ["1", "10", "44"] {
            refused(settings(environment, seconds), sentence);
        }
        for seconds in ["45", "60", "86400"] {
            assert!(settings(environment, seconds).is_ok(), "{seconds}");
        }
    }
    // Test providers are doubles that answer at once.
    assert!(settings(DeploymentEnvironment::Test, "1").is_ok());
    // With manual payouts, there are no retries.
    let by_hand = [("payouts.provider", "manual"), ("payouts.retry_seconds", "1")];
    assert!(layers(DeploymentEnvironment::Development, &by_hand).settings().is_ok());
}
