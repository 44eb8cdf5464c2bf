//! Fields whose rules no schema states: those set together, ignored, read-only, trimmed or emptied.

use serde_json::{Value, json};

use crate::harness::{Person, Server, Store, song};

on_one_store!(
    a_profile_has_both_coordinates_or_neither,
    unknown_fields_are_ignored_and_read_only_fields_refused,
    artist_types_accept_several_spellings,
    text_is_trimmed,
    nullable_fields_can_be_emptied,
);

fn a_profile_has_both_coordinates_or_neither(store: Store) {
    let server = Server::start(store);
    let dj = server.dj();
    let info = "/user/personal-info";
    dj.patch(info, &json!({"latitude": 1})).invalid(&["longitude"]);
    dj.patch(info, &json!({"longitude": 1})).invalid(&["latitude"]);
    dj.patch(info, &json!({"latitude": 90, "longitude": -180})).data(200);
    dj.patch(info, &json!({"latitude": null})).invalid(&["latitude"]);
    dj.patch(info, &json!({"latitude": -90})).data(200);
    let user = dj.get(info).data(200)["user"].clone();
    assert_eq!((user["latitude"].as_f64(), user["longitude"].as_f64()), (Some(-90.0), Some(-180.0)));
}

/// Attack API3: setting `wallet_balance`, `rating`, `email_verified`, `role`, `status` or `user_id`.
fn unknown_fields_are_ignored_and_read_only_fields_refused(store: Store) {
    let server = Server::start(store);
    let guest = server.payer("10");
    let before = guest.get("/user/personal-info").data(200)["user"].clone();
    let read_only = json!({
        "city": "Paris", "wallet_balance": 1_000_000, "rating": 5, "rating_count": 9, "played": 9,
        "email_verified": true, "phone_verified": true, "id": 999_999, "email": "other@example.com"
    });
    let refused = [
        "email",
        "email_verified",
        "id",
        "phone_verified",
        "played",
        "rating",
        "rating_count",
        "wallet_balance",
    ];
    guest.patch("/user/personal-info", &read_only).invalid(&refused);
    let body = json!({
        "city": "Rome", "role": "operator", "password": "something else", "nonsense": {"a": [1]}
    });
    let mut expected = before.clone();
    expected["city"] = json!("Rome");
    assert_eq!(guest.patch("/user/personal-info", &body).data(200)["user"], expected);
    assert_eq!(guest.wallet(), ("10.00".into(), "0.00".into()));
    server.client().login(&guest.email);

    let body = json!({
        "name": "Mallory", "email": "mallory@example.com", "password": "12345678", "role": "operator"
    });
    let mut greedy = body.clone();
    let extra =
        [("id", json!(1)), ("wallet_balance", json!(1_000_000)), ("rating", json!(5)), ("online", json!(1))];
    for (key, value) in extra.clone() {
        greedy[key] = value;
    }
    let refused: Vec<&str> = extra.iter().map(|(key, _)| *key).collect();
    server.client().post("/auth/register", &greedy).invalid(&refused);
    let answer = server.client().post("/auth/register", &body);
    let user = answer.data(201)["user"].clone();
    assert_eq!(answer.raw("/data/user/wallet_balance"), "0.00");
    assert_eq!(answer.raw("/data/user/fee_popular_song"), "0.00");
    for (key, value) in [("email_verified", json!(false)), ("online", json!(0)), ("is_dj", json!(false))] {
        assert_eq!(user[key], value, "{answer}");
    }
    let mallory = Person::signed_in(&server.client(), &answer.json()["data"]);
    mallory.patch("/user/personal-info", &json!({"online": 1})).refused(403, "dj_only");

    let body = json!({
        "amount": 2, "wallet_address": "a", "currency": "BTC", "network": "b", "user_id": 1, "status": "completed",
        "id": 77, "txid": "x", "fee": 0
    });
    let id = guest.post("/withdrawal/crypto", &body).json()["data"]["withdrawal_request"]["id"].clone();
    let shown = guest.get(&format!("/withdrawals/{id}")).data(200);
    assert_eq!(
        (&shown["status"], &shown["txid"], &shown["user_id"]),
        (&json!("pending"), &Value::Null, &json!(guest.id))
    );
}

fn artist_types_accept_several_spellings(store: Store) {
    let server = Server::start(store);
    let (dj, guest) = (server.dj(), server.payer("100"));
    for (spelling, meant, fee) in [
        ("upcoming", "upcoming", "5.00"),
        ("popular", "popular", "10.00"),
        ("upcoming_artist", "upcoming", "5.00"),
        ("popular_song", "popular", "10.00"),
        ("UPCOMING", "upcoming", "5.00"),
        ("Popular_Song", "popular", "10.00"),
    ] {
        let mut body = song(dj.id);
        body["artist_type"] = json!(spelling);
        let answer = guest.post("/music/requests", &body);
        assert_eq!(answer.data(201)["artist_type"], meant, "{answer}");
        assert_eq!(answer.raw("/data/fee"), fee);
    }
}

fn text_is_trimmed(store: Store) {
    let server = Server::start(store);
    let (dj, guest) = (server.dj(), server.payer("100"));
    let longest = "é".repeat(255);
    let mut body = song(dj.id);
    body["song_title"] = json!(format!("  {longest}\t"));
    body["artist_name"] = json!(" \u{1f3b5} ");
    body["music_url"] = json!(format!(" https://example.com/{}", "x".repeat(2_028)));
    let data = guest.post("/music/requests", &body).data(201);
    assert_eq!(data["song_title"], longest);
    assert_eq!(data["artist_name"], "\u{1f3b5}");
    assert_eq!(data["music_url"].as_str().unwrap().len(), 2_048);
    assert_eq!(guest.get(&format!("/music/requests/{}", data["id"])).data(200), data);
}

fn nullable_fields_can_be_emptied(store: Store) {
    let server = Server::start(store);
    let guest = server.guest();
    let info = "/user/personal-info";
    let before = guest.get(info).data(200);
    let full = json!({
        "phone": "+4930123456", "city": "a", "state": "b", "country": "c", "latitude": 1.5, "longitude": 2.5, "radius": 3.5
    });
    let data = guest.patch(info, &full).data(200);
    for (key, value) in full.as_object().unwrap() {
        assert_eq!(data["user"][key], *value, "{key}");
    }
    let empty: serde_json::Map<String, Value> =
        full.as_object().unwrap().keys().map(|key| (key.clone(), Value::Null)).collect();
    assert_eq!(guest.patch(info, &Value::Object(empty)).data(200), before);
    guest.patch(info, &full).data(200);
    let blank = json!({"phone": "", "city": " ", "state": "", "country": "\t"});
    let data = guest.patch(info, &blank).data(200);
    for key in ["phone", "city", "state", "country"] {
        assert_eq!(data["user"][key], Value::Null, "{key}");
    }
    guest.patch(info, &json!({"latitude": null, "longitude": null, "radius": null})).data(200);
    assert_eq!(guest.patch(info, &json!({})).data(200), before);
}
