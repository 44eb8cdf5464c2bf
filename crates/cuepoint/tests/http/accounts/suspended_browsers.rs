//! Pages for the browser of a suspended user.

use serde_json::json;

use crate::harness::guest_scene::{Evening, LANGUAGES, borrowed, says};
use crate::harness::{Browser, GUEST, PASSWORD, Person, SESSION, Server, Store, leads_to};

on_one_store!(
    a_suspended_user_reads_what_everybody_may_read_and_does_nothing,
    another_user_logs_in_where_a_suspended_user_was_logged_in,
);

/// Suspends a user, or lifts the suspension.
fn decide(operator: &Person, user: i64, what: &str) {
    operator.post(&format!("/operator/users/{user}/{what}"), &json!({"reason": "as agreed"})).data(200);
}

/// Attack API5: requesting songs with the cookie of a suspended user.
fn a_suspended_user_reads_what_everybody_may_read_and_does_nothing(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let (guest, evening) = (server.guest(), Evening::new(&server));
    let browser = Browser::logged_in(&server.client(), &guest);
    assert!(browser.get("/verify").text.contains(&guest.email));
    decide(&operator, guest.id, "suspend");
    for (path, link) in [("/account", "/login?next=%2Faccount"), ("/booth", "/login?next=%2Fbooth")] {
        for (language, header) in LANGUAGES.into_iter().enumerate() {
            let page = browser.speaking(header).get(path);
            assert_eq!(page.status, 403, "{page}");
            says(&page, language, &[["This account is suspended", "Dieses Konto ist gesperrt"]]);
            says(&page, language, &[["Log in with another account", "Mit einem anderen Konto anmelden"]]);
            assert!(page.text.contains(&format!("href=\"{link}\"")), "{page}");
            assert!(page.header("set-cookie").is_none(), "{page}");
        }
    }
    let form = evening.filled(&Browser::new(&server.client()), "Blue Monday");
    for path in [format!("{}/requests", evening.page()), "/account/name".to_owned()] {
        let sent = browser.post(&path, &borrowed(&form));
        assert_eq!(sent.status, 403, "{sent}");
        assert!(sent.text.contains("This account is suspended"), "{sent}");
    }
    assert!(evening.requests().is_empty());
    for path in ["/", "/register", "/forgot", &evening.page(), &format!("{}/display", evening.page())] {
        let page = browser.get(path);
        assert_eq!(page.status, 200, "{page}");
        assert!(!page.text.contains(">Wallet</a>"), "as without a session: {page}");
        assert!(page.header("set-cookie").is_none(), "{page}");
    }
    let refused = browser.log_in(&guest.email, PASSWORD);
    assert_eq!(refused.status, 422, "{refused}");
    assert!(refused.text.contains("This account is suspended."), "{refused}");
}

fn another_user_logs_in_where_a_suspended_user_was_logged_in(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let (guest, friend) = (server.guest(), server.guest());
    let browser = Browser::logged_in(&server.client(), &guest);
    decide(&operator, guest.id, "suspend");
    let page = browser.get("/login?next=%2Fverify");
    assert_eq!(page.status, 200, "{page}");
    let suspended = browser.cookie(SESSION);
    let fields = [("email", friend.email.as_str()), ("password", PASSWORD), ("next", "/verify")];
    assert_eq!(leads_to(&browser.post("/login", &fields)), "/verify");
    assert!(browser.get("/verify").text.contains(&friend.email));
    assert!(
        browser.cookie(SESSION) != suspended && browser.cookie(GUEST).is_none(),
        "a member logs in again"
    );
}
