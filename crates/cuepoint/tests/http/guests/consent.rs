//! What a form of a guest may hold: the fee that its guest saw, after the questions that apply.

use serde_json::{Value, json};

use crate::harness::guest_scene::{Evening, LANGUAGES, Words, filled_on, says, shows, with};
use crate::harness::{Answer, Browser, PASSWORD, Server, Store, at_once, field, leads_to};

on_one_store!(
    joining_an_accepted_song_answers_no_question_about_the_price,
    two_questions_are_asked_in_one_notice,
    an_answer_is_not_valid_for_another_song,
    a_lowered_price_is_held_and_a_raised_one_is_asked_about_in_each_tab,
    a_kind_of_song_counts_only_while_the_gig_asks_for_it,
    an_answer_that_no_form_gave_is_asked_about_again,
    a_displayed_price_that_no_page_showed_holds_nothing_below_the_list_price,
    an_offer_that_is_no_amount_is_refused,
    joining_a_request_that_cannot_be_joined_still_asks,
    a_form_that_was_answered_and_sent_is_not_sent_again,
    a_payment_answers_no_later_question,
    a_blocked_guest_finds_no_form,
    the_booth_has_one_price_unless_guests_choose_the_kind,
);

/// A guest with money in the wallet, at this language.
fn payer(server: &Server, header: &'static str) -> Browser {
    let browser = Browser::new(&server.client()).speaking(header);
    leads_to(&browser.log_in(&server.payer("100").email, PASSWORD));
    browser
}

fn set_price(evening: &Evening, price: u32) {
    evening.dj.patch("/user/personal-info", &json!({"fee_popular_song": price})).data(200);
}

/// The DJ sets this price, and boards show it.
fn price(server: &Server, evening: &Evening, price: u32) {
    set_price(evening, price);
    let reader = Browser::new(&server.client());
    shows(&reader, &evening.page(), &format!("name=\"price_popular\" value=\"{price}.00\""));
}

/// Another guest's request for this song, which the DJ has accepted, or played.
fn requested(server: &Server, evening: &Evening, song: &str, status: &str, shown: &str) -> i64 {
    leads_to(&evening.request(&Browser::new(&server.client()), song));
    let id = evening.newest();
    evening.dj.answer(id, status).data(200);
    shows(&Browser::new(&server.client()), &evening.page(), shown);
    id
}

#[track_caller]
fn asked(answer: &Answer, language: usize, words: &[Words]) {
    assert_eq!(answer.status, 422, "{answer}");
    says(answer, language, words);
}

/// The fees of the requests for this song, newest first.
fn fees(evening: &Evening, song: &str) -> Vec<Value> {
    let requests = evening.requests();
    let of_song = requests.iter().filter(|request| request["song_title"] == song);
    of_song.map(|request| request["fee"].clone()).collect()
}

const AGAIN: Words = ["Request it again?", "Noch einmal wünschen?"];
const ACCEPTED: Words =
    ["The DJ has already accepted this song.", "Der DJ hat diesen Song schon angenommen."];
const RAISED: Words = ["The price is now 30.00\u{a0}USD.", "Der Preis ist jetzt 30,00\u{a0}USD."];
const BUTTON: Words = ["Request for 30.00\u{a0}USD</button>", "Für 30,00\u{a0}USD wünschen</button>"];

