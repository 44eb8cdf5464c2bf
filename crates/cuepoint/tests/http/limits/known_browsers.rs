//! Logins of a venue under attack: known browsers, known networks, sessions and strangers behind one address. Quotas are so
//! small that none is restored during a test, except in the test with those of production.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use serde_json::json;

use crate::harness::guest_scene::Evening;
use crate::harness::{
    Answer, Browser, Client, End, PASSWORD, SESSION, Server, UNKNOWN_CODE, eventually, leads_to,
};

/// The cookie of known browsers.
const KNOWN: &str = "cuepoint-browser";
pub(crate) const VENUE: &str = "192.0.2.1";

pub(crate) fn post(browser: &Browser, address: &str, path: &str, fields: &[(&str, &str)]) -> Answer {
    browser.send(browser.form(path, fields).header("x-forwarded-for", address))
}

pub(crate) fn log_in(browser: &Browser, address: &str, email: &str, password: &str) -> Answer {
    post(browser, address, "/login", &[("email", email), ("password", password)])
}

/// The status of a login in a browser without cookies.
fn stranger(client: &Client, address: &str, email: &str, password: &str) -> u16 {
    log_in(&Browser::new(client), address, email, password).status
}

/// Attack API2: locking a user out by failed logins, also from the user's own network and from many others.
#[test]
fn a_known_browser_logs_in_while_its_account_is_attacked() {
    let server = Server::counting(&[
        ("rate_limits.failed_logins_per_minute", "3"),
        ("rate_limits.failed_logins_per_hour", "5"),
    ]);
    let (client, member) = (server.client(), server.guest());
    let email = member.email.as_str();
    let browser = Browser::new(&client);
    leads_to(&log_in(&browser, VENUE, email, PASSWORD));
    let kept = browser.cookie(KNOWN).expect("the browser becomes known");
    leads_to(&post(&browser, VENUE, "/logout", &[]));
    assert_eq!(browser.cookie(KNOWN).as_deref(), Some(kept.as_str()), "a logout leaves it");

    // From the same address.
    for _ in 0..3 {
        assert_eq!(stranger(&client, VENUE, email, "wrong"), 422);
    }
    assert_eq!(stranger(&client, VENUE, email, PASSWORD), 429);
    leads_to(&log_in(&browser, VENUE, email, PASSWORD));
    // From many others, until no unknown network has an attempt left.
    for host in 1..3 {
        assert_eq!(stranger(&client, &format!("198.51.100.{host}"), email, "wrong"), 422);
    }
    assert_eq!(stranger(&client, "198.51.100.9", email, PASSWORD), 429);
    leads_to(&log_in(&browser, "198.51.100.10", email, PASSWORD));
    // The browser has a count of failures of its own, and is known for this account alone.
    for _ in 0..3 {
        assert_eq!(log_in(&browser, VENUE, email, "wrong").status, 422);
    }
    let limited = log_in(&browser, VENUE, email, PASSWORD);
    assert!(limited.status == 429 && limited.header("retry-after").is_some(), "{limited}");
    let other = server.guest().email;
    for _ in 0..3 {
        assert_eq!(stranger(&client, VENUE, &other, "wrong"), 422);
    }
    assert_eq!(log_in(&browser, VENUE, &other, PASSWORD).status, 429);
}

/// Attack API2: the proof of a browser outlives the password that a thief knew.
#[test]
fn a_browser_is_known_until_the_password_changes() {
    let server = Server::counting(&[("rate_limits.failed_logins_per_minute", "1")]);
    let (client, member) = (server.client(), server.guest());
    let [own, stolen] = [0, 1].map(|_| Browser::new(&client));
    for browser in [&own, &stolen] {
        leads_to(&log_in(browser, VENUE, &member.email, PASSWORD));
    }
    let new = "battery staple";
    let change = [("current", PASSWORD), ("password", new)];
    leads_to(&post(&own, VENUE, "/account/password", &change));
    assert_eq!(stranger(&client, VENUE, &member.email, "wrong"), 422);
    assert_eq!(log_in(&stolen, VENUE, &member.email, new).status, 429);
    // The browser in which it was changed stays known.
    leads_to(&post(&own, VENUE, "/logout", &[]));
    leads_to(&log_in(&own, VENUE, &member.email, new));
}

#[test]
fn a_browser_becomes_known_by_a_registration_and_a_claim_but_not_as_a_guest() {
    let server = Server::counting(&[]);
    let evening = Evening::new(&server);
    let guest = evening.guest(&server);
    assert_eq!(guest.cookie(KNOWN), None, "a guest account has no password");
    let fields = |email| [("name", "Mia"), ("email", email), ("password", PASSWORD)];
    leads_to(&guest.post("/claim", &fields("mia@example.com")));
    assert!(guest.cookie(KNOWN).is_some());
    let member = Browser::new(&server.client());
    leads_to(&member.post("/register", &fields("ben@example.com")));
    assert!(member.cookie(KNOWN).is_some());
}

