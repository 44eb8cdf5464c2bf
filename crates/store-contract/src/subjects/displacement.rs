//! Displacement in a full queue: requests with a fee take the places of requests without one, and the standing of the
//! guests decides the order.

use std::sync::Arc;

use cuepoint_domain::gig::Gig;
use cuepoint_domain::ids::{RequestId, UserId};
use cuepoint_domain::music_request::{Addressee, Agreement, Move, MusicRequest, QueueRefusal, RequestStatus};
use cuepoint_domain::operation::{Entity, Plan, PlanKind, Position, Receipt, Rejection, plans};
use cuepoint_domain::ports::{Applied, GigRequests, Store};
use cuepoint_domain::user::{Standing, User};

use crate::harness::scenario::{Scenario, at, at_once, balance, money, request_of, topup_of};
use crate::subjects::gigs::{opened, song};
use crate::subjects::guest_accounts::guest;

promises! { ($) displacement as displacement_promises {
    a_paid_request_takes_the_place_of_the_newest_free_one_of_a_guest,
    paid_requests_at_once_take_as_many_places_and_no_accepted_one,
    a_request_that_fails_displaces_no_other,
    a_displacement_finds_the_next_request_if_the_first_has_moved,
    a_displacement_has_an_event_for_each_request,
    a_member_counts_as_a_guest_until_verified_or_paid,
}}

impl Scenario {
    /// The standing that a request of this user would be stored with now.
    pub(crate) async fn standing(&self, user: UserId) -> Standing {
        self.store.standing(user).await.unwrap().map(Standing::of).unwrap()
    }

    /// Applies the plan of a request to a DJ. If the queue is full, the request takes the place of another one.
    pub(crate) async fn make(&self, plan: Plan, dj: UserId) -> Result<Applied, Rejection> {
        let mut plan = plan;
        let mut answer = self.apply(plan.clone()).await;
        for _ in 0..1_000 {
            let is_full = matches!(answer, Err(Rejection::NoRoom(full)) if full.ends_with_displacement());
            if !is_full && answer != Err(Rejection::Stale) {
                return answer;
            }
            let Some(displacing) = self.displacing(&plan, dj).await else { return answer };
            plan = displacing;
            answer = self.apply(plan.clone()).await;
            if answer != Err(Rejection::Stale) {
                return answer;
            }
        }
        panic!("the queue of {dj} kept changing")
    }

    /// The same plan with candidates for displacement from the open requests of the gig; `None` without an open gig.
    pub(crate) async fn displacing(&self, plan: &Plan, dj: UserId) -> Option<Plan> {
        let gig = self.store.open_gig(dj).await.unwrap()?;
        let open = self.store.gig_requests(&gig, GigRequests::OpenInGig, gig.opened_at).await.unwrap();
        Some(plans::displacing(plan.clone(), self.ids.operation(), open))
    }
}

/// A gig of a DJ without a price, whose queue has this many places.
async fn gig_with_places(scenario: &mut Scenario, places: u32) -> Gig {
    scenario.requests.most_open_per_gig = places;
    let dj = scenario.dj(0).await;
    opened(scenario, dj, 1).await
}

/// The plan of a request in a gig by a guest of this standing.
async fn asking(
    scenario: &Scenario,
    gig: &Gig,
    guest: UserId,
    (standing, cents): (Standing, i128),
    seconds: i64,
) -> Plan {
    let dj = scenario.user(gig.dj).await;
    let mut terms = gig.request_terms();
    terms.members_only = false;
    let id = scenario.ids.next_request().await.unwrap();
    let to = Addressee { gig: Some(terms), guest: standing, ..Addressee::of(Some(&dj)) };
    let mut new = song(gig.dj, None);
    new.fee = Some(Agreement::Exactly(money(cents)));
    let metadata = scenario.by(guest, at(seconds));
    plans::open_request(metadata, id, guest, to, new, &scenario.requests).unwrap()
}

/// A request in a gig; in a full queue, it takes the place of another one.
async fn ask(
    scenario: &Scenario,
    gig: &Gig,
    guest: UserId,
    offer: (Standing, i128),
    seconds: i64,
) -> Result<MusicRequest, Rejection> {
    let plan = asking(scenario, gig, guest, offer, seconds).await;
    scenario.make(plan, gig.dj).await.map(|applied| request_of(applied.receipt()))
}

const FREE_GUEST: (Standing, i128) = (Standing::GuestAccount, 0);
const FREE_MEMBER: (Standing, i128) = (Standing::Proven, 0);
const PAID: (Standing, i128) = (Standing::Proven, 500);

/// The status of a request, and whether it was displaced.
async fn state(scenario: &Scenario, id: RequestId) -> (RequestStatus, bool) {
    let stored = scenario.stored_request(id).await;
    (stored.state.status(), stored.was_displaced())
}

