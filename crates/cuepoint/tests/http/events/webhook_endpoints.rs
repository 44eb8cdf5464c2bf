//! Webhook endpoints: their settings and secrets, who sees them, tests and replays. What is delivered to them is
//! tested elsewhere.

use serde_json::{Value, json};

use crate::harness::{
    Answer, PASSWORD, Person, Provider, Reply, Server, Store, WEBHOOK_URL, eventually, keys,
};

on_one_store!(
    the_secret_shown_when_an_endpoint_is_created_is_not_shown_again,
    endpoint_fields_change_independently_and_null_clears_optional_ones,
    endpoints_are_listed_newest_first_until_they_are_deleted,
    a_user_has_at_most_five_endpoints_for_a_feed,
    endpoints_of_other_users_are_not_found,
    operators_share_the_endpoints_for_all_events,
    endpoint_changes_are_in_the_security_log,
    invalid_endpoint_fields_are_named,
    private_ambiguous_and_malformed_endpoint_urls_are_refused,
    urls_are_stored_and_logged_in_canonical_form,
    a_rotation_shows_a_new_secret,
    a_test_is_listed_among_the_attempts,
    webhook_tests_are_refused_above_one_per_endpoint_and_32_per_server,
    a_webhook_replay_requires_either_a_valid_range_or_failed_deliveries,
    only_one_replay_runs_per_endpoint,
    replays_to_paused_and_disabled_endpoints_are_refused,
);

pub(crate) const OWN: &str = "/webhook-endpoints";
pub(crate) const ALL: &str = "/operator/webhook-endpoints";

const ENDPOINT: [&str; 11] = [
    "created_at",
    "cursor",
    "description",
    "disabled_at",
    "disabled_reason",
    "failing_since",
    "id",
    "replay",
    "status",
    "types",
    "url",
];

pub(crate) fn endpoint(answer: &Answer, status: u16) -> Value {
    answer.data(status)["webhook_endpoint"].clone()
}

/// The configuration with which endpoints on this machine can be called.
const LOOPBACK: (&str, &str) = ("webhooks.allowed_networks", "127.0.0.0/8");

/// The body with the password.
pub(crate) fn confirmed(mut body: Value) -> Value {
    body["password"] = json!(PASSWORD);
    body
}

/// Creates an endpoint in this list that calls a receiver, and returns its path.
fn calling(person: &Person, list: &str, receiver: &Provider) -> String {
    let created = person.post(list, &confirmed(json!({"url": receiver.url}))).data(201);
    format!("{list}/{}", created["webhook_endpoint"]["id"])
}

/// Creates an endpoint in this list that receives nothing, and returns its path.
pub(crate) fn paused(person: &Person, list: &str) -> String {
    let path = format!("{list}/{}", person.webhook_endpoint(list));
    assert_eq!(endpoint(&person.patch(&path, &json!({"paused": true})), 200)["status"], "paused");
    path
}

fn the_secret_shown_when_an_endpoint_is_created_is_not_shown_again(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let body = json!({"url": WEBHOOK_URL, "types": ["topup.created", "topup.created"], "description": " Booth ", "password": PASSWORD});
    for (person, list, extra) in [(server.guest(), OWN, &[][..]), (operator, ALL, &["user_id", "user_name"])]
    {
        let created = person.post(list, &body);
        let data = created.data(201);
        assert_eq!(keys(&data), ["secret", "webhook_endpoint"]);
        let secret = data["secret"].as_str().unwrap();
        assert!(secret.starts_with("whsec_") && secret.len() > 40, "{created}");
        let endpoint = &data["webhook_endpoint"];
        assert_eq!(keys(endpoint), [&ENDPOINT[..], extra].concat());
        assert_eq!(
            (&endpoint["url"], &endpoint["types"], &endpoint["description"], &endpoint["status"]),
            (&json!(WEBHOOK_URL), &json!(["topup.created"]), &json!("Booth"), &json!("active"))
        );
        for key in ["disabled_at", "disabled_reason", "replay", "failing_since"] {
            assert_eq!(endpoint[key], Value::Null, "{key}");
        }
        let path = format!("{list}/{}", endpoint["id"]);
        assert_eq!(created.header("location"), Some(format!("{}{path}", server.client().base()).as_str()));
        let shown = person.get(&path);
        assert_eq!(shown.data(200), json!({"webhook_endpoint": endpoint}));
        for answer in [shown, person.get(list), person.patch(&path, &json!({})), person.get("/user/export")] {
            assert!(!answer.text.contains("whsec_") && !answer.text.contains(&secret[6..]), "{answer}");
        }
    }
}

