//! Four-eyes approval: withdrawals that require two operators, adjusters excluded from reviews, and limits of
//! adjustments.

use std::sync::Arc;
use std::thread;

use serde_json::{Value, json};

use crate::harness::{Answer, Database, Person, Server, Store, WITHDRAWAL, keys, operator_keys};

on_one_store!(
    a_withdrawal_above_the_limit_needs_two_approvals,
    operators_cannot_approve_or_reject_withdrawals_from_wallets_they_adjusted,
    one_operator_cannot_pay_out_alone,
    an_adjustment_cannot_exceed_the_configured_maximum,
);

const FOUR_EYES: [(&str, &str); 1] = [("withdrawals.second_approval_above", "10")];
const ABOVE: &str = "10.01";

fn why() -> Value {
    json!({"reason": "checked"})
}

impl Person {
    /// Performs an operator's action on a withdrawal.
    fn act(&self, withdrawal: i64, act: &str) -> Answer {
        self.post(&format!("/operator/withdrawals/{withdrawal}/{act}"), &why())
    }

    fn adjust(&self, user: i64, amount: &str) -> Answer {
        let body = format!(r#"{{"user_id": {user}, "amount": {amount}, "reason": "a mistake"}}"#);
        self.call("POST", "/operator/adjustments").text(&body).send()
    }
}

/// The status and the approving operators in an operator's answer.
#[track_caller]
fn approved(answer: &Answer) -> (String, Vec<i64>) {
    let data = answer.data(200);
    let by = data["approvals"].as_array().unwrap().iter().map(|id| id.as_i64().unwrap()).collect();
    (data["status"].as_str().unwrap().to_owned(), by)
}

/// Attack API5: approving a large withdrawal alone.
fn a_withdrawal_above_the_limit_needs_two_approvals(store: Store) {
    let (server, ada) = Server::with_operator(store, &FOUR_EYES);
    let (bob, guest) = (ada.new_operator(&server), server.payer("50"));
    let pending = || ("pending".to_owned(), vec![ada.id]);
    let both = || ("approved".to_owned(), vec![ada.id, bob.id]);
    let small = guest.withdrawal("10");
    assert_eq!(approved(&ada.act(small, "approve")), ("approved".to_owned(), vec![ada.id]));

    let large = guest.withdrawal(ABOVE);
    let first = ada.act(large, "approve");
    assert_eq!(approved(&first), pending());
    let mut expected =
        [&WITHDRAWAL[..], &["amount_currency", "approvals", "reference", "status", "txid"]].concat();
    expected.sort_unstable();
    assert_eq!(keys(&first.data(200)), expected);
    assert_eq!(ada.act(large, "approve").data(200), first.data(200), "nothing changes");
    let listed = bob.get("/operator/withdrawals?status=pending").data(200);
    assert_eq!(listed["total"], 1);
    assert_eq!(listed["data"][0]["approvals"], json!([ada.id]));
    let refused = bob.act(large, "process").refused(409, "invalid_transition");
    assert_eq!(refused["allowed"], json!(["approved", "rejected"]));

    assert_eq!(approved(&bob.act(large, "approve")), both());
    assert_eq!(approved(&ada.act(large, "approve")), both());
    let processing = bob.act(large, "process");
    assert_eq!(approved(&processing), ("processing".to_owned(), vec![ada.id, bob.id]), "they stay");
    // The owner sees the status but not the approvals.
    let shown = guest.get(&format!("/withdrawals/{large}")).data(200);
    assert_eq!((&shown["status"], shown.get("approvals")), (&json!("processing"), None));
    let path = format!("/operator/security-log?kind=operator_action&user_id={}", guest.id);
    let events = ada.get(&path).data(200)["data"].clone();
    let events = events.as_array().unwrap();
    let noted: Vec<_> = events.iter().map(|event| (&event["detail"], &event["actor_id"])).collect();
    let noted_as =
        |action: &str, change: &str| json!(format!("{action}: withdrawal {large} {change}: checked"));
    let first = noted_as("approve_withdrawal", "still pending");
    let small = json!(format!("approve_withdrawal: withdrawal {small} pending → approved: checked"));
    let second = noted_as("approve_withdrawal", "pending → approved");
    let moved = noted_as("move_withdrawal", "approved → processing");
    let (ada, bob) = (json!(ada.id), json!(bob.id));
    assert_eq!(noted, [(&moved, &bob), (&second, &bob), (&first, &ada), (&small, &ada)]);

    let taken_back = guest.withdrawal(ABOVE);
    let path = format!("/withdrawals/{taken_back}/cancel");
    assert_eq!(guest.call("POST", &path).send().data(200)["status"], "cancelled");
}

/// Attack API5: adjusting a wallet and approving its withdrawal.
fn operators_cannot_approve_or_reject_withdrawals_from_wallets_they_adjusted(store: Store) {
    let (server, ada) = Server::with_operator(store, &[]);
    let guest = server.payer("50");
    let withdrawal = guest.withdrawal("1");
    ada.adjust(guest.id, "-0.01").data(201);
    for act in ["approve", "reject", "fail"] {
        // Ownership and recent adjustments are checked before the body is read.
        for body in [why(), json!({})] {
            let path = format!("/operator/withdrawals/{withdrawal}/{act}");
            let refused = ada.post(&path, &body).refused(403, "recent_adjustment");
            assert_eq!(
                refused["message"],
                "You adjusted this balance within the last 30 days. Ask another operator."
            );
        }
    }
    assert_eq!(guest.wallet(), ("48.99".into(), "1.00".into()));
}

/// Attempts to pay oneself out with a single operator's token.
///
/// Attack API5: paying out alone: another's gift, a replayed key, another session, an own withdrawal.
fn one_operator_cannot_pay_out_alone(store: Store) {
    let (server, mallory) = Server::with_operator(store, &FOUR_EYES);
    let accomplice = server.guest();
    mallory.adjust(accomplice.id, "100").data(201);
    let gift = accomplice.withdrawal("5");
    mallory.act(gift, "approve").refused(403, "recent_adjustment");
    // The key of another withdrawal's approval belongs to another path.
    let honest = server.payer("100");
    let (small, large) = (honest.withdrawal("5"), honest.withdrawal(ABOVE));
    let approve = |withdrawal: i64| {
        let path = format!("/operator/withdrawals/{withdrawal}/approve");
        mallory.call("POST", &path).key("once").json(&why())
    };
    approve(small).send().data(200);
    approve(gift).send().refused(403, "recent_adjustment");
    // The same operator twice: with the same key, with another, with none, and in another session.
    let first = approve(large).send();
    assert_eq!(approved(&first), ("pending".to_owned(), vec![mallory.id]));
    let replayed = approve(large).send();
    assert_eq!(replayed.header("idempotency-replayed"), Some("true"), "{replayed}");
    assert_eq!(replayed.text, first.text);
    let again = server.client().login(&mallory.email);
    for answer in [
        approve(large).key("twice").send(),
        mallory.act(large, "approve"),
        again.act(large, "approve"),
        again.act(large, "approve"),
    ] {
        assert_eq!(approved(&answer), ("pending".to_owned(), vec![mallory.id]));
    }
    // An adjuster is not shown the statuses that only other operators set.
    for (withdrawal, allowed) in [(large, json!(["approved", "rejected"])), (gift, json!([]))] {
        assert_eq!(again.act(withdrawal, "process").refused(409, "invalid_transition")["allowed"], allowed);
    }
    // Neither owning the withdrawal nor attempting to change the own role helps.
    mallory.topup("50");
    let own = mallory.withdrawal(ABOVE);
    mallory.act(own, "approve").refused(403, "own_account");
    let role = format!("/operator/users/{}/role", mallory.id);
    mallory.post(&role, &json!({"role": "operator", "reason": "x"})).refused(403, "own_account");
    for (person, withdrawal) in [(&accomplice, gift), (&honest, large), (&mallory, own)] {
        assert_eq!(person.get(&format!("/withdrawals/{withdrawal}")).data(200)["status"], "pending");
    }
}

fn an_adjustment_cannot_exceed_the_configured_maximum(store: Store) {
    let (server, operator) = Server::with_operator(store, &[("adjustments.max_amount", "20")]);
    let guest = server.guest();
    let body = operator.adjust(guest.id, "20.01").refused(422, "limit_exceeded");
    assert_eq!(body["errors"], json!({"amount": ["An adjustment cannot exceed 20.00."]}));
    operator.adjust(guest.id, "20").data(201);
    assert_eq!(guest.wallet().0, "20.00");
}

/// Attack API5: approving one withdrawal at two servers.
#[test]
fn concurrent_approvals_on_two_servers_both_count() {
    let database = Arc::new(Database::postgres());
    let settings = [&operator_keys("ada@example.com")[..], &FOUR_EYES].concat();
    let servers = [Server::on(&database, &settings), Server::on(&database, &settings)];
    let ada = servers[0].client().login("ada@example.com");
    let bob = ada.new_operator(&servers[1]);
    let operators = [ada, bob];
    let guest = servers[0].payer("200");
    for _ in 0..10 {
        let withdrawal = guest.withdrawal(ABOVE);
        let answers: Vec<Answer> = thread::scope(|scope| {
            let threads = operators.each_ref().map(|one| scope.spawn(|| one.act(withdrawal, "approve")));
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let mut answers: Vec<_> = answers.iter().map(approved).collect();
        answers.sort_by_key(|(_, approvals)| approvals.len());
        let [(first, one), (second, both)] = &answers[..] else { panic!("{answers:?}") };
        assert_eq!((first.as_str(), one.len()), ("pending", 1));
        assert_eq!((second.as_str(), both.len()), ("approved", 2));
        assert!(both[0] == one[0] && both[0] != both[1], "{both:?}");
    }
}
