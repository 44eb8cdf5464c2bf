//! The process dies at every step of applying a plan: after a restart, the same command with the same key has
//! taken effect exactly once.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::harness::{
    Answer, Call, Database, Person, Proxy, Server, Store, Traffic, cents, operator_keys, song,
};

const OPERATOR: &str = "operator@example.com";
const REPLAYED: &str = "idempotency-replayed";

/// Declares a test for each step of the writer; states whether the commit is made by then.
macro_rules! crash_at {
    ($($test:ident = $step:literal, committed: $committed:literal;)+) => {
        on_durable_stores!($($test),+);

        $(fn $test(store: Store) {
            crash_at(store, $step, $committed);
        })+
    };
}

crash_at! {
    crash_before_the_locks_applies_nothing = "before_lock", committed: false;
    crash_after_the_locks_applies_nothing = "after_lock", committed: false;
    crash_after_the_reads_applies_nothing = "after_read", committed: false;
    crash_after_the_writes_applies_nothing = "after_write", committed: false;
    crash_before_the_commit_applies_nothing = "before_commit", committed: false;
    crash_after_the_commit_loses_nothing = "after_commit", committed: true;
    crash_before_the_answer_loses_nothing = "before_answer", committed: true;
}

/// A guest, a DJ and an operator of one server.
struct Pair {
    guest: Person,
    dj: Person,
    operator: Person,
}

/// The observable effect: the available and held amounts and the number of entries of the guest and the DJ;
/// the guest's numbers of top-ups, requests and withdrawals, and their debt.
type Snapshot = [i64; 10];

impl Pair {
    fn at(&self, server: &Server) -> Self {
        let client = server.client();
        Self { guest: self.guest.at(&client), dj: self.dj.at(&client), operator: self.operator.at(&client) }
    }

    fn snapshot(&self) -> Snapshot {
        let total = |person: &Person, list: &str| person.get(list).data(200)["total"].as_i64().unwrap();
        let wallet = |person: &Person| {
            let (available, held) = person.wallet();
            [cents(&available), cents(&held), total(person, "/wallet/entries")]
        };
        let (guest, dj) = (wallet(&self.guest), wallet(&self.dj));
        let lists = ["/wallet/topups", "/music/user/requests", "/withdrawals"];
        let lists = lists.map(|list| total(&self.guest, list));
        let owed = cents(&self.guest.get("/wallet").raw("/data/wallet/owed"));
        [&guest[..], &dj, &lists, &[owed]].concat().try_into().unwrap()
    }
}

/// A command during which the process dies.
struct Command {
    /// The operation kind in the database; two consecutive commands differ, so that one can be repeated where
    /// the next is to crash.
    kind: &'static str,
    /// Prepares the state and returns the path of the command.
    path: fn(&Pair) -> String,
    call: fn(&Pair, &str) -> Call,
    /// The effect of applying the command once.
    effect: Snapshot,
}

fn withdrawal(guest: &Person) -> Call {
    let body = r#"{"amount": 12.50, "wallet_address": "a", "currency": "BTC", "network": "b"}"#;
    guest.call("POST", "/withdrawal/crypto").text(body)
}

fn post(pair: &Pair, path: &str, body: &Value) -> Call {
    pair.guest.call("POST", path).json(body)
}

