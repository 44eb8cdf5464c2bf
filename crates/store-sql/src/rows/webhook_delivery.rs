//! Failed deliveries to webhook endpoints, and attempts of deliveries.

use cuepoint_domain::event::EventType;
use cuepoint_domain::ids::WebhookEndpointId;
use cuepoint_domain::operation::Position;
use cuepoint_domain::provider_message::Excerpt;
use cuepoint_domain::webhook::{Attempt, AttemptError, AttemptOutcome, FailedDelivery};

use super::{Corrupt, known};
use crate::schema::{StoredWebhookAttempt, StoredWebhookDelivery};

impl StoredWebhookDelivery {
    /// Converts a failed delivery to its row.
    #[must_use]
    pub fn of(endpoint: WebhookEndpointId, delivery: &FailedDelivery) -> Self {
        Self {
            endpoint_id: endpoint.get(),
            position: delivery.position.get(),
            attempts: integer(delivery.attempts),
            next_at: delivery.next_at,
            failed_at: delivery.failed_at,
        }
    }

    /// Converts the row to its delivery.
    pub fn delivery(self) -> Result<FailedDelivery, Corrupt> {
        Ok(FailedDelivery {
            position: known("webhook_deliveries.position", Position::new(self.position))?,
            attempts: unsigned("webhook_deliveries.attempts", self.attempts)?,
            next_at: self.next_at,
            failed_at: self.failed_at,
        })
    }
}

impl StoredWebhookAttempt {
    /// Converts an attempt to its row, with its number among those of the endpoint.
    #[must_use]
    pub fn of(endpoint: WebhookEndpointId, number: i64, attempt: &Attempt) -> Self {
        let (status, error) = match attempt.outcome {
            AttemptOutcome::Answered { status, .. } => (Some(i32::from(status)), None),
            AttemptOutcome::Unanswered(error) => (None, Some(error.name().to_owned())),
        };
        Self {
            endpoint_id: endpoint.get(),
            number,
            position: attempt.position.map(Position::get),
            event_type: attempt.event_type.map(|kind| kind.name().to_owned()),
            attempt: integer(attempt.number),
            status,
            error,
            milliseconds: integer(attempt.milliseconds),
            answer: attempt.answer.as_ref().map(|answer| answer.as_str().to_owned()),
            at: attempt.at,
        }
    }

    /// Converts the row to its attempt. A type of a newer version is omitted.
    pub fn attempt(self) -> Result<Attempt, Corrupt> {
        let position =
            self.position.map(|position| known("webhook_attempts.position", Position::new(position)));
        Ok(Attempt {
            outcome: self.outcome()?,
            position: position.transpose()?,
            event_type: self.event_type.as_deref().and_then(EventType::named),
            number: unsigned("webhook_attempts.attempt", self.attempt)?,
            milliseconds: unsigned("webhook_attempts.milliseconds", self.milliseconds)?,
            answer: self.answer.map(Excerpt::from_stored),
            at: self.at,
        })
    }

    fn outcome(&self) -> Result<AttemptOutcome, Corrupt> {
        match (self.status, self.error.as_deref()) {
            (Some(status), None) => {
                let status = known("webhook_attempts.status", u16::try_from(status).ok())?;
                Ok(AttemptOutcome::Answered { status, retry_after: None })
            }
            (None, Some(error)) => {
                let error = known("webhook_attempts.error", AttemptError::named(error))?;
                Ok(AttemptOutcome::Unanswered(error))
            }
            _ => Err(Corrupt::Column("webhook_attempts.status")),
        }
    }
}

/// A number as a column holds it, at most the greatest that fits.
fn integer(number: u32) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

fn unsigned(column: &'static str, number: i32) -> Result<u32, Corrupt> {
    known(column, u32::try_from(number).ok())
}
