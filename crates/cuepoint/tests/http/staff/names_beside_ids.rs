//! Names beside the ids of users in what staff see.

use serde_json::{Value, json};

use crate::harness::{Message, NEW, PASSWORD, Person, Server, Store, TOPUPS};
use crate::wire::matrix::late_money;

on_one_store!(staff_see_names_next_to_user_ids, the_names_of_erased_users_are_not_shown);

fn named(server: &Server, name: &str) -> Person {
    let person = server.guest();
    person.patch("/user/personal-info", &json!({"name": name})).data(200);
    person
}

fn first(staff: &Person, list: &str) -> Value {
    staff.get(list).data(200)["data"][0].clone()
}

fn staff_see_names_next_to_user_ids(store: Store) {
    let keys = [
        &TOPUPS[..],
        &[
            ("payouts.webhook_secrets", NEW),
            ("topups.pending_days", "0"),
            ("withdrawals.second_approval_above", "1"),
        ],
    ]
    .concat();
    let (server, first_operator) = Server::with_operator(store, &keys);
    let (guest, operator) = (named(&server, "Grace"), first_operator.new_operator(&server));
    operator.patch("/user/personal-info", &json!({"name": "Olga"})).data(200);
    let topup = guest.topup("100.00");
    Message::topup_of("100.00", "topup.confirmed", &guest.topup_reference(topup)).accepted_by(&server);
    let withdrawal = guest.withdrawal("5.00");
    let reason = json!({"reason": "checked"});
    let approved = operator.post(&format!("/operator/withdrawals/{withdrawal}/approve"), &reason).data(200);
    let listed = first(&operator, "/operator/withdrawals");
    assert_eq!((&listed["user_name"], &listed["approval_names"]), (&json!("Grace"), &json!(["Olga"])));
    assert_eq!(listed["approvals"], approved["approvals"]);
    assert_eq!((&approved["user_id"], &approved["approvals"]), (&json!(guest.id), &json!([operator.id])));

    let listed = first(&operator, &format!("/operator/topups?user_id={}", guest.id));
    assert_eq!((&listed["id"], &listed["user_name"]), (&json!(topup), &json!("Grace")));
    let shown = operator.get(&format!("/operator/topups/{topup}")).data(200)["topup"].clone();
    assert_eq!(shown, listed);

    let suspended = late_money(&server);
    let unsettled = first(&operator, "/operator/suspense");
    assert_eq!(unsettled["settled_by_name"], Value::Null);
    let settled = operator.post(&format!("/operator/suspense/{suspended}/settle"), &reason).data(200);
    let listed = first(&operator, "/operator/suspense");
    assert_eq!((&listed["settled_by_name"], &listed["settled_by"]), (&json!("Olga"), &json!(operator.id)));
    assert_eq!(settled["suspense"]["settled_by"], operator.id);

    let unknown = "00000000-0000-0000-0000-000000000001";
    Message::payout("payout.failed", unknown).send(&server).refused(404, "not_found");
    let message = first(&operator, "/operator/provider-messages");
    assert_eq!(message["resolved_by_name"], Value::Null);
    let path = format!("/operator/provider-messages/{}/resolve", message["id"]);
    operator.post(&path, &reason).data(200);
    let resolved = first(&operator, "/operator/provider-messages");
    assert_eq!(
        (&resolved["resolved_by_name"], &resolved["resolved_by"]),
        (&json!("Olga"), &json!(operator.id))
    );

    let body = json!({"user_id": guest.id, "amount": 1, "reason": "as agreed"});
    operator.post("/operator/adjustments", &body).data(201);

    let path = format!("/operator/security-log?user_id={}&kind=operator_action", guest.id);
    let event = first(&operator, &path);
    assert_eq!((&event["user_name"], &event["actor_name"]), (&json!("Grace"), &json!("Olga")));

    let list = "/operator/webhook-endpoints";
    operator.webhook_endpoint(list);
    assert_eq!(first(&operator, list)["user_name"], "Olga");

    // A page names each user, and no event or export does.
    for person in ["Heidi", "Ivan"].map(|name| named(&server, name)) {
        let topup = person.topup("5.00");
        Message::topup("topup.confirmed", &person.topup_reference(topup)).accepted_by(&server);
        person.withdrawal("1.00");
    }
    let page = operator.get("/operator/withdrawals").data(200);
    let names: Vec<&Value> = page["data"].as_array().unwrap().iter().map(|row| &row["user_name"]).collect();
    assert_eq!(names, ["Ivan", "Heidi", "Grace"]);
    for text in [operator.get("/operator/events").text, guest.get("/user/export").text] {
        assert!(!text.contains("user_name") && !text.contains("Olga"), "{text}");
    }
}

fn the_names_of_erased_users_are_not_shown(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let guest = named(&server, "Grace");
    guest.call("DELETE", "/user").json(&json!({"password": PASSWORD})).send().data(200);
    let event = first(&operator, &format!("/operator/security-log?user_id={}", guest.id));
    assert_eq!((&event["user_id"], &event["user_name"]), (&json!(guest.id), &Value::Null));
}