const COMMANDS: [Command; 8] = [
    // An accepted request is played: 5.00 from the guest, 4.50 to the DJ, the rest to the platform account.
    Command {
        kind: "move_request",
        path: |Pair { guest, dj, .. }| {
            let request = guest.request_song(dj);
            dj.answer(request, "accepted").data(200);
            format!("/music/requests-update/{request}")
        },
        call: |pair, path| pair.dj.call("PATCH", path).json(&json!({"status": "played"})),
        effect: [0, -500, 1, 450, 0, 1, 0, 0, 0, 0],
    },
    Command {
        kind: "open_withdrawal",
        path: |_| "/withdrawal/crypto".to_owned(),
        call: |pair, _| withdrawal(&pair.guest),
        effect: [-1_250, 1_250, 1, 0, 0, 0, 0, 0, 1, 0],
    },
    Command {
        kind: "move_request",
        path: |Pair { guest, dj, .. }| format!("/music/requests/{}/cancel", guest.request_song(dj)),
        call: |pair, path| post(pair, path, &json!({})),
        effect: [500, -500, 1, 0, 0, 0, 0, 0, 0, 0],
    },
    Command {
        kind: "open_topup",
        path: |_| "/wallet/topups".to_owned(),
        call: |pair, path| post(pair, path, &json!({"amount": 7})),
        effect: [700, 0, 1, 0, 0, 0, 1, 0, 0, 0],
    },
    Command {
        kind: "open_request",
        path: |_| "/music/requests".to_owned(),
        call: |pair, path| post(pair, path, &song(pair.dj.id)),
        effect: [-500, 500, 1, 0, 0, 0, 0, 1, 0, 0],
    },
    Command {
        kind: "move_withdrawal",
        path: |Pair { guest, .. }| {
            let made = withdrawal(guest).send().json();
            format!("/withdrawals/{}/cancel", made["data"]["withdrawal_request"]["id"])
        },
        call: |pair, path| post(pair, path, &json!({})),
        effect: [1_250, -1_250, 1, 0, 0, 0, 0, 0, 0, 0],
    },
    // A top-up whose money was spent is charged back, while a withdrawal waits: 20.00 are owed.
    Command {
        kind: "reverse_topup",
        path: |Pair { guest, operator, .. }| {
            let (topup, _) = (guest.topup("20"), withdrawal(guest).send());
            let (id, (available, _)) = (guest.id, guest.wallet());
            let spend = format!(r#"{{"user_id": {id}, "amount": -{available}, "reason": "spent"}}"#);
            operator.call("POST", "/operator/adjustments").text(&spend).send().data(201);
            format!("/operator/topups/{topup}/chargeback")
        },
        call: |pair, path| pair.operator.call("POST", path).json(&json!({"reason": "stolen"})),
        effect: [0, 0, 1, 0, 0, 0, 0, 0, 0, 2_000],
    },
    // The money that returns pays the debt.
    Command {
        kind: "move_withdrawal",
        path: |Pair { guest, .. }| format!("/withdrawals/{}/cancel", guest.ids("/withdrawals", "id")[0]),
        call: |pair, path| post(pair, path, &json!({})),
        effect: [0, -1_250, 1, 0, 0, 0, 0, 0, 0, -1_250],
    },
];

/// A server that dies at the step of the first plan with a key that the command causes.
fn doomed(database: &Arc<Database>, step: &str, command: Option<&Command>) -> Server {
    let mut keys = vec![("fees.commission_bps", "1000")];
    keys.extend(operator_keys(OPERATOR));
    if let Some(command) = command {
        keys.extend([("CUEPOINT_CRASH_AT", step), ("CUEPOINT_CRASH_ON", command.kind)]);
    }
    Server::on(database, &keys)
}

fn crash_at(store: Store, step: &str, committed: bool) {
    let database = Arc::new(Database::of(store));
    let mut server = doomed(&database, step, COMMANDS.first());
    let operator = server.client().login(OPERATOR);
    let mut pair = Pair { guest: server.payer("1000"), dj: server.dj(), operator };
    for (place, command) in COMMANDS.iter().enumerate() {
        let path = (command.path)(&pair);
        let before = pair.snapshot();
        let told = format!("{} at {step}", command.kind);
        let call = |pair: &Pair| (command.call)(pair, &path).key(&format!("key-{place}"));
        assert!(call(&pair).try_send().is_err(), "{told}: it was answered");
        assert!(!server.ended().success(), "{told}");

        server = doomed(&database, step, COMMANDS.get(place + 1));
        pair = pair.at(&server);
        let once: Snapshot = std::array::from_fn(|number| before[number] + command.effect[number]);
        assert_eq!(pair.snapshot(), if committed { once } else { before }, "{told}, after the restart");
        let answer = call(&pair).send();
        is_done(&answer, committed, &told);
        is_done(&call(&pair).send(), true, &told);
        assert_eq!(call(&pair).send().text, answer.text, "{told}");
        assert_eq!(pair.snapshot(), once, "{told}, after the retries");
        database.verify();
    }
}

fn is_done(answer: &Answer, replayed: bool, told: &str) {
    assert!(matches!(answer.status, 200 | 201), "{told}: {answer}");
    assert_eq!(answer.header(REPLAYED).is_some(), replayed, "{told}: {answer}");
}

#[test]
fn crash_before_a_commit_that_is_sent_with_its_writes_applies_nothing() {
    let database = Arc::new(Database::postgres());
    let crash = [("CUEPOINT_CRASH_AT", "before_commit"), ("CUEPOINT_CRASH_ON", "open_withdrawal")];
    let mut server = Server::on(&database, &crash);
    let guest = server.payer("100");
    // Every statement is prepared after these. Only a plan with a key dies.
    is_done(&withdrawal(&guest).send(), false, "without a key");
    let topup = guest.call("POST", "/wallet/topups").json(&json!({"amount": 7}));
    is_done(&topup.key("first").send(), false, "another plan");
    let before = guest.wallet();
    assert!(withdrawal(&guest).key("k").try_send().is_err());
    assert!(!server.ended().success());

    let again = Server::on(&database, &[]);
    let guest = guest.at(&again.client());
    assert_eq!(guest.wallet(), before);
    is_done(&withdrawal(&guest).key("k").send(), false, "after the restart");
    is_done(&withdrawal(&guest).key("k").send(), true, "again");
    database.verify();
}

/// The connection is cut at a commit and stays cut until the process is dead, so that the outcome is unknown.
fn cut_at_the_commit(traffic: Traffic, committed: bool) {
    let database = Arc::new(Database::postgres());
    let proxy = Proxy::start(database.server());
    let start = || Server::through(&database, &database.url_at(proxy.address()), &[]);
    let mut server = start();
    let guest = server.payer("100");
    proxy.set(traffic);
    withdrawal(&guest).key("k").send().refused(503, "unavailable");
    server.signal("KILL");
    assert!(!server.ended().success());

    proxy.set(Traffic::Flows);
    let again = start();
    let guest = guest.at(&again.client());
    let entries = |count: usize| assert_eq!(guest.entries().len(), count);
    entries(if committed { 2 } else { 1 });
    is_done(&withdrawal(&guest).key("k").send(), committed, "a cut wire");
    is_done(&withdrawal(&guest).key("k").send(), true, "a cut wire");
    assert_eq!(guest.wallet(), ("87.50".into(), "12.50".into()));
    assert_eq!(guest.get("/withdrawals").data(200)["total"], 1);
    entries(2);
    database.verify();
}

#[test]
fn a_retry_applies_a_command_whose_commit_was_lost() {
    cut_at_the_commit(Traffic::CutBeforeCommit, false);
}

#[test]
fn a_retry_of_a_command_whose_commit_answer_is_lost_gets_a_replay() {
    cut_at_the_commit(Traffic::CutAfterCommit, true);
}
