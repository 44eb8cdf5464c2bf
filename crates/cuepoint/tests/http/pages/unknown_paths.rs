//! Paths that people, browsers and crawlers try without a link.

use crate::harness::guest_scene::{Evening, LANGUAGES, says};
use crate::harness::{Answer, Browser, SESSION, Server, Store, UNKNOWN_CODE, eventually, is_page, leads_to};

on_one_store!(
    a_code_as_the_path_leads_to_its_gig,
    an_unknown_path_is_the_start_page_for_browsers_and_json_for_programs,
    paths_of_the_api_are_json_for_browsers_too,
    the_icon_and_the_rules_of_crawlers_are_served,
    a_service_without_pages_has_none_of_them,
    unknown_paths_and_files_count_as_boards,
);

/// What browsers send for a page, and what others send.
const HTML: [&str; 4] = [
    "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    "text/html",
    "application/json;q=0.5, TEXT/HTML;level=1;q=0.9",
    "text/html, application/json",
];
const OTHER: [&str; 9] = [
    "",
    "*/*",
    "application/json",
    "application/json, text/html",
    "text/html;q=0.5, application/json",
    "text/html;q=0",
    "image/avif,image/webp,*/*;q=0.8",
    "text/*",
    "text/, ;, chunk#;e",
];

fn asked(browser: &Browser, method: &str, path: &str, accept: &str) -> Answer {
    browser.call(method, path).header("accept", accept).send()
}

/// Checks that an answer to this path is JSON, as the API says it.
#[track_caller]
fn is_json(answer: &Answer) {
    answer.refused(404, "not_found");
    assert_eq!(answer.header("content-type"), Some("application/json"), "{answer}");
}

fn a_code_as_the_path_leads_to_its_gig(store: Store) {
    let server = Server::start(store);
    let evening = Evening::new(&server);
    let browser = Browser::new(&server.client());
    let mixed: String = evening
        .code
        .chars()
        .enumerate()
        .map(|(place, c)| if place % 2 == 0 { c.to_ascii_lowercase() } else { c })
        .collect();
    for typed in [evening.code.clone(), evening.code.to_lowercase(), mixed] {
        for accept in [HTML[0], OTHER[1]] {
            for method in ["GET", "HEAD"] {
                let answer = asked(&browser, method, &format!("/{typed}"), accept);
                is_page(&answer);
                assert_eq!(leads_to(&answer), evening.page());
                assert!(answer.header("set-cookie").is_none(), "{answer}");
            }
        }
    }
    // Whether a DJ has the code is said by its page, which counts unknown codes.
    let unknown = format!("/g/{UNKNOWN_CODE}");
    assert_eq!(leads_to(&browser.get(&format!("/{}", UNKNOWN_CODE.to_lowercase()))), unknown);
    assert_eq!(browser.get(&unknown).status, 404);
    is_json(&browser.call("POST", &format!("/{}", evening.code)).send());
    let line = eventually("the log has the request", || {
        server.log().lines().find(|line| line.contains("/{code}") && line.contains("303")).map(str::to_owned)
    });
    assert!(!line.contains(&evening.code), "{line}");
}

fn an_unknown_path_is_the_start_page_for_browsers_and_json_for_programs(store: Store) {
    let server = Server::start(store);
    let evening = Evening::new(&server);
    let (guest, ended) = (evening.guest(&server), Browser::new(&server.client()));
    ended.set_cookie(SESSION, &"A".repeat(43));
    let outside_the_alphabet = "/565GYO";
    let trailing = format!("/{}/", evening.code);
    for path in [
        "/admin",
        "/operator",
        outside_the_alphabet,
        "/565GY",
        "/565GYDD",
        trailing.as_str(),
        "/g/K7TW3M/nothing",
        "/api",
        "/.env",
        "/%F0%9F%8E%89",
        "//",
    ] {
        for browser in [&guest, &ended] {
            for accept in HTML {
                let page = asked(browser, "GET", path, accept);
                is_page(&page);
                assert_eq!(page.status, 404, "{accept}: {page}");
                assert!(page.text.contains("<form class=\"code\" method=\"get\" action=\"/g\">"), "{page}");
                assert!(page.header("set-cookie").is_none(), "{page}");
                let head = asked(browser, "HEAD", path, accept);
                assert_eq!((head.status, head.text.as_str()), (404, ""), "{accept}: {head}");
            }
            for accept in OTHER {
                is_json(&asked(browser, "GET", path, accept));
            }
            is_json(&browser.call("GET", path).without("accept").send());
        }
        is_json(&asked(&guest, "POST", path, HTML[0]));
    }
    for (language, header) in LANGUAGES.into_iter().enumerate() {
        let page = asked(&guest.speaking(header), "GET", "/admin?done=saved", HTML[0]);
        says(
            &page,
            language,
            &[["This page does not exist", "Diese Seite gibt es nicht"], ["Code of the DJ", "Code des DJs"]],
        );
    }
}

