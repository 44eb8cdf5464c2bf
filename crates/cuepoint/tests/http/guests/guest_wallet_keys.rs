//! The keys of guest wallets: which cookies a browser keeps, what ends them, and which wallet pays.

use std::sync::Arc;

use serde_json::json;

use crate::harness::guest_scene::{Evening, with};
use crate::harness::{
    Answer, Browser, Database, GUEST, PASSWORD, Person, Restored, SESSION, Server, Store, field, gig_scene,
    leads_to, set_cookies,
};

on_one_store!(
    a_guest_wallet_outlasts_a_server_on_another_database,
    a_guest_wallet_beside_a_member_outlasts_a_server_on_another_database,
    a_guest_wallet_is_reached_after_a_suspension,
    a_suspended_guest_wallet_is_kept_when_another_user_logs_in,
    a_guest_wallet_is_reached_after_a_hundred_days_without_a_visit,
    a_claim_in_another_browser_says_how_the_wallet_is_reached,
    the_end_of_an_apps_guest_session_says_what_it_leaves,
    the_earlier_wallet_that_was_shown_pays_or_none,
    a_form_that_showed_another_wallet_spends_nothing,
    a_form_that_was_shown_to_nobody_spends_no_members_money,
    a_payout_that_another_member_was_asked_to_confirm_moves_no_money,
    a_wallet_that_is_paid_into_during_a_login_is_kept,
    a_fifth_wallet_with_money_begins_no_session,
    only_guest_accounts_count_in_the_guest_cookie,
    cookies_of_any_size_and_number_are_answered,
    a_claim_that_a_restore_undoes_loses_no_wallet,
);
on_durable_stores!(a_guest_wallet_is_reached_after_a_restore);

/// A gig where requests cost nothing, so that money stays in the wallet.
pub(crate) fn free(server: &Server) -> Evening {
    let dj = server.dj_at("0", "0");
    let gig = gig_scene::open(&dj, &json!({"title": "Friday", "max_open_per_guest": 100}));
    let code = gig["code"].as_str().unwrap().to_owned();
    Evening { dj, gig, code }
}

/// Pays this amount into the wallet of the browser.
fn pay_in(browser: &Browser, amount: &str) {
    leads_to(&browser.post("/topups", &[("key", "0123456789012345678901-topup"), ("amount", amount)]));
}

/// A browser with a guest account whose wallet holds 40.00.
pub(crate) fn wallet(evening: &Evening, server: &Server) -> Browser {
    let browser = evening.guest(server);
    pay_in(&browser, "40");
    assert!(has_40(&browser));
    browser
}

/// Whether this browser acts for the wallet of 40.00.
pub(crate) fn has_40(browser: &Browser) -> bool {
    let page = browser.get("/wallet");
    page.status == 200 && page.text.contains("<dd>40.00\u{a0}USD</dd>")
}

/// The id of the newest guest account.
fn newest_guest(server: &Server) -> String {
    let rows = server.database().unwrap().rows("SELECT max(id) FROM users WHERE role = 'guest'");
    rows[0][0].clone().unwrap()
}

/// A browser with these cookies.
pub(crate) fn with_cookies(server: &Server, session: Option<&str>, guest: &[String]) -> Browser {
    let browser = Browser::new(&server.client());
    if let Some(session) = session {
        browser.set_cookie(SESSION, session);
    }
    if !guest.is_empty() {
        browser.set_cookie(GUEST, &guest.join("."));
    }
    browser
}

pub(crate) fn secret_of(browser: &Browser) -> String {
    browser.cookie(SESSION).unwrap()
}

/// Requests a song that was not requested before.
fn request(browser: &Browser, evening: &Evening) {
    let song = format!("Song {}", evening.requests().len());
    assert!(leads_to(&evening.request(browser, &song)).starts_with(&evening.page()));
}

/// What a browser does at a server with another database.
type Meanwhile = fn(&Browser, &Evening, &Person);

