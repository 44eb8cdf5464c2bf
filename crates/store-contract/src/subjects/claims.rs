//! A claim of a guest account at once with another command of its guest: both end as in one of the two orders.

use std::future::Future;
use std::sync::Arc;

use cuepoint_domain::authorization::{Action, DenialReason, Ownership};
use cuepoint_domain::gig::{Gig, GigChange};
use cuepoint_domain::ids::{RatingId, UserId};
use cuepoint_domain::ledger::Balance;
use cuepoint_domain::music_request::{Move, MusicRequest, Stars};
use cuepoint_domain::operation::{Entity, Plan, plans};
use cuepoint_domain::page::PageRequest;
use cuepoint_domain::ports::{Applied, Erased, ExchangeOutcome, GuestClaim, PasswordHash, Store};
use cuepoint_domain::topup::{Charge, GuestTopupLimits};
use cuepoint_domain::user::guest_account::Claimed;
use cuepoint_domain::user::session::{Session, SessionSecret};
use cuepoint_domain::user::{ArtistType, Field, ProfileChange, Role, User, UserStatusChange};
use time::Duration;
use tokio::sync::Barrier;

use crate::harness::scenario::{Refused, Scenario, amount, at, balance, line, request_of};
use crate::subjects::gigs::opened;
use crate::subjects::guest_accounts::{claim, delete, guest};
use crate::subjects::ledger::entries;
use crate::subjects::sessions::{alive, end, hash, refresh, successor};

promises! { ($) claims as claims_promises {
    a_claim_and_a_concurrent_command_of_the_guest_are_both_applied,
    a_withdrawal_concurrent_with_a_claim_succeeds_only_after_the_claim,
    a_claim_ends_a_refresh_token_that_was_exchanged_concurrently,
    a_claim_concurrent_with_the_end_of_the_account_comes_first_or_is_refused,
}}

/// The number of races of each kind.
const ROUNDS: u8 = 12;

/// Runs two futures concurrently, each as a task that starts when the other is ready too.
async fn both<A, B>(
    one: impl Future<Output = A> + Send + 'static,
    other: impl Future<Output = B> + Send + 'static,
) -> (A, B)
where
    A: Send + 'static,
    B: Send + 'static,
{
    let start = Arc::new(Barrier::new(2));
    let started = Arc::clone(&start);
    let one = tokio::spawn(async move {
        start.wait().await;
        one.await
    });
    let other = tokio::spawn(async move {
        started.wait().await;
        other.await
    });
    (one.await.unwrap(), other.await.unwrap())
}

/// A guest account, and the claim of it.
struct Claimant {
    user: User,
    session: Session,
    claim: GuestClaim,
}

/// A guest account without money. The first token of its session is `hash(number)`, and the token of its claim is
/// `hash(number + 100)`.
async fn claimant(scenario: &Scenario, number: u8) -> Claimant {
    let (user, session) = guest(scenario, number, at(0)).await;
    let claim = claim(&user, &session, &format!("mia{number}@example.com"), number + 100, at(9));
    Claimant { user, session, claim }
}

impl Claimant {
    /// The claim as a future.
    fn claims(&self, scenario: &Scenario) -> impl Future<Output = Claimed> + Send + 'static {
        let (claim, scenario) = (self.claim.clone(), scenario.clone());
        async move { scenario.store.claim(&claim).await.unwrap() }
    }

    /// Checks that the account is a member with the claimed address, and that its session has the new token alone.
    async fn is_member(&self, scenario: &Scenario) {
        let id = self.user.id;
        let stored = scenario.user(id).await;
        assert_eq!((stored.role, &stored.email), (Role::Member, &self.claim.details.email));
        let owner = |secret| {
            let store = Arc::clone(&scenario.store);
            async move { store.owner(secret).await.unwrap() }
        };
        assert_eq!(owner(self.claim.secret).await, Some((id, self.session.id)));
        let SessionSecret::RefreshToken(token) = self.claim.secret else { panic!("claimed with a cookie") };
        assert_eq!(owner(refresh(token.0[0] - 100)).await, None);
    }
}

/// A command of a guest account that changes money or its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Command {
    TopUp,
    Request,
    Cancel,
    Tip,
    Rate,
    Rename,
}

impl Command {
    const ALL: [Self; 6] = [Self::TopUp, Self::Request, Self::Cancel, Self::Tip, Self::Rate, Self::Rename];

