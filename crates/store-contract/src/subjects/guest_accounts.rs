//! Guest accounts: their creation, their claim, and the deletion of unused ones.

use std::sync::Arc;

use cuepoint_domain::authorization::UserStatus;
use cuepoint_domain::ids::UserId;
use cuepoint_domain::operation::{Rejection, plans};
use cuepoint_domain::page::PageRequest;
use cuepoint_domain::ports::{
    Erased, ExchangeOutcome, GuestClaim, PasswordHash, Registered, Store, UnusedGuests,
};
use cuepoint_domain::privacy::ErasureRefusal;
use cuepoint_domain::security_log::{SecurityEvent, SecurityEventKind};
use cuepoint_domain::text::Email;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::topup::{Charge, GuestTopupLimit, GuestTopupLimits};
use cuepoint_domain::user::guest_account::{ClaimDetails, Claimed};
use cuepoint_domain::user::session::{Candidates, ClientInfo, Session};
use cuepoint_domain::user::{ArtistType, Field, ProfileChange, Role, User};
use futures_util::future::join_all;
use time::Duration;

use crate::harness::confirmed_erasure::erase_at;
use crate::harness::scenario::{Scenario, amount, at, line};
use crate::subjects::sessions::{alive, hash, log_in, refresh};

promises! { ($) guest_accounts as guest_accounts_promises {
    a_guest_account_begins_with_its_session_and_has_no_login,
    a_claim_makes_a_member_and_renews_the_session,
    a_claim_is_refused_for_a_taken_address_a_member_and_an_ended_session,
    one_of_many_simultaneous_claims_succeeds,
    unused_guest_accounts_are_deleted,
    guest_accounts_that_something_names_are_kept,
    a_first_topup_and_the_deletion_exclude_each_other,
    commands_decided_before_a_deletion_are_refused,
    topups_of_guest_accounts_stay_within_their_limits,
    a_claim_or_a_new_password_makes_a_confirmed_erasure_outdated,
}}

/// The time from which an account counts as used in these tests.
fn day() -> Timestamp {
    at(0).plus(Duration::DAY)
}

/// A guest account that was created at this time, whose session has the token `hash(token)`.
pub(crate) async fn guest(scenario: &Scenario, token: u8, now: Timestamp) -> (User, Session) {
    let (id, session) =
        (scenario.ids.next_user().await.unwrap(), scenario.store.next_session().await.unwrap());
    let user = User::guest(id, Some(line("Mia")), now);
    let client = ClientInfo { address: Some("192.0.2.7".parse().unwrap()), agent: None };
    let session = Session::begin(session, id, client, now, Duration::days(30));
    let first = Some((&session, refresh(token)));
    let registered = scenario.store.register(&user, &PasswordHash::none(), first).await.unwrap();
    assert_eq!(registered, Registered::Done);
    (user, session)
}

/// A claim of the account with this address, whose session gets the token `hash(token)`.
pub(crate) fn claim(user: &User, session: &Session, email: &str, token: u8, now: Timestamp) -> GuestClaim {
    GuestClaim {
        user: user.id,
        session: session.id,
        details: ClaimDetails { email: Email::new(email).unwrap(), name: None, phone: None },
        password: PasswordHash("new".to_owned()),
        secret: refresh(token),
        expires_at: now.plus(Duration::days(30)),
        at: now,
    }
}

async fn is_there(scenario: &Scenario, user: UserId) -> bool {
    scenario.store.profile(user).await.unwrap().is_some()
}

/// Deletes the account if it was not used since the day after the beginning.
pub(crate) async fn delete(scenario: &Scenario, user: UserId) -> bool {
    scenario.store.delete_guest(user, day()).await.unwrap()
}

/// A guest account is stored as it is created; its address belongs to no login.
pub async fn a_guest_account_begins_with_its_session_and_has_no_login(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (user, session) = guest(&scenario, 1, at(0)).await;
    let profile = scenario.store.profile(user.id).await.unwrap().unwrap();
    assert_eq!(profile.user, user);
    assert_eq!(scenario.store.owner(refresh(1)).await.unwrap(), Some((user.id, session.id)));
    let credentials = scenario.store.credentials_of(user.id).await.unwrap();
    assert_eq!(credentials.unwrap().password, PasswordHash::none());
}

