//! Verification codes: their storage, and the limits of those sent to phones.

use std::sync::Arc;

use ring::digest::{Digest, SHA256, digest};
use serde_json::json;

use super::keys::{FILE, KeyFolder, kid};
use crate::harness::{
    Answer, Call, Database, PASSWORD, Person, SHARED_KEY, Server, Store, at_once, eventually,
};

on_one_store!(
    new_phone_numbers_must_be_valid,
    a_phone_number_gets_at_most_five_codes_a_day_across_all_users,
    a_network_gets_at_most_twenty_phone_codes_a_day,
    the_daily_code_quota_of_the_deployment_is_configurable,
    verification_codes_stay_valid_after_a_signing_key_rotation,
    codes_are_stored_as_keyed_hashes,
    codes_are_counted_across_restarts,
);

const NUMBER: &str = "+4930123456";

fn request_code(person: &Person) -> Call {
    person.call("POST", "/auth/phone/code")
}

fn from(call: Call, address: &str) -> Call {
    call.header("x-forwarded-for", address)
}

fn give(person: &Person, phone: &str) {
    person.patch("/user/personal-info", &json!({"phone": phone})).data(200);
}

/// A guest with this phone number.
fn guest(server: &Server, phone: &str) -> Person {
    let guest = server.guest();
    give(&guest, phone);
    guest
}

/// Checks that the limit of this many codes is exhausted for almost a day.
fn used_up(answer: &Answer, most: &str) {
    answer.refused(429, "rate_limited");
    assert_eq!(answer.header("x-ratelimit-limit"), Some(most), "{answer}");
    let resource = if most == "5" { "codes_per_number_and_day" } else { "codes_per_network_and_day" };
    assert_eq!(answer.header("x-ratelimit-resource"), Some(resource), "{answer}");
    assert_eq!(answer.header("x-ratelimit-reset"), Some("86400"), "{answer}");
    is_a_day(answer);
}

fn is_a_day(answer: &Answer) {
    let seconds: u32 = answer.header("retry-after").unwrap().parse().unwrap();
    assert!((86_300..=86_401).contains(&seconds), "{answer}");
}

fn new_phone_numbers_must_be_valid(store: Store) {
    let server = Server::start(store);
    let guest = server.guest();
    let sentence = json!(["The phone field must be a phone number such as +4930123456."]);
    for wrong in ["+49 30 123456", "030123456", "+0123456789", "+123456", "+1234567890123456", "call me"] {
        let body = json!({"name": "Eve", "email": "eve@example.com", "password": PASSWORD, "phone": wrong});
        let refused = server.client().post("/auth/register", &body);
        assert_eq!(refused.invalid(&["phone"])["phone"], sentence, "{wrong}");
        let refused = guest.patch("/user/personal-info", &json!({"phone": wrong, "city": "Berlin"}));
        assert_eq!(refused.invalid(&["phone"])["phone"], sentence, "{wrong}");
    }
    assert_eq!(guest.get("/user/personal-info").data(200)["user"]["city"], json!(null));
    let body =
        json!({"name": "Eve", "email": "eve@example.com", "password": PASSWORD, "phone": " +4930123456 "});
    let data = server.client().post("/auth/register", &body).data(201);
    assert_eq!(data["user"]["phone"], "+4930123456");
    // A stored number that is not in E.164 format stays valid, and can be sent back with the rest of the
    // profile.
    if let Some(database) = server.database() {
        database.execute(&format!("UPDATE users SET phone = '030 / 12 34 56' WHERE id = {}", guest.id));
        let changes = [json!({"city": "Berlin"}), json!({"city": "Bonn", "phone": "030 / 12 34 56"})];
        for change in changes {
            let data = guest.patch("/user/personal-info", &change).data(200);
            assert_eq!(
                (&data["user"]["phone"], &data["user"]["city"]),
                (&json!("030 / 12 34 56"), &change["city"])
            );
        }
        guest.patch("/user/personal-info", &json!({"phone": "030 / 12 34 57"})).invalid(&["phone"]);
        request_code(&guest).send().data(200);
        give(&guest, "+4930123456");
    }
}

/// Attack API4: flooding a phone with codes from several users.
fn a_phone_number_gets_at_most_five_codes_a_day_across_all_users(store: Store) {
    let server = Server::start(store);
    let (number, digits) = ("+4930123456", "4930123456");
    for _ in 0..5 {
        // The users are erased as soon as the code is sent.
        let guest = guest(&server, number);
        request_code(&guest).send().data(200);
        if let Some(database) = server.database() {
            let tables = database.tables_with(digits);
            assert!(["users", "challenges"].iter().all(|table| tables.iter().any(|other| other == table)));
        }
        guest.call("DELETE", "/user").json(&json!({"password": PASSWORD})).send().data(200);
    }
    assert_eq!(server.messages(number).len(), 5);
    if let Some(database) = server.database() {
        eventually("no table shows the number", || database.tables_with(digits).is_empty().then_some(()));
        assert_eq!(database.rows("SELECT 1 FROM phone_codes").len(), 5, "the codes stay counted");
    }
    let next = guest(&server, number);
    used_up(&request_code(&next).send(), "5");
    // Another number of the same user, and a code by e-mail.
    give(&next, "+4930123457");
    request_code(&next).send().data(200);
    next.call("POST", "/auth/email/code").send().data(200);
    assert_eq!(server.messages(number).len(), 5);
}

