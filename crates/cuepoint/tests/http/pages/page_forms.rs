//! Forms and pages against hostile sites, links, texts and bodies.

use cuepoint_web::handlers;
use cuepoint_web::route::PageRoute;
use serde_json::json;

use crate::harness::guest_scene::{Evening, borrowed, filled_on, path_of, with};
use crate::harness::{
    Answer, Browser, DRAFT, PASSWORD, SESSION, Server, Store, escaped, field, gig_scene, leads_to,
};

on_one_store!(
    forms_of_other_sites_are_refused_at_every_route,
    no_link_leads_from_a_form_to_another_site,
    no_field_adds_a_header,
    texts_of_strangers_stay_text,
    a_request_that_waits_for_its_payment_keeps_every_character,
    broken_bodies_are_refused_as_pages_at_every_route,
    a_form_without_a_valid_key_has_no_effect,
    a_link_fixes_neither_the_key_of_a_form_nor_the_address_of_an_account,
    a_late_form_of_the_booth_has_no_effect_on_the_next_gig,
    one_form_answers_all_requests_of_a_song,
);

/// The forms of all pages.
fn forms() -> Vec<PageRoute> {
    let forms: Vec<PageRoute> = handlers::all().into_iter().filter(PageRoute::changes).collect();
    assert!(forms.len() >= 10, "{}", forms.len());
    forms
}

/// Attack API2: a page of another site posts a form with the victim's cookie.
fn forms_of_other_sites_are_refused_at_every_route(store: Store) {
    let server = Server::start(store);
    let evening = Evening::new(&server);
    let (nobody, member) =
        (Browser::new(&server.client()), Browser::logged_in(&server.client(), &server.guest()));
    let own = server.client().address;
    let host = own.strip_prefix("http://").unwrap().to_owned();
    let attacks: [&[(&str, &str)]; 10] = [
        &[("sec-fetch-site", "cross-site")],
        &[("sec-fetch-site", "same-site")],
        &[("sec-fetch-site", "")],
        &[("sec-fetch-site", "cross-site"), ("origin", &own)],
        &[("origin", "null")],
        &[("origin", "https://evil.example")],
        &[("origin", &format!("{own}.evil.example"))],
        &[("origin", &format!("https://evil.example/{host}"))],
        &[("referer", &own)],
        &[],
    ];
    for route in forms() {
        let path = path_of(&route, &evening.code);
        for browser in [&nobody, &evening.guest(&server), &member] {
            for attack in attacks {
                let form =
                    browser.form(&path, &[("key", "0123456789012345678901")]).without("sec-fetch-site");
                let form = attack.iter().fold(form, |form, (name, value)| form.header(name, value));
                let answer = browser.send(form);
                assert_eq!(answer.status, 403, "{attack:?}: {answer}");
                assert!(answer.header("set-cookie").is_none(), "{answer}");
            }
        }
    }
    assert!(member.is_logged_in());
    // A form of the service itself, and an address that a person typed.
    for header in [("origin", own.as_str()), ("sec-fetch-site", "none")] {
        let form = member.form("/logout", &[]).without("sec-fetch-site").header(header.0, header.1);
        assert_eq!(leads_to(&member.send(form)), "/?done=logged-out");
        member.set_cookie(
            SESSION,
            &Browser::logged_in(&server.client(), &server.guest()).cookie(SESSION).unwrap(),
        );
    }
}

const ELSEWHERE: [&str; 16] = [
    "https://evil.example",
    "//evil.example",
    "///evil.example",
    "/\\evil.example",
    "\\\\evil.example",
    "/\t/evil.example",
    "/\n/evil.example",
    "\u{0}//evil.example",
    " //evil.example",
    "javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "evil.example",
    ".evil.example",
    "@evil.example",
    "/wallet\r\nlocation: https://evil.example",
    "/％2Fevil.example",
];

