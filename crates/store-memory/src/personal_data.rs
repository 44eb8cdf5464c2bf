//! Personal data of a user, for their export.

use std::cmp::Reverse;

use async_trait::async_trait;
use cuepoint_domain::ids::{OperationId, RatingId, RequestId, TopupId, UserId, WithdrawalId};
use cuepoint_domain::ports::{PersonalRecords, Unavailable};
use cuepoint_domain::privacy::personal_data::{OperationNote, Part, Place, Record};
use cuepoint_domain::provider_message::{MessageSource, ProviderMessage};
use cuepoint_domain::timestamp::Timestamp;

use crate::lists::TimeOrdered;
use crate::operation_notes::NotedOperation;
use crate::{MemoryStore, State};

/// The records of a timeline after a position, `limit` at most, loaded by `find`.
fn listed<I: Copy + Ord>(
    list: Option<&TimeOrdered<I>>,
    after: Option<(Timestamp, I)>,
    limit: usize,
    find: impl Fn(I) -> Option<Record>,
) -> Vec<Record> {
    list.map_or_else(Vec::new, |list| list.behind(after).take(limit).filter_map(find).collect())
}

impl State {
    fn records(&self, user: UserId, part: Part, after: Option<Place>, limit: u32) -> Vec<Record> {
        let (book, lists) = (&self.book, &self.lists);
        let most = usize::try_from(limit).unwrap_or(usize::MAX);
        let moment = |after: Place| after.moment();
        let number = after.map_or(i64::MAX, |after| after.major);
        match part {
            Part::Sessions => Record::next(self.sessions.of(user), after, limit),
            Part::Networks => Record::next(self.sessions.networks_of(user), after, limit),
            Part::Challenges => {
                Record::next(self.keys.challenges_of(user).cloned().map(Record::Challenge), after, limit)
            }
            Part::RequestsMade | Part::RequestsReceived => {
                let all = if part == Part::RequestsMade { &lists.requests_by } else { &lists.requests_to };
                let after = after.and_then(|after| Some((moment(after), RequestId::new(after.id())?)));
                listed(all.get(&user), after, most, |id| book.get(id).cloned().map(Record::Request))
            }
            Part::Ratings => {
                let made = lists.requests_by.get(&user).into_iter().flat_map(TimeOrdered::oldest_first);
                let rated = made.filter_map(|request| {
                    let rating = book.get(RatingId::of(request))?;
                    Some(Record::Rating(*rating, book.get(request)?.created_at))
                });
                Record::next(rated, after, limit)
            }
            Part::Withdrawals => {
                let after = after.and_then(|after| Some((moment(after), WithdrawalId::new(after.id())?)));
                let find = |id| book.get(id).cloned().map(Record::Withdrawal);
                listed(lists.withdrawals_of.get(&user), after, most, find)
            }
            Part::Topups => {
                let after = after.and_then(|after| Some((moment(after), TopupId::new(after.id())?)));
                listed(lists.topups.get(&user), after, most, |id| book.get(id).cloned().map(Record::Topup))
            }
            Part::Entries => {
                let kept = lists.entries.get(&user).map_or(&[][..], Vec::as_slice);
                let end = kept.partition_point(|entry| entry.seq < number);
                let behind = kept.get(..end).unwrap_or_default().iter().rev().take(most);
                let reason = |operation| lists.operations.get(operation)?.reason.clone();
                behind.map(|entry| Record::Entry(entry.clone(), reason(&entry.operation))).collect()
            }
            Part::Operations => self.operations(user, after, most),
            Part::ProviderMessages => {
                let all = book.all::<ProviderMessage>();
                let behind = all.filter(|one| one.id.get() < number && self.concerns(one, user));
                let mut behind: Vec<&ProviderMessage> = behind.collect();
                behind.sort_unstable_by_key(|one| Reverse(one.id));
                behind.into_iter().take(most).cloned().map(Record::ProviderMessage).collect()
            }
            Part::Blocks => {
                let blocked = self.blocked.get(&user).into_iter().flatten();
                let blocks = blocked.filter_map(|(guest, at)| self.block(*guest, *at));
                Record::next(blocks.map(Record::Block), after, limit)
            }
            Part::BlockedBy => {
                let by = self.blocked.iter().filter_map(|(dj, blocked)| Some((*dj, *blocked.get(&user)?)));
                Record::next(by.map(|(dj, at)| Record::BlockedBy { dj, at }), after, limit)
            }
            Part::Events => {
                let about = self.events.before(number).filter(|(_, event)| event.user == Some(user));
                about.take(most).map(|(number, event)| Record::Event(*number, event.clone())).collect()
            }
            Part::WebhookEndpoints => {
                Record::next(self.webhooks.of(user).cloned().map(Record::WebhookEndpoint), after, limit)
            }
        }
    }

    fn operations(&self, user: UserId, after: Option<Place>, most: usize) -> Vec<Record> {
        let after = after.map(|after| (after.moment(), OperationId(after.minor)));
        listed(self.lists.operations_about.get(&user), after, most, |id| {
            let NotedOperation { kind, actor, reason, at } = self.lists.operations.get(&id)?.clone();
            let receipt = self.book.operations.get(&id)?;
            Some(Record::Operation(OperationNote::new(kind.name().to_owned(), actor, reason, receipt, at)))
        })
    }

    /// Whether a message is about a top-up or a withdrawal of this user.
    fn concerns(&self, message: &ProviderMessage, user: UserId) -> bool {
        let Some(row) = message.record.row else { return false };
        let owner = match message.record.source {
            MessageSource::Topups => {
                TopupId::new(row).and_then(|id| self.book.get(id)).map(|topup| topup.user)
            }
            MessageSource::Payouts => {
                WithdrawalId::new(row).and_then(|id| self.book.get(id)).map(|withdrawal| withdrawal.user)
            }
        };
        owner == Some(user)
    }
}

#[async_trait]
impl PersonalRecords for MemoryStore {
    async fn records(
        &self,
        user: UserId,
        part: Part,
        after: Option<Place>,
        limit: u32,
    ) -> Result<Vec<Record>, Unavailable> {
        Ok(self.lock()?.records(user, part, after, limit))
    }
}