const DISPLACED: (RequestStatus, bool) = (RequestStatus::Rejected, true);
const PENDING: (RequestStatus, bool) = (RequestStatus::Pending, false);
const ACCEPTED: (RequestStatus, bool) = (RequestStatus::Accepted, false);

/// Requests of guests are displaced first, from the newest to the oldest, and then requests of members. Accepted and paid
/// requests stay. Once the two thirds of guests are full, a guest's request displaces only a guest's request.
pub async fn a_paid_request_takes_the_place_of_the_newest_free_one_of_a_guest(store: Arc<dyn Store>) {
    let mut scenario = Scenario::new(store);
    let gig = gig_with_places(&mut scenario, 6).await;
    let (poor, rich) = (scenario.guest(0).await, scenario.guest(10_000).await);
    let mut made = Vec::new();
    for (second, offer) in (2..).zip([FREE_GUEST, FREE_MEMBER, FREE_GUEST, FREE_GUEST, FREE_GUEST]) {
        made.push(ask(&scenario, &gig, poor, offer, second).await.unwrap().id);
    }
    scenario.move_request(made[3], Move::Accept, at(8)).await.unwrap();
    // The two thirds of guests are full, but the queue is not: a guest's offer displaces a guest's request.
    let full = Err(Rejection::NoRoom(QueueRefusal::FullForGuests(4)));
    assert_eq!(ask(&scenario, &gig, poor, FREE_GUEST, 9).await.map(drop), full);
    let by_guest = ask(&scenario, &gig, rich, (Standing::GuestAccount, 500), 9).await.unwrap();
    assert_eq!(state(&scenario, made[4]).await, DISPLACED);
    let last = ask(&scenario, &gig, poor, FREE_MEMBER, 10).await.unwrap();
    for (second, expected) in (11..).zip([made[2], made[0], last.id, made[1]]) {
        assert_eq!(state(&scenario, expected).await, PENDING);
        ask(&scenario, &gig, rich, PAID, second).await.unwrap();
        assert_eq!(state(&scenario, expected).await, DISPLACED);
    }
    assert_eq!(state(&scenario, made[3]).await, ACCEPTED);
    assert_eq!(state(&scenario, by_guest.id).await, PENDING);
    let full = Err(Rejection::NoRoom(QueueRefusal::Full(6)));
    assert_eq!(ask(&scenario, &gig, rich, PAID, 20).await.map(drop), full, "no free request is left");
    assert_eq!(scenario.balance(rich).await, balance(7_500, 2_500));
    scenario.audit().await;
}

/// A queue that 110 accounts of one phone have filled has places for twenty members who pay at once. Every accepted request
/// stays.
///
/// Attack API6: keeping paying guests out of a queue by free requests of many accounts.
pub async fn paid_requests_at_once_take_as_many_places_and_no_accepted_one(store: Arc<dyn Store>) {
    let mut scenario = Scenario::new(store);
    let gig = gig_with_places(&mut scenario, 110).await;
    let (phone, mut made) = ([scenario.guest(0).await, scenario.guest(0).await], Vec::new());
    for number in 0..110 {
        let offer = if number < 73 { (Standing::Unproven, 0) } else { FREE_MEMBER };
        let plan = asking(&scenario, &gig, phone[number % 2], offer, 2).await;
        made.push(request_of(&scenario.fresh(plan).await).id);
    }
    for id in &made[68..73] {
        scenario.move_request(*id, Move::Accept, at(3)).await.unwrap();
    }
    let mut plans = Vec::new();
    for _ in 0..20 {
        let payer = scenario.guest(500).await;
        plans.push(asking(&scenario, &gig, payer, PAID, 4).await);
    }
    let answers = at_once(plans.into_iter().map(|plan| {
        let (scenario, dj) = (scenario.clone(), gig.dj);
        async move { scenario.make(plan, dj).await }
    }))
    .await;
    assert!(answers.iter().all(|answer| matches!(answer, Ok(Applied::Fresh(_)))), "{answers:?}");
    for (place, id) in made.iter().enumerate() {
        let expected = match place {
            48..68 => DISPLACED,
            68..73 => ACCEPTED,
            _ => PENDING,
        };
        assert_eq!(state(&scenario, *id).await, expected, "{place}");
    }
    scenario.audit().await;
}

/// Without funds, at the limit of the guest, or without a free request, nothing changes.
pub async fn a_request_that_fails_displaces_no_other(store: Arc<dyn Store>) {
    let mut scenario = Scenario::new(store).with_most_open(1);
    let gig = gig_with_places(&mut scenario, 1).await;
    let (poor, rich) = (scenario.guest(499).await, scenario.guest(1_000).await);
    let free = ask(&scenario, &gig, rich, FREE_MEMBER, 2).await.unwrap();
    let refused = ask(&scenario, &gig, poor, PAID, 3).await.map(drop);
    assert_eq!(refused, Err(Rejection::InsufficientFunds { available: money(499) }));
    let refused = ask(&scenario, &gig, rich, PAID, 3).await.map(drop);
    assert_eq!(refused, Err(Rejection::TooManyOpen(1)));
    assert_eq!(state(&scenario, free.id).await, PENDING);
    assert_eq!(scenario.balance(poor).await, balance(499, 0));
}

