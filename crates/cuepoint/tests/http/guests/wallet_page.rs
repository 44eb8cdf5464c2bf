//! The page of the wallet.

use crate::harness::guest_scene::Evening;
use crate::harness::{Browser, Server, Store, leads_to};

on_one_store!(every_hold_is_named_however_old_it_is, entries_name_the_songs_of_their_requests);

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