/// Attack API8: a link to a form of this service that leads on to another site.
fn no_link_leads_from_a_form_to_another_site(store: Store) {
    let server = Server::start(store);
    let evening = Evening::new(&server);
    let member = server.guest();
    for (number, next) in ELSEWHERE.into_iter().enumerate() {
        let browser = Browser::new(&server.client());
        let encoded: String = url::form_urlencoded::byte_serialize(next.as_bytes()).collect();
        for page in ["/login", "/register"] {
            let shown = browser.get(&format!("{page}?next={encoded}"));
            assert!(!shown.text.contains("name=\"next\""), "{next:?}: {shown}");
        }
        let fields = [("email", member.email.as_str()), ("password", PASSWORD), ("next", next)];
        assert_eq!(leads_to(&browser.post("/login", &fields)), "/", "{next:?}");
        let email = format!("new-{number}@example.com");
        let fields = [("name", "Ada"), ("email", &email), ("password", PASSWORD), ("next", next)];
        assert_eq!(leads_to(&Browser::new(&server.client()).post("/register", &fields)), "/", "{next:?}");
        let browser = evening.guest(&server);
        let email = format!("claimed-{number}@example.com");
        let fields = [("name", "Ada"), ("email", &email), ("password", PASSWORD), ("next", next)];
        let gig = format!("{}?done=claimed", evening.page());
        assert_eq!(leads_to(&browser.post("/claim", &fields)), gig, "{next:?}");
    }
    // The page that contained a form is named by the browser.
    for referer in ["https://evil.example//evil.example", "https://evil.example", "null", "//evil.example"] {
        let browser = evening.guest(&server);
        let id = evening.requests()[0]["id"].clone();
        let form = browser.form(&format!("/requests/{id}/cancel"), &[("key", "0123456789012345678901")]);
        assert_eq!(leads_to(&browser.send(form.header("referer", referer))), "/?done=cancelled", "{referer}");
    }
}

/// The names of all fields.
const FIELDS: [&str; 27] = [
    "address",
    "amount",
    "artist_name",
    "asked",
    "code",
    "digest",
    "email",
    "fee_popular_song",
    "fee_upcoming_artist",
    "is_dj",
    "joins",
    "key",
    "kind",
    "latitude",
    "longitude",
    "message",
    "name",
    "next",
    "offer",
    "password",
    "preset",
    "price_popular",
    "price_upcoming",
    "returned",
    "song_title",
    "stars",
    "token",
];

/// Attack API8: a field with line breaks that becomes a header of the answer.
fn no_field_adds_a_header(store: Store) {
    let server = Server::start(store);
    let evening = Evening::new(&server);
    let browser = evening.guest(&server);
    let valid = filled_on(&browser.get(&evening.page()), "Temptation");
    let splits =
        ["\r\nx-evil: 1\r\n\r\n<html>", "a\nx-evil: 1", "a\rx-evil: 1", "a\u{85}x-evil: 1", "a\u{0}b"];
    for split in splits {
        let encoded: String = url::form_urlencoded::byte_serialize(split.as_bytes()).collect();
        for route in handlers::all() {
            let path = path_of(&route, &evening.code);
            for name in FIELDS {
                let answer = if route.changes() {
                    // The guest account survives.
                    if route.path == "/logout" {
                        continue;
                    }
                    browser.form(&path, &borrowed(&with(valid.clone(), name, split))).send()
                } else {
                    browser.call("GET", &format!("{path}?{name}={encoded}")).send()
                };
                assert!(answer.status < 500, "{name}: {answer}");
                assert!(answer.header("x-evil").is_none(), "{name}: {answer}");
            }
            let parameter = path_of(&route, &encoded.replace('+', "%20"));
            if route.path.contains('{') && !route.changes() {
                let answer = browser.call("GET", &parameter).send();
                assert!(answer.status < 500 && answer.header("x-evil").is_none(), "{answer}");
            }
        }
    }
}

