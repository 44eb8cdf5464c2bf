//! Members who become DJs.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::harness::{Answer, Database, Person, SHARED_KEY, Server, Store};

on_one_store!(becoming_a_dj_needs_no_new_token_and_is_permanent);

fn set(person: &Person, is_dj: bool) -> Answer {
    person.patch("/user/personal-info", &json!({"is_dj": is_dj}))
}

fn becoming_a_dj_needs_no_new_token_and_is_permanent(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let (member, guest) = (server.guest(), server.payer("50"));
    let prices = json!({"online": 1, "fee_upcoming_artist": 5, "fee_popular_song": 10});
    member.patch("/user/personal-info", &prices).refused(403, "dj_only");
    assert_eq!(set(&member, false).data(200)["user"]["is_dj"], false);
    let user = set(&member, true).data(200)["user"].clone();
    assert_eq!((&user["is_dj"], &user["online"]), (&json!(true), &json!(0)));
    // The access token was issued to a member.
    assert_eq!(member.patch("/user/personal-info", &prices).data(200)["user"]["online"], 1);
    assert_eq!(guest.ids("/djs", "id"), [member.id]);
    let request = guest.request_song(&member);
    member.answer(request, "accepted").data(200);
    assert_eq!(set(&member, true).data(200)["user"]["online"], 1);
    let errors = set(&member, false).invalid(&["is_dj"]);
    assert_eq!(errors["is_dj"], json!(["The is dj field cannot be changed back."]));
    member.patch("/user/personal-info", &json!({"is_dj": null})).invalid(&["is_dj"]);
    // A change of the role keeps the capacity.
    operator.give_role(&member, "auditor");
    member.patch("/user/personal-info", &json!({"online": 0})).data(200);
}

#[test]
fn other_servers_recognize_a_new_dj_within_two_seconds() {
    let database = Arc::new(Database::postgres());
    let servers = [Server::on(&database, &[SHARED_KEY]), Server::on(&database, &[SHARED_KEY])];
    let here = servers[0].guest();
    let there = here.at(&servers[1].client());
    let online = json!({"online": 1});
    there.patch("/user/personal-info", &online).refused(403, "dj_only");
    set(&here, true).data(200);
    let changed = Instant::now();
    here.patch("/user/personal-info", &online).data(200);
    loop {
        let begun = Instant::now();
        let answer = there.patch("/user/personal-info", &online);
        if answer.status == 200 {
            break;
        }
        answer.refused(403, "dj_only");
        assert!(begun.duration_since(changed) < Duration::from_secs(2), "the token is still a guest's");
    }
}
