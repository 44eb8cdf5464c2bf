//! The indexes beside the book: the contents of lists, in their order.

use std::collections::{BTreeSet, HashMap};
use std::ops::Bound;

use cuepoint_domain::event::Audience;
use cuepoint_domain::ids::{OperationId, RequestId, TopupId, UserId, WithdrawalId};
use cuepoint_domain::ledger::{Entry, Posting};
use cuepoint_domain::music_request::{MusicRequest, Overdue};
use cuepoint_domain::operation::{Book, Changes, Entity, Position, Step, WithdrawalJudgement};
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::topup::{Topup, TopupStatus};
use cuepoint_domain::withdrawal::{NextSend, Withdrawal};

use crate::operation_notes::{NotedOperation, person, position};

/// Ids by `created_at`, then id, ascending; pages are taken from the end.
#[derive(Debug)]
pub(crate) struct TimeOrdered<T>(Vec<(Timestamp, T)>);

impl<T> Default for TimeOrdered<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Copy + Ord> TimeOrdered<T> {
    /// Adds an id; at or near the end, since time moves forward.
    pub(crate) fn add(&mut self, created_at: Timestamp, id: T) {
        let place = self.0.partition_point(|earlier| *earlier < (created_at, id));
        self.0.insert(place, (created_at, id));
    }

    /// Adds an id unless it is there.
    fn add_once(&mut self, created_at: Timestamp, id: T) {
        if self.0.binary_search(&(created_at, id)).is_err() {
            self.add(created_at, id);
        }
    }

    /// The ids, oldest first.
    pub(crate) fn oldest_first(&self) -> impl DoubleEndedIterator<Item = T> {
        self.0.iter().map(|(_, id)| *id)
    }

    /// The ids, newest first.
    pub(crate) fn newest_first(&self) -> impl Iterator<Item = T> {
        self.0.iter().rev().map(|(_, id)| *id)
    }

    /// The ids after this place, newest first.
    pub(crate) fn behind(&self, after: Option<(Timestamp, T)>) -> impl Iterator<Item = T> {
        let end = after.map_or(self.0.len(), |after| self.0.partition_point(|earlier| *earlier < after));
        self.0.get(..end).unwrap_or_default().iter().rev().map(|(_, id)| *id)
    }

    /// A page of ids, newest first.
    pub(crate) fn page(&self, page: PageRequest) -> Rows<T> {
        newest(&self.0, page).map(|(_, id)| *id)
    }
}

/// A page of a list stored oldest first, shown newest first.
pub(crate) fn newest<T>(kept: &[T], page: PageRequest) -> PageSlice<'_, T> {
    let end = before(page).map_or(0, |before| kept.len().saturating_sub(before));
    let start = end.saturating_sub(size(page));
    PageSlice { kept: kept.get(start..end).unwrap_or_default(), total: kept.len() }
}

/// The rows of a page, still oldest first, and the total.
pub(crate) struct PageSlice<'a, T> {
    kept: &'a [T],
    total: usize,
}

impl<T> PageSlice<'_, T> {
    /// The rows, newest first.
    pub(crate) fn map<U>(self, row: impl FnMut(&T) -> U) -> Rows<U> {
        Rows { rows: self.kept.iter().rev().map(row).collect(), total: count(self.total) }
    }
}

/// A page of these rows, with their total.
pub(crate) fn cut<T: Clone>(shown: impl Iterator<Item = T>, page: PageRequest) -> Rows<T> {
    let before = before(page).unwrap_or(usize::MAX);
    let end = before.saturating_add(size(page));
    let mut rows = Rows::none(0);
    for (place, row) in shown.enumerate() {
        if (before..end).contains(&place) {
            rows.rows.push(row);
        }
        rows.total = rows.total.saturating_add(1);
    }
    rows
}

fn before(page: PageRequest) -> Option<usize> {
    page.offset().and_then(|offset| usize::try_from(offset).ok())
}

fn size(page: PageRequest) -> usize {
    usize::try_from(page.size()).unwrap_or(usize::MAX)
}

