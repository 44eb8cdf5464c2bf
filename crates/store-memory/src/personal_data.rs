//! Personal data of a user, for their export.

use std::collections::HashMap;

use async_trait::async_trait;
use cuepoint_domain::gig::Gig;
use cuepoint_domain::ids::{OperationId, RatingId, TopupId, UserId, WithdrawalId};
use cuepoint_domain::music_request::MusicRequest;
use cuepoint_domain::ports::{PersonalRecords, Unavailable};
use cuepoint_domain::privacy::personal_data::{ExportKey, ExportList, ExportRecord, OperationNote};
use cuepoint_domain::provider_message::{MessageSource, ProviderMessage};
use cuepoint_domain::security_log::SecurityEventFilter;
use cuepoint_domain::text::Line;
use cuepoint_domain::tip::Tip;
use cuepoint_domain::topup::Topup;

use crate::operation_log::LoggedOperation;
use crate::{MemoryStore, State};

impl State {
    /// All records of a list, in no particular order.
    fn records(&self, user: UserId, list: ExportList) -> Box<dyn Iterator<Item = ExportRecord> + '_> {
        let book = &self.book;
        match list {
            ExportList::Sessions => Box::new(self.sessions.of(user)),
            ExportList::PersonalTokens => Box::new(self.sessions.tokens_of(user)),
            ExportList::Networks => Box::new(self.sessions.networks_of(user)),
            ExportList::Challenges => {
                Box::new(self.keys.challenges_of(user).cloned().map(ExportRecord::Challenge))
            }
            ExportList::RequestsMade => {
                let made = self.requests(Some(user), None).cloned();
                Box::new(made.map(|request| {
                    let dedication = self.gigs.dedication(request.id).cloned();
                    ExportRecord::RequestMade(request, dedication)
                }))
            }
            ExportList::RequestsReceived => {
                Box::new(self.requests(None, Some(user)).cloned().map(ExportRecord::Request))
            }
            ExportList::Ratings => {
                let rating = |made: &MusicRequest| {
                    Some(ExportRecord::Rating(*book.get(RatingId::of(made.id))?, made.created_at))
                };
                Box::new(self.requests(Some(user), None).filter_map(rating))
            }
            ExportList::Gigs => {
                let own = book.all::<Gig>().filter(move |gig| gig.dj == user);
                Box::new(own.cloned().map(ExportRecord::Gig))
            }
            ExportList::Tips => {
                let own = book.all::<Tip>().filter(move |tip| [tip.guest, tip.dj].contains(&user));
                Box::new(own.cloned().map(ExportRecord::Tip))
            }
            ExportList::Withdrawals => {
                Box::new(book.withdrawals_of(user).cloned().map(ExportRecord::Withdrawal))
            }
            ExportList::Topups => {
                let own = book.all::<Topup>().filter(move |topup| topup.user == user);
                Box::new(own.cloned().map(ExportRecord::Topup))
            }
            ExportList::Entries => {
                let logged = self.log.iter();
                let reasons: HashMap<OperationId, &Line> =
                    logged.filter_map(|logged| Some((logged.id, logged.reason.as_ref()?))).collect();
                let entries = self.entries_of(user).iter();
                Box::new(entries.map(move |entry| {
                    ExportRecord::Entry(entry.clone(), reasons.get(&entry.operation).copied().cloned())
                }))
            }
            ExportList::Operations => Box::new(
                self.log
                    .iter()
                    .filter_map(move |logged| self.note(logged, user))
                    .map(ExportRecord::Operation),
            ),
            ExportList::ProviderMessages => {
                let about = book.all::<ProviderMessage>().filter(move |one| self.concerns(one, user));
                Box::new(about.cloned().map(ExportRecord::ProviderMessage))
            }
            ExportList::Blocks => Box::new(self.blocks_of(user).map(ExportRecord::Block)),
            ExportList::BlockedBy => {
                let by = self.blocked.iter().filter(move |((_, guest), _)| *guest == user);
                Box::new(by.map(|((dj, _), at)| ExportRecord::BlockedBy { dj: *dj, at: *at }))
            }
            ExportList::Events => {
                let about = self.events.shown(SecurityEventFilter { user: Some(user), kind: None });
                Box::new(about.map(|(number, event)| ExportRecord::Event(*number, event.clone())))
            }
            ExportList::WebhookEndpoints => {
                Box::new(self.webhooks.of(user).cloned().map(ExportRecord::WebhookEndpoint))
            }
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
        list: ExportList,
        after: Option<ExportKey>,
        limit: u32,
    ) -> Result<Vec<ExportRecord>, Unavailable> {
        Ok(ExportRecord::next(self.lock()?.records(user, list), after, limit))
    }
}
