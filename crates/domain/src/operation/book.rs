//! The state that plans are applied to, and the changes that a plan makes.

use std::collections::{HashMap, HashSet};

use crate::entity_ref::EntityRef;
use crate::gig::Gig;
use crate::ids::{GigId, OperationId, RequestId, TopupId, UserId, WithdrawalId};
use crate::ledger::{Entry, EntryKind, Posting, Wallet};
use crate::music_request::{MusicRequest, QueueSize, RequestRating, Voice};
use crate::operation::feature_level::FeatureLevel;
use crate::operation::shelves::{Shelves, Stored, StoredId};
use crate::operation::{Actor, Addition, Entity, KeyRecord, KeyScope, PlanKind, Receipt, StoredReceipt};
use crate::security_log::SecurityEvent;
use crate::text::Line;
use crate::timestamp::Timestamp;
use crate::topup::Topup;
use crate::user::User;
use crate::withdrawal::{Income, Withdrawal};

/// The state that plans are applied to: the whole state of an in-memory store, the locked rows of a database.
///
/// A row in a plan's lock set that is missing here is an error, never a zero.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Book {
    /// The feature level, which determines the values that may be written.
    pub feature_level: FeatureLevel,
    /// The operations applied before, with their receipts.
    pub operations: HashMap<OperationId, StoredReceipt>,
    /// The idempotency keys used before.
    pub keys: HashMap<KeyScope, KeyRecord>,
    pub wallets: HashMap<UserId, Wallet>,
    entities: Shelves,
    holding_of: HashMap<UserId, HashSet<RequestId>>,
    withdrawals_of: HashMap<UserId, Vec<WithdrawalId>>,
    topups_of: HashMap<UserId, Vec<TopupId>>,
    open_gigs: HashMap<UserId, GigId>,
    /// For each DJ, the last end of a gig.
    last_gig_ends: HashMap<UserId, Timestamp>,
    /// For each gig whose queue was counted, its size.
    queues: HashMap<GigId, QueueSize>,
    /// The newest rating of each voice.
    newest_ratings: HashMap<Voice, RequestRating>,
    /// For each wallet, the operators who adjusted it, with the times.
    adjustments_of: HashMap<UserId, Vec<(UserId, Timestamp)>>,
    /// For each wallet, its income.
    income_of: HashMap<UserId, Vec<Income>>,
}

impl Book {
    /// An empty book of a deployment at this feature level.
    #[must_use]
    pub fn at(feature_level: FeatureLevel) -> Self {
        Self { feature_level, ..Self::default() }
    }

    /// The entity with this id.
    #[must_use]
    pub fn get<I: StoredId>(&self, id: I) -> Option<&I::Entity> {
        I::Entity::shelf(&self.entities).get(&id)
    }

    /// The stored entity with this reference.
    #[must_use]
    pub fn entity(&self, reference: EntityRef) -> Option<Entity> {
        self.entities.find(reference)
    }

    /// The entity with this id, to change a field on which no index of the book depends.
    pub fn get_mut<I: StoredId>(&mut self, id: I) -> Option<&mut I::Entity> {
        I::Entity::shelf_mut(&mut self.entities).get_mut(&id)
    }

    /// All entities of a kind, in no particular order.
    pub fn all<E: Stored>(&self) -> impl Iterator<Item = &E> {
        E::shelf(&self.entities).values()
    }

    /// All entities, in no particular order.
    pub fn entities(&self) -> impl Iterator<Item = Entity> {
        self.entities.all()
    }

    /// Inserts or replaces an entity.
    pub fn put(&mut self, entity: impl Into<Entity>) {
        let entity = entity.into();
        match &entity {
            Entity::MusicRequest(request) => self.index_request(request),
            Entity::Withdrawal(withdrawal) if !self.entities.has(&entity) => {
                self.withdrawals_of.entry(withdrawal.user).or_default().push(withdrawal.id);
            }
            Entity::Topup(topup) if !self.entities.has(&entity) => {
                self.topups_of.entry(topup.user).or_default().push(topup.id);
            }
            Entity::Gig(gig) => self.index_gig(gig),
            _ => {}
        }
        self.entities.put(entity);
    }

