//! Attempts to deliver an event, and their schedule.

use strum::{EnumIter, EnumMessage, EnumString, IntoStaticStr};
use time::Duration;

use crate::event::EventType;
use crate::names::{explained_enum, named_enum};
use crate::operation::Position;
use crate::provider_message::Excerpt;
use crate::timestamp::Timestamp;

/// The delays of the second to the tenth attempt after the one before: 75 hours and 35 minutes in all.
const DELAYS: [Duration; 9] = [
    Duration::seconds(5),
    Duration::minutes(5),
    Duration::minutes(30),
    Duration::hours(2),
    Duration::hours(5),
    Duration::hours(10),
    Duration::hours(14),
    Duration::hours(20),
    Duration::hours(24),
];
/// The part by which a delay varies to either side, so that many deliveries that failed together are not
/// repeated together: a fifth.
const SPREAD: i64 = 5;
/// The longest delay that an endpoint can ask for.
const LONGEST_RETRY_AFTER: Duration = Duration::hours(24);

/// Why there is no answer to an attempt.
#[derive(Clone, Copy, PartialEq, Eq, Debug, IntoStaticStr, EnumString, EnumIter, EnumMessage)]
#[strum(serialize_all = "snake_case")]
pub enum AttemptError {
    /// The service must not call the URL or an address of its host. Shown only to operators.
    NotPermitted,
    /// No connection to the host could be opened.
    ConnectionFailed,
    /// The answer was not complete within the time limit.
    TimedOut,
    /// The answer was not HTTP, or it broke off.
    InvalidAnswer,
}

named_enum!(AttemptError);
explained_enum!(AttemptError);

/// The outcome of an attempt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AttemptOutcome {
    /// The endpoint answered.
    Answered {
        /// The HTTP status.
        status: u16,
        /// The time after which the endpoint asks for the next attempt.
        retry_after: Option<Duration>,
    },
    /// There is no answer.
    Unanswered(AttemptError),
}

/// What follows an attempt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FollowUp {
    /// Nothing: the event is delivered.
    Done,
    /// Another attempt.
    RepeatAt(Timestamp),
    /// Nothing, unless the delivery is replayed.
    GiveUp,
}

impl AttemptOutcome {
    /// Whether the event is delivered: a status from 200 to 299.
    #[must_use]
    pub const fn is_success(self) -> bool {
        matches!(self, Self::Answered { status: 200..=299, .. })
    }

    /// Whether the endpoint wants no further deliveries: the status 410.
    #[must_use]
    pub const fn is_gone(self) -> bool {
        matches!(self, Self::Answered { status: 410, .. })
    }

    /// The outcome as it is recorded: without the time that the endpoint asked for.
    #[must_use]
    pub const fn recorded(self) -> Self {
        match self {
            Self::Answered { status, .. } => Self::Answered { status, retry_after: None },
            Self::Unanswered(error) => Self::Unanswered(error),
        }
    }

    /// What follows the attempt with this number, from 1, that ended at `now`. `spread` selects the variation of
    /// the delay: from -1000 for a fifth less to 1000 for a fifth more.
    #[must_use]
    pub fn follow_up(self, number: u32, now: Timestamp, spread: i32) -> FollowUp {
        if self.is_success() {
            return FollowUp::Done;
        }
        let index = usize::try_from(number.saturating_sub(1)).unwrap_or(usize::MAX);
        let Some(delay) = DELAYS.get(index) else { return FollowUp::GiveUp };
        let varied = i64::try_from(delay.whole_microseconds()).unwrap_or(i64::MAX) / SPREAD;
        let varied = varied.saturating_mul(i64::from(spread.clamp(-1_000, 1_000))) / 1_000;
        let scheduled = delay.saturating_add(Duration::microseconds(varied));
        let asked = match self {
            Self::Answered { retry_after, .. } => retry_after,
            Self::Unanswered(_) => None,
        };
        let asked = asked.unwrap_or(Duration::ZERO).min(LONGEST_RETRY_AFTER);
        FollowUp::RepeatAt(now.plus(scheduled.max(asked)))
    }
}

/// An event that was not delivered to an endpoint.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FailedDelivery {
    /// The position of the event.
    pub position: Position,
    /// The number of attempts.
    pub attempts: u32,
    /// The time of the next attempt; `None` once the last one has failed.
    pub next_at: Option<Timestamp>,
    /// The time of the first attempt.
    pub failed_at: Timestamp,
}

/// A recorded attempt.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Attempt {
    /// The position of the event; `None` for a test.
    pub position: Option<Position>,
    /// The type of the event; `None` for a test, and for a type of a newer version.
    pub event_type: Option<EventType>,
    /// The number of the attempt for this event, from 1.
    pub number: u32,
    /// The outcome, without the time that the endpoint asked for.
    pub outcome: AttemptOutcome,
    /// The duration in milliseconds.
    pub milliseconds: u32,
    /// The beginning of the answer, for operators.
    pub answer: Option<Excerpt<1_024>>,
    /// The time of its beginning.
    pub at: Timestamp,
}
