//! Rate limits. Quotas are so small that none is restored during a test.

use serde_json::json;

use crate::harness::{Answer, Call, Client, PASSWORD, Person, Server, Store, at_once, song};

on_one_store!(failed_logins_of_a_user_do_not_lock_out_recognised_networks);

fn from(call: Call, address: &str) -> Call {
    call.header("x-forwarded-for", address)
}

fn login(client: &Client, address: &str, email: &str, password: &str) -> Answer {
    from(client.call("POST", "/auth/login").json(&json!({"email": email, "password": password})), address)
        .send()
}

fn register(client: &Client, address: &str, email: &str, password: &str) -> Answer {
    let body = json!({"name": "Ada", "email": email, "password": password});
    from(client.call("POST", "/auth/register").json(&body), address).send()
}

/// A server with rate limits that affect only failed logins.
const FAILING: [(&str, &str); 3] = [
    ("rate_limits.enabled", "true"),
    ("rate_limits.login_per_minute", "1000"),
    ("server.trusted_proxies", "127.0.0.1"),
];

fn failing(store: Store, keys: &[(&str, &str)]) -> Server {
    Server::configured(store, &[&FAILING[..], keys].concat())
}

/// The quota headers of an answer.
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

/// Attack API2: using up the owner's attempts at the password.
#[test]
fn sessions_of_one_user_have_separate_guess_quotas() {
    let keys = [("rate_limits.guess_per_minute", "3"), ("rate_limits.default_per_minute", "20")];
    let server = Server::configured(Store::Memory, &[&[("rate_limits.enabled", "true")], &keys[..]].concat());
    let stolen = server.guest();
    let use_up = |method: &str, path: &str| {
        let refused = (0..30).any(|_| stolen.call(method, path).send().status == 429);
        assert!(refused, "{method} {path} has a quota");
    };
    use_up("HEAD", "/user/export");
    let owner = server.client().login(&stolen.email);
    // A right one would end the other session.
    let wrong = json!({"current_password": "wrong", "password": "battery staple"});
    stolen.post("/auth/password", &wrong).refused(429, "rate_limited");
    owner.post("/auth/password", &wrong).invalid(&["current_password"]);
    use_up("GET", "/wallet");
    owner.post("/auth/logout-everywhere", &json!({})).data(200);
    assert_eq!(stolen.get("/wallet").status, 401);
}

#[test]
fn each_user_has_one_quota_across_all_ip_addresses() {
    let server = Server::counting(&[("rate_limits.default_per_minute", "3")]);
    let (ada, eve) = (server.guest(), server.guest());
    let wallet = |address: &str| from(ada.call("GET", "/wallet"), address).send();
    for (address, left) in [("192.0.2.1", "2"), ("192.0.2.2", "1"), ("192.0.2.3", "0")] {
        let answer = wallet(address);
        answer.data(200);
        assert_eq!(quota(&answer), ("3", left), "{answer}");
    }
    limited(&wallet("192.0.2.4"), "3");
    // An error counts like a success and carries the same headers, even for an object invisible to the
    // caller.
    let missing = eve.get("/withdrawals/999");
    missing.refused(404, "not_found");
    assert_eq!(quota(&missing), ("3", "2"));
    limited(&ada.get("/withdrawals/999"), "3");
}

/// Attack API4: too many requests or withdrawals.
#[test]
fn requests_and_withdrawals_have_separate_quotas() {
    let server = Server::counting(&[
        ("rate_limits.requests_per_minute", "2"),
        ("rate_limits.withdrawals_per_minute", "1"),
        ("rate_limits.default_per_minute", "50"),
    ]);
    let (dj, guest) = (server.dj(), server.payer("100"));
    assert_eq!(guest.withdraw("10").status, 201);
    limited(&guest.withdraw("10"), "1");
    guest.request_song(&dj);
    guest.request_song(&dj);
    limited(&guest.post("/music/requests", &song(dj.id)), "2");
    // One withdrawal and two requests are held, and all other calls are still admitted.
    assert_eq!(guest.wallet(), ("80.00".into(), "20.00".into()));
    assert_eq!(guest.get("/music/user/requests").data(200)["total"], 2);
}