/// A plan displaces the first candidate that has not moved. If all have moved, the plan is stale, unless there is room.
pub async fn a_displacement_finds_the_next_request_if_the_first_has_moved(store: Arc<dyn Store>) {
    let mut scenario = Scenario::new(store);
    let gig = gig_with_places(&mut scenario, 3).await;
    let (poor, rich) = (scenario.guest(0).await, scenario.guest(10_000).await);
    let mut made = Vec::new();
    for second in 2..5 {
        made.push(ask(&scenario, &gig, poor, FREE_MEMBER, second).await.unwrap().id);
    }
    let mut decided = Vec::new();
    for _ in 0..3 {
        let plan = asking(&scenario, &gig, rich, PAID, 5).await;
        decided.push(scenario.displacing(&plan, gig.dj).await.unwrap());
    }
    scenario.move_request(made[2], Move::Accept, at(5)).await.unwrap();
    let [first, second, third] = decided.try_into().unwrap();
    scenario.fresh(first).await;
    assert_eq!(state(&scenario, made[2]).await, ACCEPTED);
    assert_eq!(state(&scenario, made[1]).await, DISPLACED);
    scenario.move_request(made[0], Move::Accept, at(6)).await.unwrap();
    assert_eq!(scenario.apply(second).await, Err(Rejection::Stale));
    scenario.move_request(made[0], Move::Reject, at(6)).await.unwrap();
    scenario.fresh(third).await;
    assert_eq!(state(&scenario, made[0]).await, (RequestStatus::Rejected, false), "there was room");
    scenario.audit().await;
}

/// The displaced guest receives the event of the rejection, the payer the event of the new request, and the DJ both in this
/// order.
pub async fn a_displacement_has_an_event_for_each_request(store: Arc<dyn Store>) {
    let mut scenario = Scenario::new(store);
    let gig = gig_with_places(&mut scenario, 1).await;
    let (poor, rich) = (scenario.guest(0).await, scenario.guest(500).await);
    let displaced = ask(&scenario, &gig, poor, FREE_GUEST, 2).await.unwrap();
    let paid = ask(&scenario, &gig, rich, PAID, 3).await.unwrap();
    let seen = async |reader| {
        let read = scenario.store.operations(Some(reader), Position::START, 100).await.unwrap();
        let about = |receipt: &Receipt| match &receipt.outcome.entity {
            Entity::MusicRequest(request) => Some(request.id),
            _ => None,
        };
        let of_requests = read
            .operations
            .into_iter()
            .filter_map(|operation| Some((operation.kind?, operation.receipt.whole().and_then(about)?)));
        of_requests.collect::<Vec<_>>()
    };
    let made = (PlanKind::OpenRequest, displaced.id);
    let moved = (PlanKind::MoveRequest, displaced.id);
    let opened = (PlanKind::OpenRequest, paid.id);
    assert_eq!(seen(poor).await, [made, moved]);
    assert_eq!(seen(rich).await, [opened]);
    assert_eq!(seen(gig.dj).await, [made, moved, opened]);
}

/// A confirmed top-up, a charged fee or a verified address or phone is enough; a pending top-up and an operator's credit
/// are not.
pub async fn a_member_counts_as_a_guest_until_verified_or_paid(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let verified = User { phone_verified: true, ..scenario.stranger(false, at(0)).await };
    scenario.register(&verified).await;
    assert_eq!(scenario.standing(verified.id).await, Standing::Proven);
    let (account, _) = guest(&scenario, 1, at(0)).await;
    scenario.fund(account.id, 100).await;
    assert_eq!(scenario.standing(account.id).await, Standing::GuestAccount);
    let payer = scenario.guest(0).await;
    let topup = scenario.pending_topup(payer, 500, 1).await;
    assert_eq!(scenario.standing(payer).await, Standing::Unproven);
    topup_of(&scenario.fresh(plans::settle_topup(scenario.by(payer, at(2)), &topup, true)).await);
    assert_eq!(scenario.standing(payer).await, Standing::Proven);
    let (credited, dj) = (scenario.guest(0).await, scenario.dj(100).await);
    let plan = scenario.adjust_plan(scenario.by(payer, at(2)), credited, 100).await;
    scenario.fresh(plan).await;
    let request = scenario.request(credited, dj, at(3)).await;
    for user in [credited, dj] {
        assert_eq!(scenario.standing(user).await, Standing::Unproven);
    }
    scenario.move_request(request.id, Move::Play, at(4)).await.unwrap();
    for user in [credited, dj] {
        assert_eq!(scenario.standing(user).await, Standing::Proven);
    }
    assert_eq!(scenario.store.standing(UserId::new(i64::MAX).unwrap()).await.unwrap(), None);
}
