//! What pages say after a form, without scripts.

use cuepoint_pages::done::DoneNotice;
use serde_json::json;

use crate::harness::guest_scene::{Evening, LANGUAGES, Words, says};
use crate::harness::{Browser, PASSWORD, Person, Server, Store, field, gig_scene, leads_to};

on_one_store!(
    the_account_says_what_a_form_did,
    the_booth_says_what_a_form_did,
    a_guest_page_says_what_a_form_did,
    an_address_shows_no_notice_of_its_own,
    a_request_that_a_form_names_twice_counts_once,
);

/// Sends a form, and checks that the page after it says this, once, as a status that has the focus.
#[track_caller]
fn done(browser: &Browser, path: &str, fields: &[(&str, &str)], language: usize, words: Words) {
    let place = leads_to(&browser.post(path, fields)).to_owned();
    let page = browser.get(&place);
    assert_eq!(page.status, 200, "{page}");
    let said =
        format!("<p class=\"notice done\" role=\"status\" tabindex=\"-1\" autofocus>{}</p>", words[language]);
    assert_eq!(page.text.matches(&said).count(), 1, "{said}: {page}");
    // Another read of the same page says nothing.
    let (plain, _) = place.split_once("done=").unwrap_or_else(|| panic!("{place}"));
    let plain = browser.get(plain.trim_end_matches(['?', '&']));
    assert!(!plain.text.contains("class=\"notice done\""), "{plain}");
}

fn the_account_says_what_a_form_did(store: Store) {
    let server = Server::start(store);
    for (language, header) in LANGUAGES.into_iter().enumerate() {
        let member = server.guest();
        let browser = Browser::logged_in(&server.client(), &member).speaking(header);
        let after =
            |path: &str, fields: &[(&str, &str)], words| done(&browser, path, fields, language, words);
        after("/account/name", &[("name", "Ada")], ["Saved.", "Gespeichert."]);
        let confirmation = leads_to(&browser.post("/account/export", &[])).to_owned();
        let next = field(&browser.get(&confirmation), "next");
        let fields = [("next", next.as_str()), ("password", PASSWORD)];
        let words = ["The password is right.", "Das Passwort stimmt."];
        let page = browser.get(leads_to(&browser.post("/account/confirm", &fields)));
        says(&page, language, &[words]);
        after("/account/phone", &[("phone", "+4930123456")], ["Saved.", "Gespeichert."]);
        let changed = [
            "The password was changed. All other sessions have ended.",
            "Das Passwort wurde geändert. Alle anderen Sitzungen sind beendet.",
        ];
        after("/account/password", &[("current", PASSWORD), ("password", "battery staple")], changed);
        let elsewhere = Browser::new(&server.client());
        leads_to(&elsewhere.log_in(&member.email, "battery staple"));
        let page = browser.get("/account");
        let (_, after_path) = page.text.split_once("action=\"/account/sessions/").unwrap();
        let path = format!("/account/sessions/{}", after_path.split_once('"').unwrap().0);
        after(&path, &[], ["The session has ended.", "Die Sitzung ist beendet."]);
        assert!(!elsewhere.is_logged_in());
        after("/account/dj", &[], ["You are a DJ now.", "Du bist jetzt DJ."]);
        after("/logout", &[], ["You are logged out.", "Du bist abgemeldet."]);
    }
}

fn the_booth_says_what_a_form_did(store: Store) {
    let server = Server::start(store);
    for (language, header) in LANGUAGES.into_iter().enumerate() {
        let (dj, guest) = (server.dj(), server.payer("100"));
        let browser = Browser::logged_in(&server.client(), &dj).speaking(header);
        let gig = gig_scene::open(&dj, &json!({"title": "Friday", "max_open_per_guest": 10}));
        let id = gig["id"].to_string();
        let after = |name: &str, fields: &[(&str, &str)], words| {
            let key = format!("0123456789012345678901-{name}-{language}");
            let fields = [&[("key", key.as_str()), ("gig", &id)], fields].concat();
            done(&browser, &format!("/booth/{name}"), &fields, language, words);
        };
        let [accepted, rejected, of_blocked] =
            [(); 3].map(|()| gig_scene::ask(&guest, &dj, "10").to_string());
        after("accept", &[("ids", &accepted)], ["Accepted.", "Angenommen."]);
        after("played", &[("ids", &accepted)], ["Marked as played.", "Als gespielt markiert."]);
        let words = ["Rejected. The fee was returned.", "Abgelehnt. Der Preis ging zurück."];
        after("reject", &[("ids", &rejected)], words);
        let words =
            ["The requests of guests are being rejected.", "Die Wünsche von Gästen werden abgelehnt."];
        after("reject-guests", &[("since", "0"), ("until", "0")], words);
        let words = [
            "The guest is blocked. Open requests of the guest were rejected.",
            "Der Gast ist gesperrt. Offene Wünsche des Gastes wurden abgelehnt.",
        ];
        after("block", &[("guest", &guest.id.to_string())], words);
        let words = ["The guest is no longer blocked.", "Der Gast ist nicht mehr gesperrt."];
        after("unblock", &[("guest", &guest.id.to_string())], words);
        assert_eq!(gig_scene::status(&guest, of_blocked.parse().unwrap()), "rejected");
        let settings = [
            ("title", "Saturday"),
            ("fee_popular_song", "12"),
            ("fee_upcoming_artist", "6"),
            ("max_open_per_guest", "3"),
        ];
        after("settings", &settings, ["Saved.", "Gespeichert."]);
        let words = ["Paused. Guests see &#34;paused&#34;.", "Pausiert. Gäste sehen „pausiert“."];
        after("pause", &[], words);
        after("resume", &[], ["Open for requests again.", "Wieder offen für Wünsche."]);
        after("end", &[], ["The evening has ended.", "Der Abend ist beendet."]);
        let key = field(&browser.get("/booth"), "key");
        let opening = [&[("key", key.as_str())], &settings[..]].concat();
        done(&browser, "/booth", &opening, language, ["Your evening is open.", "Dein Abend ist eröffnet."]);
    }
}