fn joining_an_accepted_song_answers_no_question_about_the_price(store: Store) {
    let server = Server::start(store);
    for (language, header) in LANGUAGES.into_iter().enumerate() {
        let evening = Evening::new(&server);
        let accepted = requested(&server, &evening, "Blue Monday", "accepted", "name=\"joins\"");
        for browser in [payer(&server, header), Browser::new(&server.client()).speaking(header)] {
            price(&server, &evening, 10);
            let page = browser.get(&evening.page());
            assert_eq!(field(&page, "joins"), accepted.to_string());
            let me_too =
                format!("{}?joins={accepted}&song_title=Blue+Monday&artist_name=New+Order", evening.page());
            let form = filled_on(&browser.get(&me_too), "Blue Monday");
            price(&server, &evening, 30);
            let before = evening.requests().len();
            let answer = evening.send(&browser, &form);
            asked(&answer, language, &[RAISED, BUTTON]);
            assert!(!answer.text.contains(ACCEPTED[language]), "{answer}");
            assert_eq!(evening.requests().len(), before);
            leads_to(&evening.send(&browser, &filled_on(&answer, "Blue Monday")));
            assert_eq!(evening.requests()[0]["fee"], 30.0);
        }
        // At the displayed price, "me too" asks nothing.
        let browser = payer(&server, header);
        let me_too =
            format!("{}?joins={accepted}&song_title=Blue+Monday&artist_name=New+Order", evening.page());
        leads_to(&evening.send(&browser, &filled_on(&browser.get(&me_too), "Blue Monday")));
    }
}

fn two_questions_are_asked_in_one_notice(store: Store) {
    let server = Server::start(store);
    for (language, header) in LANGUAGES.into_iter().enumerate() {
        let evening = Evening::new(&server);
        let browser = payer(&server, header);
        requested(&server, &evening, "Blue Monday", "played", ["Last played", "Zuletzt gespielt"][0]);
        let form = evening.filled(&browser, "Blue Monday");
        price(&server, &evening, 30);
        let answer = evening.send(&browser, &form);
        asked(&answer, language, &[RAISED, ["Played", "Gespielt"], AGAIN, BUTTON]);
        assert_eq!(answer.text.matches("role=\"alert\"").count(), 1, "{answer}");
        leads_to(&evening.send(&browser, &filled_on(&answer, "Blue Monday")));
        // The same with the guest's own open request.
        let form = evening.filled(&browser, "Blue Monday");
        let words = [
            "You have an open request for this song.",
            "Du hast für diesen Song schon einen offenen Wunsch.",
        ];
        let answer = evening.send(&browser, &form);
        asked(&answer, language, &[["Played", "Gespielt"], words, AGAIN]);
        assert_eq!(fees(&evening, "Blue Monday").len(), 2);
    }
}

fn an_answer_is_not_valid_for_another_song(store: Store) {
    let server = Server::start(store);
    let evening = Evening::new(&server);
    let browser = payer(&server, LANGUAGES[0]);
    requested(&server, &evening, "Temptation", "played", "Last played");
    let accepted = requested(&server, &evening, "Blue Monday", "accepted", "name=\"joins\"");
    let answer = evening.request(&browser, "Blue Monday");
    asked(&answer, 0, &[ACCEPTED]);
    // The guest types the song that was played.
    let other = evening.send(&browser, &filled_on(&answer, "Temptation"));
    asked(&other, 0, &[["Played", ""], AGAIN]);
    assert_eq!(fees(&evening, "Temptation").len(), 1);
    // A song of which there is nothing to ask is sent.
    leads_to(&evening.send(&browser, &filled_on(&answer, "Regret")));
    evening.dj.answer(accepted, "played").data(200);
}

fn a_lowered_price_is_held_and_a_raised_one_is_asked_about_in_each_tab(store: Store) {
    let server = Server::start(store);
    let evening = Evening::new(&server);
    let browser = payer(&server, LANGUAGES[0]);
    let [first, second] = ["Blue Monday", "Temptation"].map(|song| evening.filled(&browser, song));
    price(&server, &evening, 2);
    leads_to(&evening.send(&browser, &first));
    assert_eq!(fees(&evening, "Blue Monday"), [2.0]);
    // Two tabs of one form: one answers, and the price rises before the other one sends its answer.
    price(&server, &evening, 30);
    let [one, other] = [&second, &with(second.clone(), "key", "another-0123456789012345678901")]
        .map(|form| filled_on(&evening.send(&browser, form), "Temptation"));
    leads_to(&evening.send(&browser, &one));
    assert_eq!(fees(&evening, "Temptation"), [30.0]);
    price(&server, &evening, 40);
    let answer = evening.send(&browser, &other);
    let now = ["The price is now 40.00\u{a0}USD.", ""];
    asked(&answer, 0, &[now, ["You have an open request for this song.", ""]]);
    assert_eq!(fees(&evening, "Temptation"), [30.0]);
    // The price of the answer is the displayed one, also where boards are a second old.
    let answered = filled_on(&answer, "Temptation");
    set_price(&evening, 50);
    let again = evening.send(&browser, &answered);
    asked(
        &again,
        0,
        &[["The price is now 50.00\u{a0}USD.", ""], ["Request for 50.00\u{a0}USD</button>", ""]],
    );
    assert_eq!(fees(&evening, "Temptation"), [30.0]);
}