fn endpoint_fields_change_independently_and_null_clears_optional_ones(store: Store) {
    let server = Server::start(store);
    let guest = server.guest();
    let path = format!("{OWN}/{}", guest.webhook_endpoint(OWN));
    let mut expected = endpoint(&guest.get(&path), 200);
    for (change, shown) in [
        (json!({"types": ["withdrawal.completed"]}), None),
        (json!({"description": "the booth"}), None),
        (json!({"url": "https://localhost:8443/other?key=1"}), None),
        (json!({"paused": true}), Some(json!({"status": "paused"}))),
        (json!({}), None),
        (json!({"types": null}), None),
        (json!({"description": null}), None),
        (json!({"paused": false}), Some(json!({"status": "active"}))),
        (json!({"status": "active", "user_id": 1}), Some(json!({}))),
    ] {
        let changed = endpoint(&guest.patch(&path, &confirmed(change.clone())), 200);
        for (key, value) in shown.unwrap_or(change).as_object().unwrap() {
            expected[key] = value.clone();
        }
        assert_eq!(changed, expected);
        assert_eq!(endpoint(&guest.get(&path), 200), expected);
    }
}

fn endpoints_are_listed_newest_first_until_they_are_deleted(store: Store) {
    let server = Server::start(store);
    let guest = server.guest();
    let ids: Vec<i64> = (0..3).map(|_| guest.webhook_endpoint(OWN)).collect();
    assert_eq!(guest.ids(OWN, "id"), [ids[2], ids[1], ids[0]]);
    assert_eq!(guest.ids(&format!("{OWN}?per_page=2&page=2"), "id"), [ids[0]]);
    let path = format!("{OWN}/{}", ids[1]);
    assert_eq!(guest.delete(&path).data(200), json!({}));
    assert_eq!(guest.ids(OWN, "id"), [ids[2], ids[0]]);
    guest.delete(&path).refused(404, "not_found");
    guest.get(&path).refused(404, "not_found");
    guest.get(&format!("{path}/attempts")).refused(404, "not_found");
}

fn a_user_has_at_most_five_endpoints_for_a_feed(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    for list in [OWN, ALL] {
        let ids: Vec<i64> = (0..5).map(|_| operator.webhook_endpoint(list)).collect();
        let refused =
            operator.post(list, &confirmed(json!({"url": WEBHOOK_URL}))).refused(422, "limit_exceeded");
        assert_eq!(refused["message"], "You can have at most 5 webhook endpoints.");
        operator.delete(&format!("{list}/{}", ids[0])).data(200);
        operator.webhook_endpoint(list);
    }
    operator.new_operator(&server).webhook_endpoint(ALL);
    server.guest().webhook_endpoint(OWN);
}

/// Sends every call of an endpoint, with a body that is invalid where there is one.
fn calls(person: &Person, path: &str) -> Vec<Answer> {
    let wrong = json!({"url": 5, "after": "x"});
    vec![
        person.get(path),
        person.get(&format!("{path}/attempts")),
        person.patch(path, &wrong),
        person.post(&format!("{path}/rotate"), &wrong),
        person.post(&format!("{path}/test"), &json!({})),
        person.post(&format!("{path}/replay"), &wrong),
        person.delete(path),
    ]
}

fn endpoints_of_other_users_are_not_found(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let guest = server.guest();
    let id = guest.webhook_endpoint(OWN);
    let common = operator.webhook_endpoint(ALL);
    let before = endpoint(&guest.get(&format!("{OWN}/{id}")), 200);
    for (person, path) in [
        (&server.guest(), format!("{OWN}/{id}")),
        (&operator, format!("{OWN}/{id}")),
        (&operator, format!("{ALL}/{id}")),
        (&operator, format!("{OWN}/{common}")),
        (&guest, format!("{OWN}/{common}")),
        (&guest, format!("{OWN}/999999999")),
    ] {
        for answer in calls(person, &path) {
            answer.refused(404, "not_found");
        }
    }
    assert_eq!(operator.ids(OWN, "id"), [0; 0]);
    assert_eq!(operator.ids(ALL, "id"), [common]);
    assert_eq!(guest.ids(OWN, "id"), [id]);
    assert_eq!(endpoint(&guest.get(&format!("{OWN}/{id}")), 200), before);
}

