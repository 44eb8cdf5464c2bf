//! `cuepoint finalize-upgrade`: data that servers of an earlier version cannot read is written only
//! afterwards.

use std::sync::Arc;

use cuepoint_domain::operation::feature_level::FeatureLevel;
use serde_json::{Value, json};

use crate::harness::gig_scene::{open, title};
use crate::harness::{Answer, Database, Person, Server, eventually, operator_keys, run};

const OPERATOR: &str = "operator@example.com";

/// A server of this version on the database of an earlier one, and its operator.
fn upgrading(database: &Arc<Database>, keys: &[(&str, &str)]) -> (Server, Person) {
    let keys = [&operator_keys(OPERATOR)[..], keys].concat();
    drop(Server::on(database, &keys));
    database.rows("UPDATE deployment SET feature_level = 0");
    let server = Server::on(database, &keys);
    let operator = server.client().login(OPERATOR);
    (server, operator)
}

fn finalize(database: &Database) -> String {
    let name = database.url().rsplit_once('/').unwrap().1;
    let (status, said) = run(&["finalize-upgrade", "--database-name", name], Some(database.url()), &[]);
    assert!(status.success(), "{said}");
    said
}

/// The row counts of the tables that a plan writes.
fn written(database: &Database) -> Vec<Vec<Option<String>>> {
    database.rows(
        "SELECT (SELECT count(*) FROM operations), (SELECT count(*) FROM ledger_entries), (SELECT count(*) FROM postings),
             (SELECT count(*) FROM security_events WHERE kind = 'operator_action'),
             (SELECT count(*) FROM idempotency_keys)",
    )
}

#[test]
fn the_first_of_two_approvals_requires_a_finalized_upgrade() {
    let database = Arc::new(Database::postgres());
    let (server, operator) = upgrading(&database, &[("withdrawals.second_approval_above", "10")]);
    eventually("the start says it", || server.log().contains("the upgrade is not finalized").then_some(()));
    let guest = server.payer("50");
    let small = guest.withdrawal("10");
    let approve = |withdrawal: i64| -> Answer {
        let path = format!("/operator/withdrawals/{withdrawal}/approve");
        operator.call("POST", &path).key(&path).json(&json!({"reason": "checked"})).send()
    };
    assert_eq!(approve(small).data(200)["status"], "approved");
    let large = guest.withdrawal("20");
    let before = written(&database);
    let refused = approve(large);
    refused.refused(503, "unavailable");
    eventually("the log says why", || server.log().contains("run `cuepoint finalize-upgrade`").then_some(()));
    assert_eq!(written(&database), before);

    let newest = FeatureLevel::NEWEST.number();
    assert!(finalize(&database).contains(&format!("feature level {newest}, 0 before")));
    assert!(finalize(&database).contains(&format!("feature level {newest}, {newest} before")));
    // Without a restart.
    let approved: Value = eventually("the server knows", || {
        let answer = approve(large);
        (answer.status == 200).then(|| answer.data(200))
    });
    assert_eq!((&approved["status"], &approved["approvals"]), (&json!("pending"), &json!([operator.id])));
}

#[test]
fn tips_require_a_finalized_upgrade() {
    let database = Arc::new(Database::postgres());
    let server = Server::on(&database, &[]);
    let (guest, dj) = (server.payer("50"), server.dj());
    let gig = open(&dj, &title("Friday"));
    drop(server);
    database.rows("UPDATE deployment SET feature_level = 1");
    let server = Server::on(&database, &[]);
    let guest = server.client().login(&guest.email);
    let path = format!("/boards/{}/tips", gig["code"].as_str().unwrap());
    let tip = || guest.call("POST", &path).key("k").json(&json!({"amount": 5})).send();
    let before = written(&database);
    tip().refused(503, "unavailable");
    assert_eq!(written(&database), before);
    finalize(&database);
    let tipped = eventually("the server knows", || {
        let answer = tip();
        (answer.status == 201).then(|| answer.data(201))
    });
    assert_eq!(tipped["tip"]["gig_id"], gig["id"]);
    assert_eq!(guest.get("/wallet").raw("/data/wallet/available"), "45.00");
}
