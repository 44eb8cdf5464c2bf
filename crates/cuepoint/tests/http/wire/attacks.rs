//! Attacks over HTTP: those listed in `docs/attacks.md` and not tested in another file here.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use serde_json::{Value, json};

use crate::harness::{Answer, Message, NEW, PASSWORD, Person, ROUTES, Server, Store, exchange, song};

on_one_store!(
    objects_of_other_users_look_nonexistent,
    tokens_of_different_kinds_are_not_interchangeable,
    injected_code_is_stored_as_plain_text,
    forwarding_and_identity_headers_are_ignored,
    overlong_values_are_refused,
    an_overlong_page_number_is_ignored_and_an_unknown_parameter_refused,
    a_url_in_a_request_is_never_fetched,
    unknown_paths_are_not_found_and_every_route_is_documented,
    errors_reveal_no_internals,
    a_request_in_flight_is_refused_once_its_sender_loses_access,
);

/// A failure without the parts that differ between calls.
fn alike(answer: &Answer) -> Value {
    let mut body = answer.json();
    body.as_object_mut().unwrap().remove("request_id");
    body
}

/// Attack API1: finding out by an id, a filter or the answer's text which objects of others exist.
fn objects_of_other_users_look_nonexistent(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let (guest, dj) = (server.payer("50"), server.dj());
    let (request, withdrawal, topup) = (guest.request_song(&dj), guest.withdrawal("10"), guest.topup("1"));
    // The operator is a stranger on routes that are not for operators.
    for mallory in [server.guest(), server.dj(), operator] {
        for (method, path, id) in [
            ("GET", "/music/requests", request),
            ("GET", "/withdrawals", withdrawal),
            ("GET", "/wallet/topups", topup),
        ] {
            let theirs = mallory.call(method, &format!("{path}/{id}")).send();
            let missing = mallory.call(method, &format!("{path}/999999999")).send();
            theirs.refused(404, "not_found");
            assert_eq!(alike(&theirs), alike(&missing));
        }
        mallory.cancel(request).refused(404, "not_found");
        mallory.answer(request, "played").refused(404, "not_found");
        mallory.call("POST", &format!("/withdrawals/{withdrawal}/cancel")).send().refused(404, "not_found");
        // A filter never widens a list.
        for filter in ["user_id", "requester_id", "id"] {
            mallory.get(&format!("/withdrawals?{filter}={}", guest.id)).invalid(&[filter]);
        }
        let listed = mallory.get(&format!("/music/user/requests?dj_id={}", dj.id)).data(200);
        assert_eq!(listed["total"], 0, "{listed}");
    }
    assert_eq!(guest.wallet(), ("36.00".into(), "15.00".into()));
}

/// Attack API2: a token of one kind used as another one.
fn tokens_of_different_kinds_are_not_interchangeable(store: Store) {
    let server = Server::start(store);
    let (client, guest) = (server.client(), server.guest());
    let refresh = |token: &str| client.post("/auth/refresh", &json!({"refresh_token": token}));
    client.call("GET", "/wallet").bearer(&guest.refresh_token).send().refused(401, "invalid_token");
    refresh(&guest.token).refused(401, "invalid_refresh_token");
    // A token in the address or in a cookie is ignored.
    client
        .call("GET", &format!("/wallet?access_token={}", guest.token))
        .send()
        .refused(401, "unauthenticated");
    let cookie = format!("access_token={0}; token={0}", guest.token);
    client.call("GET", "/wallet").header("cookie", &cookie).send().refused(401, "unauthenticated");
    // Neither counts where a provider's signature is required.
    let call = client.call("POST", "/providers/topups").bearer(&guest.token);
    call.json(&json!({"type": "topup.confirmed", "data": {"id": 1}})).send().refused(401, "unauthenticated");
    // None of these attempts ended a valid session.
    guest.get("/wallet").data(200);
    refresh(&guest.refresh_token).data(200);
}

/// The rows of a list and its counts, without the links, which repeat the query.
fn rows_of(answer: &Answer) -> Value {
    let page = answer.data(200);
    let shown = ["current_page", "data", "from", "last_page", "per_page", "to", "total"];
    shown.into_iter().map(|key| (key.to_owned(), page[key].clone())).collect()
}

