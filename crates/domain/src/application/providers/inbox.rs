//! Incoming messages of providers: their effects, and the messages that are stored for an operator.

use std::sync::Arc;

use crate::application::environment::Environment;
use crate::application::error::{CommandError, Failure};
use crate::application::executor::{ATTEMPTS, apply};
use crate::application::jobs::AbandonedTopups;
use crate::application::providers::message_subject::{Identified, ProviderMessageRefusal, identified};
use crate::application::providers::{PayoutUpdateOutcome, Payouts};
use crate::entity_ref::EntityKind;
use crate::ids::{TopupId, UserId};
use crate::operation::{OperationMetadata, Rejection, plans};
use crate::ports::{ApplyError, Recorded, Unavailable};
use crate::provider_message::{
    Contradiction, Excerpt, MessageRecord, MessageSource, PresentedPayment, ProviderMessage, WebhookId,
};
use crate::provider_reference::{MessageSubject, ProviderReference};
use crate::text::Line;
use crate::topup::{Topup, TopupStatus, TopupUpdate, TopupUpdateDecision, decide_update};
use crate::withdrawal::PayoutUpdate;

/// An incoming message with a valid signature.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IncomingMessage {
    pub webhook_id: WebhookId,
    /// Its type.
    pub kind: Excerpt<64>,
    pub subject: MessageSubject,
    /// The money and the transaction that it reports.
    pub presented: PresentedPayment,
}

/// The outcome of a message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MessageOutcome {
    /// The top-up or withdrawal with this id moved to this status.
    Moved {
        /// Its id.
        row: i64,
        status: &'static str,
    },
    /// It was known already, or a later one is.
    Known,
    /// The money of the top-up with this id went into suspense, because its owner was erased.
    Suspended {
        /// Its id.
        row: i64,
    },
    /// The withdrawal with this id waits for an operator; nothing changed.
    ForOperator {
        /// Its id.
        row: i64,
    },
    /// It contradicts the ledger, and nothing changed: an operator has to review it.
    Contradiction(Contradicted),
}

/// A message that contradicts the ledger.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Contradicted {
    pub contradiction: Contradiction,
    /// The top-up or withdrawal that its reference leads to.
    pub row: Option<i64>,
    /// The status of that row, if it was checked.
    pub status: Option<&'static str>,
    /// Whether the message is stored.
    pub recorded: Recorded,
}

/// The error of processing a message.
type MessageError = CommandError<ProviderMessageRefusal>;

/// The outcome of an update about a known top-up.
enum TopupUpdateOutcome {
    Moved(TopupStatus),
    Suspended,
    Known,
    Contradiction(&'static str, Contradiction),
}

/// Processes messages of providers.
#[derive(Clone)]
pub struct ProviderInbox {
    pub(in crate::application) env: Arc<Environment>,
}

impl ProviderInbox {
    /// Processes a message of the payment provider; idempotent.
    ///
    /// # Errors
    /// [`CommandError`]; a contradiction that cannot be stored is [`Failure::Unavailable`], so that the
    /// provider sends it again.
    pub async fn topup(
        &self,
        message: &IncomingMessage,
        update: TopupUpdate,
    ) -> Result<MessageOutcome, MessageError> {
        let source = MessageSource::Topups;
        let id = match self.topup_named(message.subject).await? {
            Identified::As(id) => id,
            Identified::Unknown => return self.unknown(source, message).await,
            Identified::Differs(id) => return self.differs(source, message, id.get()).await,
        };
        match self.update_topup(id, update).await? {
            TopupUpdateOutcome::Moved(status) => {
                Ok(MessageOutcome::Moved { row: id.get(), status: status.name() })
            }
            TopupUpdateOutcome::Suspended => Ok(MessageOutcome::Suspended { row: id.get() }),
            TopupUpdateOutcome::Known => Ok(MessageOutcome::Known),
            TopupUpdateOutcome::Contradiction(status, contradiction) => {
                self.contradiction(source, message, contradiction, Some((id.get(), Some(status)))).await
            }
        }
    }

    /// Processes a message of the payout provider; idempotent and independent of the order of messages.
    ///
    /// # Errors
    /// As [`ProviderInbox::topup`].
    pub async fn payout(
        &self,
        message: &IncomingMessage,
        update: &PayoutUpdate,
        reason: Option<Line>,
    ) -> Result<MessageOutcome, MessageError> {
        let source = MessageSource::Payouts;
        let id = match self.payouts().named(message.subject).await? {
            Identified::As(id) => id,
            Identified::Unknown => return self.unknown(source, message).await,
            Identified::Differs(id) => return self.differs(source, message, id.get()).await,
        };
        let row = id.get();
        match self.payouts().update(id, update, reason).await? {
            PayoutUpdateOutcome::Moved(status) => Ok(MessageOutcome::Moved { row, status: status.name() }),
            PayoutUpdateOutcome::Known => Ok(MessageOutcome::Known),
            PayoutUpdateOutcome::ForOperator => Ok(MessageOutcome::ForOperator { row }),
            PayoutUpdateOutcome::Contradiction(status, contradiction) => {
                self.contradiction(source, message, contradiction, Some((row, Some(status.name())))).await
            }
        }
    }