    /// Removes an entity.
    pub fn remove<I: StoredId>(&mut self, id: I) -> Option<I::Entity> {
        I::Entity::shelf_mut(&mut self.entities).remove(&id)
    }

    /// Whether an entity has this one's kind and id.
    pub(super) fn has(&self, entity: &Entity) -> bool {
        self.entities.has(entity)
    }

    /// Whether the entity is still as loaded; `None` if it is missing or, like an erased user, cannot be changed.
    pub(super) fn stands_as(&self, loaded: &Entity) -> Option<bool> {
        self.entities.stands_as(loaded)
    }

    fn index_request(&mut self, request: &MusicRequest) {
        let holding = self.holding_of.entry(request.requester).or_default();
        if request.state.status().holds_fee() {
            holding.insert(request.id);
        } else {
            holding.remove(&request.id);
        }
    }

    fn index_gig(&mut self, gig: &Gig) {
        let Some(ended_at) = gig.ended_at else {
            self.open_gigs.insert(gig.dj, gig.id);
            return;
        };
        let last = self.last_gig_ends.entry(gig.dj).or_insert(ended_at);
        *last = ended_at.max(*last);
        if self.open_gigs.get(&gig.dj) == Some(&gig.id) {
            self.open_gigs.remove(&gig.dj);
        }
    }

    /// The number of this guest's requests to this DJ in the book that are still open at `now`.
    #[must_use]
    pub fn open_requests(&self, guest: UserId, dj: UserId, now: Timestamp) -> usize {
        let holding = self.holding_of.get(&guest).into_iter().flatten();
        let open =
            |request: &&MusicRequest| request.dj == dj && request.state.seen_at(now).status().holds_fee();
        holding.filter_map(|id| self.get(*id)).filter(open).count()
    }

    /// The user's withdrawals in the book.
    pub fn withdrawals_of(&self, user: UserId) -> impl Iterator<Item = &Withdrawal> {
        self.withdrawals_of.get(&user).into_iter().flatten().filter_map(|id| self.get(*id))
    }

    /// The user's top-ups in the book.
    pub fn topups_of(&self, user: UserId) -> impl Iterator<Item = &Topup> {
        self.topups_of.get(&user).into_iter().flatten().filter_map(|id| self.get(*id))
    }

    /// The open gig of a DJ.
    #[must_use]
    pub fn open_gig(&self, dj: UserId) -> Option<&Gig> {
        self.open_gigs.get(&dj).and_then(|id| self.get(*id))
    }

    /// The last end of a gig of a DJ in the book.
    pub(super) fn last_gig_end(&self, dj: UserId) -> Option<Timestamp> {
        self.last_gig_ends.get(&dj).copied()
    }

    /// Records the size of a queue.
    pub fn put_queue_size(&mut self, gig: GigId, size: QueueSize) {
        self.queues.insert(gig, size);
    }

    /// The counted size of a queue, and the requests that plans have opened since. Those that were closed since still count,
    /// because a plan of the same group could have been applied before.
    #[must_use]
    pub fn queue_size(&self, gig: GigId) -> QueueSize {
        self.queues.get(&gig).copied().unwrap_or_default()
    }

    /// Counts the request that a plan with a guard of the room has opened, and the one that it displaced.
    pub(super) fn count_in_queue(&mut self, changes: &Changes) {
        if let Some(Entity::MusicRequest(request)) = &changes.opened
            && let Some(gig) = request.gig
        {
            let size = self.queues.entry(gig).or_default();
            *size = size.with(request, changes.displaced_request());
        }
    }

    /// Records the newest rating of a voice.
    pub fn put_newest_rating(&mut self, voice: Voice, rating: RequestRating) {
        self.newest_ratings.insert(voice, rating);
    }

    /// The newest rating of a voice in the book.
    pub(super) fn newest_rating(&self, voice: Voice) -> Option<&RequestRating> {
        self.newest_ratings.get(&voice)
    }

    /// Records a rating that a plan has added or changed, unless another one of its voice is newer.
    pub(super) fn count_rating(&mut self, voice: Voice, rating: RequestRating) {
        let counts = self.newest_ratings.entry(voice).or_insert(rating);
        if rating.counts_instead_of(counts) {
            *counts = rating;
        }
    }