#[test]
fn logins_from_one_network_are_limited_across_all_users() {
    let server = Server::counting(&[("rate_limits.login_per_minute", "2")]);
    let (client, ada) = (server.client(), server.guest());
    let wrong = |address: &str, number: usize| {
        let email = format!("nobody-{number}@example.com");
        login(&client, address, &email, PASSWORD).refused(401, "invalid_credentials");
    };
    wrong("192.0.2.1", 1);
    wrong("192.0.2.1", 2);
    limited(&login(&client, "192.0.2.1", &ada.email, PASSWORD), "2");
    // For IPv6 the network counts, which one client has to itself.
    wrong("2001:db8:0:1::1", 1);
    wrong("2001:db8:0:1::2", 2);
    limited(&login(&client, "2001:db8:0:1:ffff::3", &ada.email, PASSWORD), "2");
    login(&client, "2001:db8:0:2::1", &ada.email, PASSWORD).data(200);
}

/// Attack API4: using up the logins, registrations and resets of a venue by bodies that are invalid.
#[test]
fn invalid_bodies_count_as_reads_and_use_up_no_attempt_of_their_address() {
    let server = Server::counting(&[
        ("rate_limits.login_per_minute", "1"),
        ("rate_limits.registrations_per_minute", "1"),
        ("rate_limits.guests_per_minute", "1"),
        ("rate_limits.nearby_per_minute", "1"),
    ]);
    let client = server.client();
    for path in [
        "/auth/login",
        "/auth/register",
        "/auth/guest",
        "/auth/password/forgot",
        "/auth/password/reset",
        "/auth/email/restore",
    ] {
        for body in ["{", "[]", r#"{"email": 5, "name": 5}"#] {
            let refused = from(client.call("POST", path).text(body), "192.0.2.1").send();
            assert!(matches!(refused.status, 400 | 422), "{path} {body}: {refused}");
            assert_eq!(refused.header("x-ratelimit-resource"), Some("public_per_minute"), "{path} {refused}");
        }
    }
    for _ in 0..3 {
        let nearby = from(client.call("GET", "/boards?near=x"), "192.0.2.1").send();
        nearby.refused(422, "validation_failed");
    }
    from(client.call("GET", "/boards?near=1,1"), "192.0.2.1").send().data(200);
    register(&client, "192.0.2.1", "ada@example.com", PASSWORD).data(201);
    login(&client, "192.0.2.1", "ada@example.com", PASSWORD).data(200);
    from(client.call("POST", "/auth/guest").json(&json!({})), "192.0.2.1").send().data(201);
    limited(&register(&client, "192.0.2.1", "bob@example.com", PASSWORD), "1");
}

/// Attack API4: using up the logins of a venue, the DJ's among them.
#[test]
fn the_limits_of_an_address_do_not_stop_its_known_accounts() {
    for key in ["rate_limits.login_per_minute", "rate_limits.failed_logins_per_address"] {
        let server = Server::counting(&[(key, "3"), ("rate_limits.failed_logins_per_minute", "2")]);
        let client = server.client();
        register(&client, "192.0.2.1", "dj@example.com", PASSWORD).data(201);
        register(&client, "192.0.2.2", "eve@example.com", PASSWORD).data(201);
        for number in 0..3 {
            let email = format!("nobody-{number}@example.com");
            login(&client, "192.0.2.1", &email, "wrong").refused(401, "invalid_credentials");
        }
        for email in ["nobody@example.com", "eve@example.com"] {
            limited(&login(&client, "192.0.2.1", email, PASSWORD), "3");
        }
        login(&client, "192.0.2.1", "dj@example.com", PASSWORD).data(200);
        // The limit of failed logins to one account from one address stays.
        for _ in 0..2 {
            login(&client, "192.0.2.1", "dj@example.com", "wrong").refused(401, "invalid_credentials");
        }
        limited(&login(&client, "192.0.2.1", "dj@example.com", PASSWORD), "2");
        // A guest can still claim an account.
        let guest = from(client.call("POST", "/auth/guest").json(&json!({})), "192.0.2.1").send().data(201);
        let claim = json!({"email": "mia@example.com", "password": PASSWORD});
        let claim = from(client.call("POST", "/auth/claim").json(&claim), "192.0.2.1");
        claim.bearer(guest["access_token"].as_str().unwrap()).send().data(200);
    }
}

