//! Sessions of browsers: how their cookies begin, move and end.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::guest_scene::{Evening, filled_on, with};
use crate::harness::{
    Answer, Browser, DRAFT, Database, GUEST, PASSWORD, Person, ROUTES, SESSION, SHARED_KEY, Server, Store,
    TOPUPS, at_once, field, is_page, leads_to, operator_keys, set_cookies, within,
};

on_one_store!(
    a_first_request_creates_one_guest_account_whose_cookie_is_the_same_at_each_repetition,
    a_login_and_a_logout_begin_and_end_a_session,
    a_session_of_a_browser_is_listed_and_ended_by_the_api,
    the_api_accepts_no_cookie,
    a_cookie_fixed_before_a_login_is_no_session_after_it,
    a_login_keeps_the_guest_wallet,
    a_song_of_the_kept_guest_wallet_is_asked_about,
    two_cookies_of_one_name_are_void,
    a_strange_cookie_beside_it_does_not_end_a_session,
    a_claim_replaces_the_cookie,
    pages_set_no_session_by_reading,
    a_registration_whose_answer_was_lost_leads_into_the_account,
);

/// The count of rows in a table.
fn count(database: &Database, table: &str) -> i64 {
    let rows = database.rows(&format!("SELECT count(*) FROM {table}"));
    rows[0][0].as_ref().unwrap().parse().unwrap()
}

/// The rows of users, requests and top-ups.
fn counts(database: &Database) -> [i64; 3] {
    ["users", "music_requests", "topups"].map(|table| count(database, table))
}

/// A browser in which this person has logged in by the form.
fn logged_in(server: &Server, person: &Person) -> Browser {
    let browser = Browser::logged_in(&server.client(), person);
    assert!(browser.is_logged_in());
    browser
}

/// A thief's browser with the session of this one.
fn thief_of(browser: &Browser, server: &Server) -> Browser {
    let thief = Browser::new(&server.client());
    thief.set_cookie(SESSION, &browser.cookie(SESSION).unwrap());
    thief
}

fn sessions(person: &Person) -> Vec<Value> {
    person.get("/auth/sessions").data(200)["data"].as_array().unwrap().clone()
}

fn a_first_request_creates_one_guest_account_whose_cookie_is_the_same_at_each_repetition(store: Store) {
    let server = Server::start(store);
    let (evening, database) = (Evening::new(&server), server.database().unwrap());
    let before = counts(&database);
    let browser = Browser::new(&server.client());
    let form = evening.filled(&browser, "Blue Monday");
    assert_eq!(browser.cookie(SESSION), None, "reading sets no cookie");

    let sent = evening.send(&browser, &form);
    let place = leads_to(&sent).to_owned();
    let request = evening.requests()[0]["id"].as_i64().unwrap();
    assert_eq!(place, format!("/g/{}#request-{request}", evening.code));
    let cookie = browser.cookie(SESSION).unwrap();
    let (_, _, attributes) = set_cookies(&sent)[0].clone();
    assert!(cookie.len() >= 43, "{cookie}");
    assert!(!attributes.contains("Secure"), "plain http: {attributes}");
    let page = browser.get(&evening.page());
    assert!(page.text.contains("Waiting for the DJ") && page.text.contains("Blue Monday"), "{page}");

    // The answer was lost: the browser has no cookie yet.
    let lost = Browser::new(&server.client());
    assert_eq!(leads_to(&evening.send(&lost, &form)), place);
    assert_eq!(lost.cookie(SESSION), Some(cookie.clone()));
    // The browser has the cookie, and sends the form again.
    assert_eq!(leads_to(&evening.send(&browser, &form)), place);
    assert_eq!(browser.cookie(SESSION), Some(cookie));
    let after = counts(&database);
    assert_eq!([after[0] - before[0], after[1] - before[1], after[2] - before[2]], [1, 1, 1]);
    assert_eq!(evening.requests().len(), 1);

    // The DJ accepts, and the first answer is still lost.
    evening.dj.answer(request, "accepted").data(200);
    let lost = Browser::new(&server.client());
    let place_again = evening.send(&lost, &form);
    if place_again.status == 422 {
        // The page asks because the song is accepted.
        let answered = filled_on(&place_again, "Blue Monday");
        assert_eq!(leads_to(&evening.send(&lost, &answered)), place);
    } else {
        assert_eq!(leads_to(&place_again), place);
    }
    assert_eq!(lost.cookie(SESSION), browser.cookie(SESSION));
    assert_eq!(counts(&database), after);
}

