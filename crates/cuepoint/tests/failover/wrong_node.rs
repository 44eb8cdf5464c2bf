//! Nodes that a server must not use, wherever its URL leads: a stale primary, and a standby that lags.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::failovers::host_name::HostName;
use crate::failovers::load::{Kind, Load};
use crate::failovers::replicas::{NEXT_TRANSACTION, Replicas};
use crate::failovers::report::Report;
use crate::failovers::scene::{
    OPERATOR, alone, compare_books, first_success, no_panic, rounds, row_since, server,
};
use crate::failovers::witness::{Testimony, Witness};
use crate::harness::{Person, Server};

/// Commands that are acknowledged before each step.
const COMMANDS: usize = 100;
const LIMIT: Duration = Duration::from_secs(30);
/// Within what time a change of the revocation list or of the timeline is in force everywhere.
const IN_FORCE_WITHIN: Duration = Duration::from_secs(2);
/// How long the primary does not answer.
const FROZEN: Duration = Duration::from_secs(4);
/// Connections of a server to a node that are more than a look at it.
const STAYING: &str = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' \
                       AND application_name <> 'failover test' AND backend_start < now() - interval '2 s'";

/// How long the wrong node is there.
fn span() -> Duration {
    Duration::from_secs(3) * u32::try_from(rounds()).unwrap()
}

/// Judges what the witness has seen.
fn judge(seen: &Testimony, report: &mut Report) {
    report.check(seen.reads > 0, "no server answered a read");
    let first = seen.stale.first();
    report.check(
        first.is_none(),
        format!("{} of {} reads were stale: {first:?}", seen.stale.len(), seen.reads),
    );
}

/// Two servers: the first has every node in its URL, the second one name.
fn servers(replicas: &Replicas) -> ([Server; 2], HostName) {
    let name = HostName::of(replicas.primary().address());
    ([server(&replicas.url()), server(&name.url())], name)
}

#[test]
fn a_stale_primary_is_neither_read_from_nor_written_to() {
    let _cores = alone();
    let mut report = Report::new("stale primary");
    let mut replicas = Replicas::start();
    let (servers, name) = servers(&replicas);
    let (load, witness) = (Load::prepare(&servers), Witness::at(&servers));
    let begin = Instant::now();
    let diaries = load.run(|| {
        load.goes_on(begin, COMMANDS, LIMIT);
        let failover = replicas.fail_over();
        name.names(replicas.primary().address());
        let first = first_success(&load, failover.killed, failover.promoted, &mut report);
        // Every server has been connected to the new primary for longer than it may take to know that it is newer.
        thread::sleep(2 * IN_FORCE_WITHIN);
        replicas.return_as_stale_primary(failover.old);
        let stale = replicas.node(failover.old).session();
        let before = stale.value(NEXT_TRANSACTION);
        let seen = witness.during(|| {
            name.names(replicas.node(failover.old).address());
            replicas.terminate_clients_for(span());
            name.names(replicas.primary().address());
            // Of all nodes in the URL, the stale primary is the only writable one that answers.
            replicas.freeze_primary_for(FROZEN);
            load.goes_on(Instant::now(), COMMANDS, LIMIT);
        });
        judge(&seen, &mut report);
        report.check(stale.value(NEXT_TRANSACTION) == before, "the stale primary was written to");
        let staying = stale.column(STAYING).len();
        report.check(staying == 0, format!("{staying} connections stay at the stale primary"));
        row_since(&load, begin, "", first, &mut report);
        replicas.kill(failover.old);
    });
    compare_books(&replicas.primary().url(), &load, &diaries, begin, &mut report);
    no_panic(&servers, &mut report);
    report.finish();
}

#[test]
fn a_lagging_standby_does_not_lift_suspensions() {
    let _cores = alone();
    let mut report = Report::new("lagging standby");
    let mut replicas = Replicas::start();
    let (servers, name) = servers(&replicas);
    let (load, witness) = (Load::prepare(&servers), Witness::at(&servers));
    let operator = servers[0].client().login(OPERATOR);
    let suspects: Vec<Person> =
        (0..2 * rounds()).map(|_| servers[0].payer("100").at(&servers[1].client())).collect();
    let begin = Instant::now();
    let diaries = load.run(|| {
        load.goes_on(begin, COMMANDS, LIMIT);
        let failover = replicas.fail_over();
        name.names(replicas.primary().address());
        let first = first_success(&load, failover.killed, failover.promoted, &mut report);
        replicas.rejoin(failover.old);
        let lagging = replicas.node(failover.old).session();
        lagging.rows("SELECT pg_wal_replay_pause()");
        load.goes_on(Instant::now(), COMMANDS, LIMIT);
        let (some, others) = suspects.split_at(rounds());
        let mut suspended = Vec::new();
        let seen = witness.during(|| {
            // New connections of one server lead to the standby, and then to the primary again.
            for (node, suspects) in [(failover.old, some), (replicas.number_of_primary(), others)] {
                name.names(replicas.node(node).address());
                thread::scope(|scope| {
                    scope.spawn(|| {
                        suspended.extend(suspects.iter().filter_map(|one| suspend(&operator, one)))
                    });
                    replicas.terminate_clients_for(span());
                });
            }
        });
        judge(&seen, &mut report);
        report.check(suspended.is_empty(), suspended.join("; "));
        let staying = lagging.column(STAYING).len();
        report.check(staying == 0, format!("{staying} connections stay at the lagging standby"));
        row_since(&load, begin, "", first, &mut report);
    });
    compare_books(&replicas.primary().url(), &load, &diaries, begin, &mut report);
    no_panic(&servers, &mut report);
    report.finish();
}

/// Suspends a person at the operator's server, and returns what the person can still do at the other one when the
/// suspension must be in force there.
fn suspend(operator: &Person, suspect: &Person) -> Option<String> {
    let path = format!("/operator/users/{}/suspend", suspect.id);
    let order = operator.call("POST", &path).json(&json!({"reason": "as agreed"})).key(&path);
    let begin = Instant::now();
    while order.clone().send().status != 200 {
        if begin.elapsed() > LIMIT {
            return Some("the operator could not suspend anyone".to_owned());
        }
        thread::sleep(Duration::from_millis(100));
    }
    thread::sleep(IN_FORCE_WITHIN);
    for attempt in 0..5 {
        let answers = [suspect.get("/wallet"), Kind::Withdrawal.send(suspect, &format!("theft-{attempt}"))];
        // While its connections are terminated, a server may have to refuse everyone.
        if let Some(done) = answers.iter().find(|answer| !matches!(answer.status, 403 | 503)) {
            return Some(format!("a suspended person is answered {done}"));
        }
        thread::sleep(Duration::from_millis(100));
    }
    None
}
