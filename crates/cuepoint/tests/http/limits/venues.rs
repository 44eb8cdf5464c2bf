//! Many clients behind one address, and many addresses of one client: what counts for an address, a network, a
//! session or a user, and how an answer names its quota. Quotas are so small that none is restored during a
//! test, except those of a minute that the test does not use up.

use std::thread::available_parallelism;

use serde_json::{Value, json};

use crate::harness::{Answer, Call, Client, PASSWORD, Server, at_once, default_hash_cost, song};

fn login(client: &Client, address: &str, email: &str, password: &str) -> Call {
    let body = json!({"email": email, "password": password});
    client.call("POST", "/auth/login").json(&body).header("x-forwarded-for", address)
}

/// The name of the quota that an answer reports, its limit, and what is left of it.
fn quota(answer: &Answer) -> (&str, u32, u32) {
    let header = |name| answer.header(name).unwrap_or_else(|| panic!("no {name}: {answer}"));
    let number = |name| header(name).parse().unwrap_or_else(|_| panic!("{name}: {answer}"));
    let (limit, remaining) = (number("x-ratelimit-limit"), number("x-ratelimit-remaining"));
    // The quota is full now only if nothing counts.
    assert_eq!(number("x-ratelimit-reset") == 0, remaining == limit, "{answer}");
    (header("x-ratelimit-resource"), limit, remaining)
}

#[track_caller]
fn limited(answer: &Answer, resource: &str, limit: u32) {
    answer.refused(429, "rate_limited");
    assert_eq!(quota(answer), (resource, limit, 0), "{answer}");
}

/// Attack API2: guessing one password for many users from one network.
#[test]
fn failed_logins_from_one_ip_address_are_limited_across_all_users() {
    let server = Server::counting(&[("rate_limits.failed_logins_per_address", "3")]);
    let (client, ada) = (server.client(), server.guest().email);
    for _ in 0..5 {
        login(&client, "192.0.2.1", &ada, PASSWORD).send().data(200);
    }
    for number in 0..3 {
        let email = format!("nobody-{number}@example.com");
        login(&client, "192.0.2.1", &email, "wrong").send().refused(401, "invalid_credentials");
    }
    let eve = server.guest().email;
    for (email, password) in [("nobody@example.com", "wrong"), (&*eve, PASSWORD)] {
        limited(&login(&client, "192.0.2.1", email, password).send(), "failed_logins_per_address", 3);
    }
    // This is a known network of her account.
    login(&client, "192.0.2.1", &ada, PASSWORD).send().data(200);
    let elsewhere = login(&client, "192.0.2.2", &ada, PASSWORD).send();
    elsewhere.data(200);
    assert_eq!(quota(&elsewhere), ("login_per_minute", 600, 599));
}

/// Attack API2: guessing passwords from all networks of an IPv6 /48.
#[test]
fn an_ipv6_site_has_eight_times_the_quota_of_a_network() {
    let server = Server::counting(&[("rate_limits.guests_per_minute", "2")]);
    let guest = |address: String| {
        let call = server.client().call("POST", "/auth/guest").json(&json!({}));
        call.header("x-forwarded-for", &address).send()
    };
    for network in 0..8 {
        for host in 1..3 {
            guest(format!("2001:db8:1:{network}::{host}")).data(201);
        }
    }
    limited(&guest("2001:db8:1:7::3".to_owned()), "guests_per_minute", 2);
    limited(&guest("2001:db8:1:8::1".to_owned()), "guests_per_minute", 16);
    guest("2001:db8:2:8::1".to_owned()).data(201);
    // An IPv4 address is no part of a site.
    (0..20).for_each(|host| drop(guest(format!("192.0.2.{host}")).data(201)));
}

