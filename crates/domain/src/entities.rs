//! The list of entities, from which everything that enumerates them is generated.
//!
//! An entity is an object that plans change and receipts show. `entities!` hands the list to a macro, which generates
//! code from it: kinds and references ([`crate::entity_ref`]), [`Entity`], the shelves of the book, and in the SQL
//! stores the rows that a group of plans locks, loads and writes.
//!
//! [`Entity`]: crate::operation::Entity

/// Hands the list of entities to the macro with this name.
///
/// Each entity has a kind, a type, the type of its id, a title in messages to operators, and whether money is posted
/// about it, so that ledger entries refer to it. Stored entities have a table; the order of the list is that in which
/// stores lock the tables. Recorded entities exist in receipts alone.
#[macro_export]
macro_rules! entities {
    ($each:ident) => {
        $each! {
            stored {
                MusicRequest($crate::music_request::MusicRequest, $crate::ids::RequestId) in music_requests
                    { title: "music request", posted: true }
                User($crate::user::User, $crate::ids::UserId) in users
                    { title: "person", posted: false }
                Withdrawal($crate::withdrawal::Withdrawal, $crate::ids::WithdrawalId) in withdrawals
                    { title: "withdrawal", posted: true }
                Topup($crate::topup::Topup, $crate::ids::TopupId) in topups
                    { title: "top-up", posted: true }
                ProviderMessage($crate::provider_message::ProviderMessage, $crate::ids::ProviderMessageId)
                    in provider_messages { title: "provider message", posted: false }
            }
            recorded {
                Adjustment($crate::ledger::adjustment::Adjustment, $crate::ids::AdjustmentId)
                    { title: "adjustment", posted: true }
            }
        }
    };
}
