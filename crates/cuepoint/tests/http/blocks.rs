//! Blocks of guests by DJs, and the limit of open requests to a DJ.

use serde_json::json;

use crate::harness::{Server, Store, eventually, keys, song};

on_one_store!(
    a_blocked_guest_cannot_make_a_request,
    each_dj_has_a_separate_block_list,
    only_other_existing_users_can_be_blocked_by_djs,
    a_user_without_requests_looks_nonexistent_to_a_dj,
    open_requests_per_dj_are_limited,
    an_expired_request_frees_its_slot,
);

fn a_blocked_guest_cannot_make_a_request(store: Store) {
    let server = Server::start(store);
    let (dj, guest) = (server.dj(), server.payer("100"));
    let open = guest.request_song(&dj);
    let path = format!("/music/dj/blocks/{}", guest.id);
    let block = dj.call("PUT", &path).send().data(200)["block"].clone();
    assert_eq!(keys(&block), ["created_at", "name", "user_id"]);
    assert_eq!(dj.call("PUT", &path).send().data(200)["block"], block);
    let refused = guest.post("/music/requests", &song(dj.id)).refused(403, "blocked");
    assert_eq!(refused["message"], "This DJ isn't accepting your requests.");
    // Open requests stay open, and other DJs are unaffected.
    dj.answer(open, "played").data(200);
    guest.request_song(&server.dj());
    dj.call("DELETE", &path).send().data(200);
    dj.call("DELETE", &path).send().data(200);
    guest.request_song(&dj);
}

fn each_dj_has_a_separate_block_list(store: Store) {
    let server = Server::start(store);
    let (dj, other) = (server.dj(), server.dj());
    let guests = [server.payer("5"), server.payer("5"), server.dj()];
    guests[2].topup("5");
    for guest in &guests {
        guest.request_song(&dj);
        dj.call("PUT", &format!("/music/dj/blocks/{}", guest.id)).send().data(200);
    }
    let newest_first: Vec<i64> = guests.iter().rev().map(|guest| guest.id).collect();
    assert_eq!(dj.ids("/music/dj/blocks", "user_id"), newest_first);
    assert_eq!(dj.ids("/music/dj/blocks?per_page=2&page=2", "user_id"), [guests[0].id]);
    assert!(other.ids("/music/dj/blocks", "user_id").is_empty());
    other.call("DELETE", &format!("/music/dj/blocks/{}", guests[0].id)).send().data(200);
    assert_eq!(dj.ids("/music/dj/blocks", "user_id"), newest_first);
}

fn only_other_existing_users_can_be_blocked_by_djs(store: Store) {
    let server = Server::start(store);
    let (dj, guest) = (server.dj(), server.guest());
    let block = |id: i64| dj.call("PUT", &format!("/music/dj/blocks/{id}")).send();
    block(dj.id).invalid(&["id"]);
    block(999_999_999).refused(404, "not_found");
    dj.call("DELETE", "/music/dj/blocks/999999999").send().data(200);
    for method in ["PUT", "DELETE"] {
        let path = format!("/music/dj/blocks/{}", dj.id);
        guest.call(method, &path).send().refused(403, "dj_only");
    }
    guest.get("/music/dj/blocks").refused(403, "dj_only");
}

/// A DJ cannot learn the name or the existence of a user who never made a request to the DJ.
fn a_user_without_requests_looks_nonexistent_to_a_dj(store: Store) {
    let server = Server::start(store);
    let (dj, other, guest) = (server.dj(), server.dj(), server.payer("20"));
    guest.request_song(&other);
    let block = |id: i64| dj.call("PUT", &format!("/music/dj/blocks/{id}")).send();
    let nobody = block(999_999_999).refused(404, "not_found");
    for stranger in [guest.id, other.id] {
        let refused = block(stranger).refused(404, "not_found");
        assert_eq!((&refused["code"], &refused["message"]), (&nobody["code"], &nobody["message"]));
    }
    assert!(dj.ids("/music/dj/blocks", "user_id").is_empty());
    // One request is enough, even a closed one.
    let request = guest.request_song(&dj);
    guest.cancel(request).data(200);
    assert_eq!(block(guest.id).data(200)["block"]["name"], "Ada");
    assert_eq!(dj.ids("/music/dj/blocks", "user_id"), [guest.id]);
    dj.call("DELETE", &format!("/music/dj/blocks/{}", guest.id)).send().data(200);
    block(guest.id).data(200);
}

fn open_requests_per_dj_are_limited(store: Store) {
    let server = Server::configured(store, &[("requests.max_open_per_dj", "2")]);
    let (dj, guest) = (server.dj(), server.payer("100"));
    let (first, second) = (guest.request_song(&dj), guest.request_song(&dj));
    let before = guest.wallet();
    let request_song = || guest.post("/music/requests", &song(dj.id));
    let errors = request_song().refused(422, "limit_exceeded")["errors"].clone();
    assert_eq!(errors, json!({"dj_id": ["You already have 2 open requests with this DJ."]}));
    assert_eq!(guest.wallet(), before);
    // An accepted request is open too; other guests and other DJs have limits of their own.
    dj.answer(first, "accepted").data(200);
    request_song().refused(422, "limit_exceeded");
    server.payer("10").request_song(&dj);
    guest.request_song(&server.dj());
    guest.cancel(second).data(200);
    guest.request_song(&dj);
    request_song().refused(422, "limit_exceeded");
    dj.answer(first, "played").data(200);
    guest.request_song(&dj);
}

fn an_expired_request_frees_its_slot(store: Store) {
    let keys = [
        ("requests.max_open_per_dj", "1"),
        ("requests.pending_ttl_seconds", "1"),
        ("requests.sweep_interval_seconds", "3600"),
    ];
    let server = Server::configured(store, &keys);
    let (dj, guest) = (server.dj(), server.payer("100"));
    let request = guest.request_song(&dj);
    eventually("the request is seen expired", || {
        let shown = guest.get(&format!("/music/requests/{request}")).data(200);
        (shown["status"] == "expired").then_some(())
    });
    guest.request_song(&dj);
}
