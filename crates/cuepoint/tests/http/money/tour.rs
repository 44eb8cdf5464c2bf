//! One complete scenario: a guest pays, a DJ plays, and the money is paid out; every answer verbatim.

use serde_json::{Value, json};

use crate::harness::{Answer, DJ, PERSONAL_INFO, Person, REQUEST, Server, Store, WITHDRAWAL, keys, song};

on_every_store!(a_guest_pays_for_a_played_song_and_the_dj_withdraws_the_money);
on_one_store!(
    the_commission_is_rounded_half_to_even_and_the_dj_gets_the_rest,
    djs_can_be_looked_up_by_id_and_filtered_by_online_status,
);

fn a_guest_pays_for_a_played_song_and_the_dj_withdraws_the_money(store: Store) {
    let server = Server::start(store);
    let (dj, guest) = (register(&server, "DJ Kay", true), register(&server, "Ada", false));
    set_prices(&dj);
    top_up(&server, &guest);
    let request = request_song(&server, &guest, &dj);
    accept_and_play(&guest, &dj, &request);
    withdraw(&server, &dj);
}

fn register(server: &Server, name: &str, is_dj: bool) -> Person {
    let client = server.client();
    let email = format!("{}@Example.com", name.replace(' ', "."));
    let body = json!({
        "name": format!("  {name} "), "email": email, "password": "correct horse", "phone": "+4930123456", "is_dj": is_dj
    });
    let answer = client.post("/auth/register", &body);
    let data = answer.data(201);
    signed_in(&answer, &data, is_dj);
    let user = &data["user"];
    let mut expected = json!({
        "id": user["id"], "name": name, "email": email, "phone": "+4930123456", "is_dj": is_dj, "online": 0, "played": 0,
        "city": null, "state": null, "country": null, "latitude": null, "longitude": null, "radius": null,
        "email_verified": false, "phone_verified": false, "rating_count": 0,
    });
    for key in ["wallet_balance", "fee_upcoming_artist", "fee_popular_song", "rating"] {
        expected[key] = user[key].clone();
    }
    assert_eq!(*user, expected);
    for key in ["wallet_balance", "fee_upcoming_artist", "fee_popular_song"] {
        assert_eq!(answer.raw(&format!("/data/user/{key}")), "0.00");
    }
    assert_eq!(answer.raw("/data/user/rating"), "0");

    let login = client.post("/auth/login", &json!({"email": email, "password": "correct horse"}));
    let data = login.data(200);
    signed_in(&login, &data, is_dj);
    let person = Person::signed_in(&client, &data);
    assert_eq!(person.get("/user/personal-info").data(200), json!({"user": data["user"]}));
    person
}

fn signed_in(answer: &Answer, data: &Value, is_dj: bool) {
    assert_eq!(keys(data), ["access_token", "expires_in", "refresh_token", "token_type", "user"], "{answer}");
    assert_eq!(data["token_type"], "Bearer");
    assert_eq!(data["expires_in"], 900);
    assert_eq!(keys(&data["user"]), PERSONAL_INFO);
    assert_eq!(data["user"]["is_dj"], is_dj);
}

fn set_prices(dj: &Person) {
    let body = r#"{"fee_upcoming_artist": 5, "fee_popular_song": 12.5, "online": 1, "city": " Berlin ", "country": "Germany",
        "latitude": 52.5, "longitude": 13.4, "radius": 30}"#;
    let answer = dj.call("PATCH", "/user/personal-info").text(body).send();
    let data = answer.data(200);
    assert_eq!(keys(&data), ["user"]);
    assert_eq!(keys(&data["user"]), PERSONAL_INFO);
    for (key, raw) in [
        ("fee_upcoming_artist", "5.00"),
        ("fee_popular_song", "12.50"),
        ("online", "1"),
        ("city", "\"Berlin\""),
        ("state", "null"),
        ("country", "\"Germany\""),
        ("latitude", "52.5"),
        ("longitude", "13.4"),
    ] {
        assert_eq!(answer.raw(&format!("/data/user/{key}")), raw, "{key}: {answer}");
    }
    assert_eq!(data["user"]["radius"].as_f64(), Some(30.0));
    assert_eq!(dj.get("/user/personal-info").data(200), data);
}