    /// Its plan, decided before the claim: the guest has 10.00, of which 1.00 is held for the pending request, and
    /// 1.00 was paid for the played one.
    async fn plan(self, scenario: &Scenario, guest: UserId, gig: &Gig, requests: [&MusicRequest; 2]) -> Plan {
        let [pending, played] = requests;
        let metadata = scenario.by(guest, at(9));
        match self {
            Self::TopUp => {
                let (id, limits) = (
                    scenario.ids.next_topup().await.unwrap(),
                    GuestTopupLimits { most_in_wallet: Some(amount(2_000)), most_per_24h: None },
                );
                plans::open_guest_topup(metadata, id, guest, amount(50), Charge::Confirmed, limits)
            }
            Self::Request => {
                scenario.request_plan(metadata, guest, gig.dj, ArtistType::Popular, None).await.unwrap()
            }
            Self::Cancel => plans::move_request(metadata, pending, Move::Cancel, &scenario.requests).unwrap(),
            Self::Tip => scenario.tip_plan(metadata, guest, gig, 30).await.unwrap(),
            Self::Rate => {
                let earlier = scenario.stored(RatingId::of(played.id)).await;
                plans::rate_request(metadata, played, earlier, Stars::new(5).unwrap()).unwrap()
            }
            Self::Rename => {
                let name = Field::Set(line("Max"));
                plans::change_profile(metadata, guest, ProfileChange { name, ..ProfileChange::default() })
            }
        }
    }

    /// The balance of the guest afterwards, and the number of entries that the command adds.
    fn effect(self) -> (Balance, usize) {
        match self {
            Self::TopUp => (balance(850, 100), 1),
            Self::Request => (balance(700, 200), 1),
            Self::Cancel => (balance(900, 0), 1),
            Self::Tip => (balance(770, 100), 1),
            Self::Rate | Self::Rename => (balance(800, 100), 0),
        }
    }
}

/// Every command that a guest account may do is applied, and the account is claimed.
pub async fn a_claim_and_a_concurrent_command_of_the_guest_are_both_applied(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let dj = scenario.dj(100).await;
    let gig = opened(&scenario, dj, 1).await;
    let change = GigChange { members_only: Field::Set(false), ..GigChange::default() };
    scenario.fresh(plans::change_gig(scenario.by(dj, at(1)), &gig, &change).unwrap()).await;
    let gig = scenario.stored(gig.id).await.unwrap();
    let mut number = 0;
    for command in Command::ALL.repeat(ROUNDS.into()) {
        number += 1;
        let claimant = claimant(&scenario, number).await;
        let id = claimant.user.id;
        scenario.fund(id, 1_000).await;
        let played = scenario.request(id, dj, at(2)).await;
        let played = scenario.move_request(played.id, Move::Play, at(3)).await.unwrap();
        let (pending, played) = (scenario.request(id, dj, at(4)).await, request_of(played.receipt()));
        let plan = command.plan(&scenario, id, &gig, [&pending, &played]).await;
        let before = entries(&scenario, id).await.len();
        let applying = {
            let scenario = scenario.clone();
            async move { scenario.apply(plan).await }
        };
        let (claimed, applied) = both(claimant.claims(&scenario), applying).await;
        let (Claimed::Done(member), Ok(Applied::Fresh(receipt))) = (claimed, applied) else {
            panic!("{command:?} is not applied, or the account is not claimed")
        };
        claimant.is_member(&scenario).await;
        let is_renamed = command == Command::Rename;
        assert_eq!(scenario.user(id).await.name, line(if is_renamed { "Max" } else { "Mia" }));
        if let Entity::User(user) = receipt.outcome.entity {
            // Whichever came second saw the result of the first.
            let renamed_first = user.role == Role::Guest;
            assert_eq!(member.name, line(if renamed_first { "Max" } else { "Mia" }));
            assert_eq!(user.email, if renamed_first { claimant.user.email.clone() } else { member.email });
        }
        let (expected, added) = command.effect();
        assert_eq!(scenario.balance(id).await, expected, "{command:?}");
        assert_eq!(entries(&scenario, id).await.len(), before + added, "{command:?}");
    }
    scenario.audit().await;
}

/// A withdrawal of a guest account is refused; the claim makes it possible, with the money that the account had.
///
/// Attack API5: withdrawing with a guest account.
pub async fn a_withdrawal_concurrent_with_a_claim_succeeds_only_after_the_claim(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let withdraw = |user| {
        let scenario = scenario.clone();
        // As the service does: authorized for the role of now, then decided and applied.
        async move {
            let principal = scenario.principal(user).await;
            match principal.may(Action::UseWithdrawal, Ownership::Own) {
                Ok(()) => scenario.withdraw(user, 300, at(9)).await,
                Err(denied) => Err(Refused::Denied(denied.reason())),
            }
        }
    };
    for number in 1..=3 * ROUNDS {
        let claimant = claimant(&scenario, number).await;
        let id = claimant.user.id;
        scenario.fund(id, 1_000).await;
        let denied = Err(Refused::Denied(DenialReason::MembersOnly));
        assert_eq!(withdraw(id).await, denied);
        let (claimed, withdrawn) = both(claimant.claims(&scenario), withdraw(id)).await;
        assert!(matches!(claimed, Claimed::Done(_)), "{claimed:?}");
        claimant.is_member(&scenario).await;
        let held = if withdrawn.is_ok() { 300 } else { 0 };
        assert!(withdrawn.is_ok() || withdrawn == denied, "{withdrawn:?}");
        assert_eq!(scenario.balance(id).await, balance(1_000 - held, held));
        let listed = scenario.withdrawals_of(id, PageRequest::new(1, 10)).await.total;
        assert_eq!(listed, u64::from(withdrawn.is_ok()));
        withdraw(id).await.unwrap();
        assert_eq!(scenario.balance(id).await, balance(700 - held, 300 + held));
    }
    scenario.audit().await;
}