/// Attack API8: SQL, markup or control characters in text.
fn injected_code_is_stored_as_plain_text(store: Store) {
    let (server, operator) = Server::with_operator(store, &[("payouts.webhook_secrets", NEW)]);
    let (guest, dj) = (server.payer("100"), server.dj());
    for text in [
        "'; DROP TABLE users; --",
        "' OR '1'='1",
        "1); UPDATE wallets SET available = 1000000; --",
        "$(reboot) `reboot` ${jndi:ldap://127.0.0.1/x}",
        "<script>alert(1)</script>",
        "{{7*7}} %s %n %x \\u0041",
        "../../etc/passwd",
        "=1+1",
        "Robert\u{2019}); --",
    ] {
        let mut body = song(dj.id);
        body["song_title"] = json!(text);
        body["artist_name"] = json!(text);
        let request = guest.post("/music/requests", &body).data(201);
        let shown = guest.get(&format!("/music/requests/{}", request["id"])).data(200);
        assert_eq!((&shown["song_title"], &shown["artist_name"]), (&json!(text), &json!(text)));
        let changed = guest.patch("/user/personal-info", &json!({"name": text, "city": text})).data(200);
        assert_eq!(changed["user"]["name"], text);
        server
            .client()
            .post("/auth/login", &json!({"email": text, "password": text}))
            .refused(401, "invalid_credentials");
        let unknown = "00000000-0000-0000-0000-000000000001";
        Message::payout_as("payout.completed", unknown, text).send(&server).refused(404, "not_found");
        let kept = operator.get("/operator/provider-messages").data(200)["data"][0].clone();
        assert_eq!(kept["txid"], text);
        let path = format!("/operator/provider-messages/{}/resolve", kept["id"]);
        let resolved = operator.post(&path, &json!({"reason": text})).data(200);
        assert_eq!(resolved["provider_message"]["resolution"], text);
        let topup = guest.topup("1");
        let path = format!("/operator/topups/{topup}/chargeback");
        operator.post(&path, &json!({"reason": text})).data(200);
        let events = operator.get(&format!("/operator/security-log?user_id={}", guest.id)).data(200);
        let detail = format!("reverse_topup: top-up {topup} confirmed → reversed: {text}");
        assert_eq!(events["data"][0]["detail"], detail);
    }
    operator.get("/operator/provider-messages?resolved=0'%20OR%201=1").invalid(&["resolved"]);
    let list = |query: &str| guest.get(&format!("/music/user/requests?{query}"));
    for (query, field) in
        [("status='--", "status"), ("status=pending'%20OR%201=1", "status"), ("dj_id=1%20OR%201=1", "dj_id")]
    {
        list(query).invalid(&[field]);
    }
    let plain = rows_of(&list(""));
    assert_eq!(plain["total"], 9);
    // Invalid numbers and unknown filters are ignored.
    for query in ["page=1;DROP%20TABLE%20users", "per_page=1%27", "id=1%20OR%201=1"] {
        assert_eq!(rows_of(&list(query)), plain, "{query}");
    }
    // Text cannot contain characters that end a header or log line.
    for text in ["a\r\nSet-Cookie: x=1", "a\nb", "a\u{0}b", "a\u{1b}[31m", "a\u{85}b"] {
        guest.patch("/user/personal-info", &json!({"name": text})).invalid(&["name"]);
    }
}

