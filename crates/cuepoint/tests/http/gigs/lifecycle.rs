//! The lifecycle of requests and withdrawals over HTTP: answers, refusals and statements.

use serde_json::json;

use crate::harness::{Person, Server, Store, cents, line, song};

on_one_store!(
    a_transition_of_a_request_is_shown_and_a_conflicting_one_is_refused,
    requests_can_only_be_sent_to_other_djs,
    fees_below_the_price_are_refused,
    a_pending_withdrawal_can_be_cancelled,
    the_statement_lists_every_change_of_the_wallet,
    concurrent_transitions_settle_a_request_only_once,
);

/// A guest with 20.00 and a DJ at 5.00.
fn pair(server: &Server) -> (Person, Person) {
    (server.payer("20"), server.dj())
}

fn balances(guest: &Person, dj: &Person) -> [String; 4] {
    let ((available, held), (dj_available, dj_held)) = (guest.wallet(), dj.wallet());
    [available, held, dj_available, dj_held]
}

/// The guest's available and held amounts and the DJ's available amount, after a request at 5.00 reached this
/// status.
fn expected(status: &str) -> [&'static str; 4] {
    match status {
        "pending" | "accepted" => ["15.00", "5.00", "0.00", "0.00"],
        "played" => ["15.00", "0.00", "5.00", "0.00"],
        _ => ["20.00", "0.00", "0.00", "0.00"],
    }
}

/// The statuses that a request can leave, and those that follow, are a table of the domain.
fn a_transition_of_a_request_is_shown_and_a_conflicting_one_is_refused(store: Store) {
    let server = Server::start(store);
    for (status, late) in
        [("accepted", "cancelled"), ("rejected", "played"), ("played", "rejected"), ("cancelled", "accepted")]
    {
        let (guest, dj) = pair(&server);
        let request = guest.request_song(&dj);
        let go = |status: &str| {
            if status == "cancelled" { guest.cancel(request) } else { dj.answer(request, status) }
        };
        let moved = go(status).data(200);
        assert_eq!(moved["status"], status);
        assert_eq!(go(status).data(200), moved, "the same status again changes nothing");
        assert_eq!(balances(&guest, &dj), expected(status), "{status}");
        let body = go(late).refused(409, "invalid_transition");
        // Neither sees a status that only the other party or an operator sets.
        assert_eq!((&body["current"], &body["allowed"]), (&json!(status), &json!([])), "{late}");
        for person in [&guest, &dj] {
            assert_eq!(person.get(&format!("/music/requests/{request}")).data(200), moved);
        }
        assert_eq!(balances(&guest, &dj), expected(status), "{late} after {status}");
    }
}

fn requests_can_only_be_sent_to_other_djs(store: Store) {
    let server = Server::start(store);
    let (guest, dj) = pair(&server);
    let before = guest.snapshot();
    dj.post("/music/requests", &song(dj.id)).invalid(&["dj_id"]);
    for nobody in [server.guest().id, i64::MAX] {
        guest.post("/music/requests", &song(nobody)).invalid(&["dj_id"]);
    }
    assert_eq!(guest.snapshot(), before);
}

fn fees_below_the_price_are_refused(store: Store) {
    let server = Server::start(store);
    let (guest, dj) = pair(&server);
    let request_song = |fee: &str| {
        let body = song(dj.id).to_string();
        let body = format!("{}, \"fee\": {fee}}}", body.strip_suffix('}').unwrap());
        guest.call("POST", "/music/requests").text(&body).send()
    };
    let errors = request_song("4.99").invalid(&["fee"]);
    assert_eq!(errors["fee"], json!(["The fee field must be at least 5.00."]));
    let boosted = request_song("7.25");
    assert_eq!((boosted.status, boosted.raw("/data/fee")), (201, "7.25".to_owned()));
    assert_eq!(guest.wallet(), ("12.75".into(), "7.25".into()));
}

