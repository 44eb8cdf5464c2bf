//! Wallet links: how a guest gets the guest account back after a lost phone or session, and every way in which a link
//! opens nothing.

use serde_json::{Value, json};

use crate::guests::guest_wallet_keys::{free, secret_of, wallet, with_cookies};
use crate::harness::guest_scene::{Evening, LANGUAGES, says};
use crate::harness::{
    Answer, Browser, GUEST, PASSWORD, Person, SESSION, Server, Store, at_once, field, leads_to, set_cookies,
};

on_one_store!(
    an_app_whose_refresh_token_was_reused_gets_its_wallet_back,
    an_app_reads_that_a_link_ended_its_session,
    a_form_that_is_sent_again_begins_the_same_session,
    a_link_opens_nothing_after_its_use_its_hour_a_claim_or_an_erasure,
    a_suspended_account_keeps_its_link,
    a_guest_who_uses_a_link_keeps_the_own_wallet,
    a_link_for_the_own_wallet_opens_beside_four_others,
    a_member_who_uses_a_link_keeps_the_wallet_beside_the_next_login,
    only_operators_issue_links_and_only_for_a_payment_of_the_account,
    links_and_their_uses_are_in_the_security_log_and_their_secrets_nowhere,
    a_service_without_pages_issues_no_link,
    a_link_gives_the_wallet_of_a_lost_phone_to_another_browser,
    a_link_that_is_used_twice_at_once_opens_one_session,
);

/// The amount on pages.
pub(crate) const MONEY: &str = "40.00\u{a0}USD";

/// The account of an app with a wallet of 40.00, and the reference of its payment.
pub(crate) fn payer(server: &Server) -> (Person, String) {
    let guest = server.guest_account();
    let reference = guest.topup_reference(guest.topup("40"));
    (guest, reference)
}

fn issue(operator: &Person, user: i64, reference: &str) -> Answer {
    let body = json!({"reference": reference, "reason": "Lost phone"});
    operator.post(&format!("/operator/users/{user}/wallet-link"), &body)
}

/// The path of a new link, with its secret.
#[track_caller]
pub(crate) fn link(operator: &Person, user: i64, reference: &str) -> String {
    let data = issue(operator, user, reference).data(201);
    let url = data["url"].as_str().unwrap();
    let (_, secret) = url.split_once("/wallet-link?link=").unwrap_or_else(|| panic!("{url}"));
    format!("/wallet-link?link={secret}")
}

fn secret(link: &str) -> &str {
    link.split_once('=').unwrap().1
}

/// Presses the button of the page of a link.
pub(crate) fn press(browser: &Browser, link: &str) -> Answer {
    let page = browser.get(link);
    browser.post("/wallet-link", &[("link", secret(link)), ("key", &field(&page, "key"))])
}

/// A browser to which a link has moved the account.
#[track_caller]
pub(crate) fn opened(server: &Server, link: &str) -> Browser {
    let browser = Browser::new(&server.client());
    assert_eq!(leads_to(&press(&browser, link)), "/wallet?done=wallet-opened");
    browser
}