#[test]
fn concurrent_posts_of_one_form_to_two_servers_have_one_effect() {
    let database = Arc::new(Database::postgres());
    let servers = [Server::on(&database, &[SHARED_KEY]), Server::on(&database, &[SHARED_KEY])];
    let evening = Evening::new(&servers[0]);
    for round in 1..=6_usize {
        let before = counts(&database);
        let browser = Browser::new(&servers[0].client());
        let song = format!("Song {round}");
        let form = evening.filled(&browser, &song);
        let call = |number: usize| evening.call(&browser.at(&servers[number % 2].client()), &form);
        let answers = at_once((0..8).map(call).collect());
        let place = leads_to(&answers[0]).to_owned();
        let cookie = set_cookies(&answers[0])[0].1.clone();
        for answer in &answers {
            is_page(answer);
            assert_eq!(leads_to(answer), place, "round {round}");
            assert_eq!(set_cookies(answer)[0].1, cookie, "round {round}: {answer}");
        }
        let after = counts(&database);
        assert_eq!([after[0] - before[0], after[1] - before[1], after[2] - before[2]], [1, 1, 1], "{round}");
        browser.keep(&answers[0]);
        for server in &servers {
            let page = browser.at(&server.client()).get(&evening.page());
            assert_eq!(page.text.matches("id=\"request-").count(), 1, "{page}");
        }
    }
    database.verify();
}

fn a_login_and_a_logout_begin_and_end_a_session(store: Store) {
    let server = Server::start(store);
    let (guest, dj) = (server.guest(), server.dj());
    let browser = Browser::new(&server.client());
    let wrong = browser.log_in(&guest.email, "wrong horse");
    assert_eq!((wrong.status, browser.cookie(SESSION)), (422, None), "{wrong}");
    assert!(!wrong.text.contains("wrong horse"), "{wrong}");
    assert_eq!(leads_to(&browser.log_in(&guest.email, PASSWORD)), "/");
    assert!(browser.is_logged_in());
    let thief = thief_of(&browser, &server);
    assert!(thief.is_logged_in());

    // Logged in again, the browser has another session.
    let first = browser.cookie(SESSION).unwrap();
    leads_to(&browser.log_in(&guest.email, PASSWORD));
    assert_ne!(browser.cookie(SESSION).unwrap(), first);
    assert!(thief.is_logged_in());

    let copy = thief_of(&browser, &server);
    assert_eq!(leads_to(&browser.post("/logout", &[])), "/?done=logged-out");
    assert_eq!(browser.cookie(SESSION), None);
    assert!(!copy.is_logged_in(), "a stolen cookie ends with its session");
    assert_eq!(leads_to(&copy.get("/verify")), "/login?next=%2Fverify");
    assert_eq!(leads_to(&browser.post("/logout", &[])), "/login");
    // A DJ is led to the booth, and everybody to the page from which they came.
    assert_eq!(leads_to(&browser.log_in(&dj.email, PASSWORD)), "/booth");
    let fields = [("email", dj.email.as_str()), ("password", PASSWORD), ("next", "/g/K7TW3M?a=b")];
    assert_eq!(leads_to(&browser.post("/login", &fields)), "/g/K7TW3M?a=b");
}

