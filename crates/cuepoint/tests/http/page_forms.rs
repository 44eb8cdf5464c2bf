//! Forms and pages against hostile sites, links, texts and bodies.

use cuepoint_web::handlers;
use cuepoint_web::route::{Access, PageRoute};
use serde_json::json;

use crate::harness::guest_scene::{Evening, borrowed, filled_on, with};
use crate::harness::{
    Answer, Browser, Client, DRAFT, PASSWORD, Person, SESSION, Server, Store, UNKNOWN_CODE, escaped, field,
    gig_scene, is_page, leads_to, set_cookies,
};

on_one_store!(
    forms_of_other_sites_are_refused_at_every_route,
    no_link_leads_from_a_form_to_another_site,
    no_field_adds_a_header,
    texts_of_strangers_stay_text,
    a_request_that_waits_for_its_payment_keeps_every_character,
    broken_bodies_are_refused_as_pages_at_every_route,
    a_form_without_a_valid_key_has_no_effect,
    every_page_has_the_headers_of_pages,
    displays_set_no_cookie,
    files_of_pages_never_change_under_their_names,
    refusals_are_pages_with_their_status,
    scripts_read_refusals_with_their_status,
    a_link_fixes_neither_the_key_of_a_form_nor_the_address_of_an_account,
    a_late_form_of_the_booth_has_no_effect_on_the_next_gig,
);

/// A path of this route, with an object that need not exist.
fn path_of(route: &PageRoute, code: &str) -> String {
    let reference = "00000000-0000-0000-0000-000000000001";
    route.path.replace("{code}", code).replace("{id}", "1").replace("{reference}", reference)
}

/// The forms of all pages.
fn forms() -> Vec<PageRoute> {
    let forms: Vec<PageRoute> = handlers::all().into_iter().filter(PageRoute::changes).collect();
    assert!(forms.len() >= 10, "{}", forms.len());
    forms
}

/// A browser in which this person has logged in.
fn logged_in(client: &Client, person: &Person) -> Browser {
    let browser = Browser::new(client);
    leads_to(&browser.log_in(&person.email, PASSWORD));
    browser
}

/// A browser with a guest account that has a request.
fn guest(server: &Server, evening: &Evening) -> Browser {
    let browser = Browser::new(&server.client());
    leads_to(&evening.request(&browser, "Blue Monday"));
    browser
}

/// Attack: a page of another site posts a form with the victim's cookie.
fn forms_of_other_sites_are_refused_at_every_route(store: Store) {
    let server = Server::start(store);
    let evening = Evening::new(&server);
    let (nobody, member) = (Browser::new(&server.client()), logged_in(&server.client(), &server.guest()));
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
        for browser in [&nobody, &guest(&server, &evening), &member] {
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
        assert_eq!(leads_to(&member.send(form)), "/");
        member.set_cookie(SESSION, &logged_in(&server.client(), &server.guest()).cookie(SESSION).unwrap());
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

/// Attack: a link to a form of this service that leads on to another site.
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
        let browser = guest(&server, &evening);
        let email = format!("claimed-{number}@example.com");
        let fields = [("name", "Ada"), ("email", &email), ("password", PASSWORD), ("next", next)];
        assert_eq!(leads_to(&browser.post("/claim", &fields)), "/wallet", "{next:?}");
    }
    // The page that contained a form is named by the browser.
    for referer in ["https://evil.example//evil.example", "https://evil.example", "null", "//evil.example"] {
        let browser = guest(&server, &evening);
        let id = evening.requests()[0]["id"].clone();
        let form = browser.form(&format!("/requests/{id}/cancel"), &[("key", "0123456789012345678901")]);
        assert_eq!(leads_to(&browser.send(form.header("referer", referer))), "/", "{referer}");
    }
}

/// The names of all fields.
const FIELDS: [&str; 24] = [
    "address",
    "amount",
    "artist_name",
    "code",
    "confirmed",
    "digest",
    "email",
    "fee_popular_song",
    "fee_upcoming_artist",
    "is_dj",
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
    "returned",
    "song_title",
    "stars",
    "token",
];