/// Texts that a page could take for something else.
fn strange_texts() -> Vec<String> {
    [
        "<script>alert(1)</script>",
        "\"><img src=x onerror=alert(1)>",
        "' autofocus onfocus='alert(1)",
        "</title></textarea></template><svg onload=alert(1)>",
        "&lt;b&gt; &amp; &#60;i&#62;",
        "{{ 7 * 7 }} {% raw %} ${7*7}",
        "\u{202e}moc.elpmaxe\u{2066}",
        "Zoë 東京 🎉 \u{301}",
        "javascript:alert(1)",
        "100% + 1 = a;b",
    ]
    .map(str::to_owned)
    .into_iter()
    .chain(["W".repeat(255)])
    .collect()
}

/// Checks that a page shows this text, and only as text.
#[track_caller]
fn shows_as_text(page: &Answer, text: &str) {
    assert!(page.text.contains(&escaped(text)), "{text:?} is not shown: {page}");
    if escaped(text) != *text {
        assert!(!page.text.contains(text), "{text:?} is markup: {page}");
    }
}

/// Attack API8: markup in the texts of guests, DJs and strangers.
fn texts_of_strangers_stay_text(store: Store) {
    let server = Server::start(store);
    for text in strange_texts() {
        let short: String = text.chars().take(60).collect();
        let details = json!({"title": short, "venue": short, "message": short, "max_open_per_guest": 100});
        let dj = server.dj();
        dj.patch("/user/personal-info", &json!({"name": text})).data(200);
        let gig = gig_scene::open(&dj, &details);
        let code = gig["code"].as_str().unwrap().to_owned();
        let evening = Evening { dj, gig, code };
        let browser = Browser::new(&server.client());
        let form = with(with(evening.filled(&browser, &text), "artist_name", &text), "name", &text);
        leads_to(&evening.send(&browser, &with(form, "message", &short)));
        let request = evening.requests()[0].clone();
        assert_eq!(request["song_title"], text.as_str());
        let page = browser.get(&evening.page());
        shows_as_text(&page, &text);
        assert_eq!(page.text.matches("<script").count(), 1, "the script of the service: {page}");
        assert!(!page.text.contains("onerror=alert(1)>") && !page.text.contains("onfocus='"), "{page}");
        shows_as_text(&browser.get(&format!("{}/live", evening.page())), &text);
        evening.dj.answer(request["id"].as_i64().unwrap(), "accepted").data(200);
        for part in ["display", "display/live", "overlay", "overlay/live"] {
            let display = eventually_with(&evening, part, &text, &browser);
            shows_as_text(&display, &text);
            assert!(!display.text.contains("Mia"), "no names: {display}");
        }
        // A link fills the form.
        let encoded: String = url::form_urlencoded::byte_serialize(text.as_bytes()).collect();
        let link = format!("{}?song_title={encoded}&artist_name={encoded}", evening.page());
        shows_as_text(&Browser::new(&server.client()).get(&link), &text);
        answers_that_repeat(&server, &text);
    }
}

/// The display once the board shows a song.
fn eventually_with(evening: &Evening, part: &str, text: &str, browser: &Browser) -> Answer {
    crate::harness::eventually("the display shows the song", || {
        let answer = browser.get(&format!("{}/{part}", evening.page()));
        answer.text.contains(&escaped(text)).then_some(answer)
    })
}

/// The pages that show a refused text again.
fn answers_that_repeat(server: &Server, text: &str) {
    let browser = Browser::new(&server.client());
    let encoded: String = url::form_urlencoded::byte_serialize(text.as_bytes()).collect();
    let short: String = text.chars().take(20).collect();
    let unknown = browser.get(&format!("/g?code={encoded}"));
    assert_eq!(unknown.status, 404, "{unknown}");
    shows_as_text(&unknown, &short);
    let fields = [("name", text), ("email", text), ("password", "x"), ("code", text), ("token", text)];
    for path in ["/login", "/register", "/forgot", "/reset", "/first-operator"] {
        let answer = browser.post(path, &fields);
        assert_eq!(answer.status, 422, "{answer}");
        shows_as_text(&answer, text);
        assert_eq!(answer.text.matches("<script").count(), 1, "{answer}");
    }
    let member = Browser::logged_in(&server.client(), &server.guest());
    let answer = member.post("/verify", &[("code", text)]);
    assert_eq!(answer.status, 422, "{answer}");
    shows_as_text(&answer, text);
}

