//! Operator commands: backup and restore.

pub(crate) mod backup;
mod prepared_file;
pub(crate) mod restore;