fn top_up(server: &Server, guest: &Person) {
    let answer = guest.post("/wallet/topups", &json!({"amount": 20}));
    let data = answer.data(201);
    assert_eq!(keys(&data), ["topup"]);
    let topup = &data["topup"];
    let expected = ["amount", "created_at", "id", "payment_url", "reference", "status", "updated_at"];
    assert_eq!(keys(topup), expected);
    assert_eq!(answer.raw("/data/topup/amount"), "20.00");
    assert_eq!(topup["status"], "confirmed");
    assert_eq!(topup["payment_url"], Value::Null);
    moment(&topup["created_at"]);
    moment(&topup["updated_at"]);
    let path = format!("/wallet/topups/{}", topup["id"]);
    assert_eq!(guest.get(&path).data(200), data, "{path}");
    if let Some(location) = answer.header("location") {
        assert_eq!(location, format!("{}{path}", server.client().base()));
    }
    assert_eq!(guest.wallet(), ("20.00".into(), "0.00".into()));
    let wallet = guest.get("/wallet");
    assert_eq!(keys(&wallet.data(200)), ["wallet"]);
    assert_eq!(
        keys(&wallet.data(200)["wallet"]),
        ["available", "clearing", "clears_at", "currency", "held", "owed", "scale"]
    );
    assert_eq!(
        (wallet.raw("/data/wallet/currency"), wallet.raw("/data/wallet/scale")),
        ("\"USD\"".into(), "2".into())
    );
}

fn request_song(server: &Server, guest: &Person, dj: &Person) -> Value {
    let answer = guest.post("/music/requests", &song(dj.id));
    let request = answer.data(201);
    assert_eq!(keys(&request), REQUEST);
    assert_eq!(answer.raw("/data/fee"), "5.00");
    for (key, value) in [
        ("user_id", json!(guest.id)),
        ("dj_id", json!(dj.id)),
        ("song_title", json!("Blue Monday")),
        ("artist_name", json!("New Order")),
        ("artist_type", json!("upcoming")),
        ("music_url", json!("https://example.com/blue-monday")),
        ("status", json!("pending")),
        ("updated_at", request["created_at"].clone()),
    ] {
        assert_eq!(request[key], value, "{key}: {answer}");
    }
    moment(&request["created_at"]);
    let path = format!("/music/requests/{}", request["id"]);
    assert_eq!(answer.header("location"), Some(format!("{}{path}", server.client().base()).as_str()));
    assert_eq!(guest.get(&path).data(200), request);
    assert_eq!(dj.get(&path).data(200), request);
    assert_eq!(guest.wallet(), ("15.00".into(), "5.00".into()));
    assert_eq!(guest.get("/user/personal-info").raw("/data/user/wallet_balance"), "15.00");
    assert_eq!(guest.get("/music/user/requests").data(200)["data"], json!([request]));
    assert_eq!(dj.get("/music/dj/requests").data(200)["data"], json!([request]));
    assert_eq!(dj.get("/music/user/requests").data(200)["data"], json!([]));
    request
}

fn accept_and_play(guest: &Person, dj: &Person, request: &Value) {
    let id = request["id"].as_i64().unwrap();
    for (status, guest_has, dj_has) in
        [("accepted", ("15.00", "5.00"), "0.00"), ("played", ("15.00", "0.00"), "5.00")]
    {
        let answer = dj.answer(id, status);
        let moved = answer.data(200);
        assert_eq!(answer.raw("/data/fee"), "5.00");
        let mut expected = request.clone();
        expected["status"] = json!(status);
        expected["updated_at"] = moved["updated_at"].clone();
        assert_eq!(moved, expected);
        assert!(moved["updated_at"].as_str() > request["updated_at"].as_str(), "{answer}");
        moment(&moved["updated_at"]);
        assert_eq!(guest.wallet(), (guest_has.0.into(), guest_has.1.into()));
        assert_eq!(dj.wallet(), (dj_has.into(), "0.00".into()));
    }
    assert_eq!(dj.get("/user/personal-info").data(200)["user"]["played"], 1);
}

