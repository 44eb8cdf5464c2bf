//! Payments of guests at the pages.

use serde_json::json;

use crate::harness::guest_scene::{Evening, LANGUAGES, WAITING, Words, borrowed, says, shows};
use crate::harness::{
    Browser, DRAFT, Message, PASSWORD, Provider, Reply, Server, Store, TOPUPS, field, gig_scene, leads_to,
};

on_one_store!(
    a_guest_without_money_pays_and_the_request_is_sent_once,
    a_failed_payment_leads_to_another_one,
    a_payment_that_arrives_after_the_gig_sends_no_request,
    a_browser_without_the_session_sees_the_state_of_a_payment_alone,
);

const PAGE: &str = "https://pay.example.com/session/1";

/// A server whose payments are confirmed by messages, and the provider that names their page.
fn paying(store: Store) -> (Server, Provider) {
    let provider = Provider::new(Reply::Says(200, json!({"payment_url": PAGE}).to_string()));
    let keys = [&TOPUPS[..], &[("topups.webhook_url", provider.url.as_str())]].concat();
    let server = Server::configured(store, &keys);
    (server, provider)
}

/// The reference in the path of a payment.
fn reference(place: &str) -> String {
    place.strip_prefix("/topups/").unwrap_or_else(|| panic!("{place}")).to_owned()
}

fn a_guest_without_money_pays_and_the_request_is_sent_once(store: Store) {
    let (server, provider) = paying(store);
    for (language, header) in LANGUAGES.into_iter().enumerate() {
        let evening = Evening::new(&server);
        let browser = Browser::new(&server.client()).speaking(header);
        let form = evening.filled(&browser, "Rock & Roll = 100% + ä");
        let place = leads_to(&evening.send(&browser, &form)).to_owned();
        let draft = browser.cookie(DRAFT).unwrap();
        assert!(evening.requests().is_empty());
        assert_eq!(leads_to(&evening.send(&browser, &form)), place, "the same payment for the same form");
        let count = provider.received().len();

        let page = browser.get(&place);
        says(
            &page,
            language,
            &[["One step to your song", "Ein Schritt zu deinem Song"], amount!("10.00", "10,00")],
        );
        assert!(page.text.contains(&format!("<a class=\"button wide\" href=\"{PAGE}\"")), "a link: {page}");
        assert!(page.text.contains("pay.example.com"), "{page}");
        let page = browser.get(&format!("{place}?returned=1"));
        says(&page, language, &[["Waiting for the confirmation", "Warten auf die Bestätigung"]]);
        // Sent before the money arrived, the request leads back to the payment.
        assert_eq!(leads_to(&browser.post(&format!("{}/draft", evening.page()), &[])), place);

        Message::topup_of("10", "topup.confirmed", &reference(&place)).accepted_by(&server);
        let page = browser.get(&place);
        says(
            &page,
            language,
            &[["The money has arrived", "Das Geld ist da"], ["Send the request", "Wunsch senden"]],
        );
        assert!(page.text.contains("Rock &#38; Roll = 100% + ä"), "{page}");
        let sent = browser.post(&format!("{}/draft", evening.page()), &[]);
        let id = evening.newest();
        assert_eq!(leads_to(&sent), format!("{}#request-{id}", evening.page()));
        assert_eq!(browser.cookie(DRAFT), None);
        assert_eq!(evening.requests()[0]["song_title"], "Rock & Roll = 100% + ä");
        // The back button, a second tab, and the first form again.
        for _ in 0..2 {
            browser.set_cookie(DRAFT, &draft);
            assert_eq!(leads_to(&browser.post(&format!("{}/draft", evening.page()), &[])), leads_to(&sent));
            assert_eq!(leads_to(&evening.send(&browser, &form)), leads_to(&sent));
        }
        assert_eq!(evening.requests().len(), 1);
        assert_eq!(provider.received().len(), count);
        says(&browser.get(&evening.page()), language, &[WAITING]);
        let without = browser.post(&format!("{}/draft", evening.page()), &[]);
        assert_eq!(without.status, 409, "no request waits: {without}");
    }
}

