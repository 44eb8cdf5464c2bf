//! Rate limits of forms: what one browser, one network and slow senders can use up. Quotas are so small that none is
//! restored during a test.

use serde_json::json;

use crate::harness::guest_scene::{Evening, with};
use crate::harness::{Browser, PASSWORD, RawConnection, SESSION, Server, Store, gig_scene, leads_to};

/// A server with rate limits.
fn counting(keys: &[(&str, &str)]) -> Server {
    Server::configured(Store::Memory, &[&[("rate_limits.enabled", "true")], keys].concat())
}

/// Attack API4: a new guest account for each guess at a password.
#[test]
fn the_cookies_of_guest_accounts_do_not_evade_the_limits_of_a_network() {
    for (path, key) in
        [("/login", "rate_limits.login_per_minute"), ("/register", "rate_limits.registrations_per_minute")]
    {
        let server = counting(&[(key, "7"), ("rate_limits.failed_logins_per_address", "1000")]);
        // The DJ registers.
        let evening = Evening::new(&server);
        let sent = |number: usize| {
            let guest = evening.guest(&server);
            assert!(guest.cookie(SESSION).is_some());
            let email = format!("guessed-{number}@example.com");
            guest.post(path, &[("name", "Eve"), ("email", &email), ("password", PASSWORD)]).status
        };
        let statuses: Vec<u16> = (0..8).map(sent).collect();
        let admitted = if path == "/login" { 422 } else { 303 };
        let used = if path == "/login" { 7 } else { 6 };
        assert!(statuses[..used].iter().all(|status| *status == admitted), "{path}: {statuses:?}");
        assert!(statuses[used..].iter().all(|status| *status == 429), "{path}: {statuses:?}");
    }
}

/// Attack API4: using up a venue's first requests by forms that never arrive or are refused.
#[test]
fn slow_and_refused_forms_use_up_no_first_request_or_login_of_their_network() {
    let server = counting(&[
        ("rate_limits.guests_per_minute", "3"),
        ("rate_limits.login_per_minute", "3"),
        ("server.body_timeout_seconds", "1"),
    ]);
    let evening = Evening::new(&server);
    let member = server.guest();
    let requests = format!("{}/requests", evening.page());
    let slow: Vec<RawConnection> = (0..10)
        .flat_map(|_| [requests.as_str(), "/login"])
        .map(|path| {
            let mut connection = RawConnection::open(&server.client().address);
            connection.send(&format!(
                "POST {path} HTTP/1.1\r\nHost: x\r\nSec-Fetch-Site: same-origin\r\n\
                 Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 500\r\n\r\nkey=0123"
            ));
            connection
        })
        .collect();
    let request = || {
        let browser = Browser::new(&server.client());
        leads_to(&evening.request(&browser, "Blue Monday"));
    };
    request();
    for mut connection in slow {
        assert_eq!(connection.head().status, 400);
    }
    // They have all been answered, and have used up nothing.
    request();
    // Nor do forms with an error, which create no account.
    for _ in 0..4 {
        let browser = Browser::new(&server.client());
        let form = evening.filled(&browser, "Blue Monday");
        assert_eq!(evening.send(&browser, &with(form, "song_title", "")).status, 422);
        assert_eq!(browser.cookie(SESSION), None);
    }
    request();
    assert_eq!(evening.request(&Browser::new(&server.client()), "Blue Monday").status, 429);
    Browser::logged_in(&server.client(), &member);
}

/// Attack API2: guessing the password of an account through the form of registrations.
#[test]
fn a_registration_with_a_taken_address_counts_as_a_login() {
    let server = counting(&[
        ("rate_limits.failed_logins_per_minute", "2"),
        ("rate_limits.failed_logins_per_address", "1000"),
    ]);
    let member = server.guest();
    let register = |password: &str| {
        let fields = [("name", "Eve"), ("email", member.email.as_str()), ("password", password)];
        Browser::new(&server.client()).post("/register", &fields)
    };
    for wrong in ["battery staple", "staple battery"] {
        let refused = register(wrong);
        assert_eq!(refused.status, 422, "{refused}");
        assert!(refused.text.contains("This address has an account already."), "{refused}");
        assert!(refused.header("set-cookie").is_none(), "{refused}");
    }
    let limited = register(PASSWORD);
    assert_eq!((limited.status, limited.header("set-cookie")), (429, None), "{limited}");
    let login = Browser::new(&server.client()).log_in(&member.email, PASSWORD);
    assert_eq!(login.status, 429, "both forms have one count: {login}");

    let server = counting(&[("rate_limits.login_per_minute", "2")]);
    for number in 0..3 {
        let taken = server.guest().email;
        let fields = [("name", "Eve"), ("email", taken.as_str()), ("password", "battery staple")];
        let status = Browser::new(&server.client()).post("/register", &fields).status;
        assert_eq!(status, if number < 2 { 422 } else { 429 });
    }
}