/// A hostile phone behind the address of the venue.
pub(crate) struct Phone<'a> {
    client: Client,
    evening: &'a Evening,
    /// Its guest account.
    guest: Browser,
}

impl<'a> Phone<'a> {
    pub(crate) fn new(server: &Server, evening: &'a Evening) -> Self {
        let phone = Self { client: server.client(), evening, guest: Browser::new(&server.client()) };
        drop(first_request(&phone.guest, evening));
        phone
    }

    /// Sends one request of each kind: invalid forms, failed logins for an invented address and for the DJ's address, a
    /// registration, guest accounts by page and API, an unknown code and unknown cookies.
    pub(crate) fn attack(&self, number: usize) {
        let new = || Browser::new(&self.client);
        let (free, invented) =
            (format!("phone-{number}@example.com"), format!("nobody-{number}@example.com"));
        let invalid = [("name", "Eve"), ("email", "nothing"), ("password", "x")];
        let valid = [("name", "Eve"), ("email", free.as_str()), ("password", PASSWORD)];
        drop(post(&new(), VENUE, "/register", &invalid));
        drop(post(&self.guest, VENUE, "/claim", &invalid));
        drop(log_in(&new(), VENUE, &invented, "wrong"));
        drop(log_in(&new(), VENUE, &self.evening.dj.email, "wrong"));
        drop(post(&new(), VENUE, "/register", &valid));
        drop(first_request(&new(), self.evening));
        drop(api(&self.client, "/auth/guest", &json!({})));
        let unknown = new();
        unknown.set_cookie(SESSION, &format!("{number:043}"));
        unknown.set_cookie(KNOWN, &format!("1.{}.{number:043}", number + 1));
        let path = format!("/g/{UNKNOWN_CODE}");
        drop(unknown.send(unknown.call("GET", &path).header("x-forwarded-for", VENUE)));
    }
}

pub(crate) fn first_request(browser: &Browser, evening: &Evening) -> Answer {
    request(browser, evening, "Blue Monday")
}

/// A request, without a question about another one of the same guest.
pub(crate) fn request(browser: &Browser, evening: &Evening, song: &str) -> Answer {
    let form = evening.filled(browser, song);
    browser.send(evening.call(browser, &form).header("x-forwarded-for", VENUE))
}

pub(crate) fn api(client: &Client, path: &str, body: &serde_json::Value) -> Answer {
    client.call("POST", path).json(body).header("x-forwarded-for", VENUE).send()
}

/// Attack API4: locking a venue out by sixty of each kind a minute, at the quotas of production.
#[test]
fn a_venue_goes_on_while_a_phone_sends_sixty_of_each_kind() {
    let server = Server::counting(&[]);
    let evening = Evening::new(&server);
    let client = server.client();
    let dj = Browser::new(&client);
    leads_to(&log_in(&dj, VENUE, &evening.dj.email, PASSWORD));
    let phone = Phone::new(&server, &evening);
    (0..60).for_each(|number| phone.attack(number));
    for number in 0..10 {
        let [guest, member] = [0, 1].map(|_| Browser::new(&client));
        leads_to(&first_request(&guest, &evening));
        let (claimed, registered) =
            (format!("mia-{number}@example.com"), format!("ben-{number}@example.com"));
        let fields = |email| [("name", "Mia"), ("email", email), ("password", PASSWORD)];
        leads_to(&post(&guest, VENUE, "/claim", &fields(&claimed)));
        leads_to(&post(&member, VENUE, "/register", &fields(&registered)));
        leads_to(&first_request(&member, &evening));
        leads_to(&log_in(&Browser::new(&client), VENUE, &registered, PASSWORD));
        api(&client, "/auth/login", &json!({"email": claimed, "password": PASSWORD})).data(200);
        api(&client, "/auth/guest", &json!({})).data(201);
    }
    leads_to(&log_in(&dj, VENUE, &evening.dj.email, PASSWORD));
}

