//! The PostgreSQL cluster of a server, and the admission of connections to its nodes.
//!
//! After a failover two nodes may look alike: a standby answers reads, and a replaced primary that comes back
//! even accepts writes. A connection is therefore admitted only to a writable node of the deployment's own
//! cluster, on the newest timeline that this server has seen; a promotion begins a new timeline.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use cuepoint_domain::operation::feature_level::FeatureLevel;
use diesel::QueryResult;
use diesel_async::{AsyncPgConnection, SimpleAsyncConnection};
use tokio::time::Instant;

use crate::connect::failure::Refusal;
use crate::connect::kept_plans::{DISCARD, KeptPlans};
use crate::connect::node::Node;

/// The state of the cluster as seen by a server, shared by all its connections.
#[derive(Debug, Default)]
pub(crate) struct Cluster {
    /// Connections of an earlier generation are closed instead of being reused.
    generation: AtomicU64,
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    /// The system identifier of the deployment's own cluster, once known.
    system_identifier: Option<i64>,
    /// The newest timeline; 0 before the first connection.
    timeline: u32,
    /// The epoch of the data, once known.
    epoch: Option<i64>,
    /// The feature level of the deployment, once known.
    feature_level: Option<FeatureLevel>,
}

impl Cluster {
    /// The current generation; connections of any other one are not reused.
    pub(crate) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Closes every existing connection instead of reusing it.
    pub(crate) fn renew_connections(&self) {
        self.generation.fetch_add(1, Ordering::AcqRel);
    }

    /// Sets the cluster of the deployment's data.
    pub(crate) fn belongs_to(&self, system_identifier: i64) {
        self.seen().system_identifier = Some(system_identifier);
    }

    /// Whether the deployment is known, as it is while a server runs.
    pub(crate) fn is_recognised(&self) -> bool {
        self.seen().system_identifier.is_some()
    }

    /// Records the epoch of the data. A different one means that the database was restored and invalidates
    /// all state in memory.
    pub(crate) fn note_epoch(&self, epoch: i64) {
        let before = self.seen().epoch.replace(epoch);
        if before.is_some_and(|before| before != epoch) {
            tracing::warn!(epoch, "the database was restored: all connections are reopened");
            self.renew_connections();
        }
    }

    /// Records the feature level of the deployment.
    pub(crate) fn note_feature_level(&self, level: FeatureLevel) {
        let before = self.seen().feature_level.replace(level);
        if before.is_some_and(|before| before != level) {
            tracing::info!(level = level.number(), "the feature level has changed");
        }
    }

    /// The feature level that limits written values: the first one until the deployment's is known.
    pub(crate) fn feature_level(&self) -> FeatureLevel {
        self.seen().feature_level.unwrap_or(FeatureLevel::Level0)
    }

    /// Returns the generation of a connection to this node if the node is usable. A newer timeline closes all
    /// connections opened before.
    pub(crate) fn admit(&self, node: &Node) -> Result<u64, Refusal> {
        if !node.options_arrived {
            return Err(Refusal::OptionsDropped);
        }
        let timeline = node.timeline().filter(|_| node.writable).ok_or(Refusal::ReadOnly)?;
        let mut seen = self.seen();
        if let Some(own) = seen.system_identifier.filter(|own| *own != node.system_identifier) {
            return Err(Refusal::OtherSystem(node.system_identifier, own));
        }
        if timeline < seen.timeline {
            return Err(Refusal::OlderTimeline(timeline, seen.timeline));
        }
        if timeline > seen.timeline {
            if seen.timeline > 0 {
                tracing::warn!(timeline, before = seen.timeline, "the database has a new primary");
                self.renew_connections();
            }
            seen.timeline = timeline;
        }
        Ok(self.generation())
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection to an admitted node.
pub(crate) struct AdmittedConnection {
    connection: AsyncPgConnection,
    generation: u64,
    backend: i32,
    timeline: Option<u32>,
    opened: Instant,
    plans: KeptPlans,
}

impl AdmittedConnection {
    pub(crate) fn new(connection: AsyncPgConnection, node: &Node, generation: u64) -> Self {
        Self {
            connection,
            generation,
            backend: node.backend,
            timeline: node.timeline(),
            opened: Instant::now(),
            plans: KeptPlans::new(),
        }
    }

    /// Whether its plans are to be discarded now; the caller does it.
    pub(crate) fn plans_are_due(&self) -> bool {
        self.plans.are_due(self.opened.elapsed())
    }

    /// Discards its plans if that is due.
    pub(crate) async fn renew_plans(&self) -> QueryResult<()> {
        if self.plans_are_due() { (&mut &self.connection).batch_execute(DISCARD).await } else { Ok(()) }
    }

    /// The timeline of its node, which a running primary keeps.
    pub(crate) fn timeline(&self) -> Option<u32> {
        self.timeline
    }

    /// The process id of the connection's backend.
    pub(crate) fn backend(&self) -> i32 {
        self.backend
    }

    /// Whether the connection may still be used.
    pub(crate) fn is_current(&self, cluster: &Cluster) -> bool {
        self.generation == cluster.generation()
    }

    /// Returns the bare connection, for work that opens and closes its own.
    pub(crate) fn into_inner(self) -> AsyncPgConnection {
        self.connection
    }
}

impl Deref for AdmittedConnection {
    type Target = AsyncPgConnection;

    fn deref(&self) -> &AsyncPgConnection {
        &self.connection
    }
}

impl DerefMut for AdmittedConnection {
    fn deref_mut(&mut self) -> &mut AsyncPgConnection {
        &mut self.connection
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(timeline: u32) -> Node {
        Node {
            writable: true,
            wal_file: Some(format!("{timeline:08X}0000000000000001")),
            system_identifier: 7,
            clock_micros: 0,
            backend: 1,
            options_arrived: true,
        }
    }

    #[test]
    fn a_newer_timeline_starts_a_generation_and_nodes_on_an_older_one_are_refused() {
        let cluster = Cluster::default();
        let first = cluster.admit(&node(9)).unwrap();
        assert_eq!(cluster.admit(&node(9)), Ok(first));
        let promoted = cluster.admit(&node(16)).unwrap();
        assert!(first < promoted && promoted == cluster.generation());
        assert_eq!(cluster.admit(&node(9)), Err(Refusal::OlderTimeline(9, 16)));
        assert_eq!(cluster.admit(&node(16)), Ok(promoted));
    }

    #[test]
    fn only_writable_nodes_of_the_same_cluster_are_used() {
        let cluster = Cluster::default();
        let standby = Node { writable: false, wal_file: None, ..node(1) };
        assert_eq!(cluster.admit(&standby), Err(Refusal::ReadOnly));
        assert_eq!(cluster.admit(&Node { writable: false, ..node(1) }), Err(Refusal::ReadOnly));
        assert_eq!(cluster.admit(&Node { options_arrived: false, ..node(1) }), Err(Refusal::OptionsDropped));
        cluster.belongs_to(8);
        assert_eq!(cluster.admit(&node(1)), Err(Refusal::OtherSystem(7, 8)));
        cluster.belongs_to(7);
        assert!(cluster.admit(&node(1)).is_ok());
    }

    #[test]
    fn each_new_epoch_starts_a_new_connection_generation() {
        let cluster = Cluster::default();
        for (epoch, generation) in [(0, 0), (0, 0), (5, 1), (5, 1), (6, 2)] {
            cluster.note_epoch(epoch);
            assert_eq!(cluster.generation(), generation);
        }
    }
}