/// Attack API4: hashes of passwords that no limit counts, and addresses that are found taken without a limit.
#[test]
fn a_registration_with_a_taken_address_counts_as_a_registration_too() {
    let server = counting(&[
        ("rate_limits.login_per_minute", "1"),
        ("rate_limits.registrations_per_minute", "4"),
        ("rate_limits.failed_logins_per_address", "1000"),
    ]);
    // The first of the registrations.
    let taken = server.guest().email;
    let post = |path: &str, email: &str| {
        let fields = [("name", "Eve"), ("email", email), ("password", "battery staple")];
        Browser::new(&server.client()).post(path, &fields).status
    };
    assert_eq!(post("/login", "nobody@example.com"), 422);
    // No login is left for the network.
    for _ in 0..3 {
        assert_eq!(post("/register", &taken), 429);
    }
    assert_eq!(post("/register", "free@example.com"), 429, "each counted as a registration");
}

/// Attack API4: using up a venue's registrations by bytes that are no form.
#[test]
fn what_is_no_form_uses_up_no_registration() {
    let server = counting(&[("rate_limits.registrations_per_minute", "1")]);
    let browser = Browser::new(&server.client());
    for _ in 0..3 {
        let call = browser.call("POST", "/register").header("sec-fetch-site", "same-origin");
        assert_eq!(browser.send(call.text("x")).status, 400);
    }
    let fields = [("name", "Ada"), ("email", "ada@example.com"), ("password", PASSWORD)];
    leads_to(&browser.post("/register", &fields));
}

/// Attack API4: using up a venue's claims and registrations by forms with an error.
#[test]
fn invalid_claims_and_registrations_use_up_none_of_their_network() {
    let server = counting(&[("rate_limits.registrations_per_minute", "2")]);
    let evening = Evening::new(&server);
    let (eve, mia) = (evening.guest(&server), evening.guest(&server));
    for _ in 0..3 {
        for (browser, path) in
            [(&eve, "/claim"), (&eve, "/register"), (&Browser::new(&server.client()), "/register")]
        {
            let invalid = browser.post(path, &[("name", "Eve"), ("email", "nothing"), ("password", "x")]);
            assert_eq!(invalid.status, 422, "{path}: {invalid}");
        }
    }
    let fields = |email| [("name", "Mia"), ("email", email), ("password", PASSWORD)];
    leads_to(&mia.post("/claim", &fields("mia@example.com")));
    // The DJ was the first of two registrations. Claims are counted separately.
    leads_to(&Browser::new(&server.client()).post("/register", &fields("ben@example.com")));
    assert_eq!(Browser::new(&server.client()).post("/register", &fields("cyd@example.com")).status, 429);
}

/// Attack API4: using up a venue's resets of passwords and searches by forms with an error.
#[test]
fn invalid_resets_and_searches_use_up_none_of_their_network() {
    let server = counting(&[
        ("rate_limits.guess_per_minute", "1"),
        ("rate_limits.nearby_per_minute", "1"),
        ("notifier.email", "log"),
    ]);
    let browser = Browser::new(&server.client());
    for _ in 0..3 {
        assert_eq!(browser.post("/nearby", &[("near", "here")]).status, 400);
    }
    assert_eq!(browser.post("/nearby", &[("near", "1,1")]).status, 200);
    assert_eq!(browser.post("/nearby", &[("near", "1,1")]).status, 429);
    // An address has a hundred times the quota of a session.
    for _ in 0..100 {
        assert_eq!(browser.post("/forgot", &[("email", "nothing")]).status, 422);
    }
    for _ in 0..100 {
        assert_eq!(browser.post("/forgot", &[("email", "ada@example.com")]).status, 200);
    }
    assert_eq!(browser.post("/forgot", &[("email", "ada@example.com")]).status, 429);
}

