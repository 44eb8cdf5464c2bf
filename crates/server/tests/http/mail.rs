//! Message delivery: by SMTP to a mail server, to phones by a signed call, and on delivery failures.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::harness::{
    Answer, MailServer, PASSWORD, Person, Post, Provider, Reply, Server, Store, eventually,
};

on_every_store!(
    a_verification_code_is_sent_by_mail,
    the_creation_of_a_webhook_endpoint_is_notified_to_a_verified_address,
    a_refusing_mail_server_is_an_outage,
    a_hanging_mail_server_is_an_outage,
    a_mail_refusal_logs_no_address,
    a_password_reset_does_not_wait_for_the_mail_server,
    a_verification_code_is_sent_by_phone,
    codes_and_resets_are_unavailable_without_a_notifier,
);

const FROM: &str = "Cuepoint <no-reply@cuepoint.example>";

fn mailing(store: Store, mails: &MailServer) -> Server {
    let keys = [("notifier.email", "smtp"), ("notifier.smtp_url", &*mails.url), ("notifier.from", FROM)];
    Server::configured(store, &keys)
}

fn ask(person: &Person) -> Answer {
    person.call("POST", "/auth/email/code").send()
}

fn code(text: &str) -> String {
    let (_, after) = text.split_once("code is ").unwrap_or_else(|| panic!("{text}"));
    after.chars().take_while(char::is_ascii_digit).collect()
}

/// Requests a code, and verifies the address with the code in the mail.
fn proves(mails: &MailServer, person: &Person) {
    ask(person).data(200);
    let mail = mails.mails().pop().unwrap();
    let body = json!({"code": code(&mail.text)});
    let user = person.post("/auth/email/verify", &body).data(200)["user"].clone();
    assert_eq!(user["email_verified"], true);
}

fn a_verification_code_is_sent_by_mail(store: Store) {
    let mails = MailServer::new(Post::Takes);
    let server = mailing(store, &mails);
    let guest = server.guest();
    proves(&mails, &guest);
    let [mail] = &mails.mails()[..] else { panic!("{:?}", mails.mails()) };
    assert_eq!(
        (mail.from.as_str(), &mail.to[..]),
        ("no-reply@cuepoint.example", std::slice::from_ref(&guest.email))
    );
    let (headers, text) = mail.text.split_once("\r\n\r\n").unwrap();
    for header in [&format!("From: {FROM}"), &format!("To: {}", guest.email), "Subject: Your Cuepoint code"] {
        assert!(headers.lines().any(|line| line == header), "{header}: {headers}");
    }
    assert!(text.contains("It expires in 10 minutes."), "{text}");
    assert!(!server.log().contains(&code(text)), "codes that are sent are in no log");
}

fn the_creation_of_a_webhook_endpoint_is_notified_to_a_verified_address(store: Store) {
    let mails = MailServer::new(Post::Takes);
    let server = mailing(store, &mails);
    let (unverified, guest) = (server.guest(), server.guest());
    proves(&mails, &guest);
    unverified.webhook_endpoint("/webhook-endpoints");
    let id = guest.webhook_endpoint("/webhook-endpoints");
    let mail = eventually("a mail", || mails.mails().into_iter().nth(1));
    assert_eq!(mail.to, [guest.email]);
    assert!(mail.text.contains(&format!("The webhook endpoint {id} was created")), "{}", mail.text);
    assert_eq!(mails.mails().len(), 2);
}

fn a_refusing_mail_server_is_an_outage(store: Store) {
    let mails = MailServer::new(Post::Refuses);
    let server = mailing(store, &mails);
    let guest = server.guest();
    ask(&guest).refused(503, "unavailable");
    assert!(mails.mails().is_empty());
    mails.now(Post::Takes);
    proves(&mails, &guest);
}

/// A mail server's rejection repeats the recipient: the log has its reply code, but no address, neither of a
/// verification nor of a password reset or change.
fn a_mail_refusal_logs_no_address(store: Store) {
    let mails = MailServer::new(Post::Refuses);
    let server = mailing(store, &mails);
    let guest = server.guest();
    ask(&guest).refused(503, "unavailable");
    server.client().post("/auth/password/forgot", &json!({"email": guest.email})).data(200);
    let body = json!({"current_password": PASSWORD, "password": "battery staple"});
    guest.post("/auth/password", &body).data(200);
    let log = eventually("all three are told to the log", || {
        let log = server.log();
        (log.matches("reply code 550").count() == 3).then_some(log)
    });
    assert!(!log.contains(&guest.email) && !log.contains("Recipient address"), "{log}");
}

