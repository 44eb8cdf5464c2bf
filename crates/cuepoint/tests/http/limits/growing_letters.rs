//! The letters that grow most under normalization and case folding, in the forms of pages: each text is accepted as long
//! as it may be, a longer one is refused beside its field, and nothing fails. `declared_fields.rs` and
//! `query_parameters.rs` have those of the API, `long_work.rs` those of a gig.

use std::sync::atomic::{AtomicU32, Ordering};

use cuepoint_web::handlers;

use crate::harness::guest_scene::{Evening, borrowed, filled_on, path_of, with};
use crate::harness::{Answer, Browser, PASSWORD, Server, Store, field};
use crate::limits::long_work::GROWING;

on_one_store!(
    letters_that_grow_are_accepted_or_refused_beside_their_field_in_the_forms_of_pages,
    letters_that_grow_in_all_fields_at_once_fail_no_form_and_no_page,
);

/// A form that is valid in this browser.
struct Filled {
    browser: Browser,
    path: String,
    fields: Vec<(String, String)>,
}

/// Fills a form for a reader that did not send it before.
type Fill = fn(&Server, &Evening) -> Filled;

fn filled(browser: Browser, path: &str, fields: &[(&str, &str)]) -> Filled {
    let fields = fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Filled { browser, path: path.to_owned(), fields }
}

fn nobody(server: &Server) -> Browser {
    Browser::new(&server.client())
}

fn member(server: &Server) -> Browser {
    Browser::logged_in(&server.client(), &server.payer("50"))
}

/// An address that nobody has.
fn free_address() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(1);
    format!("growing-{}@example.com", COUNT.fetch_add(1, Ordering::Relaxed))
}

fn account(browser: Browser, path: &str) -> Filled {
    filled(browser, path, &[("name", "Ada"), ("email", &free_address()), ("password", PASSWORD)])
}

fn gig_fields(page: &Answer) -> Vec<(&'static str, String)> {
    let key = field(page, "key");
    let typed =
        [("title", "Friday"), ("asks_kind", "1"), ("fee_popular_song", "10"), ("fee_upcoming_artist", "5")];
    let typed = typed.into_iter().chain([("max_open_per_guest", "3")]);
    typed.map(|(name, value)| (name, value.to_owned())).chain([("key", key)]).collect()
}

/// The form that opens a gig, for a DJ without one.
fn opening(server: &Server) -> Filled {
    let browser = Browser::logged_in(&server.client(), &server.dj());
    let fields = gig_fields(&browser.get("/booth"));
    let fields = fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    Filled { browser, path: "/booth".to_owned(), fields }
}

/// The form of the settings of an open gig.
fn settings(server: &Server) -> Filled {
    let Filled { browser, path, fields } = opening(server);
    assert_eq!(browser.post(&path, &borrowed(&fields)).status, 303);
    let page = browser.get("/booth");
    let (_, form) = page.text.split_once("action=\"/booth/settings\"").unwrap_or_else(|| panic!("{page}"));
    let form = Answer { text: form.to_owned(), ..page.clone() };
    let fields = gig_fields(&form).into_iter().chain([("gig", field(&page, "gig"))]);
    let fields = fields.map(|(name, value)| (name.to_owned(), value)).collect();
    Filled { browser, path: "/booth/settings".to_owned(), fields }
}

/// The form of a request, for a guest who is no user yet.
fn request(server: &Server, evening: &Evening) -> Filled {
    let browser = nobody(server);
    let fields = filled_on(&browser.get(&evening.page()), "Blue Monday");
    Filled { browser, path: format!("{}/requests", evening.page()), fields }
}

fn payout(server: &Server) -> Filled {
    let address = "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4";
    let fields = [("amount", "5"), ("payout", "BTC/bitcoin"), ("wallet_address", address)];
    filled(member(server), "/wallet/payout", &fields)
}

/// Every text that a form stores or shows: its form, its field, and the number of letters that it accepts.
const STORED: [(Fill, &str, usize); 17] = [
    (|server, _| account(nobody(server), "/register"), "name", 255),
    (|server, _| account(nobody(server), "/register"), "password", 255),
    (|server, evening| account(evening.guest(server), "/claim"), "password", 255),
    (|server, _| filled(member(server), "/account/name", &[]), "name", 255),
    (|server, _| filled(member(server), "/account/password", &[("current", PASSWORD)]), "password", 255),
    (|server, _| opening(server), "title", 80),
    (|server, _| opening(server), "venue", 255),
    (|server, _| opening(server), "city", 255),
    (|server, _| opening(server), "message", 140),
    (|server, _| settings(server), "title", 80),
    (|server, _| settings(server), "venue", 255),
    (|server, _| settings(server), "city", 255),
    (|server, _| settings(server), "message", 140),
    (|server, evening| request(server, evening), "song_title", 255),
    (|server, evening| request(server, evening), "artist_name", 255),
    (|server, evening| request(server, evening), "message", 140),
    (|server, evening| request(server, evening), "name", 255),
];

