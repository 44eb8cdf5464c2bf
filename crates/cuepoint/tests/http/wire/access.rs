//! Authorization of every route: without a token, as a stranger, and in the wrong role.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::harness::{Answer, Call, Client, Person, ROUTES, Route, Server, Store, object_of};

on_one_store!(
    every_private_route_requires_a_token,
    objects_of_other_users_are_not_found,
    invalid_ids_are_not_found,
    guests_and_djs_cannot_perform_each_others_actions,
    a_refusal_of_an_unsupported_method_lists_the_allowed_methods,
    unknown_routes_are_not_found,
    valid_request_ids_of_clients_are_kept_and_invalid_ones_replaced,
);

/// A call of the route with a valid body and no token.
fn call(client: &Client, route: &Route, id: impl std::fmt::Display, dj: i64) -> Call {
    let call = client.call(route.method, &route.at(id));
    match route.body(dj) {
        Some(body) => call.json(&body),
        None => call,
    }
}

fn every_private_route_requires_a_token(store: Store) {
    let server = Server::start(store);
    let (client, person) = (server.client(), server.dj());
    let before = person.snapshot();
    let token = person.token.as_str();
    let broken: Vec<String> = vec![
        "Bearer".into(),
        "Bearer ".into(),
        "Bearer x".into(),
        "Bearer a.b.c".into(),
        token.into(),
        format!("Basic {token}"),
        format!("Bearer {token}x"),
        format!("Bearer {}", &token[..token.len() - 2]),
        format!("Bearer {token} {token}"),
        format!("Bearer {}", "x".repeat(5_000)),
        format!("Bearer {}", person.refresh_token),
    ];
    for route in ROUTES.iter().filter(|route| route.private) {
        let call = call(&client, route, 1, person.id);
        call.clone().send().refused(401, "unauthenticated");
        for header in &broken {
            call.clone().header("authorization", header).send().refused(401, "invalid_token");
        }
    }
    assert_eq!(person.snapshot(), before);
}

/// A guest's objects, by the path of the routes that show them.
struct Objects {
    guest: Person,
    dj: Person,
    ids: BTreeMap<&'static str, i64>,
}

impl Objects {
    fn new(server: &Server) -> Self {
        let (guest, dj) = (server.payer("100"), server.dj());
        let paths = ROUTES.iter().map(|route| route.path);
        let ids = paths.filter_map(|path| Some((path, object_of(&guest, &dj, path)?))).collect();
        Self { guest, dj, ids }
    }
}

/// Attack API1: reading another user's request, withdrawal, top-up or session by its id.
fn objects_of_other_users_are_not_found(store: Store) {
    let server = Server::start(store);
    let objects = Objects::new(&server);
    let before = (objects.guest.snapshot(), objects.dj.snapshot());
    let strangers = [server.guest(), server.dj()];
    // A DJ's list of blocks is the DJ's own, whatever id is blocked.
    let of_anybody = ["/djs/{id}", "/music/dj/blocks/{id}"];
    for route in ROUTES
        .iter()
        .filter(|route| route.has_id() && !route.is_operators() && !of_anybody.contains(&route.path))
    {
        let id = objects.ids[route.path];
        for stranger in &strangers {
            for id in [id, 999_999_999, i64::MAX] {
                call(&server.client(), route, id, 1).bearer(&stranger.token).send().refused(404, "not_found");
            }
        }
        // A wallet's objects are visible to its owner only, even if the caller has dealt with the owner.
        if !["/music", "/gigs"].iter().any(|of_both| route.path.starts_with(of_both)) {
            call(&server.client(), route, id, 1).bearer(&objects.dj.token).send().refused(404, "not_found");
        }
    }
    objects.guest.get(&format!("/djs/{}", objects.guest.id)).refused(404, "not_found");
    assert_eq!((objects.guest.snapshot(), objects.dj.snapshot()), before);
}

fn invalid_ids_are_not_found(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let dj = server.dj();
    let junk = [
        "0",
        "-1",
        "abc",
        "1.5",
        "9223372036854775808",
        "99999999999999999999999",
        "1e3",
        "%31x",
        "1%00",
        "%20",
    ];
    for route in ROUTES.iter().filter(|route| route.has_id()) {
        let person = if route.is_operators() { &operator } else { &dj };
        for id in junk {
            call(&server.client(), route, id, 1).bearer(&person.token).send().refused(404, "not_found");
        }
    }
}