/// Attack API2: locking a user out by failed logins from one network.
#[test]
fn failed_logins_lock_out_only_their_network() {
    let server = failing(Store::Memory, &[("rate_limits.failed_logins_per_minute", "2")]);
    let client = server.client();
    let ada = server.guest().email;
    let spellings = [ada.clone(), ada.to_uppercase(), format!(" {ada} ")];
    let nobody = ["nobody@example.com", "NoBody@example.com", "nobody@EXAMPLE.com"].map(str::to_owned);
    let mut refusals = Vec::new();
    for (network, [first, second, third]) in [("1", spellings), ("2", nobody)] {
        let at = |host: &str| format!("2001:db8:0:{network}::{host}");
        login(&client, &at("1"), &first, "wrong").refused(401, "invalid_credentials");
        login(&client, &at("2"), &second, "wrong").refused(401, "invalid_credentials");
        // Here even the right password has to wait, and the answer does not reveal whether the user
        // exists.
        let refused = login(&client, &at("3"), &third, PASSWORD);
        limited(&refused, "2");
        let mut body = refused.json();
        body["request_id"].take();
        refusals.push(body);
        // Logins of another user are admitted.
        login(&client, &at("4"), &server.guest().email, PASSWORD).data(200);
    }
    assert_eq!(refusals[0], refusals[1]);
    for host in 1..4 {
        login(&client, &format!("192.0.2.{host}"), &ada, PASSWORD).data(200);
    }
}

/// Attack API2: locking a user out by failed logins from many networks.
fn failed_logins_of_a_user_do_not_lock_out_recognised_networks(store: Store) {
    let server = failing(store, &[("rate_limits.failed_logins_per_hour", "3")]);
    let client = server.client();
    let ada = register(&client, "192.0.2.1", "ada@example.com", PASSWORD).data(201);
    let phone = login(&client, "2001:db8:0:1::1", "ada@example.com", PASSWORD).data(200);
    let body = json!({"refresh_token": phone["refresh_token"]});
    from(client.call("POST", "/auth/refresh").json(&body), "198.51.100.1").send().data(200);
    register(&client, "192.0.2.2", "eve@example.com", PASSWORD).data(201);
    let mut refusals = Vec::new();
    for email in ["ada@example.com", "nobody@example.com"] {
        for host in 1..4 {
            login(&client, &format!("203.0.113.{host}"), email, "wrong").refused(401, "invalid_credentials");
        }
        for address in ["203.0.113.4", "203.0.113.1", "192.0.2.2"] {
            let refused = login(&client, address, email, PASSWORD);
            refused.refused(429, "rate_limited");
            assert_eq!(quota(&refused), ("3", "0"), "{refused}");
            // A third of an hour.
            let seconds: u32 = refused.header("retry-after").unwrap().parse().unwrap();
            assert!((1_100..=1_200).contains(&seconds), "{refused}");
            let mut body = refused.json();
            body["request_id"].take();
            refusals.push(body);
        }
    }
    assert!(refusals.iter().all(|refusal| *refusal == refusals[0]), "{refusals:?}");
    // The networks of her registration, login and refresh, and any other address in them.
    for address in ["192.0.2.1", "2001:db8:0:1:ffff::2", "198.51.100.1"] {
        let data = login(&client, address, "ada@example.com", PASSWORD).data(200);
        assert_eq!(data["user"]["id"], ada["user"]["id"]);
        login(&client, address, "ada@example.com", "wrong").refused(401, "invalid_credentials");
    }
    // An unused address can still be registered from a network without failed attempts on it.
    register(&client, "192.0.2.9", "nobody@example.com", PASSWORD).data(201);
}

