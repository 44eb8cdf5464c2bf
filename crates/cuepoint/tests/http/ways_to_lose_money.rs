//! Known ways in which such systems lose money, tested over HTTP unless another file here tests them.
//!
//! The domain's test of the same name has the full list and the place of each test.

use serde_json::{Value, json};

use crate::harness::{Call, Person, Server, Store, at_once, cents};

on_every_store!(
    accepting_twice_moves_nothing,
    a_rejected_request_stays_rejected,
    a_rejection_releases_exactly_the_held_amount,
    a_limit_holds_under_concurrency,
    the_last_cent_is_spent_once,
    no_commission_loses_a_cent,
);

fn answer(dj: &Person, request: i64, status: &str) -> Call {
    dj.call("PATCH", &format!("/music/requests-update/{request}")).json(&json!({"status": status}))
}

fn withdrawal(guest: &Person, amount: u32) -> Call {
    let body = json!({"amount": amount, "wallet_address": "a", "currency": "BTC", "network": "b"});
    guest.call("POST", "/withdrawal/crypto").json(&body)
}

/// A request at this fee for a song of an upcoming artist.
fn ask_at(guest: &Person, dj: &Person, fee: &str) -> i64 {
    let body = crate::harness::song(dj.id).to_string();
    let body = format!("{}, \"fee\": {fee}}}", body.strip_suffix('}').unwrap());
    let answer = guest.call("POST", "/music/requests").text(&body).send();
    answer.data(201)["id"].as_i64().unwrap()
}

fn accepting_twice_moves_nothing(store: Store) {
    let server = Server::start(store);
    let (guest, dj) = (server.payer("20"), server.dj());
    let request = guest.request_song(&dj);
    let answers = at_once(vec![answer(&dj, request, "accepted"); 6]);
    let shown: Vec<Value> = answers.iter().map(|answer| answer.data(200)).collect();
    assert!(shown.iter().all(|one| *one == shown[0]), "{shown:?}");
    assert_eq!(guest.wallet(), ("15.00".into(), "5.00".into()));
    assert_eq!((guest.entries().len(), dj.entries().len()), (2, 0));
}

fn a_rejected_request_stays_rejected(store: Store) {
    let server = Server::start(store);
    let (guest, dj) = (server.payer("20"), server.dj());
    let request = guest.request_song(&dj);
    dj.answer(request, "rejected").data(200);
    for status in ["accepted", "played"] {
        dj.answer(request, status).refused(409, "invalid_transition");
    }
    guest.cancel(request).refused(409, "invalid_transition");
    assert_eq!((guest.wallet().0, dj.wallet().0), ("20.00".into(), "0.00".into()));
    assert_eq!(guest.entries().len(), 3);
}

fn a_rejection_releases_exactly_the_held_amount(store: Store) {
    let server = Server::start(store);
    let (guest, dj) = (server.payer("20"), server.dj());
    let (rejected, played) = (guest.request_song(&dj), guest.request_song(&dj));
    dj.answer(played, "played").data(200);
    let free = server.dj_at("0", "0");
    let for_nothing = guest.request_song(&free);
    // Twice, and for requests that hold nothing, or nothing any more.
    let calls = vec![answer(&dj, rejected, "rejected"), answer(&dj, rejected, "rejected")];
    at_once(calls).iter().for_each(|answer| assert_eq!(answer.data(200)["status"], "rejected"));
    dj.answer(played, "rejected").refused(409, "invalid_transition");
    free.answer(for_nothing, "rejected").data(200);
    assert_eq!(guest.wallet(), ("15.00".into(), "0.00".into()));
    assert_eq!(dj.wallet().0, "5.00");
}

fn a_limit_holds_under_concurrency(store: Store) {
    let server = Server::configured(store, &[("withdrawals.max_per_24h", "25")]);
    let guest = server.payer("100");
    let answers = at_once(vec![withdrawal(&guest, 10); 12]);
    let (done, refused): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.status == 201);
    refused.iter().for_each(|answer| drop(answer.refused(422, "limit_exceeded")));
    assert_eq!((done.len(), refused.len()), (2, 10));
    assert_eq!(guest.wallet(), ("80.00".into(), "20.00".into()));
}

fn the_last_cent_is_spent_once(store: Store) {
    let server = Server::start(store);
    let (guest, dj) = (server.payer("10"), server.dj_at("10", "10"));
    let request_song = guest.call("POST", "/music/requests").json(&crate::harness::song(dj.id));
    let calls = (0..10).flat_map(|_| [request_song.clone(), withdrawal(&guest, 10)]).collect();
    let answers = at_once(calls);
    let (done, refused): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.status == 201);
    refused.iter().for_each(|answer| drop(answer.refused(422, "insufficient_funds")));
    assert_eq!((done.len(), refused.len()), (1, 19));
    assert_eq!(guest.wallet(), ("0.00".into(), "10.00".into()));
    assert_eq!(guest.entries().len(), 2);
}

fn no_commission_loses_a_cent(store: Store) {
    let server = Server::configured(store, &[("fees.commission_bps", "5000")]);
    let (guest, dj) = (server.payer("100"), server.dj_at("0", "0"));
    // Fees with a share of half a cent: the platform's share is rounded to even, and the DJ gets the exact
    // rest.
    for (fee, share) in [("0.01", 1), ("0.03", 1), ("0.05", 3), ("0.07", 3), ("9.99", 499), ("20.00", 1_000)]
    {
        let before = (cents(&guest.wallet().0), cents(&dj.wallet().0));
        dj.answer(ask_at(&guest, &dj, fee), "played").data(200);
        let after = (cents(&guest.wallet().0), cents(&dj.wallet().0));
        assert_eq!((before.0 - after.0, after.1 - before.1), (cents(fee), share), "{fee}");
    }
}