/// Attack API8: a forged `Host`, `X-Forwarded-*` or `X-Original-URL`.
fn forwarding_and_identity_headers_are_ignored(store: Store) {
    let server = Server::start(store);
    let (client, guest) = (server.client(), server.guest());
    let call = guest.call("GET", "/wallet/entries");
    let claimed = [
        ("host", "evil.example.com"),
        ("x-forwarded-host", "evil.example.com"),
        ("x-forwarded-proto", "gopher"),
        ("x-original-url", "/api/v1/operator/withdrawals"),
        ("x-rewrite-url", "/api/v1/operator/withdrawals"),
        ("x-http-method-override", "DELETE"),
        ("x-user-id", "1"),
        ("x-role", "operator"),
    ];
    let lying = claimed.iter().fold(call.clone(), |call, (name, value)| call.header(name, value));
    let (lied, plain) = (lying.send(), call.send());
    assert_eq!(lied.data(200), plain.data(200));
    assert!(!lied.text.contains("evil"), "{lied}");
    let claimed = claimed
        .iter()
        .fold(client.call("GET", "/operator/withdrawals"), |call, (name, value)| call.header(name, value));
    claimed.bearer(&guest.token).send().refused(403, "insufficient_scope");
    let host = guest.call("POST", "/wallet/topups").header("host", "evil.example.com");
    let made = host.text(r#"{"amount": 5}"#).send();
    assert!(made.header("location").is_some_and(|location| !location.contains("evil")), "{made}");
}

/// Attack API4: long and deep bodies, long addresses and numbers.
fn overlong_values_are_refused(store: Store) {
    let server = Server::start(store);
    let (client, guest) = (server.client(), server.guest());
    let long = "x".repeat(60_000);
    for (path, body, fields) in [
        (
            "/auth/register",
            json!({"name": long, "email": "a@example.com", "password": PASSWORD}),
            vec!["name"],
        ),
        (
            "/auth/register",
            json!({"name": "A", "email": format!("{long}@example.com"), "password": PASSWORD}),
            vec!["email"],
        ),
        (
            "/auth/register",
            json!({"name": "A", "email": "a@example.com", "password": long}),
            vec!["password"],
        ),
    ] {
        client.post(path, &body).invalid(&fields);
    }
    client.post("/auth/login", &json!({"email": long, "password": "x"})).refused(401, "invalid_credentials");
    client.post("/auth/refresh", &json!({"refresh_token": long})).refused(401, "invalid_refresh_token");
    let many: Vec<String> = (0..9_000).map(|number| format!("\"k{number}\":1")).collect();
    let many = format!("{{{}}}", many.join(","));
    guest.call("PATCH", "/user/personal-info").text(&many).send().refused(413, "payload_too_large");
    let topup = |body: &str| guest.call("POST", "/wallet/topups").text(body).send();
    for body in ["[".repeat(60_000), "{\"a\":".repeat(10_000)] {
        topup(&body).refused(400, "malformed_json");
    }
    topup(&format!("{{\"amount\": {}}}", "9".repeat(60_000))).invalid(&["amount"]);
    guest.get(&format!("/djs/{}", "9".repeat(5_000))).refused(404, "not_found");
    assert_eq!(guest.wallet().0, "0.00");
}

fn an_overlong_page_number_is_ignored_and_an_unknown_parameter_refused(store: Store) {
    let server = Server::start(store);
    let (guest, dj) = (server.guest(), server.dj());
    let plain = rows_of(&guest.get("/djs"));
    assert_eq!(plain["data"][0]["id"], dj.id);
    let query = format!("page={}", "9".repeat(5_000));
    assert_eq!(rows_of(&guest.get(&format!("/djs?{query}"))), plain, "{}", &query[..10]);
    guest.get(&format!("/djs?{}", "a=1&".repeat(2_000))).invalid(&["a"]);
}

/// Attack API7: a URL in a request, to make the service call it.
fn a_url_in_a_request_is_never_fetched(store: Store) {
    let server = Server::start(store);
    let (guest, dj) = (server.payer("50"), server.dj());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let mut body = song(dj.id);
    body["music_url"] = json!(format!("http://{}/song", listener.local_addr().unwrap()));
    for status in ["rejected", "played"] {
        let request = guest.post("/music/requests", &body).data(201)["id"].as_i64().unwrap();
        guest.get(&format!("/music/requests/{request}")).data(200);
        dj.answer(request, status).data(200);
    }
    for url in
        ["file:///etc/passwd", "gopher://127.0.0.1:1/", "ftp://127.0.0.1/x", "javascript:alert(1)", "http://"]
    {
        body["music_url"] = json!(url);
        guest.post("/music/requests", &body).invalid(&["music_url"]);
    }
    // The server finishes its work before it answers, and nothing has connected.
    assert_eq!(listener.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
}

/// Attack API9: hidden paths and earlier versions of the API.
fn unknown_paths_are_not_found_and_every_route_is_documented(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let client = server.client();
    for path in [
        "/api",
        "/api/v0/wallet",
        "/api/v2/wallet",
        "/v1/wallet",
        "/admin",
        "/debug/pprof",
        "/actuator/env",
        "/.env",
        "/.git/config",
        "/api/v1/operator",
        "/api/v1/operator/",
        "/api/v1//wallet",
        "/api/v1/./wallet",
        "/api/v1/wallet/..%2foperator",
        "/server-status",
        "/api/v1/users",
        "/api/v1/users/1",
        "/graphql",
        "/docs/../Cargo.toml",
        "/docs/..%2f..%2fCargo.toml",
    ] {
        let answer = client.outside("GET", path).bearer(&operator.token).send();
        assert_eq!(answer.status, 404, "{path}: {answer}");
    }
    for method in ["TRACE", "CONNECT", "PROPFIND", "BREW"] {
        let host = client.address.strip_prefix("http://").unwrap();
        let request =
            format!("{method} /api/v1/wallet HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        let answer = exchange(&client.address, request.as_bytes());
        let status = answer.split(' ').nth(1).unwrap_or_default();
        assert!(matches!(status, "400" | "404" | "405"), "{method}: {answer}");
        assert!(!answer.contains("Bearer ey"), "{answer}");
    }
    // The document lists every route under the base address and no other.
    let document = client.outside("GET", "/openapi.json").send().json();
    let paths = document["paths"].as_object().unwrap();
    for route in ROUTES.iter() {
        let path = format!("/api/v1{}", route.path);
        let operation = paths.get(&path).and_then(|path| path.get(route.method.to_lowercase()));
        assert!(operation.is_some(), "{} {path} is not in the document", route.method);
    }
}

/// Attack API8: learning internals from the text of an error.
fn errors_reveal_no_internals(store: Store) {
    let server = Server::start(store);
    let (client, guest) = (server.client(), server.guest());
    let answers = [
        guest.call("POST", "/wallet/topups").text("{\"amount\": nope}").send(),
        guest.get("/music/requests/0"),
        guest.get("/withdrawals/9223372036854775807"),
        guest.post(
            "/withdrawal/crypto",
            &json!({"amount": 1, "wallet_address": "a", "currency": "b", "network": "c"}),
        ),
        client.call("GET", "/wallet").bearer("a.b.c").send(),
        client.post("/auth/login", &json!({"email": guest.email, "password": "wrong horse"})),
    ];
    for answer in answers {
        assert!((400..500).contains(&answer.status), "{answer}");
        let text = answer.text.to_lowercase();
        for cause in [
            "panick", "src/", ".rs", "sql", "diesel", "postgres", "select ", "stack", "serde", "biscuit",
            "argon2",
        ] {
            assert!(!text.contains(cause), "{cause}: {answer}");
        }
        for name in ["server", "x-powered-by", "via"] {
            assert!(answer.header(name).is_none(), "{name}: {answer}");
        }
    }
}

/// A call on its own connection, with its head sent and its body withheld.
fn held(server: &Server, person: &Person, path: &str, body: &str) -> TcpStream {
    let address = server.client().address;
    let host = address.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    let head = format!(
        "POST /api/v1{path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n",
        person.token,
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    // The server asks for the body once it has admitted the call.
    let mut interim = [0; 25];
    stream.read_exact(&mut interim).unwrap();
    assert!(interim.starts_with(b"HTTP/1.1 100 "), "{}", String::from_utf8_lossy(&interim));
    stream
}

/// The status of a held call once its body is sent.
fn released(mut stream: TcpStream, body: &str) -> String {
    stream.write_all(body.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.split(' ').nth(1).unwrap_or_default().to_owned()
}

/// Attack API2: a request that is held open until its sender is suspended or demoted.
fn a_request_in_flight_is_refused_once_its_sender_loses_access(store: Store) {
    let (server, chief) = Server::with_operator(store, &[]);
    let reason = json!({"reason": "as agreed"});
    let change_status = |person: &Person, what: &str, body: &Value| {
        chief.post(&format!("/operator/users/{}/{what}", person.id), body).data(200);
    };
    let withdrawal = r#"{"amount": 5, "wallet_address": "a", "currency": "BTC", "network": "b"}"#;

    let guest = server.payer("20");
    let suspended = held(&server, &guest, "/withdrawal/crypto", withdrawal);
    change_status(&guest, "suspend", &reason);
    assert_eq!(released(suspended, withdrawal), "403");

    let guest = server.payer("20");
    let logged_out = held(&server, &guest, "/withdrawal/crypto", withdrawal);
    guest.call("POST", "/auth/logout-everywhere").send().data(200);
    assert_eq!(released(logged_out, withdrawal), "401");
    assert_eq!(server.client().login(&guest.email).wallet(), ("20.00".into(), "0.00".into()));

    let guest = server.guest();
    let change = json!({"current_password": PASSWORD, "password": "another password"}).to_string();
    let logged_out = held(&server, &guest, "/auth/password", &change);
    guest.call("POST", "/auth/logout-everywhere").send().data(200);
    assert_eq!(released(logged_out, &change), "401");
    let guest = server.client().login(&guest.email);

    let deputy = server.guest();
    change_status(&deputy, "role", &json!({"role": "operator", "reason": "as agreed"}));
    let adjustment = format!(r#"{{"user_id": {}, "amount": 1000, "reason": "a gift"}}"#, guest.id);
    let demoted = held(&server, &deputy, "/operator/adjustments", &adjustment);
    change_status(&deputy, "role", &json!({"role": "member", "reason": "as agreed"}));
    assert_eq!(released(demoted, &adjustment), "403");
    assert_eq!(guest.wallet().0, "0.00");
}
