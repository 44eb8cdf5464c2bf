//! Changes of webhook endpoints, on doubles of the ports.

use super::*;
use crate::application::webhooks::RunningTests;
use crate::event::Feed;
use crate::operation::feature_level::FeatureLevel;
use crate::webhook::{EndpointSettings, EndpointState, WebhookEndpoint};

fn endpoint(state: EndpointState) -> WebhookEndpoint {
    WebhookEndpoint { state, ..webhook_endpoint(1, "secret") }
}

/// The change of an endpoint that was read in one state and is in another one when it is locked.
fn change(
    read: EndpointState,
    locked: EndpointState,
    settings: EndpointSettings,
) -> Result<WebhookEndpoint, CommandError<WebhookRefusal>> {
    let mut endpoints = MockWebhookEndpoints::new();
    endpoints.expect_endpoint().returning(move |_| Ok(Some(endpoint(read))));
    endpoints.expect_change_endpoint().returning(move |_, change| {
        let before = endpoint(locked);
        let after = before.clone().changed(change, FeatureLevel::NEWEST);
        Ok(EndpointUpdate::Done { before: Box::new(before), after: Box::new(after) })
    });
    // A security log that rejects every event.
    let env = Doubles { endpoints, ..Doubles::default() }.env();
    let webhooks = Webhooks {
        executor: Executor::new(env.clone()),
        deliveries: Deliveries::new(env.clone()),
        tests: RunningTests::default(),
        env,
    };
    run(webhooks.change(&context(1), Feed::Own, endpoint(read).id, settings, None))
}

#[test]
fn enabling_after_a_concurrent_pause_requires_the_password() {
    let enabled = EndpointSettings { is_paused: Some(false), ..EndpointSettings::default() };
    let (active, paused) = (EndpointState::Active, EndpointState::Paused);
    assert_eq!(change(active, active, enabled.clone()).unwrap(), endpoint(active), "nothing changes");
    let refused = change(active, paused, enabled);
    assert!(matches!(refused, Err(CommandError::Refused(WebhookRefusal::PasswordRequired))), "{refused:?}");
}