fn a_kind_of_song_counts_only_while_the_gig_asks_for_it(store: Store) {
    let server = Server::start(store);
    let evening = Evening::with(&server, &json!({"title": "Friday", "asks_kind": true}));
    let browser = payer(&server, LANGUAGES[0]);
    let page = browser.get(&evening.page());
    says(&page, 0, &[["Upcoming artist", ""]]);
    let upcoming = |song| with(evening.filled(&browser, song), "kind", "upcoming");
    leads_to(&evening.send(&browser, &upcoming("Regret")));
    let form = upcoming("Ceremony");
    assert_eq!(fees(&evening, "Regret"), [5.0]);
    evening.dj.patch(&format!("/gigs/{}", evening.gig["id"]), &json!({"asks_kind": false})).data(200);
    // Boards may be a second old.
    let answer = evening.send(&browser, &form);
    asked(&answer, 0, &[["The price is now 10.00\u{a0}USD.", ""]]);
    let part = format!("{}/live", evening.page());
    shows(&browser, &part, "data-say=\"The price is now 10.00\u{a0}USD.\"");
    assert!(!browser.get(&evening.page()).text.contains("name=\"kind\""));
    let answer = evening.send(&browser, &form);
    asked(&answer, 0, &[["The price is now 10.00\u{a0}USD.", ""]]);
    assert!(fees(&evening, "Ceremony").is_empty());
    leads_to(&evening.send(&browser, &filled_on(&answer, "Ceremony")));
    assert_eq!(fees(&evening, "Ceremony"), [10.0]);
}

fn an_answer_that_no_form_gave_is_asked_about_again(store: Store) {
    let server = Server::start(store);
    let evening = Evening::new(&server);
    let browser = payer(&server, LANGUAGES[0]);
    requested(&server, &evening, "Blue Monday", "accepted", "name=\"joins\"");
    let answer = evening.request(&browser, "Blue Monday");
    let good = filled_on(&answer, "Blue Monday");
    let text = field(&answer, "asked");
    let other_gig = Evening::new(&server);
    requested(&server, &other_gig, "Blue Monday", "accepted", "name=\"joins\"");
    let of_other_gig = field(&other_gig.request(&browser, "Blue Monday"), "asked");
    let forged = [
        String::new(),
        "confirmed".to_owned(),
        of_other_gig,
        text.replace("accepted", "played"),
        text.replacen("10.00", "9.99", 1),
        text.replacen("10.00", "-10.00", 1),
        format!("{text} all"),
        "x".repeat(60_000),
    ];
    for value in forged {
        let answer = evening.send(&browser, &with(good.clone(), "asked", &value));
        assert_eq!(answer.status, 422, "{value:.80}: {answer}");
        says(&answer, 0, &[ACCEPTED]);
    }
    let twice = [&good[..], &[("asked".to_owned(), text)]].concat();
    asked(&evening.send(&browser, &twice), 0, &[ACCEPTED]);
    assert_eq!(fees(&evening, "Blue Monday").len(), 1);
    leads_to(&evening.send(&browser, &good));
}