/// Checks that a link opens nothing in a new browser, and that its page and the answer to its form say why.
#[track_caller]
pub(crate) fn opens_nothing(server: &Server, link: &str, words: [&'static str; 2]) {
    let browser = Browser::new(&server.client());
    for (language, header) in LANGUAGES.into_iter().enumerate() {
        let page = browser.speaking(header).get(link);
        assert_eq!(page.status, 200, "{page}");
        says(&page, language, &[["This link opens no wallet", "Dieser Link öffnet kein Guthaben"], words]);
    }
    let key = "k".repeat(43);
    let refused = browser.post("/wallet-link", &[("link", secret(link)), ("key", &key)]);
    assert_eq!((refused.status, browser.cookie(SESSION)), (422, None), "{refused}");
    assert!(refused.text.contains(words[0]), "{refused}");
}

pub(crate) const USED: [&str; 2] = ["The link was used, replaced", "Der Link wurde schon benutzt, durch"];

/// Attack API2: previews and scanners of messages that open the link before the guest does.
fn a_link_gives_the_wallet_of_a_lost_phone_to_another_browser(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let (guest, reference) = payer(&server);
    let lost = opened(&server, &link(&operator, guest.id, &reference));
    assert!(lost.get("/wallet").text.contains(MONEY));

    let use_path = format!("/operator/users/{}/wallet-link", guest.id);
    let used = operator.get(&use_path).data(200);
    assert!(used["last_used_at"].is_string() && used["user"]["id"] == json!(guest.id), "{used}");
    let issued = issue(&operator, guest.id, &reference).data(201);
    assert_eq!(issued["last_used_at"], used["last_used_at"]);
    let link = link(&operator, guest.id, &reference);
    let browser = Browser::new(&server.client());
    for method in ["GET", "HEAD", "GET"] {
        let page = browser.call(method, &link).send();
        assert!(page.status == 200 && set_cookies(&page).is_empty(), "{page}");
    }
    let page = browser.get(&link);
    assert!(page.text.contains(MONEY) && page.text.contains("Wallet of"), "{page}");
    assert!(lost.is_logged_in(), "reading the page uses no link");

    assert_eq!(leads_to(&press(&browser, &link)), "/wallet?done=wallet-opened");
    let wallet = browser.get("/wallet?done=wallet-opened");
    assert!(
        wallet.text.contains(MONEY) && wallet.text.contains("The wallet is in this browser now"),
        "{wallet}"
    );
    // The browser of the lost phone reads why, on every page.
    assert_eq!(leads_to(&lost.get("/wallet")), "/login?next=%2Fwallet");
    for (language, header) in LANGUAGES.into_iter().enumerate() {
        for path in ["/login?next=%2Fwallet", "/"] {
            let why = ["moved to another browser", "ist in einen anderen Browser umgezogen"];
            says(&lost.speaking(header).get(path), language, &[why]);
        }
    }
    let stranger = Browser::new(&server.client()).get("/");
    assert!(!stranger.text.contains("moved to another browser"), "{stranger}");
}

fn a_link_that_is_used_twice_at_once_opens_one_session(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let (guest, reference) = payer(&server);
    let link = link(&operator, guest.id, &reference);
    let browsers: Vec<Browser> = (0..6).map(|_| Browser::new(&server.client())).collect();
    let form = |browser: &Browser| {
        let key = field(&browser.get(&link), "key");
        browser.form("/wallet-link", &[("link", secret(&link)), ("key", &key)])
    };
    let answers = at_once(browsers.iter().map(form).collect());
    let mut statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [303, 422, 422, 422, 422, 422]);
    for (browser, answer) in browsers.iter().zip(&answers) {
        browser.keep(answer);
        assert_eq!(browser.is_logged_in(), answer.status == 303, "{answer}");
    }
}

fn an_app_whose_refresh_token_was_reused_gets_its_wallet_back(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let (guest, reference) = payer(&server);
    let refresh = |token: &str| server.client().post("/auth/refresh", &json!({"refresh_token": token}));
    let next = Person::signed_in(&server.client(), &refresh(&guest.refresh_token).data(200));
    refresh(&next.refresh_token).data(200);
    let reused = refresh(&guest.refresh_token);
    reused.refused(401, "invalid_refresh_token");
    assert!(reused.message().contains("ask an operator for a wallet link"), "{reused}");
    next.get("/wallet").refused(401, "session_ended");

    let used = operator.get(&format!("/operator/users/{}/wallet-link", guest.id)).data(200);
    assert_eq!(used["last_used_at"], json!(null), "no session is in use");
    let browser = opened(&server, &link(&operator, guest.id, &reference));
    assert!(browser.get("/wallet").text.contains(MONEY));
}

fn an_app_reads_that_a_link_ended_its_session(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let ((guest, reference), (other, _)) = (payer(&server), payer(&server));
    opened(&server, &link(&operator, guest.id, &reference));
    let refused = guest.get("/wallet");
    refused.refused(401, "session_ended");
    assert!(refused.message().contains("moved this guest account to another browser"), "{refused}");
    let refused = server.client().post("/auth/refresh", &json!({"refresh_token": guest.refresh_token}));
    refused.refused(401, "invalid_refresh_token");
    assert!(refused.message().contains("moved this guest account to another browser"), "{refused}");
    // This reason is not given for other ends of a session.
    other.post("/auth/logout-everywhere", &json!({})).data(200);
    let refused = other.get("/wallet");
    refused.refused(401, "session_ended");
    assert_eq!(refused.message(), "The session has ended. Please log in again.");
}

