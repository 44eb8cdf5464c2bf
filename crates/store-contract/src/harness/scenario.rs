//! The fixture on a store: users with money, and commands executed as a use case does: load, decide, apply.

use std::future::Future;
use std::sync::Arc;

use cuepoint_domain::audit::{Auditor, Summary};
use cuepoint_domain::authorization::Principal;
use cuepoint_domain::gig::Gig;
use cuepoint_domain::ids::{RequestId, SessionId, TopupId, UserId, WithdrawalId};
use cuepoint_domain::ledger::Balance;
use cuepoint_domain::ledger::adjustment::{Adjustment, AdjustmentTerms, Correction};
use cuepoint_domain::money::{Amount, BasisPoints, Currency, Money};
use cuepoint_domain::music_request::{self, Addressee, Agreement, MusicRequest, NewRequest, RequestTerms};
use cuepoint_domain::operation::{
    Actor, Entity, Fingerprint, IdempotencyKey, KeyScope, OperationMetadata, Plan, Receipt, Rejection,
    StoredId, plans,
};
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::ports::{
    Applied, ApplyError, Erased, Ids, Ledger, MusicRequests, PasswordHash, Registered, Store, Topups,
    Withdrawals,
};
use cuepoint_domain::text::{Email, Line, MusicUrl};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::tip::{Tip, TipTerms, TippedDj};
use cuepoint_domain::topup::{Charge, Topup};
use cuepoint_domain::user::{ArtistType, DjChange, Field, ProfileChange, Role, User, UserStatusChange};
use cuepoint_domain::withdrawal::{
    self, NewWithdrawal, Withdrawal, WithdrawalAmount, WithdrawalFilter, WithdrawalTerms,
};
use futures_util::future::join_all;
use time::Duration;
use tokio::sync::Barrier;

use crate::harness::confirmed_erasure::erase_at;
pub(crate) use crate::harness::refusal::Refused;

/// The time for which the money of a pending top-up may arrive.
pub(crate) const TOPUPS_PENDING_FOR: Duration = Duration::days(7);
/// The number of attempts to decide a command on changing state: more than any test needs.
const ATTEMPTS: u32 = 1_000;

/// Runs futures concurrently, each as a task that starts when the last one is ready, and returns their
/// outputs in order.
pub(crate) async fn at_once<F>(futures: impl IntoIterator<Item = F>) -> Vec<F::Output>
where
    F: Future<Output: Send> + Send + 'static,
{
    let futures: Vec<F> = futures.into_iter().collect();
    let start = Arc::new(Barrier::new(futures.len()));
    let tasks: Vec<_> = futures
        .into_iter()
        .map(|future| {
            let start = Arc::clone(&start);
            tokio::spawn(async move {
                start.wait().await;
                future.await
            })
        })
        .collect();
    join_all(tasks).await.into_iter().map(Result::unwrap).collect()
}

/// A store, with the terms of its commands.
#[derive(Clone)]
pub(crate) struct Scenario {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) ids: Arc<dyn Ids>,
    pub(crate) requests: RequestTerms,
    pub(crate) withdrawals: WithdrawalTerms,
}

/// The time `seconds` after the fixture's start.
pub(crate) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_unix_micros(1_767_225_600_000_000).plus(Duration::seconds(seconds))
}

/// An amount of money in cents.
pub(crate) fn money(cents: i128) -> Money {
    Money::from_minor(cents)
}

/// A positive amount in cents.
pub(crate) fn amount(cents: i128) -> Amount {
    Amount::new(money(cents)).unwrap()
}

/// An amount of a withdrawal in a currency without decimals, whose minimum is 1.
fn withdrawal_amount(cents: i128) -> WithdrawalAmount {
    WithdrawalAmount::new(amount(cents), &Currency::new("JPY", 0).unwrap()).unwrap()
}

/// A line of text.
pub(crate) fn line(text: &str) -> Line {
    Line::new(text).unwrap()
}

