//! The kinds of wallet entries on the wire: their names and meanings. Stores and hashes have names of their own.

use cuepoint_domain::ledger::EntryKind;

/// The name on the wire.
#[must_use]
pub fn name(kind: EntryKind) -> &'static str {
    match kind {
        // Stored as `reversal`, which on the wire would be confused with the reversal of a top-up.
        EntryKind::Reversal => "refund_taken",
        other => other.name(),
    }
}

/// The kind with this name on the wire, if this version knows it.
#[must_use]
pub fn named(text: &str) -> Option<EntryKind> {
    EntryKind::all().find(|kind| name(*kind) == text)
}

/// What an entry of this kind records.
#[must_use]
pub const fn meaning(kind: EntryKind) -> &'static str {
    match kind {
        EntryKind::Topup => "A top-up was paid in.",
        EntryKind::Hold => "The fee of a request or the amount of a withdrawal was held.",
        EntryKind::Release => {
            "A held amount was released, because the song was not played or the withdrawal was not sent. It pays the \
             owner's debt first."
        }
        EntryKind::Capture => {
            "A held amount was paid: for a played song, or for a completed withdrawal. `amount` is 0, because the \
             hold has already taken it from the available balance."
        }
        EntryKind::Earning => "A DJ was paid for a played song or got a tip, less the platform's commission.",
        EntryKind::Refund => "A guest got the fee of a played song back.",
        EntryKind::Reversal => "A DJ's payment for a song was taken back, because the fee was refunded.",
        EntryKind::Adjustment => "An operator corrected the balance.",
        EntryKind::Chargeback => "A top-up was taken back, because its payment was charged back.",
        EntryKind::Tip => "A guest gave a tip to a DJ.",
        EntryKind::Unknown(_) => "A kind of a newer version.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entry_kinds_are_found_by_their_wire_names() {
        assert!(EntryKind::all().all(|kind| named(name(kind)) == Some(kind)));
        assert_eq!((named("refund_taken"), named("reversal")), (Some(EntryKind::Reversal), None));
    }
}
