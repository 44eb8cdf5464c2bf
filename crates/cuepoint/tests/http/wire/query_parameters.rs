//! Query parameters of every route: the documented ones are accepted once, and all others are refused.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::harness::{Answer, Message, NEW, Person, Server, Store, TOPUPS};
use crate::limits::long_work::GROWING;
use crate::wire::matrix::late_money;

on_one_store!(
    routes_accept_only_documented_parameters_each_at_most_once,
    the_four_fixed_routes_and_provider_messages_ignore_unknown_parameters,
    empty_parameters_are_validated_like_other_values,
    invalid_parameters_and_fields_are_reported_together,
    topups_and_withdrawals_are_filtered_by_status_and_entries_by_kind,
    letters_that_grow_are_searched_for_or_refused_by_name_in_every_parameter,
);

/// The operations that existing clients depend on.
const FIXED: [(&str, &str); 4] = [
    ("get", "/api/v1/music/user/requests"),
    ("get", "/api/v1/user/personal-info"),
    ("patch", "/api/v1/music/requests-update/{id}"),
    ("post", "/api/v1/withdrawal/crypto"),
];

/// A caller with objects of every kind, as DJ and guest, and an operator.
struct Scene {
    server: Server,
    operator: Person,
    dj: Person,
    ids: BTreeMap<&'static str, i64>,
    /// The code of the DJ.
    code: String,
}

impl Scene {
    fn new(store: Store) -> Self {
        let keys = [&TOPUPS[..], &[("payouts.webhook_secrets", NEW), ("topups.pending_days", "0")]].concat();
        let (server, operator) = Server::with_operator(store, &keys);
        let (dj, other) = (server.dj(), server.dj());
        for person in [&dj, &other] {
            let topup = person.topup("100.00");
            let reference = person.topup_reference(topup);
            Message::topup_of("100.00", "topup.confirmed", &reference).accepted_by(&server);
        }
        other.request_song(&dj);
        let (played, open) = (dj.request_song(&other), dj.request_song(&other));
        other.answer(played, "played").data(200);
        let unknown = "00000000-0000-0000-0000-000000000001";
        Message::payout("payout.failed", unknown).send(&server).refused(404, "not_found");
        let ids = BTreeMap::from([
            ("/auth/sessions/", dj.session()),
            ("/auth/tokens/", dj.personal_token(&["gigs:read"]).0),
            ("/djs/", dj.id),
            ("/gigs/", dj.gig()),
            ("/music/dj/blocks/", other.id),
            ("/music/requests/", open),
            ("/operator/music/requests/", played),
            ("/operator/provider-messages/", operator.ids("/operator/provider-messages", "id")[0]),
            ("/operator/suspense/", late_money(&server)),
            ("/operator/topups/", dj.ids("/wallet/topups", "id")[0]),
            ("/operator/users/", dj.id),
            ("/operator/webhook-endpoints/", operator.webhook_endpoint("/operator/webhook-endpoints")),
            ("/operator/withdrawals/", dj.withdrawal("1.00")),
            ("/wallet/entries/", 1),
            ("/wallet/topups/", dj.ids("/wallet/topups", "id")[0]),
            ("/webhook-endpoints/", dj.webhook_endpoint("/webhook-endpoints")),
            ("/withdrawals/", dj.withdrawal("1.00")),
        ]);
        let gigs = dj.get("/gigs").data(200);
        let code = gigs["data"][0]["code"].as_str().unwrap().to_owned();
        Self { server, operator, dj, ids, code }
    }

    /// Calls an operation with its example body and this query.
    fn send(&self, operation: &Operation, method: &str, query: &str) -> Answer {
        let path = match operation.path.split_once("{id}") {
            Some((list, rest)) => format!("{list}{}{rest}", self.ids[list]),
            None => operation.path.replace("{code}", &self.code),
        };
        let caller = if path.starts_with("/operator/") { &self.operator } else { &self.dj };
        let call = caller.call(method, &format!("{path}?{query}"));
        match &operation.body {
            Some(body) => call.json(body).send(),
            None => call.send(),
        }
    }
}

/// An operation of the document.
struct Operation {
    method: String,
    path: String,
    /// Its query parameters with a valid value each.
    parameters: BTreeMap<String, String>,
    body: Option<Value>,
}