fn a_request_that_waits_for_its_payment_keeps_every_character(store: Store) {
    let server = Server::configured(store, &crate::harness::TOPUPS);
    let evening = Evening::new(&server);
    for text in strange_texts() {
        let browser = Browser::new(&server.client());
        let form = with(evening.filled(&browser, &text), "artist_name", "Me & You; 100%+");
        let place = leads_to(&evening.send(&browser, &form)).to_owned();
        let reference = place.strip_prefix("/topups/").unwrap();
        assert!(browser.cookie(DRAFT).is_some(), "{text}");
        crate::harness::Message::topup_of("10", "topup.confirmed", reference).accepted_by(&server);
        let page = browser.get(&place);
        shows_as_text(&page, &text);
        leads_to(&evening.send_draft(&browser));
        let request = evening.requests()[0].clone();
        assert_eq!(
            (&request["song_title"], &request["artist_name"]),
            (&json!(text), &json!("Me & You; 100%+"))
        );
        assert_eq!(browser.cookie(DRAFT), None);
    }
}

fn broken_bodies_are_refused_as_pages_at_every_route(store: Store) {
    let server = Server::start(store);
    let evening = Evening::new(&server);
    let (member, account) = (Browser::logged_in(&server.client(), &server.guest()), evening.guest(&server));
    for route in forms() {
        let path = path_of(&route, &evening.code);
        let browser = if route.path == "/claim" { &account } else { &member };
        let large = browser.form(&path, &[("message", &"a".repeat(2_000_000))]);
        assert_eq!(browser.send(large).status, 413, "{path}");
        for kind in ["application/json", "text/plain", "multipart/form-data; boundary=a", ""] {
            let call = browser.form(&path, &[("key", "a")]).header("content-type", kind);
            let refused = browser.send(call);
            assert_eq!(refused.status, 400, "{path} {kind:?}");
            assert!(refused.text.contains("<h1>The form did not arrive</h1>"), "{refused}");
        }
        if ["/logout", "/account/sessions/end"].contains(&route.path) {
            continue;
        }
        // The values are what the bytes say: wrong, but no reason to fail.
        for body in [&b"key=%&=&&%zz=%ff&song_title=\xff\xfe"[..], b"&&&", b"=", b"%00=%00", b"key"] {
            let call = browser.form(&path, &[]).bytes(body);
            let call = call.header("content-type", "application/x-www-form-urlencoded; charset=latin1");
            let answer = browser.send(call);
            assert!((300..500).contains(&answer.status) || answer.status == 200, "{answer}");
        }
    }
}

fn a_form_without_a_valid_key_has_no_effect(store: Store) {
    let server = Server::start(store);
    let evening = Evening::new(&server);
    let browser = evening.guest(&server);
    let id = evening.requests()[0]["id"].clone();
    let form = evening.filled(&browser, "Temptation");
    let before = evening.requests();
    let long = "k".repeat(161);
    for key in
        ["", "short", "0123456789 123456789012", "0123456789\r\n3456789012", "ä123456789012345678901", &long]
    {
        let fields = with(with(form.clone(), "key", key), "amount", "5");
        for path in [
            format!("{}/requests", evening.page()),
            format!("{}/tips", evening.page()),
            format!("/requests/{id}/cancel"),
            "/topups".to_owned(),
        ] {
            let answer = browser.post(&path, &borrowed(&fields));
            assert_eq!(answer.status, 400, "{key:?} {answer}");
        }
        let nobody = Browser::new(&server.client());
        let fields = with(fields, "payer", "");
        assert_eq!(nobody.post(&format!("{}/requests", evening.page()), &borrowed(&fields)).status, 400);
        assert_eq!(nobody.cookie(SESSION), None);
    }
    assert_eq!(evening.requests(), before);
}

