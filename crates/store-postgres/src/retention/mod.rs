//! Deletion: rows past their retention, and what identifies an erased person. In batches, each a transaction
//! of its own.

mod erasure;
mod pace;
mod purge;
pub(crate) mod redaction;

pub(crate) use purge::purge_expired;
