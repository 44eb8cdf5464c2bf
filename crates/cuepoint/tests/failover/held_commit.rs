//! A commit that waits for stopped standbys: the answer is true and the change takes effect once.

use std::thread;
use std::time::{Duration, Instant};

use crate::failovers::books::ids;
use crate::failovers::host_name::HostName;
use crate::failovers::load::Kind;
use crate::failovers::replicas::Replicas;
use crate::failovers::report::{REFUSED_WITHIN, Report, seconds};
use crate::failovers::scene::{insist, readiness, server, timed, without_load};
use crate::harness::{Answer, Person, Server, cents, eventually, run};

const REPLAYED: &str = "idempotency-replayed";
/// The key of the command whose commit is held.
const KEY: &str = "held";

/// A server that reaches the primary by a name, and a guest who has paid in 100.00 and 2.00 there.
struct Scene {
    replicas: Replicas,
    name: HostName,
    server: Server,
    guest: Person,
}

impl Scene {
    fn new() -> Self {
        let replicas = Replicas::start();
        let name = HostName::of(replicas.primary().address());
        let server = server(&name.url());
        let guest = server.payer("100");
        assert_eq!(Kind::TopUp.send(&guest, "before").status, 201);
        Self { replicas, name, server, guest }
    }

    /// Sends a top-up, runs the closure while its commit is held, and returns the answer and its duration.
    fn during_commit(&mut self, fault: impl FnOnce(&mut Replicas, &HostName, u64)) -> (Answer, Duration) {
        let (replicas, name, guest) = (&mut self.replicas, &self.name, &self.guest);
        thread::scope(|scope| {
            let call = scope.spawn(|| timed(Kind::TopUp, guest, KEY));
            let transaction = replicas.commit_in_flight();
            fault(replicas, name, transaction);
            call.join().unwrap()
        })
    }

    /// That the answer was either a success that is true or a 503 in time, and that a retry under its key leaves one
    /// effect.
    fn has_one_effect(&self, answer: &Answer, took: Duration, report: &mut Report) {
        eventually("the server reads again", || (self.guest.get("/wallet").status == 200).then_some(()));
        let there = ids(&self.guest, "/wallet/topups");
        match answer.status {
            201 => {
                let id = Kind::TopUp.id(answer);
                report.check(there.contains(&id), format!("top-up {id} was acknowledged and does not exist"));
                report.check(answer.header(REPLAYED).is_none(), "the first answer is marked as replayed");
            }
            503 => report.check(took <= REFUSED_WITHIN, format!("a 503 came after {}", seconds(took))),
            _ => report.check(false, format!("{answer}")),
        }
        let again = insist(Kind::TopUp, &self.guest, KEY);
        if answer.status == 201 {
            report.check(Kind::TopUp.id(&again) == Kind::TopUp.id(answer), "the retry made another top-up");
        }
        let topups = ids(&self.guest, "/wallet/topups").len();
        report.check(topups == 3, format!("{topups} top-ups instead of 3"));
        let (available, _) = self.guest.wallet();
        report.check(cents(&available) == 10_400, format!("{available} in place of 104.00"));
        let (status, printed) = run(&["ledger", "verify"], Some(&self.replicas.primary().url()), &[]);
        report.check(status.code() == Some(0), printed);
        report.check(!self.server.log().contains("panicked"), "the server panicked");
        report.answer("", answer.status, took);
    }
}

#[test]
fn a_lost_commit_is_not_taken_as_applied_when_its_transaction_id_is_reused() {
    let _cores = without_load();
    let mut report = Report::new("transaction number used again");
    let mut scene = Scene::new();
    scene.replicas.stop_wal_senders();
    let (answer, took) = scene.during_commit(|replicas, name, transaction| {
        let begin = Instant::now();
        replicas.freeze_primary();
        replicas.promote_most_recent();
        replicas.use_transaction_numbers_up_to(transaction);
        name.names(replicas.primary().address());
        // The server notices the end of its connection only when the number is in use.
        name.cut();
        replicas.kill(0);
        eprintln!("failover under a held commit: {}", seconds(begin.elapsed()));
    });
    scene.replicas.wait_in_sync();
    scene.has_one_effect(&answer, took, &mut report);
    report.finish();
}