fn a_hanging_mail_server_is_an_outage(store: Store) {
    let mails = MailServer::new(Post::Hangs);
    let server = mailing(store, &mails);
    let guest = server.guest();
    let asked = Instant::now();
    ask(&guest).refused(503, "unavailable");
    assert!(asked.elapsed() < Duration::from_secs(5), "{:?}", asked.elapsed());
    mails.now(Post::Takes);
    proves(&mails, &guest);
}

fn a_password_reset_does_not_wait_for_the_mail_server(store: Store) {
    let mails = MailServer::new(Post::Hangs);
    let server = mailing(store, &mails);
    let guest = server.guest();
    let forgot = |email: &str| server.client().post("/auth/password/forgot", &json!({"email": email}));
    let known = forgot(&guest.email);
    known.data(200);
    assert_eq!(forgot("nobody@example.com").text, known.text);
    eventually("the mail server is called", || (mails.callers() == 1).then_some(()));
    // While delivery hangs, password resets of others are served.
    mails.now(Post::Takes);
    let other = server.guest();
    forgot(&other.email).data(200);
    let mail = eventually("the mail to somebody else", || mails.mails().pop());
    assert_eq!(mail.to, std::slice::from_ref(&other.email));
    let (_, token) = mail.text.split_once("with this token:").unwrap();
    let body = json!({"token": token.split_whitespace().next(), "password": "battery staple"});
    server.client().post("/auth/password/reset", &body).data(200);
    let told = eventually("the mail about it", || mails.mails().into_iter().nth(1));
    assert!(told.text.contains("was changed") && told.to == mail.to, "{told:?}");
}

fn a_verification_code_is_sent_by_phone(store: Store) {
    let phones = Provider::new(Reply::Says(202, String::new()));
    let secret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    let keys = [
        ("notifier.phone", "webhook"),
        ("notifier.webhook_url", &*phones.url),
        ("notifier.webhook_secrets", secret),
    ];
    let server = Server::configured(store, &keys);
    let guest = server.guest();
    guest.patch("/user/personal-info", &json!({"phone": "+4930123456"})).data(200);
    let ask = || guest.call("POST", "/auth/phone/code").send();
    phones.answers(Reply::Says(500, "no such number: +4930123456".to_owned()));
    ask().refused(503, "unavailable");
    phones.answers(Reply::HangsUp);
    ask().refused(503, "unavailable");
    phones.answers(Reply::Says(202, String::new()));
    ask().data(200);
    let heard = phones.heard();
    let order = heard[2].json();
    assert_eq!(order["to"], "+4930123456");
    assert!(heard[2].headers["webhook-signature"].starts_with("v1,"));
    let ids: Vec<&String> = heard.iter().map(|call| &call.headers["webhook-id"]).collect();
    assert!(ids[0] != ids[1] && ids[1] != ids[2], "each message is one of its own");
    eventually("the failure is logged", || server.log().contains("answers with status 500").then_some(()));
    let log = server.log();
    assert!(!log.contains("30123456"), "{log}");
    let body = json!({"code": code(order["text"].as_str().unwrap())});
    assert_eq!(guest.post("/auth/phone/verify", &body).data(200)["user"]["phone_verified"], true);
}

fn codes_and_resets_are_unavailable_without_a_notifier(store: Store) {
    let server = Server::configured(store, &[("notifier.email", "none"), ("notifier.phone", "none")]);
    let guest = server.guest();
    guest.patch("/user/personal-info", &json!({"phone": "+4930123456"})).data(200);
    eventually("the log says so", || server.log().contains("notifier.email is none").then_some(()));
    // Any number of times: attempts that are not made do not count.
    for _ in 0..6 {
        for address in ["email", "phone"] {
            guest.call("POST", &format!("/auth/{address}/code")).send().refused(503, "unavailable");
        }
        for email in [guest.email.as_str(), "nobody@example.com"] {
            let body = json!({"email": email});
            server.client().post("/auth/password/forgot", &body).refused(503, "unavailable");
        }
    }
    let body = json!({"current_password": "correct horse", "password": "battery staple"});
    guest.post("/auth/password", &body).data(200);
}
