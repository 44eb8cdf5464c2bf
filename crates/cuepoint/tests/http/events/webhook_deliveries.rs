//! Deliveries of events to webhook endpoints: their content, their signatures, failures, and who receives them.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use standardwebhooks::Webhook;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::harness::{
    Database, PASSWORD, Person, Provider, ReceivedRequest, Reply, SHARED_KEY, Server, Store, eventually,
    operator_keys, within,
};

on_every_store!(an_endpoint_receives_signed_events_of_its_feed);
on_one_store!(
    operator_endpoints_receive_all_events,
    an_endpoint_receives_only_the_selected_types,
    a_failed_delivery_does_not_block_later_events,
    an_endpoint_disabled_by_410_loses_no_events,
    a_resumed_endpoint_receives_the_missed_events,
    endpoints_of_suspended_owners_receive_nothing,
    endpoints_of_former_operators_receive_nothing,
    deliveries_after_a_rotation_are_signed_with_the_previous_and_the_new_secret,
    a_test_event_is_sent_and_listed,
    an_endpoint_replay_resends_the_events_of_the_given_range,
    redirects_count_as_failures,
    private_addresses_are_not_called,
    at_most_two_deliveries_per_owner_run_concurrently,
);
on_durable_stores!(deliveries_continue_after_the_server_is_killed);

/// The configuration with which endpoints on this machine can be called.
pub(crate) const LOOPBACK: (&str, &str) = ("webhooks.allowed_networks", "127.0.0.0/8");
/// The time within which an endpoint is called whose lease has to run out first.
const AFTER_LEASE: Duration = Duration::from_secs(90);
const OPERATOR: &str = "operator@example.com";

/// An endpoint with its owner, its receiver and its secret.
pub(crate) struct Hook {
    pub(crate) owner: Person,
    pub(crate) receiver: Arc<Provider>,
    pub(crate) path: String,
    pub(crate) secret: String,
}

fn says(status: u16) -> Reply {
    Reply::Says(status, String::new())
}

impl Hook {
    /// An endpoint of a member, or of an operator, that answers 200.
    fn new(owner: &Person, set: &str, settings: &Value) -> Self {
        let receiver = Arc::new(Provider::new(says(200)));
        let mut body = json!({"url": receiver.url, "password": PASSWORD});
        body.as_object_mut().unwrap().extend(settings.as_object().unwrap().clone());
        let data = owner.post(set, &body).data(201);
        let path = format!("{set}/{}", data["webhook_endpoint"]["id"]);
        let secret = data["secret"].as_str().unwrap().to_owned();
        Self { owner: owner.clone(), receiver, path, secret }
    }

    pub(crate) fn member(owner: &Person) -> Self {
        Self::new(owner, "/webhook-endpoints", &json!({}))
    }

    /// The same endpoint for its owner at another server.
    pub(crate) fn of(&self, owner: &Person) -> Self {
        let Self { receiver, path, secret, .. } = self;
        Self {
            owner: owner.clone(),
            receiver: Arc::clone(receiver),
            path: path.clone(),
            secret: secret.clone(),
        }
    }

    /// The calls, once there are this many.
    pub(crate) fn calls(&self, count: usize) -> Vec<ReceivedRequest> {
        eventually("the endpoint is called", || {
            Some(self.receiver.received()).filter(|calls| calls.len() >= count)
        })
    }

    /// The events in the calls, once there are this many.
    fn events(&self, count: usize) -> Vec<Value> {
        self.calls(count).iter().map(ReceivedRequest::json).collect()
    }

    /// The endpoint as its owner sees it.
    fn shown(&self) -> Value {
        self.owner.get(&self.path).data(200)["webhook_endpoint"].clone()
    }

    /// Waits until the endpoint has this status.
    pub(crate) fn becomes(&self, status: &str) -> Value {
        eventually(status, || Some(self.shown()).filter(|shown| shown["status"] == status))
    }

    /// The attempts, newest first.
    fn attempts(&self) -> Vec<Value> {
        self.owner.get(&format!("{}/attempts", self.path)).data(200)["data"].as_array().unwrap().clone()
    }