fn a_failed_payment_leads_to_another_one(store: Store) {
    let (server, _provider) = paying(store);
    for (language, header) in LANGUAGES.into_iter().enumerate() {
        let evening = Evening::new(&server);
        let browser = Browser::new(&server.client()).speaking(header);
        let place = leads_to(&evening.request(&browser, "Blue Monday")).to_owned();
        Message::topup("topup.failed", &reference(&place)).accepted_by(&server);
        let page = browser.get(&place);
        says(&page, language, &[["The payment did not succeed", "Die Zahlung hat nicht geklappt"]]);
        let fields = [("key", field(&page, "key")), ("amount", field(&page, "amount"))];
        let fields = fields.map(|(name, value)| (name.to_owned(), value));
        let second = leads_to(&browser.post("/topups", &borrowed(&fields))).to_owned();
        assert_ne!(second, place);
        assert_eq!(leads_to(&browser.post("/topups", &borrowed(&fields))), second, "sent twice");
        Message::topup_of("10", "topup.confirmed", &reference(&second)).accepted_by(&server);
        says(&browser.get(&second), language, &[["Send the request", "Wunsch senden"]]);
        leads_to(&browser.post(&format!("{}/draft", evening.page()), &[]));
        assert_eq!(evening.requests().len(), 1);
        // The payment is taken back.
        Message::topup_of("10", "topup.reversed", &reference(&second)).accepted_by(&server);
        says(
            &browser.get(&second),
            language,
            &[["The payment was taken back", "Die Zahlung wurde zurückgeholt"]],
        );
    }
}

fn a_payment_that_arrives_after_the_gig_sends_no_request(store: Store) {
    let (server, _provider) = paying(store);
    for (language, header) in LANGUAGES.into_iter().enumerate() {
        let evening = Evening::new(&server);
        let browser = Browser::new(&server.client()).speaking(header);
        let place = leads_to(&evening.request(&browser, "Blue Monday")).to_owned();
        gig_scene::end(&evening.dj, &evening.gig).data(200);
        Message::topup_of("10", "topup.confirmed", &reference(&place)).accepted_by(&server);
        let words = ["Your request was not sent.", "Dein Wunsch wurde nicht gesendet."];
        let page = shows(&browser, &place, words[language]);
        says(&page, language, &[["This gig is over", "Dieser Abend ist vorbei"]]);
        let sent = browser.post(&format!("{}/draft", evening.page()), &[]);
        assert_eq!(sent.status, 422, "{sent}");
        assert!(evening.requests().is_empty());
    }
}

/// Attack API3: reading who pays, and how much, by the address of the payment.
fn a_browser_without_the_session_sees_the_state_of_a_payment_alone(store: Store) {
    let (server, _provider) = paying(store);
    let evening = Evening::new(&server);
    let member = server.guest();
    for (language, header) in LANGUAGES.into_iter().enumerate() {
        let browser = Browser::new(&server.client()).speaking(header);
        let place = leads_to(&evening.request(&browser, "Blue Monday")).to_owned();
        let other = Browser::new(&server.client()).speaking(header);
        leads_to(&other.log_in(&member.email, PASSWORD));
        let strangers = [Browser::new(&server.client()).speaking(header), other];
        let check = |words: Words| {
            for stranger in &strangers {
                let page = stranger.get(&format!("{place}?returned=1"));
                assert_eq!(page.status, 200, "{page}");
                says(&page, language, &[words]);
                for secret in ["10.00", "10,00", "Blue Monday", "Mia", "/login", "pay.example.com", "<form"] {
                    assert!(!page.text.contains(secret), "{secret}: {page}");
                }
                assert_eq!(stranger.get(&format!("{place}/live")).status, 404);
            }
        };
        check(["The payment is on its way", "Die Zahlung ist unterwegs"]);
        Message::topup_of("10", "topup.confirmed", &reference(&place)).accepted_by(&server);
        check(["The payment has arrived", "Die Zahlung ist angekommen"]);
    }
}
