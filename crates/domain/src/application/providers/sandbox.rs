//! The payments of the sandbox, which a tester ends in place of a payment provider.

use crate::application::error::{CommandError, Failure};
use crate::application::providers::{IncomingMessage, MessageOutcome, ProviderInbox, ProviderMessageRefusal};
use crate::provider_message::{Excerpt, PresentedPayment, WebhookId};
use crate::provider_reference::{MessageSubject, ProviderReference};
use crate::topup::{PaidAmount, PaidCurrency, Payment, Topup, TopupUpdate};

/// How a tester ends a payment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SandboxOutcome {
    /// The whole amount is paid.
    Paid,
    /// The payment will never be made.
    Refused,
}

impl SandboxOutcome {
    /// The type of the provider's message.
    const fn message_type(self) -> &'static str {
        match self {
            Self::Paid => "topup.confirmed",
            Self::Refused => "topup.failed",
        }
    }

    fn update(self, topup: &Topup) -> TopupUpdate {
        match self {
            Self::Paid => TopupUpdate::Confirmed(Payment {
                amount: Some(PaidAmount::Sum(topup.amount.money())),
                currency: Some(PaidCurrency::Own),
            }),
            Self::Refused => TopupUpdate::Failed,
        }
    }
}

/// The payments of the sandbox.
#[derive(Clone)]
pub struct SandboxPayments {
    pub(in crate::application) inbox: ProviderInbox,
}

impl SandboxPayments {
    /// The top-up of a payment, for everybody who knows its reference.
    ///
    /// # Errors
    /// [`Failure::NotFound`], also for a reference that could be guessed.
    pub async fn payment(&self, reference: ProviderReference) -> Result<Topup, Failure> {
        match reference {
            ProviderReference::Operation(opening) => {
                self.inbox.env.topups.topup_opened_by(opening).await?.ok_or(Failure::NotFound)
            }
            ProviderReference::Row(_) => Err(Failure::NotFound),
        }
    }

    /// Processes the message by which a payment provider would report this outcome; idempotent. Returns the message, too.
    ///
    /// # Errors
    /// As [`Self::payment`] and [`ProviderInbox::topup`].
    pub async fn end(
        &self,
        reference: ProviderReference,
        outcome: SandboxOutcome,
    ) -> Result<(IncomingMessage, MessageOutcome), CommandError<ProviderMessageRefusal>> {
        let topup = self.payment(reference).await?;
        let kind = outcome.message_type();
        // One contradiction of each kind is stored for a payment, however often a button is pressed.
        let id = WebhookId::new(&format!("sandbox-{kind}-{reference}"));
        let message = IncomingMessage {
            webhook_id: id.ok_or(Failure::Broken("a message of the sandbox has no id"))?,
            kind: Excerpt::of(kind),
            subject: MessageSubject::Reference { reference, id: Some(topup.id.get()) },
            presented: PresentedPayment::default(),
        };
        let outcome = self.inbox.topup(&message, outcome.update(&topup)).await?;
        Ok((message, outcome))
    }
}