const MEANWHILE: [(&str, Meanwhile); 5] = [
    ("the wallet is opened", |browser, _, _| {
        assert_eq!(leads_to(&browser.get("/wallet")), "/login?next=%2Fwallet");
    }),
    ("a song is requested", |browser, evening, _| request(browser, evening)),
    ("a song is requested and paid", |browser, evening, _| {
        request(browser, evening);
        pay_in(browser, "5");
    }),
    ("a member logs in", |browser, _, member| {
        leads_to(&browser.log_in(&member.email, PASSWORD));
    }),
    ("a member registers", |browser, _, _| {
        let email = format!("a{}@example.com", secret_of(browser));
        let fields = [("name", "Ada"), ("email", email.as_str()), ("password", PASSWORD)];
        leads_to(&browser.post("/register", &fields));
    }),
];

/// Attack API2: the service runs with another database, and destroys the keys of wallets.
fn a_guest_wallet_outlasts_a_server_on_another_database(store: Store) {
    let (right, wrong) = (Server::start(store), Server::start(store));
    let (evening, elsewhere, member) = (free(&right), free(&wrong), wrong.guest());
    for (name, meanwhile) in MEANWHILE {
        let browser = wallet(&evening, &right);
        for round in 1..=2 {
            meanwhile(&browser.at(&wrong.client()), &elsewhere, &member);
            assert!(has_40(&browser), "{name}, round {round}");
            request(&browser, &evening);
            assert!(has_40(&browser), "{name}, after a request in round {round}");
        }
    }
}

fn a_guest_wallet_beside_a_member_outlasts_a_server_on_another_database(store: Store) {
    let (right, wrong) = (Server::start(store), Server::start(store));
    let (evening, elsewhere, member, other) = (free(&right), free(&wrong), right.guest(), wrong.guest());
    for (name, meanwhile) in MEANWHILE {
        let browser = wallet(&evening, &right);
        leads_to(&browser.log_in(&member.email, PASSWORD));
        meanwhile(&browser.at(&wrong.client()), &elsewhere, &other);
        // The session of the member may be replaced, but the wallet must stay.
        if !browser.get("/wallet").text.contains("40.00\u{a0}USD more are in an earlier wallet") {
            assert!(has_40(&browser), "{name}");
            leads_to(&browser.log_in(&member.email, PASSWORD));
        }
        let page = browser.get(&evening.page());
        assert!(page.text.contains("Spend the 40.00\u{a0}USD of the earlier wallet"), "{name}: {page}");
    }
}

fn a_guest_wallet_is_reached_after_a_suspension(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let (evening, app) = (free(&server), server.guest_account());
    let browser = wallet(&evening, &server);
    app.topup("30");
    let users = [newest_guest(&server), app.id.to_string()];
    let decide = |what: &str| {
        for user in &users {
            let reason = json!({"reason": "as agreed"});
            operator.post(&format!("/operator/users/{user}/{what}"), &reason).data(200);
        }
    };
    decide("suspend");
    assert_eq!(browser.get("/wallet").status, 403);
    app.get("/wallet").refused(403, "account_suspended");
    let refresh = json!({"refresh_token": app.refresh_token});
    server.client().post("/auth/refresh", &refresh).refused(403, "account_suspended");
    assert!(browser.get("/login").header("set-cookie").is_none(), "the login forgets no key");
    decide("restore");
    assert!(has_40(&browser));
    assert_eq!(app.wallet().0, "30.00");
    server.client().post("/auth/refresh", &refresh).data(200);
}

fn a_suspended_guest_wallet_is_kept_when_another_user_logs_in(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let (evening, member) = (free(&server), server.guest());
    let browser = wallet(&evening, &server);
    let path = format!("/operator/users/{}", newest_guest(&server));
    operator.post(&format!("{path}/suspend"), &json!({"reason": "as agreed"})).data(200);
    leads_to(&browser.log_in(&member.email, PASSWORD));
    assert!(!browser.get("/wallet").text.contains("40.00"), "a suspended wallet is none to spend");
    operator.post(&format!("{path}/restore"), &json!({"reason": "as agreed"})).data(200);
    assert!(browser.get("/wallet").text.contains("40.00\u{a0}USD more are in an earlier wallet"));
    leads_to(&browser.post("/logout", &[]));
    assert!(has_40(&browser));
}