    /// Records an adjustment of a wallet by a user, at the time of the wallet's entry.
    pub fn put_adjustment(&mut self, wallet: UserId, by: UserId, at: Timestamp) {
        self.adjustments_of.entry(wallet).or_default().push((by, at));
    }

    /// Whether this user adjusted a wallet after the given time, according to the adjustments in the book.
    #[must_use]
    pub fn has_adjusted(&self, by: UserId, wallet: UserId, since: Timestamp) -> bool {
        let adjustments = self.adjustments_of.get(&wallet);
        adjustments.into_iter().flatten().any(|(adjuster, at)| *adjuster == by && *at > since)
    }

    /// Records income of a wallet.
    pub fn put_income(&mut self, wallet: UserId, income: Income) {
        self.income_of.entry(wallet).or_default().push(income);
    }

    /// The income of a wallet in the book.
    pub fn income_of(&self, wallet: UserId) -> impl Iterator<Item = Income> {
        self.income_of.get(&wallet).into_iter().flatten().copied()
    }

    /// Applies the changes of a plan.
    pub(crate) fn absorb(&mut self, changes: &Changes) {
        for entity in changes.opened.iter().chain(&changes.moved) {
            self.put(entity.clone());
        }
        if let Some(user) = &changes.user {
            self.put(user.clone());
        }
        self.wallets.extend(changes.wallets.iter().map(|wallet| (wallet.user, wallet.clone())));
        if let Some(OperationRecord { actor: Actor::User(by), .. }) = changes.operation {
            for entry in changes.entries.iter().filter(|entry| entry.kind == EntryKind::Adjustment) {
                self.put_adjustment(entry.wallet, by, entry.at);
            }
        }
        for entry in &changes.entries {
            if let Some(income) = Income::of(entry) {
                self.put_income(entry.wallet, income);
            }
        }
        for record in changes.operations() {
            self.operations.insert(record.id, StoredReceipt::Whole(record.receipt.clone()));
        }
        if let Some(key) = &changes.key {
            self.keys.insert(key.key.scope, key.clone());
        }
    }
}

/// A permanent record of an operation.
#[derive(Clone, PartialEq, Debug)]
pub struct OperationRecord {
    /// The operation's id.
    pub id: OperationId,
    pub kind: PlanKind,
    pub actor: Actor,
    /// The time of the decision.
    pub at: Timestamp,
    /// The reason, if one was given.
    pub reason: Option<Line>,
    pub receipt: Receipt,
}

/// A user whose live sessions end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EndedSessions {
    pub user: UserId,
    /// The time at which they end.
    pub at: Timestamp,
}

/// The rows written by an applied plan, atomically.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Changes {
    /// The operation; `None` if the plan changed nothing and no key must be stored.
    pub operation: Option<OperationRecord>,
    /// The operation that rejected the displaced request, before the operation of the plan.
    pub displacement: Option<OperationRecord>,
    /// The key used, which replaces an expired one.
    pub key: Option<KeyRecord>,
    pub opened: Option<Entity>,
    /// The entity that changed, unless it is a user. If the step opens a request, it is the displaced request.
    pub moved: Option<Entity>,
    pub user: Option<User>,
    /// A user whose live sessions end with the change.
    pub ended_sessions: Option<EndedSessions>,
    /// Changed wallets, by their owner's id.
    pub wallets: Vec<Wallet>,
    /// One new entry for each changed wallet, in the same order.
    pub entries: Vec<Entry>,
    /// New postings.
    pub postings: Vec<Posting>,
    /// The security log's event.
    pub event: Option<SecurityEvent>,
    /// The row that belongs to the opened entity.
    pub addition: Option<Addition>,
}

impl Changes {
    /// The operations, in the order of their positions.
    pub fn operations(&self) -> impl Iterator<Item = &OperationRecord> {
        self.displacement.iter().chain(&self.operation)
    }

    /// The request whose place the opened one took.
    #[must_use]
    pub const fn displaced_request(&self) -> Option<&MusicRequest> {
        match (&self.displacement, &self.moved) {
            (Some(_), Some(Entity::MusicRequest(request))) => Some(request),
            _ => None,
        }
    }
}
