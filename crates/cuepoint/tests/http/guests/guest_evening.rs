//! The evening of a guest at the pages: from the scan to the played song, and everything that can come between.

use serde_json::{Value, json};

use crate::guests::guest_wallet_keys::free;
use crate::harness::guest_scene::{
    Evening, LANGUAGES, WAITING, Words, filled_on, request_form, says, shows, with,
};
use crate::harness::{
    Browser, PASSWORD, SESSION, Server, Store, UNKNOWN_CODE, eventually, gig_scene, leads_to,
};

on_one_store!(
    a_guest_requests_a_song_and_sees_each_state_of_it_in_both_languages,
    a_raised_price_asks_again,
    a_song_of_tonight_asks_once_more,
    a_gig_that_takes_no_requests_says_why,
    limits_of_a_gig_say_why,
    a_displaced_request_says_why,
    the_last_requests_of_a_gig_say_for_whom_they_are,
    a_live_part_is_sent_if_it_has_changed,
    a_link_fills_the_form,
    higher_offers_show_their_places,
);

const RETURNED: Words = ["returned to your wallet.", "sind wieder in deinem Guthaben."];

fn a_guest_requests_a_song_and_sees_each_state_of_it_in_both_languages(store: Store) {
    let server = Server::start(store);
    for (language, header) in LANGUAGES.into_iter().enumerate() {
        let evening = Evening::new(&server);
        let browser = Browser::new(&server.client()).speaking(header);
        let see = |words: Words| shows(&browser, &evening.page(), words[language]);
        let key = |name: &str| ("key", format!("{name}-0123456789012345678901"));
        let page = browser.get(&evening.page());
        says(&page, language, &[["Request for 10.00\u{a0}USD", "Für 10,00\u{a0}USD wünschen"]]);
        let page_before = evening.request(&browser, "Blue Monday");
        assert!(leads_to(&page_before).contains("#request-"));
        let page = browser.get(&evening.page());
        says(&page, language, &[WAITING, ["held", "reserviert"], amount!("10.00", "10,00")]);
        says(&page, language, &[["Save the wallet", "Guthaben sichern"]]);

        let id = evening.newest();
        evening.dj.answer(id, "accepted").data(200);
        let page = see(["Accepted", "Angenommen"]);
        assert!(page.text.contains("held") || page.text.contains("reserviert"), "{page}");
        evening.dj.answer(id, "played").data(200);
        let page = see(["paid", "bezahlt"]);
        says(&page, language, &[["How was it?", "Wie war es?"], ["Tip the DJ", "Trinkgeld geben"]]);
        let (name, value) = key("rate");
        let rated = browser.form(&format!("/requests/{id}/rating"), &[(name, &value), ("stars", "4")]);
        let rated =
            browser.send(rated.header("referer", &format!("{}{}", server.client().address, evening.page())));
        assert_eq!(leads_to(&rated), format!("{}?done=rated", evening.page()));
        see(["Your rating", "Deine Bewertung"]);
        let profile = evening.dj.get("/user/personal-info").data(200)["user"].clone();
        assert_eq!((&profile["rating_count"], &profile["played"]), (&json!(1), &json!(1)));

        // Rejected, cancelled, and ended with the gig.
        leads_to(&evening.request(&browser, "Temptation"));
        evening.dj.answer(evening.newest(), "rejected").data(200);
        let page = see(["The DJ does not play this song tonight.", "Der DJ spielt diesen Song heute nicht."]);
        says(&page, language, &[RETURNED]);
        leads_to(&evening.request(&browser, "Bizarre Love Triangle"));
        let id = evening.newest();
        let (name, value) = key("cancel");
        leads_to(&browser.post(&format!("/requests/{id}/cancel"), &[(name, &value)]));
        see(["You cancelled this request.", "Du hast diesen Wunsch zurückgezogen."]);
        assert_eq!(
            browser.post(&format!("/requests/{id}/cancel"), &[(name, &value)]).status,
            303,
            "repeated"
        );
        leads_to(&evening.request(&browser, "Regret"));
        gig_scene::end(&evening.dj, &evening.gig).data(200);
        let page = see(["The gig ended before this song.", "Der Abend ging vor diesem Song zu Ende."]);
        says(&page, language, &[["This gig is over", "Dieser Abend ist vorbei"], RETURNED]);
        // The money is back, and the tip goes to the DJ.
        let tip =
            browser.post(&format!("{}/tips", evening.page()), &[("key", &key("tip").1), ("preset", "2")]);
        assert_eq!(leads_to(&tip), format!("{}?done=tipped", evening.page()), "{tip}");
        assert_eq!(evening.dj.entries().last().unwrap()["amount"], 2.0);
    }
}