fn a_guest_wallet_is_reached_after_a_hundred_days_without_a_visit(store: Store) {
    let database = Arc::new(Database::of(store));
    let server = Server::on(&database, &[]);
    let browser = wallet(&free(&server), &server);
    let (_, _, attributes) =
        set_cookies(&free(&server).request(&Browser::new(&server.client()), "Kiss"))[0].clone();
    assert!(attributes.contains("Max-Age=34560000"), "{attributes}");
    drop(server);
    let days = database.sql("interval '100 days'", "8640000000000");
    let moved = ["began_at", "used_at", "expires_at"].map(|column| format!("{column} = {column} - {days}"));
    database.execute(&format!("UPDATE sessions SET {}", moved.join(", ")));
    let server = Server::on(&database, &[]);
    let later = browser.at(&server.client());
    let visit = later.get("/wallet");
    assert!(visit.text.contains("<dd>40.00\u{a0}USD</dd>"), "{visit}");
    let (name, value, attributes) = set_cookies(&visit)[0].clone();
    assert_eq!((name.as_str(), value), (SESSION, secret_of(&browser)));
    assert!(attributes.contains("Max-Age=34560000"), "400 days after this visit: {attributes}");
    assert!(later.get("/wallet").header("set-cookie").is_none(), "not with each answer");
}

fn a_claim_in_another_browser_says_how_the_wallet_is_reached(store: Store) {
    let server = Server::start(store);
    let browser = wallet(&free(&server), &server);
    let other = with_cookies(&server, Some(&secret_of(&browser)), &[]);
    let page = other.get("/claim");
    assert!(
        page.text.contains("Afterwards, other browsers with this wallet need this address and password."),
        "{page}"
    );
    let fields = [("name", "Mia"), ("email", "mia@example.com"), ("password", PASSWORD)];
    leads_to(&other.post("/claim", &fields));
    assert!(has_40(&other));
    assert_eq!(leads_to(&browser.get("/wallet")), "/login?next=%2Fwallet");
    let login = browser.get("/login?next=%2Fwallet");
    assert!(login.text.contains("log in with its e-mail address"), "{login}");
    leads_to(&browser.log_in("mia@example.com", PASSWORD));
    assert!(has_40(&browser));
}

/// Attack API2: a stolen refresh token of an app, used a second time.
fn the_end_of_an_apps_guest_session_says_what_it_leaves(store: Store) {
    let server = Server::start(store);
    let client = server.client();
    let refresh = |token: &str| client.post("/auth/refresh", &json!({"refresh_token": token}));
    let reused = server.guest_account();
    reused.topup("40");
    let next = refresh(&reused.refresh_token).data(200)["refresh_token"].as_str().unwrap().to_owned();
    refresh(&next).data(200);
    let refused = refresh(&reused.refresh_token);
    refused.refused(401, "invalid_refresh_token");
    assert!(refused.message().contains("ask an operator for a wallet link"), "{refused}");
    type End = fn(&Person) -> Answer;
    let ends: [End; 3] = [
        |person| person.post("/auth/logout-everywhere", &json!({})),
        |person| person.delete(&format!("/auth/sessions/{}", person.session())),
        |person| person.post("/auth/logout", &json!({"refresh_token": person.refresh_token})),
    ];
    for end in ends {
        for (person, paid) in
            [(server.guest_account(), true), (server.guest_account(), false), (server.guest(), true)]
        {
            if paid {
                person.topup("40");
            }
            let strands = paid && person.email.ends_with("@guest.invalid");
            let ended = end(&person);
            assert_eq!(ended.status, 200, "{ended}");
            assert_eq!(ended.message().contains("money is left in the guest account"), strands, "{ended}");
        }
    }
}

