//! Tips at the pages: without money, after failures, and with the drafts of others.

use serde_json::json;

use crate::harness::guest_scene::{Evening, LANGUAGES, Words, borrowed, says, shows};
use crate::harness::{
    Answer, Browser, DRAFT, Message, Provider, Reply, SESSION, Server, Store, TOPUPS, field, gig_scene,
    leads_to, operator_keys,
};

on_one_store!(
    a_guest_without_money_pays_and_the_tip_is_given_once,
    a_failed_payment_of_a_tip_leads_to_another_one,
    a_refused_tip_says_why_beside_its_amount,
    a_tip_that_cannot_be_given_any_more_says_where_the_money_is,
    a_draft_of_another_guest_is_void,
    a_topup_for_something_else_sends_no_draft_by_itself,
    a_payment_sends_no_draft_of_another_payment_by_itself,
    a_tip_whose_money_was_spent_says_that_it_is_missing,
);

const PAGE: &str = "https://pay.example.com/session/1";
/// A key as pages make it.
const KEY: &str = "0123456789012345678901-tip";

/// A server whose payments are confirmed by messages, and the provider that names their page.
fn paying(store: Store, keys: &[(&str, &str)]) -> (Server, Provider) {
    let provider = Provider::new(Reply::Says(200, json!({"payment_url": PAGE}).to_string()));
    let keys = [&TOPUPS[..], &[("topups.webhook_url", provider.url.as_str())], keys].concat();
    let server = Server::configured(store, &keys);
    (server, provider)
}

/// Ends the payment at this place with a message about this amount.
fn end(server: &Server, place: &str, kind: &str, amount: &str) {
    let reference = place.strip_prefix("/topups/").unwrap_or_else(|| panic!("{place}"));
    Message::topup_of(amount, kind, reference).accepted_by(server);
}

/// A browser whose guest has spent all money on a played song.
fn spent(server: &Server, evening: &Evening, language: &'static str) -> Browser {
    let browser = Browser::new(&server.client()).speaking(language);
    let place = leads_to(&evening.request(&browser, "Blue Monday")).to_owned();
    end(server, &place, "topup.confirmed", "10");
    leads_to(&draft(evening, &browser));
    let id = evening.newest();
    for status in ["accepted", "played"] {
        evening.dj.answer(id, status).data(200);
    }
    browser
}

/// Sends the draft of this browser.
fn draft(evening: &Evening, browser: &Browser) -> Answer {
    evening.send_draft(browser)
}

fn tip(evening: &Evening, browser: &Browser, fields: &[(&str, &str)]) -> Answer {
    let fields = [&[("key", KEY)], fields].concat();
    browser.post(&format!("{}/tips", evening.page()), &fields)
}

/// The tips that the DJ received, newest first.
fn received(evening: &Evening) -> Vec<f64> {
    let tips = evening.dj.get("/tips?direction=received").data(200)["data"].clone();
    tips.as_array().unwrap().iter().map(|tip| tip["amount"].as_f64().unwrap()).collect()
}

fn a_guest_without_money_pays_and_the_tip_is_given_once(store: Store) {
    let (server, _provider) = paying(store, &[]);
    for (language, header) in LANGUAGES.into_iter().enumerate() {
        let evening = Evening::new(&server);
        let browser = spent(&server, &evening, header);
        let page = shows(&browser, &evening.page(), ["Tip the DJ", "Trinkgeld geben"][language]);
        assert_eq!(page.text.matches("name=\"preset\"").count(), 3, "{page}");
        // No time of a log line has 77 seconds.
        let given = [("preset", "77.77")];
        let place = leads_to(&tip(&evening, &browser, &given)).to_owned();
        assert_eq!(leads_to(&tip(&evening, &browser, &given)), place, "the same payment for the same form");
        assert!(received(&evening).is_empty());
        let page = browser.get(&place);
        let title = ["One step to your tip", "Ein Schritt zu deinem Trinkgeld"];
        says(&page, language, &[title, amount!("77.77", "77,77"), [">Tip<", ">Trinkgeld<"]]);
        // Given before the money arrived, the tip leads back to the payment.
        assert_eq!(leads_to(&draft(&evening, &browser)), place);

        end(&server, &place, "topup.confirmed", "77.77");
        let page = browser.get(&place);
        says(
            &page,
            language,
            &[
                ["Your tip is ready to be given.", "Dein Trinkgeld kann gegeben werden."],
                ["Tip 77.77\u{a0}USD", "77,77\u{a0}USD Trinkgeld geben"],
                ["cannot be taken back", "endgültig"],
            ],
        );
        assert!(page.text.contains("data-auto"), "the script gives it at once: {page}");
        let kept = browser.cookie(DRAFT).unwrap();
        let given_page = format!("{}?done=tipped", evening.page());
        assert_eq!(leads_to(&draft(&evening, &browser)), given_page);
        assert_eq!(browser.cookie(DRAFT), None);
        // The back button, a second tab, and the first form again.
        for _ in 0..2 {
            browser.set_cookie(DRAFT, &kept);
            assert_eq!(leads_to(&draft(&evening, &browser)), given_page);
            assert_eq!(leads_to(&tip(&evening, &browser, &given)), given_page);
        }
        assert_eq!(received(&evening), [77.77]);
        assert!(!place.contains("77.77") && !server.log().contains("77.77"), "{}", server.log());
    }
}

