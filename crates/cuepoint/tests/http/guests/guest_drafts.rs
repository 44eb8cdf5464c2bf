//! Drafts at the page of their gig, for guests who never come back to the page of their payment.

use serde_json::json;

use crate::harness::guest_scene::{Evening, LANGUAGES, WAITING, Words, says, shows};
use crate::harness::{
    Answer, Browser, DRAFT, Message, Provider, Reply, Server, Store, TOPUPS, field, gig_scene, leads_to,
};

on_one_store!(
    a_paid_request_waits_at_the_page_of_its_gig_until_it_is_sent,
    a_draft_without_its_money_leads_to_its_payment,
    a_draft_is_discarded_and_its_money_stays,
    a_tip_waits_at_the_page_of_its_gig_too,
    a_page_sends_no_other_draft_than_the_one_that_it_shows,
    a_paid_request_to_a_closed_gig_says_where_the_money_is,
    a_paid_request_of_a_blocked_guest_is_not_sent,
    a_draft_is_shown_to_its_own_guest_at_its_own_gig_alone,
);

const PAGE: &str = "https://pay.example.com/session/1";
const READY: Words = ["Your request is ready to be sent.", "Dein Wunsch kann gesendet werden."];
const UNPAID: Words = ["The payment is not confirmed yet", "Die Zahlung ist noch nicht bestätigt"];

/// A server whose payments are confirmed by messages, and the provider that names their page.
fn paying(store: Store) -> (Server, Provider) {
    let provider = Provider::new(Reply::Says(200, json!({"payment_url": PAGE}).to_string()));
    let keys = [&TOPUPS[..], &[("topups.webhook_url", provider.url.as_str())]].concat();
    let server = Server::configured(store, &keys);
    (server, provider)
}

/// The payment at this place ends.
fn ends(server: &Server, place: &str, kind: &str, amount: &str) {
    let reference = place.strip_prefix("/topups/").unwrap_or_else(|| panic!("{place}"));
    Message::topup_of(amount, kind, reference).accepted_by(server);
}

/// A guest who pays for a song, and the page of the payment.
fn paying_guest(server: &Server, evening: &Evening, header: &'static str) -> (Browser, String) {
    let browser = Browser::new(&server.client()).speaking(header);
    let place = leads_to(&evening.request(&browser, "Blue Monday")).to_owned();
    (browser, place)
}

/// The card of the draft; empty if the page shows none.
fn card(page: &Answer) -> &str {
    let (_, rest) = page.text.split_once("aria-labelledby=\"draft\"").unwrap_or_default();
    rest.split_once("</section>").unwrap_or_default().0
}

fn discard(evening: &Evening, browser: &Browser, key: &str) -> Answer {
    browser.post(&format!("{}/draft/discard", evening.page()), &[("key", key)])
}

fn a_paid_request_waits_at_the_page_of_its_gig_until_it_is_sent(store: Store) {
    let (server, _provider) = paying(store);
    for (language, header) in LANGUAGES.into_iter().enumerate() {
        let evening = Evening::new(&server);
        let (browser, place) = paying_guest(&server, &evening, header);
        ends(&server, &place, "topup.confirmed", "10");
        let page = browser.get(&evening.page());
        says(&page, language, &[READY, ["Send the request", "Wunsch für 10,00\u{a0}USD senden"]]);
        assert!(card(&page).contains("Blue Monday") && card(&page).contains("New Order"), "{page}");
        assert!(!page.text.contains("data-auto"), "the guest decides: {page}");
        let action = format!("action=\"{}/draft\"", evening.page());
        assert!(card(&page).contains(&action), "{page}");
        let sent = evening.send_draft(&browser);
        assert_eq!(leads_to(&sent), format!("{}#request-{}", evening.page(), evening.newest()));
        assert_eq!(evening.requests().len(), 1);
        let page = browser.get(&evening.page());
        says(&page, language, &[WAITING]);
        assert_eq!(card(&page), "", "{page}");
    }
}

