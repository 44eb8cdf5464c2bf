//! Verification codes: each works once, in time, and for the address that it was sent to.

use serde_json::{Value, json};

use crate::harness::{Answer, PERSONAL_INFO, Person, Server, Store, keys};

on_one_store!(
    a_code_verifies_an_email_or_phone_number_only_once,
    five_wrong_attempts_invalidate_a_code,
    a_code_is_valid_only_for_its_own_user_and_email_or_phone,
    a_changed_phone_number_is_unverified,
    at_most_five_email_codes_are_sent_to_a_user_an_hour,
);

const PHONE: &str = "+4930123456";

fn guest(server: &Server) -> Person {
    let guest = server.guest();
    guest.patch("/user/personal-info", &json!({"phone": PHONE})).data(200);
    guest
}

fn request_code(person: &Person, address: &str) -> Answer {
    person.call("POST", &format!("/auth/{address}/code")).send()
}

/// Verifies the e-mail address or the phone number with a code.
pub(crate) fn verify(person: &Person, address: &str, code: &str) -> Answer {
    person.post(&format!("/auth/{address}/verify"), &json!({"code": code}))
}

/// Requests a code, and returns the one in the message that is this many after the first.
pub(crate) fn code(server: &Server, person: &Person, address: &str, number: usize) -> String {
    assert_eq!(request_code(person, address).data(200), json!({}));
    let to = if address == "email" { &person.email } else { PHONE };
    let message = server.message(to, number);
    let (_, after) = message.split_once("code is ").unwrap_or_else(|| panic!("{message}"));
    let code: String = after.chars().take_while(char::is_ascii_digit).collect();
    assert_eq!(code.len(), 6, "{message}");
    code
}

/// A code other than this one.
fn other(code: &str) -> String {
    format!("{:06}", (code.parse::<u32>().unwrap() + 1) % 1_000_000)
}

fn stale(answer: &Answer) {
    assert_eq!(answer.invalid(&["code"])["code"], json!(["The code is invalid or has expired."]));
}

fn proven(person: &Person) -> (Value, Value) {
    let user = person.get("/user/personal-info").data(200)["user"].clone();
    (user["email_verified"].clone(), user["phone_verified"].clone())
}

fn a_code_verifies_an_email_or_phone_number_only_once(store: Store) {
    let server = Server::start(store);
    let guest = guest(&server);
    let email = code(&server, &guest, "email", 0);
    assert_eq!(proven(&guest), (json!(false), json!(false)));
    let data = verify(&guest, "email", &format!(" {email} ")).data(200);
    assert_eq!((keys(&data), keys(&data["user"])), (vec!["user"], PERSONAL_INFO.to_vec()));
    assert_eq!(data, guest.get("/user/personal-info").data(200));
    assert_eq!(proven(&guest), (json!(true), json!(false)));
    stale(&verify(&guest, "email", &email));
    // A verified address needs no code, and none is sent.
    assert_eq!(request_code(&guest, "email").data(200), json!({}));
    let phone = code(&server, &guest, "phone", 0);
    assert_eq!(server.messages(&guest.email).len(), 1);
    verify(&guest, "phone", &phone).data(200);
    assert_eq!(proven(&guest), (json!(true), json!(true)));
}

/// Attack API2: guessing a verification code.
fn five_wrong_attempts_invalidate_a_code(store: Store) {
    let server = Server::start(store);
    let guest = guest(&server);
    let right = code(&server, &guest, "email", 0);
    for _ in 0..4 {
        stale(&verify(&guest, "email", &other(&right)));
    }
    stale(&verify(&guest, "email", "no code at all"));
    stale(&verify(&guest, "email", &right));
    let next = code(&server, &guest, "email", 1);
    stale(&verify(&guest, "email", &other(&next)));
    verify(&guest, "email", &next).data(200);
}

fn a_code_is_valid_only_for_its_own_user_and_email_or_phone(store: Store) {
    let server = Server::start(store);
    let (guest, other) = (guest(&server), server.guest());
    let phone = code(&server, &guest, "phone", 0);
    stale(&verify(&other, "phone", &phone));
    stale(&verify(&other, "email", &phone));
    stale(&verify(&guest, "email", &phone));
    assert_eq!(
        request_code(&other, "phone").invalid(&["phone"])["phone"],
        json!(["The phone field is required."])
    );
    verify(&guest, "phone", &phone).data(200);
    assert_eq!(proven(&other), (json!(false), json!(false)));
}

fn a_changed_phone_number_is_unverified(store: Store) {
    let server = Server::start(store);
    let guest = guest(&server);
    let phone = code(&server, &guest, "phone", 0);
    guest.patch("/user/personal-info", &json!({"phone": "+4930999999"})).data(200);
    stale(&verify(&guest, "phone", &phone));
    guest.patch("/user/personal-info", &json!({"phone": PHONE})).data(200);
    let phone = code(&server, &guest, "phone", 1);
    verify(&guest, "phone", &phone).data(200);
    guest.patch("/user/personal-info", &json!({"phone": PHONE, "city": "Berlin"})).data(200);
    assert_eq!(proven(&guest).1, true);
    guest.patch("/user/personal-info", &json!({"phone": "+4930999999"})).data(200);
    assert_eq!(proven(&guest).1, false);
}

/// Attack API4: flooding a user with codes.
fn at_most_five_email_codes_are_sent_to_a_user_an_hour(store: Store) {
    let server = Server::start(store);
    let guest = guest(&server);
    let codes: Vec<String> = (0..5).map(|number| code(&server, &guest, "email", number)).collect();
    let answer = request_code(&guest, "email");
    answer.refused(429, "rate_limited");
    let seconds: u32 = answer.header("retry-after").unwrap().parse().unwrap();
    assert!((3_500..=3_601).contains(&seconds), "{answer}");
    assert_eq!(answer.header("x-ratelimit-limit"), Some("5"));
    assert_eq!(answer.header("x-ratelimit-remaining"), Some("0"));
    assert_eq!(answer.header("x-ratelimit-reset"), Some("3600"));
    assert_eq!(answer.header("x-ratelimit-resource"), Some("codes_per_hour"));
    // The other address has its own limit, and the latest code stays valid.
    request_code(&guest, "phone").data(200);
    verify(&guest, "email", &codes[4]).data(200);
}