fn a_raised_price_asks_again(store: Store) {
    let server = Server::start(store);
    for (language, header) in LANGUAGES.into_iter().enumerate() {
        let evening = Evening::new(&server);
        let browser = Browser::new(&server.client()).speaking(header);
        let form = evening.filled(&browser, "Blue Monday");
        evening.dj.patch("/user/personal-info", &json!({"fee_popular_song": 12.5})).data(200);
        shows(&browser, &evening.page(), amount!("12.50", "12,50")[language]);
        let asked = evening.send(&browser, &form);
        assert_eq!(asked.status, 422, "{asked}");
        let words = ["The price is now 12.50\u{a0}USD.", "Der Preis ist jetzt 12,50\u{a0}USD."];
        says(&asked, language, &[words, ["Request it at this price?", "Zu diesem Preis wünschen?"]]);
        assert!(evening.requests().is_empty());
        assert!(asked.text.contains("value=\"Blue Monday\""), "{asked}");
        says(&asked, language, &[["Request for 12.50\u{a0}USD", "Für 12,50\u{a0}USD wünschen"]]);
        let agreed = filled_on(&asked, "Blue Monday");
        assert_eq!(agreed[0], form[0], "the same key");
        leads_to(&evening.send(&browser, &agreed));
        assert_eq!(evening.requests()[0]["fee"], 12.5);
    }
}

fn a_song_of_tonight_asks_once_more(store: Store) {
    let server = Server::start(store);
    for (language, header) in LANGUAGES.into_iter().enumerate() {
        let evening = Evening::new(&server);
        let browser = |_| Browser::new(&server.client()).speaking(header);
        leads_to(&evening.request(&browser(0), "Blue Monday"));
        let id = evening.newest();
        let asks = |status: &str, shown: &str, words: Words| {
            evening.dj.answer(id, status).data(200);
            let guest = browser(1);
            shows(&guest, &evening.page(), shown);
            let asked = evening.request(&guest, "BLUE monday");
            assert_eq!(asked.status, 422, "{asked}");
            says(&asked, language, &[words, ["Request it again?", "Noch einmal wünschen?"]]);
            assert_eq!(guest.cookie(SESSION), None, "a question creates no account");
            (guest, asked)
        };
        let accepted = ["The DJ has already accepted this song.", "Der DJ hat diesen Song schon angenommen."];
        let (guest, asked) = asks("accepted", "class=\"song\"", accepted);
        leads_to(&evening.send(&guest, &filled_on(&asked, "BLUE monday")));
        assert_eq!(evening.requests().len(), 2);
        asks("played", ["Last played", "Zuletzt gespielt"][language], ["Played", "Gespielt"]);
        assert_eq!(evening.requests().len(), 2);
    }
}

/// The page of a refused request.
fn refused(evening: &Evening, browser: &Browser, form: &[(String, String)], words: Words, language: usize) {
    let answer = evening.send(browser, form);
    assert_eq!(answer.status, 422, "{answer}");
    says(&answer, language, &[words]);
    assert!(!answer.text.contains("id=\"song_title\""), "no form: {answer}");
    assert!(
        answer.text.contains("Blue Monday") || answer.text.contains("Temptation"),
        "the text stays: {answer}"
    );
}

