//! The payment page of the sandbox, on which a tester pays, refuses or leaves.

use serde_json::{Value, json};

use crate::harness::{Answer, Client, Person, Server, Store, eventually, line, run};

on_one_store!(
    a_refused_payment_fails_and_a_later_one_waits,
    a_payment_after_its_refusal_contradicts_the_ledger_and_is_stored_once,
    unknown_payments_and_outcomes_change_nothing,
    the_payment_page_is_open_to_everybody_and_sets_no_cookie,
    a_sandbox_that_confirms_at_once_has_no_payment_page,
    a_payment_on_the_page_of_the_sandbox_arrives_once,
);

/// The setting under test.
const PAGE: (&str, &str) = ("topups.sandbox", "page");

/// Opens a top-up of 20, and returns it with the path of its payment page.
fn opened(client: &Client, guest: &Person) -> (Value, String) {
    let topup = guest.post("/wallet/topups", &json!({"amount": 20})).data(201)["topup"].clone();
    let (address, reference) = (&client.address, topup["reference"].as_str().unwrap());
    assert_eq!(topup["status"], "pending");
    let path = format!("/sandbox/payments/{reference}");
    assert_eq!(topup["payment_url"], format!("{address}{path}"));
    (topup, path)
}

/// Presses a button of the payment page, in a browser without a session.
fn press(client: &Client, path: &str, outcome: &str) -> Answer {
    post(client, path, outcome, &client.address)
}

/// Sends the form of the payment page from a page at this origin.
fn post(client: &Client, path: &str, outcome: &str, origin: &str) -> Answer {
    let form = format!("outcome={outcome}");
    let call = client.outside("POST", path).bytes(form.as_bytes()).header("origin", origin);
    call.header("content-type", "application/x-www-form-urlencoded").send()
}

/// Presses a button, and returns to the page of the payment.
fn pressed(client: &Client, topup: &Value, path: &str, outcome: &str) {
    let answer = press(client, path, outcome);
    assert_eq!(answer.status, 303, "{answer}");
    let page = format!("/topups/{}?returned=1", topup["reference"].as_str().unwrap());
    assert_eq!(answer.header("location"), Some(page.as_str()));
    assert_eq!(client.outside("GET", &page).send().status, 200);
}

fn status(guest: &Person, topup: &Value) -> String {
    let topup = guest.get(&format!("/wallet/topups/{}", topup["id"])).data(200);
    topup["topup"]["status"].as_str().unwrap().to_owned()
}

/// Whether the page shows its buttons.
fn has_buttons(client: &Client, path: &str) -> bool {
    let page = client.outside("GET", path).send();
    assert_eq!(page.status, 200, "{page}");
    assert!(page.text.contains("20.00"), "the page names the amount: {page}");
    page.text.contains("name=\"outcome\" value=\"pay\"")
}

fn a_payment_on_the_page_of_the_sandbox_arrives_once(store: Store) {
    let server = Server::configured(store, &[PAGE]);
    let (client, guest) = (server.client(), server.guest_account());
    let (topup, path) = opened(&client, &guest);
    assert_eq!(guest.wallet().0, "0.00");
    assert!(has_buttons(&client, &path));
    for _ in 0..2 {
        pressed(&client, &topup, &path, "pay");
        assert_eq!(status(&guest, &topup), "confirmed");
        assert_eq!(guest.wallet().0, "20.00");
    }
    assert!(!has_buttons(&client, &path), "the payment is over");
    let entries: Vec<String> = guest.entries().iter().map(line).collect();
    assert_eq!(entries.len(), 1, "{entries:?}");
}

fn a_refused_payment_fails_and_a_later_one_waits(store: Store) {
    let server = Server::configured(store, &[PAGE]);
    let (client, guest) = (server.client(), server.guest());
    let (topup, path) = opened(&client, &guest);
    pressed(&client, &topup, &path, "later");
    assert_eq!(status(&guest, &topup), "pending");
    assert!(has_buttons(&client, &path), "the payment can still be made");
    for _ in 0..2 {
        pressed(&client, &topup, &path, "refuse");
        assert_eq!(status(&guest, &topup), "failed");
    }
    pressed(&client, &topup, &path, "later");
    assert_eq!((status(&guest, &topup).as_str(), guest.wallet().0.as_str()), ("failed", "0.00"));
    assert!(!has_buttons(&client, &path));
}

