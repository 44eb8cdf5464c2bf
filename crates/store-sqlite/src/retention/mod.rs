//! Deletion of rows past their retention and of the identifying data of erased users, in batches. Each batch
//! is a change of its own, so that plans wait for one batch at most.

#[path = "../../../store-sql/per_store/retention/batches.rs"]
mod batches;
#[path = "../../../store-sql/per_store/retention/erasure.rs"]
mod erasure;
#[path = "../../../store-sql/per_store/retention/purge.rs"]
mod purge;
#[path = "../../../store-sql/per_store/retention/redaction.rs"]
mod redaction;
mod statements;
#[path = "../../../store-sql/per_store/retention/unused_guests.rs"]
mod unused_guests;

pub(crate) use purge::purge_expired;