fn a_gig_that_takes_no_requests_says_why(store: Store) {
    let server = Server::start(store);
    for (language, header) in LANGUAGES.into_iter().enumerate() {
        let evening = Evening::new(&server);
        let new_guest = || Browser::new(&server.client()).speaking(header);
        let member = |email: &str| {
            let browser = new_guest();
            leads_to(&browser.log_in(email, PASSWORD));
            browser
        };
        let own = ["This is your own page", "Das ist deine eigene Seite"];
        let dj = member(&evening.dj.email);
        let form = with(evening.filled(&new_guest(), "Blue Monday"), "payer", &evening.dj.id.to_string());
        refused(&evening, &dj, &form, own, language);

        let blocked = server.payer("50");
        let id = blocked.request_song(&evening.dj);
        evening.dj.call("PUT", &format!("/music/dj/blocks/{}", blocked.id)).send().data(200);
        let words = ["This DJ takes no requests from you", "Dieser DJ nimmt keine Wünsche von dir an"];
        let browser = member(&blocked.email);
        let form = with(evening.filled(&new_guest(), "Temptation"), "payer", &blocked.id.to_string());
        refused(&evening, &browser, &form, words, language);
        evening.dj.answer(id, "rejected").data(200);

        let path = format!("/gigs/{}", evening.gig["id"]);
        evening.dj.patch(&path, &json!({"members_only": true})).data(200);
        let words = ["For guests with an account", "Für Gäste mit Konto"];
        let guest = new_guest();
        refused(&evening, &guest, &evening.filled(&new_guest(), "Blue Monday"), words, language);
        evening.dj.patch(&path, &json!({"members_only": false})).data(200);

        let form = evening.filled(&new_guest(), "Blue Monday");
        evening.dj.patch("/user/personal-info", &json!({"online": 0})).data(200);
        let words = ["The DJ takes a break from requests", "Der DJ macht gerade Wunschpause"];
        shows(&new_guest(), &evening.page(), words[language]);
        refused(&evening, &new_guest(), &form, words, language);
        evening.dj.patch("/user/personal-info", &json!({"online": 1})).data(200);

        gig_scene::end(&evening.dj, &evening.gig).data(200);
        let words = ["This gig is over", "Dieser Abend ist vorbei"];
        shows(&new_guest(), &evening.page(), words[language]);
        refused(&evening, &new_guest(), &form, words, language);
        assert_eq!(evening.requests().len(), 1);
    }
}

fn limits_of_a_gig_say_why(store: Store) {
    let server = Server::configured(store, &[("gigs.max_open", "2")]);
    for (language, header) in LANGUAGES.into_iter().enumerate() {
        let evening = Evening::with(&server, &json!({"title": "Friday", "max_open_per_guest": 1}));
        let [first, second] = [0, 1].map(|_| Browser::new(&server.client()).speaking(header));
        // Guest accounts cannot fill the queue.
        leads_to(&second.log_in(&server.payer("50").email, PASSWORD));
        leads_to(&evening.request(&first, "Blue Monday"));
        let words =
            ["A guest has one open request at a time.", "Ein Gast hat höchstens einen offenen Wunsch."];
        refused(&evening, &first, &evening.filled(&first, "Temptation"), words, language);
        leads_to(&evening.request(&second, "Regret"));
        let third = server.payer("50");
        let browser = Browser::new(&server.client()).speaking(header);
        leads_to(&browser.log_in(&third.email, PASSWORD));
        let words = ["The queue is full", "Die Liste ist voll"];
        refused(&evening, &browser, &evening.filled(&browser, "Temptation"), words, language);
        assert_eq!(evening.requests().len(), 2);
    }
}

fn a_displaced_request_says_why(store: Store) {
    let server = Server::configured(store, &[("gigs.max_open", "1")]);
    for (language, header) in LANGUAGES.into_iter().enumerate() {
        let dj = server.dj_at("0", "0");
        let gig = gig_scene::open(&dj, &json!({"title": "Friday"}));
        let code = gig["code"].as_str().unwrap().to_owned();
        let evening = Evening { dj, gig, code };
        let browser = Browser::new(&server.client()).speaking(header);
        leads_to(&evening.request(&browser, "Blue Monday"));
        gig_scene::ask(&server.payer("5"), &evening.dj, "5");
        let words = [
            "The queue was full, and a request with a price took its place.",
            "Die Liste war voll, und ein Wunsch mit Preis hat den Platz bekommen.",
        ];
        says(&browser.get(&evening.page()), language, &[words]);
    }
}