fn a_guest_page_says_what_a_form_did(store: Store) {
    let server = Server::start(store);
    for (language, header) in LANGUAGES.into_iter().enumerate() {
        let evening = Evening::new(&server);
        let guest = server.payer("100");
        let browser = Browser::logged_in(&server.client(), &guest).speaking(header);
        let key = format!("0123456789012345678901-{language}");
        let tip = [("key", key.as_str()), ("preset", "2")];
        let words = ["The tip was given. Thank you.", "Das Trinkgeld ist gegeben. Danke."];
        done(&browser, &format!("{}/tips", evening.page()), &tip, language, words);
        let requested = gig_scene::ask(&guest, &evening.dj, "10");
        let cancelled =
            browser.post(&format!("/requests/{requested}/cancel"), &[("key", &format!("{key}-cancel"))]);
        let page = browser.get(leads_to(&cancelled));
        says(&page, language, &[["The request was cancelled.", "Der Wunsch wurde zurückgezogen."]]);
        claimed_and_erased(&evening, &server, language, header);
    }
}

/// A guest account is claimed, and erased as a member.
fn claimed_and_erased(evening: &Evening, server: &Server, language: usize, header: &'static str) {
    let browser = evening.guest(server).speaking(header);
    let email = format!("mia-{language}@example.com");
    let fields = [("name", "Mia"), ("email", &email), ("password", PASSWORD)];
    let page = browser.get(leads_to(&browser.post("/claim", &fields)));
    says(&page, language, &[["Your wallet is saved.", "Dein Guthaben ist gesichert."]]);
    let member: Person = server.guest();
    let leaving = Browser::logged_in(&server.client(), &member).speaking(header);
    let page = leaving.get(leads_to(&leaving.post("/account/erase", &[("password", PASSWORD)])));
    says(&page, language, &[["The account was erased.", "Das Konto wurde gelöscht."]]);
}

/// Attack API8: a link to a page of this service that says what its author wants.
fn an_address_shows_no_notice_of_its_own(store: Store) {
    let server = Server::start(store);
    let evening = Evening::new(&server);
    let browser = Browser::logged_in(&server.client(), &server.guest());
    for path in ["/", "/login", "/account", "/wallet", &evening.page()] {
        let plain = browser.get(path).text.matches("notice done").count();
        for foreign in ["", "Saved", "Your+account+is+suspended", "%3Cb%3Esaved", "saved&done=x"] {
            let page = browser.get(&format!("{path}?done={foreign}"));
            assert_eq!(page.text.matches("notice done").count(), plain, "{foreign}: {page}");
            assert!(!page.text.contains("Your account is suspended"), "{page}");
        }
        for done in DoneNotice::all() {
            let link = format!("{path}?done={}", done.name());
            for site in ["cross-site", "same-site", "none"] {
                let page = browser.send(browser.call("GET", &link).header("sec-fetch-site", site));
                assert_eq!(page.text.matches("notice done").count(), plain, "{site}: {page}");
            }
            let own = browser.send(browser.call("GET", &link).header("sec-fetch-site", "same-origin"));
            assert_eq!(own.text.matches("notice done").count(), plain + 1, "{own}");
        }
    }
    // A form that is refused says so, and no more.
    let refused = browser.send(browser.form("/account/name?done=saved", &[("name", "")]));
    assert!(refused.status == 422 && !refused.text.contains("Saved."), "{refused}");
}

fn a_request_that_a_form_names_twice_counts_once(store: Store) {
    let server = Server::start(store);
    let (dj, guest) = (server.dj(), server.payer("100"));
    gig_scene::open(&dj, &json!({"title": "Friday"}));
    let id = gig_scene::ask(&guest, &dj, "10");
    dj.answer(id, "accepted").data(200);
    let browser = Browser::logged_in(&server.client(), &dj);
    let fields = [("key", "0123456789012345678901"), ("ids", &format!("{id},{id},{id}"))];
    let call = browser.form("/booth/played", &fields).header("x-cuepoint-part", "1");
    let answer = browser.send(call);
    assert_eq!(answer.status, 200, "{answer}");
    assert!(answer.text.contains("10.00") && !answer.text.contains("30.00"), "{answer}");
}
