//! A PostgreSQL primary and two synchronous standbys, with the faults that a failover test needs.
//!
//! Every node has its own folder and its own port of 127.0.0.1. All nodes share one configuration, in which a commit
//! waits for one standby. `fsync` is off: processes are killed, the operating system is not.

mod node;
mod session;
mod supervisor;

use std::time::{Duration, Instant};

pub(crate) use node::Node;
pub(crate) use session::Session;
use supervisor::Supervisor;

use crate::harness::eventually;

/// The number of nodes: a primary and two standbys.
const NODES: usize = 3;

/// The configuration of every node. Each may be a primary, and each commit is on one more node before it is
/// acknowledged. A standby looks for its primary again at short intervals.
const SETTINGS: &str = "\
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
max_connections = 100
shared_buffers = 32MB
fsync = off
full_page_writes = off
autovacuum = off
synchronous_commit = on
synchronous_standby_names = 'ANY 1 (node0, node1, node2)'
wal_keep_size = 512MB
wal_retrieve_retry_interval = 200ms
";

/// A replicated database; dropping it ends its processes and removes its folder.
pub(crate) struct Replicas {
    nodes: [Node; NODES],
    primary: usize,
    supervisor: Supervisor,
}

/// A failover that was made.
pub(crate) struct Failover {
    /// The node that was the primary before.
    pub(crate) old: usize,
    /// When the primary was killed.
    pub(crate) killed: Instant,
    /// When the promotion began.
    pub(crate) promoted: Instant,
}

impl Replicas {
    /// Node 0 is the primary, the others follow it.
    pub(crate) fn start() -> Self {
        let supervisor = Supervisor::start();
        let nodes = [0, 1, 2].map(|number| Node::new(number, &supervisor));
        let mut replicas = Self { nodes, primary: 0, supervisor };
        let [primary, standbys @ ..] = &mut replicas.nodes;
        primary.initialize(SETTINGS);
        primary.start(&[]);
        for standby in standbys {
            standby.start_as_copy_of(primary.address());
        }
        replicas.wait_in_sync();
        replicas
    }

    pub(crate) const fn node(&self, number: usize) -> &Node {
        &self.nodes[number]
    }

    pub(crate) const fn primary(&self) -> &Node {
        &self.nodes[self.primary]
    }

    pub(crate) const fn number_of_primary(&self) -> usize {
        self.primary
    }

    /// The running nodes other than the primary.
    pub(crate) fn standbys(&self) -> Vec<usize> {
        let runs = |number: &usize| *number != self.primary && self.nodes[*number].is_running();
        (0..NODES).filter(runs).collect()
    }

    /// The address of the database with all nodes as hosts, in the order of their numbers.
    pub(crate) fn url(&self) -> String {
        let hosts: Vec<String> = self.nodes.iter().map(|node| node.address().to_string()).collect();
        format!("postgres://postgres@{}/postgres", hosts.join(","))
    }

    /// Kills the primary, promotes the standby that has received most, and has the other one follow it.
    pub(crate) fn fail_over(&mut self) -> Failover {
        let old = self.primary;
        self.nodes[old].kill();
        let killed = Instant::now();
        self.standbys().into_iter().for_each(|number| self.nodes[number].wait_for_end_of_stream());
        let promoted = Instant::now();
        self.promote_most_recent();
        Failover { old, killed, promoted }
    }

    /// Promotes the standby that has received most, and has the other one follow it. The other one could not follow a
    /// primary that has received less.
    pub(crate) fn promote_most_recent(&mut self) {
        let received = self.standbys().into_iter().map(|number| (self.nodes[number].last_received(), number));
        let (_, most_recent) = received.max().expect("a standby is running");
        self.promote(most_recent);
    }

    /// Promotes a standby and has the other one follow it.
    pub(crate) fn promote(&mut self, number: usize) {
        let old = std::mem::replace(&mut self.primary, number);
        self.nodes[number].promote();
        for standby in self.standbys().into_iter().filter(|standby| *standby != old) {
            self.nodes[standby].follow(self.primary().address());
        }
    }

    /// Kills every process of a node with SIGKILL.
    pub(crate) fn kill(&mut self, number: usize) {
        self.nodes[number].kill();
    }

    /// Stops every process of the primary with SIGSTOP: it neither answers nor closes a connection.
    pub(crate) fn freeze_primary(&mut self) {
        self.nodes[self.primary].freeze(&mut self.supervisor);
    }

