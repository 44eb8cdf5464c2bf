//! Work of a size that strangers choose: texts of letters that grow when decomposed, and reports on gigs with many
//! requests.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, ScopedJoinHandle};

use serde_json::{Value, json};

use crate::harness::gig_scene::{end, is_released, open, queue};
use crate::harness::{Answer, Browser, Person, Server, Store, is_page};

on_one_store!(
    letters_that_grow_are_refused_or_shown_as_typed_in_every_text_of_a_gig,
    reports_of_a_gig_with_growing_letters_are_right_and_leave_the_server_to_others,
);

/// The letters that grow most: by NFKC and NFKD, by NFD, in lower case, in upper case and by case folding.
pub(crate) const GROWING: [&str; 6] = ["\u{fdfa}", "\u{1f82}", "\u{130}", "\u{390}", "\u{fb03}", "\u{344}"];

/// A gig in which a guest may have many open requests.
fn wide_gig(dj: &Person) -> Value {
    open(dj, &json!({"title": "Friday", "max_open_per_guest": 100}))
}

fn ask(guest: &Person, dj: &Person, title: &str, artist: &str) -> Answer {
    let body = json!({"dj_id": dj.id, "song_title": title, "artist_name": artist, "artist_type": "popular"});
    guest.post("/music/requests", &body)
}

/// Attack API4: a gig full of the letter that decomposes into eighteen others, whose reports are read all the time.
fn reports_of_a_gig_with_growing_letters_are_right_and_leave_the_server_to_others(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let (dj, guest) = (server.dj_at("1", "1"), server.payer("100"));
    let gig = wide_gig(&dj);
    let long = "\u{fdfa}".repeat(254);
    let mut requests = Vec::new();
    for title in ["a", "b"] {
        for _ in 0..20 {
            let asked = ask(&guest, &dj, &format!("{long}{title}"), &"\u{fdfa}".repeat(255)).data(201);
            requests.push(asked["id"].as_i64().unwrap());
        }
    }
    assert_eq!(queue(&dj, &gig)["queue"].as_array().map(Vec::len), Some(40));
    let report = format!("/gigs/{}/report", gig["id"]);
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let health = scope.spawn(|| {
            let mut calls = 0;
            while !is_over.load(Ordering::Relaxed) {
                assert_eq!(server.client().outside("GET", "/health/live").send().status, 200);
                calls += 1;
            }
            calls
        });
        let readers: Vec<_> = (0..6).map(|_| scope.spawn(|| dj.get(&report))).collect();
        let answers: Vec<_> = readers.into_iter().map(ScopedJoinHandle::join).collect();
        is_over.store(true, Ordering::Relaxed);
        assert!(health.join().unwrap() > 0);
        // Every report was computed, and two long titles with equal beginnings are two songs.
        for answer in answers {
            let answer = answer.unwrap();
            let songs = answer.data(200)["report"]["top_songs"].clone();
            assert_eq!((&songs[0]["requests"], &songs[1]["requests"]), (&json!(20), &json!(20)), "{answer}");
        }
    });
    dj.answer(requests[0], "played").data(200);
    end(&dj, &gig).data(200);
    is_released(&guest, "99.00");
    let numbers = || {
        let report = dj.get(&report).data(200)["report"].clone();
        let count = |status: &str| report["requests"][status].as_i64().unwrap();
        (count("rejected"), count("played"), count("refunded"), report["rating"].as_f64().unwrap())
    };
    for _ in 0..2 {
        assert_eq!(numbers(), (39, 1, 0, 0.0));
    }
    // A kept report shows changes after the end.
    guest.post(&format!("/music/requests/{}/rating", requests[0]), &json!({"stars": 4})).data(200);
    assert_eq!(numbers(), (39, 1, 0, 4.0));
    let refund = format!("/operator/music/requests/{}/refund", requests[0]);
    operator.post(&refund, &json!({"reason": "the wrong song"})).data(200);
    assert_eq!(numbers(), (39, 0, 1, 4.0));
    let pages = Browser::logged_in(&server.client(), &dj);
    let rows = pages.get(&format!("/booth/gigs/{}/report.csv", gig["id"]));
    assert_eq!((rows.status, rows.text.lines().count()), (200, 41), "{rows}");
    assert_eq!(rows.text.lines().filter(|row| row.contains(&long)).count(), 40);
    is_page(&pages.get("/booth/gigs"));
}

/// Attack API4: the letters that grow most, in every text that a guest or a DJ can send.
fn letters_that_grow_are_refused_or_shown_as_typed_in_every_text_of_a_gig(store: Store) {
    let server = Server::start(store);
    for letter in GROWING {
        let (dj, guest) = (server.dj_at("0", "0"), server.guest());
        let line = letter.repeat(255);
        let details = json!({
            "title": letter.repeat(80), "venue": line, "city": line, "message": letter.repeat(140),
            "max_open_per_guest": 100,
        });
        let gig = open(&dj, &details);
        assert_eq!((&gig["title"], &gig["venue"]), (&json!(letter.repeat(80)), &json!(line)));
        for person in [&dj, &guest] {
            person.patch("/user/personal-info", &json!({"name": line, "city": line})).data(200);
        }
        let mut body = json!({
            "dj_id": dj.id, "song_title": line, "artist_name": line, "artist_type": "popular",
            "message": letter.repeat(140), "music_url": format!("https://example.com/{}", letter.repeat(1_900)),
        });
        guest.post("/music/requests", &body).data(201);
        body["music_url"] = json!(format!("https://{}", letter.repeat(2_000)));
        let of_host = guest.post("/music/requests", &body);
        assert!([201, 422].contains(&of_host.status), "{of_host}");
        for (field, most) in [("song_title", 255), ("artist_name", 255), ("message", 140)] {
            let mut longer = body.clone();
            longer.as_object_mut().unwrap().remove("music_url");
            longer[field] = json!(letter.repeat(most + 1));
            guest.post("/music/requests", &longer).invalid(&[field]);
        }
        let waiting = queue(&dj, &gig)["queue"][0].clone();
        assert_eq!(waiting["guest"]["name"], json!(line), "{waiting}");
        let code = gig["code"].as_str().unwrap();
        let browser = Browser::new(&server.client());
        for page in [format!("/g/{code}"), format!("/g/{code}/display"), "/".to_owned()] {
            let shown = browser.get(&page);
            assert!(shown.status < 400, "{page}: {shown}");
        }
        let booth = Browser::logged_in(&server.client(), &dj).get("/booth");
        assert!(booth.status == 200 && booth.text.contains(&line), "{}", booth.status);
        let email = format!("{}@example.com", letter.repeat(200));
        let login = server.client().post("/auth/login", &json!({"email": email, "password": "a wrong one"}));
        assert!([401, 422].contains(&login.status), "{login}");
    }
}
