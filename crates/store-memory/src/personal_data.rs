//! Personal data of a user, for their export.

use std::collections::HashMap;

use async_trait::async_trait;
use cuepoint_domain::ids::{OperationId, RatingId, TopupId, UserId, WithdrawalId};
use cuepoint_domain::music_request::MusicRequest;
use cuepoint_domain::ports::{PersonalRecords, Unavailable};
use cuepoint_domain::privacy::personal_data::{OperationNote, Part, Place, Record};
use cuepoint_domain::provider_message::{MessageSource, ProviderMessage};
use cuepoint_domain::security_log::EventFilter;
use cuepoint_domain::text::Line;
use cuepoint_domain::topup::Topup;

use crate::operation_log::LoggedOperation;
use crate::{MemoryStore, State};

impl State {
    /// All records of a part, in no particular order.
    fn records(&self, user: UserId, part: Part) -> Box<dyn Iterator<Item = Record> + '_> {
        let book = &self.book;
        match part {
            Part::Sessions => Box::new(self.sessions.of(user)),
            Part::Networks => Box::new(self.sessions.networks_of(user)),
            Part::Challenges => Box::new(self.keys.challenges_of(user).cloned().map(Record::Challenge)),
            Part::RequestsMade => Box::new(self.requests(Some(user), None).cloned().map(Record::Request)),
            Part::RequestsReceived => Box::new(self.requests(None, Some(user)).cloned().map(Record::Request)),
            Part::Ratings => {
                let rating = |made: &MusicRequest| {
                    Some(Record::Rating(*book.get(RatingId::of(made.id))?, made.created_at))
                };
                Box::new(self.requests(Some(user), None).filter_map(rating))
            }
            Part::Withdrawals => Box::new(book.withdrawals_of(user).cloned().map(Record::Withdrawal)),
            Part::Topups => {
                let own = book.all::<Topup>().filter(move |topup| topup.user == user);
                Box::new(own.cloned().map(Record::Topup))
            }
            Part::Entries => {
                let logged = self.log.iter();
                let reasons: HashMap<OperationId, &Line> =
                    logged.filter_map(|logged| Some((logged.id, logged.reason.as_ref()?))).collect();
                let entries = self.entries_of(user).iter();
                Box::new(entries.map(move |entry| {
                    Record::Entry(entry.clone(), reasons.get(&entry.operation).copied().cloned())
                }))
            }
            Part::Operations => Box::new(
                self.log.iter().filter_map(move |logged| self.note(logged, user)).map(Record::Operation),
            ),
            Part::ProviderMessages => {
                let about = book.all::<ProviderMessage>().filter(move |one| self.concerns(one, user));
                Box::new(about.cloned().map(Record::ProviderMessage))
            }
            Part::Blocks => Box::new(self.blocks_of(user).map(Record::Block)),
            Part::BlockedBy => {
                let by = self.blocked.iter().filter(move |((_, guest), _)| *guest == user);
                Box::new(by.map(|((dj, _), at)| Record::BlockedBy { dj: *dj, at: *at }))
            }
            Part::Events => {
                let about = self.events.shown(EventFilter { user: Some(user), kind: None });
                Box::new(about.map(|(number, event)| Record::Event(*number, event.clone())))
            }
            Part::WebhookEndpoints => Box::new(self.webhooks.of(user).cloned().map(Record::WebhookEndpoint)),
        }
    }

    /// The note of an operation, if it is shown to this user.
    fn note(&self, logged: &LoggedOperation, user: UserId) -> Option<OperationNote> {
        let LoggedOperation { id, kind, actor, reason, at, .. } = logged;
        let receipt = self.book.operations.get(id)?;
        let is_shown = OperationNote::person(receipt, reason.as_ref()) == Some(user);
        is_shown.then(|| OperationNote::new(kind.name().to_owned(), *actor, reason.clone(), receipt, *at))
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
        Ok(Record::next(self.lock()?.records(user, part), after, limit))
    }
}
