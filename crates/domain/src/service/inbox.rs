//! Messages of providers: their effects, the messages that are kept for an operator, and their resolution.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::access::{Action, Caller, Whose};
use crate::ids::{ProviderMessageId, TopupId, UserId};
use crate::ledger::{EntityKind, Origin, Rejection};
use crate::page::{PageRequest, Rows};
use crate::plans;
use crate::ports::{Applied, ApplyError, People, ProviderMessages, Recorded, Topups, Unavailable};
use crate::provider_message::{
    AlreadyResolved, Contradiction, Excerpt, MessageFilter, MessageRecord, MessageSource, Presented,
    ProviderMessage, WebhookId,
};
use crate::provider_reference::{MessageSubject, ProviderReference, SubjectMatch};
use crate::service::desk::{ATTEMPTS, Command, Desk, Obstacle};
use crate::service::payouts::{Payouts, Told};
use crate::service::profiles::FindError;
use crate::text::Line;
use crate::topup::{TopupHeard, TopupStatus, TopupWord, hear};
use crate::withdrawal::PayoutWord;

/// A message with a valid signature, but for what it says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IncomingMessage {
    /// Its id.
    pub webhook_id: WebhookId,
    /// Its type.
    pub kind: Excerpt<64>,
    /// What it is about.
    pub subject: MessageSubject,
    /// The money and the transaction that it names.
    pub presented: Presented,
}

/// The outcome of a message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MessageOutcome {
    /// The top-up or withdrawal with this id moved, and has this status now.
    Moved {
        /// Its id.
        row: i64,
        /// Its status.
        status: &'static str,
    },
    /// It was known already, or something later is.
    Known,
    /// The money of the top-up with this id is in suspense now, because its owner was erased.
    Suspended {
        /// Its id.
        row: i64,
    },
    /// The withdrawal with this id waits for an operator, and nothing changed.
    ForOperator {
        /// Its id.
        row: i64,
    },
    /// It contradicts the ledger, and nothing changed: an operator has to look at it.
    Contradiction(Contradicted),
}

/// A message that contradicts the ledger.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Contradicted {
    /// How.
    pub contradiction: Contradiction,
    /// The top-up or withdrawal that its reference leads to.
    pub row: Option<i64>,
    /// The status of that row, where it was looked at.
    pub status: Option<&'static str>,
    /// Whether the message is kept.
    pub recorded: Recorded,
}

/// Why a message is refused.
#[derive(Debug)]
pub enum TellError {
    /// The message has an id alone, and the row with that id has a UUID as its reference.
    ReferenceRequired,
    /// A confirmation does not say what was paid.
    PaymentRequired {
        /// Whether the amount is missing.
        amount: bool,
        /// Whether the currency is missing.
        currency: bool,
    },
    /// See [`Obstacle`].
    Obstacle(Obstacle),
}

/// Why a message is not resolved.
#[derive(Debug)]
pub enum ResolveMessageError {
    /// It is resolved already.
    AlreadyResolved,
    /// See [`Obstacle`].
    Obstacle(Obstacle),
}

/// What a message is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Identified<Id> {
    /// What has this id.
    As(Id),
    /// Nothing: its reference or id is of no row.
    Unknown,
    /// Its reference is of the row with this id, and its own id is another one: it settles neither.
    Differs(Id),
}

impl From<Obstacle> for TellError {
    fn from(obstacle: Obstacle) -> Self {
        Self::Obstacle(obstacle)
    }
}

impl From<Unavailable> for TellError {
    fn from(unavailable: Unavailable) -> Self {
        Self::Obstacle(unavailable.into())
    }
}

impl From<Obstacle> for ResolveMessageError {
    fn from(obstacle: Obstacle) -> Self {
        Self::Obstacle(obstacle)
    }
}

impl From<AlreadyResolved> for ResolveMessageError {
    fn from(AlreadyResolved: AlreadyResolved) -> Self {
        Self::AlreadyResolved
    }
}

/// The row that a message is about, of which its key leads to the one with this id and reference.
pub(super) fn identified<Id: Copy>(
    subject: MessageSubject,
    found: Option<(Id, i64, ProviderReference)>,
) -> Result<Identified<Id>, TellError> {
    let Some((id, number, reference)) = found else { return Ok(Identified::Unknown) };
    match subject.matches(number, reference) {
        SubjectMatch::Same => Ok(Identified::As(id)),
        SubjectMatch::Contradiction => Ok(Identified::Differs(id)),
        SubjectMatch::Unknown => Ok(Identified::Unknown),
        SubjectMatch::ReferenceRequired => Err(TellError::ReferenceRequired),
    }
}