#[test]
fn invalid_and_repeated_commands_count_against_the_default_quota() {
    let server = Server::counting(&[
        ("rate_limits.requests_per_minute", "3"),
        ("rate_limits.withdrawals_per_minute", "2"),
        ("rate_limits.default_per_minute", "50"),
    ]);
    let (dj, guest) = (server.dj(), server.payer("100"));
    // It counts as one of all others.
    let free = |answer: &Answer, status: u16| {
        assert_eq!(answer.status, status, "{answer}");
        assert_eq!(quota(answer).0, "default_per_minute", "{answer}");
    };
    let request_song = |body: &Value| guest.call("POST", "/music/requests").json(body);
    for body in [json!({}), json!([]), json!({"dj_id": "x"}), song(guest.id), song(9_999)] {
        free(&request_song(&body).send(), 422);
    }
    let mut dear = song(dj.id);
    dear["fee"] = json!(5_000);
    free(&request_song(&dear).send(), 422);
    (0..3).for_each(|_| free(&request_song(&json!({"song_title": ""})).send(), 422));
    let first = request_song(&song(dj.id)).key("one").send();
    assert_eq!((first.status, quota(&first)), (201, ("requests_per_minute", 3, 2)), "{first}");
    let again = request_song(&song(dj.id)).key("one").send();
    assert_eq!(again.header("idempotency-replayed"), Some("true"), "{again}");
    free(&again, 201);
    free(&request_song(&dear).key("one").send(), 422);
    // The request was understood, and the DJ's state refuses it.
    dj.patch("/user/personal-info", &json!({"online": 0})).data(200);
    let offline = request_song(&song(dj.id)).send();
    offline.refused(409, "dj_offline");
    assert_eq!(quota(&offline), ("requests_per_minute", 3, 1));
    free(&guest.post("/withdrawal/crypto", &json!({"amount": "10"})), 422);
    free(&guest.withdraw("1000"), 422);
    for left in [1, 0] {
        let withdrawn = guest.withdraw("10");
        assert_eq!((withdrawn.status, quota(&withdrawn)), (201, ("withdrawals_per_minute", 2, left)));
    }
    limited(&guest.withdraw("10"), "withdrawals_per_minute", 2);
}

/// Attack API4: invalid music requests without limit.
#[test]
fn invalid_withdrawals_use_their_own_quota_once_the_default_is_exhausted() {
    let server = Server::counting(&[
        ("rate_limits.withdrawals_per_minute", "2"),
        ("rate_limits.default_per_minute", "3"),
    ]);
    let guest = server.guest();
    let invalid = || guest.post("/withdrawal/crypto", &json!({}));
    for (resource, limit, left) in [
        ("default_per_minute", 3, 2),
        ("default_per_minute", 3, 1),
        ("default_per_minute", 3, 0),
        ("withdrawals_per_minute", 2, 1),
        ("withdrawals_per_minute", 2, 0),
    ] {
        let refused = invalid();
        refused.refused(422, "validation_failed");
        assert_eq!(quota(&refused), (resource, limit, left));
    }
    limited(&invalid(), "withdrawals_per_minute", 2);
}

