//! Deletion of rows past their retention and of the identifying data of erased users, in batches. Each batch
//! is a change of its own, so that plans wait for one batch at most.

mod age;
mod erasure;
mod pace;
mod purge;
mod redaction;

pub(crate) use purge::purge_expired;