/// Attack API2: using a copied cookie after its session has ended at another server.
#[test]
fn a_session_ended_at_one_server_is_refused_at_another_within_two_seconds() {
    let database = Arc::new(Database::postgres());
    let keys = [&[SHARED_KEY][..], &operator_keys("op@example.com")].concat();
    let servers = [Server::on(&database, &keys), Server::on(&database, &keys)];
    let operator = servers[0].client().login("op@example.com");
    type End = fn(&Person, &Person);
    let ends: [(&str, End); 4] = [
        ("logout everywhere", |guest, _| drop(guest.post("/auth/logout-everywhere", &json!({})).data(200))),
        ("suspension", |guest, operator| {
            let path = format!("/operator/users/{}/suspend", guest.id);
            operator.post(&path, &json!({"reason": "as agreed"})).data(200);
        }),
        ("password", |guest, _| {
            let body = json!({"current_password": PASSWORD, "password": "battery staple"});
            guest.post("/auth/password", &body).data(200);
        }),
        ("list of sessions", |guest, _| {
            let own = guest.session();
            let other = guest.ids("/auth/sessions", "id").into_iter().find(|id| *id != own).unwrap();
            guest.delete(&format!("/auth/sessions/{other}")).data(200);
        }),
    ];
    for (name, end) in ends {
        let guest = servers[0].guest();
        let browser = logged_in(&servers[0], &guest);
        let elsewhere = browser.at(&servers[1].client());
        assert!(elsewhere.is_logged_in(), "{name}");
        end(&guest, &operator);
        let ended = Instant::now();
        assert!(!browser.is_logged_in(), "{name}: at the server that ended it");
        let left = Duration::from_secs(2).saturating_sub(ended.elapsed());
        within(left, name, || (!elsewhere.is_logged_in()).then_some(()));
    }
}

/// Attack API2: an operator's browser that is left open.
#[test]
fn sessions_of_staff_end_twelve_hours_after_the_login_however_they_are_used() {
    // Twelve hours take twelve seconds.
    let keys = [&operator_keys("op@example.com")[..], &[("server.clock_rate", "3600")]].concat();
    let server = Server::configured(Store::Memory, &keys);
    let (operator, guest) = (server.client().login("op@example.com"), server.guest());
    let (staff, member) = (logged_in(&server, &operator), logged_in(&server, &guest));
    let began = Instant::now();
    let ended = within(Duration::from_secs(30), "the session ends", || {
        (!staff.is_logged_in()).then(|| began.elapsed())
    });
    assert!(ended >= Duration::from_secs(11), "{ended:?}");
    assert!(member.is_logged_in());
}

fn a_session_of_a_browser_is_listed_and_ended_by_the_api(store: Store) {
    let server = Server::start(store);
    let (guest, stranger) = (server.guest(), server.guest());
    let browser = Browser::new(&server.client());
    let call = browser.form("/login", &[("email", &guest.email), ("password", PASSWORD)]);
    browser.send(call.header("user-agent", "Phone/1.0"));
    let listed = sessions(&guest);
    assert_eq!(listed.len(), 2, "{listed:?}");
    let row = listed.iter().find(|row| row["user_agent"] == "Phone/1.0").unwrap();
    assert_eq!((&row["current"], &row["ip_address"]), (&json!(false), &json!("127.0.0.1")));
    assert!(!listed.iter().any(|row| row.to_string().contains(&browser.cookie(SESSION).unwrap())));
    let path = format!("/auth/sessions/{}", row["id"]);
    stranger.delete(&path).refused(404, "not_found");
    assert!(browser.is_logged_in());
    guest.delete(&path).data(200);
    assert!(!browser.is_logged_in());
    assert_eq!(sessions(&guest).len(), 1);
}

/// Attack API2: a page of another site that calls the API with the victim's cookie.
fn the_api_accepts_no_cookie(store: Store) {
    let server = Server::start(store);
    let guest = server.guest();
    let browser = logged_in(&server, &guest);
    let cookie = browser.cookie(SESSION).unwrap();
    for route in ROUTES.iter().filter(|route| route.private) {
        let path = format!("/api/v1{}", route.at(1));
        let answer = browser.call(route.method, &path).header("sec-fetch-site", "same-origin").send();
        answer.refused(401, "unauthenticated");
        assert!(answer.header("set-cookie").is_none(), "{answer}");
        let answer = server.client().outside(route.method, &path).bearer(&cookie).send();
        answer.refused(401, "invalid_token");
    }
    // Neither does a page accept a token of the API.
    let with_token = server.client().outside("GET", "/verify").bearer(&guest.token).send();
    assert_eq!(leads_to(&with_token), "/login?next=%2Fverify");
    let token = Browser::new(&server.client());
    token.set_cookie(SESSION, &guest.token);
    assert!(!token.is_logged_in());
    token.set_cookie(SESSION, &guest.refresh_token);
    assert!(!token.is_logged_in());
}