/// The member has the address, the password and the session with another token; its other sessions end.
pub async fn a_claim_makes_a_member_and_renews_the_session(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (user, session) = guest(&scenario, 1, at(0)).await;
    let other = log_in(&scenario.store, user.id, 9, at(1)).await;
    let claim = claim(&user, &session, "Mia@example.com", 2, at(5));
    let Claimed::Done(member) = scenario.store.claim(&claim).await.unwrap() else { panic!("not claimed") };
    assert_eq!((member.role, member.email.as_str()), (Role::Member, "Mia@example.com"));
    assert_eq!(scenario.store.profile(user.id).await.unwrap().unwrap().user, *member);
    let credentials = scenario.store.credentials("mia@example.com").await.unwrap().unwrap();
    assert_eq!((credentials.user, credentials.password), (user.id, PasswordHash("new".to_owned())));
    assert_eq!(
        scenario.store.owner(refresh(1)).await.unwrap(),
        None,
        "the old token is no secret of a thief"
    );
    assert_eq!(scenario.store.owner(refresh(2)).await.unwrap(), Some((user.id, session.id)));
    let kept = scenario.store.sessions(user.id, at(6), PageRequest::new(1, 10)).await;
    let kept: Vec<_> = kept.unwrap().rows.into_iter().map(|kept| (kept.id, kept.used_at)).collect();
    assert_eq!(kept, [(session.id, at(5))]);
    let next = Candidates { current: hash(3), others: Vec::new() };
    let exchanged = scenario.store.exchange(&hash(2), &next, None, at(9_999_999), at(7)).await.unwrap();
    assert_eq!(exchanged, ExchangeOutcome::Done(user.id, session.id));
    let revoked = scenario.store.revoked_since(at(4)).await.unwrap();
    let status = UserStatus { role: Role::Member, is_dj: false, suspended: false };
    assert_eq!(revoked.statuses.get(&user.id), Some(&status));
    assert_eq!(revoked.sessions, [other.id].into());
}

/// An erasure needs the password that the account has when it is erased, not the one that it had when the erasure was
/// confirmed.
///
/// Attack API2: an erasure without a password, while another server makes the account a member.
pub async fn a_claim_or_a_new_password_makes_a_confirmed_erasure_outdated(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let store = &scenario.store;
    let outdated = Erased::Refused(ErasureRefusal::ConfirmationOutdated);
    let (user, session) = guest(&scenario, 1, at(0)).await;
    let claimed = store.claim(&claim(&user, &session, "mia@example.com", 2, at(1))).await.unwrap();
    let Claimed::Done(member) = claimed else { panic!("{claimed:?}") };
    assert_eq!(store.erase(user.id, &PasswordHash::none(), at(2), at(2)).await.unwrap(), outdated);
    let (before, after) = (PasswordHash("new".to_owned()), PasswordHash("newer".to_owned()));
    assert!(store.change_password(user.id, &before, &after, Some(session.id), at(3)).await.unwrap());
    assert_eq!(store.erase(user.id, &before, at(4), at(4)).await.unwrap(), outdated);
    assert_eq!(store.profile(user.id).await.unwrap().unwrap().user, *member);
    assert_eq!(alive(store, user.id, at(4)).await, [session.id]);
    assert_eq!(store.erase(user.id, &after, at(5), at(5)).await.unwrap(), Erased::Done);
    let (unclaimed, _) = guest(&scenario, 3, at(5)).await;
    assert_eq!(store.erase(unclaimed.id, &PasswordHash::none(), at(6), at(6)).await.unwrap(), Erased::Done);
}

/// Nothing changes when a claim is refused.
pub async fn a_claim_is_refused_for_a_taken_address_a_member_and_an_ended_session(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let member = scenario.stranger(false, at(0)).await;
    scenario.register(&member).await;
    let (user, session) = guest(&scenario, 1, at(0)).await;
    let taken = claim(&user, &session, &member.email.as_str().to_uppercase(), 2, at(5));
    assert_eq!(scenario.store.claim(&taken).await.unwrap(), Claimed::EmailTaken);
    let of_member = GuestClaim { user: member.id, ..claim(&user, &session, "other@example.com", 2, at(5)) };
    assert_eq!(scenario.store.claim(&of_member).await.unwrap(), Claimed::NotAGuest);
    assert_eq!(scenario.store.profile(user.id).await.unwrap().unwrap().user, user);
    assert_eq!(scenario.store.owner(refresh(1)).await.unwrap(), Some((user.id, session.id)));
    assert!(scenario.store.end_session(user.id, session.id, at(6)).await.unwrap());
    let late = claim(&user, &session, "mia@example.com", 2, at(7));
    assert_eq!(scenario.store.claim(&late).await.unwrap(), Claimed::NotAGuest);
    assert!(alive(&scenario.store, user.id, at(8)).await.is_empty());
}