#[test]
fn an_interrupted_commit_is_answered_when_the_standby_resumes() {
    let _cores = without_load();
    let mut report = Report::new("held commit, connection cut");
    let mut scene = Scene::new();
    scene.replicas.stop_wal_receivers();
    let (answer, took) = scene.during_commit(|replicas, name, _| {
        let newest = replicas.newest_client();
        name.cut();
        eventually("the server connects again", || (replicas.newest_client() != newest).then_some(()));
        replicas.resume();
    });
    report.check(answer.status == 201, format!("{answer}"));
    scene.has_one_effect(&answer, took, &mut report);
    report.finish();
}

#[test]
fn a_blocked_commit_times_out_and_is_applied_once() {
    let _cores = without_load();
    let mut report = Report::new("held commit, standby silent");
    let mut scene = Scene::new();
    scene.replicas.stop_wal_receivers();
    let (answer, took) = scene.during_commit(|_, name, _| name.cut());
    report.check(answer.status == 503, format!("{answer}"));
    scene.replicas.resume();
    scene.has_one_effect(&answer, took, &mut report);
    report.finish();
}

#[test]
fn an_unreplicated_commit_is_answered_503_and_applied_once() {
    let _cores = without_load();
    let mut report = Report::new("held commit, backend terminated");
    let mut scene = Scene::new();
    scene.replicas.stop_wal_receivers();
    // PostgreSQL ends the wait, and leaves the transaction committed on the primary alone.
    let (answer, took) = scene.during_commit(|replicas, _, _| {
        let waiting = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
        replicas.primary().session().rows(waiting);
    });
    report.check(answer.status == 503, format!("{answer}"));
    scene.replicas.resume();
    scene.has_one_effect(&answer, took, &mut report);
    report.finish();
}

#[test]
fn at_most_one_commit_of_the_health_checks_waits_for_a_standby() {
    let _cores = without_load();
    let mut report = Report::new("health checks, standby silent");
    let mut replicas = Replicas::start();
    let server = server(&replicas.url());
    eventually("the server is ready", || (readiness(&server) == 200).then_some(()));
    replicas.stop_wal_receivers();
    eventually("the server is not ready", || (readiness(&server) == 503).then_some(()));
    for _ in 0..20 {
        report.check(readiness(&server) == 503, "the server is ready without a standby".to_owned());
    }
    let waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    let waiting = replicas.primary().session().value(waiting);
    report.check(waiting.as_deref() == Some("1"), format!("{waiting:?} commits wait"));
    replicas.resume();
    eventually("the server is ready again", || (readiness(&server) == 200).then_some(()));
    report.finish();
}

#[test]
fn a_new_server_refuses_commands_without_standbys() {
    let _cores = without_load();
    let mut report = Report::new("fresh server, standbys silent");
    let mut replicas = Replicas::start();
    let server = server(&replicas.url());
    // A registration fetches no id of a top-up.
    let guest = server.guest();
    replicas.stop_wal_receivers();
    let keys: Vec<String> = (0..6).map(|number| format!("key-{number}")).collect();
    let answers: Vec<(Answer, Duration)> = thread::scope(|scope| {
        let calls: Vec<_> = keys
            .iter()
            .map(|key| {
                let call = scope.spawn(|| timed(Kind::TopUp, &guest, key));
                thread::sleep(Duration::from_millis(300));
                call
            })
            .collect();
        calls.into_iter().map(|call| call.join().unwrap()).collect()
    });
    for (number, (answer, took)) in answers.iter().enumerate() {
        report.check(answer.status == 503, format!("{answer}"));
        report.check(*took <= REFUSED_WITHIN, format!("call {number} was refused after {}", seconds(*took)));
        report.answer(&format!("call {number}"), answer.status, *took);
    }
    replicas.resume();
    keys.iter().for_each(|key| drop(insist(Kind::TopUp, &guest, key)));
    let topups = ids(&guest, "/wallet/topups").len();
    report.check(topups == 6, format!("{topups} top-ups instead of 6"));
    report.check(guest.wallet().0 == "12.00", format!("{:?} in place of 12.00", guest.wallet()));
    report.finish();
}