#[test]
fn correct_passwords_do_not_count_as_failed_logins() {
    let keys = [("rate_limits.failed_logins_per_minute", "1"), ("rate_limits.failed_logins_per_hour", "1")];
    let (server, operator) = Server::with_operator(Store::Memory, &[&FAILING[..], &keys].concat());
    let client = server.client();
    let ada = server.guest();
    for _ in 0..3 {
        login(&client, "192.0.2.1", &ada.email, PASSWORD).data(200);
    }
    let suspend = format!("/operator/users/{}/suspend", ada.id);
    operator.post(&suspend, &json!({"reason": "x"})).data(200);
    for _ in 0..3 {
        login(&client, "192.0.2.1", &ada.email, PASSWORD).refused(403, "account_suspended");
    }
    login(&client, "192.0.2.1", &ada.email, "wrong").refused(401, "invalid_credentials");
    limited(&login(&client, "192.0.2.1", &ada.email, PASSWORD), "1");
}

/// Attack API2: many concurrent guesses at a password.
#[test]
fn concurrent_guesses_cannot_exceed_the_quota() {
    let keys = [("rate_limits.failed_logins_per_minute", "4"), ("rate_limits.failed_logins_per_hour", "6")];
    let server = failing(Store::Memory, &keys);
    let ada = server.guest().email;
    let guess = |address: String| {
        let body = json!({"email": ada, "password": "wrong"});
        from(server.client().call("POST", "/auth/login").json(&body), &address)
    };
    let statuses = |calls: Vec<Call>| {
        let answers = at_once(calls);
        let looked_at = answers.iter().filter(|answer| answer.status == 401).count();
        let refused = answers.iter().filter(|answer| answer.status == 429).count();
        assert_eq!(looked_at + refused, answers.len(), "{answers:?}");
        looked_at
    };
    assert_eq!(statuses((0..12).map(|_| guess("192.0.2.1".to_owned())).collect()), 4);
    assert_eq!(statuses((2..14).map(|host| guess(format!("192.0.2.{host}"))).collect()), 2);
}

/// Attack API2: guessing passwords through registrations.
#[test]
fn registrations_are_limited_and_count_as_failed_logins_if_the_email_is_taken() {
    let server = Server::counting(&[("rate_limits.registrations_per_minute", "2")]);
    let client = server.client();
    register(&client, "192.0.2.1", "ada@example.com", PASSWORD).data(201);
    register(&client, "192.0.2.1", "bob@example.com", PASSWORD).data(201);
    limited(&register(&client, "192.0.2.1", "cyd@example.com", PASSWORD), "2");
    register(&client, "192.0.2.2", "cyd@example.com", PASSWORD).data(201);
    login(&client, "192.0.2.1", "ada@example.com", PASSWORD).data(200);

    let server = failing(Store::Memory, &[("rate_limits.failed_logins_per_minute", "2")]);
    let client = server.client();
    register(&client, "192.0.2.1", "ada@example.com", PASSWORD).data(201);
    for _ in 0..2 {
        register(&client, "192.0.2.2", "ada@example.com", "wrong horse").invalid(&["email"]);
    }
    limited(&register(&client, "192.0.2.2", "ada@example.com", PASSWORD), "2");
    limited(&login(&client, "192.0.2.2", "ada@example.com", PASSWORD), "2");
    login(&client, "192.0.2.3", "ada@example.com", PASSWORD).data(200);
}

/// Attack API4: using up the claims of an address with claims that are refused.
#[test]
fn claims_count_in_a_quota_of_their_own_unless_failed_logins_refuse_them() {
    let server = Server::counting(&[
        ("rate_limits.registrations_per_minute", "3"),
        ("rate_limits.failed_logins_per_minute", "1"),
    ]);
    let taken = server.guest().email;
    let claim = |guest: &Person, email: &str| {
        let body = json!({"email": email, "password": PASSWORD});
        from(guest.call("POST", "/auth/claim").json(&body), "192.0.2.1").send()
    };
    let [one, other] = [server.guest_account(), server.guest_account()];
    claim(&one, &taken).invalid(&["email"]);
    for _ in 0..3 {
        limited(&claim(&one, &taken), "1");
    }
    let claimed = claim(&other, "mia@example.com");
    claimed.data(200);
    assert_eq!(claimed.header("x-ratelimit-resource"), Some("registrations_per_minute"), "{claimed}");
    assert_eq!(quota(&claimed), ("3", "1"), "{claimed}");
}