/// A balance with available and held money, and no debt.
pub(crate) fn balance(available: i128, held: i128) -> Balance {
    Balance { available: money(available), held: money(held), owed: Money::ZERO }
}

/// A user's idempotency key for a body.
pub(crate) fn key(user: UserId, key: &str, body: &str) -> IdempotencyKey {
    IdempotencyKey {
        scope: KeyScope::of(user, "POST", "/commands", key),
        fingerprint: Fingerprint::of(body.as_bytes()),
    }
}

/// The request that a receipt is about.
pub(crate) fn request_of(receipt: &Receipt) -> MusicRequest {
    match &receipt.outcome.entity {
        Entity::MusicRequest(request) => request.clone(),
        other => panic!("no request: {other:?}"),
    }
}

/// The withdrawal that a receipt is about.
pub(crate) fn withdrawal_of(receipt: &Receipt) -> Withdrawal {
    match &receipt.outcome.entity {
        Entity::Withdrawal(withdrawal) => withdrawal.clone(),
        other => panic!("no withdrawal: {other:?}"),
    }
}

/// The top-up that a receipt is about.
pub(crate) fn topup_of(receipt: &Receipt) -> Topup {
    match &receipt.outcome.entity {
        Entity::Topup(topup) => topup.clone(),
        other => panic!("no top-up: {other:?}"),
    }
}

/// The tip that a receipt is about.
pub(crate) fn tip_of(receipt: &Receipt) -> Tip {
    match &receipt.outcome.entity {
        Entity::Tip(tip) => tip.clone(),
        other => panic!("no tip: {other:?}"),
    }
}

