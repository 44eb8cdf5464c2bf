//! The first operator, who registers with the code that the server shows on its terminal.

use serde_json::{Value, json};

use crate::harness::guest_scene::{LANGUAGES, says};
use crate::harness::{Answer, Browser, PASSWORD, Person, Server, Store, eventually, leads_to};

on_one_store!(
    a_terminal_shows_the_start_page_with_a_qr_code_for_a_configured_address,
    the_start_page_leads_to_the_first_operator_until_there_was_one,
    a_client_elsewhere_sees_no_panel_and_registers_at_the_printed_address,
    without_a_code_the_start_page_names_the_command_at_the_machine_alone,
    the_first_operator_registers_with_the_code_on_the_terminal,
    a_server_without_a_terminal_shows_no_code,
);

const EMAIL: &str = "operator@example.com";

fn registration(code: &str) -> Value {
    json!({"code": code, "name": "Ada", "email": EMAIL, "password": PASSWORD})
}

/// The code on a line of its own, as 32 bytes in base64.
fn code_in(shown: &str) -> Option<String> {
    shown.lines().map(str::trim).find(|line| line.len() == 43 && !line.contains(' ')).map(str::to_owned)
}

/// Attack API2: becoming an operator with a wrong, an old or a used code.
fn the_first_operator_registers_with_the_code_on_the_terminal(store: Store) {
    let (server, shown) = Server::on_terminal(store, &["serve"]);
    let code = eventually("the code is shown", || code_in(&shown.text()));
    let client = server.client();
    let page = format!("The page {}/first-operator and POST", client.address);
    eventually("the page is named", || shown.text().contains(&page).then_some(()));
    let start_page = format!("start page: {}/", client.address);
    assert!(shown.text().contains(&start_page) && !shown.text().contains('▀'), "{}", shown.text());
    let register = |body: &Value| client.post("/auth/first-operator", body);

    register(&json!({})).invalid(&["code", "name", "email", "password"]);
    register(&registration(&code.to_uppercase())).invalid(&["code"]);
    let taken = server.guest();
    register(&json!({"code": code, "name": "Ada", "email": taken.email, "password": PASSWORD}))
        .invalid(&["email"]);
    register(&json!({"code": code, "name": "Ada", "email": EMAIL, "password": "short"}))
        .invalid(&["password"]);

    let session = register(&registration(&code)).data(201);
    let operator = Person::signed_in(&client, &session);
    operator.get("/operator/users").data(200);
    client.login(EMAIL).get("/operator/users").data(200);
    let second = json!({"code": code, "name": "Eve", "email": "eve@example.com", "password": PASSWORD});
    register(&second).refused(404, "not_found");
    assert!(!server.log().contains(&code), "the code is in the log");
    let events = operator.get("/operator/security-log").text;
    assert!(events.contains("first operator"), "{events}");
}

fn a_terminal_shows_the_start_page_with_a_qr_code_for_a_configured_address(store: Store) {
    let origin = "http://192.168.7.7:8080";
    let (server, shown) = Server::on_terminal(store, &["serve", "--host", "0.0.0.0", "--public-url", origin]);
    eventually("the code is shown", || code_in(&shown.text()));
    let text = shown.text();
    let (_, after) = text.split_once(&format!("start page: {origin}/")).unwrap();
    let picture: Vec<&str> = after.lines().map(str::trim_end).filter(|line| line.contains('█')).collect();
    assert!(
        picture.len() > 10 && picture.iter().all(|line| line.chars().all(|c| "█▀▄ ".contains(c))),
        "{text}"
    );
    assert!(text.contains(&format!("The page {origin}/first-operator")), "{text}");
    assert!(!server.log().contains('█'), "the picture is on the terminal alone");
}

