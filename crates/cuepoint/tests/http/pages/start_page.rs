//! The links of the start page to the gigs of its reader, and the balance that a claim saves.

use crate::harness::guest_scene::{Evening, LANGUAGES, says, shows};
use crate::harness::{Browser, PASSWORD, Server, Store, gig_scene, leads_to};

on_one_store!(
    a_claim_says_what_is_available_and_what_is_held,
    the_start_page_leads_back_to_the_gigs_of_its_reader,
);

fn the_start_page_leads_back_to_the_gigs_of_its_reader(store: Store) {
    let server = Server::start(store);
    let (evening, other) = (Evening::new(&server), Evening::new(&server));
    let browser = Browser::new(&server.client());
    let links = |browser: &Browser| {
        let page = browser.get("/");
        let links = page.text.split("<a class=\"button\" href=\"").skip(1);
        let paths = links.map(|rest| rest.split_once('"').unwrap().0.to_owned());
        paths.filter(|path| path.starts_with("/g/") || path == "/booth").collect::<Vec<_>>()
    };
    assert!(links(&browser).is_empty(), "no session");
    leads_to(&evening.request(&browser, "Blue Monday"));
    leads_to(&other.request(&browser, "Regret"));
    leads_to(&evening.request(&browser, "Temptation"));
    assert_eq!(links(&browser), [evening.page(), other.page()]);
    for (language, header) in LANGUAGES.into_iter().enumerate() {
        says(&browser.clone().speaking(header).get("/"), language, &[["Back to", "Zurück zu"]]);
    }
    let dj = Browser::logged_in(&server.client(), &other.dj);
    assert_eq!(links(&dj), ["/booth"]);
    // Accepted, the request still waits for its song.
    other.dj.answer(other.requests()[0]["id"].as_i64().unwrap(), "accepted").data(200);
    assert_eq!(links(&browser), [evening.page(), other.page()]);
    // A login keeps the guest wallet, whose money is held for the song.
    let member = Browser::new(&server.client());
    leads_to(&evening.request(&member, "Ceremony"));
    leads_to(&member.log_in(&server.guest().email, PASSWORD));
    assert_eq!(links(&member), [evening.page()]);
    for (gig, song) in [(&other, "Elegia"), (&evening, "Procession")] {
        leads_to(&gig.request(&member, song));
    }
    assert_eq!(links(&member), [evening.page(), other.page()]);
    gig_scene::end(&evening.dj, &evening.gig).data(200);
    gig_scene::end(&other.dj, &other.gig).data(200);
    assert!(links(&browser).is_empty() && links(&dj).is_empty());
}

fn a_claim_says_what_is_available_and_what_is_held(store: Store) {
    let server = Server::start(store);
    for (language, header) in LANGUAGES.into_iter().enumerate() {
        let evening = Evening::new(&server);
        let browser = Browser::new(&server.client()).speaking(header);
        leads_to(&evening.request(&browser, "Blue Monday"));
        let page = browser.get("/claim");
        says(
            &page,
            language,
            &[["Available", "Verfügbar"], ["Held", "Reserviert"], amount!("10.00", "10,00")],
        );
        evening.dj.answer(evening.newest(), "rejected").data(200);
        let page = shows(&browser, "/claim", amount!("10.00", "10,00")[language]);
        assert!(!page.text.contains(["Held", "Reserviert"][language]), "nothing is held: {page}");
    }
}
