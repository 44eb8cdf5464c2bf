//! Cookies that no browser of this service sends: many of all its names, long ones, and secrets of others in the guest
//! cookie of a browser in which a session begins.

use crate::guests::guest_wallet_keys::{free, has_40, secret_of, wallet, with_cookies};
use crate::harness::{
    Answer, Browser, DRAFT, GUEST, PASSWORD, SESSION, Server, Store, leads_to, set_cookies,
};

on_one_store!(
    twenty_cookies_of_our_names_and_cookies_of_8_kb_are_answered_at_every_form,
    twenty_cookies_beside_a_session_do_not_end_it,
    a_members_secret_in_the_guest_cookie_gives_way_to_wallets,
    a_login_beside_five_secrets_in_the_guest_cookie_deletes_none,
);

/// The names of all cookies of pages.
const NAMES: [&str; 5] = [SESSION, GUEST, DRAFT, "cuepoint-password", "cuepoint-browser"];

/// Headers with twenty cookies of the service's names, or with long ones.
fn strange() -> Vec<String> {
    let four_of = |name: &str| (0..4).map(|number| format!("{name}={number:043}")).collect::<Vec<_>>();
    let twenty: Vec<String> = NAMES.into_iter().flat_map(four_of).collect();
    assert_eq!(twenty.len(), 20);
    let long = |letter: &str| NAMES.map(|name| format!("{name}={}", letter.repeat(8_000)));
    let of_proofs = format!("cuepoint-browser={}", vec!["1.2.x"; 1_600].join("~"));
    let of_a_long_proof = format!("cuepoint-browser=1.2.{}", "x".repeat(8_000));
    [
        vec![twenty.join("; "), of_proofs, of_a_long_proof],
        long("a").to_vec(),
        long("ab.").to_vec(),
        long("%").to_vec(),
    ]
    .concat()
}

/// Checks that an answer is no failure of the service, and that a browser keeps its cookies.
#[track_caller]
fn is_answered(answer: &Answer) {
    assert!(answer.status < 500, "{answer}");
    for (name, value, attributes) in set_cookies(answer) {
        assert!(name.len() + value.len() + attributes.len() < 4_000, "{name}={value}; {attributes}");
    }
}

/// Attack API4: twenty cookies and cookies of 8 kB, at the forms that read or set a cookie.
fn twenty_cookies_of_our_names_and_cookies_of_8_kb_are_answered_at_every_form(store: Store) {
    let server = Server::start(store);
    let (evening, member) = (free(&server), server.guest());
    let browser = Browser::new(&server.client());
    let key = ("key", "0123456789012345678901");
    let draft = format!("{}/draft", evening.page());
    for (number, cookies) in strange().iter().enumerate() {
        for path in ["/", "/wallet", "/account", "/claim", &evening.page()] {
            is_answered(&browser.call("GET", path).header("cookie", cookies).send());
        }
        let email = format!("ada-{number}@example.com");
        let account = [("name", "Ada"), ("email", email.as_str()), ("password", PASSWORD)];
        let login = [("email", member.email.as_str()), ("password", PASSWORD)];
        for (path, fields, is_accepted) in [
            ("/login", &login[..], true),
            ("/register", &account, true),
            ("/claim", &account, false),
            ("/account/confirm", &login, false),
            (draft.as_str(), &[key], false),
            ("/logout", &[], false),
        ] {
            let answer = browser.form(path, fields).header("cookie", cookies).send();
            is_answered(&answer);
            let begins =
                set_cookies(&answer).iter().any(|(name, value, _)| name == SESSION && value.len() == 43);
            assert_eq!(begins, is_accepted, "{answer}");
        }
    }
    assert!(!server.log().contains("panicked"));
}

fn twenty_cookies_beside_a_session_do_not_end_it(store: Store) {
    let server = Server::start(store);
    let member = Browser::logged_in(&server.client(), &server.payer("40"));
    let own = secret_of(&member);
    let others = NAMES.into_iter().filter(|name| *name != SESSION);
    let others: Vec<String> =
        others.flat_map(|name| (0..5).map(move |number| format!("{name}={number:043}"))).collect();
    assert_eq!(others.len(), 20);
    for cookies in [
        format!("{SESSION}={own}; {}", others.join("; ")),
        format!("{}; {SESSION}={own}", others.join("; ")),
        format!("{DRAFT}={}; {SESSION}={own}", "a".repeat(8_000)),
    ] {
        let answer = server.client().outside("GET", "/wallet").header("cookie", &cookies).send();
        assert!(answer.status == 200 && answer.text.contains("40.00\u{a0}USD"), "{answer}");
        assert!(answer.header("set-cookie").is_none(), "{answer}");
    }
}

/// Attack API2: a member's session that was put into the guest cookie, in place of a wallet.
fn a_members_secret_in_the_guest_cookie_gives_way_to_wallets(store: Store) {
    let server = Server::start(store);
    let (evening, member, victim) = (free(&server), server.guest(), server.payer("50"));
    let stolen = secret_of(&Browser::logged_in(&server.client(), &victim));
    let wallets: Vec<String> = (0..4).map(|_| secret_of(&wallet(&evening, &server))).collect();
    let kept = [&[stolen], &wallets[1..]].concat();
    let browser = with_cookies(&server, Some(&wallets[0]), &kept);
    leads_to(&browser.log_in(&member.email, PASSWORD));
    assert_eq!(browser.cookie(GUEST), Some(wallets.join(".")));
    let page = browser.get("/wallet");
    assert_eq!(page.text.matches("40.00\u{a0}USD more are in an earlier wallet").count(), 4, "{page}");
    assert!(!page.text.contains("50.00"), "{page}");
}

fn a_login_beside_five_secrets_in_the_guest_cookie_deletes_none(store: Store) {
    let server = Server::start(store);
    let (evening, member) = (free(&server), server.guest());
    let five: Vec<String> = (0..5).map(|_| secret_of(&wallet(&evening, &server))).collect();
    let browser = with_cookies(&server, None, &five);
    leads_to(&browser.log_in(&member.email, PASSWORD));
    assert_eq!(browser.cookie(GUEST), Some(five.join(".")));
    let page = browser.get("/wallet");
    assert_eq!(page.text.matches("40.00\u{a0}USD more are in an earlier wallet").count(), 4, "{page}");
    leads_to(&browser.post("/logout", &[]));
    assert!(has_40(&browser), "the newest wallet acts again");
}