fn a_payment_after_its_refusal_contradicts_the_ledger_and_is_stored_once(store: Store) {
    let (server, operator) = Server::with_operator(store, &[PAGE]);
    let (client, guest) = (server.client(), server.guest());
    let stored = || operator.get("/operator/provider-messages").data(200)["data"].clone();
    let (topup, path) = opened(&client, &guest);
    pressed(&client, &topup, &path, "refuse");
    assert_eq!(stored(), json!([]));
    for _ in 0..2 {
        pressed(&client, &topup, &path, "pay");
        assert_eq!((status(&guest, &topup).as_str(), guest.wallet().0.as_str()), ("failed", "0.00"));
    }
    let messages = stored();
    assert_eq!(messages.as_array().unwrap().len(), 1, "{messages}");
    let message = &messages[0];
    assert_eq!((&message["topup_id"], &message["type"]), (&topup["id"], &json!("topup.confirmed")));
    assert_eq!(message["reason_code"], "status_contradiction");
}

fn unknown_payments_and_outcomes_change_nothing(store: Store) {
    let (server, operator) = Server::with_operator(store, &[PAGE]);
    let (client, guest) = (server.client(), server.guest());
    let (topup, path) = opened(&client, &guest);
    let never = "/sandbox/payments/019aa6e0-5c1f-7d3a-9b1e-3f2a6c8d4e10".to_owned();
    // The id of the top-up is a reference only if an earlier version opened it.
    let by_id = format!("/sandbox/payments/{}", topup["id"]);
    for path in [never, by_id, "/sandbox/payments/nonsense".to_owned()] {
        assert_eq!(client.outside("GET", &path).send().status, 404, "{path}");
        for outcome in ["pay", "refuse", "later"] {
            let answer = press(&client, &path, outcome);
            assert_eq!(answer.status, 404, "{answer}");
        }
    }
    for outcome in ["", "PAY", "pay&outcome=steal"] {
        let answer = press(&client, &path, outcome);
        assert_eq!(answer.status, 400, "{answer}");
    }
    assert_eq!(status(&guest, &topup), "pending");
    assert_eq!(operator.get("/operator/provider-messages").data(200)["data"], json!([]));
}

/// Attack API2: a page of another site presses "Pay".
fn the_payment_page_is_open_to_everybody_and_sets_no_cookie(store: Store) {
    let server = Server::configured(store, &[PAGE]);
    let (client, guest) = (server.client(), server.guest());
    let (topup, path) = opened(&client, &guest);
    for origin in ["https://evil.example", "null"] {
        assert_eq!(post(&client, &path, "pay", origin).status, 403, "{origin}");
    }
    let without_origin = client.outside("POST", &path).bytes(b"outcome=pay").without("origin");
    let form = without_origin.header("content-type", "application/x-www-form-urlencoded");
    assert_eq!(form.send().status, 403);
    assert_eq!(status(&guest, &topup), "pending");
    let page = client.outside("GET", &path).send();
    assert!(page.header("set-cookie").is_none() && !page.text.contains(&guest.email), "{page}");
}

fn a_sandbox_that_confirms_at_once_has_no_payment_page(store: Store) {
    let server = Server::start(store);
    let (client, guest) = (server.client(), server.guest());
    let reference = guest.topup_reference(guest.topup("20"));
    let path = format!("/sandbox/payments/{reference}");
    assert_eq!(client.outside("GET", &path).send().status, 404);
    assert_eq!(press(&client, &path, "pay").status, 404);
    assert_eq!(guest.wallet().0, "20.00");
}

#[test]
fn posts_to_the_payment_page_count_for_the_address() {
    let limits = [PAGE, ("rate_limits.enabled", "true"), ("rate_limits.default_per_minute", "3")];
    let server = Server::configured(Store::Memory, &limits);
    let (client, guest) = (server.client(), server.guest());
    let (topup, path) = opened(&client, &guest);
    eventually("the address has no more posts", || {
        (press(&client, &path, "later").status == 429).then_some(())
    });
    assert_eq!(status(&guest, &topup), "pending");
}

#[test]
fn the_payment_page_of_the_sandbox_needs_pages() {
    let (status, said) = run(&["serve"], None, &[PAGE, ("pages.enabled", "false")]);
    assert!(!status.success() && said.contains("topups.sandbox: page requires pages.enabled"), "{said}");
}