fn a_draft_without_its_money_leads_to_its_payment(store: Store) {
    let (server, _provider) = paying(store);
    for (language, header) in LANGUAGES.into_iter().enumerate() {
        let evening = Evening::new(&server);
        let (browser, place) = paying_guest(&server, &evening, header);
        let link = format!("href=\"{place}\"");
        for (kind, words) in [
            (None, UNPAID),
            (Some("topup.failed"), ["The payment did not succeed", "Die Zahlung hat nicht geklappt"]),
        ] {
            if let Some(kind) = kind {
                ends(&server, &place, kind, "10");
            }
            let page = browser.get(&evening.page());
            says(&page, language, &[words, ["To the payment", "Zur Zahlung"]]);
            assert!(card(&page).contains(&link) && card(&page).contains("Blue Monday"), "{page}");
            assert!(!card(&page).contains("/draft\""), "nothing to send: {page}");
        }
    }
}

fn a_draft_is_discarded_and_its_money_stays(store: Store) {
    let (server, _provider) = paying(store);
    for (language, header) in LANGUAGES.into_iter().enumerate() {
        let evening = Evening::new(&server);
        let (browser, place) = paying_guest(&server, &evening, header);
        ends(&server, &place, "topup.confirmed", "10");
        let page = browser.get(&evening.page());
        let (_, form) = card(&page).split_once("/draft/discard\"").unwrap();
        let (_, key) = form.split_once("name=\"key\" value=\"").unwrap();
        let key = key.split_once('"').unwrap().0;
        // The form of a page that shows another draft leaves this one.
        let other = "0123456789012345678901-other";
        for answer in [discard(&evening, &browser, other), evening.send_draft_with(&browser, other)] {
            assert_eq!(leads_to(&answer), format!("{}?done=nothing-waits", evening.page()));
            assert!(browser.cookie(DRAFT).is_some() && evening.requests().is_empty());
        }
        let discarded = discard(&evening, &browser, key);
        assert_eq!(leads_to(&discarded), format!("{}?done=draft-discarded", evening.page()));
        assert_eq!(browser.cookie(DRAFT), None);
        let page = browser.get(leads_to(&discarded));
        says(&page, language, &[["stays in your wallet.", "bleibt in deinem Guthaben."]]);
        assert_eq!(card(&page), "", "{page}");
        assert!(browser.get("/wallet").text.contains(amount!("10.00", "10,00")[language]));
        assert!(evening.requests().is_empty());
    }
}

/// A page of the request is still open in another tab, which shows what it would send.
fn a_page_sends_no_other_draft_than_the_one_that_it_shows(store: Store) {
    let (server, _provider) = paying(store);
    let evening = Evening::new(&server);
    let (browser, place) = paying_guest(&server, &evening, "en");
    ends(&server, &place, "topup.confirmed", "10");
    let shown = [evening.page(), place].map(|path| {
        let page = browser.get(&path);
        let (_, form) = page.text.split_once("/draft\"").unwrap_or_else(|| panic!("{page}"));
        form.split_once("name=\"key\" value=\"").unwrap().1.split_once('"').unwrap().0.to_owned()
    });
    let tip = [("key", "0123456789012345678901-tip"), ("amount", "40")];
    let of_tip = leads_to(&browser.post(&format!("{}/tips", evening.page()), &tip)).to_owned();
    ends(&server, &of_tip, "topup.confirmed", "30");
    for key in &shown {
        let answer = evening.send_draft_with(&browser, key);
        assert_eq!(leads_to(&answer), format!("{}?done=nothing-waits", evening.page()));
    }
    assert!(browser.get("/wallet").text.contains("40.00\u{a0}USD"), "no tip was given");
}