/// Attack API2: a cookie that an attacker knows, set in the victim's browser before the login.
fn a_cookie_fixed_before_a_login_is_no_session_after_it(store: Store) {
    let server = Server::start(store);
    let (victim, attacker) = (server.guest(), server.guest());
    let own = logged_in(&server, &attacker);
    let unknown = "A".repeat(43);
    for (fixed, kept) in [(own.cookie(SESSION).unwrap(), None), (unknown.clone(), Some(unknown))] {
        let browser = Browser::new(&server.client());
        browser.set_cookie(SESSION, &fixed);
        leads_to(&browser.log_in(&victim.email, PASSWORD));
        let session = browser.cookie(SESSION).unwrap();
        assert_ne!(session, fixed);
        assert!(browser.get("/verify").text.contains(&victim.email));
        let known = Browser::new(&server.client());
        known.set_cookie(SESSION, &fixed);
        assert!(!known.call("GET", "/verify").send().text.contains(&victim.email));
        assert_eq!(browser.cookie(GUEST), kept, "it may be the key of a wallet");
    }
    // A registration begins a new session as well.
    let browser = Browser::new(&server.client());
    browser.set_cookie(SESSION, &"B".repeat(43));
    let fields = [("name", "Eve"), ("email", "eve@example.com"), ("password", PASSWORD)];
    leads_to(&browser.post("/register", &fields));
    assert_ne!(browser.cookie(SESSION).unwrap(), "B".repeat(43));
    assert!(browser.is_logged_in());
}

fn a_login_keeps_the_guest_wallet(store: Store) {
    let server = Server::start(store);
    let evening = Evening::new(&server);
    let member = server.guest();
    let browser = Browser::new(&server.client());
    leads_to(&evening.request(&browser, "Blue Monday"));
    let wallet = browser.cookie(SESSION).unwrap();
    leads_to(&browser.log_in(&member.email, PASSWORD));
    let session = browser.cookie(SESSION).unwrap();
    assert_eq!(browser.cookie(GUEST), Some(wallet.clone()));
    assert_ne!(session, wallet);
    assert!(
        browser.get(&evening.page()).text.contains("id=\"request-"),
        "the requests of the kept guest are shown"
    );
    // A second login keeps it too.
    leads_to(&browser.log_in(&member.email, PASSWORD));
    assert_eq!(browser.cookie(GUEST), Some(wallet.clone()));
    leads_to(&browser.post("/logout", &[]));
    assert_eq!((browser.cookie(SESSION), browser.cookie(GUEST)), (None, Some(wallet.clone())));
    assert!(browser.get(&evening.page()).text.contains("id=\"request-"));
    // No login leads to a guest account, so that its money keeps its session.
    assert_eq!(leads_to(&browser.post("/logout", &[])), "/claim");
    assert_eq!(browser.cookie(GUEST), Some(wallet.clone()));
    // Without another session, the kept one is the browser's session.
    let later = Browser::new(&server.client());
    later.set_cookie(GUEST, &wallet);
    assert!(later.get(&evening.page()).text.contains("id=\"request-"));
    // So is an empty one, which may be paid into while the login is checked.
    let free = Evening { dj: server.dj_at("0", "0"), ..Evening::new(&server) };
    let gig = crate::harness::gig_scene::open(&free.dj, &json!({"title": "Free"}));
    let free = Evening { code: gig["code"].as_str().unwrap().to_owned(), gig, ..free };
    let browser = Browser::new(&server.client());
    leads_to(&free.request(&browser, "Blue Monday"));
    let wallet = browser.cookie(SESSION);
    leads_to(&browser.log_in(&member.email, PASSWORD));
    assert_eq!(browser.cookie(GUEST), wallet);
}

