//! Withdrawals whose owner owes money, and withdrawals that are judged together.

use std::sync::Arc;
use std::thread;

use serde_json::{Value, json};

use crate::harness::{Answer, Database, PASSWORD, Person, Server, Store, operator_keys};

on_one_store!(
    a_debt_stops_withdrawals_that_have_not_been_sent,
    operators_see_the_24_hour_sum_and_the_needed_approvals,
    a_password_reset_stops_automatic_approval,
);

const LIMITS: [(&str, &str); 2] =
    [("withdrawals.auto_approve_below", "10"), ("withdrawals.second_approval_above", "30")];

impl Person {
    fn review(&self, withdrawal: i64, act: &str) -> Answer {
        self.post(&format!("/operator/withdrawals/{withdrawal}/{act}"), &json!({"reason": "checked"}))
    }

    fn seen(&self, withdrawal: i64) -> Value {
        self.get(&format!("/withdrawals/{withdrawal}")).data(200)
    }

    /// The withdrawal in the operators' list.
    fn listed(&self, withdrawal: i64) -> Value {
        let list = self.get("/operator/withdrawals?per_page=100").data(200);
        let mut rows = list["data"].as_array().unwrap().iter();
        rows.find(|row| row["id"] == withdrawal).unwrap().clone()
    }