/// A length.
pub(crate) fn count(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

/// Indexes of data that the book could only find by a full scan.
#[derive(Debug, Default)]
pub(crate) struct Lists {
    pub(crate) requests: TimeOrdered<RequestId>,
    pub(crate) requests_by: HashMap<UserId, TimeOrdered<RequestId>>,
    pub(crate) requests_to: HashMap<UserId, TimeOrdered<RequestId>>,
    /// Requests that hold a fee, by expiry.
    pub(crate) expiring: BTreeSet<(Timestamp, RequestId)>,
    /// The same for each requester.
    pub(crate) expiring_by: HashMap<UserId, BTreeSet<(Timestamp, RequestId)>>,
    pub(crate) withdrawals: TimeOrdered<WithdrawalId>,
    pub(crate) withdrawals_of: HashMap<UserId, TimeOrdered<WithdrawalId>>,
    /// Withdrawals that wait to be sent to the payout provider.
    pub(crate) sending: BTreeSet<(NextSend, WithdrawalId)>,
    pub(crate) topups: HashMap<UserId, TimeOrdered<TopupId>>,
    /// Top-ups that wait to be ordered at their provider.
    pub(crate) ordering: BTreeSet<(Timestamp, TopupId)>,
    pub(crate) people: TimeOrdered<UserId>,
    pub(crate) djs: TimeOrdered<UserId>,
    /// The entries of each wallet, by number.
    pub(crate) entries: HashMap<UserId, Vec<Entry>>,
    pub(crate) postings: Vec<Posting>,
    /// All operations in the order of their positions.
    pub(crate) positions: Vec<OperationId>,
    /// The positions of the operations that concern each user.
    pub(crate) concerning: HashMap<UserId, Vec<Position>>,
    /// The metadata of operations beside their receipts.
    pub(crate) operations: HashMap<OperationId, NotedOperation>,
    /// The operations shown to each user.
    pub(crate) operations_about: HashMap<UserId, TimeOrdered<OperationId>>,
}

impl Lists {
    /// Indexes the changes of an applied plan; `step` contains the previous state of a moved entity.
    pub(crate) fn absorb(&mut self, step: &Step, changes: &Changes) {
        if let Some(record) = &changes.operation {
            self.positions.push(record.id);
            let position = position(self.positions.len());
            let Audience { owner, dj } = Audience::of_record(record);
            for user in owner.into_iter().chain(dj) {
                self.concerning.entry(user).or_default().push(position);
            }
            self.operations.insert(record.id, NotedOperation::of(record));
            if let Some(person) = person(record) {
                self.operations_about.entry(person).or_default().add(record.at, record.id);
            }
        }
        if let Some(user) = changes.user.as_ref().filter(|user| user.is_dj()) {
            self.djs.add_once(user.created_at, user.id);
        }
        if let Some(opened) = &changes.opened {
            self.add(opened);
        }
        if let Some(moved) = &changes.moved {
            match step {
                Step::Move { before, .. } => self.remove_deadlines(before),
                Step::Judge(WithdrawalJudgement::Approve { before, .. }) => self.sends_no_more(before),
                Step::Judge(WithdrawalJudgement::Open { .. })
                | Step::Unchanged(_)
                | Step::Open(_)
                | Step::ChangeUser { .. } => {}
            }
            self.add_deadlines(moved);
        }
        for entry in &changes.entries {
            self.entries.entry(entry.wallet).or_default().push(entry.clone());
        }
        self.postings.extend(&changes.postings);
    }

    /// Indexes an opened entity.
    fn add(&mut self, opened: &Entity) {
        match opened {
            Entity::MusicRequest(MusicRequest { id, requester, dj, created_at, .. }) => {
                self.requests.add(*created_at, *id);
                self.requests_by.entry(*requester).or_default().add(*created_at, *id);
                self.requests_to.entry(*dj).or_default().add(*created_at, *id);
            }
            Entity::Withdrawal(Withdrawal { id, user, created_at, .. }) => {
                self.withdrawals.add(*created_at, *id);
                self.withdrawals_of.entry(*user).or_default().add(*created_at, *id);
            }
            Entity::Topup(Topup { id, user, created_at, .. }) => {
                self.topups.entry(*user).or_default().add(*created_at, *id);
            }
            Entity::User(_) | Entity::ProviderMessage(_) | Entity::Rating(_) | Entity::Adjustment(_) => {}
        }
        self.add_deadlines(opened);
    }

    /// Adds the entity to the queues of jobs that its state requires.
    fn add_deadlines(&mut self, entity: &Entity) {
        match entity {
            Entity::MusicRequest(request) => self.expires(request),
            Entity::Withdrawal(withdrawal) => {
                self.sending.extend(withdrawal.state.next_send().map(|next| (next, withdrawal.id)));
            }
            Entity::Topup(topup) => self.ordering.extend(next_order(topup)),
            Entity::User(_) | Entity::ProviderMessage(_) | Entity::Rating(_) | Entity::Adjustment(_) => {}
        }
    }

    /// Removes the entity from the queues of jobs, given its previous state.
    fn remove_deadlines(&mut self, before: &Entity) {
        match before {
            Entity::MusicRequest(request) => self.expires_no_more(request),
            Entity::Withdrawal(withdrawal) => self.sends_no_more(withdrawal),
            Entity::Topup(topup) => self.orders_no_more(topup),
            Entity::User(_) | Entity::ProviderMessage(_) | Entity::Rating(_) | Entity::Adjustment(_) => {}
        }
    }

    fn sends_no_more(&mut self, withdrawal: &Withdrawal) {
        if let Some(next) = withdrawal.state.next_send() {
            self.sending.remove(&(next, withdrawal.id));
        }
    }

    /// The pending top-ups of a user, oldest first.
    pub(crate) fn pending_topups<'a>(
        &'a self,
        book: &'a Book,
        user: UserId,
    ) -> impl DoubleEndedIterator<Item = &'a Topup> {
        let theirs = self.topups.get(&user).into_iter().flat_map(TimeOrdered::oldest_first);
        theirs.filter_map(|id| book.get(id)).filter(|topup| topup.status == TopupStatus::Pending)
    }

    /// Removes the pending order of this top-up, given its previous state.
    fn orders_no_more(&mut self, before: &Topup) {
        if let Some(next) = next_order(before) {
            self.ordering.remove(&next);
        }
    }

    fn expires(&mut self, request: &MusicRequest) {
        if let Some(at) = request.state.expires_at() {
            self.expiring.insert((at, request.id));
            self.expiring_by.entry(request.requester).or_default().insert((at, request.id));
        }
    }

    fn expires_no_more(&mut self, request: &MusicRequest) {
        if let Some(at) = request.state.expires_at() {
            self.expiring.remove(&(at, request.id));
            if let Some(own) = self.expiring_by.get_mut(&request.requester) {
                own.remove(&(at, request.id));
            }
        }
    }

    /// Overdue requests, the longest overdue first.
    pub(crate) fn overdue(&self, which: &Overdue) -> impl Iterator<Item = RequestId> {
        let expiring = match which.requester {
            Some(requester) => self.expiring_by.get(&requester),
            None => Some(&self.expiring),
        };
        let now = which.now;
        let from = which.after.map_or(Bound::Unbounded, Bound::Excluded);
        let later = expiring.into_iter().flat_map(move |all| all.range((from, Bound::Unbounded)));
        later.take_while(move |(at, _)| *at <= now).map(|(_, id)| *id)
    }
}

/// The time of a top-up's next order, if it waits for one.
fn next_order(topup: &Topup) -> Option<(Timestamp, TopupId)> {
    topup.orders?.next_at.map(|at| (at, topup.id))
}

/// The requests with these ids that the book has.
pub(crate) fn requests<'a>(
    book: &'a Book,
    ids: impl Iterator<Item = RequestId> + 'a,
) -> impl Iterator<Item = &'a MusicRequest> + 'a {
    ids.filter_map(|id| book.get(id))
}
