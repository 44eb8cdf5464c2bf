//! What a DJ reads and does in the booth beyond single answers.

use serde_json::json;

use crate::harness::{Answer, Browser, Server, Store, eventually, field, gig_scene, leads_to};

on_one_store!(
    the_booth_counts_what_the_rejection_of_guest_accounts_rejects,
    the_booth_lists_blocked_guests_and_ends_a_block,
    a_card_says_when_its_song_was_played_for_another_guest,
    the_form_that_ends_a_gig_names_ten_accepted_songs_and_counts_the_others,
    the_form_of_a_first_gig_proposes_the_usual_price_and_the_date,
);

/// The value of the first option of the times since when requests were made.
fn since_of(page: &Answer) -> String {
    let (_, options) =
        page.text.split_once("name=\"since\"><option value=\"").unwrap_or_else(|| panic!("{page}"));
    options.split_once('"').unwrap().0.to_owned()
}

fn the_booth_counts_what_the_rejection_of_guest_accounts_rejects(store: Store) {
    let server = Server::start(store);
    let (dj, member, guest) = (server.dj(), server.payer("100"), server.guest_account());
    let gig = gig_scene::open(&dj, &json!({"title": "Friday", "max_open_per_guest": 10}));
    guest.topup("50");
    let browser = Browser::logged_in(&server.client(), &dj);
    let kept = gig_scene::ask(&member, &dj, "10");
    assert!(browser.get("/booth").text.contains("Guests have no new requests."));
    let seen = ["10", "12.50"].map(|fee| gig_scene::ask(&guest, &dj, fee));
    let page = browser.get("/booth");
    for minutes in [5, 15, 60, 720] {
        assert!(
            page.text.contains(&format!(">{minutes} minutes: 2 requests, 22.50\u{a0}USD</option>")),
            "{page}"
        );
    }
    let later = gig_scene::ask(&guest, &dj, "10");
    let (since, until) = (since_of(&page), field(&page, "until"));
    let form = [("gig", gig["id"].to_string()), ("since", since), ("until", until)];
    let form = form.each_ref().map(|(name, value)| (*name, value.as_str()));
    leads_to(&browser.post("/booth/reject-guests", &form));
    eventually("they are rejected", || {
        seen.iter().all(|id| gig_scene::status(&guest, *id) == "rejected").then_some(())
    });
    let others = [(&member, kept), (&guest, later)].map(|(person, id)| gig_scene::status(person, id));
    assert_eq!(others, ["pending", "pending"]);
}

fn the_booth_lists_blocked_guests_and_ends_a_block(store: Store) {
    let server = Server::start(store);
    let (dj, guest) = (server.dj(), server.payer("100"));
    gig_scene::open(&dj, &json!({"title": "Friday"}));
    gig_scene::ask(&guest, &dj, "10");
    let browser = Browser::logged_in(&server.client(), &dj);
    assert!(browser.get("/booth").text.contains("<a href=\"/booth/blocks\">Blocked guests</a>"));
    assert!(browser.get("/booth/blocks").text.contains("You block nobody."));
    dj.call("PUT", &format!("/music/dj/blocks/{}", guest.id)).send().data(200);
    let page = browser.get("/booth/blocks");
    assert!(page.text.contains("Ada") && page.text.contains("blocked <time datetime="), "{page}");
    let shown = field(&page, "guest");
    assert_eq!(shown, guest.id.to_string());
    leads_to(&browser.post("/booth/unblock", &[("guest", &shown)]));
    assert!(browser.get("/booth/blocks").text.contains("You block nobody."));
    gig_scene::ask(&guest, &dj, "10");
}

fn a_card_says_when_its_song_was_played_for_another_guest(store: Store) {
    let server = Server::start(store);
    let (dj, guest, other) = (server.dj(), server.payer("100"), server.payer("100"));
    gig_scene::open(&dj, &json!({"title": "Friday"}));
    let played = gig_scene::ask(&guest, &dj, "10");
    gig_scene::ask(&other, &dj, "10");
    let browser = Browser::logged_in(&server.client(), &dj);
    assert!(!browser.get("/booth").text.contains("This song was played"));
    dj.answer(played, "accepted").data(200);
    dj.answer(played, "played").data(200);
    let page = browser.get("/booth");
    assert_eq!(page.text.matches("This song was played <time datetime=").count(), 1, "{page}");
}

fn the_form_that_ends_a_gig_names_ten_accepted_songs_and_counts_the_others(store: Store) {
    let server = Server::start(store);
    let (dj, guest) = (server.dj(), server.payer("1000"));
    gig_scene::open(&dj, &json!({"title": "Friday", "max_open_per_guest": 20}));
    let asked: Vec<i64> = (0..13).map(|_| gig_scene::ask(&guest, &dj, "10")).collect();
    let browser = Browser::logged_in(&server.client(), &dj);
    let form = || {
        let page = browser.get("/booth").text;
        let (_, form) = page.split_once("action=\"/booth/end\"").unwrap();
        form.split_once("</form>").unwrap().0.to_owned()
    };
    assert!(!form().contains("<li>"), "nothing is accepted");
    for (accepted, id) in asked[..12].iter().enumerate() {
        dj.answer(*id, "accepted").data(200);
        if accepted == 0 {
            let form = form();
            assert!(form.contains("Their money is returned:</p><ul><li><b>"), "{form}");
            assert!(form.contains("</span> 10.00\u{a0}USD</li></ul>"), "{form}");
        }
    }
    let form = form();
    assert_eq!(form.matches("<li><b>").count(), 10, "{form}");
    assert!(form.contains("<li>and 2 more</li>"), "{form}");
}

fn the_form_of_a_first_gig_proposes_the_usual_price_and_the_date(store: Store) {
    let server = Server::configured(store, &[("gigs.usual_price", "7.5")]);
    let prices = |browser: &Browser| {
        let page = browser.get("/booth");
        let price = |name| {
            let (_, input) = page.text.split_once(&format!("name=\"{name}\"")).unwrap();
            let (_, value) = input.split_once("value=\"").unwrap();
            value.split_once('"').unwrap().0.to_owned()
        };
        ["title", "fee_popular_song", "fee_upcoming_artist"].map(price)
    };
    let browser = Browser::logged_in(&server.client(), &server.client().person(true));
    let [title, popular, upcoming] = prices(&browser);
    assert_eq!([popular, upcoming], ["7.50", "7.50"]);
    let german = prices(&browser.speaking("de"));
    assert_eq!(german[1..], ["7,50", "7,50"]);
    // The form can be sent as it is, and the next one repeats it.
    let key = field(&browser.get("/booth"), "key");
    let fields = [("key", key.as_str()), ("max_open_per_guest", "3")];
    let proposed = [("title", title.as_str()), ("fee_popular_song", "7.50"), ("fee_upcoming_artist", "7.50")];
    leads_to(&browser.post("/booth", &[&fields[..], &proposed].concat()));
    let page = browser.get("/booth");
    assert!(page.text.contains(&format!(">{title}</bdi></h1>")), "{title}: {page}");
    // Prices of a DJ stay.
    let [_, popular, upcoming] = prices(&Browser::logged_in(&server.client(), &server.dj_at("4", "12")));
    assert_eq!([popular, upcoming], ["12.00", "4.00"]);
}