    pub(crate) fn enable(&self) {
        self.owner.patch(&self.path, &json!({"paused": false, "password": PASSWORD})).data(200);
    }

    /// Waits until every event up to now was attempted.
    fn settled(&self, head: i64) {
        eventually("every event is attempted", || (self.shown()["cursor"].as_i64()? >= head).then_some(()));
    }
}

fn head(person: &Person) -> i64 {
    person.get("/events").data(200)["head"].as_i64().unwrap()
}

fn feed(person: &Person, path: &str) -> Vec<Value> {
    person.get(&format!("{path}?after=0&limit=1000")).data(200)["events"].as_array().unwrap().clone()
}

/// Verifies a call with the library of Standard Webhooks.
pub(crate) fn is_verified(secret: &str, call: &ReceivedRequest) -> bool {
    let headers = ["webhook-id", "webhook-timestamp", "webhook-signature"].map(|name| {
        (http::HeaderName::from_static(name), call.headers[name].parse::<http::HeaderValue>().unwrap())
    });
    let verifier = Webhook::new(secret).unwrap();
    verifier.verify(call.body.as_bytes(), &http::HeaderMap::from_iter(headers)).is_ok()
}

fn an_endpoint_receives_signed_events_of_its_feed(store: Store) {
    let server = Server::configured(store, &[LOOPBACK]);
    let (guest, dj, stranger) = (server.payer("20"), server.dj(), server.guest());
    let before = feed(&guest, "/events");
    let hook = Hook::member(&guest);
    let request = guest.request_song(&dj);
    stranger.topup("1");
    dj.answer(request, "accepted").data(200);
    dj.answer(request, "played").data(200);
    assert_eq!(hook.events(3), feed(&guest, "/events")[before.len()..], "as the feed, from its creation on");
    for call in hook.calls(3) {
        assert_eq!(call.headers["content-type"], "application/json");
        assert_eq!(call.headers["webhook-id"], call.json()["id"].as_str().unwrap());
        assert!(is_verified(&hook.secret, &call));
        let changed = ReceivedRequest { body: call.body.replace("music_request", "music_reqwest"), ..call };
        assert!(!is_verified(&hook.secret, &changed));
    }
    hook.settled(head(&guest));
    let statuses: Vec<Value> = hook.attempts().iter().map(|attempt| attempt["status"].clone()).collect();
    assert_eq!(statuses, [200, 200, 200]);
    assert_eq!(hook.receiver.received().len(), 3, "each once");
}

fn operator_endpoints_receive_all_events(store: Store) {
    let (server, operator) = Server::with_operator(store, &[LOOPBACK]);
    let hook = Hook::new(&operator, "/operator/webhook-endpoints", &json!({}));
    let (guest, dj) = (server.payer("20"), server.dj());
    guest.request_song(&dj);
    guest.withdrawal("1");
    assert_eq!(hook.events(3), feed(&operator, "/operator/events"));
    hook.receiver.answers(Reply::Says(500, "out of order".to_owned()));
    guest.topup("1");
    let attempt = eventually("a failure", || {
        hook.attempts().into_iter().next().filter(|attempt| attempt["status"] == 500)
    });
    assert_eq!(attempt["answer"], "out of order", "operators see the answer");
}

fn an_endpoint_receives_only_the_selected_types(store: Store) {
    let server = Server::configured(store, &[LOOPBACK]);
    let (guest, dj) = (server.payer("20"), server.dj());
    let types = json!({"types": ["music_request.accepted", "music_request.played"]});
    let hook = Hook::new(&guest, "/webhook-endpoints", &types);
    let request = guest.request_song(&dj);
    dj.answer(request, "accepted").data(200);
    dj.answer(request, "played").data(200);
    hook.settled(head(&guest));
    let received: Vec<Value> = hook.events(2).iter().map(|event| event["type"].clone()).collect();
    assert_eq!(received, ["music_request.accepted", "music_request.played"]);
}