/// Claims of one account, and claims of one address, succeed once.
pub async fn one_of_many_simultaneous_claims_succeeds(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (user, session) = guest(&scenario, 1, at(0)).await;
    let claims = (10..20).map(|number| {
        let claim = claim(&user, &session, &format!("mia{number}@example.com"), number, at(5));
        let store = scenario.store.clone();
        async move { store.claim(&claim).await.unwrap() }
    });
    let done = join_all(claims).await.into_iter().filter(|claimed| matches!(claimed, Claimed::Done(_)));
    assert_eq!(done.count(), 1);
    let mut claims = Vec::new();
    for number in 30..40 {
        let (user, session) = guest(&scenario, number, at(0)).await;
        let (claim, store) =
            (claim(&user, &session, "one@example.com", number + 100, at(5)), scenario.store.clone());
        claims.push(async move { store.claim(&claim).await.unwrap() });
    }
    let claimed = join_all(claims).await;
    let done = claimed.iter().filter(|claimed| matches!(claimed, Claimed::Done(_)));
    assert_eq!(done.count(), 1);
    assert!(claimed.iter().all(|claimed| *claimed != Claimed::NotAGuest), "{claimed:?}");
}

/// An account is found and deleted with everything that belongs to it, unless it was used recently.
pub async fn unused_guest_accounts_are_deleted(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (old, _) = guest(&scenario, 1, at(0)).await;
    let (refreshed, _) = guest(&scenario, 2, at(0)).await;
    let (new, _) = guest(&scenario, 3, day()).await;
    let member = scenario.stranger(false, at(0)).await;
    scenario.register(&member).await;
    let next = Candidates { current: hash(4), others: Vec::new() };
    let end = day().plus(Duration::days(30));
    scenario.store.exchange(&hash(2), &next, None, end, day()).await.unwrap();
    let unused = |after| scenario.store.unused_guests(day(), after, 2);
    let first = UnusedGuests { unused: vec![old.id], last: Some(refreshed.id) };
    assert_eq!(unused(None).await.unwrap(), first);
    let second = UnusedGuests { unused: Vec::new(), last: Some(new.id) };
    assert_eq!(unused(first.last).await.unwrap(), second);
    assert_eq!(unused(second.last).await.unwrap(), UnusedGuests::default());
    for kept in [refreshed.id, new.id, member.id] {
        assert!(!delete(&scenario, kept).await && is_there(&scenario, kept).await, "{kept}");
    }
    assert!(delete(&scenario, old.id).await);
    assert!(!is_there(&scenario, old.id).await);
    assert_eq!(scenario.store.owner(refresh(1)).await.unwrap(), None);
    assert!(!delete(&scenario, old.id).await, "it is gone");
    // Its address and its token are free.
    let first = Session::begin(
        scenario.store.next_session().await.unwrap(),
        old.id,
        ClientInfo::default(),
        day(),
        Duration::DAY,
    );
    let again =
        scenario.store.register(&old, &PasswordHash::none(), Some((&first, refresh(1)))).await.unwrap();
    assert_eq!(again, Registered::Done);
}

/// Operations, blocks, events of the security log and erasures keep an account.
pub async fn guest_accounts_that_something_names_are_kept(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let dj = scenario.dj(0).await;
    let (asking, _) = guest(&scenario, 1, at(0)).await;
    scenario.request(asking.id, dj, at(1)).await;
    let (blocked, _) = guest(&scenario, 2, at(0)).await;
    scenario.store.block(dj, blocked.id, at(1)).await.unwrap();
    let (logged, _) = guest(&scenario, 3, at(0)).await;
    let event =
        SecurityEvent::about(SecurityEventKind::DataExported, Some(logged.id), ClientInfo::default(), at(1));
    scenario.store.append(&event).await.unwrap();
    let (erased, _) = guest(&scenario, 4, at(0)).await;
    assert_eq!(erase_at(&*scenario.store, erased.id, at(1), at(1)).await, Erased::Done);
    let unused = scenario.store.unused_guests(day(), None, 10).await.unwrap();
    assert_eq!(unused, UnusedGuests { unused: Vec::new(), last: Some(logged.id) });
    for kept in [asking.id, blocked.id, logged.id, erased.id] {
        assert!(!delete(&scenario, kept).await && is_there(&scenario, kept).await, "{kept}");
    }
    // A refused deletion changed nothing.
    assert_eq!(alive(&scenario.store, blocked.id, at(2)).await.len(), 1);
    assert_eq!(scenario.store.owner(refresh(2)).await.unwrap().unwrap().0, blocked.id);
}

