//! Kills under load: clients repeat each command under its key until it is answered, while the server is
//! killed and started again. At the end, every acknowledged command is there exactly once.
//!
//! `CUEPOINT_SOAK=10` kills ten times as often.

mod client;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use fastrand::Rng;

use super::books::{Books, Purse};
use crate::harness::{Client, Database, Person, SHARED_KEY, Server, Store, cents, eventually, soak_times};
use client::{Asked, KeyedClient, Report};

on_durable_stores!(acknowledged_commands_have_exactly_one_effect_despite_kills_under_load);

/// The least number of kills per run.
const KILLS: usize = 5;
/// The factor by which there are more kills at most, until one comes between a commit and its answer.
const MORE_KILLS: usize = 8;
const CLIENTS: usize = 16;
/// The number of DJs, who are the first clients.
const DJS: usize = 4;
/// The seed of the times between kills.
const SEED: u64 = 14;
/// The most commands that are acknowledged between two kills.
const BETWEEN_KILLS: usize = 200;
/// The number of kills after which the ledger is audited before the next start.
const AUDIT_EVERY: usize = 10;

/// Access tokens outlive a kill, so that a repeated call is the same in every byte.
const SETTINGS: [(&str, &str); 7] = [
    SHARED_KEY,
    ("auth.access_token_ttl_seconds", "86400"),
    ("fees.commission_bps", "333"),
    ("withdrawals.auto_approve_below", "5"),
    // So short that requests expire while they are being answered.
    ("requests.pending_ttl_seconds", "4"),
    ("requests.accepted_ttl_seconds", "4"),
    ("requests.sweep_interval_seconds", "1"),
];

/// The users, their shared objects, and the server at its current address.
struct Town {
    people: Vec<Person>,
    /// `None` from a kill to the next start.
    address: Mutex<Option<Client>>,
    started: Condvar,
    requests: Mutex<Vec<Asked>>,
    /// Withdrawals with their owners.
    withdrawals: Mutex<Vec<(i64, usize)>>,
    /// The number of acknowledged commands.
    acknowledged: AtomicUsize,
    /// The number of commands that were applied by an attempt without an answer.
    found: AtomicUsize,
    over: AtomicBool,
}

impl Town {
    fn of(server: &Server) -> Self {
        let person = |place| if place < DJS { server.dj_at("3.00", "6.00") } else { server.guest() };
        Self {
            people: (0..CLIENTS).map(person).collect(),
            address: Mutex::new(Some(server.client())),
            started: Condvar::new(),
            requests: Mutex::default(),
            withdrawals: Mutex::default(),
            acknowledged: AtomicUsize::new(0),
            found: AtomicUsize::new(0),
            over: AtomicBool::new(false),
        }
    }

    /// The current address, after waiting for the next start if there is none.
    fn address(&self) -> Client {
        let address = self.address.lock().unwrap();
        let started = self.started.wait_while(address, |address| address.is_none()).unwrap();
        started.clone().unwrap()
    }

    fn set_address(&self, address: Option<Client>) {
        *self.address.lock().unwrap() = address;
        self.started.notify_all();
    }

    /// Kills the server at least this number of times, and until a kill came between a commit and its answer. Returns
    /// the last server and the number of kills.
    fn kill(&self, database: &Arc<Database>, mut server: Server, least: usize) -> (Server, usize) {
        let mut rng = Rng::with_seed(SEED);
        let mut kills = 0;
        while kills < least || self.found.load(Ordering::Relaxed) == 0 {
            assert!(kills < MORE_KILLS * least, "no kill came between a commit and its answer");
            kills += 1;
            let enough = self.acknowledged.load(Ordering::Relaxed) + rng.usize(..BETWEEN_KILLS);
            eventually("commands are acknowledged", || {
                (self.acknowledged.load(Ordering::Relaxed) >= enough).then_some(())
            });
            thread::sleep(Duration::from_micros(rng.u64(..20_000)));
            server.signal("KILL");
            self.set_address(None);
            assert!(!server.ended().success());
            assert_calm(&server);
            if kills % AUDIT_EVERY == 0 {
                database.verify();
            }
            server = Server::on(database, &SETTINGS);
            self.set_address(Some(server.client()));
        }
        let enough = self.acknowledged.load(Ordering::Relaxed) + BETWEEN_KILLS;
        eventually("the last server works", || {
            (self.acknowledged.load(Ordering::Relaxed) >= enough).then_some(())
        });
        (server, kills)
    }