fn a_failed_payment_of_a_tip_leads_to_another_one(store: Store) {
    let (server, _provider) = paying(store, &[]);
    let evening = Evening::new(&server);
    let browser = spent(&server, &evening, "en");
    let place = leads_to(&tip(&evening, &browser, &[("amount", "5")])).to_owned();
    end(&server, &place, "topup.failed", "5");
    let page = browser.get(&place);
    assert!(page.text.contains("The payment did not succeed"), "{page}");
    let fields = ["key", "amount", "code", "instead_of"].map(|name| (name.to_owned(), field(&page, name)));
    let second = leads_to(&browser.post("/topups", &borrowed(&fields))).to_owned();
    assert_ne!(second, place);
    end(&server, &second, "topup.confirmed", "5");
    assert!(browser.get(&second).text.contains("data-auto"));
    leads_to(&draft(&evening, &browser));
    assert_eq!(received(&evening), [5.0]);
}

fn a_refused_tip_says_why_beside_its_amount(store: Store) {
    let (server, _provider) = paying(store, &[("tips.min_amount", "2"), ("tips.max_amount", "500")]);
    for (language, header) in LANGUAGES.into_iter().enumerate() {
        let evening = Evening::new(&server);
        let browser = spent(&server, &evening, header);
        shows(&browser, &evening.page(), ["Tip the DJ", "Trinkgeld geben"][language]);
        for (typed, words) in [
            ("", ["such as 12.50", "zum Beispiel 12,50"]),
            ("five", ["such as 12.50", "zum Beispiel 12,50"]),
            ("0", ["above zero", "größer als null"]),
            ("1.99", ["2.00", "2,00"]),
            ("501", ["500.00", "500,00"]),
        ] {
            let answer = tip(&evening, &browser, &[("amount", typed)]);
            assert_eq!(answer.status, 422, "{typed}: {answer}");
            let (_, error) = answer.text.split_once("id=\"amount-error\">").unwrap();
            assert!(error.split_once('<').unwrap().0.contains(words[language]), "{typed}: {answer}");
            assert!(answer.text.contains(&format!("value=\"{typed}\"")), "{answer}");
        }
        assert_eq!(browser.cookie(DRAFT), None);
        assert!(received(&evening).is_empty());
    }
}

fn a_tip_that_cannot_be_given_any_more_says_where_the_money_is(store: Store) {
    let operator = operator_keys("operator@example.com");
    let (server, _provider) = paying(store, &operator);
    let operator = server.client().login("operator@example.com");
    for (language, header) in LANGUAGES.into_iter().enumerate() {
        let evening = Evening::new(&server);
        let browser = spent(&server, &evening, header);
        let place = leads_to(&tip(&evening, &browser, &[("amount", "5")])).to_owned();
        end(&server, &place, "topup.confirmed", "5");
        // A tip is possible after the gig.
        gig_scene::end(&evening.dj, &evening.gig).data(200);
        let ready = ["Your tip is ready to be given.", "Dein Trinkgeld kann gegeben werden."];
        says(&browser.get(&place), language, &[ready]);
        let not_given = ["Your tip was not given.", "Dein Trinkgeld wurde nicht gegeben."];
        let money =
            ["The money stays in your wallet", "Das Geld bleibt für einen anderen Song in deinem Guthaben"];
        let refused = |words: Words| {
            let answer = draft(&evening, &browser);
            assert_eq!(answer.status, 422, "{answer}");
            says(&answer, language, &[not_given, words, money]);
        };
        let guest = evening.requests()[0]["user_id"].clone();
        let block = format!("/music/dj/blocks/{guest}");
        evening.dj.call("PUT", &block).send().data(200);
        refused(["This DJ takes nothing from you.", "Dieser DJ nimmt nichts von dir an."]);
        evening.dj.delete(&block).data(200);
        let path = format!("/operator/users/{}/suspend", evening.dj.id);
        operator.post(&path, &json!({"reason": "as a test"})).data(200);
        let page = shows(&browser, &place, not_given[language]);
        let gone = ["No gig at the moment", "Gerade kein Auftritt"];
        says(&page, language, &[gone, money]);
        refused(gone);
    }
}