fn a_displayed_price_that_no_page_showed_holds_nothing_below_the_list_price(store: Store) {
    let server = Server::start(store);
    let evening = Evening::new(&server);
    let browser = payer(&server, LANGUAGES[0]);
    for forged in ["", "1.00", "-1.00", "9.999", "free", "1e9"] {
        let form = with(evening.filled(&browser, "Blue Monday"), "price_popular", forged);
        asked(&evening.send(&browser, &form), 0, &[["The price is now 10.00\u{a0}USD.", ""]]);
    }
    let mut without = evening.filled(&browser, "Blue Monday");
    without.retain(|(name, _)| name != "price_popular");
    asked(&evening.send(&browser, &without), 0, &[["The price is now 10.00\u{a0}USD.", ""]]);
    assert!(evening.requests().is_empty());
    // A form with a higher displayed price holds the list price.
    let form = with(evening.filled(&browser, "Blue Monday"), "price_popular", "90.00");
    leads_to(&evening.send(&browser, &form));
    assert_eq!(fees(&evening, "Blue Monday"), [10.0]);
}

fn an_offer_that_is_no_amount_is_refused(store: Store) {
    let server = Server::start(store);
    let evening = Evening::new(&server);
    let browser = payer(&server, LANGUAGES[0]);
    for offer in ["-1.00", "12.345", "1000000000001", "much", "1e3"] {
        let form = with(evening.filled(&browser, "Blue Monday"), "offer", offer);
        let answer = evening.send(&browser, &form);
        assert_eq!(answer.status, 422, "{offer}: {answer}");
        assert!(answer.text.contains("id=\"offer-error\""), "{offer}: {answer}");
        assert!(answer.text.contains("value=\"Blue Monday\""), "{offer}: {answer}");
    }
    // Below the price.
    let form = with(evening.filled(&browser, "Blue Monday"), "offer", "0.00");
    asked(&evening.send(&browser, &form), 0, &[["Request for 10.00\u{a0}USD</button>", ""]]);
    assert!(evening.requests().is_empty());
}

fn joining_a_request_that_cannot_be_joined_still_asks(store: Store) {
    let server = Server::start(store);
    let (evening, other) = (Evening::new(&server), Evening::new(&server));
    let browser = payer(&server, LANGUAGES[0]);
    let gone = requested(&server, &evening, "Blue Monday", "accepted", "name=\"joins\"");
    evening.dj.answer(gone, "rejected").data(200);
    let another = requested(&server, &evening, "Temptation", "accepted", "Temptation");
    let strange = requested(&server, &other, "Blue Monday", "accepted", "name=\"joins\"");
    requested(&server, &evening, "Blue Monday", "accepted", "Blue Monday");
    for joins in [gone.to_string(), another.to_string(), strange.to_string(), "0".to_owned(), "x".to_owned()]
    {
        let form = with(evening.filled(&browser, "Blue Monday"), "joins", &joins);
        asked(&evening.send(&browser, &form), 0, &[ACCEPTED]);
    }
}

fn a_form_that_was_answered_and_sent_is_not_sent_again(store: Store) {
    let server = Server::start(store);
    let evening = Evening::new(&server);
    let browser = payer(&server, LANGUAGES[0]);
    requested(&server, &evening, "Blue Monday", "played", "Last played");
    let form = evening.filled(&browser, "Blue Monday");
    price(&server, &evening, 30);
    let answered = filled_on(&evening.send(&browser, &form), "Blue Monday");
    let calls = (0..2).map(|_| evening.call(&browser, &answered)).collect();
    let places: Vec<String> = at_once(calls).iter().map(|answer| leads_to(answer).to_owned()).collect();
    assert_eq!(places[0], places[1]);
    // "Back" leads to the first form, and its prices have changed once more.
    price(&server, &evening, 40);
    for sent in [&form, &answered] {
        assert_eq!(leads_to(&evening.send(&browser, sent)), places[0]);
    }
    assert_eq!(fees(&evening, "Blue Monday"), [30.0, 10.0]);
}

