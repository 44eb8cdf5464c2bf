//! Deletion of rows past their retention and of the identifying data of erased users, in batches, each a
//! transaction of its own.

mod erasure;
mod pace;
mod purge;
pub(crate) mod redaction;

pub(crate) use purge::purge_expired;
