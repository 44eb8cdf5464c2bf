//! Where a guest's song stands, why, and whether it can still be played.

use serde_json::json;

use crate::harness::guest_scene::{Evening, LANGUAGES, says, shows};
use crate::harness::{Browser, Person, Server, Store, leads_to};

on_one_store!(
    a_place_names_the_songs_that_come_first,
    a_wait_shorter_than_the_time_of_an_accepted_song_has_no_warning,
    offers_warn_of_a_wait_longer_than_the_time_of_an_accepted_song,
    a_song_of_an_upcoming_artist_says_so,
);

/// A request for this song, at this fee.
fn request(guest: &Person, evening: &Evening, title: &str, fee: u32) {
    let body = json!({"dj_id": evening.dj.id, "song_title": title, "artist_name": "New Order",
        "artist_type": "popular", "fee": fee});
    guest.post("/music/requests", &body).data(201);
}

fn a_place_names_the_songs_that_come_first(store: Store) {
    let server = Server::start(store);
    let evening = Evening::new(&server);
    let guests: Vec<Person> = (0..4).map(|_| server.payer("100")).collect();
    for guest in &guests {
        request(guest, &evening, "Blue Monday", 10);
    }
    request(&guests[0], &evening, "Regret", 15);
    request(&guests[1], &evening, "Ceremony", 10);
    request(&guests[2], &evening, "Temptation", 10);
    for (language, header) in LANGUAGES.into_iter().enumerate() {
        let browser = Browser::logged_in(&server.client(), &guests[2]).speaking(header);
        let place = ["about 7th", "etwa Platz 7"];
        let page = shows(&browser, &evening.page(), place[language]);
        let before = [
            "Before yours: 4 songs of earlier rounds, 1 with a higher price, 1 requested earlier.",
            "Vor deinem: 4 Songs aus früheren Runden, 1 mit höherem Preis, 1 früher gewünscht.",
        ];
        let rule = ["In each round, every guest has one song.", "In jeder Runde hat jeder Gast einen Song."];
        says(&page, language, &[before, rule]);
    }
}

/// The warning of a wait.
const RISK: [&str; 2] = ["May not be reached", "Kommt vielleicht nicht mehr dran"];

fn a_wait_shorter_than_the_time_of_an_accepted_song_has_no_warning(store: Store) {
    let server = Server::start(store);
    let evening = Evening::new(&server);
    for _ in 0..11 {
        request(&server.payer("10"), &evening, "Blue Monday", 10);
    }
    for (language, header) in LANGUAGES.into_iter().enumerate() {
        let browser = Browser::new(&server.client()).speaking(header);
        shows(&browser, &evening.page(), ["about 12th", "etwa Platz 12"][language]);
        leads_to(&evening.request(&browser, "Regret"));
        // The DJ has half an hour to answer.
        let page = shows(&browser, &evening.page(), "48 min");
        says(&page, language, &[["The DJ answers until", "Der DJ antwortet bis"]]);
        assert!(!page.text.contains(RISK[language]), "{page}");
        let key = [("key", "0123456789012345678901-cancel")];
        leads_to(&browser.post(&format!("/requests/{}/cancel", evening.newest()), &key));
    }
}

fn offers_warn_of_a_wait_longer_than_the_time_of_an_accepted_song(store: Store) {
    let server = Server::configured(store, &[("gigs.accepted_ttl_seconds", "600")]);
    for (language, header) in LANGUAGES.into_iter().enumerate() {
        let evening = Evening::new(&server);
        let browser = Browser::new(&server.client()).speaking(header);
        request(&server.payer("10"), &evening, "Blue Monday", 10);
        let page = shows(&browser, &evening.page(), "8 min");
        assert!(!page.text.contains(RISK[language]), "{page}");
        request(&server.payer("10"), &evening, "Blue Monday", 10);
        let page = shows(&browser, &evening.page(), "12 min");
        says(&page, language, &[RISK]);
        leads_to(&evening.request(&browser, "Regret"));
        says(&shows(&browser, &evening.page(), "id=\"request-"), language, &[RISK]);
        let queue = evening.dj.get(&format!("/gigs/{}/queue", evening.gig["id"])).data(200);
        let risks: Vec<_> =
            queue["queue"].as_array().unwrap().iter().map(|queued| &queued["at_risk"]).collect();
        assert_eq!(risks, [false, false, true]);
    }
}

fn a_song_of_an_upcoming_artist_says_so(store: Store) {
    let server = Server::start(store);
    let evening = Evening::new(&server);
    let guest = server.payer("10");
    let body = json!({"dj_id": evening.dj.id, "song_title": "Regret", "artist_name": "New Order",
        "artist_type": "upcoming"});
    guest.post("/music/requests", &body).data(201);
    for (language, header) in LANGUAGES.into_iter().enumerate() {
        let dj = Browser::logged_in(&server.client(), &evening.dj).speaking(header);
        let words = ["<span>Upcoming artist</span>", "<span>Newcomer</span>"];
        says(&dj.get("/booth"), language, &[words]);
        let browser = Browser::logged_in(&server.client(), &guest).speaking(header);
        let page = shows(&browser, &evening.page(), "id=\"request-");
        says(&page, language, &[[" · Upcoming artist", " · Newcomer"]]);
    }
}