fn a_failed_delivery_does_not_block_later_events(store: Store) {
    let server = Server::configured(store, &[LOOPBACK]);
    let guest = server.guest();
    let hook = Hook::member(&guest);
    hook.receiver.answers(says(500));
    guest.topup("1");
    guest.topup("2");
    hook.calls(2);
    hook.receiver.answers(says(200));
    let attempts = eventually("both are delivered", || {
        let attempts = hook.attempts();
        (attempts.iter().filter(|attempt| attempt["status"] == 200).count() == 2).then_some(attempts)
    });
    let time = |number: i64, position: &Value| -> OffsetDateTime {
        let is_it = |attempt: &&Value| attempt["number"] == number && attempt["position"] == *position;
        let text = attempts.iter().find(is_it).unwrap()["created_at"].as_str().unwrap();
        OffsetDateTime::parse(text, &Rfc3339).unwrap()
    };
    for event in feed(&guest, "/events") {
        let position = &event["position"];
        let delay = time(2, position) - time(1, position);
        assert!(delay > time::Duration::seconds(3), "{delay}");
        let calls =
            hook.receiver.received().into_iter().filter(|call| call.headers["webhook-id"] == event["id"]);
        for call in calls {
            assert_eq!(call.json(), event, "each attempt is the same");
            assert!(is_verified(&hook.secret, &call));
        }
    }
}

fn an_endpoint_disabled_by_410_loses_no_events(store: Store) {
    let server = Server::configured(store, &[LOOPBACK, ("notifier.email", "log")]);
    let guest = server.guest();
    guest.call("POST", "/auth/email/code").send().data(200);
    let message = server.message(&guest.email, 0);
    let (_, code) = message.split_once("code is ").unwrap();
    guest.post("/auth/email/verify", &json!({"code": &code[..6]})).data(200);
    let hook = Hook::member(&guest);
    hook.receiver.answers(says(410));
    guest.topup("1");
    let shown = hook.becomes("disabled");
    assert_eq!(shown["disabled_reason"], "gone");
    assert!(server.message(&guest.email, 1).contains("webhook endpoint"), "its owner is told");
    guest.topup("2");
    hook.receiver.answers(says(200));
    hook.enable();
    let events = eventually("both events", || {
        let delivered =
            hook.receiver.received().into_iter().skip(1).map(|call| call.json()["position"].clone());
        let delivered: Vec<Value> = delivered.collect();
        (delivered.len() == 2).then_some(delivered)
    });
    let positions: BTreeSet<i64> = events.iter().filter_map(Value::as_i64).collect();
    let all: BTreeSet<i64> =
        feed(&guest, "/events").iter().filter_map(|event| event["position"].as_i64()).collect();
    assert_eq!(positions, all);
}

fn a_resumed_endpoint_receives_the_missed_events(store: Store) {
    let server = Server::configured(store, &[LOOPBACK]);
    let guest = server.guest();
    let (hook, other) = (Hook::member(&guest), Hook::member(&guest));
    hook.owner.patch(&hook.path, &json!({"paused": true})).data(200);
    guest.topup("1");
    other.calls(1);
    assert!(hook.receiver.received().is_empty());
    hook.enable();
    assert_eq!(hook.events(1), feed(&guest, "/events"));
}

/// The number of calls to an endpoint, once the endpoint of a witness was called for three further events: both
/// are found by the same searches for work.
fn calls_after_searches(hook: &Hook, witness: &Person) -> usize {
    let other = Hook::member(witness);
    for count in 1..=3 {
        witness.topup("1");
        other.calls(count);
    }
    hook.receiver.received().len()
}

fn endpoints_of_suspended_owners_receive_nothing(store: Store) {
    let (server, operator) = Server::with_operator(store, &[LOOPBACK]);
    let (guest, dj, witness) = (server.payer("20"), server.dj(), server.guest());
    let hook = Hook::member(&guest);
    let request = guest.request_song(&dj);
    hook.calls(1);
    let path = format!("/operator/users/{}", guest.id);
    operator.post(&format!("{path}/suspend"), &json!({"reason": "fraud"})).data(200);
    dj.answer(request, "accepted").data(200);
    assert_eq!(calls_after_searches(&hook, &witness), 1);
    operator.post(&format!("{path}/restore"), &json!({"reason": "cleared"})).data(200);
    let soon = Duration::from_secs(5);
    let missed = within(soon, "what was missed is sent", || hook.receiver.received().into_iter().nth(1));
    assert_eq!(missed.json()["type"], "music_request.accepted");
}

