//! What a card says of the money of a request that expired.

use crate::harness::guest_scene::{Evening, LANGUAGES, says, shows};
use crate::harness::{Browser, Server, Store, leads_to};

on_one_store!(a_card_says_that_money_is_back_once_it_is_released);

fn a_card_says_that_money_is_back_once_it_is_released(store: Store) {
    // The job that releases fees never runs.
    let keys = [("gigs.pending_ttl_seconds", "1"), ("requests.sweep_interval_seconds", "3600")];
    let server = Server::configured(store, &keys);
    for (language, header) in LANGUAGES.into_iter().enumerate() {
        let (evening, guest) = (Evening::new(&server), server.payer("15"));
        let browser = Browser::logged_in(&server.client(), &guest).speaking(header);
        leads_to(&evening.request(&browser, "Blue Monday"));
        let page = shows(&browser, &evening.page(), ["Expired", "Abgelaufen"][language]);
        let soon = ["comes back to your wallet in a moment.", "kommen gleich in dein Guthaben zurück."];
        let back = ["returned to your wallet.", "sind wieder in deinem Guthaben."];
        says(&page, language, &[amount!("10.00", "10,00"), soon]);
        assert!(!page.text.contains(back[language]), "{page}");
        assert_eq!(guest.wallet(), ("5.00".to_owned(), "10.00".to_owned()));
        // A request that lacks the money releases it.
        leads_to(&evening.request(&browser, "Temptation"));
        let page = shows(&browser, &evening.page(), back[language]);
        says(&page, language, &[["Returned", "Erstattet"]]);
    }
}