fn a_tip_waits_at_the_page_of_its_gig_too(store: Store) {
    let (server, _provider) = paying(store);
    let evening = Evening::new(&server);
    let (browser, place) = paying_guest(&server, &evening, "en");
    ends(&server, &place, "topup.confirmed", "10");
    leads_to(&evening.send_draft(&browser));
    // The gig is over, and its DJ can be tipped.
    gig_scene::end(&evening.dj, &evening.gig).data(200);
    shows(&browser, &evening.page(), "The gig ended before this song.");
    let tip = [("key", "0123456789012345678901-tip"), ("amount", "25")];
    let place = leads_to(&browser.post(&format!("{}/tips", evening.page()), &tip)).to_owned();
    let page = browser.get(&evening.page());
    assert!(card(&page).contains(UNPAID[0]) && card(&page).contains(">Tip<"), "{page}");
    ends(&server, &place, "topup.confirmed", "15");
    let page = browser.get(&evening.page());
    assert!(card(&page).contains("Tip 25.00\u{a0}USD"), "{page}");
    let given = evening.send_draft(&browser);
    assert_eq!(leads_to(&given), format!("{}?done=tipped", evening.page()));
    assert_eq!(card(&browser.get(&evening.page())), "");
}

fn a_paid_request_to_a_closed_gig_says_where_the_money_is(store: Store) {
    let (server, _provider) = paying(store);
    for (language, header) in LANGUAGES.into_iter().enumerate() {
        let evening = Evening::new(&server);
        let (browser, place) = paying_guest(&server, &evening, header);
        ends(&server, &place, "topup.confirmed", "10");
        gig_scene::end(&evening.dj, &evening.gig).data(200);
        let words = ["Your request was not sent.", "Dein Wunsch wurde nicht gesendet."];
        let page = shows(&browser, &evening.page(), words[language]);
        assert!(card(&page).contains("Blue Monday") && !card(&page).contains("/draft\""), "{page}");
        says(&page, language, &[["The money stays in your wallet", "Das Geld bleibt"]]);
    }
}

fn a_paid_request_of_a_blocked_guest_is_not_sent(store: Store) {
    let (server, _provider) = paying(store);
    let evening = Evening::new(&server);
    let (browser, place) = paying_guest(&server, &evening, "en");
    ends(&server, &place, "topup.confirmed", "10");
    leads_to(&evening.send_draft(&browser));
    let guest = &evening.requests()[0]["user_id"];
    let place = leads_to(&evening.request(&browser, "Ceremony")).to_owned();
    ends(&server, &place, "topup.confirmed", "10");
    evening.dj.call("PUT", &format!("/music/dj/blocks/{guest}")).send().data(200);
    for path in [evening.page(), place] {
        let page = shows(&browser, &path, "This DJ takes no requests from you");
        assert!(
            !page.text.contains("/draft\"") && page.text.contains("The money stays in your wallet"),
            "{page}"
        );
    }
}

/// What another guest of the same browser wanted to request stays unknown.
fn a_draft_is_shown_to_its_own_guest_at_its_own_gig_alone(store: Store) {
    let (server, _provider) = paying(store);
    let (evening, other) = (Evening::new(&server), Evening::new(&server));
    let (browser, place) = paying_guest(&server, &evening, "en");
    ends(&server, &place, "topup.confirmed", "10");
    assert!(!card(&browser.get(&evening.page())).is_empty());
    assert_eq!(card(&browser.get(&other.page())), "", "another gig");
    let stranger = Browser::new(&server.client());
    stranger.set_cookie(DRAFT, &browser.cookie(DRAFT).unwrap());
    assert_eq!(card(&stranger.get(&evening.page())), "", "no session");
    let (guest, _) = paying_guest(&server, &evening, "en");
    guest.set_cookie(DRAFT, &browser.cookie(DRAFT).unwrap());
    assert_eq!(card(&guest.get(&evening.page())), "", "another guest");
    // Spent for another song, the money sends nothing any more.
    let draft = browser.cookie(DRAFT).unwrap();
    leads_to(&evening.request(&browser, "Ceremony"));
    browser.set_cookie(DRAFT, &draft);
    assert_eq!(field(&browser.get(&evening.page()), "song_title"), "");
    assert_eq!(card(&browser.get(&evening.page())), "");
}