/// What a word about a known top-up came to.
enum TopupTold {
    Moved(TopupStatus),
    Suspended,
    Known,
    Contradiction(&'static str, Contradiction),
}

/// The use cases of providers' messages.
#[derive(Clone)]
pub struct ProviderInbox {
    pub(super) desk: Desk,
    pub(super) topups: Arc<dyn Topups>,
    pub(super) people: Arc<dyn People>,
    pub(super) payouts: Payouts,
    pub(super) messages: Arc<dyn ProviderMessages>,
}

impl ProviderInbox {
    /// Processes a message of the payment provider, however often it comes.
    ///
    /// # Errors
    /// [`TellError`]; a contradiction that cannot be kept is [`Obstacle::Unavailable`], so that the provider sends it again.
    pub async fn topup(
        &self,
        message: &IncomingMessage,
        word: TopupWord,
    ) -> Result<MessageOutcome, TellError> {
        let source = MessageSource::Topups;
        let id = match self.topup_named(message.subject).await? {
            Identified::As(id) => id,
            Identified::Unknown => return self.unknown(source, message).await,
            Identified::Differs(id) => return self.differs(source, message, id.get()).await,
        };
        match self.topup_told(id, word).await? {
            TopupTold::Moved(status) => Ok(MessageOutcome::Moved { row: id.get(), status: status.name() }),
            TopupTold::Suspended => Ok(MessageOutcome::Suspended { row: id.get() }),
            TopupTold::Known => Ok(MessageOutcome::Known),
            TopupTold::Contradiction(status, contradiction) => {
                self.contradiction(source, message, contradiction, Some((id.get(), Some(status)))).await
            }
        }
    }

    /// Processes a message of the payout provider, however often and in whatever order messages arrive.
    ///
    /// # Errors
    /// As [`ProviderInbox::topup`].
    pub async fn payout(
        &self,
        message: &IncomingMessage,
        word: &PayoutWord,
        reason: Option<Line>,
    ) -> Result<MessageOutcome, TellError> {
        let source = MessageSource::Payouts;
        let id = match self.payouts.named(message.subject).await? {
            Identified::As(id) => id,
            Identified::Unknown => return self.unknown(source, message).await,
            Identified::Differs(id) => return self.differs(source, message, id.get()).await,
        };
        let row = id.get();
        match self.payouts.told(id, word, reason).await? {
            Told::Moved(status) => Ok(MessageOutcome::Moved { row, status: status.name() }),
            Told::Known => Ok(MessageOutcome::Known),
            Told::ForOperator => Ok(MessageOutcome::ForOperator { row }),
            Told::Contradiction(status, contradiction) => {
                self.contradiction(source, message, contradiction, Some((row, Some(status.name())))).await
            }
        }
    }

    /// A page of the kept messages, unresolved ones first.
    ///
    /// # Errors
    /// [`FindError`].
    pub async fn messages(
        &self,
        caller: &Caller,
        filter: MessageFilter,
        page: PageRequest,
    ) -> Result<Rows<ProviderMessage>, FindError> {
        caller.may(Action::ReadMessages, Whose::Others)?;
        Ok(self.messages.provider_messages(filter, page).await?)
    }

    /// A message that the caller may resolve.
    ///
    /// # Errors
    /// [`FindError`].
    pub async fn message(
        &self,
        caller: &Caller,
        id: ProviderMessageId,
    ) -> Result<ProviderMessage, FindError> {
        caller.may(Action::ResolveMessage, Whose::Others)?;
        self.messages.provider_message(id).await?.ok_or(FindError::NotFound)
    }

    /// Resolves a message that [`ProviderInbox::message`] found; it moves no money.
    ///
    /// # Errors
    /// [`ResolveMessageError`].
    pub async fn resolve(
        &self,
        command: &Command,
        reason: Line,
        message: ProviderMessage,
    ) -> Result<Applied, ResolveMessageError> {
        command.may(Action::ResolveMessage, Whose::Others)?;
        let (id, operator) = (message.id, command.caller.user);
        let load = || self.messages.provider_message(id);
        let decide = |origin, message: &ProviderMessage| {
            Ok(plans::resolve_message(origin, message, operator, reason.clone())?)
        };
        self.desk.change(self.desk.operator_origin(command, None), message, load, decide).await
    }