/// The successor of the first token is as useless as that token, whichever comes first.
///
/// Attack API2: keeping access to a guest account after its claim.
pub async fn a_claim_ends_a_refresh_token_that_was_exchanged_concurrently(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    for number in 1..=3 * ROUNDS {
        let claimant = claimant(&scenario, number).await;
        let (id, next) = (claimant.user.id, successor(number + 200));
        let exchanging = {
            let (store, next) = (Arc::clone(&scenario.store), next.clone());
            async move { store.exchange(&hash(number), &next, None, end(), at(9)).await.unwrap() }
        };
        let (claimed, exchanged) = both(claimant.claims(&scenario), exchanging).await;
        assert!(matches!(claimed, Claimed::Done(_)), "{claimed:?}");
        let first = ExchangeOutcome::Done(id, claimant.session.id);
        assert!([first, ExchangeOutcome::Refused].contains(&exchanged), "{exchanged:?}");
        claimant.is_member(&scenario).await;
        assert_eq!(scenario.store.owner(SessionSecret::RefreshToken(next.current)).await.unwrap(), None);
        assert_eq!(alive(&scenario.store, id, at(10)).await, [claimant.session.id]);
    }
}

/// The end of a guest account, or of its session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ending {
    Logout,
    Suspension,
    Erasure,
    Deletion,
}

impl Ending {
    /// Ends the account, and returns whether that was possible.
    async fn end(self, scenario: &Scenario, operator: UserId, claimant: (UserId, Session)) -> bool {
        let (user, session) = claimant;
        match self {
            Self::Logout => scenario.store.end_session(user, session.id, at(9)).await.unwrap(),
            Self::Suspension => {
                scenario.change_status(operator, user, UserStatusChange::Suspend, at(9)).await;
                true
            }
            Self::Erasure => {
                let confirmed = PasswordHash::none();
                scenario.store.erase(user, &confirmed, at(9), at(9)).await.unwrap() == Erased::Done
            }
            Self::Deletion => delete(scenario, user).await,
        }
    }
}

/// Afterwards the account is a member or a guest account, but never a part of each. No member is deleted as a guest
/// account.
pub async fn a_claim_concurrent_with_the_end_of_the_account_comes_first_or_is_refused(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let operator = scenario.operator().await;
    let mut number = 0;
    for ending in
        [Ending::Logout, Ending::Suspension, Ending::Erasure, Ending::Deletion].repeat(ROUNDS.into())
    {
        number += 1;
        let claimant = claimant(&scenario, number).await;
        let id = claimant.user.id;
        let ends = {
            let (scenario, session) = (scenario.clone(), claimant.session.clone());
            async move { ending.end(&scenario, operator, (id, session)).await }
        };
        let (claimed, ended) = both(claimant.claims(&scenario), ends).await;
        let is_claimed = match claimed {
            Claimed::Done(_) => true,
            Claimed::NotAGuest => false,
            Claimed::EmailTaken => panic!("nobody has the address"),
        };
        let stored = scenario.store.profile(id).await.unwrap().map(|profile| profile.user);
        // The claim prevents a deletion, and an erasure that was confirmed as that of a guest account.
        let is_prevented = is_claimed && [Ending::Deletion, Ending::Erasure].contains(&ending);
        let is_erased = ending == Ending::Erasure && !is_claimed;
        let is_deleted = ending == Ending::Deletion && !is_claimed;
        assert_eq!((ended, stored.is_none()), (!is_prevented, is_deleted), "{ending:?}");
        let Some(stored) = stored else { continue };
        let role = if is_claimed { Role::Member } else { Role::Guest };
        assert_eq!(stored.role, role, "{ending:?}");
        assert_eq!(stored.suspended_at.is_some(), ending == Ending::Suspension);
        assert_eq!(stored.erased_at.is_some(), is_erased);
        // The session of a guest account outlasts a suspension.
        let is_kept = ending == Ending::Suspension && !is_claimed;
        let live = alive(&scenario.store, id, at(10)).await;
        assert_eq!(live.len(), usize::from(is_prevented || is_kept), "{ending:?}");
        let has_login =
            scenario.store.credentials(&format!("mia{number}@example.com")).await.unwrap().is_some();
        assert_eq!(has_login, is_claimed, "{ending:?}");
        let plan = plans::open_topup(
            scenario.by(id, at(10).plus(Duration::DAY)),
            scenario.ids.next_topup().await.unwrap(),
            id,
            amount(1),
            Charge::Confirmed,
        );
        assert_eq!(scenario.apply(plan).await.is_ok(), !is_erased);
    }
    scenario.audit().await;
}