/// Either the money is there, and the account too, or the top-up was refused.
pub async fn a_first_topup_and_the_deletion_exclude_each_other(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    for round in 0..40_u8 {
        let (user, _) = guest(&scenario, 100 + round, at(0)).await;
        let id = scenario.ids.next_topup().await.unwrap();
        let plan = plans::open_topup(scenario.by(user.id, day()), id, user.id, amount(5), Charge::Confirmed);
        let (applied, deleted) = tokio::join!(scenario.apply(plan), delete(&scenario, user.id));
        let profile = scenario.store.profile(user.id).await.unwrap();
        match applied {
            Ok(_) => {
                assert!(!deleted);
                assert_eq!(profile.unwrap().balance.available, amount(5).money());
            }
            Err(refused) => assert!(deleted && profile.is_none(), "{refused:?}"),
        }
    }
    scenario.audit().await;
}

/// A command without money is refused as well: a free request, and a change of the name.
pub async fn commands_decided_before_a_deletion_are_refused(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let dj = scenario.dj(0).await;
    let (user, _) = guest(&scenario, 1, at(0)).await;
    let by = || scenario.by(user.id, day());
    let request = scenario.request_plan(by(), user.id, dj, ArtistType::Popular, None).await.unwrap();
    let id = scenario.ids.next_topup().await.unwrap();
    let topup = plans::open_topup(by(), id, user.id, amount(5), Charge::Pending);
    let name = ProfileChange { name: Field::Set(line("Max")), ..ProfileChange::default() };
    let renaming = plans::change_profile(by(), user.id, name);
    assert!(delete(&scenario, user.id).await);
    for plan in [request, topup, renaming] {
        let kind = plan.kind();
        let answer = scenario.apply(plan).await;
        assert!(matches!(answer, Err(Rejection::Missing(_))), "{kind:?}: {answer:?}");
    }
    scenario.audit().await;
}

/// Of simultaneous top-ups, only those within the limits are opened.
pub async fn topups_of_guest_accounts_stay_within_their_limits(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let limits = GuestTopupLimits { most_in_wallet: Some(amount(1_000)), most_per_24h: Some(amount(350)) };
    let (user, _) = guest(&scenario, 1, at(0)).await;
    let mut plans = Vec::new();
    for _ in 0..10 {
        let (id, metadata) = (scenario.ids.next_topup().await.unwrap(), scenario.by(user.id, at(5)));
        plans.push(plans::open_guest_topup(metadata, id, user.id, amount(100), Charge::Pending, limits));
    }
    let applied = join_all(plans.into_iter().map(|plan| scenario.apply(plan))).await;
    let opened = applied.iter().filter(|applied| applied.is_ok()).count();
    assert_eq!(opened, 3);
    let expected = Rejection::GuestTopupLimit(GuestTopupLimit::Per24h(amount(350)));
    assert!(applied.into_iter().filter_map(Result::err).all(|refused| refused == expected));
    // A day later, they still count while they are pending.
    let (id, metadata) =
        (scenario.ids.next_topup().await.unwrap(), scenario.by(user.id, at(6).plus(Duration::DAY)));
    let pending = plans::open_guest_topup(metadata, id, user.id, amount(100), Charge::Pending, limits);
    assert_eq!(scenario.apply(pending).await.unwrap_err(), expected);
    scenario.fail_topups(user.id, at(7)).await;
    let (id, metadata) =
        (scenario.ids.next_topup().await.unwrap(), scenario.by(user.id, at(6).plus(Duration::DAY)));
    scenario
        .fresh(plans::open_guest_topup(metadata, id, user.id, amount(100), Charge::Pending, limits))
        .await;
}
