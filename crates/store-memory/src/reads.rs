//! Reads outside plans.

use std::cmp::Reverse;
use std::collections::HashMap;

use async_trait::async_trait;
use cuepoint_domain::ids::{GigId, OperationId, RequestId, TopupId, UserId, WithdrawalId};
use cuepoint_domain::ledger::{Balance, Entry, EntryKind};
use cuepoint_domain::money::Amount;
use cuepoint_domain::music_request::{MusicRequest, Overdue, RequestFilter};
use cuepoint_domain::operation::Book;
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::ports::{MusicRequests, Tips, Topups, Unavailable, Wallets, Withdrawals};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::tip::{Tip, TipFilter};
use cuepoint_domain::topup::{Topup, TopupFilter, TopupStatus};
use cuepoint_domain::withdrawal::{Income, Withdrawal, WithdrawalFilter, WithdrawalReview, sum_24h};

use crate::lists::{first, newest_first, page_of, sorted};
use crate::{MemoryStore, State};

impl State {
    /// The requests of this guest, or else to this DJ, or all.
    pub(crate) fn requests(
        &self,
        guest: Option<UserId>,
        dj: Option<UserId>,
    ) -> Box<dyn Iterator<Item = &MusicRequest> + '_> {
        let list = match (guest, dj) {
            (Some(guest), _) => self.request_lists.by_guest.get(&guest),
            (None, Some(dj)) => self.request_lists.to_dj.get(&dj),
            (None, None) => return Box::new(self.book.all()),
        };
        Box::new(list.into_iter().flatten().filter_map(|(_, id)| self.book.get(*id)))
    }

    /// The entries of a wallet, by number.
    pub(crate) fn entries_of(&self, user: UserId) -> &[Entry] {
        self.entries.get(&user).map_or(&[], Vec::as_slice)
    }
}

/// The pending top-ups of all users.
pub(crate) fn pending_topups(book: &Book) -> impl Iterator<Item = &Topup> {
    book.all::<Topup>().filter(|topup| topup.status == TopupStatus::Pending)
}

#[async_trait]
impl MusicRequests for MemoryStore {
    async fn request(&self, id: RequestId) -> Result<Option<MusicRequest>, Unavailable> {
        Ok(self.lock()?.book.get(id).cloned())
    }

    async fn requests(
        &self,
        filter: &RequestFilter,
        page: PageRequest,
    ) -> Result<Rows<MusicRequest>, Unavailable> {
        let state = self.lock()?;
        let lists = &state.request_lists;
        let whole = match (filter.requester, filter.dj, filter.status) {
            (Some(guest), None, None) => lists.by_guest.get(&guest),
            (None, Some(dj), None) => lists.to_dj.get(&dj),
            _ => None,
        };
        if let Some(whole) = whole {
            let Rows { rows, total } = page_of(whole.iter().rev(), page);
            let requests = rows.into_iter().filter_map(|(_, id)| state.book.get(id).cloned());
            return Ok(Rows { rows: requests.collect(), total });
        }
        let shown = state.requests(filter.requester, filter.dj).filter(|request| filter.shows(request));
        Ok(page_of(newest_first(shown, |request| (request.created_at, request.id)), page))
    }

    async fn has_requested(&self, guest: UserId, dj: UserId) -> Result<bool, Unavailable> {
        Ok(self.lock()?.requests(Some(guest), None).any(|request| request.dj == dj))
    }

    async fn overdue(&self, which: &Overdue) -> Result<Vec<MusicRequest>, Unavailable> {
        let state = self.lock()?;
        let place = |request: &MusicRequest| request.state.expires_at().map(|at| (at, request.id));
        let overdue = state.requests(which.requester, None).filter(|request| {
            place(request).is_some_and(|(at, _)| at <= which.now) && place(request) > which.after
        });
        Ok(first(sorted(overdue, |request| place(request)), which.limit))
    }
}

#[async_trait]
impl Withdrawals for MemoryStore {
    async fn withdrawal(&self, id: WithdrawalId) -> Result<Option<Withdrawal>, Unavailable> {
        Ok(self.lock()?.book.get(id).cloned())
    }

    async fn withdrawal_opened_by(&self, opening: OperationId) -> Result<Option<Withdrawal>, Unavailable> {
        let state = self.lock()?;
        let mut withdrawals = state.book.all::<Withdrawal>();
        Ok(withdrawals.find(|withdrawal| withdrawal.opening == Some(opening)).cloned())
    }

    async fn withdrawals(
        &self,
        filter: &WithdrawalFilter,
        page: PageRequest,
    ) -> Result<Rows<Withdrawal>, Unavailable> {
        let state = self.lock()?;
        let shown = state.book.all::<Withdrawal>().filter(|withdrawal| filter.shows(withdrawal));
        Ok(page_of(newest_first(shown, |withdrawal| (withdrawal.created_at, withdrawal.id)), page))
    }