fn endpoints_of_former_operators_receive_nothing(store: Store) {
    let (server, operator) = Server::with_operator(store, &[LOOPBACK]);
    let (second, witness) = (operator.new_operator(&server), server.guest());
    let hook = Hook::new(&second, "/operator/webhook-endpoints", &json!({}));
    operator.give_role(&second, "member");
    assert_eq!(calls_after_searches(&hook, &witness), 0);
    // What waits is sent once another operator has set the URL.
    let body = json!({"url": hook.receiver.url, "password": PASSWORD});
    operator.patch(&hook.path, &body).data(200);
    within(Duration::from_secs(5), "what was missed is sent", || hook.receiver.received().into_iter().next());
}

fn deliveries_after_a_rotation_are_signed_with_the_previous_and_the_new_secret(store: Store) {
    let server = Server::configured(store, &[LOOPBACK]);
    let guest = server.guest();
    let hook = Hook::member(&guest);
    let data = guest.post(&format!("{}/rotate", hook.path), &json!({"password": PASSWORD})).data(200);
    let secret = data["secret"].as_str().unwrap();
    assert_ne!(secret, hook.secret);
    guest.topup("1");
    let call = &hook.calls(1)[0];
    assert!(is_verified(secret, call) && is_verified(&hook.secret, call));
    assert_eq!(call.headers["webhook-signature"].split(' ').count(), 2);
    for shown in [secret, hook.secret.as_str()] {
        let hidden = shown.strip_prefix("whsec_").unwrap();
        assert!(
            !server.log().contains(hidden) && !guest.get("/user/export").json().to_string().contains(hidden)
        );
        assert!(!guest.get(&hook.path).json().to_string().contains(hidden), "a secret is shown once");
    }
}

fn a_test_event_is_sent_and_listed(store: Store) {
    let server = Server::configured(store, &[LOOPBACK]);
    let guest = server.guest();
    let hook = Hook::member(&guest);
    hook.owner.patch(&hook.path, &json!({"paused": true})).data(200);
    guest.post(&format!("{}/test", hook.path), &json!({})).data(202);
    let call = &hook.calls(1)[0];
    assert!(is_verified(&hook.secret, call));
    assert_eq!((&call.json()["type"], &call.json()["position"]), (&json!("webhook.test"), &json!(0)));
    let attempts = eventually("it is listed", || Some(hook.attempts()).filter(|listed| !listed.is_empty()));
    assert_eq!((&attempts[0]["type"], &attempts[0]["status"]), (&json!("webhook.test"), &json!(200)));
    assert_eq!(attempts[0]["position"], Value::Null);
}

fn an_endpoint_replay_resends_the_events_of_the_given_range(store: Store) {
    let server = Server::configured(store, &[LOOPBACK]);
    let guest = server.guest();
    let hook = Hook::member(&guest);
    for _ in 0..4 {
        guest.topup("1");
    }
    let first = hook.events(4);
    hook.settled(head(&guest));
    let positions: Vec<i64> = first.iter().map(|event| event["position"].as_i64().unwrap()).collect();
    let range = json!({"after": positions[0], "until": positions[2]});
    guest.post(&format!("{}/replay", hook.path), &range).data(202);
    assert_eq!(hook.events(6)[4..], first[1..3]);
    let shown =
        eventually("the replay ends", || Some(hook.shown()).filter(|shown| shown["replay"].is_null()));
    assert_eq!(shown["cursor"], head(&guest));
}

/// Attack API7: a webhook endpoint that redirects to a private address.
fn redirects_count_as_failures(store: Store) {
    let server = Server::configured(store, &[LOOPBACK]);
    let guest = server.guest();
    let hook = Hook::member(&guest);
    hook.receiver.answers(says(307));
    guest.topup("1");
    let attempt = eventually("an attempt", || hook.attempts().into_iter().next());
    assert_eq!(attempt["status"], 307);
    assert!(hook.shown()["failing_since"].is_string());
    assert_eq!(hook.receiver.received().len(), 1);
}