/// Attack API4: exceeding a quota by concurrent valid and invalid requests.
#[test]
fn concurrent_valid_and_invalid_withdrawals_exceed_no_quota() {
    let server = Server::counting(&[("rate_limits.withdrawals_per_minute", "4")]);
    let guest = server.payer("100");
    let withdraw = |amount: &str| {
        let body = json!({"wallet_address": "bc1q", "currency": "BTC", "network": "bitcoin"});
        let amount = format!(r#"{{"amount": {amount}, {}"#, &body.to_string()[1..]);
        guest.call("POST", "/withdrawal/crypto").text(&amount)
    };
    let calls = (0..24).map(|number| withdraw(if number % 2 == 0 { "1" } else { "1000" })).collect();
    let answers = at_once(calls);
    let count = |status| answers.iter().filter(|answer| answer.status == status).count();
    assert!(count(201) <= 4 && count(201) + count(422) + count(429) == 24, "{answers:?}");
    // What invalid calls had reserved is free again.
    (count(201)..4).for_each(|_| assert_eq!(guest.withdraw("1").status, 201));
    limited(&guest.withdraw("1"), "withdrawals_per_minute", 4);
}

/// Attack API4: using up the refreshes of others behind the same address.
#[test]
fn refreshes_are_counted_per_session_and_unknown_tokens_per_ip_address() {
    let server = Server::counting(&[("rate_limits.refreshes_per_minute", "3")]);
    let (ada, eve) = (server.guest(), server.guest());
    let refresh = |token: &Value, address: &str| {
        let call = server.client().call("POST", "/auth/refresh").json(&json!({"refresh_token": token}));
        call.header("x-forwarded-for", address).send()
    };
    let mut token = json!(ada.refresh_token);
    for (address, left) in [("192.0.2.1", 2), ("192.0.2.2", 1), ("192.0.2.3", 0)] {
        let refreshed = refresh(&token, address);
        token = refreshed.data(200)["refresh_token"].clone();
        assert_eq!(quota(&refreshed), ("refreshes_per_minute", 3, left));
    }
    limited(&refresh(&token, "192.0.2.4"), "refreshes_per_minute", 3);
    for left in (0..30).rev() {
        let unknown = refresh(&json!("x"), "192.0.2.1");
        unknown.refused(401, "invalid_refresh_token");
        assert_eq!(quota(&unknown), ("refreshes_per_minute", 30, left));
    }
    limited(&refresh(&json!("x"), "192.0.2.1"), "refreshes_per_minute", 30);
    // Neither disturbs another session at the address, nor another one of the user.
    refresh(&json!(eve.refresh_token), "192.0.2.1").data(200);
    let other = login(&server.client(), "192.0.2.1", &ada.email, PASSWORD).send().data(200);
    refresh(&other["refresh_token"], "192.0.2.1").data(200);
    // The refused refresh used nothing up: its session lives.
    ada.get("/wallet").data(200);
}

/// Attack API4: looking up refresh tokens without limit.
#[test]
fn unknown_refresh_tokens_count_as_public_reads() {
    let server = Server::counting(&[("rate_limits.public_per_minute", "2")]);
    let refresh =
        || server.client().call("POST", "/auth/refresh").json(&json!({"refresh_token": "x"})).send();
    (0..2).for_each(|_| drop(refresh().refused(401, "invalid_refresh_token")));
    limited(&refresh(), "public_per_minute", 2);
}

#[test]
fn public_reads_have_a_separate_quota() {
    let server = Server::counting(&[("rate_limits.public_per_minute", "2")]);
    let guest = server.guest();
    for path in ["/djs", "/settings"] {
        server.client().call("GET", path).send().data(200);
    }
    limited(&server.client().call("GET", "/djs").send(), "public_per_minute", 2);
    limited(&server.client().call("GET", "/settings").send(), "public_per_minute", 2);
    assert_eq!(quota(&guest.get("/djs")).0, "default_per_minute");
}

#[test]
fn email_changes_count_against_the_guess_quota() {
    let server = Server::counting(&[("rate_limits.guess_per_minute", "1")]);
    let [one, two] = [(); 2].map(|()| server.guest());
    let change = json!({"email": "new@example.com", "password": "wrong"});
    one.post("/auth/email/change", &change).invalid(&["password"]);
    limited(&one.post("/auth/email/change", &change), "guess_per_minute", 1);
    two.post("/auth/email/confirm", &json!({"code": "000000"})).invalid(&["code"]);
    limited(&two.post("/auth/email/confirm", &json!({"code": "000000"})), "guess_per_minute", 1);
    let restore = json!({"token": "unknown", "password": "battery staple"});
    // Without a session, a hundred times as many count for the address.
    let restored = server.client().post("/auth/email/restore", &restore);
    restored.invalid(&["token"]);
    assert_eq!(quota(&restored), ("guess_per_minute", 100, 99));
}

#[test]
fn cors_exposes_the_rate_limit_headers() {
    let server = Server::counting(&[("cors.allowed_origins", "https://app.example.com")]);
    let guest = server.guest();
    let answer = guest.call("GET", "/wallet").header("origin", "https://app.example.com").send();
    answer.data(200);
    assert_eq!(quota(&answer), ("default_per_minute", 60, 59));
    assert_eq!(answer.header("x-ratelimit-reset"), Some("1"), "{answer}");
    let exposed = answer.header("access-control-expose-headers").unwrap().to_lowercase();
    for name in ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset", "x-ratelimit-resource"] {
        assert!(exposed.split([',', ' ']).any(|shown| shown == name), "{name}: {exposed}");
    }
}

/// Attack API4: keeping the cores busy with password hashes from one network.
#[test]
fn strangers_beyond_half_of_the_waiting_passwords_of_a_network_are_refused() {
    // A hash takes long enough for the logins to meet.
    let places = available_parallelism().map_or(1, usize::from);
    let logins = 3 * (places + 8);
    let [memory, _] = default_hash_cost();
    let server = Server::counting(&[
        memory,
        ("auth.argon2_iterations", "6"),
        ("rate_limits.login_per_minute", &logins.to_string()),
        ("rate_limits.failed_logins_per_address", "1000"),
        // Half of the places are for known clients.
        ("rate_limits.waiting_passwords_per_network", "16"),
    ]);
    let (client, ada) = (server.client(), server.guest().email);
    let wrong = |number| login(&client, "192.0.2.1", &format!("nobody-{number}@example.com"), "wrong");
    let mut calls: Vec<_> = (0..logins).map(wrong).collect();
    calls.push(login(&client, "192.0.2.2", &ada, PASSWORD));
    let mut answers = at_once(calls);
    answers.pop().unwrap().data(200);
    let (refused, checked): (Vec<_>, Vec<_>) = answers.into_iter().partition(|answer| answer.status == 429);
    checked.iter().for_each(|answer| drop(answer.refused(401, "invalid_credentials")));
    assert!(!refused.is_empty() && checked.len() >= 8, "{} refused", refused.len());
    for answer in &refused {
        limited(answer, "waiting_passwords_per_network", 16);
        assert_eq!(answer.header("retry-after"), Some("3"), "{answer}");
    }
    // A login that was not checked counts neither as a login nor as a failed one.
    let again = wrong(logins).send();
    again.refused(401, "invalid_credentials");
    let left = u32::try_from(refused.len() - 1).unwrap();
    let (resource, _, remaining) = quota(&again);
    assert!(resource == "login_per_minute" && remaining >= left, "{left}: {again}");
}