fn the_last_requests_of_a_gig_say_for_whom_they_are(store: Store) {
    let server = Server::configured(store, &[("gigs.max_requests", "10")]);
    for (language, header) in LANGUAGES.into_iter().enumerate() {
        let evening = Evening::new(&server);
        let regular = server.payer("200");
        let guest = Browser::new(&server.client()).speaking(header);
        leads_to(&evening.request(&guest, "Blue Monday"));
        for _ in 0..8 {
            gig_scene::ask(&regular, &evening.dj, "10");
        }
        let words = [
            "The last requests of this evening are for members",
            "Die letzten Wünsche dieses Abends sind für Mitglieder",
        ];
        refused(&evening, &guest, &evening.filled(&guest, "Temptation"), words, language);
        gig_scene::ask(&regular, &evening.dj, "10");
        let member = Browser::new(&server.client()).speaking(header);
        leads_to(&member.log_in(&regular.email, PASSWORD));
        let words = ["No more requests tonight", "Heute keine Wünsche mehr"];
        refused(&evening, &member, &evening.filled(&member, "Temptation"), words, language);
    }
}

fn a_live_part_is_sent_if_it_has_changed(store: Store) {
    let server = Server::start(store);
    let evening = Evening::new(&server);
    let browser = Browser::new(&server.client());
    leads_to(&evening.request(&browser, "Blue Monday"));
    let part = |digest: &str| browser.get(&format!("{}/live?digest={digest}", evening.page()));
    let page = browser.get(&evening.page());
    let shown = eventually("the part is stable", || {
        let live = part("");
        assert_eq!(live.status, 200, "{live}");
        let digest = live.header("x-cuepoint-digest").unwrap().to_owned();
        let page = browser.get(&evening.page());
        page.text.contains(&digest).then_some(digest)
    });
    assert!(page.text.contains("data-live="), "{page}");
    // Each answer has other keys of forms, which change no digest.
    for _ in 0..3 {
        let same = part(&shown);
        assert_eq!((same.status, same.text.as_str()), (204, ""), "{same}");
        assert_eq!(same.header("x-cuepoint-digest"), Some(shown.as_str()));
    }
    // Another version of the board alone sends nothing else.
    let (content, _) = shown.split_once('-').unwrap();
    let same = part(&format!("{content}-0123456789abcdef"));
    assert_eq!((same.status, same.header("x-cuepoint-digest")), (204, Some(shown.as_str())), "{same}");
    evening.dj.answer(evening.newest(), "accepted").data(200);
    let changed = eventually("the part changes", || {
        let live = part(&shown);
        (live.status == 200).then_some(live)
    });
    assert!(changed.text.contains("Accepted"), "{changed}");
    let digest = changed.header("x-cuepoint-digest").unwrap();
    assert_ne!(digest, shown);
    // Another reader has another part.
    let stranger = Browser::new(&server.client());
    let theirs = stranger.get(&format!("{}/live?digest={digest}", evening.page()));
    assert_eq!(theirs.status, 200, "{theirs}");
    assert!(!theirs.text.contains("id=\"request-"), "{theirs}");
}

fn a_link_fills_the_form(store: Store) {
    let server = Server::start(store);
    let evening = Evening::new(&server);
    let browser = Browser::new(&server.client());
    let link =
        format!("{}?song_title=Blue+Monday&artist_name=New%20Order&key=short&name=%3Cb%3E", evening.page());
    let page = browser.get(&link);
    assert!(
        page.text.contains("value=\"Blue Monday\"") && page.text.contains("value=\"New Order\""),
        "{page}"
    );
    assert!(!page.text.contains("role=\"alert\""), "nothing was sent: {page}");
    // A code in any spelling leads to the page.
    let spelled = format!("{}-{}", evening.code[..3].to_lowercase(), &evening.code[3..]);
    for typed in [evening.code.clone(), evening.code.to_lowercase(), format!("+{}+", evening.code), spelled] {
        let answer = browser.get(&format!("/g?code={typed}"));
        if typed.contains('-') && answer.status == 404 {
            continue;
        }
        assert_eq!(leads_to(&answer), evening.page(), "{typed}");
    }
    assert_eq!(browser.get("/g?code=").status, 404);
    assert_eq!(browser.get("/g").status, 404);
}