fn a_song_of_the_kept_guest_wallet_is_asked_about(store: Store) {
    let server = Server::start(store);
    let evening = Evening::new(&server);
    let browser = Browser::new(&server.client());
    leads_to(&evening.request(&browser, "Blue Monday"));
    leads_to(&browser.post("/topups", &[("key", "0123456789012345678901-topup"), ("amount", "10")]));
    leads_to(&browser.log_in(&server.guest().email, PASSWORD));
    let wallet = field(&browser.get(&evening.page()), "guest_wallet");
    let form = with(evening.filled(&browser, "Blue Monday"), "guest_wallet", &wallet);
    let asked = evening.send(&browser, &form);
    assert_eq!(asked.status, 422, "{asked}");
    assert!(asked.text.contains("You have an open request for this song."), "{asked}");
    assert_eq!(evening.requests().len(), 1);
    // The question keeps the guest's choice of the wallet.
    let is_chosen = |page: &Answer| page.text.contains(&format!("value=\"{wallet}\" checked"));
    assert!(is_chosen(&browser.get(&evening.page())) && is_chosen(&asked));
    let other = evening.send(&browser, &evening.filled(&browser, " "));
    assert!(other.status == 422 && !is_chosen(&other), "{other}");
    let answered = with(filled_on(&asked, "Blue Monday"), "guest_wallet", &wallet);
    let sent = evening.send(&browser, &answered);
    assert_eq!(leads_to(&evening.send(&browser, &form)), leads_to(&sent), "the same form asks nothing");
    assert_eq!(evening.requests().len(), 2);
}

#[test]
fn a_login_and_a_logout_drop_a_request_that_waits_for_its_payment() {
    let server = Server::configured(Store::Memory, &TOPUPS);
    let (evening, member) = (Evening::new(&server), server.guest());
    let browser = Browser::new(&server.client());
    assert!(leads_to(&evening.request(&browser, "Blue Monday")).starts_with("/topups/"));
    let draft = browser.cookie(DRAFT).unwrap();
    leads_to(&browser.log_in(&member.email, PASSWORD));
    assert_eq!(browser.cookie(DRAFT), None);
    browser.set_cookie(DRAFT, &draft);
    leads_to(&browser.post("/logout", &[]));
    assert_eq!(browser.cookie(DRAFT), None);
    // The draft of one guest is void in the session of another.
    browser.set_cookie(DRAFT, &draft);
    leads_to(&browser.log_in(&member.email, PASSWORD));
    browser.set_cookie(DRAFT, &draft);
    let sent = evening.send_draft(&browser);
    assert_eq!(leads_to(&sent), format!("{}?done=nothing-waits", evening.page()));
    assert!(evening.requests().is_empty());
}

/// Attack API2: another host of the domain sets a cookie of its own beside the session's.
fn two_cookies_of_one_name_are_void(store: Store) {
    let server = Server::start(store);
    let guest = server.guest();
    let browser = logged_in(&server, &guest);
    let attacker = logged_in(&server, &server.guest());
    let (own, fixed) = (browser.cookie(SESSION).unwrap(), attacker.cookie(SESSION).unwrap());
    for cookies in [
        format!("cuepoint={own}; cuepoint={fixed}"),
        format!("cuepoint={fixed}; cuepoint={own}"),
        format!("cuepoint={own}; cuepoint={own}"),
        format!("cuepoint={own}; cuepoint="),
    ] {
        let answer = server.client().outside("GET", "/verify").header("cookie", &cookies).send();
        assert_eq!(leads_to(&answer), "/login?next=%2Fverify", "{cookies}");
    }
    let prefixed =
        format!("__Host-cuepoint={own}; Cuepoint={own}; cuepoint-guest={own}; cuepoint-draft={own}");
    let answer = server.client().outside("GET", "/verify").header("cookie", &prefixed).send();
    assert_eq!(leads_to(&answer), "/login?next=%2Fverify");
}

/// Attack API2: another host of the domain sets a cookie that is malformed.
fn a_strange_cookie_beside_it_does_not_end_a_session(store: Store) {
    let server = Server::start(store);
    let browser = logged_in(&server, &server.guest());
    let own = browser.cookie(SESSION).unwrap();
    for strange in ["nameless", "=empty", "a=%ff", "a=%", "a=\"b", "a=b=c", ";;", "a=ä"] {
        let cookies = format!("{strange}; cuepoint={own}");
        let answer = server.client().outside("GET", "/verify").header("cookie", &cookies).send();
        assert_eq!(answer.status, 200, "{strange}: {answer}");
    }
}

