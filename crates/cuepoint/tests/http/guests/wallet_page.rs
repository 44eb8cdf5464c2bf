//! The page of the wallet.

use serde_json::json;

use crate::harness::guest_scene::Evening;
use crate::harness::{Browser, Server, Store, leads_to};

on_one_store!(
    every_hold_is_named_however_old_it_is,
    entries_name_the_songs_of_their_requests,
    entries_name_the_djs_of_tips_and_lead_to_payments,
    the_wallet_of_a_dj_begins_with_payouts_and_that_of_a_guest_with_topups,
);

fn every_hold_is_named_however_old_it_is(store: Store) {
    let server = Server::start(store);
    let (guest, dj) = (server.payer("50"), server.dj());
    let old = guest.withdrawal("7");
    // Newer ones that hold nothing fill the list.
    for _ in 0..11 {
        let newer = guest.withdrawal("1");
        guest.call("POST", &format!("/withdrawals/{newer}/cancel")).send().data(200);
    }
    guest.request_song(&dj);
    assert_eq!(guest.wallet(), ("38.00".to_owned(), "12.00".to_owned()));
    let page = Browser::logged_in(&server.client(), &guest).get("/wallet");
    let (_, holds) = page.text.split_once("id=\"holds\"").unwrap_or_else(|| panic!("{page}"));
    let (holds, _) = holds.split_once("</section>").unwrap();
    for shown in [&format!("Payout {old}<"), "7.00\u{a0}USD", "Blue Monday", "5.00\u{a0}USD"] {
        assert!(holds.contains(shown), "{shown}: {holds}");
    }
    assert!(!holds.contains("Further requests"), "{holds}");
}

fn entries_name_the_songs_of_their_requests(store: Store) {
    let server = Server::start(store);
    let (guest, evening) = (server.payer("50"), Evening::new(&server));
    let browser = Browser::logged_in(&server.client(), &guest);
    for (song, answer) in [("Rock & Roll", "rejected"), ("Regret", "played")] {
        leads_to(&evening.request(&browser, song));
        evening.dj.answer(evening.newest(), answer).data(200);
    }
    let dj = Browser::logged_in(&server.client(), &evening.dj);
    for path in ["/wallet", "/wallet/statement"] {
        let statement = |browser: &Browser| {
            let page = browser.get(path);
            let (_, rows) = page.text.split_once("class=\"rows\"").unwrap_or_else(|| panic!("{page}"));
            rows.to_owned()
        };
        let (paid, earned) = (statement(&browser), statement(&dj));
        // Held and returned, held and paid.
        for song in ["Rock &#38; Roll", "Regret"] {
            assert_eq!(paid.matches(song).count(), 2, "{song}: {paid}");
        }
        assert!(earned.contains("Regret") && !earned.contains("Rock"), "{earned}");
        assert!(!paid.contains(">request "), "{paid}");
    }
}

fn entries_name_the_djs_of_tips_and_lead_to_payments(store: Store) {
    let server = Server::start(store);
    let (evening, guest) = (Evening::new(&server), server.guest());
    let name = json!({"name": "DJ Nova & Sons"});
    evening.dj.patch("/user/personal-info", &name).data(200);
    let reference = guest.topup_reference(guest.topup("50"));
    let browser = Browser::logged_in(&server.client(), &guest);
    let tip = [("key", "0123456789012345678901-tip"), ("preset", "2")];
    leads_to(&browser.post(&format!("{}/tips", evening.page()), &tip));
    let payment = format!("<a href=\"/topups/{reference}\">payment {}</a>", &reference[..8]);
    let dj = Browser::logged_in(&server.client(), &evening.dj);
    for path in ["/wallet", "/wallet/statement"] {
        let (paid, earned) = (browser.get(path), dj.get(path));
        for shown in ["DJ Nova &#38; Sons", &payment] {
            assert_eq!(paid.text.matches(shown).count(), 1, "{shown}: {paid}");
        }
        // A DJ learns of no guest, and reads no number.
        assert!(earned.text.contains("Earned <span class=\"quiet small\">tip</span>"), "{earned}");
        for number in [">tip ", ">top-up "] {
            assert!(!paid.text.contains(number) && !earned.text.contains(number), "{paid} {earned}");
        }
    }
    assert_eq!(browser.get(&format!("/topups/{reference}")).status, 200);
}

fn the_wallet_of_a_dj_begins_with_payouts_and_that_of_a_guest_with_topups(store: Store) {
    let server = Server::start(store);
    let people = [
        (server.dj(), ["<h2>Pay out</h2>", "<h2>Top up</h2>"], 1),
        (server.guest(), ["<h2>Top up</h2>", "<h2>Pay out</h2>"], 0),
    ];
    for (person, [first, second], open) in people {
        person.topup("50");
        let page = Browser::logged_in(&server.client(), &person).get("/wallet");
        let (_, rest) = page.text.split_once(first).unwrap_or_else(|| panic!("{first}: {page}"));
        assert!(rest.contains(second), "{page}");
        assert_eq!(page.text.matches("<details open><summary>In a cryptocurrency").count(), open, "{page}");
        assert_eq!(page.text.matches("<button class=\"plain\">Top up</button>").count(), open, "{page}");
    }
}