fn a_pending_withdrawal_can_be_cancelled(store: Store) {
    let server = Server::start(store);
    let guest = server.payer("20");
    let made = guest.withdraw("12.50").json()["data"]["withdrawal_request"].clone();
    assert_eq!(guest.wallet(), ("7.50".into(), "12.50".into()));
    let path = format!("/withdrawals/{}", made["id"]);
    let cancel = || guest.call("POST", &format!("{path}/cancel")).send();
    let cancelled = cancel().data(200);
    assert_eq!(cancelled["status"], "cancelled");
    for (key, value) in made.as_object().unwrap().iter().filter(|(key, _)| *key != "updated_at") {
        assert_eq!(cancelled[key], *value, "{key}");
    }
    assert!(cancelled["updated_at"].as_str() > made["updated_at"].as_str());
    assert_eq!(guest.wallet(), ("20.00".into(), "0.00".into()));
    assert_eq!(cancel().data(200), cancelled);
    assert_eq!(guest.get(&path).data(200), cancelled);
    assert_eq!(guest.entries().len(), 3);
}

fn the_statement_lists_every_change_of_the_wallet(store: Store) {
    let server = Server::configured(store, &[("fees.commission_bps", "1000")]);
    let (guest, dj) = (server.guest(), server.dj());
    let topup = guest.topup("20");
    let played = guest.request_song(&dj);
    dj.answer(played, "accepted").data(200);
    dj.answer(played, "played").data(200);
    let rejected = guest.request_song(&dj);
    dj.answer(rejected, "rejected").data(200);
    let withdrawal = guest.withdraw("10").json()["data"]["withdrawal_request"]["id"].clone();
    guest.call("POST", &format!("/withdrawals/{withdrawal}/cancel")).send().data(200);
    let entries = guest.entries();
    let lines: Vec<String> = entries.iter().map(line).collect();
    assert_eq!(
        lines,
        [
            format!("topup 20.00 20.00 0.00 topup {topup}"),
            format!("hold -5.00 15.00 5.00 music_request {played}"),
            format!("capture 0.00 15.00 0.00 music_request {played}"),
            format!("hold -5.00 10.00 5.00 music_request {rejected}"),
            format!("release 5.00 15.00 0.00 music_request {rejected}"),
            format!("hold -10.00 5.00 10.00 withdrawal {withdrawal}"),
            format!("release 10.00 15.00 0.00 withdrawal {withdrawal}"),
        ]
    );
    let held: Vec<_> = entries.iter().map(|entry| entry["held_change"].as_f64().unwrap()).collect();
    assert_eq!(held, [0.0, 5.0, -5.0, 5.0, -5.0, 10.0, -10.0], "a capture changes only the held amount");
    let keys = [
        "amount",
        "available_after",
        "created_at",
        "held_after",
        "held_change",
        "id",
        "kind",
        "owed_after",
        "reference",
    ];
    for (number, entry) in (1..).zip(&entries) {
        assert_eq!(entry["id"], number);
        assert_eq!(crate::harness::keys(entry), keys);
        assert_eq!(crate::harness::keys(&entry["reference"]), ["id", "type"]);
    }
    assert!(entries.is_sorted_by_key(|entry| entry["created_at"].as_str().unwrap().to_owned()));
    let lines: Vec<String> = dj.entries().iter().map(line).collect();
    assert_eq!(lines, [format!("earning 4.50 4.50 0.00 music_request {played}")]);
    let answer = guest.get("/wallet/entries?per_page=1");
    assert_eq!(answer.raw("/data/data/0/amount"), "10.00");
    assert_eq!(answer.raw("/data/data/0/available_after"), "15.00");
}

fn concurrent_transitions_settle_a_request_only_once(store: Store) {
    let server = Server::start(store);
    for _ in 0..5 {
        let (guest, dj) = pair(&server);
        let request = guest.request_song(&dj);
        let answers: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = ["accepted", "rejected", "played", "cancelled", "rejected", "played"]
                .into_iter()
                .map(|status| {
                    let (guest, dj) = (&guest, &dj);
                    scope.spawn(move || {
                        if status == "cancelled" { guest.cancel(request) } else { dj.answer(request, status) }
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(answers.iter().any(|answer| answer.status == 200));
        for answer in answers.iter().filter(|answer| answer.status != 200) {
            answer.refused(409, "invalid_transition");
        }
        let last = guest.get(&format!("/music/requests/{request}")).data(200)["status"].clone();
        assert_eq!(balances(&guest, &dj), expected(last.as_str().unwrap()), "{last}");
        let settled = guest
            .entries()
            .iter()
            .filter(|entry| entry["kind"] != "hold" && entry["kind"] != "topup")
            .count();
        assert_eq!(settled, 1, "{last}");
        assert_eq!(cents(&guest.wallet().0) + cents(&dj.wallet().0), 2_000);
    }
}
