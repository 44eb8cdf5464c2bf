//! Payments of guests at the pages.

use serde_json::json;

use crate::harness::guest_scene::{Evening, LANGUAGES, WAITING, Words, borrowed, says, shows, with};
use crate::harness::{
    Browser, DRAFT, Message, PASSWORD, Provider, Reply, Server, Store, TOPUPS, field, gig_scene, leads_to,
};

on_one_store!(
    a_guest_without_money_pays_and_the_request_is_sent_once,
    a_payment_says_what_the_wallet_pays,
    a_failed_payment_leads_to_another_one,
    a_payment_that_arrives_after_the_gig_sends_no_request,
    a_browser_without_the_session_sees_the_state_of_a_payment_alone,
    a_payment_leads_to_the_gig_where_it_began_and_nowhere_else,
    the_longest_request_waits_for_its_payment,
    a_cancelled_request_is_not_sent_again,
    another_request_leaves_the_draft_of_the_first_one,
    a_payment_of_the_wallet_from_before_the_login_is_still_the_readers,
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
        assert!(
            page.text.contains("Rock &#38; Roll = 100% + ä") && page.text.contains("New Order"),
            "{page}"
        );
        assert!(page.text.contains(&format!("<a class=\"button wide\" href=\"{PAGE}\"")), "a link: {page}");
        assert!(page.text.contains("pay.example.com"), "{page}");
        let page = browser.get(&format!("{place}?returned=1"));
        says(&page, language, &[["Waiting for the confirmation", "Warten auf die Bestätigung"]]);
        // Sent before the money arrived, the request leads back to the payment.
        assert_eq!(leads_to(&evening.send_draft(&browser)), place);

        Message::topup_of("10", "topup.confirmed", &reference(&place)).accepted_by(&server);
        let page = browser.get(&place);
        says(
            &page,
            language,
            &[
                ["The money has arrived", "Das Geld ist da"],
                ["Send the request", "Wunsch für 10,00\u{a0}USD senden"],
            ],
        );
        assert!(page.text.contains("Rock &#38; Roll = 100% + ä"), "{page}");
        let sent = evening.send_draft(&browser);
        let id = evening.newest();
        assert_eq!(leads_to(&sent), format!("{}#request-{id}", evening.page()));
        assert_eq!(browser.cookie(DRAFT), None);
        assert_eq!(evening.requests()[0]["song_title"], "Rock & Roll = 100% + ä");
        // The back button, a second tab, and the first form again.
        for _ in 0..2 {
            browser.set_cookie(DRAFT, &draft);
            assert_eq!(leads_to(&evening.send_draft(&browser)), leads_to(&sent));
            assert_eq!(leads_to(&evening.send(&browser, &form)), leads_to(&sent));
        }
        assert_eq!(evening.requests().len(), 1);
        assert_eq!(provider.received().len(), count);
        says(&browser.get(&evening.page()), language, &[WAITING]);
        let without = evening.send_draft(&browser);
        assert_eq!(leads_to(&without), format!("{}?done=nothing-waits", evening.page()));
        let words = ["This waits here no longer.", "Das wartet hier nicht mehr."];
        says(&browser.get(leads_to(&without)), language, &[words]);
    }
}