fn a_form_that_is_sent_again_begins_the_same_session(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let (guest, reference) = payer(&server);
    let link = link(&operator, guest.id, &reference);
    let browser = Browser::new(&server.client());
    let fields = [("link", secret(&link).to_owned()), ("key", field(&browser.get(&link), "key"))];
    let fields = fields.each_ref().map(|(name, value)| (*name, value.as_str()));
    let first = browser.form("/wallet-link", &fields).send();
    // The answer was lost: the browser has no cookie yet.
    leads_to(&browser.post("/wallet-link", &fields));
    assert_eq!(browser.cookie(SESSION), Some(set_cookies(&first)[0].1.clone()));
    assert!(browser.get("/wallet").text.contains(MONEY));
    opens_nothing(&server, &link, USED);
    assert!(browser.is_logged_in());
}

fn a_link_opens_nothing_after_its_use_its_hour_a_claim_or_an_erasure(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let database = server.database().unwrap();
    let (guest, reference) = payer(&server);
    let replaced = link(&operator, guest.id, &reference);
    let used = link(&operator, guest.id, &reference);
    opens_nothing(&server, &replaced, USED);
    let browser = opened(&server, &used);
    opens_nothing(&server, &used, USED);

    let expired = link(&operator, guest.id, &reference);
    let hour = database.sql("interval '1 hour'", "3600000000");
    database.execute(&format!(
        "UPDATE challenges SET issued_at = issued_at - {hour} WHERE purpose = 'wallet_link' AND ended_at IS NULL"
    ));
    opens_nothing(&server, &expired, ["The link was valid for an hour", "Der Link galt eine Stunde"]);

    let claimed = link(&operator, guest.id, &reference);
    let fields = [("name", "Mia"), ("email", "mia@example.com"), ("password", PASSWORD)];
    leads_to(&browser.post("/claim", &fields));
    let words = ["has an e-mail address and a password by now", "hat inzwischen eine E-Mail-Adresse"];
    opens_nothing(&server, &claimed, words);
    issue(&operator, guest.id, &reference).refused(409, "conflict");

    let (guest, reference) = payer(&server);
    let erased = link(&operator, guest.id, &reference);
    let body = json!({"user_id": guest.id, "amount": -40, "reason": "Paid out"});
    operator.post("/operator/adjustments", &body).data(201);
    guest.delete("/user").data(200);
    let unknown = ["The link is not complete", "Der Link ist nicht vollständig"];
    opens_nothing(&server, &erased, unknown);
    issue(&operator, guest.id, &reference).refused(404, "not_found");
    for text in ["", "short", &"a".repeat(22), &"a".repeat(8_000)] {
        opens_nothing(&server, &format!("/wallet-link?link={text}"), unknown);
    }
}

fn a_suspended_account_keeps_its_link(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let (guest, reference) = payer(&server);
    let link = link(&operator, guest.id, &reference);
    let decide = |what: &str| {
        let reason = json!({"reason": "as agreed"});
        operator.post(&format!("/operator/users/{}/{what}", guest.id), &reason).data(200);
    };
    decide("suspend");
    opens_nothing(&server, &link, ["This account is suspended", "Dieses Konto ist gesperrt"]);
    decide("restore");
    assert!(opened(&server, &link).get("/wallet").text.contains(MONEY));
}

fn a_guest_who_uses_a_link_keeps_the_own_wallet(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let (guest, reference) = payer(&server);
    let browser = Evening::new(&server).guest(&server);
    let own = browser.cookie(SESSION).unwrap();
    let link = link(&operator, guest.id, &reference);
    let page = browser.get(&link);
    assert!(page.text.contains("stays in it as an earlier wallet"), "{page}");
    leads_to(&press(&browser, &link));
    assert_eq!(browser.cookie(GUEST), Some(own.clone()));
    assert!(browser.get("/wallet").text.contains(MONEY));
    let before = Browser::new(&server.client());
    before.set_cookie(SESSION, &own);
    assert!(before.is_logged_in(), "the session of the own wallet has not ended");
}

fn a_link_for_the_own_wallet_opens_beside_four_others(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let ((guest, reference), evening) = (payer(&server), free(&server));
    let others: Vec<String> = (0..4).map(|_| secret_of(&wallet(&evening, &server))).collect();
    let own = opened(&server, &link(&operator, guest.id, &reference)).cookie(SESSION);
    let browser = with_cookies(&server, own.as_deref(), &others);
    leads_to(&press(&browser, &link(&operator, guest.id, &reference)));
    assert!(browser.get("/wallet").text.contains(MONEY));
    assert_ne!(browser.cookie(SESSION), own);
    assert_eq!(browser.cookie(GUEST), Some(others.join(".")));
}

