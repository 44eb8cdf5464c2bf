//! Compares the state of store and model, beyond the answers to commands.

use std::collections::BTreeSet;

use cuepoint_domain::ids::{RequestId, UserId};
use cuepoint_domain::music_request::{RequestFilter, RequestStatus};
use cuepoint_domain::page::PageRequest;
use cuepoint_domain::withdrawal::Withdrawal;

use crate::harness::scenario::at;
use crate::histories::driver::{HistoryDriver, equal};
use crate::histories::model::Ordering;
use crate::histories::observed::{balances, dj, seconds, topup_status};

impl HistoryDriver<'_> {
    /// Compares every balance.
    pub(crate) async fn compare_balances(&mut self) -> Result<(), String> {
        for (place, user) in self.people.iter().enumerate() {
            let balance = self.scenario.store.balance(*user).await.unwrap().map(balances);
            let person = &self.model.people[place];
            equal(
                &format!("the wallet of {place}"),
                &balance,
                &(!person.deleted).then_some(person.balances),
            )?;
        }
        let purses = || self.model.people.iter().map(|person| person.balances);
        let inside: i128 = purses().map(|(available, held, owed)| available + held - owed).sum();
        equal("all accounts of the model", &(inside + self.model.elsewhere), &0)?;
        let owed = purses().map(|(.., owed)| owed).sum();
        if owed != self.owed {
            self.observed.insert(if owed > self.owed { "owed" } else { "paid back" }.to_owned());
        }
        self.owed = owed;
        Ok(())
    }

    /// Compares profiles, entries and all lists.
    pub(crate) async fn compare_everything(&mut self) -> Result<(), String> {
        for (place, user) in self.people.iter().enumerate() {
            let person = &self.model.people[place];
            if person.deleted {
                equal("a deleted account", &self.scenario.store.profile(*user).await.unwrap(), &None)?;
                continue;
            }
            let stored = self.scenario.user(*user).await;
            equal("a DJ", &dj(&stored), &person.dj)?;
            equal("whether it is a guest account", &stored.is_guest_account(), &person.is_guest)?;
            let newest = self.scenario.store.entries(*user, PageRequest::new(1, 1)).await.unwrap();
            equal("the number of entries", &newest.total, &person.entries)?;
            let after = newest.rows.first().map_or_else(Default::default, |entry| balances(entry.after));
            equal("the newest entry", &after, &person.balances)?;
            self.compare_requests(place, *user).await?;
            self.compare_withdrawals(place, *user).await?;
        }
        self.compare_topups().await?;
        self.compare_displaced().await
    }

    async fn compare_requests(&self, place: usize, user: UserId) -> Result<(), String> {
        let everything = RequestFilter { requester: None, dj: None, status: None, now: self.time() };
        for status in RequestStatus::all() {
            let made = RequestFilter { requester: Some(user), status: Some(status), ..everything };
            let asked = RequestFilter { dj: Some(user), status: Some(status), ..everything };
            for (filter, by_requester) in [(made, true), (asked, false)] {
                let rows = self.scenario.store.requests(&filter, PageRequest::new(1, 100)).await.unwrap();
                let shown: BTreeSet<RequestId> = rows.rows.iter().map(|request| request.id).collect();
                let all = self.model.requests.iter().zip(&self.requests);
                let expected = all
                    .filter(|(one, _)| place == if by_requester { one.guest } else { one.dj })
                    .filter(|(one, _)| one.seen(self.now).0 == status.name())
                    .map(|(_, id)| *id)
                    .collect();
                equal(&format!("{filter:?}"), &shown, &expected)?;
            }
        }
        Ok(())
    }

    async fn compare_topups(&self) -> Result<(), String> {
        for (place, id) in self.topups.iter().enumerate() {
            let stored = self.scenario.stored_topup(*id).await;
            let orders = stored.orders.unwrap();
            let ordering = Ordering {
                attempts: orders.attempts,
                next: orders.next_at.map(seconds),
                page: stored.payment_url.is_some(),
            };
            equal("a top-up", &(topup_status(&stored), ordering), &self.model.topup(place))?;
        }
        Ok(())
    }

    async fn compare_withdrawals(&self, place: usize, user: UserId) -> Result<(), String> {
        let rows = self.scenario.withdrawals_of(user, PageRequest::new(1, 100)).await;
        if self.model.people[place].is_guest {
            equal("the withdrawals of a guest account", &rows.total, &0)?;
        }
        let approvals =
            |one: &Withdrawal| one.approvals.iter().map(|approval| (approval.by, approval.at)).collect();
        let shown: BTreeSet<(_, _, Vec<_>)> =
            rows.rows.iter().map(|one| (one.id, one.state.status().name(), approvals(one))).collect();
        let all = self.model.withdrawals.iter().zip(&self.withdrawals);
        let own = all.filter(|(one, _)| one.owner == place);
        let expected = own.map(|(one, id)| {
            let approvals = one.approvals.iter().map(|(who, seconds)| (self.people[*who], at(*seconds)));
            (*id, one.status, approvals.collect())
        });
        equal("the withdrawals", &shown, &expected.collect())
    }
}