/// Attack API1: sending the draft of another guest, whose cookie is in this browser, with the money of its own guest.
fn a_draft_of_another_guest_is_void(store: Store) {
    let (server, _provider) = paying(store, &[]);
    let evening = Evening::new(&server);
    let (attacker, victim) = (spent(&server, &evening, "en"), spent(&server, &evening, "en"));
    leads_to(&tip(&evening, &attacker, &[("amount", "5")]));
    let foreign = attacker.cookie(DRAFT).unwrap();
    leads_to(&evening.request(&attacker, "Ceremony"));
    let request = attacker.cookie(DRAFT).unwrap();
    // The victim has money, and waits for nothing.
    let fields = [("key", "0123456789012345678901-topup"), ("amount", "20"), ("code", &evening.code)];
    let place = leads_to(&victim.post("/topups", &fields)).to_owned();
    end(&server, &place, "topup.confirmed", "20");
    let nothing_waits = format!("{}?done=nothing-waits", evening.page());
    for draft_of_another in [&foreign, &request] {
        victim.set_cookie(DRAFT, draft_of_another);
        let page = victim.get(&place);
        assert!(!page.text.contains("/draft\"") && !page.text.contains("Ceremony"), "{page}");
        assert!(page.text.contains("20.00\u{a0}USD are in your wallet"), "{page}");
        assert_eq!(leads_to(&draft(&evening, &victim)), nothing_waits);
    }
    assert_eq!((received(&evening).len(), evening.requests().len()), (0, 2));
    // Nor does it come from a browser without a session.
    let stranger = Browser::new(&server.client());
    stranger.set_cookie(DRAFT, &foreign);
    assert_eq!(leads_to(&draft(&evening, &stranger)), nothing_waits);
    assert_eq!(stranger.cookie(SESSION), None);
}

/// Attack API6: a forgotten tip that takes the money of a later payment.
fn a_topup_for_something_else_sends_no_draft_by_itself(store: Store) {
    let (server, _provider) = paying(store, &[]);
    let evening = Evening::new(&server);
    let browser = spent(&server, &evening, "en");
    leads_to(&tip(&evening, &browser, &[("amount", "5")]));
    let wallet = [("key", "0123456789012345678901-topup"), ("amount", "20")];
    let place = leads_to(&browser.post("/topups", &wallet)).to_owned();
    assert!(browser.get(&place).text.contains("Top up your wallet"));
    end(&server, &place, "topup.confirmed", "20");
    let page = browser.get(&place);
    assert!(!page.text.contains("data-auto"), "{page}");
    assert!(page.text.contains("Tip 5.00\u{a0}USD"), "one tap still gives it: {page}");
    assert!(received(&evening).is_empty());
    leads_to(&draft(&evening, &browser));
    assert_eq!(received(&evening), [5.0]);
}

/// Attack API6: the payment of a song that gives a tip instead, which is final.
fn a_payment_sends_no_draft_of_another_payment_by_itself(store: Store) {
    let (server, _provider) = paying(store, &[]);
    let evening = Evening::new(&server);
    let browser = spent(&server, &evening, "en");
    let song = leads_to(&evening.request(&browser, "Ceremony")).to_owned();
    // In another tab, so that the draft is the tip from now on.
    let tip_place = leads_to(&tip(&evening, &browser, &[("amount", "5")])).to_owned();
    end(&server, &song, "topup.confirmed", "10");
    let page = browser.get(&song);
    assert!(!page.text.contains("data-auto") && page.text.contains("Tip 5.00\u{a0}USD"), "{page}");
    end(&server, &tip_place, "topup.confirmed", "5");
    assert!(browser.get(&tip_place).text.contains("data-auto"));
}

fn a_tip_whose_money_was_spent_says_that_it_is_missing(store: Store) {
    let (server, _provider) = paying(store, &[]);
    let evening = Evening::new(&server);
    let browser = spent(&server, &evening, "en");
    let place = leads_to(&tip(&evening, &browser, &[("amount", "10")])).to_owned();
    end(&server, &place, "topup.confirmed", "10");
    let kept = browser.cookie(DRAFT).unwrap();
    leads_to(&evening.request(&browser, "Ceremony"));
    browser.set_cookie(DRAFT, &kept);
    let page = browser.get(&place);
    assert!(page.text.contains("The money has arrived") && !page.text.contains("/draft\""), "{page}");
    let answer = draft(&evening, &browser);
    assert_eq!(answer.status, 422, "{answer}");
    assert!(!answer.text.contains("The money stays in your wallet"), "{answer}");
    assert!(received(&evening).is_empty());
}
