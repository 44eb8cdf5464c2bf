//! The form of a request: what it asks, what it offers, and what it keeps of a guest's text.

use serde_json::{Value, json};

use crate::harness::guest_scene::{Evening, LANGUAGES, Words, filled_on, request_form, says, shows, with};
use crate::harness::{Answer, Browser, SESSION, Server, Store, gig_scene, leads_to};

on_one_store!(
    an_own_song_that_waits_is_asked_about_once,
    the_text_of_a_refused_request_stays,
    the_address_of_a_form_leads_to_its_page,
    offers_of_each_kind_give_better_places,
    the_numbers_of_a_gig_are_part_of_what_is_read_again,
    a_new_guest_without_a_name_is_asked_for_one,
);

const AGAIN: Words = ["Request it again?", "Noch einmal wünschen?"];

/// The value of each higher offer for this kind of song on a page.
fn offers_on<'a>(page: &'a Answer, kind: &str) -> Vec<&'a str> {
    let choice = format!("<label class=\"choice for-{kind}\"><input type=\"radio\" name=\"offer\" value=\"");
    request_form(page).split(&choice).skip(1).map(|rest| rest.split_once('"').unwrap().0).collect()
}

/// The page once the gig has changed: boards may be a second old.
fn pauses(evening: &Evening, browser: &Browser, is_paused: bool, words: &str) {
    let path = format!("/gigs/{}", evening.gig["id"]);
    evening.dj.patch(&path, &json!({"accepting": !is_paused})).data(200);
    shows(browser, &evening.page(), words);
}

fn an_own_song_that_waits_is_asked_about_once(store: Store) {
    let server = Server::start(store);
    for (language, header) in LANGUAGES.into_iter().enumerate() {
        let evening = Evening::new(&server);
        let browser = Browser::new(&server.client()).speaking(header);
        let form = evening.filled(&browser, "Blue Monday");
        let sent = evening.send(&browser, &form);
        assert_eq!(leads_to(&evening.send(&browser, &form)), leads_to(&sent), "the same form asks nothing");
        let asked = evening.request(&browser, "BLUE monday (Live)");
        assert_eq!(asked.status, 422, "{asked}");
        let words = [
            "You have an open request for this song.",
            "Du hast für diesen Song schon einen offenen Wunsch.",
        ];
        says(&asked, language, &[words, AGAIN]);
        assert_eq!(evening.requests().len(), 1);
        // Another guest may request it, and so may this one after a confirmation.
        leads_to(&evening.request(&Browser::new(&server.client()), "Blue Monday"));
        leads_to(&evening.send(&browser, &filled_on(&asked, "BLUE monday (Live)")));
        assert_eq!(evening.requests().len(), 3);
        // A cancelled one does not wait.
        let other = Browser::new(&server.client());
        leads_to(&evening.request(&other, "Temptation"));
        let key = [("key", "0123456789012345678901-cancel")];
        leads_to(&other.post(&format!("/requests/{}/cancel", evening.newest()), &key));
        leads_to(&evening.request(&other, "Temptation"));
    }
}

fn the_text_of_a_refused_request_stays(store: Store) {
    let server = Server::start(store);
    for (language, header) in LANGUAGES.into_iter().enumerate() {
        let evening = Evening::new(&server);
        let browser = Browser::new(&server.client()).speaking(header);
        let form = with(evening.filled(&browser, "Rock & Roll"), "message", "For <Anna>");
        let paused = ["The DJ takes a break from requests", "Der DJ macht gerade Wunschpause"];
        pauses(&evening, &browser, true, paused[language]);
        let refused = evening.send(&browser, &form);
        assert_eq!(refused.status, 422, "{refused}");
        says(&refused, language, &[paused, ["Your song was not sent:", "Dein Song wurde nicht gesendet:"]]);
        for text in ["Rock &#38; Roll", "New Order", "For &#60;Anna&#62;"] {
            assert!(refused.text.contains(text), "{text}: {refused}");
        }
        // "Look again" takes the song along.
        assert!(refused.text.contains("data-again"), "{refused}");
        let again = format!("{}?song_title=Rock+%26+Roll&artist_name=New+Order", evening.page());
        assert!(browser.get(&again).text.contains("value=\"Rock &#38; Roll\""), "still paused");
        pauses(&evening, &browser, false, "id=\"song_title\"");
        let page = browser.get(&again);
        assert!(
            page.text.contains("id=\"song_title\" name=\"song_title\" value=\"Rock &#38; Roll\""),
            "{page}"
        );
        gig_scene::end(&evening.dj, &evening.gig).data(200);
        let ended = ["This gig is over", "Dieser Abend ist vorbei"];
        shows(&browser, &evening.page(), ended[language]);
        let refused = evening.send(&browser, &form);
        says(&refused, language, &[ended]);
        assert!(refused.text.contains("Rock &#38; Roll") && refused.text.contains("For &#60;Anna&#62;"));
        // Without a text there is nothing to show.
        assert!(!browser.get(&evening.page()).text.contains("class=\"draft"));
    }
}

