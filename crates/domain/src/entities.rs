//! The list of entities. Code that enumerates entities is generated from it.
//!
//! An entity is an object that plans change and receipts show. `entities!` hands the list to a macro. Such macros
//! generate the ids, the kinds and references ([`crate::entity_ref`]), [`Entity`], and the shelves of the book. In the
//! SQL stores they generate the rows that a group of plans locks, loads and writes.
//!
//! [`Entity`]: crate::operation::Entity

/// Hands the list of entities to the macro with this name.
///
/// Each entity has a kind, a type, the type of its id in [`crate::ids`], and a title in messages to operators. Ledger
/// entries refer to `posted` entities, because plans about them move money. Stored entities have a table. Stores lock
/// the tables in the order of the list. Recorded entities exist in receipts alone.
#[macro_export]
macro_rules! entities {
    ($each:ident) => {
        $each! {
            stored {
                MusicRequest($crate::music_request::MusicRequest, RequestId) in music_requests
                    { title: "music request", posted: true }
                User($crate::user::User, UserId) in users
                    { title: "user", posted: false }
                Withdrawal($crate::withdrawal::Withdrawal, WithdrawalId) in withdrawals
                    { title: "withdrawal", posted: true }
                Topup($crate::topup::Topup, TopupId) in topups
                    { title: "top-up", posted: true }
                ProviderMessage($crate::provider_message::ProviderMessage, ProviderMessageId)
                    in provider_messages { title: "provider message", posted: false }
                Rating($crate::music_request::RequestRating, RatingId) in ratings
                    { title: "rating", posted: false }
                Gig($crate::gig::Gig, GigId) in gigs
                    { title: "gig", posted: false }
                Tip($crate::tip::Tip, TipId) in tips
                    { title: "tip", posted: true }
            }
            recorded {
                GigRecord($crate::gig::GigRecord, GigRecordId)
                    { title: "gig record", posted: false }
                Adjustment($crate::ledger::adjustment::Adjustment, AdjustmentId)
                    { title: "adjustment", posted: true }
            }
        }
    };
}
