//! Operator commands: diagnosis, backup and restore.

pub(crate) mod backup;
pub(crate) mod diagnosis;
mod prepared_file;
pub(crate) mod restore;