fn paths_of_the_api_are_json_for_browsers_too(store: Store) {
    let server = Server::configured(store, &[("server.trusted_proxies", "127.0.0.1")]);
    let browser = Browser::new(&server.client());
    for path in
        ["/api/v1", "/api/v1/", "/api/v1/nothing", "/api/v1/K7TW3M", "/api/v2/wallet", "/docs/nothing"]
    {
        is_json(&asked(&browser, "GET", path, HTML[0]));
    }
    for (path, status) in
        [("/health/live", 200), ("/openapi.json", 200), ("/api/v1/wallet", 401), ("/metrics", 200)]
    {
        let answer = asked(&browser, "GET", path, HTML[0]);
        assert_eq!(answer.status, status, "{answer}");
        assert!(!answer.text.contains("<form"), "{answer}");
    }
    // To clients that may not see it, a path is as unknown as any other.
    let from_elsewhere = browser.call("GET", "/metrics").header("x-forwarded-for", "192.0.2.1");
    is_json(&from_elsewhere.clone().send());
    let page = from_elsewhere.header("accept", HTML[0]).send();
    is_page(&page);
    assert_eq!(page.status, 404, "{page}");
}

fn the_icon_and_the_rules_of_crawlers_are_served(store: Store) {
    let server = Server::start(store);
    let guest = Evening::new(&server).guest(&server);
    for (path, media_type, begins) in [
        ("/favicon.ico", "image/png", "\u{fffd}PNG\r\n"),
        ("/robots.txt", "text/plain; charset=utf-8", "User-agent: *\n"),
    ] {
        for accept in [HTML[0], OTHER[1]] {
            let file = asked(&guest, "GET", path, accept);
            assert_eq!((file.status, file.header("content-type")), (200, Some(media_type)), "{path}");
            assert!(file.text.starts_with(begins), "{path}");
            assert_eq!(file.header("cache-control"), Some("public, max-age=86400"), "{path}");
            assert_eq!(file.header("x-content-type-options"), Some("nosniff"), "{path}");
            assert!(file.header("set-cookie").is_none() && file.header("content-language").is_none());
            let head = asked(&guest, "HEAD", path, accept);
            assert_eq!((head.status, head.text.as_str()), (200, ""), "{path}");
            assert_eq!(head.header("content-length"), file.header("content-length"), "{path}");
        }
        assert_eq!(guest.form(path, &[]).send().status, 405, "{path}");
    }
    let page = guest.get("/");
    let (_, after) = page.text.split_once("<link rel=\"apple-touch-icon\" href=\"").unwrap();
    let icon = guest.call("GET", after.split('"').next().unwrap()).send();
    assert_eq!((icon.status, icon.header("content-type")), (200, Some("image/png")), "{icon}");
}

fn a_service_without_pages_has_none_of_them(store: Store) {
    let server = Server::configured(store, &[("pages.enabled", "false")]);
    let browser = Browser::new(&server.client());
    for path in ["/", "/admin", "/K7TW3M", "/favicon.ico", "/robots.txt"] {
        is_json(&asked(&browser, "GET", path, HTML[0]));
    }
}

/// Attack API4: reading paths that do not exist without a limit.
fn unknown_paths_and_files_count_as_boards(store: Store) {
    let paths = ["/admin", "/K7TW3M", "/favicon.ico", "/robots.txt"];
    let limits = [("rate_limits.enabled", "true"), ("rate_limits.boards_per_minute", "4")];
    let server = Server::configured(store, &limits);
    let browser = Browser::new(&server.client());
    let statuses = || paths.map(|path| asked(&browser, "GET", path, HTML[0]).status);
    assert_eq!(statuses(), [404, 303, 200, 200]);
    assert_eq!(statuses(), [429; 4]);
}
