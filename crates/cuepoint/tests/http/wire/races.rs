//! Keys and limits under concurrent calls to two servers on one database.

use std::sync::Arc;

use crate::harness::{Call, Database, Person, Server, at_once, song};

/// Two servers on one database.
struct Pair {
    database: Arc<Database>,
    servers: [Server; 2],
}

impl Pair {
    fn start(keys: &[(&str, &str)]) -> Self {
        let database = Arc::new(Database::postgres());
        let servers = [Server::on(&database, keys), Server::on(&database, keys)];
        Self { database, servers }
    }

    /// A guest with a balance, logged in on both servers.
    fn payer(&self, amount: &str) -> [Person; 2] {
        let guest = self.servers[0].payer(amount);
        [guest.at(&self.servers[0].client()), guest.at(&self.servers[1].client())]
    }
}

fn withdrawal(guest: &Person, amount: u32) -> Call {
    let body =
        format!(r#"{{"amount": {amount}, "wallet_address": "a", "currency": "BTC", "network": "bitcoin"}}"#);
    guest.call("POST", "/withdrawal/crypto").text(&body)
}

/// This many calls, alternating between the two servers.
fn in_turn(calls: usize, guest: &[Person; 2], call: impl Fn(&Person) -> Call) -> Vec<Call> {
    (0..calls).map(|number| call(&guest[number % 2])).collect()
}

#[test]
fn one_idempotency_key_on_two_servers_has_one_effect_and_one_answer() {
    let pair = Pair::start(&[]);
    let guest = pair.payer("1000");
    let topup = |person: &Person| person.call("POST", "/wallet/topups").text(r#"{"amount": 5}"#);
    for round in 0..40 {
        let key = format!("key-{round}");
        let calls = match round % 2 {
            0 => in_turn(2, &guest, |person| withdrawal(person, 1).key(&key)),
            _ => in_turn(2, &guest, |person| topup(person).key(&key)),
        };
        let answers = at_once(calls);
        assert_eq!((answers[0].status, answers[1].status), (201, 201), "round {round}: {answers:?}");
        assert_eq!(answers[0].text, answers[1].text, "round {round}");
        let replayed = answers.iter().filter(|answer| answer.header("idempotency-replayed").is_some());
        assert_eq!(replayed.count(), 1, "round {round}: {answers:?}");
    }
    for person in &guest {
        assert_eq!(person.wallet(), ("1080.00".into(), "20.00".into()));
    }
    assert_eq!(guest[0].entries().len(), 41);
    pair.database.verify();
}

#[test]
fn the_daily_withdrawal_limit_holds_across_two_servers() {
    let pair = Pair::start(&[("withdrawals.max_per_24h", "25")]);
    for _ in 0..10 {
        let guest = pair.payer("100");
        let answers = at_once(in_turn(12, &guest, |person| withdrawal(person, 10)));
        let (made, refused): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.status == 201);
        refused.iter().for_each(|answer| drop(answer.refused(422, "limit_exceeded")));
        assert_eq!((made.len(), refused.len()), (2, 10));
        assert_eq!(guest[1].wallet(), ("80.00".into(), "20.00".into()));
    }
    pair.database.verify();
}

#[test]
fn the_open_request_limit_holds_across_two_servers() {
    let pair = Pair::start(&[("requests.max_open_per_dj", "3")]);
    let dj = pair.servers[0].dj();
    for _ in 0..10 {
        let guest = pair.payer("100");
        let request_song = |person: &Person| person.call("POST", "/music/requests").json(&song(dj.id));
        let answers = at_once(in_turn(12, &guest, request_song));
        let (made, refused): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.status == 201);
        refused.iter().for_each(|answer| drop(answer.refused(422, "limit_exceeded")));
        assert_eq!((made.len(), refused.len()), (3, 9));
        assert_eq!(guest[1].wallet(), ("85.00".into(), "15.00".into()));
    }
    pair.database.verify();
}