/// Attack API7: a webhook endpoint with a private address.
fn private_addresses_are_not_called(store: Store) {
    let server = Server::start(store);
    let guest = server.guest();
    let receiver = Provider::new(says(200));
    let port = receiver.url.split(':').nth(2).unwrap().split('/').next().unwrap();
    for host in [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f.1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "10.0.0.1",
        "169.254.169.254",
    ] {
        let answer = guest.post(
            "/webhook-endpoints",
            &json!({"url": format!("http://{host}:{port}/"), "password": PASSWORD}),
        );
        answer.invalid(&["url"]);
    }
    let body = json!({"url": format!("http://localhost:{port}/"), "password": PASSWORD});
    let data = guest.post("/webhook-endpoints", &body).data(201);
    let path = format!("/webhook-endpoints/{}", data["webhook_endpoint"]["id"]);
    guest.topup("1");
    let attempt =
        eventually("an attempt", || guest.get(&format!("{path}/attempts")).data(200)["data"].get(0).cloned());
    assert_eq!((&attempt["status"], &attempt["error"]), (&Value::Null, &json!("connection_failed")));
    assert!(receiver.received().is_empty());
}

fn at_most_two_deliveries_per_owner_run_concurrently(store: Store) {
    let server = Server::configured(store, &[LOOPBACK]);
    let (guest, other) = (server.guest(), server.guest());
    let receiver = Provider::new(Reply::Silent);
    for _ in 0..5 {
        guest.post("/webhook-endpoints", &json!({"url": receiver.url, "password": PASSWORD})).data(201);
    }
    let hook = Hook::member(&other);
    guest.topup("1");
    eventually("two endpoints are called", || (receiver.received().len() == 2).then_some(()));
    // Calls after which work was searched for several times.
    for number in 1..=3 {
        other.topup("1");
        hook.calls(number);
    }
    assert_eq!(receiver.received().len(), 2);
    receiver.answers(says(200));
    eventually("the other endpoints are called", || (receiver.received().len() == 5).then_some(()));
}

fn deliveries_continue_after_the_server_is_killed(store: Store) {
    let database = Arc::new(Database::of(store));
    let keys = [LOOPBACK, SHARED_KEY];
    let mut server = Server::on(&database, &keys);
    let guest = server.guest();
    let hook = Hook::member(&guest);
    hook.receiver.answers(Reply::Silent);
    guest.topup("1");
    hook.calls(1);
    guest.topup("2");
    server.signal("KILL");
    server.ended();
    hook.receiver.answers(says(200));
    let server = Server::on(&database, &keys);
    let guest = guest.moved_to(&server.client());
    let all = feed(&guest, "/events");
    let received = within(AFTER_LEASE, "the lease of the killed server ends", || {
        let seen: BTreeSet<String> =
            hook.receiver.received().iter().skip(1).map(|call| call.body.clone()).collect();
        (seen.len() == all.len()).then_some(seen)
    });
    let expected: BTreeSet<String> = all.iter().map(ToString::to_string).collect();
    let received: BTreeSet<String> =
        received.iter().map(|body| serde_json::from_str::<Value>(body).unwrap().to_string()).collect();
    assert_eq!(received, expected);
}

#[test]
fn two_servers_deliver_each_event_only_once() {
    let database = Arc::new(Database::postgres());
    let keys = [&operator_keys(OPERATOR)[..], &[LOOPBACK, SHARED_KEY]].concat();
    let servers = [Server::on(&database, &keys), Server::on(&database, &keys)];
    let operator = servers[0].client().login(OPERATOR);
    let hook = Hook::new(&operator, "/operator/webhook-endpoints", &json!({}));
    thread::scope(|scope| {
        for server in &servers {
            scope.spawn(|| {
                let guest = server.guest();
                for _ in 0..50 {
                    guest.topup("0.01");
                }
            });
        }
    });
    let received = hook.events(100);
    assert_eq!(received, feed(&operator, "/operator/events"), "in one order, each once");
    hook.settled(head(&operator));
    assert_eq!(hook.receiver.received().len(), 100);
}