    async fn due_payouts(&self, now: Timestamp, limit: u32) -> Result<Vec<Withdrawal>, Unavailable> {
        let state = self.lock()?;
        let due = state.book.all::<Withdrawal>().filter(|withdrawal| {
            let wallet = state.book.wallets.get(&withdrawal.user);
            withdrawal.state.next_send().is_some_and(|next| next.is_due(now))
                && wallet.is_some_and(|wallet| withdrawal.waiting_for(wallet.balance.owed).is_none())
        });
        Ok(first(sorted(due, |withdrawal| (withdrawal.state.next_send(), withdrawal.id)), limit))
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
        let mut topups = state.book.all::<Topup>();
        Ok(topups.find(|topup| topup.opening == Some(opening)).cloned())
    }

    async fn topups(&self, filter: &TopupFilter, page: PageRequest) -> Result<Rows<Topup>, Unavailable> {
        let state = self.lock()?;
        let own = state.book.all::<Topup>().filter(|topup| topup.user == filter.user);
        let shown = own.filter(|topup| filter.status.is_none_or(|status| topup.status == status));
        Ok(page_of(newest_first(shown, |topup| (topup.created_at, topup.id)), page))
    }

    async fn topups_in_suspense(&self, page: PageRequest) -> Result<Rows<Topup>, Unavailable> {
        let state = self.lock()?;
        let suspended = state.book.all::<Topup>().filter(|topup| topup.suspense.is_some());
        let topups = sorted(suspended, |topup| {
            let suspense = topup.suspense.as_ref();
            let settled = suspense.is_some_and(|suspense| suspense.settlement.is_some());
            (settled, Reverse((suspense.map(|suspense| suspense.arrived_at), topup.id)))
        });
        Ok(page_of(topups, page))
    }

    async fn pending_topups(&self, user: UserId, limit: u32) -> Result<Vec<Topup>, Unavailable> {
        let state = self.lock()?;
        let pending = pending_topups(&state.book).filter(|topup| topup.user == user);
        Ok(first(sorted(pending, |topup| (topup.created_at, topup.id)), limit))
    }

    async fn due_orders(&self, now: Timestamp, limit: u32) -> Result<Vec<Topup>, Unavailable> {
        let state = self.lock()?;
        let next_at = |topup: &Topup| topup.orders.and_then(|orders| orders.next_at);
        let due = state.book.all().filter(|topup| next_at(topup).is_some_and(|at| at <= now));
        Ok(first(sorted(due, |topup| (next_at(topup), topup.id)), limit))
    }
}

#[async_trait]
impl Tips for MemoryStore {
    async fn tips(&self, filter: &TipFilter, page: PageRequest) -> Result<Rows<Tip>, Unavailable> {
        let state = self.lock()?;
        let shown = state.book.all::<Tip>().filter(|tip| filter.shows(tip));
        Ok(page_of(newest_first(shown, |tip| (tip.created_at, tip.id)), page))
    }

    async fn has_tipped(&self, guest: UserId, dj: UserId) -> Result<bool, Unavailable> {
        Ok(self.lock()?.book.all::<Tip>().any(|tip| (tip.guest, tip.dj) == (guest, dj)))
    }

    async fn tips_in_gig(&self, gig: GigId) -> Result<Vec<Amount>, Unavailable> {
        let state = self.lock()?;
        Ok(state.book.all::<Tip>().filter(|tip| tip.gig == gig).map(|tip| tip.amount).collect())
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
        let newest = state.entries_of(user).iter().rfind(|entry| entry.at <= at);
        Ok(Some(newest.map_or_else(Balance::default, |entry| entry.after)))
    }

    async fn entries(&self, user: UserId, page: PageRequest) -> Result<Rows<Entry>, Unavailable> {
        Ok(page_of(self.lock()?.entries_of(user).iter().rev(), page))
    }

    async fn entries_of_kind(
        &self,
        user: UserId,
        kind: EntryKind,
        page: PageRequest,
    ) -> Result<Rows<Entry>, Unavailable> {
        let state = self.lock()?;
        let entries = state.entries_of(user).iter().rev();
        Ok(page_of(entries.filter(|entry| entry.kind == kind).collect::<Vec<_>>(), page))
    }

    async fn entry(&self, user: UserId, number: i64) -> Result<Option<Entry>, Unavailable> {
        Ok(self.lock()?.entries_of(user).iter().find(|entry| entry.seq == number).cloned())
    }

    async fn income(
        &self,
        user: UserId,
        after: Timestamp,
        until: Option<Timestamp>,
    ) -> Result<Vec<Income>, Unavailable> {
        let state = self.lock()?;
        let income = state.book.income_of(user);
        let is_in_time = |one: &Income| one.at > after && until.is_none_or(|until| one.at <= until);
        Ok(income.filter(is_in_time).collect())
    }

    async fn has_adjusted(&self, by: UserId, wallet: UserId, since: Timestamp) -> Result<bool, Unavailable> {
        Ok(self.lock()?.book.has_adjusted(by, wallet, since))
    }
}