fn guests_and_djs_cannot_perform_each_others_actions(store: Store) {
    let server = Server::start(store);
    let objects = Objects::new(&server);
    let (guest, dj) = (&objects.guest, &objects.dj);
    let before = (guest.snapshot(), dj.snapshot());
    let request = objects.ids["/music/requests/{id}"];
    guest.answer(request, "accepted").refused(403, "not_your_request");
    dj.cancel(request).refused(403, "not_your_request");
    guest.get("/music/dj/requests").refused(403, "dj_only");
    // The role is checked before the filters.
    guest.get("/music/dj/requests?status=nonsense").refused(403, "dj_only");
    for (field, value) in [("online", 1), ("fee_upcoming_artist", 5), ("fee_popular_song", 5)] {
        guest.patch("/user/personal-info", &json!({"city": "Rome", field: value})).refused(403, "dj_only");
    }
    assert_eq!((guest.snapshot(), dj.snapshot()), before);
    dj.get("/music/dj/requests").data(200);
    guest.patch("/user/personal-info", &json!({"city": "Rome"})).data(200);
}

/// Attack API9: undeclared methods.
fn a_refusal_of_an_unsupported_method_lists_the_allowed_methods(store: Store) {
    let server = Server::start(store);
    let person = server.guest();
    let mut methods: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for route in ROUTES.iter() {
        methods.entry(route.at(1)).or_default().insert(route.method);
    }
    for (path, known) in &methods {
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE"] {
            if known.contains(method) {
                continue;
            }
            for call in [server.client().call(method, path), person.call(method, path)] {
                let answer = call.send();
                answer.refused(405, "method_not_allowed");
                let allow = answer.header("allow").unwrap();
                let named: BTreeSet<&str> = allow.split(',').map(str::trim).collect();
                let named: BTreeSet<&str> = named.difference(&["HEAD", "OPTIONS"].into()).copied().collect();
                assert_eq!(named, *known, "{answer}");
            }
        }
    }
}

fn unknown_routes_are_not_found(store: Store) {
    let server = Server::start(store);
    let person = server.guest();
    for path in [
        "",
        "/",
        "/nothing",
        "/wallet/nothing",
        "/music",
        "/music/requests/1/2",
        "/auth",
        "/Wallet",
        "/withdrawals/1/approve",
        "/../../etc/passwd",
        "/operator",
        "/operator/adjustments/1",
    ] {
        for method in ["GET", "POST"] {
            server.client().call(method, path).send().refused(404, "not_found");
            person.call(method, path).text("{").send().refused(404, "not_found");
        }
    }
    for path in ["//", "/api", "/api/v2/wallet", "/wallets"] {
        server.client().outside("GET", path).send().refused(404, "not_found");
    }
}

fn valid_request_ids_of_clients_are_kept_and_invalid_ones_replaced(store: Store) {
    let server = Server::start(store);
    let person = server.guest();
    let longest = "x".repeat(128);
    let calls: Vec<Call> = ROUTES
        .iter()
        .flat_map(|route| {
            let bare = call(&server.client(), route, 999, 999);
            [bare.clone(), bare.bearer("x"), call(&server.client(), route, 999, 999).bearer(&person.token)]
        })
        .chain([server.client().call("GET", "/nothing"), server.client().call("DELETE", "/wallet")])
        .collect();
    for call in calls {
        for id in ["a", "A-1_b.c", longest.as_str()] {
            let answer = call.clone().header("x-request-id", id).send();
            assert_eq!(answer.header("x-request-id"), Some(id), "{answer}");
            same_in_the_body(&answer);
        }
        let mut made = BTreeSet::new();
        for id in [None, Some(""), Some("a b"), Some("a,b"), Some("<script>"), Some(&*format!("{longest}x"))]
        {
            let call = call.clone();
            let answer = match id {
                Some(id) => call.header("x-request-id", id).send(),
                None => call.send(),
            };
            let got = answer.header("x-request-id").unwrap_or_else(|| panic!("none: {answer}")).to_owned();
            assert_ne!(Some(got.as_str()), id, "{answer}");
            same_in_the_body(&answer);
            assert!(made.insert(got), "twice: {answer}");
        }
    }
}

fn same_in_the_body(answer: &Answer) {
    // A stream is open until its session has ended.
    if answer.header("content-type") == Some("text/event-stream") {
        return;
    }
    let body: Value = answer.json();
    if body["status"] == "error" {
        assert_eq!(body["request_id"].as_str(), answer.header("x-request-id"), "{answer}");
    }
}