fn operators_share_the_endpoints_for_all_events(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let path = format!("{ALL}/{}", operator.webhook_endpoint(ALL));
    let auditor = server.guest();
    operator.give_role(&auditor, "auditor");
    for person in [server.guest(), server.dj(), server.client().login(&auditor.email)] {
        person.get(ALL).refused(403, "insufficient_scope");
        person.post(ALL, &json!({"url": WEBHOOK_URL})).refused(403, "insufficient_scope");
        for answer in calls(&person, &path) {
            answer.refused(403, "insufficient_scope");
        }
    }
    let other = operator.new_operator(&server);
    assert_eq!(endpoint(&other.get(&path), 200)["user_id"], operator.id);
    assert_eq!(other.get(ALL).data(200)["data"][0]["user_id"], operator.id);
    let changed = endpoint(&other.patch(&path, &json!({"description": "the office"})), 200);
    assert_eq!((&changed["description"], &changed["user_id"]), (&json!("the office"), &json!(operator.id)));
    let set = endpoint(&other.patch(&path, &confirmed(json!({"url": WEBHOOK_URL}))), 200);
    assert_eq!(set["user_id"], other.id, "whoever sets the URL is judged for it");
    other.delete(&path).data(200);
    operator.get(&path).refused(404, "not_found");
}

fn endpoint_changes_are_in_the_security_log(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let guest = server.guest();
    for (person, list, kind) in
        [(&guest, OWN, "webhook_endpoint_changed"), (&operator, ALL, "operator_action")]
    {
        let id = person.webhook_endpoint(list);
        let path = format!("{list}/{id}");
        person.patch(&path, &confirmed(json!({"url": "https://example.org:8443/secret"}))).data(200);
        person.patch(&path, &json!({"paused": true})).data(200);
        person.post(&format!("{path}/rotate"), &json!({"password": PASSWORD})).data(200);
        person.delete(&path).data(200);
        let log = format!("/operator/security-log?kind={kind}&user_id={}", person.id);
        let events = operator.get(&log).data(200)["data"].as_array().unwrap().clone();
        let details: Vec<&str> = events.iter().rev().map(|event| event["detail"].as_str().unwrap()).collect();
        let host = WEBHOOK_URL.split('/').nth(2).unwrap();
        assert_eq!(
            details,
            [
                format!("create_webhook_endpoint: endpoint {id} at {host}"),
                format!(
                    "change_webhook_endpoint: endpoint {id} at example.org:8443, {host} → example.org:8443"
                ),
                format!("change_webhook_endpoint: endpoint {id} at example.org:8443, active → paused"),
                format!("rotate_webhook_secret: endpoint {id} at example.org:8443"),
                format!("remove_webhook_endpoint: endpoint {id} at example.org:8443"),
            ]
        );
    }
}

fn invalid_endpoint_fields_are_named(store: Store) {
    let server = Server::start(store);
    let guest = server.guest();
    let path = format!("{OWN}/{}", guest.webhook_endpoint(OWN));
    let before = endpoint(&guest.get(&path), 200);
    guest.post(OWN, &confirmed(json!({}))).invalid(&["url"]);
    guest.post(OWN, &confirmed(json!({"types": [], "description": 5}))).invalid(&[
        "url",
        "types",
        "description",
    ]);
    let long = format!("https://example.com/{}", "x".repeat(2_048));
    for (field, value, sentence) in [
        ("url", json!(5), "The url field must be a string."),
        ("url", json!(""), "The url field is required."),
        ("url", json!(long), "The url field must not be greater than 2048 characters."),
        ("url", json!("https://example.com/a b"), "The url field must be a valid URL."),
        ("url", json!("https://bücher.example"), "The url field must be a valid URL."),
        ("types", json!("topup.created"), "The types field must be a list."),
        ("types", json!([]), "The types field must have at least 1 item."),
        (
            "types",
            json!(["topup.created", "topup.lost"]),
            "The types field has an unknown value: topup.lost.",
        ),
        ("types", json!([null]), "The types field has an unknown value: null."),
        ("types", json!(["webhook.test"]), "The types field has an unknown value: webhook.test."),
        ("description", json!([]), "The description field must be a string."),
        ("description", json!("a\nb"), "The description field format is invalid."),
        (
            "description",
            json!("x".repeat(256)),
            "The description field must not be greater than 255 characters.",
        ),
    ] {
        let mut body = confirmed(json!({"url": WEBHOOK_URL}));
        body[field] = value.clone();
        assert_eq!(guest.post(OWN, &body).invalid(&[field])[field], json!([sentence]));
        assert_eq!(guest.patch(&path, &json!({field: value})).invalid(&[field])[field], json!([sentence]));
    }
    guest.patch(&path, &json!({"url": null, "paused": 2})).invalid(&["url", "paused"]);
    guest.patch(&path, &json!({"paused": null})).invalid(&["paused"]);
    assert_eq!(guest.ids(OWN, "id").len(), 1);
    assert_eq!(endpoint(&guest.get(&path), 200), before);
}

