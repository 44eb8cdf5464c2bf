//! Rate limits of forms: what one browser, one network and slow senders can use up. Quotas are so small that none is
//! restored during a test.

use crate::harness::guest_scene::{Evening, with};
use crate::harness::{Browser, PASSWORD, RawConnection, SESSION, Server, Store, leads_to};

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

/// Attack API4: forms that no limit counts once the first requests of a network are used up.
#[test]
fn a_first_request_beyond_its_limit_counts_as_a_page() {
    let server = counting(&[("rate_limits.guests_per_minute", "1"), ("rate_limits.boards_per_minute", "6")]);
    let evening = Evening::new(&server);
    let form = evening.filled(&Browser::new(&server.client()), "Blue Monday");
    let send = || evening.send(&Browser::new(&server.client()), &form);
    leads_to(&send());
    for _ in 0..8 {
        assert_eq!(send().status, 429);
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