fn withdraw(server: &Server, dj: &Person) {
    let body = json!({"amount": 2.5, "wallet_address": " bc1qxy ", "currency": "BTC", "network": "bitcoin"});
    let answer = dj.post("/withdrawal/crypto", &body);
    assert_eq!(answer.status, 201, "{answer}");
    let whole = answer.json();
    assert_eq!(keys(&whole), ["data", "status"], "{answer}");
    assert_eq!(whole["status"], "ok");
    assert_eq!(keys(&whole["data"]), ["message", "new_balance", "withdrawal_request"]);
    assert!(whole["data"]["message"].as_str().is_some_and(|text| !text.is_empty()));
    let withdrawal = &whole["data"]["withdrawal_request"];
    assert_eq!(keys(withdrawal), WITHDRAWAL);
    assert_eq!(answer.raw("/data/withdrawal_request/amount"), "2.50");
    assert_eq!(answer.raw("/data/new_balance"), "2.50");
    for (key, value) in [
        ("user_id", json!(dj.id)),
        ("wallet_address", json!("bc1qxy")),
        ("currency", json!("BTC")),
        ("network", json!("bitcoin")),
        ("updated_at", withdrawal["created_at"].clone()),
    ] {
        assert_eq!(withdrawal[key], value, "{key}: {answer}");
    }
    moment(&withdrawal["created_at"]);
    let path = format!("/withdrawals/{}", withdrawal["id"]);
    assert_eq!(answer.header("location"), Some(format!("{}{path}", server.client().base()).as_str()));
    assert!(answer.header("x-request-id").is_some());
    assert_eq!(dj.wallet(), ("2.50".into(), "2.50".into()));
    let mut shown = withdrawal.clone();
    shown["amount_currency"] = json!("USD");
    shown["status"] = json!("pending");
    shown["txid"] = Value::Null;
    shown["waiting_for"] = Value::Null;
    assert_eq!(dj.get(&path).data(200), shown);
    assert_eq!(dj.get("/withdrawals").data(200)["data"], json!([shown]));
}

/// UTC, RFC 3339, six decimals and `Z`.
#[track_caller]
fn moment(value: &Value) {
    let text = value.as_str().unwrap_or_else(|| panic!("no text: {value}"));
    let shape: String = text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    assert_eq!(shape, "0000-00-00T00:00:00.000000Z", "{text}");
}

fn the_commission_is_rounded_half_to_even_and_the_dj_gets_the_rest(store: Store) {
    let server = Server::configured(store, &[("fees.commission_bps", "1500")]);
    let (dj, guest) = (server.dj_at("3.33", "0.30"), server.payer("20"));
    let request = guest.request_song(&dj);
    dj.answer(request, "played").data(200);
    // 15 % of 3.33 is 0.4995, which is 0.50; the DJ gets the exact rest.
    assert_eq!(dj.wallet(), ("2.83".into(), "0.00".into()));
    assert_eq!(guest.wallet(), ("16.67".into(), "0.00".into()));
    let mut popular = song(dj.id);
    popular["artist_type"] = json!("popular");
    let request = guest.post("/music/requests", &popular).data(201)["id"].as_i64().unwrap();
    dj.answer(request, "accepted").data(200);
    dj.answer(request, "played").data(200);
    // Half a cent is rounded to even: 0.045 is 0.04, and 0.015 would be 0.02.
    assert_eq!(dj.wallet(), ("3.09".into(), "0.00".into()));
}

fn djs_can_be_looked_up_by_id_and_filtered_by_online_status(store: Store) {
    let server = Server::start(store);
    let (online, offline, guest) = (server.dj(), server.client().person(true), server.guest());
    let answer = guest.get(&format!("/djs/{}", online.id));
    let data = answer.data(200);
    assert_eq!(keys(&data), ["dj"]);
    assert_eq!(keys(&data["dj"]), DJ);
    assert_eq!(answer.raw("/data/dj/fee_upcoming_artist"), "5.00");
    assert_eq!(answer.raw("/data/dj/fee_popular_song"), "10.00");
    let ids = |path: &str| -> Vec<i64> {
        let page = guest.get(path).data(200);
        page["data"].as_array().unwrap().iter().map(|dj| dj["id"].as_i64().unwrap()).collect()
    };
    assert_eq!(ids("/djs"), [offline.id, online.id]);
    assert_eq!(ids("/djs?online=1"), [online.id]);
    assert_eq!(ids("/djs?online=0"), [offline.id]);
    guest.get(&format!("/djs/{}", guest.id)).refused(404, "not_found");
}