/// Attack: a field with line breaks that becomes a header of the answer.
fn no_field_adds_a_header(store: Store) {
    let server = Server::start(store);
    let evening = Evening::new(&server);
    let browser = guest(&server, &evening);
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

/// Attack: markup in the texts of guests, DJs and strangers.
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
    let member = logged_in(&server.client(), &server.guest());
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
        leads_to(&browser.post(&format!("{}/draft", evening.page()), &[]));
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
    let (member, account) = (logged_in(&server.client(), &server.guest()), guest(&server, &evening));
    for route in forms() {
        let path = path_of(&route, &evening.code);
        let browser = if route.path == "/claim" { &account } else { &member };
        let large = browser.form(&path, &[("message", &"a".repeat(2_000_000))]);
        assert_eq!(browser.send(large).status, 413, "{path}");
        for kind in ["application/json", "text/plain", "multipart/form-data; boundary=a", ""] {
            let call = browser.form(&path, &[("key", "a")]).header("content-type", kind);
            assert_eq!(browser.send(call).status, 400, "{path} {kind:?}");
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
    let browser = guest(&server, &evening);
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
        assert_eq!(nobody.post(&format!("{}/requests", evening.page()), &borrowed(&fields)).status, 400);
        assert_eq!(nobody.cookie(SESSION), None);
    }
    assert_eq!(evening.requests(), before);
}

fn every_page_has_the_headers_of_pages(store: Store) {
    let server = Server::start(store);
    let evening = Evening::new(&server);
    let browsers = [
        Browser::new(&server.client()),
        guest(&server, &evening),
        logged_in(&server.client(), &server.guest()),
    ];
    for route in handlers::all() {
        if route.changes() || route.path.starts_with("/assets/") {
            continue;
        }
        for browser in &browsers {
            for code in [&evening.code, UNKNOWN_CODE] {
                let path = path_of(&route, code);
                let answer = browser.get(&path);
                let head = browser.send(browser.call("HEAD", &path));
                assert_eq!((head.status, head.text.as_str()), (answer.status, ""), "{path}");
                if answer.status == 200 && !route.path.ends_with("/live") {
                    assert!(answer.text.starts_with("<!doctype html>"), "{answer}");
                    assert!(answer.text.contains("<html lang=\"en\""), "{answer}");
                    let german = browser.speaking("de-AT, en;q=0.5").get(&path);
                    assert!(german.text.contains("<html lang=\"de\""), "{german}");
                    assert_eq!(german.header("content-language"), Some("de"));
                }
            }
        }
    }
}

/// Attack: a shared screen that becomes the guest who once used it.
fn displays_set_no_cookie(store: Store) {
    let server = Server::start(store);
    let evening = Evening::new(&server);
    let (account, ended) = (guest(&server, &evening), Browser::new(&server.client()));
    ended.set_cookie(SESSION, &"A".repeat(43));
    let nobody = Browser::new(&server.client());
    for part in ["display", "display/live", "overlay", "overlay/live"] {
        let path = format!("{}/{part}", evening.page());
        let plain = nobody.get(&path);
        for browser in [&account, &ended] {
            let answer = browser.get(&path);
            assert_eq!(answer.status, 200, "{answer}");
            assert!(answer.header("set-cookie").is_none(), "{answer}");
            assert!(!answer.text.contains("Blue Monday"), "no title that is not accepted: {answer}");
            assert_eq!(answer.header("x-cuepoint-digest"), plain.header("x-cuepoint-digest"));
        }
    }
    for path in [format!("/api/v1/boards/{}", evening.code), "/docs/".to_owned(), "/health/live".to_owned()] {
        let answer = ended.call("GET", &path).send();
        assert!(answer.header("set-cookie").is_none(), "{answer}");
    }
}

fn files_of_pages_never_change_under_their_names(store: Store) {
    let server = Server::start(store);
    let browser = Browser::new(&server.client());
    let page = browser.get("/");
    let names: Vec<&str> = page.text.split('"').filter(|part| part.starts_with("/assets/")).collect();
    assert!(names.len() >= 4, "{page}");
    for name in names {
        for coding in ["identity", "gzip", "gzip;q=0"] {
            let answer = browser.call("GET", name).header("accept-encoding", coding).send();
            assert_eq!(answer.status, 200, "{name}");
            assert_eq!(answer.header("cache-control"), Some("public, max-age=31536000, immutable"));
            assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{name}");
            assert!(answer.header("set-cookie").is_none() && answer.header("content-language").is_none());
        }
    }
    for name in ["nothing.css", "..", "..%2f..%2fCargo.toml", "%00", ""] {
        assert_eq!(browser.call("GET", &format!("/assets/{name}")).send().status, 404, "{name}");
    }
}

fn refusals_are_pages_with_their_status(store: Store) {
    let server = Server::start(store);
    let evening = Evening::new(&server);
    let (nobody, member) = (Browser::new(&server.client()), logged_in(&server.client(), &server.guest()));
    for route in handlers::all() {
        let Access::User(_) = route.access else { continue };
        let path = path_of(&route, &evening.code);
        let expected = format!(
            "/login?{}",
            url::form_urlencoded::Serializer::new(String::new()).append_pair("next", &path).finish()
        );
        if route.changes() {
            assert_eq!(leads_to(&nobody.post(&path, &[])), "/login");
        } else {
            assert_eq!(leads_to(&nobody.get(&path)), expected);
        }
    }
    // A page of the login leads on to the page that was asked for.
    let login = nobody.get("/login?next=%2Fverify");
    assert!(login.text.contains("name=\"next\" value=\"/verify\""), "{login}");
    for (method, path, status) in [
        ("GET", "/g/K7TW3M", 404),
        ("GET", "/g/nonsense", 404),
        ("GET", "/g/K7TW3M/live", 404),
        ("GET", "/g/K7TW3M/display", 404),
        ("GET", "/topups/1", 404),
        ("GET", "/topups/abc", 404),
        ("GET", "/topups/00000000-0000-0000-0000-000000000001", 404),
        ("POST", "/requests/1/cancel", 404),
        ("POST", "/requests/01/cancel", 404),
        ("POST", "/requests/-1/rating", 404),
        ("POST", "/requests/99999999999999999999/cancel", 404),
        ("GET", "/logout", 405),
        ("POST", "/", 405),
        ("DELETE", "/login", 405),
        ("PUT", "/g/K7TW3M", 405),
        ("OPTIONS", "/wallet/none", 404),
    ] {
        let fields = [("key", "0123456789012345678901"), ("stars", "5")];
        let call = if method == "POST" { member.form(path, &fields) } else { member.call(method, path) };
        let answer = call.send();
        assert_eq!(answer.status, status, "{answer}");
        if status == 405 {
            assert!(answer.header("allow").is_some_and(|allow| !allow.contains(method)), "{answer}");
        }
        if path != "/wallet/none" {
            is_page(&answer);
            assert!(answer.text.contains("<h1>"), "{answer}");
            assert!(!answer.text.contains("not_found"), "no names of the API: {answer}");
        }
    }
}

fn scripts_read_refusals_with_their_status(store: Store) {
    let server = Server::start(store);
    let evening = Evening::new(&server);
    let nobody = Browser::new(&server.client());
    let part = |method: &str, path: &str| {
        let call = if method == "POST" { nobody.form(path, &[]) } else { nobody.call(method, path) };
        nobody.send(call.header("x-cuepoint-part", "1"))
    };
    for (method, path, status) in [
        ("POST", "/logout", 401),
        ("GET", "/verify", 401),
        ("GET", "/g/K7TW3M/live", 404),
        ("POST", "/g/K7TW3M/requests", 400),
    ] {
        let answer = part(method, path);
        assert_eq!((answer.status, answer.header("x-cuepoint-part")), (status, Some("1")), "{answer}");
    }
    let live = part("GET", &format!("{}/live", evening.page()));
    assert_eq!((live.status, live.header("x-cuepoint-part")), (200, Some("1")));
    let digest = live.header("x-cuepoint-digest").unwrap().to_owned();
    let same = part("GET", &format!("{}/live?digest={digest}", evening.page()));
    assert_eq!((same.status, same.text.as_str()), (204, ""), "{same}");
    assert_eq!(set_cookies(&same).len(), 0);
}

/// Attack: a link contains the key of the form, from which the cookie of a new guest account is derived, or the address
/// with which a guest claims the account.
fn a_link_fixes_neither_the_key_of_a_form_nor_the_address_of_an_account(store: Store) {
    let server = Server::start(store);
    let evening = Evening::new(&server);
    let key = "A".repeat(30);
    let link = format!("{}?key={key}&offer=99&song_title=Regret&name=Eve", evening.page());
    let page = Browser::new(&server.client()).get(&link);
    assert!(page.text.contains("Regret"), "{page}");
    assert!(!page.text.contains(&key) && !page.text.contains("Eve"), "{page}");
    let query = "?email=eve@example.com&name=Eve";
    let claim = guest(&server, &evening).get(&format!("/claim{query}"));
    let register = Browser::new(&server.client()).get(&format!("/register{query}"));
    for form in [claim, register] {
        assert!(!form.text.contains("eve@example.com") && !form.text.contains("Eve"), "{form}");
    }
}

fn a_late_form_of_the_booth_has_no_effect_on_the_next_gig(store: Store) {
    let server = Server::start(store);
    let evening = Evening::new(&server);
    let browser = logged_in(&server.client(), &evening.dj);
    let old = field(&browser.get("/booth"), "gig");
    evening.dj.post(&format!("/gigs/{old}/end"), &json!({})).data(200);
    gig_scene::open(&evening.dj, &json!({"title": "Saturday"}));
    for form in ["end", "pause"] {
        let key = format!("0123456789012345678901-{form}");
        browser.post(&format!("/booth/{form}"), &[("key", &key), ("gig", &old)]);
    }
    let gigs = evening.dj.get("/gigs").data(200);
    assert_eq!(gigs["data"][0]["status"], "open", "{gigs}");
}
