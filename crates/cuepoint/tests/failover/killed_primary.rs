//! The primary is killed under load and a standby promoted, again and again.

use std::time::{Duration, Instant};

use crate::failovers::load::Load;
use crate::failovers::replicas::Replicas;
use crate::failovers::report::{Report, SUCCESS_WITHIN};
use crate::failovers::scene::{
    alone, compare_books, first_success, is_ready_within, no_panic, rounds, row_since, two_servers,
};

/// Commands that are acknowledged before and after each failover.
const COMMANDS: usize = 200;
/// How long these may take.
const LIMIT: Duration = Duration::from_secs(30);

#[test]
fn commands_resume_seconds_after_a_failover_and_each_is_applied_once() {
    let _cores = alone();
    let mut report = Report::new("killed primary");
    let mut replicas = Replicas::start();
    let servers = two_servers(&replicas.url());
    let load = Load::prepare(&servers);
    let begin = Instant::now();
    let diaries = load.run(|| {
        for round in 1..=rounds() {
            let start = Instant::now();
            let under_load = load.goes_on(start, COMMANDS, LIMIT);
            report.check(under_load, format!("round {round}: the servers take no commands"));
            let failover = replicas.fail_over();
            let first = first_success(&load, failover.killed, failover.promoted, &mut report);
            load.goes_on(failover.killed, COMMANDS, LIMIT);
            for server in &servers {
                let ready = is_ready_within(server, failover.promoted + SUCCESS_WITHIN);
                report.check(ready, format!("round {round}: a server is not ready again"));
            }
            row_since(&load, start, &format!("round {round}"), first, &mut report);
            replicas.rejoin(failover.old);
        }
    });
    compare_books(&replicas.primary().url(), &load, &diaries, begin, &mut report);
    no_panic(&servers, &mut report);
    report.finish();
}
