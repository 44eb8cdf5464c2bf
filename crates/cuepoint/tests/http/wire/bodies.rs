//! Bodies and headers as a whole: JSON syntax, size and media type.

use serde_json::json;

use crate::harness::{Person, ROUTES, Route, Server, Store, exchange};

on_one_store!(
    invalid_json_is_refused,
    bodies_are_limited_to_64_kib,
    an_excessive_content_length_is_refused_before_the_body_arrives,
    only_json_bodies_are_accepted,
    requests_that_do_not_accept_json_are_refused,
    idempotency_keys_are_limited_to_255_characters,
    a_cancellation_needs_no_body,
    duplicate_or_unusable_headers_are_refused,
    compressed_bodies_are_refused,
);

/// The maximum body size, in bytes.
const LIMIT: usize = 65_536;

fn invalid_json_is_refused(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let dj = server.dj();
    let before = dj.snapshot();
    let deep = format!(r#"{{"amount": {}1{}}}"#, "[".repeat(30_000), "]".repeat(30_000));
    let broken: [&[u8]; 15] = [
        b"",
        b" ",
        b"{",
        b"}",
        b"{]",
        b"amount=1",
        b"{\"amount\": 1,}",
        b"{'amount': 1}",
        b"{\"amount\": 1} x",
        b"{\"amount\": 1, \"amount\": 1}",
        b"{\"x\": {\"a\": 1, \"a\": 2}}",
        b"{\"amount\": 1, \"x\": \"\xff\"}",
        b"{\"amount\": 1, \"x\": \"\\ud800\"}",
        b"{\"amount\": 1, \"x\": \"\n\"}",
        deep.as_bytes(),
    ];
    let takes = |route: &&Route| route.wants_body() && !route.signed;
    for route in ROUTES.iter().filter(takes) {
        // The body is checked before the object is looked up.
        for body in broken {
            let call = server.client().call(route.method, &route.at(1)).bytes(body);
            let person = if route.is_operators() { &operator } else { &dj };
            let call = if route.private { call.bearer(&person.token) } else { call };
            call.send().refused(400, "malformed_json");
        }
    }
    assert_eq!(dj.snapshot(), before);
}

/// A top-up of 1.00 with a body of this many bytes.
fn topup_of(bytes: usize) -> String {
    let body = |padding: usize| json!({"amount": 1, "padding": "x".repeat(padding)}).to_string();
    let text = body(bytes - body(0).len());
    assert_eq!(text.len(), bytes);
    text
}

fn bodies_are_limited_to_64_kib(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let guest = server.guest();
    let call = |bytes: usize| guest.call("POST", "/wallet/topups").text(&topup_of(bytes));
    call(LIMIT).send().data(201);
    call(LIMIT).chunked().send().data(201);
    call(LIMIT + 1).send().refused(413, "payload_too_large");
    call(LIMIT + 1).chunked().send().refused(413, "payload_too_large");
    assert_eq!(guest.wallet().0, "2.00");
    let large = "x".repeat(LIMIT + 1);
    for route in ROUTES.iter().filter(|route| route.wants_body() && !route.signed) {
        let call = server.client().call(route.method, &route.at(1)).text(&large);
        let person = if route.is_operators() { &operator } else { &guest };
        let call = if route.private { call.bearer(&person.token) } else { call };
        call.send().refused(413, "payload_too_large");
    }
}

fn an_excessive_content_length_is_refused_before_the_body_arrives(store: Store) {
    let server = Server::start(store);
    let guest = server.guest();
    let request = format!(
        "POST /api/v1/wallet/topups HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer {}\r\n\
         Content-Type: application/json\r\nContent-Length: 99999999999\r\n\r\n",
        guest.token
    );
    let answer = exchange(&server.client().address, request.as_bytes());
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    assert!(answer.contains("\"payload_too_large\""), "{answer}");
}

fn only_json_bodies_are_accepted(store: Store) {
    let server = Server::start(store);
    let guest = server.guest();
    let call = || guest.call("POST", "/wallet/topups").text(r#"{"amount": 1}"#);
    for kind in
        ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "text/json", "json", ""]
    {
        call().header("content-type", kind).send().refused(415, "unsupported_media_type");
    }
    call().without("content-type").send().refused(415, "unsupported_media_type");
    assert_eq!(guest.wallet().0, "0.00");
    for kind in ["application/json", "application/json; charset=utf-8", "Application/JSON;charset=UTF-8"] {
        call().header("content-type", kind).send().data(201);
    }
}

fn requests_that_do_not_accept_json_are_refused(store: Store) {
    let server = Server::start(store);
    let guest = server.guest();
    let topup = || guest.call("POST", "/wallet/topups").text(r#"{"amount": 1}"#);
    for accept in
        ["text/html", "application/json;q=0", "application/xml", "text/*", "image/png, text/html;q=0.5"]
    {
        topup().header("accept", accept).send().refused(406, "not_acceptable");
        guest.call("GET", "/wallet").header("accept", accept).send().refused(406, "not_acceptable");
    }
    assert_eq!(guest.wallet().0, "0.00");
    for accept in [
        "application/json",
        "*/*",
        "application/*",
        "text/html, application/json;q=0.1",
        "text/html,*/*;q=0.8",
    ] {
        guest.call("GET", "/wallet").header("accept", accept).send().data(200);
    }
    guest.call("GET", "/wallet").without("accept").send().data(200);
}

fn idempotency_keys_are_limited_to_255_characters(store: Store) {
    let server = Server::start(store);
    let guest = server.guest();
    let topup = |key: &str| guest.call("POST", "/wallet/topups").key(key).text(r#"{"amount": 1}"#).send();
    topup(&"x".repeat(256)).refused(400, "bad_request");
    topup(&"x".repeat(5_000)).refused(400, "bad_request");
    assert_eq!(guest.wallet().0, "0.00");
    topup(&"x".repeat(255)).data(201);
    topup(&"x".repeat(255)).data(201);
    assert_eq!(guest.wallet().0, "1.00");
}

fn a_cancellation_needs_no_body(store: Store) {
    let server = Server::start(store);
    let (dj, guest) = (server.dj(), server.payer("100"));
    let withdrawal =
        |person: &Person| person.withdraw("1").json()["data"]["withdrawal_request"]["id"].as_i64().unwrap();
    let request = || format!("/music/requests/{}/cancel", guest.request_song(&dj));
    let withdrawn = || format!("/withdrawals/{}/cancel", withdrawal(&guest));
    for path in [request(), withdrawn()] {
        assert_eq!(guest.call("POST", &path).send().data(200)["status"], "cancelled");
    }
    for path in [request(), withdrawn()] {
        assert_eq!(guest.call("POST", &path).text("{}").send().data(200)["status"], "cancelled");
    }
    for path in [request(), withdrawn()] {
        guest.call("POST", &path).text("{").send().refused(400, "malformed_json");
        guest.call("POST", &path).text("[]").send().refused(422, "validation_failed");
        assert_eq!(
            guest.call("POST", &path).text(r#"{"nonsense": 1}"#).send().data(200)["status"],
            "cancelled"
        );
    }
    assert_eq!(guest.wallet(), ("100.00".into(), "0.00".into()));
}

fn duplicate_or_unusable_headers_are_refused(store: Store) {
    let server = Server::start(store);
    let guest = server.guest();
    let send = |headers: &str| {
        let request = format!(
            "POST /api/v1/wallet/topups HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 12\r\n\
             Authorization: Bearer {}\r\n{headers}\r\n{{\"amount\":1}}",
            guest.token
        );
        exchange(&server.client().address, request.as_bytes())
    };
    let json = "Content-Type: application/json\r\n";
    for (headers, status, code) in [
        (format!("{json}Authorization: Bearer {}\r\n", guest.token), 401, "invalid_token"),
        (format!("{json}Idempotency-Key: a\r\nIdempotency-Key: b\r\n"), 400, "bad_request"),
        (format!("{json}Idempotency-Key: \r\n"), 400, "bad_request"),
        (format!("{json}Idempotency-Key: \u{e9}\r\n"), 400, "bad_request"),
        (format!("{json}Content-Type: text/plain\r\n"), 415, "unsupported_media_type"),
    ] {
        let answer = send(&headers);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{headers}: {answer}");
        assert!(answer.contains(&format!("\"code\":\"{code}\"")), "{headers}: {answer}");
    }
    assert_eq!(guest.wallet().0, "0.00");
    assert!(send(json).starts_with("HTTP/1.1 201 "));
}

fn compressed_bodies_are_refused(store: Store) {
    let server = Server::start(store);
    let guest = server.guest();
    for coding in ["gzip", "br", "deflate", "zstd"] {
        let call = guest.call("POST", "/wallet/topups").text(r#"{"amount": 1}"#);
        call.header("content-encoding", coding).send().refused(415, "unsupported_media_type");
    }
    assert_eq!(guest.wallet().0, "0.00");
}
