//! Message delivery: by SMTP to a mail server, to phones by a signed call, and on delivery failures.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::harness::{
    Answer, MailServer, PASSWORD, Person, Post, Provider, Reply, Server, Store, eventually,
};

on_one_store!(
    a_verification_code_is_sent_by_email,
    endpoint_changes_are_emailed_to_verified_addresses,
    changes_of_operator_endpoints_are_emailed_to_all_operators,
    a_logout_everywhere_sends_an_email_that_lists_the_disabled_endpoints,
    emails_about_a_reused_refresh_token_list_the_endpoints_of_its_session,
    a_password_reset_of_an_operator_is_emailed_to_all_operators,
    verification_codes_are_unavailable_while_the_mail_server_refuses_emails,
    verification_codes_are_unavailable_while_the_mail_server_hangs,
    refused_emails_are_logged_without_the_address,
    a_password_reset_request_does_not_wait_for_the_mail_server,
    a_verification_code_is_sent_to_a_phone,
    codes_and_resets_are_unavailable_without_a_notifier,
);

const FROM: &str = "Cuepoint <no-reply@cuepoint.example>";

fn mailing(store: Store, mails: &MailServer) -> Server {
    let keys = [("notifier.email", "smtp"), ("notifier.smtp_url", &*mails.url), ("notifier.from", FROM)];
    Server::configured(store, &keys)
}

fn request_code(person: &Person) -> Answer {
    person.call("POST", "/auth/email/code").send()
}

fn code(text: &str) -> String {
    let (_, after) = text.split_once("code is ").unwrap_or_else(|| panic!("{text}"));
    after.chars().take_while(char::is_ascii_digit).collect()
}

/// Requests a code, and verifies the address with the code in the mail.
fn proves(mails: &MailServer, person: &Person) {
    request_code(person).data(200);
    let mail = mails.mails().pop().unwrap();
    let body = json!({"code": code(&mail.text)});
    let user = person.post("/auth/email/verify", &body).data(200)["user"].clone();
    assert_eq!(user["email_verified"], true);
}