fn a_member_who_uses_a_link_keeps_the_wallet_beside_the_next_login(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let ((guest, reference), member) = (payer(&server), server.payer("7"));
    let browser = Browser::logged_in(&server.client(), &member);
    let link = link(&operator, guest.id, &reference);
    let page = browser.get(&link);
    assert!(page.text.contains("Opening the wallet logs you out in this browser"), "{page}");
    leads_to(&press(&browser, &link));
    let wallet = browser.cookie(SESSION).unwrap();
    assert!(browser.get("/wallet").text.contains(MONEY));
    leads_to(&browser.log_in(&member.email, PASSWORD));
    assert_eq!(browser.cookie(GUEST), Some(wallet));
    let page = browser.get("/wallet");
    assert!(page.text.contains(&format!("{MONEY} more are in an earlier wallet")), "{page}");
}

/// Attack API5: an auditor, a guest, and an operator without a payment of the account.
fn only_operators_issue_links_and_only_for_a_payment_of_the_account(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let ((guest, reference), (_, foreign)) = (payer(&server), payer(&server));
    let (auditor, member) = (server.guest(), server.payer("5"));
    operator.give_role(&auditor, "auditor");
    let auditor = auditor.at(&server.client());
    for caller in [&guest, &member, &auditor] {
        issue(caller, guest.id, &reference).refused(403, "insufficient_scope");
    }
    auditor.get(&format!("/operator/users/{}/wallet-link", guest.id)).data(200);
    let sentence = json!(["The account has no confirmed top-up with this reference."]);
    for wrong in [foreign.as_str(), "019aa6e0-5c1f-7d3a-9b1e-3f2a6c8d4e10"] {
        assert_eq!(
            issue(&operator, guest.id, wrong).invalid(&["reference"])["reference"],
            sentence,
            "{wrong}"
        );
    }
    let own = member.topup_reference(member.topup("1"));
    issue(&operator, member.id, &own).refused(409, "conflict");
    issue(&operator, 4_711, &reference).refused(404, "not_found");
    let path = format!("/operator/users/{}/wallet-link", guest.id);
    operator.post(&path, &json!({})).invalid(&["reason", "reference"]);

    let topup = guest.topup("1");
    let charged_back = guest.topup_reference(topup);
    let reason = json!({"reason": "bank"});
    operator.post(&format!("/operator/topups/{topup}/chargeback"), &reason).data(200);
    assert_eq!(issue(&operator, guest.id, &charged_back).invalid(&["reference"])["reference"], sentence);

    for _ in 0..5 {
        link(&operator, guest.id, &reference);
    }
    issue(&operator, guest.id, &reference).refused(429, "rate_limited");
}

/// Attack API2: secrets of links in logs, proxies and backups.
fn links_and_their_uses_are_in_the_security_log_and_their_secrets_nowhere(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let (guest, reference) = payer(&server);
    let link = link(&operator, guest.id, &reference);
    let browser = opened(&server, &link);
    let log = operator.get(&format!("/operator/security-log?user_id={}", guest.id)).data(200);
    let events: Vec<(&str, Option<&str>, &Value)> = log["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| (event["kind"].as_str().unwrap(), event["detail"].as_str(), &event["actor_id"]))
        .collect();
    let detail = format!("wallet_link: user {}, top-up {reference}: Lost phone", guest.id);
    let (nobody, by) = (json!(null), json!(operator.id));
    assert_eq!(
        events[..2],
        [("wallet_link_used", None, &nobody), ("operator_action", Some(detail.as_str()), &by)],
        "{events:?}"
    );
    let log = server.log();
    assert!(log.contains("/wallet-link"), "{log}");
    for kept in [secret(&link), &browser.cookie(SESSION).unwrap()] {
        assert!(!log.contains(kept), "{log}");
        assert_eq!(server.database().unwrap().tables_with(kept), Vec::<String>::new());
    }
}

fn a_service_without_pages_issues_no_link(store: Store) {
    let (server, operator) = Server::with_operator(store, &[("pages.enabled", "false")]);
    let (guest, reference) = payer(&server);
    issue(&operator, guest.id, &reference).refused(501, "not_configured");
}
