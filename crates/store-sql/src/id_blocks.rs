//! Blocks of ids, of which a server takes one at a time.

use cuepoint_domain::ports::IdKind;

/// The number of ids in a block, which is the increment of PostgreSQL's sequence in its migration.
#[must_use]
pub const fn block_length(kind: IdKind) -> i64 {
    match kind {
        // Frequent ids.
        IdKind::MusicRequests | IdKind::Withdrawals => 1_024,
        IdKind::Users
        | IdKind::Topups
        | IdKind::Adjustments
        | IdKind::Sessions
        | IdKind::Gigs
        | IdKind::Tips => 32,
        // Servers of an earlier version add endpoints with the sequence of the column.
        IdKind::WebhookEndpoints => 1,
    }
}