/// Attack API4: locking a venue out by using up every limit of its address.
#[test]
fn whoever_has_an_account_goes_on_when_a_phone_has_used_up_an_address() {
    let small = ["login", "registrations", "guests"].map(|name| format!("rate_limits.{name}_per_minute"));
    let mut keys: Vec<(&str, &str)> = small.iter().map(|key| (key.as_str(), "6")).collect();
    keys.push(("rate_limits.failed_logins_per_address", "6"));
    let server = Server::counting(&keys);
    let evening = Evening::new(&server);
    let client = server.client();
    let [booth, member, guest] = [0, 1, 2].map(|_| Browser::new(&client));
    leads_to(&log_in(&booth, VENUE, &evening.dj.email, PASSWORD));
    let known = server.guest().email;
    leads_to(&log_in(&member, VENUE, &known, PASSWORD));
    leads_to(&first_request(&guest, &evening));
    let phone = Phone::new(&server, &evening);
    (0..12).for_each(|number| phone.attack(number));
    // Strangers have to wait, and the answer says how long.
    let unknown = server.guest().email;
    for refused in [
        log_in(&Browser::new(&client), VENUE, &unknown, PASSWORD),
        post(
            &Browser::new(&client),
            VENUE,
            "/register",
            &[("name", "Eve"), ("email", "eve@example.com"), ("password", PASSWORD)],
        ),
        first_request(&Browser::new(&client), &evening),
        api(&client, "/auth/guest", &json!({})),
    ] {
        assert!(refused.status == 429 && refused.header("retry-after").is_some(), "{refused}");
    }
    // Known browsers, sessions and guest accounts still work.
    assert_eq!(booth.send(booth.call("GET", "/booth").header("x-forwarded-for", VENUE)).status, 200);
    leads_to(&log_in(&booth, VENUE, &evening.dj.email, PASSWORD));
    leads_to(&log_in(&member, VENUE, &known, PASSWORD));
    leads_to(&first_request(&member, &evening));
    api(&client, "/auth/login", &json!({"email": known, "password": PASSWORD})).data(200);
    leads_to(&request(&guest, &evening, "Temptation"));
    let claim = [("name", "Mia"), ("email", "mia@example.com"), ("password", PASSWORD)];
    leads_to(&post(&guest, VENUE, "/claim", &claim));
}

/// A member logs in by a known browser while others at the address send passwords all the time, of which some are always
/// refused. `attacker` makes the attempt of the phone with this number, which returns its status.
fn log_in_beside_a_full_queue<'s, A: Fn() -> u16 + Send + 's>(
    server: &'s Server,
    attacker: impl Fn(&'s Server, usize) -> A,
) {
    let (client, member) = (server.client(), server.guest());
    let browser = Browser::new(&client);
    leads_to(&log_in(&browser, VENUE, &member.email, PASSWORD));
    // Two may wait, and one more for each place, so that some are always refused.
    let attackers = 4 + thread::available_parallelism().map_or(1, usize::from);
    let (is_over, refused) = (AtomicBool::new(false), AtomicUsize::new(0));
    let another_is_refused = || {
        let before = refused.load(Ordering::SeqCst);
        eventually("an attempt is refused", || (refused.load(Ordering::SeqCst) > before).then_some(()));
    };
    thread::scope(|scope| {
        let _end = End(&is_over);
        for number in 0..attackers {
            let (attempt, is_over, refused) = (attacker(server, number), &is_over, &refused);
            scope.spawn(move || {
                while !is_over.load(Ordering::SeqCst) {
                    match attempt() {
                        // On a machine that does other work too, a password can wait for too long.
                        422 | 503 => {}
                        429 => drop(refused.fetch_add(1, Ordering::SeqCst)),
                        status => panic!("{status}"),
                    }
                }
            });
        }
        for _ in 0..5 {
            another_is_refused();
            leads_to(&log_in(&browser, VENUE, &member.email, PASSWORD));
        }
        another_is_refused();
    });
}

/// A server in whose queue four passwords of an address wait, with other limits that nothing reaches.
fn with_a_short_queue() -> Server {
    let wide = [
        "login_per_minute",
        "registrations_per_minute",
        "failed_logins_per_minute",
        "failed_logins_per_address",
    ]
    .map(|name| (format!("rate_limits.{name}"), "1000000"));
    let wide = wide.iter().map(|(key, count)| (key.as_str(), *count));
    let keys: Vec<_> = wide.chain([("rate_limits.waiting_passwords_per_network", "4")]).collect();
    Server::counting(&keys)
}

/// Attack API4: filling the queue of password hashes of an address, so that its members cannot log in.
#[test]
fn a_known_browser_logs_in_while_strangers_fill_their_half_of_the_queue() {
    log_in_beside_a_full_queue(&with_a_short_queue(), |server, number| {
        let (client, email) = (server.client(), format!("nobody-{number}@example.com"));
        move || stranger(&client, VENUE, &email, "wrong")
    });
}

/// Attack API4: filling the queue of password hashes of an address with claims of guest accounts, which cost nothing.
#[test]
fn a_known_browser_logs_in_while_free_guest_accounts_fill_the_queue() {
    let server = with_a_short_queue();
    let taken = server.guest().email;
    log_in_beside_a_full_queue(&server, |server, _| {
        let (guest, body) = (server.guest_account(), json!({"email": taken, "password": PASSWORD}));
        move || guest.call("POST", "/auth/claim").json(&body).header("x-forwarded-for", VENUE).send().status
    });
}