    fn payouts(&self) -> Payouts {
        Payouts { env: self.env.clone() }
    }

    async fn topup_named(&self, subject: MessageSubject) -> Result<Identified<TopupId>, MessageError> {
        let found = match subject.key() {
            ProviderReference::Operation(opening) => self.env.topups.topup_opened_by(opening).await?,
            ProviderReference::Row(id) => match TopupId::new(id) {
                Some(id) => self.env.topups.topup(id).await?,
                None => None,
            },
        };
        identified(subject, found.map(|topup| (topup.id, topup.id.get(), topup.reference())))
    }

    async fn update_topup(
        &self,
        id: TopupId,
        update: TopupUpdate,
    ) -> Result<TopupUpdateOutcome, MessageError> {
        let metadata = self.env.system();
        for _ in 0..ATTEMPTS {
            let topup = self.stored_topup(id).await?;
            let owner_erased =
                matches!(update, TopupUpdate::Confirmed(_)) && self.is_erased(topup.user).await?;
            let metadata = OperationMetadata { at: self.env.now(), ..metadata.clone() };
            let (plan, outcome) = match decide_update(&topup, update, owner_erased) {
                TopupUpdateDecision::Settle { confirmed } => {
                    let status = if confirmed { TopupStatus::Confirmed } else { TopupStatus::Failed };
                    (plans::settle_topup(metadata, &topup, confirmed), TopupUpdateOutcome::Moved(status))
                }
                TopupUpdateDecision::Suspend => {
                    let topup = self.abandoned(topup).await?;
                    if topup.status == TopupStatus::Pending {
                        // It was ordered meanwhile.
                        continue;
                    }
                    (plans::suspend_topup(metadata, &topup), TopupUpdateOutcome::Suspended)
                }
                TopupUpdateDecision::Reverse => {
                    let plan = plans::reverse_topup(metadata, &topup);
                    let plan =
                        plan.map_err(|_| Failure::Broken("a top-up that is reversed is not confirmed"))?;
                    (plan, TopupUpdateOutcome::Moved(TopupStatus::Reversed))
                }
                TopupUpdateDecision::Known => return Ok(TopupUpdateOutcome::Known),
                TopupUpdateDecision::Unknown => return Err(Failure::Conflict.into()),
                TopupUpdateDecision::Incomplete { amount, currency } => {
                    let refusal = ProviderMessageRefusal::PaymentRequired { amount, currency };
                    return Err(MessageError::Refused(refusal));
                }
                TopupUpdateDecision::Contradiction(contradiction) => {
                    return Ok(TopupUpdateOutcome::Contradiction(topup.status.name(), contradiction));
                }
            };
            match apply(&self.env, plan, None).await {
                Ok(_) => return Ok(outcome),
                // The top-up moved, or its owner was erased.
                Err(ApplyError::Rejected(Rejection::Stale | Rejection::Missing(EntityKind::User))) => {}
                Err(error) => return Err(Failure::from(error).into()),
            }
        }
        Err(Failure::Conflict.into())
    }

    /// An erased user's top-up after its failure, which is an operation of its own, so that it has an event.
    async fn abandoned(&self, topup: Topup) -> Result<Topup, Failure> {
        if topup.status != TopupStatus::Pending {
            return Ok(topup);
        }
        AbandonedTopups { env: &self.env }.fail(&topup).await?;
        self.stored_topup(topup.id).await
    }

    async fn stored_topup(&self, id: TopupId) -> Result<Topup, Failure> {
        self.env.topups.topup(id).await?.ok_or(Failure::Broken("a top-up is gone"))
    }

    async fn is_erased(&self, user: UserId) -> Result<bool, Unavailable> {
        let profile = self.env.people.profile(user).await?;
        Ok(profile.is_some_and(|profile| !profile.user.is_present()))
    }

    async fn unknown(
        &self,
        source: MessageSource,
        message: &IncomingMessage,
    ) -> Result<MessageOutcome, MessageError> {
        self.contradiction(source, message, Contradiction::UnknownReference, None).await
    }

    async fn differs(
        &self,
        source: MessageSource,
        message: &IncomingMessage,
        row: i64,
    ) -> Result<MessageOutcome, MessageError> {
        self.contradiction(source, message, Contradiction::ReferenceAndIdDiffer, Some((row, None))).await
    }

    /// Stores a message that contradicts the ledger; `row` is the row that its reference leads to, and its
    /// status.
    async fn contradiction(
        &self,
        source: MessageSource,
        message: &IncomingMessage,
        contradiction: Contradiction,
        row: Option<(i64, Option<&'static str>)>,
    ) -> Result<MessageOutcome, MessageError> {
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
            received_at: self.env.now(),
        };
        let recorded = self.env.messages.record_message(&record, ProviderMessage::MAX_UNRESOLVED).await?;
        let status = status.flatten();
        Ok(MessageOutcome::Contradiction(Contradicted { contradiction, row, status, recorded }))
    }
}
