//! The data directory, its database file, and connections to it.

pub(crate) mod application;
pub(crate) mod connection;
pub(crate) mod data_directory;
pub(crate) mod deployment;
pub(crate) mod failure;
pub(crate) mod file_identity;
pub(crate) mod file_system;
pub(crate) mod in_use;
pub(crate) mod integrity;
pub(crate) mod last_backup;
pub(crate) mod migrations;
pub(crate) mod part;
pub(crate) mod readers;
pub(crate) mod reading_threads;
pub(crate) mod snapshots;
pub(crate) mod version;