fn operations(document: &Value) -> Vec<Operation> {
    let resolved = |value: &Value| match value["$ref"].as_str() {
        Some(reference) => document.pointer(reference.trim_start_matches('#')).unwrap().clone(),
        None => value.clone(),
    };
    let mut operations = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let is_signed = operation["x-access"]["who"] == "provider";
            let is_fixed = FIXED.contains(&(method, path));
            let Some(path) = path.strip_prefix("/api/v1").filter(|_| !is_signed && !is_fixed) else {
                continue;
            };
            let all = operation["parameters"].as_array().into_iter().flatten().map(&resolved);
            let parameters = all.filter(|parameter| parameter["in"] == "query").map(|parameter| {
                let schema = resolved(&parameter["schema"]);
                let examples = [&parameter["example"], &schema["example"], &schema["enum"][0]];
                let value = examples.into_iter().find(|value| !value.is_null());
                let value = match (parameter["name"].as_str().unwrap(), value) {
                    ("reference", _) => json!("00000000-0000-0000-0000-000000000001"),
                    (_, Some(value)) => value.clone(),
                    (_, None) => json!(1),
                };
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                (parameter["name"].as_str().unwrap().to_owned(), text)
            });
            let content = &operation["requestBody"]["content"]["application/json"]["schema"];
            let body = (!content.is_null())
                .then(|| resolved(content).get("example").cloned().unwrap_or_else(|| json!({})));
            let (method, path) = (method.to_uppercase(), path.to_owned());
            operations.push(Operation { method, path, parameters: parameters.collect(), body });
        }
    }
    operations
}

/// The filter that a list requires, and a query with it.
fn required(path: &str) -> (&'static str, &'static str) {
    match path {
        "/operator/topups" => ("user_id", "user_id=1&"),
        "/boards" => ("near", "near=52.52,13.40&"),
        "/tips" => ("direction", "direction=given&"),
        _ => ("", ""),
    }
}

fn routes_accept_only_documented_parameters_each_at_most_once(store: Store) {
    let scene = Scene::new(store);
    let document = scene.server.client().outside("GET", "/openapi.json").send().json();
    let operations = operations(&document);
    assert!(operations.len() > 70, "{}", operations.len());
    let known: BTreeSet<&String> =
        operations.iter().flat_map(|operation| operation.parameters.keys()).collect();
    let before = (scene.dj.snapshot(), scene.operator.snapshot());
    for operation in &operations {
        let Operation { method, path, parameters, .. } = operation;
        let (needed, required) = required(path);
        for (name, value) in parameters {
            let query = format!("{name}={value}");
            let once = if name == needed { query.clone() } else { format!("{required}{query}") };
            // A HEAD has the checks of a GET, and opens no stream.
            let answer = scene.send(operation, "HEAD", &once);
            assert_eq!(answer.status, 200, "{path}?{once}: {answer}");
            scene.send(operation, method, &format!("{query}&{once}")).invalid(&[name]);
        }
        let others: Vec<&str> = known
            .iter()
            .filter(|name| !parameters.contains_key(**name))
            .map(|name| name.as_str())
            .chain(["unknown"])
            .collect();
        let query: Vec<String> = others.iter().map(|name| format!("{name}=1")).collect();
        let query = format!("{required}{}", query.join("&"));
        scene.send(operation, method, &query).invalid(&others);
    }
    assert_eq!((scene.dj.snapshot(), scene.operator.snapshot()), before);
}

fn the_four_fixed_routes_and_provider_messages_ignore_unknown_parameters(store: Store) {
    let server = Server::configured(store, &[("payouts.webhook_secrets", NEW)]);
    let (dj, guest) = (server.dj(), server.payer("100"));
    let request = guest.request_song(&dj);
    let junk = "junk=1&junk=2&status=";
    guest.get(&format!("/user/personal-info?{junk}")).data(200);
    assert_eq!(guest.ids(&format!("/music/user/requests?{junk}&dj_id=&dj_id={}", dj.id), "id"), [request]);
    let answer = json!({"status": "accepted", "user_id": 1, "song_title": 5});
    dj.patch(&format!("/music/requests-update/{request}?{junk}"), &answer).data(200);
    let withdrawal = json!({
        "amount": 1, "wallet_address": "T1", "currency": "USDT", "network": "tron", "status": "completed"
    });
    let answer = guest.call("POST", &format!("/withdrawal/crypto?{junk}")).json(&withdrawal).send();
    assert_eq!(answer.status, 201, "{answer}");
    let body =
        json!({"type": "payout.failed", "data": {"reference": "00000000-0000-0000-0000-000000000001"}});
    Message::new("/providers/payouts?junk=1", &body).send(&server).refused(404, "not_found");
}

fn empty_parameters_are_validated_like_other_values(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let dj = server.dj();
    for (caller, list, name) in [
        (&dj, "/djs", "online"),
        (&dj, "/music/dj/requests", "status"),
        (&dj, "/wallet", "at"),
        (&dj, "/wallet/entries", "kind"),
        (&dj, "/wallet/topups", "status"),
        (&dj, "/withdrawals", "status"),
        (&operator, "/operator/withdrawals", "status"),
        (&operator, "/operator/security-log", "kind"),
    ] {
        caller.get(&format!("{list}?{name}=")).invalid(&[name]);
    }
    // Any text is an address, and nobody has this one; links keep the filter.
    let page = operator.get("/operator/users?email=&page=").data(200);
    assert_eq!((&page["total"], &page["current_page"]), (&json!(0), &json!(1)));
    assert!(page["first_page_url"].as_str().unwrap().ends_with("/operator/users?email=&page=1"));
}