fn the_earlier_wallet_that_was_shown_pays_or_none(store: Store) {
    let server = Server::start(store);
    let evening = Evening::new(&server);
    let [(first, _), (second, id), (newest, own)] =
        [(); 3].map(|()| (wallet(&free(&server), &server), newest_guest(&server)));
    let secrets = [secret_of(&second), secret_of(&first)];
    let browser = with_cookies(&server, Some(&secret_of(&newest)), &secrets);
    let page = browser.get("/wallet");
    assert_eq!(page.text.matches("40.00\u{a0}USD more are in an earlier wallet").count(), 2, "{page}");
    let shown = field(&browser.get(&evening.page()), "guest_wallet");
    assert_eq!(shown, id, "the newest one is offered");
    let form = with(evening.filled(&browser, "Blue Monday"), "guest_wallet", &shown);
    for strange in ["1", "", &own, &format!("0{shown}")] {
        let refused = evening.send(&browser, &with(form.clone(), "guest_wallet", strange));
        assert_eq!(refused.status, 409, "{strange}: {refused}");
    }
    leads_to(&evening.send(&browser, &form));
    assert!(second.get("/wallet").text.contains("30.00\u{a0}USD") && has_40(&first) && has_40(&newest));
    // Another wallet takes its place in the cookie before the form is sent.
    let form = with(evening.filled(&browser, "Temptation"), "guest_wallet", &shown);
    browser.set_cookie(GUEST, &secret_of(&first));
    assert_eq!(evening.send(&browser, &form).status, 409);
    assert!(has_40(&first));
}

fn a_form_that_showed_another_wallet_spends_nothing(store: Store) {
    let server = Server::start(store);
    let evening = Evening::new(&server);
    let (shown, id) = (wallet(&free(&server), &server), newest_guest(&server));
    let other = wallet(&free(&server), &server);
    let browser = with_cookies(&server, None, &[secret_of(&shown)]);
    let payer = field(&browser.get(&evening.page()), "payer");
    assert_eq!(payer, id);
    let form = with(evening.filled(&browser, "Blue Monday"), "payer", &payer);
    browser.set_cookie(SESSION, &secret_of(&other));
    assert_eq!(evening.send(&browser, &form).status, 409);
    let topup = [("key", "0123456789012345678901-again"), ("amount", "5"), ("payer", payer.as_str())];
    assert_eq!(browser.post("/topups", &topup).status, 409);
    assert!(has_40(&shown) && has_40(&other));
}

fn a_form_that_was_shown_to_nobody_spends_no_members_money(store: Store) {
    let server = Server::start(store);
    let (evening, member) = (Evening::new(&server), server.payer("50"));
    let browser = Browser::new(&server.client());
    let payer = field(&browser.get(&evening.page()), "payer");
    assert_eq!(payer, "");
    let form = with(evening.filled(&browser, "Blue Monday"), "payer", &payer);
    leads_to(&browser.log_in(&member.email, PASSWORD));
    assert_eq!(evening.send(&browser, &form).status, 409);
    assert_eq!(member.wallet().0, "50.00");
}

/// Attack API1: the payout of one member, confirmed by the next one in the same browser.
fn a_payout_that_another_member_was_asked_to_confirm_moves_no_money(store: Store) {
    let server = Server::start(store);
    let (first, next) = (server.payer("50"), server.payer("50"));
    let browser = Browser::logged_in(&server.client(), &first);
    let typed = [
        ("amount", "5"),
        ("payout", "BTC/bitcoin"),
        ("wallet_address", "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"),
    ];
    let payer = field(&browser.get("/wallet"), "payer");
    assert_eq!(payer, first.id.to_string());
    let asked = browser.post("/wallet/payout", &[&typed[..], &[("payer", payer.as_str())]].concat());
    assert_eq!((asked.status, field(&asked, "payer")), (200, payer.clone()), "{asked}");
    let key = field(&asked, "key");
    let confirmed = [&typed[..], &[("key", key.as_str()), ("payer", payer.as_str())]].concat();
    leads_to(&browser.log_in(&next.email, PASSWORD));
    assert_eq!(browser.post("/wallet/payout/confirm", &confirmed).status, 409);
    assert_eq!(browser.post("/wallet/payout", &confirmed).status, 409);
    assert_eq!((first.wallet().0, next.wallet().0), ("50.00".to_owned(), "50.00".to_owned()));
}

