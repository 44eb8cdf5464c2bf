//! Statuses, headers and files of pages.

use cuepoint_web::handlers;
use cuepoint_web::route::PageAccess;

use crate::harness::guest_scene::{Evening, path_of};
use crate::harness::{Answer, Browser, SESSION, Server, Store, UNKNOWN_CODE, is_page, leads_to, set_cookies};

on_one_store!(
    every_page_has_the_headers_of_pages,
    displays_set_no_cookie,
    shared_screens_and_posters_have_the_language_of_their_address,
    files_of_pages_never_change_under_their_names,
    refusals_are_pages_with_their_status,
    scripts_read_refusals_with_their_status,
);

fn every_page_has_the_headers_of_pages(store: Store) {
    let server = Server::start(store);
    let evening = Evening::new(&server);
    let browsers = [
        Browser::new(&server.client()),
        evening.guest(&server),
        Browser::logged_in(&server.client(), &server.guest()),
    ];
    for route in handlers::all() {
        // Files are no pages.
        if route.changes() || route.path.starts_with("/assets/") || route.path.contains('.') {
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

/// Attack API2: a shared screen that becomes the guest who once used it.
fn displays_set_no_cookie(store: Store) {
    let server = Server::start(store);
    let evening = Evening::new(&server);
    let (account, ended) = (evening.guest(&server), Browser::new(&server.client()));
    ended.set_cookie(SESSION, &"A".repeat(43));
    let nobody = Browser::new(&server.client());
    for part in ["display", "display/live", "overlay", "overlay/live"] {
        let path = format!("{}/{part}", evening.page());
        for browser in [&account, &ended] {
            // A board may change in between, since it may be a second old.
            let [before, answer, after] = [&nobody, browser, &nobody].map(|reader| reader.get(&path));
            assert_eq!(answer.status, 200, "{answer}");
            assert!(answer.header("set-cookie").is_none(), "{answer}");
            assert!(!answer.text.contains("Blue Monday"), "no title that is not accepted: {answer}");
            let digest = |answer: &Answer| answer.header("x-cuepoint-digest").map(str::to_owned);
            assert!([digest(&before), digest(&after)].contains(&digest(&answer)), "{answer}");
        }
    }
    for path in [format!("/api/v1/boards/{}", evening.code), "/docs/".to_owned(), "/health/live".to_owned()] {
        let answer = ended.call("GET", &path).send();
        assert!(answer.header("set-cookie").is_none(), "{answer}");
    }
}

fn shared_screens_and_posters_have_the_language_of_their_address(store: Store) {
    let server = Server::start(store);
    let evening = Evening::new(&server);
    let browser = Browser::logged_in(&server.client(), &evening.dj);
    let page = evening.page();
    let screens = ["display", "display/live", "overlay", "overlay/live"].map(|part| format!("{page}/{part}"));
    let unknown = format!("/g/{UNKNOWN_CODE}/display");
    for (query, named) in [
        ("lang=de", Some("de")),
        ("lang=en", Some("en")),
        ("size=a6&lang=de", Some("de")),
        ("", None),
        ("lang=", None),
        ("lang=xx", None),
        ("lang=DE", None),
        ("lang=%ff%00", None),
        ("lang=de&lang=de", None),
        ("lang=de&lang=en", None),
        ("language=de", None),
    ] {
        for header in ["en", "de"] {
            let browser = browser.speaking(header);
            let language = |path: &str| {
                let answer = browser.get(&format!("{path}?{query}"));
                answer.header("content-language").unwrap_or_else(|| panic!("{answer}")).to_owned()
            };
            for path in screens.iter().map(String::as_str).chain(["/booth/qr", unknown.as_str()]) {
                assert_eq!(language(path), named.unwrap_or(header), "{path}?{query}, {header}");
            }
            for path in [page.as_str(), "/", "/booth"] {
                assert_eq!(language(path), header, "{path}?{query}");
            }
        }
    }
    // The live part and the other sizes keep the language.
    for (path, kept) in [
        (screens[0].as_str(), format!("data-live=\"{}?lang=de\"", screens[1])),
        (screens[2].as_str(), format!("data-live=\"{}?lang=de\"", screens[3])),
        ("/booth/qr", "href=\"/booth/qr?size=a6&#38;lang=de\"".to_owned()),
    ] {
        let answer = browser.get(&format!("{path}?lang=de"));
        assert!(answer.text.contains(&kept), "{answer}");
        let answer = browser.get(&format!("{path}?lang=xx"));
        assert!(!answer.text.contains("lang=xx") && !answer.text.contains("lang=de"), "{answer}");
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
    let (nobody, member) =
        (Browser::new(&server.client()), Browser::logged_in(&server.client(), &server.guest()));
    for route in handlers::all() {
        let PageAccess::User(_) = route.access else { continue };
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
    let query = nobody.get("/verify?address=phone");
    assert_eq!(leads_to(&query), "/login?next=%2Fverify%3Faddress%3Dphone");
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
    // Another user of the browser logged in while the page was open.
    let member = server.guest();
    let browser = Browser::logged_in(&server.client(), &member);
    for (user, status) in [(member.id, 200), (member.id + 1, 401)] {
        let call = browser.call("GET", "/wallet").header("x-cuepoint-part", "1");
        let answer = browser.send(call.header("x-cuepoint-user", &user.to_string()));
        assert_eq!((answer.status, answer.header("x-cuepoint-part")), (status, Some("1")), "{answer}");
    }
}
