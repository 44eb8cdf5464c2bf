//! How often who may call. Quotas are so small that none comes back while a test runs.

use serde_json::json;

use crate::harness::{Answer, Call, Client, PASSWORD, Server, Store, song};

/// A server that counts, and to which each call may come from an address of its own.
fn counting(keys: &[(&str, &str)]) -> Server {
    let counting = [("rate_limits.enabled", "true"), ("server.trusted_proxies", "127.0.0.1")];
    Server::configured(Store::Memory, &[&counting[..], keys].concat())
}

fn from(call: Call, address: &str) -> Call {
    call.header("x-forwarded-for", address)
}

fn login(client: &Client, address: &str, email: &str, password: &str) -> Answer {
    from(client.call("POST", "/auth/login").json(&json!({"email": email, "password": password})), address)
        .send()
}

/// What an answer says of its quota.
fn quota(answer: &Answer) -> (&str, &str) {
    let header = |name| answer.header(name).unwrap_or_else(|| panic!("no {name}: {answer}"));
    (header("x-ratelimit-limit"), header("x-ratelimit-remaining"))
}

#[track_caller]
fn limited(answer: &Answer, limit: &str) {
    answer.refused(429, "rate_limited");
    assert_eq!(quota(answer), (limit, "0"), "{answer}");
    let seconds: u32 = answer.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=60).contains(&seconds), "{answer}");
}

#[test]
fn a_caller_s_calls_count_wherever_they_come_from_and_nobody_else_s_with_them() {
    let server = counting(&[("rate_limits.default_per_minute", "3")]);
    let (ada, eve) = (server.guest(), server.guest());
    let wallet = |address: &str| from(ada.call("GET", "/wallet"), address).send();
    for (address, left) in [("192.0.2.1", "2"), ("192.0.2.2", "1"), ("192.0.2.3", "0")] {
        let answer = wallet(address);
        answer.data(200);
        assert_eq!(quota(&answer), ("3", left), "{answer}");
    }
    limited(&wallet("192.0.2.4"), "3");
    // An error counts like a success and says as much, also where the object is none of the caller's business.
    let missing = eve.get("/withdrawals/999");
    missing.refused(404, "not_found");
    assert_eq!(quota(&missing), ("3", "2"));
    limited(&ada.get("/withdrawals/999"), "3");
}

#[test]
fn requests_and_withdrawals_have_quotas_of_their_own_and_a_refused_call_does_nothing() {
    let server = counting(&[
        ("rate_limits.requests_per_minute", "2"),
        ("rate_limits.withdrawals_per_minute", "1"),
        ("rate_limits.default_per_minute", "50"),
    ]);
    let (dj, guest) = (server.dj(), server.payer("100"));
    assert_eq!(guest.withdraw("10").status, 201);
    limited(&guest.withdraw("10"), "1");
    guest.ask(&dj);
    guest.post("/music/requests", &json!({})).refused(422, "validation_failed");
    limited(&guest.post("/music/requests", &song(dj.id)), "2");
    // One withdrawal and one request are held, and everything else can still be called.
    assert_eq!(guest.wallet(), ("85.00".into(), "15.00".into()));
    assert_eq!(guest.get("/music/user/requests").data(200)["total"], 1);
}

#[test]
fn logins_count_for_their_address_whatever_they_name() {
    let server = counting(&[("rate_limits.login_per_minute", "2")]);
    let (client, ada) = (server.client(), server.guest());
    login(&client, "192.0.2.1", "nobody@example.com", PASSWORD).refused(401, "invalid_credentials");
    from(client.call("POST", "/auth/login").text("{"), "192.0.2.1").send().refused(400, "malformed_json");
    limited(&login(&client, "192.0.2.1", &ada.email, PASSWORD), "2");
    // Of IPv6 it is the network that counts, which one client has to itself.
    for address in ["2001:db8:0:1::1", "2001:db8:0:1::2"] {
        from(client.call("POST", "/auth/login").text("{"), address).send().refused(400, "malformed_json");
    }
    limited(&login(&client, "2001:db8:0:1:ffff::3", &ada.email, PASSWORD), "2");
    login(&client, "2001:db8:0:2::1", &ada.email, PASSWORD).data(200);
}

