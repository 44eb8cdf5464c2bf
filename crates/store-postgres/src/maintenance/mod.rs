//! Operator commands: diagnosis, backups, preparing a restored database, and finalizing an upgrade.

pub(crate) mod backup;
pub(crate) mod diagnosis;
pub(crate) mod finalize;
mod prepared_database;
pub(crate) mod restore;
