//! Views of attempts to deliver to webhook endpoints: for their owners, and for operators.

use cuepoint_domain::event::EventType;
use cuepoint_domain::operation::Position;
use cuepoint_domain::provider_message::Excerpt;
use cuepoint_domain::webhook::{self, AttemptOutcome};

use crate::view;
use crate::wire::names;
use crate::wire::time::WireTimestamp;

view! {
    /// An attempt to deliver an event or a test.
    pub struct WebhookAttemptView as WebhookAttempt of (attempt: &webhook::Attempt) {
        let (status, error) = match attempt.outcome {
            AttemptOutcome::Answered { status, .. } => (Some(status), None),
            AttemptOutcome::Unanswered(error) => (None, Some(error.name())),
        };
        /// Position of the event; null for a test.
        #[schema(minimum = 1, example = 1234)]
        position: Option<i64> = attempt.position.map(Position::get),
        /// Type of the event, `webhook.test`, or `unknown` for a type that this server does not know.
        #[schema(value_type = names::WebhookType, example = "music_request.accepted")]
        r#type: &'static str = match (attempt.position, attempt.event_type) {
            (None, _) => names::WEBHOOK_TEST,
            (Some(_), kind) => kind.map_or(names::UNKNOWN_TYPE, EventType::name),
        },
        /// Number of the attempt for this event, from 1 to 10.
        #[schema(minimum = 1, example = 1)]
        number: u32 = attempt.number,
        /// HTTP status of the answer; null without a complete answer.
        #[schema(minimum = 100, maximum = 999, example = 204)]
        status: Option<u16> = status,
        /// Reason why there is no complete answer; null with an answer.
        #[schema(value_type = Option<names::WebhookAttemptError>)]
        error: Option<&'static str> = error,
        /// Duration in milliseconds.
        #[schema(minimum = 0, example = 87)]
        duration_ms: u32 = attempt.milliseconds,
        /// Start of the attempt.
        #[timestamp(example = "2026-01-31T20:15:00.000000Z")]
        created_at: WireTimestamp = WireTimestamp(attempt.at),
    }
}

view! {
    /// An attempt to deliver an event or a test, with the answer.
    pub struct OperatorWebhookAttemptView as OperatorWebhookAttempt of (attempt: &webhook::Attempt) {
        /// The attempt.
        #[serde(flatten)]
        attempt: WebhookAttemptView = WebhookAttemptView::new(attempt),
        /// First 1024 bytes of the answer; null without an answer.
        #[schema(example = "ok")]
        answer: Option<String> = attempt.answer.as_ref().map(Excerpt::to_string),
    }
}

#[cfg(test)]
mod tests {
    use cuepoint_domain::timestamp::Timestamp;
    use cuepoint_domain::webhook::{Attempt, AttemptError};

    use super::*;

    #[test]
    fn only_operators_see_the_answer_of_an_attempt() {
        let at = r#""1970-01-01T00:00:00.000000Z""#;
        let test = Attempt {
            position: None,
            event_type: None,
            number: 1,
            outcome: AttemptOutcome::Unanswered(AttemptError::TimedOut),
            milliseconds: 15_000,
            answer: None,
            at: Timestamp::EPOCH,
        };
        let event = Attempt {
            position: Position::new(9),
            event_type: Some(EventType::TopupCreated),
            outcome: AttemptOutcome::Answered { status: 500, retry_after: None },
            answer: Some(Excerpt::of("no")),
            ..test.clone()
        };
        for (attempt, keys, answer) in [
            (
                test,
                r#""position":null,"type":"webhook.test","number":1,"status":null,"error":"timed_out""#,
                "null",
            ),
            (event, r#""position":9,"type":"topup.created","number":1,"status":500,"error":null"#, r#""no""#),
        ] {
            let keys = format!(r#"{{{keys},"duration_ms":15000,"created_at":{at}"#);
            let shown = serde_json::to_string(&WebhookAttemptView::new(&attempt)).unwrap();
            assert_eq!(shown, format!("{keys}}}"));
            let shown = serde_json::to_string(&OperatorWebhookAttemptView::new(&attempt)).unwrap();
            assert_eq!(shown, format!(r#"{keys},"answer":{answer}}}"#));
        }
    }
}