    /// How many kept messages are unresolved.
    ///
    /// # Errors
    /// [`Unavailable`].
    pub async fn unresolved(&self) -> Result<u64, Unavailable> {
        self.messages.unresolved_messages().await
    }

    async fn topup_named(&self, subject: MessageSubject) -> Result<Identified<TopupId>, TellError> {
        let found = match subject.key() {
            ProviderReference::Operation(opening) => self.topups.topup_opened_by(opening).await?,
            ProviderReference::Row(id) => match TopupId::new(id) {
                Some(id) => self.topups.topup(id).await?,
                None => None,
            },
        };
        identified(subject, found.map(|topup| (topup.id, topup.id.get(), topup.reference())))
    }

    async fn topup_told(&self, id: TopupId, word: TopupWord) -> Result<TopupTold, TellError> {
        let origin = Origin::system(self.desk.ids.operation(), self.desk.now());
        for _ in 0..ATTEMPTS {
            let topup = self.topups.topup(id).await?.ok_or(Obstacle::Broken("a top-up is gone"))?;
            let owner_erased = matches!(word, TopupWord::Confirmed(_)) && self.is_erased(topup.user).await?;
            let origin = Origin { at: self.desk.now(), ..origin.clone() };
            let (plan, told) = match hear(&topup, word, owner_erased) {
                TopupHeard::Settle { confirmed } => {
                    let status = if confirmed { TopupStatus::Confirmed } else { TopupStatus::Failed };
                    (plans::settle_topup(origin, &topup, confirmed), TopupTold::Moved(status))
                }
                TopupHeard::Suspend => (plans::suspend_topup(origin, &topup), TopupTold::Suspended),
                TopupHeard::Reverse => {
                    let plan = plans::reverse_topup(origin, &topup);
                    let plan =
                        plan.map_err(|_| Obstacle::Broken("a top-up that is reversed is not confirmed"))?;
                    (plan, TopupTold::Moved(TopupStatus::Reversed))
                }
                TopupHeard::Known => return Ok(TopupTold::Known),
                TopupHeard::Unknown => return Err(Obstacle::Conflict.into()),
                TopupHeard::Incomplete { amount, currency } => {
                    return Err(TellError::PaymentRequired { amount, currency });
                }
                TopupHeard::Contradiction(contradiction) => {
                    return Ok(TopupTold::Contradiction(topup.status.name(), contradiction));
                }
            };
            match self.desk.apply(plan).await {
                Ok(_) => return Ok(told),
                // It moved, or its owner was erased.
                Err(ApplyError::Rejected(Rejection::Stale | Rejection::Missing(EntityKind::User))) => {}
                Err(error) => return Err(Obstacle::from(error).into()),
            }
        }
        Err(Obstacle::Conflict.into())
    }

    async fn is_erased(&self, user: UserId) -> Result<bool, Unavailable> {
        let profile = self.people.profile(user).await?;
        Ok(profile.is_some_and(|profile| profile.user.erased_at.is_some()))
    }

    async fn unknown(
        &self,
        source: MessageSource,
        message: &IncomingMessage,
    ) -> Result<MessageOutcome, TellError> {
        self.contradiction(source, message, Contradiction::UnknownReference, None).await
    }

    async fn differs(
        &self,
        source: MessageSource,
        message: &IncomingMessage,
        row: i64,
    ) -> Result<MessageOutcome, TellError> {
        self.contradiction(source, message, Contradiction::ReferenceAndIdDiffer, Some((row, None))).await
    }

    /// Keeps a message that contradicts the ledger; `row` is the row that its reference leads to, and its status.
    async fn contradiction(
        &self,
        source: MessageSource,
        message: &IncomingMessage,
        contradiction: Contradiction,
        row: Option<(i64, Option<&'static str>)>,
    ) -> Result<MessageOutcome, TellError> {
        let (row, status) = row.unzip();
        let record = MessageRecord {
            source,
            webhook_id: message.webhook_id.clone(),
            kind: message.kind.clone(),
            contradiction,
            reference: Excerpt::of(&message.subject.key().to_string()),
            stated_id: message.subject.stated_id(),
            row,
            presented: message.presented.clone(),
            received_at: self.desk.now(),
        };
        let recorded = self.messages.record_message(&record, ProviderMessage::MOST_UNRESOLVED).await?;
        let status = status.flatten();
        Ok(MessageOutcome::Contradiction(Contradicted { contradiction, row, status, recorded }))
    }
}
