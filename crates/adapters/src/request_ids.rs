//! Ids of requests.

use uuid::Uuid;

/// Returns a new request id, ordered by time.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "this is the source of request ids")]
pub fn new_request_id() -> Uuid {
    Uuid::now_v7()
}
