//! Wallet links, on doubles of the ports.

use super::logins::{Setup, hash, session, sign_ins};
use super::*;
use crate::application::users::{BrowserSession, WalletLinks};
use crate::page::Rows;
use crate::provider_reference::ProviderReference;
use crate::user::challenge::{Challenge, Purpose};
use crate::user::session::Session;
use crate::user::wallet_link::LinkEnd;

const SECRET: &str = "bntE_GS4RCx0KV37F1UrUO";

/// The profile of user 7: a guest account with 40.00.
fn guest() -> Profile {
    let balance = crate::ledger::Balance { available: Money::from_minor(4_000), ..Default::default() };
    Profile { user: User::guest(user(7), None, now()), balance }
}

fn people(profile: Profile) -> MockPeople {
    let mut people = MockPeople::new();
    people.expect_profile().returning(move |_| Ok(Some(profile.clone())));
    people
}

/// Logins with an open link of the guest account. The use of the link has this result.
fn logins(used: Result<(), LinkEnd>) -> MockLogins {
    let mut logins = MockLogins::new();
    let link = Challenge::issue(&guest().user, Purpose::WalletLink, hash(SECRET), now()).unwrap();
    logins
        .expect_challenge()
        .with(eq(Purpose::WalletLink), eq(hash(SECRET)))
        .returning(move |_, _| Ok(Some(link.clone())));
    logins
        .expect_use_wallet_link()
        .withf(|link, begun, cookie| {
            (*link, begun.id, begun.user, *cookie) == (hash(SECRET), session(), user(7), hash("next"))
                && begun.expires_at == now().plus(Session::GUEST_LIFETIME)
        })
        .times(0..=1)
        .returning(move |_, _, _| Ok(used.map(|()| guest().user)));
    logins
}

fn open(setup: Setup) -> Result<BrowserSession, CommandError<LinkEnd>> {
    let links = WalletLinks { sign_ins: sign_ins(setup) };
    run(links.open(&client(), SECRET, "key of the form"))
}

#[test]
fn an_operator_who_was_demoted_at_another_server_issues_no_link() {
    let mut logins = MockLogins::new();
    logins.expect_issue().never();
    let demoted = Profile { user: User { role: Role::Member, ..dj(false).user }, ..dj(false) };
    let links =
        WalletLinks { sign_ins: sign_ins(Setup { people: people(demoted), logins, ..Setup::default() }) };
    let compared = (ProviderReference::Row(1), Line::new("lost").unwrap());
    let refused = run(links.issue(&context(3), user(7), compared));
    assert!(matches!(refused, Err(CommandError::Failed(Failure::WrongRole))), "{refused:?}");
}

#[test]
fn a_used_link_is_recorded_and_its_session_known_at_once() {
    let noted = vec![SecurityEventKind::WalletLinkUsed];
    let setup =
        Setup { people: people(guest()), logins: logins(Ok(())), noted, refreshed: 1, ..Setup::default() };
    let begun = open(setup).unwrap();
    assert_eq!((begun.session, begun.cookie, begun.profile), (session(), Token("next".to_owned()), guest()));
}

#[test]
fn a_link_that_opens_nothing_is_not_recorded() {
    for end in [LinkEnd::Expired, LinkEnd::Claimed, LinkEnd::Suspended] {
        let setup = Setup { people: people(guest()), logins: logins(Err(end)), ..Setup::default() };
        let refused = open(setup);
        assert!(matches!(refused, Err(CommandError::Refused(found)) if found == end), "{refused:?}");
    }
}

/// The cookie is derived from the link and the form, so that only a repetition of the form finds the session.
#[test]
fn the_form_that_used_a_link_gets_its_session_again_while_the_cookie_is_unused() {
    for (is_found, used_later, expected) in
        [(true, Duration::ZERO, true), (true, Duration::HOUR, false), (false, Duration::ZERO, false)]
    {
        let mut sessions = MockSessions::new();
        sessions.expect_owner().returning(move |_| Ok(is_found.then(|| (user(7), session()))));
        sessions.expect_sessions().returning(move |_, _, _| {
            let begun =
                Session::begin(session(), user(7), ClientInfo::default(), now(), Session::GUEST_LIFETIME);
            let used_at = now().plus(used_later);
            Ok(Rows { rows: vec![Session { used_at, ..begun }], total: 1 })
        });
        let (people, logins) = (people(guest()), logins(Err(LinkEnd::Used)));
        let repeated = open(Setup { people, logins, sessions, ..Setup::default() });
        match repeated {
            Ok(begun) => assert!(expected && begun.cookie == Token("next".to_owned()), "{begun:?}"),
            Err(CommandError::Refused(LinkEnd::Used)) => assert!(!expected, "{is_found} {used_later}"),
            Err(other) => panic!("{other:?}"),
        }
    }
}