impl Scenario {
    /// A fixture with 15 minutes to answer, 60 to play, no commission, no limit and no automatic approval.
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        let requests = RequestTerms::default();
        let ids: Arc<dyn Ids> = Arc::<dyn Store>::clone(&store);
        Self { store, ids, requests, withdrawals: WithdrawalTerms::default() }
    }

    /// Goes on with another store.
    pub(crate) fn use_store(&mut self, store: Arc<dyn Store>) {
        (self.ids, self.store) = (Arc::<dyn Store>::clone(&store), store);
    }

    /// The same with a commission in basis points.
    pub(crate) fn with_commission(mut self, bps: u16) -> Self {
        self.requests.commission = BasisPoints::new(bps).unwrap();
        self
    }

    /// The same with this limit of open requests of one guest with one DJ.
    pub(crate) const fn with_most_open(mut self, most: u32) -> Self {
        self.requests.most_open_per_dj = Some(most);
        self
    }

    /// The metadata of a new operation without a key.
    pub(crate) fn metadata(&self, actor: Actor, at: Timestamp) -> OperationMetadata {
        OperationMetadata::of(actor, self.ids.operation(), at)
    }

    /// The metadata of a user's new operation without a key.
    pub(crate) fn by(&self, user: UserId, at: Timestamp) -> OperationMetadata {
        self.metadata(Actor::User(user), at)
    }

    /// Applies a plan; the store is expected to be available.
    pub(crate) async fn apply(&self, plan: Plan) -> Result<Applied, Rejection> {
        match self.store.apply(plan).await {
            Ok(applied) => Ok(applied),
            Err(ApplyError::Rejected(rejection)) => Err(rejection),
            Err(ApplyError::Unavailable(unavailable)) => panic!("{unavailable}"),
        }
    }

    /// Applies a plan that is expected to be new and to succeed.
    pub(crate) async fn fresh(&self, plan: Plan) -> Receipt {
        match self.apply(plan).await {
            Ok(Applied::Fresh(receipt)) => receipt,
            other => panic!("not applied afresh: {other:?}"),
        }
    }

    /// A user who has not registered yet.
    pub(crate) async fn stranger(&self, is_dj: bool, at: Timestamp) -> User {
        let id = self.ids.next_user().await.unwrap();
        let email = Email::new(&format!("person{id}@example.com")).unwrap();
        User::registered(id, line(&format!("Person {id}")), email, None, is_dj, at)
    }

    /// Registers a user who is expected to be new.
    pub(crate) async fn register(&self, user: &User) {
        let password = PasswordHash(format!("hash of {}", user.id));
        assert_eq!(self.store.register(user, &password, None).await.unwrap(), Registered::Done);
    }

    /// A registered guest with this many cents.
    pub(crate) async fn guest(&self, cents: i128) -> UserId {
        let user = self.stranger(false, at(0)).await;
        self.register(&user).await;
        self.fund(user.id, cents).await;
        user.id
    }

    /// A registered DJ who is online and charges this many cents for both kinds of song.
    pub(crate) async fn dj(&self, price: i128) -> UserId {
        let user = self.stranger(true, at(0)).await;
        self.register(&user).await;
        let dj = DjChange {
            online: Field::Set(true),
            fee_upcoming_artist: Field::Set(money(price)),
            fee_popular_song: Field::Set(money(price)),
        };
        let change = ProfileChange { dj, ..ProfileChange::default() };
        self.fresh(plans::change_profile(self.by(user.id, at(0)), user.id, change)).await;
        user.id
    }

    /// Tops a wallet up, unless `cents` is zero.
    pub(crate) async fn fund(&self, user: UserId, cents: i128) {
        if cents > 0 {
            let id = self.ids.next_topup().await.unwrap();
            let metadata = self.by(user, at(0));
            self.fresh(plans::open_topup(metadata, id, user, amount(cents), Charge::Confirmed)).await;
        }
    }

    /// A pending top-up of this many cents, opened at this time.
    pub(crate) async fn pending_topup(&self, user: UserId, cents: i128, seconds: i64) -> Topup {
        let id = self.ids.next_topup().await.unwrap();
        let charge = Charge::Pending;
        let plan = plans::open_topup(self.by(user, at(seconds)), id, user, amount(cents), charge);
        topup_of(&self.fresh(plan).await)
    }

    /// A confirmed top-up of this many cents.
    pub(crate) async fn confirmed_topup(&self, user: UserId, cents: i128) -> Topup {
        let id = self.ids.next_topup().await.unwrap();
        let plan = plans::open_topup(self.by(user, at(0)), id, user, amount(cents), Charge::Confirmed);
        topup_of(&self.fresh(plan).await)
    }

    /// The balance of a registered user.
    pub(crate) async fn balance(&self, user: UserId) -> Balance {
        self.store.balance(user).await.unwrap().unwrap()
    }

    /// A page of the withdrawals of a user.
    pub(crate) async fn withdrawals_of(&self, user: UserId, page: PageRequest) -> Rows<Withdrawal> {
        self.store.withdrawals(&WithdrawalFilter::of(user), page).await.unwrap()
    }

    /// A registered user.
    pub(crate) async fn user(&self, user: UserId) -> User {
        self.store.profile(user).await.unwrap().unwrap().user
    }

    /// The principal of a token that a registered user gets now.
    pub(crate) async fn principal(&self, user: UserId) -> Principal {
        let User { role, dj, .. } = self.user(user).await;
        Principal { user, role, is_dj: dj.is_some(), session: SessionId::new(1).unwrap() }
    }

    /// The plan of a request, at the list price unless a fee is offered.
    pub(crate) async fn request_plan(
        &self,
        metadata: OperationMetadata,
        guest: UserId,
        dj: UserId,
        artist_type: ArtistType,
        fee: Option<Money>,
    ) -> Result<Plan, Refused> {
        let id = self.ids.next_request().await.unwrap();
        let asked = self.store.profile(dj).await.unwrap().map(|profile| profile.user);
        let new = NewRequest {
            dj,
            song_title: line("Blue Monday"),
            artist_name: line("New Order"),
            artist_type,
            music_url: Some(MusicUrl::new("https://example.com/blue-monday").unwrap()),
            fee: fee.map(Agreement::Exactly),
            message: None,
        };
        let blocks_guest = self.store.is_blocked(dj, guest).await.unwrap();
        let gig = self.store.open_gig(dj).await.unwrap().map(|gig| gig.request_terms());
        let guest_standing = self.standing(guest).await;
        let to = Addressee { user: asked.as_ref(), blocks_guest, gig, guest: guest_standing };
        plans::open_request(metadata, id, guest, to, new, &self.requests).map_err(Refused::Open)
    }

    /// A request at the list price, expected to succeed.
    pub(crate) async fn request(&self, guest: UserId, dj: UserId, now: Timestamp) -> MusicRequest {
        let metadata = self.by(guest, now);
        let plan = self.request_plan(metadata, guest, dj, ArtistType::Popular, None).await.unwrap();
        request_of(&self.fresh(plan).await)
    }

    /// The plan of a tip to the DJ of a gig, less the commission of requests.
    pub(crate) async fn tip_plan(
        &self,
        metadata: OperationMetadata,
        guest: UserId,
        gig: &Gig,
        cents: i128,
    ) -> Result<Plan, Refused> {
        let id = self.ids.next_tip().await.unwrap();
        let blocks_guest = self.store.is_blocked(gig.dj, guest).await.unwrap();
        let to = TippedDj { gig, blocks_guest };
        let terms = TipTerms { commission: self.requests.commission, ..TipTerms::default() };
        plans::tip(metadata, id, guest, to, amount(cents), &terms).map_err(Refused::Tip)
    }

    /// The stored entity with this id.
    pub(crate) async fn stored<I: StoredId>(&self, id: I) -> Option<I::Entity> {
        let ledger: &dyn Ledger = &*self.store;
        ledger.stored(id).await.unwrap()
    }

    /// A stored request.
    pub(crate) async fn stored_request(&self, id: RequestId) -> MusicRequest {
        self.find_request(id).await.unwrap()
    }

    /// A request, if there is one.
    pub(crate) async fn find_request(&self, id: RequestId) -> Option<MusicRequest> {
        MusicRequests::request(&*self.store, id).await.unwrap()
    }

    /// Moves a request from its current state, deciding again after a conflict.
    pub(crate) async fn move_request(
        &self,
        id: RequestId,
        to: music_request::Move,
        now: Timestamp,
    ) -> Result<Applied, Refused> {
        for _ in 0..ATTEMPTS {
            let stored = self.stored_request(id).await;
            let metadata = self.metadata(Actor::System, now);
            let plan =
                plans::move_request(metadata, &stored, to, &self.requests).map_err(Refused::Request)?;
            match self.apply(plan).await {
                Err(Rejection::Stale) => {}
                answer => return answer.map_err(Refused::Rejected),
            }
        }
        panic!("request {id} kept changing")
    }

    /// The plan of a withdrawal of this many cents.
    pub(crate) async fn withdrawal_plan(
        &self,
        metadata: OperationMetadata,
        user: UserId,
        cents: i128,
    ) -> Result<Plan, Refused> {
        let id = self.ids.next_withdrawal().await.unwrap();
        let new = NewWithdrawal {
            amount: withdrawal_amount(cents),
            wallet_address: line("bc1qexample"),
            currency: line("BTC"),
            network: line("bitcoin"),
        };
        plans::open_withdrawal(metadata, id, user, new, &self.withdrawals).map_err(|refusal| match refusal {
            withdrawal::OpenRefusal::Limit(limit) => Refused::Limit(limit),
            withdrawal::OpenRefusal::Destination(refusal) => panic!("any destination is taken: {refusal:?}"),
        })
    }

    /// A withdrawal of this many cents.
    pub(crate) async fn withdraw(
        &self,
        user: UserId,
        cents: i128,
        now: Timestamp,
    ) -> Result<Receipt, Refused> {
        let plan = self.withdrawal_plan(self.by(user, now), user, cents).await?;
        let applied = self.apply(plan).await.map_err(Refused::Rejected)?;
        Ok(applied.receipt().clone())
    }

    /// A stored withdrawal.
    pub(crate) async fn stored_withdrawal(&self, id: WithdrawalId) -> Withdrawal {
        self.find_withdrawal(id).await.unwrap()
    }

    /// A withdrawal, if there is one.
    pub(crate) async fn find_withdrawal(&self, id: WithdrawalId) -> Option<Withdrawal> {
        Withdrawals::withdrawal(&*self.store, id).await.unwrap()
    }

    /// Moves a withdrawal from its current state, deciding again after a conflict.
    pub(crate) async fn move_withdrawal(
        &self,
        id: WithdrawalId,
        to: &withdrawal::Move,
        now: Timestamp,
    ) -> Result<Applied, Refused> {
        for _ in 0..ATTEMPTS {
            let stored = self.stored_withdrawal(id).await;
            let metadata = self.metadata(Actor::System, now);
            let plan = plans::move_withdrawal(metadata, &stored, to.clone()).map_err(Refused::Withdrawal)?;
            match self.apply(plan).await {
                Err(Rejection::Stale) => {}
                answer => return answer.map_err(Refused::Rejected),
            }
        }
        panic!("withdrawal {id} kept changing")
    }

    /// A stored top-up.
    pub(crate) async fn stored_topup(&self, id: TopupId) -> Topup {
        self.find_topup(id).await.unwrap()
    }

    /// Erases a user, and fails their pending top-ups; the money of these may arrive for a week.
    pub(crate) async fn erase(&self, user: UserId, seconds: i64) -> Erased {
        let now = at(seconds);
        let erased = erase_at(&*self.store, user, now.minus(TOPUPS_PENDING_FOR), now).await;
        if erased == Erased::Done {
            self.fail_topups(user, now).await;
        }
        self.store.finish_erasures().await.unwrap();
        erased
    }

    /// Fails the pending top-ups of an erased user.
    pub(crate) async fn fail_topups(&self, user: UserId, now: Timestamp) {
        for topup in self.store.pending_topups(user, u32::MAX).await.unwrap() {
            self.fresh(plans::settle_topup(self.metadata(Actor::System, now), &topup, false)).await;
        }
    }

    /// A top-up, if there is one.
    pub(crate) async fn find_topup(&self, id: TopupId) -> Option<Topup> {
        Topups::topup(&*self.store, id).await.unwrap()
    }

    /// The plan of an operator's adjustment by this many cents, which must not be zero.
    pub(crate) async fn adjust_plan(&self, metadata: OperationMetadata, user: UserId, cents: i128) -> Plan {
        let id = self.ids.next_adjustment().await.unwrap();
        let correction = Correction::signed(money(cents)).unwrap();
        let adjustment = Adjustment { id, user, correction, reason: line("a mistake") };
        plans::adjust(metadata, adjustment, &AdjustmentTerms::default()).unwrap()
    }

    /// An active operator.
    pub(crate) async fn operator(&self) -> UserId {
        let user = User { role: Role::Operator, ..self.stranger(false, at(0)).await };
        self.register(&user).await;
        user.id
    }

    /// An operator's change of a user's status, expected to be new.
    pub(crate) async fn change_status(
        &self,
        operator: UserId,
        user: UserId,
        change: UserStatusChange,
        now: Timestamp,
    ) -> Receipt {
        let metadata = OperationMetadata { reason: Some(line("a reason")), ..self.by(operator, now) };
        self.fresh(plans::change_user_status(metadata, user, change)).await
    }

    /// An audit of the whole ledger, expected to find nothing.
    pub(crate) async fn audit(&self) -> Summary {
        let mut auditor = Auditor::new();
        self.store.show(&mut auditor).await.unwrap();
        auditor.finish().unwrap()
    }
}
