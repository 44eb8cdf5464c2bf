//! Reads outside plans.

use std::cmp::Reverse;
use std::collections::HashMap;

use async_trait::async_trait;
use cuepoint_domain::ids::{OperationId, RatingId, RequestId, TopupId, UserId, WithdrawalId};
use cuepoint_domain::ledger::{Balance, Entry, EntryKind};
use cuepoint_domain::music_request::{MusicRequest, Overdue, RequestFilter, RequestRating};
use cuepoint_domain::operation::{Entity, Outcome};
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::ports::{MusicRequests, Topups, Unavailable, Wallets, Withdrawals};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::topup::{Topup, TopupFilter};
use cuepoint_domain::withdrawal::{Withdrawal, WithdrawalFilter, WithdrawalReview, sum_24h};

use crate::lists::{TimeOrdered, cut, newest, requests};
use crate::{MemoryStore, State};

impl State {
    /// The outcome that an operation recorded, if it is still stored.
    fn recorded(&self, operation: OperationId) -> Option<&Outcome> {
        self.book.operations.get(&operation)?.whole().map(|receipt| &receipt.outcome)
    }
}

/// The rows that `find` returns for a page of ids.
fn found<I, T>(page: Rows<I>, find: impl FnMut(I) -> Option<T>) -> Rows<T> {
    Rows { rows: page.rows.into_iter().filter_map(find).collect(), total: page.total }
}

#[async_trait]
impl MusicRequests for MemoryStore {
    async fn request(&self, id: RequestId) -> Result<Option<MusicRequest>, Unavailable> {
        Ok(self.lock()?.book.get(id).cloned())
    }

    async fn rating(&self, id: RatingId) -> Result<Option<RequestRating>, Unavailable> {
        Ok(self.lock()?.book.get(id).copied())
    }

    async fn requests(
        &self,
        filter: &RequestFilter,
        page: PageRequest,
    ) -> Result<Rows<MusicRequest>, Unavailable> {
        let state = self.lock()?;
        let (book, lists) = (&state.book, &state.lists);
        let list = match (filter.requester, filter.dj) {
            (Some(requester), _) => lists.requests_by.get(&requester),
            (None, Some(dj)) => lists.requests_to.get(&dj),
            (None, None) => Some(&lists.requests),
        };
        let Some(list) = list else { return Ok(Rows::none(0)) };
        let all = filter.status.is_none() && (filter.requester.is_none() || filter.dj.is_none());
        if all {
            return Ok(found(list.page(page), |id| book.get(id).cloned()));
        }
        let shown = requests(book, list.newest_first()).filter(|request| filter.shows(request));
        let rows = cut(shown, page);
        Ok(Rows { rows: rows.rows.into_iter().cloned().collect(), total: rows.total })
    }

    async fn has_requested(&self, guest: UserId, dj: UserId) -> Result<bool, Unavailable> {
        let state = self.lock()?;
        let made = state.lists.requests_by.get(&guest).into_iter().flat_map(TimeOrdered::newest_first);
        Ok(requests(&state.book, made).any(|request| request.dj == dj))
    }

    async fn overdue(&self, which: &Overdue) -> Result<Vec<MusicRequest>, Unavailable> {
        let state = self.lock()?;
        let limit = usize::try_from(which.limit).unwrap_or(usize::MAX);
        let overdue = state.lists.overdue(which).take(limit);
        Ok(requests(&state.book, overdue).cloned().collect())
    }
}

#[async_trait]
impl Withdrawals for MemoryStore {
    async fn withdrawal(&self, id: WithdrawalId) -> Result<Option<Withdrawal>, Unavailable> {
        Ok(self.lock()?.book.get(id).cloned())
    }

    async fn withdrawal_opened_by(&self, opening: OperationId) -> Result<Option<Withdrawal>, Unavailable> {
        let state = self.lock()?;
        let recorded = state.recorded(opening);
        let Some(Outcome { entity: Entity::Withdrawal(recorded), .. }) = recorded else { return Ok(None) };
        let stored = state.book.get(recorded.id);
        Ok(stored.filter(|withdrawal| withdrawal.opening == Some(opening)).cloned())
    }

    async fn withdrawals(
        &self,
        filter: &WithdrawalFilter,
        page: PageRequest,
    ) -> Result<Rows<Withdrawal>, Unavailable> {
        let state = self.lock()?;
        let (book, lists) = (&state.book, &state.lists);
        let list = match filter.user {
            Some(user) => lists.withdrawals_of.get(&user),
            None => Some(&lists.withdrawals),
        };
        let Some(list) = list else { return Ok(Rows::none(0)) };
        if filter.status.is_none() {
            return Ok(found(list.page(page), |id| book.get(id).cloned()));
        }
        let all = list.newest_first().filter_map(|id| book.get(id));
        let rows = cut(all.filter(|withdrawal| filter.shows(withdrawal)), page);
        Ok(Rows { rows: rows.rows.into_iter().cloned().collect(), total: rows.total })
    }
    async fn due_payouts(&self, now: Timestamp, limit: u32) -> Result<Vec<Withdrawal>, Unavailable> {
        let state = self.lock()?;
        let due = state.lists.sending.iter().take_while(|(next, _)| next.is_due(now));
        let due = due.filter_map(|(_, id)| state.book.get(*id));
        let due = due.filter(|withdrawal| {
            let wallet = state.book.wallets.get(&withdrawal.user);
            wallet.is_some_and(|wallet| withdrawal.waiting_for(wallet.balance.owed).is_none())
        });
        Ok(due.take(usize::try_from(limit).unwrap_or(usize::MAX)).cloned().collect())
    }

