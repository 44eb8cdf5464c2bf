//! The rules of the domain as tables of cases: amounts, moves, the ledger audit, and names that are stored.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "a test may fail loudly, and reads nothing that a stranger sent"
)]

mod addresses;
mod approvals;
mod chargebacks;
mod consent;
mod entry_hashes;
mod feature_levels;
mod gig_boards;
mod gig_queue;
mod gigs;
mod ledger_apply;
mod ledger_audit;
mod names;
mod payouts;
mod queue_room;
mod ratings;
mod reference_audit;
mod request_moves;
mod support;
mod tips;
mod ways_to_lose_money;
mod webhooks;
mod withdrawal_moves;
mod withdrawal_sums;
mod withdrawals_in_debt;