fn private_ambiguous_and_malformed_endpoint_urls_are_refused(store: Store) {
    let server = Server::start(store);
    let guest = server.guest();
    let path = format!("{OWN}/{}", guest.webhook_endpoint(OWN));
    for url in [
        "http://127.0.0.1:8080/",
        "https://127.1/",
        "https://2130706433/",
        "https://[::1]/",
        "https://169.254.169.254/latest/meta-data",
        "https://10.0.0.1/",
        "https://user:password@example.com/",
        "https://example.com/#part",
        "ftp://example.com/",
        "file:///etc/passwd",
        "example.com",
        "https://",
        "https:evil.example/collect",
        "https:/evil.example/collect",
        "HTTPS://evil.example/collect",
        "https:\\\\evil.example/collect",
        "https://evil.example\\@hooks.good.example/",
        "https://hooks.good.example\\.evil.example/",
    ] {
        guest.post(OWN, &confirmed(json!({"url": url}))).invalid(&["url"]);
        guest.patch(&path, &json!({"url": url})).invalid(&["url"]);
    }
    let refused = guest.post(OWN, &confirmed(json!({"url": "https://127.0.0.1/"}))).invalid(&["url"]);
    assert_eq!(refused["url"], json!(["The url field must have a public address."]));
    assert_eq!(guest.ids(OWN, "id").len(), 1);
    assert_eq!(endpoint(&guest.get(&path), 200)["url"], WEBHOOK_URL);
}

fn urls_are_stored_and_logged_in_canonical_form(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let guest = server.guest();
    let path = format!("{OWN}/{}", guest.webhook_endpoint(OWN));
    let url = "https:///EVIL.example:443/a/../collect?key=1";
    let canonical = "https://evil.example/collect?key=1";
    let created = guest.post(OWN, &confirmed(json!({"url": url}))).data(201)["webhook_endpoint"].clone();
    assert_eq!(created["url"], canonical);
    assert_eq!(endpoint(&guest.patch(&path, &confirmed(json!({"url": url}))), 200)["url"], canonical);
    assert_eq!(endpoint(&guest.get(&path), 200)["url"], canonical);
    let log = format!("/operator/security-log?kind=webhook_endpoint_changed&user_id={}", guest.id);
    let events = operator.get(&log).data(200)["data"].clone();
    for event in &events.as_array().unwrap()[..2] {
        let change = event["detail"].as_str().unwrap().split(", ").next().unwrap();
        assert!(change.ends_with(" at evil.example"), "{event}");
    }
}

fn a_rotation_shows_a_new_secret(store: Store) {
    let server = Server::start(store);
    let guest = server.guest();
    let created = guest.post(OWN, &confirmed(json!({"url": WEBHOOK_URL}))).data(201);
    let path = format!("{OWN}/{}", created["webhook_endpoint"]["id"]);
    let rotate = || guest.post(&format!("{path}/rotate"), &confirmed(json!({}))).data(200);
    let (first, second) = (rotate(), rotate());
    assert_eq!(keys(&first), ["secret", "webhook_endpoint"]);
    assert_eq!(first["webhook_endpoint"], created["webhook_endpoint"]);
    let secrets = [&created["secret"], &first["secret"], &second["secret"]];
    assert!(secrets.iter().all(|secret| secret.as_str().unwrap().starts_with("whsec_")));
    assert!(secrets[0] != secrets[1] && secrets[1] != secrets[2] && secrets[0] != secrets[2]);
}