fn a_payment_answers_no_later_question(store: Store) {
    let server = Server::configured(store, &[("topups.sandbox", "page")]);
    let evening = Evening::new(&server);
    let browser = Browser::new(&server.client());
    price(&server, &evening, 0);
    requested(&server, &evening, "Blue Monday", "accepted", "name=\"joins\"");
    price(&server, &evening, 10);
    // The guest answers that the song was accepted, and pays.
    let answer = evening.request(&browser, "Blue Monday");
    asked(&answer, 0, &[ACCEPTED]);
    let place = leads_to(&evening.send(&browser, &filled_on(&answer, "Blue Monday"))).to_owned();
    let reference = place.strip_prefix("/topups/").unwrap();
    leads_to(&browser.post(&format!("/sandbox/payments/{reference}"), &[("outcome", "pay")]));
    // The price rises before the draft is sent.
    price(&server, &evening, 30);
    asked(&evening.send_draft(&browser), 0, &[RAISED]);
    assert_eq!(fees(&evening, "Blue Monday").len(), 1);
    // The first answer still stands, and the fee is the list price.
    price(&server, &evening, 8);
    leads_to(&evening.send_draft(&browser));
    assert_eq!(fees(&evening, "Blue Monday"), [8.0, 0.0]);
}

fn a_blocked_guest_finds_no_form(store: Store) {
    let server = Server::start(store);
    for (language, header) in LANGUAGES.into_iter().enumerate() {
        let evening = Evening::new(&server);
        let guest = server.payer("50");
        let browser = Browser::logged_in(&server.client(), &guest).speaking(header);
        let block = format!("/music/dj/blocks/{}", guest.id);
        assert!(browser.get(&evening.page()).text.contains("id=\"song_title\""));
        let request = guest.request_song(&evening.dj);
        evening.dj.call("PUT", &block).send().data(200);
        let words = ["This DJ takes no requests from you", "Dieser DJ nimmt keine Wünsche von dir an"];
        let page = browser.get(&evening.page());
        says(&page, language, &[words]);
        assert!(!page.text.contains("id=\"song_title\"") && !page.text.contains("data-offers"), "{page}");
        let part = browser.get(&format!("{}/live", evening.page()));
        assert!(part.text.contains("data-status=\"blocked\""), "{part}");
        // Others are not blocked, and an unblocked guest finds the form again.
        assert!(payer(&server, header).get(&evening.page()).text.contains("id=\"song_title\""));
        evening.dj.call("DELETE", &block).send().data(200);
        assert!(browser.get(&format!("{}/live", evening.page())).text.contains("data-status=\"open\""));
        evening.dj.answer(request, "rejected");
    }
}

fn the_booth_has_one_price_unless_guests_choose_the_kind(store: Store) {
    let server = Server::start(store);
    let evening = Evening::new(&server);
    let booth = Browser::logged_in(&server.client(), &evening.dj);
    let gig = evening.gig["id"].to_string();
    let save = |key: &str, fields: &[(&str, &str)]| {
        let key = format!("0123456789012345678901-{key}");
        let common = [("key", key.as_str()), ("gig", &gig), ("title", "Friday"), ("max_open_per_guest", "3")];
        booth.post("/booth/settings", &[&common[..], fields].concat())
    };
    let saved = || {
        let profile = evening.dj.get("/user/personal-info").data(200)["user"].clone();
        let gig = evening.dj.get(&format!("/gigs/{gig}")).data(200)["gig"].clone();
        let prices = ["fee_popular_song", "fee_upcoming_artist"].map(|name| profile[name].clone());
        [prices.to_vec(), vec![gig["asks_kind"].clone()]].concat()
    };
    leads_to(&save("one", &[("fee_popular_song", "8"), ("fee_upcoming_artist", "1")]));
    assert_eq!(saved(), [json!(8.0), json!(8.0), json!(0)]);
    let kinds = [("asks_kind", "1"), ("fee_popular_song", "8"), ("fee_upcoming_artist", "3")];
    leads_to(&save("two", &kinds));
    assert_eq!(saved(), [json!(8.0), json!(3.0), json!(1)]);
    assert!(booth.get("/booth").text.contains("name=\"asks_kind\" value=\"1\" checked"));
    let without = save("none", &[("asks_kind", "1"), ("fee_popular_song", "8")]);
    assert_eq!(without.status, 422, "{without}");
    assert!(without.text.contains("id=\"fee_upcoming_artist-error\""), "{without}");
    assert_eq!(saved(), [json!(8.0), json!(3.0), json!(1)]);
}
