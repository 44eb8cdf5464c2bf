//! Blocks of guests by DJs, and the limit of open requests to a DJ.

use serde_json::json;

use crate::harness::gig_scene::{open, title};
use crate::harness::{Person, Server, Store, keys, song};

on_one_store!(
    a_blocked_guest_cannot_send_requests_to_the_dj,
    a_user_who_never_sent_a_request_to_a_dj_looks_nonexistent_to_the_dj,
    a_dj_can_block_a_guest_who_only_tipped,
    the_open_requests_of_a_guest_to_one_dj_are_limited,
);

/// Attack API6: sending requests to a DJ who blocked the guest.
fn a_blocked_guest_cannot_send_requests_to_the_dj(store: Store) {
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

/// A DJ cannot learn the name or the existence of a user who never made a request to the DJ.
///
/// Attack API3: reading strangers' names by blocking one id after another.
fn a_user_who_never_sent_a_request_to_a_dj_looks_nonexistent_to_the_dj(store: Store) {
    let server = Server::start(store);
    let (dj, other, guest) = (server.dj(), server.dj(), server.payer("20"));
    guest.request_song(&other);
    let block = |id: i64| dj.call("PUT", &format!("/music/dj/blocks/{id}")).send();
    let nobody = block(999_999_999).refused(404, "not_found");
    for stranger in [guest.id, other.id] {
        let refused = block(stranger).refused(404, "not_found");
        assert_eq!((&refused["code"], &refused["message"]), (&nobody["code"], &nobody["message"]));
    }
    block(dj.id).invalid(&["id"]);
    dj.call("DELETE", "/music/dj/blocks/999999999").send().data(200);
    assert!(dj.ids("/music/dj/blocks", "user_id").is_empty());
    // One request is enough, even a closed one.
    let request = guest.request_song(&dj);
    guest.cancel(request).data(200);
    assert_eq!(block(guest.id).data(200)["block"]["name"], "Ada");
    assert_eq!(dj.ids("/music/dj/blocks", "user_id"), [guest.id]);
    dj.call("DELETE", &format!("/music/dj/blocks/{}", guest.id)).send().data(200);
    block(guest.id).data(200);
}

fn a_dj_can_block_a_guest_who_only_tipped(store: Store) {
    let server = Server::start(store);
    let (dj, guest, other) = (server.dj(), server.payer("20"), server.dj());
    let gig = open(&dj, &title("Friday"));
    let path = format!("/boards/{}/tips", gig["code"].as_str().unwrap());
    let tip = || guest.post(&path, &json!({"amount": 1}));
    let block = |dj: &Person| dj.call("PUT", &format!("/music/dj/blocks/{}", guest.id)).send();
    block(&dj).refused(404, "not_found");
    tip().data(201);
    block(&other).refused(404, "not_found");
    assert_eq!(block(&dj).data(200)["block"]["name"], "Ada");
    tip().refused(403, "blocked");
    guest.post("/music/requests", &song(dj.id)).refused(403, "blocked");
}

/// Attack API6: flooding a DJ with requests.
fn the_open_requests_of_a_guest_to_one_dj_are_limited(store: Store) {
    let server = Server::configured(store, &[("requests.max_open_per_dj", "2")]);
    let (dj, guest) = (server.dj(), server.payer("100"));
    let first = guest.request_song(&dj);
    guest.request_song(&dj);
    let before = guest.wallet();
    let errors = guest.post("/music/requests", &song(dj.id)).refused(422, "limit_exceeded")["errors"].clone();
    assert_eq!(errors, json!({"dj_id": ["You already have 2 open requests with this DJ."]}));
    assert_eq!(guest.wallet(), before);
    guest.cancel(first).data(200);
    guest.request_song(&dj);
}