    /// Lets every client act until the last kill; returns the last server and the reports.
    fn live(&self, database: &Arc<Database>, server: Server, kills: usize) -> (Server, Vec<Report>) {
        let begin = Instant::now();
        thread::scope(|scope| {
            let live = |who| KeyedClient::new(self, who).live();
            let clients: Vec<_> = (0..CLIENTS).map(|who| scope.spawn(move || live(who))).collect();
            let (server, kills) = self.kill(database, server, kills);
            self.over.store(true, Ordering::Relaxed);
            let reports: Vec<_> = clients.into_iter().map(|client| client.join().unwrap()).collect();
            eprintln!("{kills} kills in {:?}; {}", begin.elapsed(), Report::sum(&reports));
            (server, reports)
        })
    }
}

fn acknowledged_commands_have_exactly_one_effect_despite_kills_under_load(store: Store) {
    let database = Arc::new(Database::of(store));
    let server = Server::on(&database, &SETTINGS);
    let town = Town::of(&server);
    let before = operations(&database);
    let (mut server, reports) = town.live(&database, server, KILLS * soak_times());
    assert_every_command_has_one_effect(&database, &town, &server, &before, reports);
    server.signal("TERM");
    assert!(server.ended().success());
    assert_calm(&server);
    database.verify();
}

fn assert_calm(server: &Server) {
    for marker in ["panicked", "ERROR"] {
        assert!(!server.log().contains(marker), "the server said {marker:?}: {}", server.log());
    }
}

/// The number of operations of each kind that users caused. A change to the present status is a kind of its
/// own, which no answer states: all changes of a status count together.
fn operations(database: &Database) -> BTreeMap<String, usize> {
    let counted = "SELECT CASE WHEN kind IN ('move_request', 'move_withdrawal', 'none') THEN 'move' ELSE kind END, \
        count(*) FROM operations WHERE actor_user_id IS NOT NULL GROUP BY 1";
    let row = |row: Vec<Option<String>>| {
        let [kind, count] = row.try_into().unwrap();
        (kind.unwrap(), count.unwrap().parse().unwrap())
    };
    database.rows(counted).into_iter().map(row).collect()
}

fn assert_every_command_has_one_effect(
    database: &Database,
    town: &Town,
    server: &Server,
    before: &BTreeMap<String, usize>,
    reports: Vec<Report>,
) {
    eventually("what is past its time is given back", || {
        let open = "SELECT 1 FROM music_requests WHERE status IN ('pending', 'accepted')";
        database.rows(open).is_empty().then_some(())
    });
    // As many operations as acknowledged commands.
    let mut expected = before.clone();
    for (kind, count) in reports.iter().flat_map(|report| report.kinds()) {
        *expected.entry(kind.to_owned()).or_default() += count;
    }
    assert_eq!(operations(database), expected);
    // Each with the effect that its answer stated.
    let mut books = Books::default();
    let mut remembered = Vec::new();
    for report in reports {
        report.facts.into_iter().for_each(|fact| books.enter(fact));
        remembered.push(report.acknowledged);
    }
    for (place, expected) in books.purses(CLIENTS).into_iter().enumerate() {
        let (free, held) = town.people[place].moved_to(&server.client()).wallet();
        assert_eq!(Purse { free: cents(&free), held: cents(&held) }, expected, "person {place}");
    }
    // A further repetition shows the first answer, and changes nothing.
    thread::scope(|scope| {
        for commands in &remembered {
            scope.spawn(|| commands.iter().for_each(|command| command.assert_replayed(town)));
        }
    });
    assert_eq!(operations(database), expected);
}