/// Attack API4: using up a venue's first requests by those that the gig refuses.
#[test]
fn first_requests_that_the_gig_refuses_create_no_account_and_use_up_none() {
    let server = counting(&[("rate_limits.guests_per_minute", "1")]);
    let (evening, over) = (Evening::new(&server), Evening::new(&server));
    let browser = Browser::new(&server.client());
    let (form, form_of_over) =
        (evening.filled(&browser, "Blue Monday"), over.filled(&browser, "Blue Monday"));
    let refused = |evening: &Evening, form: &[(String, String)], why: &str| {
        for _ in 0..2 {
            let browser = Browser::new(&server.client());
            let refused = evening.send(&browser, form);
            assert_eq!((refused.status, browser.cookie(SESSION)), (422, None), "{why}: {refused}");
        }
    };
    let gig = format!("/gigs/{}", evening.gig["id"]);
    let dj = &evening.dj;
    dj.patch("/user/personal-info", &json!({"online": 0})).data(200);
    refused(&evening, &form, "paused");
    dj.patch("/user/personal-info", &json!({"online": 1, "fee_popular_song": 11})).data(200);
    refused(&evening, &form, "dearer by now");
    dj.patch("/user/personal-info", &json!({"fee_popular_song": 10})).data(200);
    dj.patch(&gig, &json!({"members_only": true})).data(200);
    refused(&evening, &form, "for members");
    dj.patch(&gig, &json!({"members_only": false})).data(200);
    gig_scene::end(&over.dj, &over.gig).data(200);
    refused(&over, &form_of_over, "over");
    // The other DJ is online without a gig, and takes no dedications.
    over.dj.patch("/user/personal-info", &json!({"online": 1})).data(200);
    refused(&over, &with(form_of_over, "message", "For Mia"), "a dedication without a gig");
    leads_to(&evening.send(&browser, &form));
    assert!(browser.cookie(SESSION).is_some());
}

/// The repetition of a first request with a lost answer finds its account and its request, although the gig now takes no
/// new requests.
#[test]
fn a_repeated_first_request_finds_its_account_after_the_gig_was_paused() {
    let server = Server::configured(Store::Memory, &[]);
    let evening = Evening::new(&server);
    evening.dj.patch("/user/personal-info", &json!({"fee_popular_song": 0})).data(200);
    let form = evening.filled(&Browser::new(&server.client()), "Blue Monday");
    let (lost, again) = (Browser::new(&server.client()), Browser::new(&server.client()));
    leads_to(&evening.send(&lost, &form));
    evening.dj.patch("/user/personal-info", &json!({"online": 0})).data(200);
    leads_to(&evening.send(&again, &form));
    assert_eq!(again.cookie(SESSION), lost.cookie(SESSION));
    assert_eq!(evening.requests().len(), 1);
}

/// Attack API4: using up a venue's guest accounts at one gig, or by the API, for everybody else.
#[test]
fn guest_accounts_of_the_api_of_a_gig_and_of_another_gig_count_apart() {
    let server = counting(&[("rate_limits.guests_per_minute", "1")]);
    let (evening, other) = (Evening::new(&server), Evening::new(&server));
    let guest = || server.client().post("/auth/guest", &json!({}));
    guest().data(201);
    guest().refused(429, "rate_limited");
    let first = |evening: &Evening| evening.request(&Browser::new(&server.client()), "Blue Monday");
    leads_to(&first(&evening));
    let limited = first(&evening);
    assert!(limited.status == 429 && limited.header("retry-after").is_some(), "{limited}");
    leads_to(&first(&other));
}

/// Attack API4: forms that no limit counts once the first requests of a network are used up.
#[test]
fn a_first_request_beyond_its_limit_counts_as_a_page() {
    let server = counting(&[("rate_limits.guests_per_minute", "1"), ("rate_limits.boards_per_minute", "6")]);
    let evening = Evening::new(&server);
    let form = evening.filled(&Browser::new(&server.client()), "Blue Monday");
    let send = |number: u32| {
        let key = format!("0123456789012345678901-{number}");
        evening.send(&Browser::new(&server.client()), &with(form.clone(), "key", &key))
    };
    leads_to(&send(0));
    for number in 1..9 {
        assert_eq!(send(number).status, 429);
    }
    assert_eq!(Browser::new(&server.client()).get(&evening.page()).status, 429);
}

/// Attack API3: trying codes by tips.
#[test]
fn a_tip_with_an_unknown_code_counts() {
    let server = counting(&[("rate_limits.unknown_codes_per_minute", "2")]);
    let browser = Browser::logged_in(&server.client(), &server.guest());
    let tip = [("key", "0123456789012345678901-tip"), ("amount", "5")];
    let statuses =
        ["222222", "222223", "222224"].map(|code| browser.post(&format!("/g/{code}/tips"), &tip).status);
    assert_eq!(statuses, [404, 404, 429]);
}