    /// Charges back a top-up of 20 whose money was spent, except for what is held.
    fn falls_into_debt(&self, operator: &Person, topup: i64) {
        let spend =
            format!(r#"{{"user_id": {}, "amount": -{}, "reason": "spent"}}"#, self.id, self.wallet().0);
        operator.call("POST", "/operator/adjustments").text(&spend).send().data(201);
        operator
            .post(&format!("/operator/topups/{topup}/chargeback"), &json!({"reason": "stolen"}))
            .data(200);
    }
}

fn owes(answer: &Answer, owed: &str) {
    answer.refused(409, "wallet_owes");
    assert_eq!(answer.raw("/owed"), owed);
}

fn a_debt_stops_withdrawals_that_have_not_been_sent(store: Store) {
    let (server, ada) = Server::with_operator(store, &[]);
    let (bob, guest) = (ada.new_operator(&server), server.guest());
    let topup = guest.topup("20");
    let [pending, approved, processing] = ["1", "2", "3"].map(|amount| guest.withdrawal(amount));
    for withdrawal in [approved, processing] {
        bob.review(withdrawal, "approve").data(200);
    }
    bob.review(processing, "process").data(200);
    assert_eq!(guest.seen(approved)["waiting_for"], Value::Null);
    guest.falls_into_debt(&ada, topup);

    owes(&guest.withdraw("1"), "20.00");
    owes(&bob.review(pending, "approve"), "20.00");
    owes(&bob.review(approved, "process"), "20.00");
    for (withdrawal, waiting_for) in
        [(pending, json!("debt")), (approved, json!("debt")), (processing, Value::Null)]
    {
        assert_eq!(guest.seen(withdrawal)["waiting_for"], waiting_for);
        let listed = ada.listed(withdrawal);
        assert_eq!((&listed["waiting_for"], &listed["owed"]), (&waiting_for, &json!(20.0)));
    }
    let own = guest.get("/withdrawals").data(200)["data"].clone();
    let waiting: Vec<_> = own.as_array().unwrap().iter().map(|row| row["waiting_for"].clone()).collect();
    assert_eq!(waiting, [Value::Null, json!("debt"), json!("debt")]);

    // What was sent goes on, and what was not can be given up: the money pays the debt.
    bob.review(processing, "review").data(200);
    bob.review(processing, "fail").data(200);
    assert_eq!(guest.get("/wallet").raw("/data/wallet/owed"), "17.00");
    let cancelled = guest.call("POST", &format!("/withdrawals/{approved}/cancel")).send().data(200);
    assert_eq!((&cancelled["status"], &cancelled["waiting_for"]), (&json!("cancelled"), &Value::Null));
    bob.review(pending, "reject").data(200);
    let rejected = ada.listed(pending);
    assert_eq!((&rejected["waiting_for"], &rejected["owed"]), (&Value::Null, &json!(14.0)));
    let newest = guest.entries().pop().unwrap();
    assert_eq!(
        (&newest["kind"], &newest["amount"], &newest["owed_after"]),
        (&json!("release"), &json!(0.0), &json!(14.0))
    );
    guest.topup("15");
    bob.review(guest.withdrawal("1"), "approve").data(200);
}

/// Resets the password of a user to the same one.
fn reset(server: &Server, guest: &Person) {
    server.client().post("/auth/password/forgot", &json!({"email": guest.email})).data(200);
    let message = server.message(&guest.email, 0);
    let (_, after) = message.split_once("with this token:").unwrap_or_else(|| panic!("{message}"));
    let token = after.split_whitespace().next().unwrap();
    server.client().post("/auth/password/reset", &json!({"token": token, "password": PASSWORD})).data(200);
}

fn a_password_reset_stops_automatic_approval(store: Store) {
    let (server, ada) = Server::with_operator(store, &LIMITS);
    let guest = server.payer("50");
    let before = guest.withdrawal("3");
    assert_eq!(guest.seen(before)["status"], "approved");
    assert_eq!(ada.listed(before)["login_changed_at"], Value::Null);
    reset(&server, &guest);
    let guest = guest.at(&server.client());
    let after = guest.withdrawal("3");
    assert_eq!(guest.seen(after)["status"], "pending");
    let listed = ada.listed(after);
    assert!(listed["login_changed_at"].is_string(), "{listed}");
    assert_eq!(listed["approvals_needed"], 1);
    ada.review(after, "approve").data(200);
}

#[test]
fn a_password_reset_on_one_server_stops_automatic_approval_on_the_other() {
    let database = Arc::new(Database::postgres());
    let servers = [Server::on(&database, &LIMITS), Server::on(&database, &LIMITS)];
    let guest = servers[0].payer("50");
    reset(&servers[0], &guest);
    let there = guest.at(&servers[1].client());
    assert_eq!(there.seen(there.withdrawal("3"))["status"], "pending");
}

fn operators_see_the_24_hour_sum_and_the_needed_approvals(store: Store) {
    let (server, ada) = Server::with_operator(store, &LIMITS);
    let (bob, guest) = (ada.new_operator(&server), server.payer("100"));
    let facts = |withdrawal: i64| {
        let listed = bob.listed(withdrawal);
        ["sum_24h", "approvals_needed", "status"].map(|key| listed[key].clone())
    };
    let first = guest.withdrawal("20");
    assert_eq!(facts(first), [json!(20.0), json!(1), json!("pending")]);
    let second = guest.withdrawal("10.01");
    assert_eq!(facts(first), [json!(30.01), json!(2), json!("pending")]);
    bob.review(second, "approve").data(200);
    assert_eq!(facts(second), [json!(30.01), json!(2), json!("pending")]);
    guest.call("POST", &format!("/withdrawals/{first}/cancel")).send().data(200);
    assert_eq!(facts(second), [json!(10.01), json!(1), json!("pending")]);
    bob.review(second, "approve").data(200);
    assert_eq!(facts(second), [json!(10.01), json!(0), json!("approved")]);
}

#[test]
fn concurrent_withdrawals_on_two_servers_count_toward_one_limit() {
    let database = Arc::new(Database::postgres());
    let settings = [&operator_keys("ada@example.com")[..], &LIMITS].concat();
    let servers = [Server::on(&database, &settings), Server::on(&database, &settings)];
    for _ in 0..10 {
        let guest = servers[0].payer("50");
        let both = [guest.clone(), guest.at(&servers[1].client())];
        let opened: Vec<i64> = thread::scope(|scope| {
            let threads = both.each_ref().map(|one| scope.spawn(|| one.withdrawal("6")));
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let mut statuses: Vec<_> = opened.iter().map(|id| guest.seen(*id)["status"].clone()).collect();
        statuses.sort_by_key(Value::to_string);
        assert_eq!(statuses, ["approved", "pending"]);
    }
    database.verify();
}

/// A charge-back at one server while the other one approves: whichever is first, nothing is sent in debt.
#[test]
fn no_payout_is_sent_when_a_chargeback_races_an_approval() {
    let database = Arc::new(Database::postgres());
    let settings = operator_keys("ada@example.com");
    let servers = [Server::on(&database, &settings), Server::on(&database, &settings)];
    let ada = servers[0].client().login("ada@example.com");
    let bob = ada.new_operator(&servers[1]);
    for _ in 0..10 {
        let guest = servers[0].guest();
        let topup = guest.topup("20");
        let withdrawal = guest.withdrawal("20");
        let approval = thread::scope(|scope| {
            let approval = scope.spawn(|| bob.review(withdrawal, "approve"));
            let reverse = json!({"reason": "stolen"});
            ada.post(&format!("/operator/topups/{topup}/chargeback"), &reverse).data(200);
            approval.join().unwrap()
        });
        if approval.status != 200 {
            owes(&approval, "20.00");
        }
        let status = guest.seen(withdrawal)["status"].clone();
        if approval.status == 200 {
            assert_eq!(status, "approved");
            owes(&bob.review(withdrawal, "process"), "20.00");
        } else {
            assert_eq!(status, "pending");
        }
    }
    database.verify();
}
