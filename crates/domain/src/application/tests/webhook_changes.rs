//! Changes of webhook endpoints, on doubles of the ports.

use super::*;
use crate::application::webhooks::{EndpointNotices, RunningTests};
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

#[test]
fn operators_with_unverified_emails_are_not_told_the_ip_address_of_the_client() {
    let operator = |number: i64, email_verified| {
        let email = Email::new(&format!("operator{number}@example.com")).unwrap();
        let user = User::registered(user(number), Line::new("Olga").unwrap(), email, None, false, now());
        User { email_verified, ..user }
    };
    let mut people = MockPeople::new();
    people.expect_active_operators().returning(move |after, _| {
        Ok(if after.is_none() { vec![operator(3, true), operator(4, false)] } else { Vec::new() })
    });
    let (told, clients) = (Arc::new(Mutex::new(Vec::new())), ["192.0.2.7".parse().ok(), None]);
    let mut notifier = MockNotifier::new();
    notifier.expect_can_reach().return_const(true);
    let seen = Arc::clone(&told);
    notifier.expect_send().returning(move |_, notice| {
        let Notice::WebhookChanged(news) = notice else { panic!("{notice:?}") };
        seen.lock().unwrap().push(news.client);
        Ok(())
    });
    let news = EndpointNews {
        act: EndpointAct::Created,
        endpoint: WebhookEndpointId::new(1).unwrap(),
        feed: Feed::All,
        host: "example.com".to_owned(),
        by: user(3),
        client: clients[0],
        at: now(),
    };
    let env = Doubles { people, notifier, ..Doubles::default() }.env();
    run(EndpointNotices { env }.changed(news)).unwrap();
    assert_eq!(*told.lock().unwrap(), clients);
}