/// Attack API4: using up the registrations and claims of an address with passwords that are refused in any case.
#[test]
fn registrations_and_claims_with_a_breached_password_count_as_reads() {
    let server = Server::counting(&[
        ("rate_limits.registrations_per_minute", "1"),
        ("auth.breached_passwords", "refuse"),
    ]);
    let guest = server.guest_account();
    let claim = |email: &str, password: &str| {
        let body = json!({"email": email, "password": password});
        from(guest.call("POST", "/auth/claim").json(&body), "192.0.2.1").send()
    };
    let register = |email: &str, password: &str| {
        let body = json!({"name": "Mia", "email": email, "password": password});
        from(server.client().call("POST", "/auth/register").json(&body), "192.0.2.1").send()
    };
    for _ in 0..20 {
        claim("mia@example.com", "password123").invalid(&["password"]);
        register("max@example.com", "password123").invalid(&["password"]);
    }
    claim("mia@example.com", PASSWORD).data(200);
    register("max@example.com", PASSWORD).data(201);
}

/// Attack API2: guessing access tokens.
#[test]
fn calls_without_a_valid_token_are_counted_per_ip_address() {
    let server = Server::counting(&[("rate_limits.default_per_minute", "3")]);
    let (client, guest) = (server.client(), server.guest());
    let call = |token: Option<&str>| {
        let call = from(client.call("GET", "/wallet"), "192.0.2.1");
        token.map_or(call.clone(), |token| call.bearer(token)).send()
    };
    call(Some("broken")).refused(401, "invalid_token");
    call(None).refused(401, "unauthenticated");
    (0..28).for_each(|_| drop(call(Some("broken")).refused(401, "invalid_token")));
    limited(&call(Some("broken")), "30");
    limited(&call(None), "30");
    // Token holders at the same address are unaffected, and so is the quota of the address by a genuine token that is
    // not accepted.
    let operators = || from(guest.call("GET", "/operator/audit"), "192.0.2.1").send();
    (0..3).for_each(|_| drop(operators().refused(403, "insufficient_scope")));
    limited(&operators(), "3");
    call(Some(&guest.token)).data(200);
}

/// The tokens of a venue's guests expire and end behind one address: each guest learns it, so that their apps refresh
/// or log in.
#[test]
fn calls_of_ended_sessions_are_counted_per_session() {
    let server = Server::counting(&[
        ("rate_limits.default_per_minute", "3"),
        ("rate_limits.registrations_per_minute", "100"),
    ]);
    let client = server.client();
    for _ in 0..5 {
        let guest = server.guest();
        let logout = json!({"refresh_token": guest.refresh_token});
        from(client.call("POST", "/auth/logout").json(&logout), &format!("192.0.2.{}", guest.id))
            .send()
            .data(200);
        let wallet = || from(guest.call("GET", "/wallet"), "192.0.2.1").send();
        (0..3).for_each(|_| drop(wallet().refused(401, "session_ended")));
        limited(&wallet(), "3");
    }
}

#[test]
fn logouts_are_counted_per_ip_address() {
    let server = Server::counting(&[("rate_limits.default_per_minute", "2")]);
    let logout =
        |address: &str| from(server.client().call("POST", "/auth/logout").json(&json!({})), address).send();
    (0..20).for_each(|_| drop(logout("192.0.2.1").refused(422, "validation_failed")));
    limited(&logout("192.0.2.1"), "20");
    logout("192.0.2.2").refused(422, "validation_failed");
}

#[test]
fn health_checks_metrics_and_documentation_are_not_rate_limited() {
    let server =
        Server::counting(&[("rate_limits.default_per_minute", "1"), ("rate_limits.login_per_minute", "1")]);
    for path in ["/health/live", "/health/ready", "/metrics", "/openapi.json", "/docs/"] {
        for _ in 0..3 {
            let answer = server.client().outside("GET", path).send();
            assert_eq!(answer.status, 200, "{answer}");
            assert_eq!(answer.header("x-ratelimit-limit"), None, "{answer}");
        }
    }
}

#[test]
fn disabled_rate_limits_count_nothing() {
    let server = Server::configured(Store::Memory, &[("rate_limits.default_per_minute", "1")]);
    let guest = server.guest();
    for _ in 0..3 {
        let answer = guest.get("/wallet");
        answer.data(200);
        assert_eq!(answer.header("x-ratelimit-limit"), None, "{answer}");
    }
}