fn higher_offers_show_their_places(store: Store) {
    let server = Server::start(store);
    let evening = Evening::with(&server, &json!({"title": "Friday"}));
    leads_to(&evening.request(&Browser::new(&server.client()), "Blue Monday"));
    let browser = Browser::new(&server.client());
    let page = shows(&browser, &evening.page(), "about 2nd");
    assert!(page.text.contains("about 1st"), "{page}");
    let offers: Vec<&str> = request_form(&page).split("name=\"offer\" value=\"").skip(1).collect();
    let offers: Vec<&str> = offers.iter().map(|rest| rest.split_once('"').unwrap().0).collect();
    assert_eq!(offers, ["price", "15.00"], "20.00 gives no better place: {page}");
    leads_to(&evening.send(&browser, &with(filled_on(&page, "Temptation"), "offer", "15.00")));
    assert_eq!(evening.requests()[0]["fee"], 15.0);
}

/// Attack API4: trying codes until one belongs to a DJ.
#[test]
fn unknown_codes_are_refused_after_ten_times_the_quota_of_a_member() {
    let keys = [
        ("rate_limits.enabled", "true"),
        ("rate_limits.unknown_codes_per_minute", "6"),
        ("server.trusted_proxies", "127.0.0.1"),
    ];
    let server = Server::configured(Store::Memory, &keys);
    let evening = Evening::new(&server);
    let browser = Browser::new(&server.client());
    let get =
        |path: &str, from: &str| browser.send(browser.call("GET", path).header("x-forwarded-for", from));
    for number in 0..60 {
        let path = ["", "/live", "/display", "/overlay"][number % 4];
        let answer = get(&format!("/g/{UNKNOWN_CODE}{path}"), "192.0.2.1");
        assert_eq!(answer.status, 404, "{number}: {answer}");
    }
    let answer = get(&format!("/g/{UNKNOWN_CODE}"), "192.0.2.1");
    assert_eq!(answer.status, 429, "{answer}");
    let seconds: u32 = answer.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=60).contains(&seconds), "{answer}");
    assert!(answer.text.contains("Too many attempts"), "{answer}");
    // The page of an open gig stays readable, and codes elsewhere as well.
    assert_eq!(get(&evening.page(), "192.0.2.1").status, 200);
    assert_eq!(get(&format!("/g/{UNKNOWN_CODE}"), "192.0.2.2").status, 404);
}

#[test]
fn a_first_request_counts_as_a_guest_account_and_later_ones_as_requests() {
    let keys = [
        ("rate_limits.enabled", "true"),
        ("rate_limits.guests_per_minute", "2"),
        ("rate_limits.guest_requests_per_minute", "3"),
    ];
    let server = Server::configured(Store::Memory, &keys);
    let evening = free(&server);
    let browsers = [0, 1, 2].map(|_| Browser::new(&server.client()));
    let forms = browsers.iter().zip(["One", "Two"]).map(|(browser, song)| {
        let form = evening.filled(browser, song);
        leads_to(&evening.send(browser, &form));
        form
    });
    let first = forms.collect::<Vec<_>>().swap_remove(0);
    let limited = evening.request(&browsers[2], "Three");
    assert_eq!((limited.status, browsers[2].cookie(SESSION)), (429, None), "{limited}");
    // Later requests create no account.
    leads_to(&evening.request(&browsers[0], "Four"));
    let limited = evening.request(&browsers[0], "Five");
    assert_eq!(limited.status, 429, "{limited}");
    assert!(limited.header("retry-after").is_some(), "{limited}");
    // The answer to the first request was lost, with its cookie or without it.
    leads_to(&evening.send(&browsers[0], &first));
    leads_to(&evening.send(&Browser::new(&server.client()), &first));
    let titles: Vec<Value> = evening.requests().iter().map(|request| request["song_title"].clone()).collect();
    assert_eq!(titles, ["Four", "Two", "One"]);
}