#[test]
fn logins_count_for_the_account_that_they_name_whether_or_not_there_is_one() {
    let server = counting(&[("rate_limits.login_per_minute", "2")]);
    let client = server.client();
    let ada = server.guest().email;
    let spellings = [ada.clone(), ada.to_uppercase(), format!(" {ada} ")];
    let nobody = ["nobody@example.com", "NoBody@example.com", "nobody@EXAMPLE.com"].map(str::to_owned);
    let mut refusals = Vec::new();
    for (host, [first, second, third]) in [(1, spellings), (2, nobody)] {
        login(&client, &format!("192.0.2.{host}"), &first, "wrong").refused(401, "invalid_credentials");
        login(&client, &format!("198.51.100.{host}"), &second, "wrong").refused(401, "invalid_credentials");
        // Even who knows the password has to wait, from anywhere.
        let refused = login(&client, &format!("203.0.113.{host}"), &third, PASSWORD);
        limited(&refused, "2");
        let mut body = refused.json();
        body["request_id"].take();
        refusals.push(body);
    }
    assert_eq!(refusals[0], refusals[1]);
    login(&client, "192.0.2.3", &server.guest().email, PASSWORD).data(200);
}

#[test]
fn tokens_cannot_be_tried_without_end() {
    let server = counting(&[("rate_limits.default_per_minute", "3")]);
    let (client, guest) = (server.client(), server.guest());
    let call = |token: Option<&str>| {
        let call = from(client.call("GET", "/wallet"), "192.0.2.1");
        token.map_or(call.clone(), |token| call.bearer(token)).send()
    };
    call(Some("broken")).refused(401, "invalid_token");
    call(None).refused(401, "unauthenticated");
    // Who is no operator is known, and has no business there either.
    let operators = from(guest.call("GET", "/operator/audit"), "192.0.2.1").send();
    operators.refused(403, "insufficient_scope");
    limited(&call(Some("broken")), "3");
    limited(&call(None), "3");
    limited(&from(guest.call("GET", "/operator/audit"), "192.0.2.1").send(), "3");
    // Whoever shares the address and has a token does not suffer.
    call(Some(&guest.token)).data(200);
}

#[test]
fn what_has_no_token_counts_for_its_address() {
    let server = counting(&[("rate_limits.default_per_minute", "2")]);
    let refresh = |address: &str| {
        let body = json!({"refresh_token": "x"});
        from(server.client().call("POST", "/auth/refresh").json(&body), address).send()
    };
    refresh("192.0.2.1").refused(401, "invalid_token");
    let register = from(server.client().call("POST", "/auth/register").json(&json!({})), "192.0.2.1").send();
    register.refused(422, "validation_failed");
    limited(&refresh("192.0.2.1"), "2");
    refresh("192.0.2.2").refused(401, "invalid_token");
}

#[test]
fn health_and_documentation_are_not_counted() {
    let server = counting(&[("rate_limits.default_per_minute", "1"), ("rate_limits.login_per_minute", "1")]);
    for path in ["/health/live", "/health/ready", "/metrics", "/openapi.json", "/docs/"] {
        for _ in 0..3 {
            let answer = server.client().outside("GET", path).send();
            assert_eq!(answer.status, 200, "{answer}");
            assert_eq!(answer.header("x-ratelimit-limit"), None, "{answer}");
        }
    }
}

#[test]
fn nothing_is_counted_where_that_is_switched_off() {
    let server = Server::configured(Store::Memory, &[("rate_limits.default_per_minute", "1")]);
    let guest = server.guest();
    for _ in 0..3 {
        let answer = guest.get("/wallet");
        answer.data(200);
        assert_eq!(answer.header("x-ratelimit-limit"), None, "{answer}");
    }
}