/// A refused form leaves its own address in the browser, which a reload reads.
fn the_address_of_a_form_leads_to_its_page(store: Store) {
    let server = Server::start(store);
    let evening = Evening::new(&server);
    let browser = Browser::new(&server.client());
    for form in ["requests", "draft", "tips"] {
        let answer = browser.get(&format!("{}/{form}", evening.page()));
        assert_eq!(leads_to(&answer), evening.page());
    }
    assert_eq!(browser.get("/g/x/requests").status, 404);
}

fn offers_of_each_kind_give_better_places(store: Store) {
    let server = Server::start(store);
    let evening = Evening::with(&server, &json!({"title": "Friday", "asks_kind": true}));
    let browser = Browser::new(&server.client());
    // Every offer is the first one in an empty queue.
    let page = browser.get(&evening.page());
    assert_eq!(["popular", "upcoming"].map(|kind| offers_on(&page, kind).len()), [0, 0], "{page}");
    let at = |offer: &str, kind: &str, song: &str| {
        let guest = Browser::new(&server.client());
        let form = with(with(evening.filled(&guest, song), "offer", offer), "kind", kind);
        leads_to(&evening.send(&guest, &form));
    };
    at("price", "popular", "Blue Monday");
    at("17.00", "popular", "Ceremony");
    let page = shows(&browser, &evening.page(), "about 3rd");
    assert_eq!(offers_on(&page, "popular"), ["15.00", "20.00"], "{page}");
    assert_eq!(offers_on(&page, "upcoming"), [] as [&str; 0], "{page}");
    // A title is missing. An upcoming artist costs 5.00.
    at("7.00", "upcoming", "Regret");
    let refused = |offer: &str| {
        let form = with(evening.filled(&browser, ""), "kind", "upcoming");
        let answer = evening.send(&browser, &with(form, "offer", offer));
        assert_eq!(answer.status, 422, "{answer}");
        answer
    };
    shows(&browser, &evening.page(), "<dd>3</dd>");
    let answer = refused("price");
    assert_eq!(offers_on(&answer, "upcoming"), ["7.50"], "{answer}");
    assert!(answer.text.contains("about 4th") && answer.text.contains("about 3rd"), "{answer}");
    // What the guest chose stays.
    let answer = refused("10.00");
    assert_eq!(offers_on(&answer, "upcoming"), ["7.50", "10.00"], "{answer}");
    assert!(answer.text.contains("value=\"10.00\" checked"), "{answer}");
    // It was chosen before the kind.
    let answer = refused("20.00");
    assert_eq!(answer.text.matches("value=\"20.00\" checked").count(), 1, "{answer}");
}

fn the_numbers_of_a_gig_are_part_of_what_is_read_again(store: Store) {
    let server = Server::start(store);
    let evening = Evening::new(&server);
    let browser = Browser::new(&server.client());
    let facts = |page: &Answer| {
        let of = |part: &str| part.split_once("<dl class=\"facts\">").map(|(_, rest)| rest.to_owned());
        let facts = of(&page.text).unwrap_or_else(|| panic!("{page}"));
        facts.split_once("</dl>").unwrap().0.to_owned()
    };
    let page = browser.get(&evening.page());
    assert!(facts(&page).contains("<dd>0</dd>"), "{page}");
    leads_to(&evening.request(&Browser::new(&server.client()), "Blue Monday"));
    evening.dj.patch("/user/personal-info", &json!({"fee_popular_song": 12.5})).data(200);
    let part = shows(&browser, &format!("{}/live", evening.page()), "<dd>1</dd>");
    let part = if part.text.contains("12.50") {
        part
    } else {
        shows(&browser, &format!("{}/live", evening.page()), "12.50")
    };
    let page = browser.get(&evening.page());
    assert_eq!(facts(&part), facts(&page), "{part}");
    assert!(part.text.contains("<p class=\"chip open\">Taking requests</p>"), "{part}");
}

fn a_new_guest_without_a_name_is_asked_for_one(store: Store) {
    let server = Server::start(store);
    for (language, header) in LANGUAGES.into_iter().enumerate() {
        let evening = Evening::new(&server);
        let browser = Browser::new(&server.client()).speaking(header);
        for name in ["", "   ", "\u{a0}"] {
            let form = with(evening.filled(&browser, "Blue Monday"), "name", name);
            let refused = evening.send(&browser, &form);
            assert_eq!((refused.status, browser.cookie(SESSION)), (422, None), "{refused}");
            let (_, error) = refused.text.split_once("id=\"name-error\">").unwrap();
            assert!(error.starts_with(["Please fill in", "Bitte fülle"][language]), "{refused}");
            assert!(refused.text.contains("value=\"Blue Monday\""), "{refused}");
        }
        assert_eq!(evening.requests(), Vec::<Value>::new());
        // A guest with an account has one.
        leads_to(&evening.request(&browser, "Blue Monday"));
        leads_to(&evening.send(&browser, &with(evening.filled(&browser, "Regret"), "name", " ")));
    }
}