/// Attack API2: a link that fixes the key of a form, or the address with which a guest claims the account.
fn a_link_fixes_neither_the_key_of_a_form_nor_the_address_of_an_account(store: Store) {
    let server = Server::start(store);
    let evening = Evening::new(&server);
    let key = "A".repeat(30);
    let link = format!("{}?key={key}&offer=99&song_title=Regret&name=Eve", evening.page());
    let page = Browser::new(&server.client()).get(&link);
    assert!(page.text.contains("Regret"), "{page}");
    assert!(!page.text.contains(&key) && !page.text.contains("Eve"), "{page}");
    let query = "?email=eve@example.com&name=Eve";
    let claim = evening.guest(&server).get(&format!("/claim{query}"));
    let register = Browser::new(&server.client()).get(&format!("/register{query}"));
    for form in [claim, register] {
        assert!(!form.text.contains("eve@example.com") && !form.text.contains("Eve"), "{form}");
    }
}

fn a_late_form_of_the_booth_has_no_effect_on_the_next_gig(store: Store) {
    let server = Server::start(store);
    let evening = Evening::new(&server);
    let browser = Browser::logged_in(&server.client(), &evening.dj);
    let old = field(&browser.get("/booth"), "gig");
    evening.dj.post(&format!("/gigs/{old}/end"), &json!({})).data(200);
    let next = gig_scene::open(&evening.dj, &json!({"title": "Saturday"}));
    let fields = [
        ("title", "Friday"),
        ("fee_popular_song", "12"),
        ("fee_upcoming_artist", "6"),
        ("max_open_per_guest", "3"),
        ("since", "0"),
        ("until", "0"),
        ("guest", "1"),
    ];
    for form in ["end", "pause", "resume", "settings", "reject-guests", "block"] {
        let key = format!("0123456789012345678901-{form}");
        let form_fields = [&[("key", key.as_str()), ("gig", &old)], &fields[..]].concat();
        let answer = browser.post(&format!("/booth/{form}"), &form_fields);
        assert_eq!(answer.status, 409, "{form}: {answer}");
        assert!(!answer.text.contains("The evening has ended."), "{form}: {answer}");
    }
    let gigs = evening.dj.get("/gigs").data(200);
    assert_eq!((&gigs["data"][0]["status"], &gigs["data"][0]["title"]), (&json!("open"), &json!("Saturday")));
    // A repeated form says that its own gig has ended. Forms of other gigs do not.
    gig_scene::end(&evening.dj, &next).data(200);
    for (gig, status) in [(next["id"].to_string(), 303), (old, 409)] {
        let key = format!("0123456789012345678901-{gig}");
        let answer = browser.post("/booth/end", &[("key", &key), ("gig", &gig)]);
        assert_eq!(answer.status, status, "{answer}");
    }
}

fn one_form_answers_all_requests_of_a_song(store: Store) {
    let server = Server::start(store);
    let evening = Evening::new(&server);
    let guest = server.payer("1000");
    let requests: Vec<i64> = (0..14).map(|_| gig_scene::ask(&guest, &evening.dj, "10")).collect();
    let browser = Browser::logged_in(&server.client(), &evening.dj);
    for (path, button, status) in
        [("/booth/accept", "Accept all 14", "accepted"), ("/booth/played", "Played for all 14", "played")]
    {
        let page = browser.get("/booth");
        let (before, _) = page.text.split_once(&format!(">{button}</button>")).expect(button);
        let (_, form) = before.rsplit_once("<form ").unwrap();
        let value = |name: &str| {
            let (_, rest) = form.split_once(&format!("name=\"{name}\" value=\"")).unwrap();
            rest.split_once('"').unwrap().0.to_owned()
        };
        assert!(page.text.contains("14 requests for this song"), "{page}");
        leads_to(&browser.post(path, &[("key", &value("key")), ("ids", &value("ids"))]));
        assert!(requests.iter().all(|id| gig_scene::status(&guest, *id) == status), "{status}");
    }
}