fn a_verification_code_is_sent_by_email(store: Store) {
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

fn endpoint_changes_are_emailed_to_verified_addresses(store: Store) {
    let mails = MailServer::new(Post::Takes);
    let server = mailing(store, &mails);
    let (unverified, guest) = (server.guest(), server.guest());
    proves(&mails, &guest);
    unverified.webhook_endpoint("/webhook-endpoints");
    let id = guest.webhook_endpoint("/webhook-endpoints");
    let told = |count: usize, act: &str, host: &str| {
        let mail = eventually("a mail", || mails.mails().into_iter().nth(count));
        assert_eq!(mail.to, std::slice::from_ref(&guest.email));
        for part in
            [format!("{act}\r\nthe webhook endpoint {id} for"), format!("Host: {host}"), "Time: 2".to_owned()]
        {
            assert!(mail.text.contains(&part), "{part}: {}", mail.text);
        }
        assert!(mail.text.contains("IP address: 127.0.0.1"), "{}", mail.text);
    };
    told(1, "Your Cuepoint account created", "localhost");
    let path = format!("/webhook-endpoints/{id}");
    let body = json!({"url": "https://example.org:8443/secret", "password": PASSWORD});
    guest.patch(&path, &body).data(200);
    told(2, "changed the URL of", "example.org:8443");
    guest.patch(&path, &json!({"paused": true, "description": "a note"})).data(200);
    guest.post(&format!("{path}/rotate"), &json!({"password": PASSWORD})).data(200);
    told(3, "rotated the secret of", "example.org:8443");
    let body = json!({"current_password": PASSWORD, "password": "battery staple"});
    guest.post("/auth/password", &body).data(200);
    let changed = eventually("a mail", || mails.mails().into_iter().nth(4));
    assert!(changed.text.contains("password of your Cuepoint account was changed"), "{}", changed.text);
    for part in [&*format!("- {id}, events of the account, paused"), "Time: 2", "IP address: 127.0.0.1"] {
        assert!(changed.text.contains(part), "{part}: {}", changed.text);
    }
    assert!(
        changed.text.contains("example.org:8443") && !changed.text.contains("secret"),
        "{}",
        changed.text
    );
    guest.delete(&path).data(200);
    told(5, "deleted", "example.org:8443");
    assert_eq!(mails.mails().len(), 6);
}

/// Attack API2: setting a webhook endpoint for all events unnoticed.
fn changes_of_operator_endpoints_are_emailed_to_all_operators(store: Store) {
    let mails = MailServer::new(Post::Takes);
    let keys = [("notifier.email", "smtp"), ("notifier.smtp_url", &*mails.url), ("notifier.from", FROM)];
    let (server, operator) = Server::with_operator(store, &keys);
    let (second, dismissed) = (operator.new_operator(&server), operator.new_operator(&server));
    operator.give_role(&dismissed, "member");
    let id = operator.webhook_endpoint("/operator/webhook-endpoints");
    let own = operator.webhook_endpoint("/webhook-endpoints");
    let to_both = |count: usize, part: &str| {
        let sent = eventually("the mails", || Some(mails.mails()).filter(|mails| mails.len() >= count + 2));
        let mut to: Vec<String> = sent[count..count + 2].iter().flat_map(|mail| mail.to.clone()).collect();
        to.sort();
        let mut both = [operator.email.clone(), second.email.clone()];
        both.sort();
        assert_eq!(to, both, "although neither address is verified");
        assert!(
            sent[count..count + 2].iter().all(|mail| mail.text.contains(part)),
            "{part}: {:?}",
            sent[count]
        );
    };
    to_both(0, &format!(" created\r\nthe webhook endpoint {id} for"));
    operator.call("POST", "/auth/logout-everywhere").send().data(200);
    to_both(2, &format!("- {id}, events of all accounts, active"));
    assert!(mails.mails().iter().all(|mail| !mail.text.contains(&format!("- {own},"))));

    let path = format!("/operator/webhook-endpoints/{id}");
    let body = json!({"url": "https://example.org:8443/secret", "password": PASSWORD});
    let moved = second.patch(&path, &body).data(200)["webhook_endpoint"].clone();
    assert_eq!(moved["user_id"], second.id, "{moved}");
    to_both(
        4,
        &format!("The operator account {} changed the URL of\r\nthe webhook endpoint {id} for", second.id),
    );
    // The same URL makes its author the owner.
    let operator = server.client().login(&operator.email);
    let owned = operator.patch(&path, &body).data(200)["webhook_endpoint"].clone();
    assert_eq!(owned["user_id"], operator.id, "{owned}");
    to_both(
        6,
        &format!("The operator account {} changed the URL of\r\nthe webhook endpoint {id} for", operator.id),
    );
    second.patch(&path, &json!({"paused": true, "description": "a note"})).data(200);
    operator.post(&format!("{path}/rotate"), &json!({"password": PASSWORD})).data(200);
    to_both(8, &format!(" rotated the secret of\r\nthe webhook endpoint {id} for"));
    second.delete(&path).data(200);
    to_both(10, &format!(" deleted\r\nthe webhook endpoint {id} for"));
    let sent = mails.mails();
    assert_eq!(sent.len(), 12, "a pause and a note are not notified");
    assert!(sent[4..].iter().all(|mail| mail.text.contains("Host: example.org:8443")), "{sent:?}");
}

fn a_logout_everywhere_sends_an_email_that_lists_the_disabled_endpoints(store: Store) {
    let mails = MailServer::new(Post::Takes);
    let server = mailing(store, &mails);
    let guest = server.guest();
    proves(&mails, &guest);
    let id = guest.webhook_endpoint("/webhook-endpoints");
    eventually("a mail", || mails.mails().into_iter().nth(1));
    guest.call("POST", "/auth/logout-everywhere").send().data(200);
    let mail = eventually("a mail", || mails.mails().into_iter().nth(2));
    assert!(mail.text.contains("All sessions of your Cuepoint account were ended."), "{}", mail.text);
    assert!(mail.text.contains(&format!("- {id}, events of the account, disabled")), "{}", mail.text);
    assert!(mail.text.contains("localhost"), "{}", mail.text);
}

/// A server that sends mail, with an operator.
fn mailing_with_operator(store: Store, mails: &MailServer) -> (Server, Person) {
    let keys = [("notifier.email", "smtp"), ("notifier.smtp_url", &*mails.url), ("notifier.from", FROM)];
    Server::with_operator(store, &keys)
}

/// The text of the mail with this part, to a person.
fn mail_with(mails: &MailServer, to: &Person, part: &str) -> String {
    eventually("a mail", || {
        let sent = mails.mails().into_iter();
        let mut sent = sent.filter(|mail| mail.to.contains(&to.email) && mail.text.contains(part));
        sent.next().map(|mail| mail.text)
    })
}

fn emails_about_a_reused_refresh_token_list_the_endpoints_of_its_session(store: Store) {
    let mails = MailServer::new(Post::Takes);
    let (server, operator) = mailing_with_operator(store, &mails);
    let second = operator.new_operator(&server);
    proves(&mails, &operator);
    let stolen = server.client().login(&operator.email);
    let kept = operator.webhook_endpoint("/webhook-endpoints");
    let set = stolen.webhook_endpoint("/webhook-endpoints");
    let [all_kept, all_set] =
        [&operator, &stolen].map(|by| by.webhook_endpoint("/operator/webhook-endpoints"));
    let refresh = |token: &str| server.client().post("/auth/refresh", &json!({"refresh_token": token}));
    let next = refresh(&stolen.refresh_token).data(200)["refresh_token"].as_str().unwrap().to_owned();
    refresh(&next).data(200);
    assert_eq!(refresh(&stolen.refresh_token).status, 401);
    let told = mail_with(&mails, &operator, "no longer receive events");
    assert!(told.contains("its refresh token was used twice"), "{told}");
    assert!(told.contains(&format!("- {set}, events of the account, disabled")), "{told}");
    assert!(!told.contains(&format!("- {kept},")) && !told.contains(&format!("- {all_set},")), "{told}");
    for to in [&operator, &second] {
        let told = mail_with(&mails, to, &format!("of the operator account {} ", operator.id));
        assert!(told.contains("its refresh token was used twice"), "{told}");
        assert!(told.contains(&format!("- {all_set}, events of all accounts, active")), "{told}");
        assert!(!told.contains(&format!("- {all_kept},")) && !told.contains(&format!("- {set},")), "{told}");
    }
}

fn a_password_reset_of_an_operator_is_emailed_to_all_operators(store: Store) {
    let mails = MailServer::new(Post::Takes);
    let (server, operator) = mailing_with_operator(store, &mails);
    let second = operator.new_operator(&server);
    let [own, all] =
        ["/webhook-endpoints", "/operator/webhook-endpoints"].map(|list| operator.webhook_endpoint(list));
    server.client().post("/auth/password/forgot", &json!({"email": operator.email})).data(200);
    let reset = mail_with(&mails, &operator, "with this token:");
    let (_, token) = reset.split_once("with this token:").unwrap();
    let body = json!({"token": token.split_whitespace().next(), "password": "battery staple"});
    server.client().post("/auth/password/reset", &body).data(200);
    let changed = mail_with(&mails, &operator, "password of your Cuepoint account was changed");
    for part in [
        format!("- {own}, events of the account, disabled"),
        format!("- {all}, events of all accounts, active"),
    ] {
        assert!(changed.contains(&part), "{part}: {changed}");
    }
    for to in [&operator, &second] {
        let told = mail_with(&mails, to, &format!("of the operator account {} ", operator.id));
        assert!(told.contains("was reset."), "{told}");
        assert!(told.contains(&format!("- {all}, events of all accounts, active")), "{told}");
        assert!(!told.contains(&format!("- {own},")), "{told}");
    }
}

fn verification_codes_are_unavailable_while_the_mail_server_refuses_emails(store: Store) {
    let mails = MailServer::new(Post::Refuses);
    let server = mailing(store, &mails);
    let guest = server.guest();
    request_code(&guest).refused(503, "unavailable");
    assert!(mails.mails().is_empty());
    mails.now(Post::Takes);
    proves(&mails, &guest);
}

/// A mail server's rejection repeats the recipient: the log has its reply code, but no address, neither of a
/// verification nor of a password reset or change.
fn refused_emails_are_logged_without_the_address(store: Store) {
    let mails = MailServer::new(Post::Refuses);
    let server = mailing(store, &mails);
    let guest = server.guest();
    request_code(&guest).refused(503, "unavailable");
    server.client().post("/auth/password/forgot", &json!({"email": guest.email})).data(200);
    let body = json!({"current_password": PASSWORD, "password": "battery staple"});
    guest.post("/auth/password", &body).data(200);
    let log = eventually("all three are told to the log", || {
        let log = server.log();
        (log.matches("reply code 550").count() == 3).then_some(log)
    });
    assert!(!log.contains(&guest.email) && !log.contains("Recipient address"), "{log}");
}

fn verification_codes_are_unavailable_while_the_mail_server_hangs(store: Store) {
    let mails = MailServer::new(Post::Hangs);
    let server = mailing(store, &mails);
    let guest = server.guest();
    let began = Instant::now();
    request_code(&guest).refused(503, "unavailable");
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    mails.now(Post::Takes);
    proves(&mails, &guest);
}

/// Attack API2: finding out by the time of a password reset whether an address is known.
fn a_password_reset_request_does_not_wait_for_the_mail_server(store: Store) {
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

fn a_verification_code_is_sent_to_a_phone(store: Store) {
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
    let request_code = || guest.call("POST", "/auth/phone/code").send();
    phones.answers(Reply::Says(500, "no such number: +4930123456".to_owned()));
    request_code().refused(503, "unavailable");
    phones.answers(Reply::HangsUp);
    request_code().refused(503, "unavailable");
    phones.answers(Reply::Says(202, String::new()));
    request_code().data(200);
    let received = phones.received();
    let order = received[2].json();
    assert_eq!(order["to"], "+4930123456");
    assert!(received[2].headers["webhook-signature"].starts_with("v1,"));
    let ids: Vec<&String> = received.iter().map(|call| &call.headers["webhook-id"]).collect();
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
            guest.call("POST", &format!("/auth/{address}/code")).send().refused(501, "not_configured");
        }
        for email in [guest.email.as_str(), "nobody@example.com"] {
            let body = json!({"email": email});
            server.client().post("/auth/password/forgot", &body).refused(501, "not_configured");
        }
    }
    let body = json!({"current_password": "correct horse", "password": "battery staple"});
    guest.post("/auth/password", &body).data(200);
}