fn a_claim_replaces_the_cookie(store: Store) {
    let server = Server::start(store);
    let evening = Evening::new(&server);
    let browser = Browser::new(&server.client());
    leads_to(&evening.request(&browser, "Blue Monday"));
    assert_eq!(leads_to(&browser.get("/verify")), "/claim?next=%2Fverify");
    let page = browser.get("/claim?next=/g/K7TW3M");
    assert_eq!(page.status, 200, "{page}");
    let thief = thief_of(&browser, &server);
    let old = browser.cookie(SESSION).unwrap();
    let taken = server.guest();
    let fields = [("name", "Mia"), ("email", taken.email.as_str()), ("password", PASSWORD)];
    assert_eq!(browser.post("/claim", &fields).status, 422);
    let fields =
        [("name", "Mia"), ("email", "mia@example.com"), ("password", PASSWORD), ("next", "/g/K7TW3M")];
    assert_eq!(leads_to(&browser.post("/claim", &fields)), "/g/K7TW3M?done=claimed");
    assert_ne!(browser.cookie(SESSION).unwrap(), old);
    assert_eq!(browser.get("/verify").status, 200);
    assert!(browser.get(&evening.page()).text.contains("id=\"request-"));
    assert!(!thief.is_logged_in());
    let member = server.client().login("mia@example.com");
    assert_eq!(member.wallet(), ("0.00".into(), "10.00".into()));
    // The claim is no page of a member.
    let again = browser.get("/claim");
    assert!([303, 403].contains(&again.status), "{again}");
}

fn a_registration_whose_answer_was_lost_leads_into_the_account(store: Store) {
    let database = Arc::new(Database::of(store));
    let server = Server::on(&database, &[]);
    let fields = [("name", "Ada"), ("email", "Ada@example.com"), ("password", PASSWORD), ("is_dj", "1")];
    let [lost, again, late] = [(); 3].map(|()| Browser::new(&server.client()));
    leads_to(&lost.post("/register", &fields));
    assert_eq!(leads_to(&again.post("/register", &fields)), "/booth");
    // The first session has been used, and its minute is over.
    assert!(again.is_logged_in());
    let hour = database.sql("interval '1 hour'", "3600000000");
    database.execute(&format!("UPDATE users SET created_at = created_at - {hour}"));
    let sessions = format!("UPDATE sessions SET began_at = began_at - {hour}, used_at = used_at - {hour}");
    database.execute(&sessions);
    let answer = late.post("/register", &[&fields[..], &[("next", "/account")]].concat());
    assert_eq!(leads_to(&answer), "/account");
    assert!(late.get("/account").text.contains("Ada@example.com"));
    assert_ne!(late.cookie(SESSION), again.cookie(SESSION), "a session of its own");
    assert_eq!(count(&database, "users"), 1);
    let wrong = [("name", "Eve"), ("email", "ada@example.com"), ("password", "battery staple")];
    let refused = Browser::new(&server.client()).post("/register", &wrong);
    assert_eq!(refused.status, 422, "{refused}");
    assert!(refused.text.contains("This address has an account already."), "{refused}");
    assert!(refused.header("set-cookie").is_none(), "{refused}");
}

fn pages_set_no_session_by_reading(store: Store) {
    let server = Server::start(store);
    let evening = Evening::new(&server);
    for path in
        ["/", "/login", "/register", "/forgot", "/reset", "/first-operator", "/g/K7TW3M", &evening.page()]
    {
        let answer = Browser::new(&server.client()).get(path);
        assert!(answer.header("set-cookie").is_none(), "{answer}");
    }
}

#[test]
fn a_first_form_with_another_content_is_another_request_and_not_a_second_account() {
    let server = Server::configured(Store::Memory, &[]);
    let evening = Evening::new(&server);
    let browser = Browser::new(&server.client());
    let form = evening.filled(&browser, "Blue Monday");
    leads_to(&evening.send(&browser, &form));
    let other = crate::harness::guest_scene::with(form, "song_title", "Temptation");
    let answer = evening.send(&Browser::new(&server.client()), &other);
    assert_eq!(answer.status, 409, "{answer}");
    assert_eq!(evening.requests().len(), 1);
}