fn invalid_parameters_and_fields_are_reported_together(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let guest = server.payer("10");
    let topup = json!({"amount": "x", "status": "confirmed"});
    guest.post("/wallet/topups?junk=1", &topup).invalid(&["amount", "junk", "status"]);
    let errors = guest.get("/wallet?at=x&junk=1&junk=2").invalid(&["at", "junk"]);
    assert_eq!(errors["junk"], json!(["The junk parameter is unknown."]));
    let errors = guest.get("/withdrawals?page=1&page=2").invalid(&["page"]);
    assert_eq!(errors["page"], json!(["The page parameter may be given only once."]));
    server.client().post("/auth/login?next=x", &json!({"email": 5})).invalid(&["email", "next", "password"]);
    // Errors about the object come first.
    let withdrawal = guest.withdrawal("1");
    operator
        .post(&format!("/operator/withdrawals/{withdrawal}/approve?x=1"), &json!({}))
        .invalid(&["reason", "x"]);
    operator.post("/operator/withdrawals/999999/approve?x=1", &json!({})).refused(404, "not_found");
    guest.get("/withdrawals/999999?x=1").refused(404, "not_found");
    guest.get(&format!("/withdrawals/{withdrawal}?x=1")).invalid(&["x"]);
}

fn topups_and_withdrawals_are_filtered_by_status_and_entries_by_kind(store: Store) {
    let (server, operator) = Server::with_operator(store, &TOPUPS);
    let (guest, other) = (server.guest(), server.guest());
    let confirmed = |person: &Person| {
        let topup = person.topup("50.00");
        Message::topup_of("50.00", "topup.confirmed", &person.topup_reference(topup)).accepted_by(&server);
        topup
    };
    let (paid, _) = (confirmed(&guest), confirmed(&other));
    let waiting = [guest.topup("1.00"), guest.topup("2.00")];
    let (kept, cancelled) = (guest.withdrawal("1.00"), guest.withdrawal("2.00"));
    guest.post(&format!("/withdrawals/{cancelled}/cancel"), &json!({})).data(200);
    for (list, expected) in [
        ("/wallet/topups?status=pending", &[waiting[1], waiting[0]][..]),
        ("/wallet/topups?status=confirmed", &[paid]),
        ("/wallet/topups?status=reversed", &[]),
        ("/withdrawals?status=pending", &[kept]),
        ("/withdrawals?status=cancelled", &[cancelled]),
        ("/withdrawals?status=completed", &[]),
        ("/wallet/entries?kind=topup", &[1]),
        ("/wallet/entries?kind=hold", &[3, 2]),
        ("/wallet/entries?kind=release", &[4]),
        ("/wallet/entries?kind=refund", &[]),
    ] {
        assert_eq!(guest.ids(list, "id"), expected, "{list}");
    }
    let page = guest.get("/wallet/entries?kind=hold&per_page=1").data(200);
    let next = "/wallet/entries?kind=hold&per_page=1&page=2";
    assert!(page["next_page_url"].as_str().unwrap().ends_with(next), "{page}");
    assert_eq!((guest.ids(next, "id"), &page["total"]), (vec![2], &json!(2)));
    for (list, name) in
        [("/wallet/topups", "status"), ("/withdrawals", "status"), ("/wallet/entries", "kind")]
    {
        guest.get(&format!("{list}?{name}=nonsense")).invalid(&[name]);
    }
    assert_eq!(operator.ids("/wallet/topups?status=pending", "id"), [0; 0]);
}

/// Attack API4: the letters that grow most, in the filters of lists.
fn letters_that_grow_are_searched_for_or_refused_by_name_in_every_parameter(store: Store) {
    let scene = Scene::new(store);
    let document = scene.server.client().outside("GET", "/openapi.json").send().json();
    let (mut searched, mut refused, mut wrong) = (0, 0, Vec::new());
    let others = GROWING[1..].concat();
    for operation in operations(&document) {
        let (needed, required) = required(&operation.path);
        for name in operation.parameters.keys() {
            for text in [GROWING[0].repeat(255), others.repeat(51), GROWING[0].repeat(2_000)] {
                let text: String = url::form_urlencoded::byte_serialize(text.as_bytes()).collect();
                let before = if name == needed { "" } else { required };
                let answer = scene.send(&operation, &operation.method, &format!("{before}{name}={text}"));
                match answer.status {
                    200 => searched += 1,
                    422 if answer.json()["errors"].get(name).is_some() => refused += 1,
                    _ => wrong.push((operation.path.clone(), name.clone(), answer.status, answer.text)),
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    // Numbers of pages that are none are the first page.
    assert!(searched > 50 && refused > 50, "{searched} {refused}");
    assert!(!scene.server.log().contains("panicked"));
}