fn a_payment_says_what_the_wallet_pays(store: Store) {
    let (server, _provider) = paying(store);
    for (language, header) in LANGUAGES.into_iter().enumerate() {
        let evening = Evening::new(&server);
        let browser = Browser::logged_in(&server.client(), &server.guest()).speaking(header);
        let fields = [("key", "0123456789012345678901-first"), ("amount", "4")];
        let first = leads_to(&browser.post("/topups", &fields)).to_owned();
        Message::topup_of("4", "topup.confirmed", &reference(&first)).accepted_by(&server);
        let place = leads_to(&evening.request(&browser, "Blue Monday")).to_owned();
        let words = [
            "4.00\u{a0}USD from your wallet, 6.00\u{a0}USD to pay",
            "4,00\u{a0}USD aus deinem Guthaben, 6,00\u{a0}USD zu zahlen",
        ];
        for page in [place.clone(), format!("{place}?returned=1")] {
            says(&browser.get(&page), language, &[words, ["Blue Monday", "Blue Monday"]]);
        }
        // A payment of the wallet is for no song.
        let fields = [("key", "0123456789012345678901-topup"), ("amount", "20")];
        let wallet = leads_to(&browser.post("/topups", &fields)).to_owned();
        let page = browser.get(&wallet);
        assert!(!page.text.contains("Blue Monday") && !page.text.contains(words[language]), "{page}");
        Message::topup_of("6", "topup.confirmed", &reference(&place)).accepted_by(&server);
        assert!(!browser.get(&place).text.contains(words[language]));
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
        let fields = ["key", "amount", "code"].map(|name| (name.to_owned(), field(&page, name)));
        let second = leads_to(&browser.post("/topups", &borrowed(&fields))).to_owned();
        assert_ne!(second, place);
        assert_eq!(leads_to(&browser.post("/topups", &borrowed(&fields))), second, "sent twice");
        Message::topup_of("10", "topup.confirmed", &reference(&second)).accepted_by(&server);
        says(&browser.get(&second), language, &[["Send the request", "Wunsch für 10,00\u{a0}USD senden"]]);
        leads_to(&evening.send_draft(&browser));
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
        let sent = evening.send_draft(&browser);
        assert_eq!(sent.status, 422, "{sent}");
        says(&sent, language, &[["The money stays in your wallet", "Das Geld bleibt"]]);
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
                let live = stranger.call("GET", &format!("{place}/live")).header("x-cuepoint-part", "1");
                for page in [stranger.get(&format!("{place}?returned=1")), stranger.send(live)] {
                    assert_eq!(page.status, 200, "{page}");
                    says(&page, language, &[words]);
                    let gig = format!("href=\"{}\"", evening.page());
                    assert!(page.text.contains(&gig), "the way back to the gig: {page}");
                    assert!(page.text.contains(&format!("data-live=\"{place}/live\"")), "{page}");
                    for secret in
                        ["10.00", "10,00", "Blue Monday", "Mia", "/login", "pay.example.com", "<form"]
                    {
                        assert!(!page.text.contains(secret), "{secret}: {page}");
                    }
                }
            }
        };
        check(["The payment is on its way", "Die Zahlung ist unterwegs"]);
        Message::topup_of("10", "topup.confirmed", &reference(&place)).accepted_by(&server);
        check(["The payment has arrived", "Die Zahlung ist angekommen"]);
    }
}

/// Attack API8: a payment whose page leads strangers to another site.
fn a_payment_leads_to_the_gig_where_it_began_and_nowhere_else(store: Store) {
    let (server, _provider) = paying(store);
    let (evening, member) = (Evening::new(&server), server.guest());
    let browser = Browser::logged_in(&server.client(), &member);
    let stranger = Browser::new(&server.client());
    let other_words = format!("{}/../../login", evening.code);
    for (number, (code, link)) in [
        (evening.code.as_str(), Some(evening.page())),
        // A code that no DJ has leads to the page that says so.
        ("222222", Some("/g/222222".to_owned())),
        ("", None),
        ("//evil.example", None),
        ("K7TW3M\"><script>", None),
        (&other_words, None),
    ]
    .into_iter()
    .enumerate()
    {
        let key = format!("0123456789012345678901-topup{number}");
        let place =
            leads_to(&browser.post("/topups", &[("key", &key), ("amount", "5"), ("code", code)])).to_owned();
        let page = stranger.get(&format!("{place}?returned=1"));
        assert_eq!(page.status, 200, "{page}");
        assert!(!page.text.contains("evil") && !page.text.contains("/login"), "{page}");
        let links: Vec<&str> = page.text.split("href=\"/g/").skip(1).collect();
        let links: Vec<String> =
            links.iter().map(|rest| format!("/g/{}", rest.split_once('"').unwrap().0)).collect();
        assert_eq!(links, link.clone().into_iter().collect::<Vec<_>>(), "{code}");
        if let Some(link) = link {
            assert!([200, 404].contains(&stranger.get(&link).status), "{link}");
            assert!(browser.get(&place).text.contains(&format!("href=\"{link}\"")), "the owner, too");
        }
    }
}