/// Attack API4: sending codes to many phones from one network.
fn a_network_gets_at_most_twenty_phone_codes_a_day(store: Store) {
    let server = Server::configured(store, &[("server.trusted_proxies", "127.0.0.1")]);
    for number in 0..20 {
        let guest = guest(&server, &format!("+4930{number:06}"));
        from(request_code(&guest), &format!("2001:db8:0:1::{number}")).send().data(200);
    }
    let next = guest(&server, "+4930999999");
    used_up(&from(request_code(&next), "2001:db8:0:1:ffff::1").send(), "20");
    from(request_code(&next), "2001:db8:0:2::1").send().data(200);
}

/// Attack API4: sending codes to premium numbers from many networks.
fn the_daily_code_quota_of_the_deployment_is_configurable(store: Store) {
    let server = Server::configured(store, &[("phone.codes_per_day", "3")]);
    let guests: Vec<Person> = (0..8).map(|number| guest(&server, &format!("+4930{number:06}"))).collect();
    let answers = at_once(guests.iter().map(request_code).collect());
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 3, "{answers:?}");
    for answer in answers.iter().filter(|answer| answer.status != 200) {
        answer.refused(503, "unavailable");
        is_a_day(answer);
    }
    guests[0].call("POST", "/auth/email/code").send().data(200);
    let warned = || server.log().matches("phone.codes_per_day is used up").count();
    eventually("the log says so", || (warned() > 0).then_some(()));
    assert_eq!(warned(), 1, "once, however many are refused");
}

fn verification_codes_stay_valid_after_a_signing_key_rotation(store: Store) {
    let folder = KeyFolder::new();
    folder.rotate(&[]);
    let server = Server::configured(store, &[(FILE, &folder.path())]);
    let guest = guest(&server, "+4930123456");
    request_code(&guest).send().data(200);
    let code = code(&server.message("+4930123456", 0));
    let said = folder.rotate(&["--signs-in", "0"]);
    let after = said.split(' ').next().unwrap();
    eventually("the new key signs", || (kid(&server.guest().token) == after).then_some(()));
    let verified = guest.post("/auth/phone/verify", &json!({"code": code})).data(200);
    assert_eq!(verified["user"]["phone_verified"], true);
}

/// The code in a message.
fn code(message: &str) -> String {
    let (_, after) = message.split_once("code is ").unwrap_or_else(|| panic!("{message}"));
    after.chars().take_while(char::is_ascii_digit).collect()
}

/// The check sum of a code without a key, as earlier versions stored it.
fn unkeyed(user: i64, code: &str) -> Digest {
    digest(&SHA256, format!("email:{user}:{code}").as_bytes())
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02X}")).collect()
}

/// Attack API2: computing a verification code from its stored hash.
fn codes_are_stored_as_keyed_hashes(store: Store) {
    let database = Arc::new(Database::of(store));
    let server = Server::on(&database, &[SHARED_KEY]);
    let guest = server.guest();
    guest.call("POST", "/auth/email/code").send().data(200);
    // A reader of the table cannot brute-force the codes.
    let stored = database.sql("upper(encode(hash, 'hex'))", "hex(hash)");
    let stored = format!("SELECT {stored} FROM challenges");
    let guessed = || {
        let stored: Vec<String> = database.rows(&stored).into_iter().flatten().flatten().collect();
        let [stored] = &stored[..] else { panic!("{stored:?}") };
        // Most codes differ in the first byte, which is compared before the rest is printed.
        let first = u8::from_str_radix(&stored[..2], 16).unwrap();
        let is_stored = |digest: &[u8]| digest[0] == first && hexadecimal(digest) == *stored;
        let codes = (0..1_000_000).map(|number| format!("{number:06}"));
        codes.filter(|code| is_stored(unkeyed(guest.id, code).as_ref())).collect::<Vec<_>>()
    };
    assert_eq!(guessed(), [""; 0]);
    let sent = code(&server.message(&guest.email, 0));
    assert_eq!(sent.len(), 6);
    let plain = hexadecimal(unkeyed(guest.id, "123456").as_ref());
    let hash = database.sql("decode('{plain}', 'hex')", "X'{plain}'").replace("{plain}", &plain);
    database.execute(&format!("UPDATE challenges SET hash = {hash} WHERE ended_at IS NULL"));
    assert_eq!(guessed(), ["123456"]);
    let verified = guest.post("/auth/email/verify", &json!({"code": "123456"})).data(200);
    assert_eq!(verified["user"]["email_verified"], true);
}

/// Attack API4: requesting codes at several servers.
#[test]
fn servers_share_the_code_quota_of_a_phone_number() {
    let database = Arc::new(Database::postgres());
    let servers = [Server::on(&database, &[SHARED_KEY]), Server::on(&database, &[SHARED_KEY])];
    five_of_twelve_are_sent(&[&servers[0], &servers[1]]);
}

/// Attack API4: requesting codes before and after a restart.
fn codes_are_counted_across_restarts(store: Store) {
    let database = Arc::new(Database::of(store));
    let server = Server::on(&database, &[SHARED_KEY]);
    five_of_twelve_are_sent(&[&server, &server]);
    drop(server);
    let later = Server::on(&database, &[SHARED_KEY]);
    used_up(&request_code(&guest(&later, NUMBER)).send(), "5");
}

/// Twelve users request codes for one number concurrently.
fn five_of_twelve_are_sent(servers: &[&Server; 2]) {
    let guests: Vec<Person> = (0..12).map(|number| guest(servers[number % 2], NUMBER)).collect();
    let answers = at_once(guests.iter().map(request_code).collect());
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 5, "{answers:?}");
}
