//! The page on which a guest account gets an e-mail address and a password.

use serde_json::json;

use crate::harness::guest_scene::Evening;
use crate::harness::{Browser, PASSWORD, Server, Store, leads_to};

on_one_store!(
    a_claim_asks_for_no_name_and_keeps_that_of_the_account,
    a_claim_returns_to_the_gig_in_which_the_guest_waits_for_a_song,
);

/// Claims the account of this browser, and returns the place to which the form leads.
fn claim(browser: &Browser, email: &str, further: &[(&str, &str)]) -> String {
    let fields = [&[("email", email), ("password", PASSWORD)], further].concat();
    leads_to(&browser.post("/claim", &fields)).to_owned()
}

fn a_claim_asks_for_no_name_and_keeps_that_of_the_account(store: Store) {
    let server = Server::start(store);
    // Her name is Mia.
    let browser = Evening::new(&server).guest(&server);
    let page = browser.get("/claim");
    assert!(page.text.contains("name=\"email\"") && !page.text.contains("name=\"name\""), "{page}");
    let short = browser.post("/claim", &[("email", "mia"), ("password", "short")]);
    assert_eq!(short.status, 422, "{short}");
    assert_eq!(short.text.matches("class=\"error\"").count(), 2, "{short}");
    // A page of an earlier version sends a name.
    claim(&browser, "mia@example.com", &[("name", "Eve")]);
    let profile = server.client().login("mia@example.com").get("/user/personal-info").data(200);
    assert_eq!(profile["user"]["name"], json!("Mia"));
}

fn a_claim_returns_to_the_gig_in_which_the_guest_waits_for_a_song(store: Store) {
    let server = Server::start(store);
    let evening = Evening::new(&server);
    let waiting = evening.guest(&server);
    assert_eq!(claim(&waiting, "mia@example.com", &[]), format!("{}?done=claimed", evening.page()));
    let page = waiting.get(&format!("{}?done=claimed", evening.page()));
    assert!(page.text.contains("Your wallet is saved."), "{page}");
    // The page with the link to the claim comes first.
    let from_account = evening.guest(&server);
    assert_eq!(claim(&from_account, "ada@example.com", &[("next", "/account")]), "/account?done=claimed");
    let without_request = evening.guest(&server);
    evening.dj.answer(evening.newest(), "rejected").data(200);
    assert_eq!(claim(&without_request, "ida@example.com", &[]), "/wallet?done=claimed");
}