    async fn reviews(
        &self,
        of: &[WithdrawalId],
    ) -> Result<HashMap<WithdrawalId, WithdrawalReview>, Unavailable> {
        let state = self.lock()?;
        let review = |id: &WithdrawalId| {
            let withdrawal = state.book.get(*id)?;
            let owed = state.book.wallets.get(&withdrawal.user)?.balance.owed;
            let sum_24h = sum_24h(withdrawal, state.book.withdrawals_of(withdrawal.user));
            let login_changed_at = state.book.get(withdrawal.user)?.login_changed_at;
            Some((*id, WithdrawalReview { owed, sum_24h, login_changed_at }))
        };
        Ok(of.iter().filter_map(review).collect())
    }
}

#[async_trait]
impl Topups for MemoryStore {
    async fn topup(&self, id: TopupId) -> Result<Option<Topup>, Unavailable> {
        Ok(self.lock()?.book.get(id).cloned())
    }

    async fn topup_opened_by(&self, opening: OperationId) -> Result<Option<Topup>, Unavailable> {
        let state = self.lock()?;
        let recorded = state.recorded(opening);
        let Some(Outcome { entity: Entity::Topup(recorded), .. }) = recorded else { return Ok(None) };
        let stored = state.book.get(recorded.id);
        Ok(stored.filter(|topup| topup.opening == Some(opening)).cloned())
    }

    async fn topups(&self, filter: &TopupFilter, page: PageRequest) -> Result<Rows<Topup>, Unavailable> {
        let state = self.lock()?;
        let Some(list) = state.lists.topups.get(&filter.user) else { return Ok(Rows::none(0)) };
        let topup = |id| state.book.get(id).cloned();
        Ok(match filter.status {
            None => found(list.page(page), topup),
            Some(status) => {
                cut(list.newest_first().filter_map(topup).filter(|topup| topup.status == status), page)
            }
        })
    }

    async fn topups_in_suspense(&self, page: PageRequest) -> Result<Rows<Topup>, Unavailable> {
        let state = self.lock()?;
        let suspended = state.book.all::<Topup>().filter(|topup| topup.suspense.is_some());
        let mut topups: Vec<&Topup> = suspended.collect();
        topups.sort_unstable_by_key(|topup| {
            let suspense = topup.suspense.as_ref();
            let settled = suspense.is_some_and(|suspense| suspense.settlement.is_some());
            (settled, Reverse((suspense.map(|suspense| suspense.arrived_at), topup.id)))
        });
        Ok(cut(topups.into_iter().cloned(), page))
    }

    async fn pending_topups(&self, user: UserId, limit: u32) -> Result<Vec<Topup>, Unavailable> {
        let state = self.lock()?;
        let pending = state.lists.pending_topups(&state.book, user).cloned();
        Ok(pending.take(usize::try_from(limit).unwrap_or(usize::MAX)).collect())
    }

    async fn due_orders(&self, now: Timestamp, limit: u32) -> Result<Vec<Topup>, Unavailable> {
        let state = self.lock()?;
        let due = state.lists.ordering.iter().take_while(|(at, _)| *at <= now);
        let due = due.take(usize::try_from(limit).unwrap_or(usize::MAX));
        Ok(due.filter_map(|(_, id)| state.book.get(*id).cloned()).collect())
    }
}

#[async_trait]
impl Wallets for MemoryStore {
    async fn balance(&self, user: UserId) -> Result<Option<Balance>, Unavailable> {
        Ok(self.lock()?.book.wallets.get(&user).map(|wallet| wallet.balance))
    }

    async fn balance_at(&self, user: UserId, at: Timestamp) -> Result<Option<Balance>, Unavailable> {
        let state = self.lock()?;
        if !state.book.wallets.contains_key(&user) {
            return Ok(None);
        }
        let kept = state.lists.entries.get(&user).map_or(&[][..], Vec::as_slice);
        let until = kept.partition_point(|entry| entry.at <= at);
        let newest = until.checked_sub(1).and_then(|place| kept.get(place));
        Ok(Some(newest.map_or_else(Balance::default, |entry| entry.after)))
    }

    async fn entries(&self, user: UserId, page: PageRequest) -> Result<Rows<Entry>, Unavailable> {
        let state = self.lock()?;
        let kept = state.lists.entries.get(&user).map_or(&[][..], Vec::as_slice);
        Ok(newest(kept, page).map(Entry::clone))
    }

    async fn entries_of_kind(
        &self,
        user: UserId,
        kind: EntryKind,
        page: PageRequest,
    ) -> Result<Rows<Entry>, Unavailable> {
        let state = self.lock()?;
        let kept = state.lists.entries.get(&user).map_or(&[][..], Vec::as_slice);
        Ok(cut(kept.iter().rev().filter(|entry| entry.kind == kind).cloned(), page))
    }

    async fn entry(&self, user: UserId, number: i64) -> Result<Option<Entry>, Unavailable> {
        let state = self.lock()?;
        let kept = state.lists.entries.get(&user).map_or(&[][..], Vec::as_slice);
        Ok(kept.iter().find(|entry| entry.seq == number).cloned())
    }

    async fn has_adjusted(&self, by: UserId, wallet: UserId, since: Timestamp) -> Result<bool, Unavailable> {
        Ok(self.lock()?.book.has_adjusted(by, wallet, since))
    }
}