    /// Stops the WAL senders of the primary: no commit leaves it any more.
    pub(crate) fn stop_wal_senders(&mut self) {
        self.nodes[self.primary].stop_wal_senders(&mut self.supervisor);
    }

    /// Has commits on the primary wait for no standby.
    pub(crate) fn commit_without_standbys(&self) {
        let session = self.primary().session();
        session.rows("ALTER SYSTEM SET synchronous_standby_names = ''");
        session.rows("SELECT pg_reload_conf()");
        let names = || session.value("SHOW synchronous_standby_names");
        eventually("commits wait for no standby", || (names().as_deref() == Some("")).then_some(()));
    }

    /// Stops the WAL receivers of both standbys: no commit is confirmed any more.
    pub(crate) fn stop_wal_receivers(&mut self) {
        for standby in self.standbys() {
            self.nodes[standby].stop_wal_receiver(&mut self.supervisor);
        }
    }

    /// Lets the stopped processes go on.
    pub(crate) fn resume(&mut self) {
        self.nodes.iter_mut().for_each(Node::resume);
        self.supervisor.forget_stopped();
    }

    /// Has the primary neither answer nor close a connection for this long.
    pub(crate) fn freeze_primary_for(&mut self, time: Duration) {
        self.freeze_primary();
        std::thread::sleep(time);
        self.resume();
    }

    /// Brings a killed node back as a standby of the present primary, with a fresh copy of its data.
    pub(crate) fn rejoin(&mut self, number: usize) {
        let primary = self.primary().address();
        self.nodes[number].start_as_copy_of(primary);
        self.wait_in_sync();
    }

    /// Starts a killed primary again on the data that it had: on its old timeline, and without a standby that could
    /// confirm a commit, it takes and acknowledges writes by itself.
    pub(crate) fn return_as_stale_primary(&mut self, number: usize) {
        assert_ne!(number, self.primary, "the present primary cannot be stale");
        self.nodes[number].start(&["-c", "synchronous_standby_names="]);
    }

    /// Waits until every running standby streams from the primary.
    pub(crate) fn wait_in_sync(&self) {
        let query = "SELECT application_name FROM pg_stat_replication \
                     WHERE state = 'streaming' AND sync_state = 'quorum'";
        let session = self.primary().session();
        eventually("the standbys are in sync", || {
            (session.column(query).len() == self.standbys().len()).then_some(())
        });
    }

    /// The transaction number of a commit that waits for a standby, once there is one.
    pub(crate) fn commit_in_flight(&self) -> u64 {
        let query = "SELECT backend_xid FROM pg_stat_activity \
                     WHERE wait_event = 'SyncRep' AND backend_xid IS NOT NULL";
        let session = self.primary().session();
        eventually("a commit waits for a standby", || session.value(query)).parse().unwrap()
    }

    /// When the newest connection of a client to the primary was made.
    pub(crate) fn newest_client(&self) -> Option<String> {
        self.primary().value(
            "SELECT max(backend_start) FROM pg_stat_activity \
             WHERE backend_type = 'client backend' AND application_name <> 'failover test'",
        )
    }

    /// Uses transaction numbers on the primary until this one has been used there.
    pub(crate) fn use_transaction_numbers_up_to(&self, number: u64) {
        let session = self.primary().session();
        let next = || -> u64 { session.value(NEXT_TRANSACTION).unwrap().parse().unwrap() };
        assert!(next() <= number, "transaction {number} was used on the new primary before");
        let uses = "DO $$ BEGIN FOR i IN 1..300 LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$";
        while next() <= number {
            session.rows(uses);
        }
    }

    /// Ends every client's connection to the primary at intervals, for this long.
    pub(crate) fn terminate_clients_for(&self, time: Duration) {
        let terminates = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                          WHERE backend_type = 'client backend' AND application_name <> 'failover test'";
        let (session, end) = (self.primary().session(), Instant::now() + time);
        while Instant::now() < end {
            session.rows(terminates);
            std::thread::sleep(Duration::from_millis(400));
        }
    }
}

/// The number of a node's next transaction: it stays while nothing is written.
pub(crate) const NEXT_TRANSACTION: &str = "SELECT pg_snapshot_xmax(pg_current_snapshot())";

impl Drop for Replicas {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.nodes.iter().for_each(Node::print_log);
        }
        self.supervisor.end();
        self.nodes.iter_mut().for_each(Node::reap);
    }
}
