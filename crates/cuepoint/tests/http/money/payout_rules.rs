//! The treatment of payout status updates that may be wrong: refusals that release money, and answers that
//! contradict the ledger.

use serde_json::{Value, json};

use crate::harness::{Message, ProviderScene, Reply, Store, eventually};

on_one_store!(
    a_withdrawal_refused_after_an_unanswered_payout_order_needs_review,
    a_payout_failure_with_an_invalid_reason_is_applied,
    payout_answers_that_contradict_the_ledger_are_logged_and_counted,
);

/// The answer of a provider to an order that it has already executed.
///
/// Attack API10: a refusal that follows a payment.
fn a_withdrawal_refused_after_an_unanswered_payout_order_needs_review(store: Store) {
    let scene = ProviderScene::answering(store, Reply::HangsUp);
    let (id, _) = scene.ordered();
    scene.provider.answers(Reply::Says(409, r#"{"status": "refused", "reason": "duplicate"}"#.to_owned()));
    scene.reaches(id, "needs_review");
    assert_eq!(scene.guest.wallet(), ("45.00".into(), "5.00".into()));
    scene.is_logged(&["ERROR", "was sent before"]);

    // A message to that effect counts no more than an answer.
    scene.provider.answers(Reply::HangsUp);
    let (id, reference) = scene.ordered();
    eventually("it is sent twice", || {
        (scene.provider.received().iter().filter(|order| order.json()["id"] == id).count() > 1).then_some(())
    });
    Message::payout("payout.failed", &reference).accepted_by(&scene.server);
    assert_eq!(scene.withdrawal(id)["status"], "needs_review");
    assert_eq!(scene.guest.wallet(), ("40.00".into(), "10.00".into()));
}

fn a_payout_failure_with_an_invalid_reason_is_applied(store: Store) {
    let scene = ProviderScene::new(store);
    for reason in [json!({}), json!(["x"]), json!(5), json!("x".repeat(300)), json!("a\u{0}b"), Value::Null] {
        let (id, reference) = scene.ordered();
        let data = json!({"reference": reference, "reason": reason});
        Message::new("/providers/payouts", &json!({"type": "payout.failed", "data": data}))
            .accepted_by(&scene.server);
        assert_eq!(scene.withdrawal(id)["status"], "failed", "{reason}");
    }
    assert_eq!(scene.guest.wallet(), ("50.00".into(), "0.00".into()));
    scene.is_logged(&["WARN", "is not a string and was ignored"]);
}

/// Answers are unsigned, so none is stored as a message.
fn payout_answers_that_contradict_the_ledger_are_logged_and_counted(store: Store) {
    let scene = ProviderScene::answering(store, Reply::Silent);
    let (id, reference) = scene.ordered();
    Message::payout_as("payout.broadcast", &reference, "tx-1").accepted_by(&scene.server);
    scene.provider.answers(Reply::Says(200, r#"{"status": "completed", "txid": "tx-2"}"#.to_owned()));
    scene.is_logged(&[
        "ERROR",
        "answer contradicts the ledger",
        r#"txid="tx-2""#,
        "txid_mismatch",
        &reference,
    ]);
    scene.is_measured("payouts", "txid_mismatch", "answer", 1);
    let withdrawal = scene.withdrawal(id);
    assert_eq!((&withdrawal["status"], &withdrawal["txid"]), (&json!("broadcast"), &json!("tx-1")));
    assert_eq!(scene.guest.wallet(), ("45.00".into(), "5.00".into()));
    assert_eq!(scene.messages(), Vec::<Value>::new());
}
