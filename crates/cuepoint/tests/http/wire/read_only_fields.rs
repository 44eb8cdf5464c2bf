//! Fields of an object that a body names although they cannot be set.

use serde_json::{Value, json};

use crate::harness::{PASSWORD, Server, Store, WEBHOOK_URL, song};

on_one_store!(read_only_fields_are_accepted_only_with_their_current_value, creations_refuse_read_only_fields);

fn read_only_fields_are_accepted_only_with_their_current_value(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let dj = server.dj();
    dj.topup("12.50");
    let profile = "/user/personal-info";
    let errors = dj.patch(profile, &json!({"email": "x@y.z"})).invalid(&["email"]);
    assert_eq!(errors["email"], json!(["The email field is prohibited."]));
    for (body, refused) in [
        (json!({"email": dj.email, "id": dj.id, "wallet_balance": 12.5, "rating": 0.00}), vec![]),
        (json!({"email_verified": false, "played": 0, "city": "Berlin", "unknown": [1]}), vec![]),
        (json!({"email_verified": true, "played": 1}), vec!["email_verified", "played"]),
        (json!({"wallet_balance": 12.51}), vec!["wallet_balance"]),
        (json!({"wallet_balance": "12.50", "id": null}), vec!["id", "wallet_balance"]),
        (json!({"name": 5, "email": "x@y.z", "rating": 5}), vec!["email", "name", "rating"]),
    ] {
        let answer = dj.patch(profile, &body);
        if refused.is_empty() { drop(answer.data(200)) } else { drop(answer.invalid(&refused)) }
    }
    // What the service shows can be sent back as it is.
    let shown = dj.get(profile).data(200);
    dj.patch(profile, &shown["user"]).data(200);
    dj.patch(profile, &shown).data(200);

    for (person, list) in [(&dj, "/webhook-endpoints"), (&operator, "/operator/webhook-endpoints")] {
        let endpoint = format!("{list}/{}", person.webhook_endpoint(list));
        let change = |body: &Value| person.patch(&endpoint, body);
        change(&json!({"paused": true})).data(200);
        let errors = change(&json!({"status": "active", "cursor": -1})).invalid(&["cursor", "status"]);
        assert_eq!(errors["status"], json!(["The status field is prohibited."]));
        change(&json!({"status": "paused", "replay": null, "disabled_at": null})).data(200);
        change(&json!({"status": "active", "paused": 7})).invalid(&["paused", "status"]);
        assert_eq!(person.get(&endpoint).data(200)["webhook_endpoint"]["status"], "paused");
    }
}

fn creations_refuse_read_only_fields(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let (guest, dj) = (server.payer("100"), server.dj());
    let with = |mut body: Value, field: &str, value: Value| {
        body[field] = value;
        body
    };
    let endpoint = json!({"url": WEBHOOK_URL, "password": PASSWORD});
    let adjustment = json!({"user_id": guest.id, "amount": 1, "reason": "as agreed"});
    let registration = json!({"name": "Ada", "email": "new@example.com", "password": PASSWORD});
    let before = (guest.snapshot(), operator.ids("/operator/users", "id"));
    for (person, path, body, field) in [
        (&guest, "/auth/register", &registration, "email_verified"),
        (&guest, "/music/requests", &song(dj.id), "status"),
        (&guest, "/wallet/topups", &json!({"amount": 1}), "status"),
        (&guest, "/webhook-endpoints", &endpoint, "cursor"),
        (&operator, "/operator/webhook-endpoints", &endpoint, "status"),
        (&operator, "/operator/adjustments", &adjustment, "new_balance"),
    ] {
        person.post(path, &with(body.clone(), field, json!(true))).invalid(&[field]);
    }
    assert_eq!((guest.snapshot(), operator.ids("/operator/users", "id")), before);
    guest.post("/wallet/topups", &json!({"amount": 1, "status": null, "note": "mine"})).data(201);
    // The body of an action has arguments, and no fields of an object.
    let request = guest.request_song(&dj);
    guest.post(&format!("/music/requests/{request}/cancel"), &json!({"status": "played"})).data(200);
}