fn a_test_is_listed_among_the_attempts(store: Store) {
    let (server, operator) = Server::with_operator(store, &[("webhooks.allowed_networks", "127.0.0.1")]);
    let provider = Provider::new(Reply::Says(500, "not today".to_owned()));
    let mut own = vec!["created_at", "duration_ms", "error", "number", "position", "status", "type"];
    for (person, list, answer) in [(server.guest(), OWN, None), (operator, ALL, Some("not today"))] {
        let created = person.post(list, &confirmed(json!({"url": provider.url}))).data(201);
        let path = format!("{list}/{}", created["webhook_endpoint"]["id"]);
        let attempts = format!("{path}/attempts");
        assert_eq!(person.get(&attempts).data(200)["total"], 0);
        assert_eq!(person.call("POST", &format!("{path}/test")).send().data(202), json!({}));
        let listed = eventually("the test is listed", || {
            let page = person.get(&attempts).data(200);
            (page["total"] == 1).then(|| page["data"][0].clone())
        });
        if answer.is_some() {
            own.insert(0, "answer");
        }
        assert_eq!(keys(&listed), own);
        assert_eq!(listed.get("answer").and_then(Value::as_str), answer);
        for (key, value) in [
            ("position", Value::Null),
            ("type", json!("webhook.test")),
            ("number", json!(1)),
            ("status", json!(500)),
            ("error", Value::Null),
        ] {
            assert_eq!(listed[key], value, "{key}: {listed}");
        }
        // A failed test does not count as a failed delivery.
        assert_eq!(endpoint(&person.get(&path), 200)["failing_since"], Value::Null);
    }
}

fn webhook_tests_are_refused_above_one_per_endpoint_and_32_per_server(store: Store) {
    let server = Server::configured(store, &[("webhooks.allowed_networks", "127.0.0.1")]);
    let provider = Provider::new(Reply::Silent);
    let test = |person: &Person, number: i64| person.post(&format!("{OWN}/{number}/test"), &json!({}));
    let owners: Vec<Person> = (0..7).map(|_| server.guest()).collect();
    let endpoints: Vec<(&Person, i64)> = owners
        .iter()
        .flat_map(|owner| std::iter::repeat_n(owner, 5))
        .map(|owner| {
            let created = owner.post(OWN, &confirmed(json!({"url": provider.url}))).data(201);
            (owner, created["webhook_endpoint"]["id"].as_i64().unwrap())
        })
        .collect();
    for (owner, endpoint) in &endpoints[..32] {
        test(owner, *endpoint).data(202);
    }
    let (owner, endpoint) = endpoints[0];
    let refused = test(owner, endpoint);
    refused.refused(409, "test_running");
    assert_eq!(refused.json()["message"], "A test of this webhook endpoint is still running.");
    let (other, another) = endpoints[32];
    let refused = test(other, another);
    refused.refused(503, "unavailable");
    assert_eq!(refused.header("retry-after"), Some("15"));
    provider.answers(Reply::Says(200, String::new()));
    eventually("a test has ended", || (test(owner, endpoint).status == 202).then_some(()));
    eventually("there is room for another test", || (test(other, another).status == 202).then_some(()));
}

