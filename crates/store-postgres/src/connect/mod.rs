//! Database connections, the node and the deployment behind them, and the schema.

pub(crate) mod cluster;
pub(crate) mod connection;
pub(crate) mod deployment;
pub(crate) mod failure;
pub(crate) mod kept_plans;
pub(crate) mod migrations;
pub(crate) mod node;
pub(crate) mod notifications;
pub(crate) mod per_thread;
pub(crate) mod pool;
pub(crate) mod sentinel;
pub(crate) mod shared_connection;
pub(crate) mod work;
