//! The life cycles of the HTTP contract, as the model reads them.

use crate::harness::refusal::Refusal;

/// The edges of a status: from, to, and the actor.
pub(crate) type Table = &'static [(&'static str, &'static str, &'static str)];

/// The moves of a request.
pub(crate) const REQUESTS: Table = &[
    ("pending", "accepted", "dj"),
    ("pending", "rejected", "dj"),
    ("accepted", "rejected", "dj"),
    ("pending", "cancelled", "requester"),
    ("accepted", "played", "dj"),
    ("pending", "played", "dj"),
    ("played", "refunded", "operator"),
];

/// The moves of a withdrawal; worker and provider act as operators here.
pub(crate) const WITHDRAWALS: Table = &[
    ("pending", "approved", "operator"),
    ("pending", "rejected", "operator"),
    ("pending", "cancelled", "owner"),
    ("approved", "processing", "operator"),
    ("approved", "rejected", "operator"),
    ("approved", "cancelled", "owner"),
    ("processing", "broadcast", "operator"),
    ("processing", "failed", "operator"),
    ("processing", "needs_review", "operator"),
    ("broadcast", "completed", "operator"),
    ("broadcast", "needs_review", "operator"),
    ("needs_review", "broadcast", "operator"),
    ("needs_review", "completed", "operator"),
    ("needs_review", "failed", "operator"),
];

/// The moves of a top-up.
pub(crate) const TOPUPS: Table = &[
    ("pending", "confirmed", "provider"),
    ("pending", "failed", "provider"),
    ("confirmed", "reversed", "operator"),
];

/// The statuses that an entity can move to from `current`, for any actor.
pub(crate) fn edges(table: Table, current: &str) -> Vec<&'static str> {
    table.iter().filter(|(from, ..)| *from == current).map(|(_, to, _)| *to).collect()
}

/// The refusal of a move from `current`, with the possible moves, time aside.
pub(crate) fn transition(table: Table, current: &'static str) -> Refusal {
    let rows = table.iter().filter(|(from, _, who)| *from == current && *who != "clock");
    Refusal::Transition { current, allowed: rows.map(|(_, to, _)| *to).collect() }
}