fn the_start_page_leads_to_the_first_operator_until_there_was_one(store: Store) {
    let (server, shown) = Server::on_terminal(store, &["serve"]);
    let code = eventually("the code is shown", || code_in(&shown.text()));
    let browser = Browser::new(&server.client());
    let leads = || {
        let page = browser.get("/");
        assert!(!page.text.contains(COMMAND), "{page}");
        page.text.contains(PANEL)
    };
    assert!(leads() && leads());
    let fields = [("code", code.as_str()), ("name", "Ada"), ("email", EMAIL), ("password", PASSWORD)];
    leads_to(&browser.post("/first-operator", &fields));
    assert!(!leads() && !leads());
    assert_eq!(leads_to(&Browser::new(&server.client()).post("/first-operator", &fields)), "/login", "again");
    assert_eq!(browser.get("/first-operator").status, 404);
}

/// The link of the start page with a code, and the command without one.
const PANEL: &str = "href=\"/first-operator\"";
const COMMAND: &str = "cuepoint operator add EMAIL";

/// What proxies on the machine send for a phone, for the host of a container, and for others.
const ELSEWHERE: [(&str, &str); 5] = [
    ("x-forwarded-for", "192.168.1.20"),
    ("x-forwarded-for", "127.0.0.1"),
    ("forwarded", "for=172.17.0.1"),
    ("x-real-ip", "192.168.1.20"),
    ("via", "1.1 proxy"),
];

/// Checks that the start page says nothing to operators.
#[track_caller]
fn shows_no_panel_of_operators(page: &Answer) {
    assert_eq!(page.status, 200, "{page}");
    assert!(page.text.contains("<form class=\"code\""), "{page}");
    assert!(!page.text.contains(PANEL) && !page.text.contains(COMMAND), "{page}");
}

fn a_client_elsewhere_sees_no_panel_and_registers_at_the_printed_address(store: Store) {
    let (server, shown) = Server::on_terminal(store, &["serve"]);
    let code = eventually("the code is shown", || code_in(&shown.text()));
    let printed = eventually("the page is named", || {
        let text = shown.text();
        let (_, after) = text.split_once("The page ")?;
        after.split_once(' ').map(|(address, _)| address.to_owned())
    });
    let page = printed.strip_prefix(&server.client().address).unwrap().to_owned();
    let browser = Browser::new(&server.client());
    for (name, value) in ELSEWHERE {
        shows_no_panel_of_operators(&browser.send(browser.call("GET", "/").header(name, value)));
        let register = browser.send(browser.call("GET", &page).header(name, value));
        assert!(register.status == 200 && register.text.contains("name=\"code\""), "{register}");
    }
    let fields = [("code", code.as_str()), ("name", "Ada"), ("email", EMAIL), ("password", PASSWORD)];
    let form = browser.form(&page, &fields).header("x-forwarded-for", "172.17.0.1");
    leads_to(&browser.send(form));
    server.client().login(EMAIL).get("/operator/users").data(200);
    shows_no_panel_of_operators(&Browser::new(&server.client()).get("/"));
}

fn without_a_code_the_start_page_names_the_command_at_the_machine_alone(store: Store) {
    let server = Server::start(store);
    let browser = Browser::new(&server.client());
    for (language, header) in LANGUAGES.into_iter().enumerate() {
        let page = browser.speaking(header).get("/");
        let words = ["no operator yet", "noch keinen Betreiber"];
        says(&page, language, &[words, [COMMAND, COMMAND]]);
        assert!(!page.text.contains(PANEL), "{page}");
    }
    for (name, value) in ELSEWHERE {
        shows_no_panel_of_operators(&browser.send(browser.call("GET", "/").header(name, value)));
    }
    // A trusted proxy names the phone.
    let proxied = Server::configured(store, &[("server.trusted_proxies", "127.0.0.1")]);
    let browser = Browser::new(&proxied.client());
    shows_no_panel_of_operators(
        &browser.send(browser.call("GET", "/").header("x-forwarded-for", "192.168.1.20")),
    );
    let (operated, _) = Server::with_operator(store, &[]);
    shows_no_panel_of_operators(&Browser::new(&operated.client()).get("/"));
}

fn a_server_without_a_terminal_shows_no_code(store: Store) {
    let server = Server::start(store);
    assert!(!server.log().contains("start page"), "{}", server.log());
    assert!(!server.log().contains("There is no operator yet"), "{}", server.log());
    server.client().post("/auth/first-operator", &registration(&"A".repeat(43))).invalid(&["code"]);
}