fn the_longest_request_waits_for_its_payment(store: Store) {
    let (server, _provider) = paying(store);
    let evening = Evening::new(&server);
    let browser = Browser::new(&server.client());
    let [song, artist, dedication] =
        [("\u{1f3b5}", 255), ("\u{20ac}", 255), ("\u{1f483}", 140)].map(|(text, times)| text.repeat(times));
    let form = with(evening.filled(&browser, &song), "artist_name", &artist);
    let form = with(with(form, "message", &dedication), "name", &"ä".repeat(255));
    let answer = evening.send(&browser, &form);
    let place = leads_to(&answer).to_owned();
    let kept = answer.headers.get_all("set-cookie").into_iter().map(|cookie| cookie.len()).max().unwrap();
    assert!((2_500..=4_096).contains(&kept), "{kept}");
    Message::topup_of("10", "topup.confirmed", &reference(&place)).accepted_by(&server);
    assert!(browser.get(&place).text.contains(&song));
    leads_to(&evening.send_draft(&browser));
    let request = evening.requests()[0].clone();
    assert_eq!((&request["song_title"], &request["artist_name"]), (&json!(song), &json!(artist)));
    let queue = gig_scene::queue(&evening.dj, &evening.gig);
    assert!(queue.to_string().contains(&dedication), "{queue}");
}

/// Attack API6: sending a cancelled request again by its draft, or a second one with the same money.
fn a_cancelled_request_is_not_sent_again(store: Store) {
    let (server, _provider) = paying(store);
    let evening = Evening::new(&server);
    let browser = Browser::new(&server.client());
    let place = leads_to(&evening.request(&browser, "Blue Monday")).to_owned();
    let draft = browser.cookie(DRAFT).unwrap();
    Message::topup_of("10", "topup.confirmed", &reference(&place)).accepted_by(&server);
    let send = || evening.send_draft(&browser);
    leads_to(&send());
    let id = evening.newest();
    let key = ("key", "0123456789012345678901-cancel");
    leads_to(&browser.post(&format!("/requests/{id}/cancel"), &[key]));
    for _ in 0..2 {
        browser.set_cookie(DRAFT, &draft);
        assert_eq!(leads_to(&send()), format!("{}#request-{id}", evening.page()), "the first request");
    }
    let requests = evening.requests();
    assert_eq!((requests.len(), &requests[0]["status"]), (1, &json!("cancelled")));
    assert!(browser.get("/wallet").text.contains("10.00\u{a0}USD"), "the money is back once");
}

fn another_request_leaves_the_draft_of_the_first_one(store: Store) {
    let (server, _provider) = paying(store);
    let evening = Evening::new(&server);
    let browser = Browser::new(&server.client());
    let first = evening.filled(&browser, "Blue Monday");
    let place = leads_to(&evening.send(&browser, &first)).to_owned();
    let draft = browser.cookie(DRAFT).unwrap();
    let free = Evening { dj: server.dj_at("0", "0"), ..Evening::new(&server) };
    let gig = gig_scene::open(&free.dj, &json!({"title": "Free"}));
    let free = Evening { code: gig["code"].as_str().unwrap().to_owned(), gig, ..free };
    leads_to(&free.request(&browser, "Temptation"));
    assert_eq!(browser.cookie(DRAFT), Some(draft), "it still waits");
    Message::topup_of("10", "topup.confirmed", &reference(&place)).accepted_by(&server);
    leads_to(&evening.send_draft(&browser));
    assert_eq!(evening.requests()[0]["song_title"], "Blue Monday");
}

fn a_payment_of_the_wallet_from_before_the_login_is_still_the_readers(store: Store) {
    let (server, _provider) = paying(store);
    let (evening, member) = (Evening::new(&server), server.guest());
    for (language, header) in LANGUAGES.into_iter().enumerate() {
        let browser = Browser::new(&server.client()).speaking(header);
        let place = leads_to(&evening.request(&browser, "Blue Monday")).to_owned();
        leads_to(&browser.log_in(&member.email, PASSWORD));
        let page = browser.get(&format!("{place}?returned=1"));
        says(
            &page,
            language,
            &[["Waiting for the confirmation", "Warten auf die Bestätigung"], amount!("10.00", "10,00")],
        );
        Message::topup_of("10", "topup.confirmed", &reference(&place)).accepted_by(&server);
        let page = browser.get(&place);
        says(
            &page,
            language,
            &[[
                "10.00\u{a0}USD are in the wallet of this phone",
                "10,00\u{a0}USD sind im Guthaben dieses Telefons",
            ]],
        );
    }
    assert!(evening.requests().is_empty(), "the login has dropped the draft");
}