/// The worth of the wallet is known before the password of the login is checked, and the payment arrives in between.
fn a_wallet_that_is_paid_into_during_a_login_is_kept(store: Store) {
    let server = Server::start(store);
    let (evening, member) = (free(&server), server.guest());
    let browser = evening.guest(&server);
    let secret = secret_of(&browser);
    let tab = with_cookies(&server, Some(&secret), &[]);
    leads_to(&browser.log_in(&member.email, PASSWORD));
    pay_in(&tab, "40");
    assert_eq!(browser.cookie(GUEST).as_ref(), Some(&secret));
    assert!(has_40(&with_cookies(&server, None, &[secret])));
}

fn a_fifth_wallet_with_money_begins_no_session(store: Store) {
    let server = Server::start(store);
    let (evening, member) = (free(&server), server.guest());
    let wallets: Vec<String> = (0..5).map(|_| secret_of(&wallet(&evening, &server))).collect();
    let browser = with_cookies(&server, Some(&wallets[4]), &wallets[..4]);
    assert_eq!(leads_to(&browser.log_in(&member.email, PASSWORD)), "/wallet");
    let fields = [("name", "Ada"), ("email", "ada@example.com"), ("password", PASSWORD)];
    assert_eq!(leads_to(&browser.post("/register", &fields)), "/wallet");
    assert_eq!(secret_of(&browser), wallets[4]);
    let page = browser.get("/wallet");
    assert!(page.text.contains("This phone keeps four wallets with money"), "{page}");
    // A claim needs no place in the guest cookie.
    let fields = [("name", "Mia"), ("email", "mia@example.com"), ("password", PASSWORD)];
    leads_to(&browser.post("/claim", &fields));
    assert!(has_40(&browser));
    assert_eq!(browser.cookie(GUEST), Some(wallets[..4].join(".")));
    // A secret that the database does not know makes room.
    let unknown = "U".repeat(43);
    let kept = [wallets[0].clone(), unknown, wallets[1].clone(), wallets[2].clone()];
    let browser = with_cookies(&server, Some(&wallets[3]), &kept);
    leads_to(&browser.log_in(&member.email, PASSWORD));
    let expected = [&wallets[3], &wallets[0], &wallets[1], &wallets[2]].map(String::as_str);
    assert_eq!(browser.cookie(GUEST), Some(expected.join(".")));
}

/// Attack API2: the session of another user or of a member in the guest cookie.
fn only_guest_accounts_count_in_the_guest_cookie(store: Store) {
    let server = Server::start(store);
    let (evening, member, victim) = (free(&server), server.guest(), server.payer("50"));
    let stolen = secret_of(&Browser::logged_in(&server.client(), &victim));
    let thief = with_cookies(&server, None, std::slice::from_ref(&stolen));
    assert!(!thief.is_logged_in());
    leads_to(&thief.log_in(&member.email, PASSWORD));
    assert!(!thief.get("/wallet").text.contains("50.00"));
    assert!(!thief.get(&evening.page()).text.contains("guest_wallet"));
    let form = with(evening.filled(&thief, "Blue Monday"), "guest_wallet", &victim.id.to_string());
    assert_eq!(evening.send(&thief, &form).status, 409);
    // Five secrets: the fifth does not count.
    let wallet = secret_of(&wallet(&evening, &server));
    let unknown = ["A", "B", "C", "D"].map(|letter| letter.repeat(43));
    assert!(
        !with_cookies(&server, None, &[&unknown[..], std::slice::from_ref(&wallet)].concat()).is_logged_in()
    );
    assert!(has_40(&with_cookies(&server, None, &[&unknown[..3], std::slice::from_ref(&wallet)].concat())));
    assert!(has_40(&with_cookies(&server, None, &[stolen, wallet])));
}