fn a_webhook_replay_requires_either_a_valid_range_or_failed_deliveries(store: Store) {
    let server = Server::configured(store, &[LOOPBACK]);
    let guest = server.payer("20");
    let receiver = Provider::new(Reply::Silent);
    let path = calling(&guest, OWN, &receiver);
    let cursor = endpoint(&guest.get(&path), 200)["cursor"].as_i64().unwrap();
    let replay = |body: Value| guest.post(&format!("{path}/replay"), &body);
    let (required, prohibited) =
        ("The after field is required when failed is not present.", "The failed field is prohibited when");
    let empty = "The after field must be less than until and less than the endpoint's cursor.";
    for (body, field, sentence) in [
        (json!({}), "after", required),
        (json!({"failed": false}), "after", required),
        (json!({"until": 5}), "after", required),
        (json!({"after": null, "failed": null}), "after", required),
        (json!({"after": 0, "failed": true}), "failed", &*format!("{prohibited} after is present.")),
        (json!({"until": 5, "failed": true}), "failed", &*format!("{prohibited} until is present.")),
        (json!({"after": -1}), "after", "The after field must be at least 0."),
        (json!({"after": "0"}), "after", "The after field must be an integer."),
        (json!({"after": 0, "until": 1.5}), "until", "The until field must be an integer."),
        (json!({"failed": 2}), "failed", "The failed field must be true or false."),
        (json!({"after": cursor}), "after", empty),
        (json!({"after": 1, "until": 1}), "after", empty),
        (json!({"after": 0, "until": 0}), "after", empty),
    ] {
        assert_eq!(replay(body).invalid(&[field])[field], json!([sentence]));
    }
    let lost = replay(json!({"after": cursor + 1})).refused(410, "events_lost");
    assert_eq!(lost["continue_after"], cursor, "a position that no event has had");
    let waiting = endpoint(&replay(json!({"failed": true})), 202);
    assert_eq!(waiting["replay"], Value::Null, "nothing was given up");
    let replayed = endpoint(&replay(json!({"after": 0, "until": i64::MAX})), 202);
    assert_eq!(replayed["replay"], json!({"after": 0, "until": cursor}), "no event after the cursor");
    assert_eq!(endpoint(&guest.get(&path), 200), replayed);
}

fn only_one_replay_runs_per_endpoint(store: Store) {
    let (server, operator) = Server::with_operator(store, &[LOOPBACK]);
    server.payer("20");
    let receiver = Provider::new(Reply::Silent);
    let path = calling(&operator, ALL, &receiver);
    let replay = || operator.post(&format!("{path}/replay"), &json!({"after": 0}));
    let running = endpoint(&replay(), 202);
    let refused = replay().refused(409, "replay_running");
    assert_eq!(refused["message"], "A replay is still running.");
    assert_eq!(endpoint(&operator.get(&path), 200), running);
}

fn replays_to_paused_and_disabled_endpoints_are_refused(store: Store) {
    let server = Server::configured(store, &[LOOPBACK]);
    let guest = server.payer("20");
    let receiver = Provider::new(Reply::Says(410, String::new()));
    let (paused, gone) = (paused(&guest, OWN), calling(&guest, OWN, &receiver));
    guest.topup("1");
    eventually("it is disabled", || (endpoint(&guest.get(&gone), 200)["status"] == "disabled").then_some(()));
    for path in [paused, gone] {
        let before = endpoint(&guest.get(&path), 200);
        for body in [json!({"after": 0}), json!({"failed": true})] {
            let refused = guest.post(&format!("{path}/replay"), &body).refused(409, "endpoint_inactive");
            assert_eq!(refused["message"], "The webhook endpoint is paused or disabled.");
        }
        assert_eq!(endpoint(&guest.get(&path), 200), before);
    }
}

#[test]
fn one_hourly_quota_covers_creating_testing_and_replaying_endpoints() {
    let keys = [("rate_limits.enabled", "true"), ("rate_limits.webhooks_per_hour", "5")];
    let keys = [&keys[..], &[("rate_limits.default_per_minute", "1000")]].concat();
    let (server, operator) = Server::with_operator(Store::Memory, &keys);
    let (path, all) = (paused(&operator, OWN), paused(&operator, ALL));
    let limit = |answer: &Answer| answer.header("x-ratelimit-limit").unwrap().to_owned();
    let tested = operator.post(&format!("{path}/test"), &json!({}));
    tested.data(202);
    assert_eq!((&*limit(&tested), tested.header("x-ratelimit-remaining")), ("5", Some("2")));
    operator.post(&format!("{all}/test"), &json!({})).data(202);
    operator.post(&format!("{path}/replay"), &json!({})).invalid(&["after"]);
    for call in [format!("{path}/test"), format!("{all}/test"), format!("{all}/replay")] {
        let refused = operator.post(&call, &json!({}));
        refused.refused(429, "rate_limited");
        let seconds: u32 = refused.header("retry-after").unwrap().parse().unwrap();
        assert!(limit(&refused) == "5" && (600..=720).contains(&seconds), "{refused}");
    }
    operator.post(&format!("{all}/rotate"), &json!({"password": PASSWORD})).data(200);
    assert_eq!(limit(&operator.get(&path)), "1000");
    let other = operator.new_operator(&server);
    other.post(&format!("{all}/test"), &json!({})).data(202);
}