/// Fields that take no such letter at any length: addresses, numbers, codes, and secrets that are wrong.
const COMPARED: [(Fill, &str); 15] = [
    (|server, _| account(nobody(server), "/register"), "email"),
    (|server, evening| account(evening.guest(server), "/claim"), "email"),
    (|server, _| filled(nobody(server), "/forgot", &[]), "email"),
    (|server, _| filled(nobody(server), "/reset", &[("password", PASSWORD)]), "token"),
    (|server, _| filled(member(server), "/account/phone", &[]), "phone"),
    (|server, _| filled(member(server), "/account/password", &[("password", PASSWORD)]), "current"),
    (|server, _| filled(member(server), "/account/confirm", &[]), "password"),
    (|server, _| payout(server), "amount"),
    (|server, _| payout(server), "payout"),
    (|server, _| payout(server), "wallet_address"),
    (|server, _| opening(server), "fee_popular_song"),
    (|server, _| opening(server), "max_open_per_guest"),
    (|server, _| opening(server), "latitude"),
    (|server, _| settings(server), "fee_upcoming_artist"),
    (|server, _| filled(member(server), "/topups", &[("key", "0123456789012345678901")]), "amount"),
];

/// Sends the form with this text in a field.
fn send(fill: Fill, server: &Server, evening: &Evening, name: &str, text: &str) -> Answer {
    let Filled { browser, path, fields } = fill(server, evening);
    let answer = browser.post(&path, &borrowed(&with(fields, name, text)));
    assert!(answer.status < 500, "{name}: {answer}");
    answer
}

/// Checks that the page shows its form again, with what is wrong beside this field.
#[track_caller]
fn is_refused(answer: &Answer, name: &str) {
    assert_eq!(answer.status, 422, "{name}: {answer}");
    let is_beside = answer.text.contains(&format!("{name}-error\""));
    assert!(is_beside, "{name} is not named: {answer}");
}

/// Attack API4: the letters that grow most, in every text of a form.
fn letters_that_grow_are_accepted_or_refused_beside_their_field_in_the_forms_of_pages(store: Store) {
    let server = Server::start(store);
    let evening = Evening::new(&server);
    let others: String = GROWING[1..].concat();
    for (fill, name, most) in STORED {
        let of_others: String = others.chars().cycle().take(most).collect();
        for text in [GROWING[0].repeat(most), of_others] {
            let answer = send(fill, &server, &evening, name, &text);
            assert!([200, 303].contains(&answer.status), "{name}: {answer}");
        }
        is_refused(&send(fill, &server, &evening, name, &GROWING[0].repeat(most + 1)), name);
    }
    for (fill, name) in COMPARED {
        for text in [GROWING[0].repeat(20), others.repeat(51), GROWING[0].repeat(5_000)] {
            is_refused(&send(fill, &server, &evening, name, &text), name);
        }
    }
    // The pages that show what was accepted.
    let dj = Browser::logged_in(&server.client(), &evening.dj);
    for path in ["/booth", "/", &evening.page(), &format!("{}/display", evening.page())] {
        assert_eq!(dj.get(path).status, 200, "{path}");
    }
    assert!(!server.log().contains("panicked"));
}

/// The names of all fields of forms and of queries.
const NAMES: [&str; 50] = [
    "address",
    "amount",
    "artist_name",
    "asked",
    "asks_kind",
    "city",
    "code",
    "current",
    "digest",
    "done",
    "email",
    "fee_popular_song",
    "fee_upcoming_artist",
    "gig",
    "guest",
    "guest_wallet",
    "ids",
    "instead_of",
    "is_dj",
    "joins",
    "key",
    "kind",
    "latitude",
    "link",
    "longitude",
    "max_open_per_guest",
    "members_only",
    "message",
    "name",
    "near",
    "new_code",
    "next",
    "offer",
    "page",
    "password",
    "payout",
    "phone",
    "preset",
    "price_popular",
    "price_upcoming",
    "queue_order",
    "returned",
    "since",
    "size",
    "song_title",
    "stars",
    "title",
    "token",
    "until",
    "venue",
];

/// Attack API4: forms and addresses that consist of such letters alone, for each kind of reader.
fn letters_that_grow_in_all_fields_at_once_fail_no_form_and_no_page(store: Store) {
    let server = Server::start(store);
    let evening = Evening::new(&server);
    let dj = Browser::logged_in(&server.client(), &evening.dj);
    let readers = [nobody(&server), evening.guest(&server), member(&server), dj];
    let texts = [GROWING[0].repeat(80), GROWING[1..].concat().repeat(60)];
    for route in handlers::all() {
        // These end the session of the reader.
        if route.path == "/logout" || route.path.starts_with("/account/sessions") {
            continue;
        }
        let path = path_of(&route, &evening.code);
        for (browser, text) in
            readers.iter().flat_map(|browser| texts.iter().map(move |text| (browser, text)))
        {
            let key = [("key", "0123456789012345678901")];
            let of_text = NAMES.map(|name| (name, text.as_str()));
            let with_key: Vec<_> =
                of_text.into_iter().filter(|(name, _)| *name != "key").chain(key).collect();
            if route.changes() {
                for fields in [&of_text[..], &with_key] {
                    let answer = browser.form(&path, fields).send();
                    assert!(answer.status < 500, "{answer}");
                }
                continue;
            }
            let short: String = text.chars().take(20).collect();
            let query = NAMES.map(|name| (name, short.as_str()));
            let query = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(query).finish();
            let answer = browser.call("GET", &format!("{path}?{query}")).send();
            assert!(answer.status < 500, "{answer}");
            if route.path.contains('{') {
                let encoded: String = url::form_urlencoded::byte_serialize(short.as_bytes()).collect();
                let answer = browser.call("GET", &path_of(&route, &encoded)).send();
                assert!(answer.status < 500, "{answer}");
            }
        }
    }
    assert!(!server.log().contains("panicked"));
}