/// Attack API4: cookies of any size and number.
fn cookies_of_any_size_and_number_are_answered(store: Store) {
    let server = Server::start(store);
    let evening = free(&server);
    let own = secret_of(&wallet(&evening, &server));
    let long = "a".repeat(8_000);
    let many: Vec<String> = (0..10).map(|number| format!("cuepoint={number:043}")).collect();
    let many_guests: Vec<String> =
        (0..10).map(|number| format!("cuepoint-guest={number:043}.{own}")).collect();
    for cookies in [
        format!("cuepoint={long}; cuepoint-guest={long}"),
        format!("cuepoint={long}; cuepoint-guest={}", vec!["x"; 4_000].join(".")),
        format!("{}; {}", many.join("; "), many_guests.join("; ")),
    ] {
        for path in ["/wallet", "/login", &evening.page()] {
            let answer = server.client().outside("GET", path).header("cookie", &cookies).send();
            assert!([200, 303].contains(&answer.status), "{answer}");
            assert!(answer.header("set-cookie").is_none(), "{answer}");
        }
        // A session begins, and the secrets that a browser of this service can have are kept.
        let form = evening.filled(&Browser::new(&server.client()), "Blue Monday");
        let call = evening.call(&Browser::new(&server.client()), &form).header("cookie", &cookies);
        let sent = call.send();
        assert!(leads_to(&sent).contains("#request-"), "{sent}");
        for (name, value, _) in set_cookies(&sent) {
            assert!(value.len() <= 4 * 44, "{name}={value}");
        }
    }
    let guest = format!("cuepoint={long}; cuepoint-guest={own}");
    let answer = server.client().outside("GET", "/wallet").header("cookie", &guest).send();
    assert!(answer.text.contains("40.00\u{a0}USD"), "{answer}");
}

fn a_guest_wallet_is_reached_after_a_restore(store: Store) {
    let (restored, browser) = Restored::between(
        store,
        &[],
        |server| wallet(&free(server), server),
        |server, _| drop(Browser::logged_in(&server.client(), &server.guest())),
    );
    assert!(restored.said.contains("1 cookies of guest accounts kept"), "{}", restored.said);
    assert!(has_40(&browser.at(&restored.server.client())));
}

fn a_claim_that_a_restore_undoes_loses_no_wallet(store: Store) {
    let (restored, browser) = Restored::between(
        store,
        &[],
        |server| wallet(&free(server), server),
        |server, browser| {
            let browser = browser.at(&server.client());
            let fields = [("name", "Mia"), ("email", "mia@example.com"), ("password", PASSWORD)];
            leads_to(&browser.post("/claim", &fields));
            assert!(has_40(&browser));
        },
    );
    assert!(has_40(&browser.at(&restored.server.client())));
}

#[test]
fn a_failover_that_loses_commits_loses_no_guest_wallet() {
    let claim = |_: &Server, browser: &Browser| {
        let fields = [("name", "Mia"), ("email", "mia@example.com"), ("password", PASSWORD)];
        leads_to(&browser.post("/claim", &fields));
    };
    let login = |server: &Server, browser: &Browser| {
        leads_to(&browser.log_in(&server.guest().email, PASSWORD));
    };
    let visit_of_a_member = |server: &Server, browser: &Browser| {
        leads_to(&browser.log_in(&server.guest().email, PASSWORD));
        leads_to(&browser.post("/logout", &[]));
    };
    type Lost = fn(&Server, &Browser);
    let all: [(&str, Lost); 3] =
        [("a claim", claim), ("a login", login), ("a login and a logout", visit_of_a_member)];
    for (name, lost) in all {
        let database = Arc::new(Database::postgres());
        let server = Server::on(&database, &[]);
        let browser = wallet(&free(&server), &server);
        drop(server);
        // The node that becomes the primary has none of the later commits.
        let promoted = Arc::new(database.copy());
        let server = Server::on(&database, &[]);
        lost(&server, &browser.at(&server.client()));
        drop(server);
        let server = Server::on(&promoted, &[]);
        assert!(has_40(&browser.at(&server.client())), "{name}");
    }
}
