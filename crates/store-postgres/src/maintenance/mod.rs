//! Operator commands: preparing a restored database, and finalizing an upgrade.

pub(crate) mod finalize;
pub(crate) mod restore;
