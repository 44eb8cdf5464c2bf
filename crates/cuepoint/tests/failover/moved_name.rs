//! The database's name leads to a standby for a while, and to the primary again, and no connection is cut.

use std::thread;
use std::time::{Duration, Instant};

use crate::failovers::host_name::HostName;
use crate::failovers::load::{Kind, Load};
use crate::failovers::replicas::Replicas;
use crate::failovers::report::{Report, SUCCESS_WITHIN};
use crate::failovers::scene::{
    alone, compare_books, first_success, no_panic, readiness, row_since, server, two_servers, without_load,
};
use crate::harness::{Person, Server, eventually};

const COMMANDS: usize = 100;
const LIMIT: Duration = Duration::from_secs(30);

#[test]
fn servers_recover_from_a_host_name_that_points_to_a_standby() {
    let _cores = alone();
    let mut report = Report::new("moved name");
    let mut replicas = Replicas::start();
    // The name leads to what will be a standby.
    let name = HostName::of(replicas.primary().address());
    let servers = two_servers(&name.url());
    let load = Load::prepare(&servers);
    let people: Vec<Person> = servers.iter().map(Server::guest).collect();
    let begin = Instant::now();
    let diaries = load.run(|| {
        load.goes_on(begin, COMMANDS, LIMIT);
        let failover = replicas.fail_over();
        replicas.rejoin(failover.old);
        // Each server connects to the former primary, now a standby: the name still leads there.
        for (server, person) in servers.iter().zip(&people) {
            eventually("a command is refused", || {
                (Kind::TopUp.send(person, "refused").status == 503).then_some(())
            });
            is_not_ready(server, &mut report);
        }
        let back = Instant::now();
        name.names(replicas.primary().address());
        let first = first_success(&load, back, back, &mut report);
        for (server, person) in servers.iter().zip(&people) {
            is_well(server, person, back, &mut report);
        }
        row_since(&load, begin, "", first, &mut report);
    });
    compare_books(&replicas.primary().url(), &load, &diaries, begin, &mut report);
    no_panic(&servers, &mut report);
    report.finish();
}

#[test]
fn servers_abandon_a_replaced_primary() {
    let _cores = without_load();
    let mut report = Report::new("replaced primary lives on");
    let mut replicas = Replicas::start();
    let (here, there) = (server(&replicas.url()), server(&replicas.url()));
    let guest = here.payer("1");
    let at_there = guest.at(&there.client());
    replicas.promote(1);
    let promoted = Instant::now();
    let row = format!("SELECT available FROM wallets WHERE user_id = {}", guest.id);
    // Reads alone keep a server on the node that it is connected to.
    let mut moved = false;
    while !moved && promoted.elapsed() < LIMIT {
        Kind::TopUp.send(&guest, "key");
        let written = replicas.primary().value(&row).is_some_and(|available| available.starts_with("3."));
        let shown = at_there.get("/wallet");
        moved = written && shown.status == 200 && shown.raw("/data/wallet/available") == "3.00";
        thread::sleep(Duration::from_millis(200));
    }
    report.check(moved, "a server stays at the primary that was replaced".to_owned());
    report.finish();
}

/// Asserts that a server that cannot commit reports it for every request.
fn is_not_ready(server: &Server, report: &mut Report) {
    let mut ready = 0;
    for _ in 0..10 {
        ready += usize::from(readiness(server) != 503);
        thread::sleep(Duration::from_millis(100));
    }
    report.check(ready == 0, format!("a server that cannot commit was ready {ready} of 10 times"));
}

/// That a server takes commands again within seconds, is ready, and stays so.
fn is_well(server: &Server, person: &Person, back: Instant, report: &mut Report) {
    while (Kind::TopUp.send(person, "refused").status != 201 || readiness(server) != 200)
        && back.elapsed() < SUCCESS_WITHIN
    {
        thread::sleep(Duration::from_millis(50));
    }
    let failures = (0..20).filter(|count| {
        Kind::TopUp.send(person, &format!("well-{count}")).status != 201 || readiness(server) != 200
    });
    let failures = failures.count();
    report.check(
        failures == 0,
        format!("{failures} of 20 commands or looks failed after the name was right again"),
    );
}
