//! Every field of every body: its constraints, the validation messages, and that a refusal has no effect.

use serde_json::{Value, json};

use crate::harness::{Client, Message, NEW, Person, ROUTES, Server, Store, song};

on_one_store!(
    every_field_of_every_body_is_validated,
    every_reason_of_an_operator_is_validated,
    all_invalid_fields_are_named_at_once,
    validation_messages_are_the_expected_ones,
    coordinates_are_set_together,
    unknown_fields_are_ignored_and_read_only_ones_refused,
    artist_types_have_several_spellings,
    text_is_trimmed,
    nullable_fields_can_be_emptied,
);

/// The kind of a field.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// Text of at most this many characters.
    Text(usize),
    Email,
    Password,
    Phone,
    Url,
    /// Text that is only compared.
    Secret,
    Choice(&'static [&'static str]),
    Id,
    /// An amount of at least this many units.
    Money(&'static str),
    Boolean,
    /// 0 or 1.
    Flag,
    /// A number within these bounds.
    Number(&'static str, &'static str),
}

impl Kind {
    /// JSON texts of values that the field rejects.
    fn refuses(self) -> Vec<String> {
        let mut wrong: Vec<String> = ["[]", "{}", "[1]", r#"{"a": 1}"#].map(String::from).to_vec();
        let mut add = |values: &[&str]| wrong.extend(values.iter().map(|value| (*value).to_owned()));
        match self {
            Self::Text(most) => {
                add(&["5", "true", r#""""#, r#""   ""#, r#""a\u0000b""#, r#""a\nb""#, r#""a\u007fb""#]);
                wrong.push(format!("\"{}\"", "é".repeat(most + 1)));
            }
            Self::Email => {
                add(&[
                    "5",
                    "true",
                    r#""""#,
                    r#""ada""#,
                    r#""ada@""#,
                    r#""@example.com""#,
                    r#""a b@example.com""#,
                ]);
                add(&[r#""Ada <ada@example.com>""#, r#""a@b@example.com""#, r#""ada@exa\u0000mple.com""#]);
                wrong.push(format!("\"{}@example.com\"", "a".repeat(256)));
            }
            Self::Password => {
                add(&["12345678", "true", r#""""#, r#""1234567""#]);
                wrong.push(format!("\"{}\"", "x".repeat(256)));
            }
            Self::Phone => {
                add(&["4930123456", "true", r#""""#, r#""4930123456""#, r#""+4930""#, r#""+49 30 123456""#]);
                add(&[
                    r#""+04930123456""#,
                    r#""+1234567890123456""#,
                    r#""+4930123456\u0000""#,
                    r#""call me""#,
                ]);
            }
            Self::Url => {
                add(&["5", "true", r#""""#, r#""example.com""#, r#""ftp://example.com/x""#, r#""http://""#]);
                add(&[r#""javascript:alert(1)""#, r#""https://example.com/\u0000""#]);
                wrong.push(format!("\"https://example.com/{}\"", "x".repeat(2_048)));
            }
            Self::Secret => add(&["5", "true", r#""""#]),
            Self::Choice(_) => add(&["5", "true", r#""""#, r#""nonsense""#]),
            Self::Id => add(&["0", "-1", "1.5", "true", r#""abc""#, "9223372036854775808", "1e30", r#""""#]),
            Self::Money(least) => {
                add(&[r#""5""#, r#""""#, "true", "-1", "-0", "1.005", "1e400", "1000000000000.01"]);
                if least == "1" {
                    add(&["0", "0.99", "0.999999999999999999999"]);
                }
            }
            Self::Boolean => add(&["2", "-1", "0.5", r#""maybe""#, r#""""#]),
            Self::Flag => add(&["2", "-1", "0.5", r#""maybe""#, r#""""#, "1e400"]),
            Self::Number(low, high) => {
                add(&["true", r#""abc""#, r#""""#, "1e400"]);
                add(&[&format!("{low}.1"), &format!("{high}.1")]);
            }
        }
        wrong
    }
}

/// Whether a field may be omitted or null.
#[derive(Clone, Copy, PartialEq)]
enum Need {
    Required,
    Optional,
    Nullable,
}

struct Form {
    method: &'static str,
    path: &'static str,
    body: Value,
    fields: Vec<(&'static str, Kind, Need)>,
}

fn forms(dj: i64, request: i64) -> Vec<Form> {
    use Kind::{Boolean, Choice, Email, Flag, Id, Money, Number, Password, Phone, Secret, Text, Url};
    use Need::{Nullable, Optional, Required};
    let update: &'static str = Box::leak(format!("/music/requests-update/{request}").into_boxed_str());
    let form = |method, path, body, fields| Form { method, path, body, fields };
    vec![
        form(
            "POST",
            "/auth/register",
            json!({"name": "Eve", "email": "eve@example.com", "password": "12345678"}),
            vec![
                ("name", Text(255), Required),
                ("email", Email, Required),
                ("password", Password, Required),
                ("phone", Phone, Nullable),
                ("is_dj", Boolean, Optional),
            ],
        ),
        form(
            "POST",
            "/auth/login",
            json!({"email": "eve@example.com", "password": "12345678"}),
            vec![("email", Secret, Required), ("password", Secret, Required)],
        ),
        form("POST", "/auth/refresh", json!({}), vec![("refresh_token", Secret, Required)]),
        form("POST", "/auth/logout", json!({}), vec![("refresh_token", Secret, Required)]),
        form(
            "POST",
            "/auth/password",
            json!({"current_password": "wrong horse", "password": "12345678"}),
            vec![("current_password", Secret, Required), ("password", Password, Required)],
        ),
        form("POST", "/auth/password/forgot", json!({}), vec![("email", Email, Required)]),
        form(
            "POST",
            "/auth/password/reset",
            json!({"token": "unknown", "password": "12345678"}),
            vec![("token", Secret, Required), ("password", Password, Required)],
        ),
        form("POST", "/auth/email/verify", json!({}), vec![("code", Secret, Required)]),
        form(
            "POST",
            "/auth/email/change",
            json!({"email": "new@example.com", "password": "wrong horse"}),
            vec![("email", Email, Required), ("password", Secret, Required)],
        ),
        form("POST", "/auth/email/confirm", json!({}), vec![("code", Secret, Required)]),
        form(
            "POST",
            "/auth/email/restore",
            json!({"token": "unknown", "password": "12345678"}),
            vec![("token", Secret, Required), ("password", Password, Required)],
        ),
        form(
            "PATCH",
            "/user/personal-info",
            json!({}),
            vec![
                ("name", Text(255), Optional),
                ("phone", Phone, Nullable),
                ("city", Text(255), Nullable),
                ("state", Text(255), Nullable),
                ("country", Text(255), Nullable),
                ("radius", Number("-0", "20038"), Nullable),
                ("is_dj", Boolean, Optional),
                ("online", Flag, Optional),
                ("fee_upcoming_artist", Money("0"), Optional),
                ("fee_popular_song", Money("0"), Optional),
            ],
        ),
        form(
            "PATCH",
            "/user/personal-info",
            json!({"longitude": 1}),
            vec![("latitude", Number("-90", "90"), Required)],
        ),
        form(
            "PATCH",
            "/user/personal-info",
            json!({"latitude": 1}),
            vec![("longitude", Number("-180", "180"), Required)],
        ),
        form("DELETE", "/user", json!({}), vec![("password", Secret, Required)]),
        form(
            "POST",
            "/music/requests",
            song(dj),
            vec![
                ("dj_id", Id, Required),
                ("song_title", Text(255), Required),
                ("artist_name", Text(255), Required),
                ("artist_type", Choice(&["upcoming", "popular"]), Required),
                ("music_url", Url, Required),
                ("fee", Money("1"), Optional),
            ],
        ),
        form(
            "PATCH",
            update,
            json!({}),
            vec![("status", Choice(&["accepted", "rejected", "played"]), Required)],
        ),
        form("POST", "/wallet/topups", json!({}), vec![("amount", Money("0"), Required)]),
        form(
            "POST",
            "/withdrawal/crypto",
            json!({"amount": 1, "wallet_address": "bc1q", "currency": "BTC", "network": "bitcoin"}),
            vec![
                ("amount", Money("1"), Required),
                ("wallet_address", Text(255), Required),
                ("currency", Text(255), Required),
                ("network", Text(255), Required),
            ],
        ),
    ]
}

/// The text of a body with one field omitted, or set to this JSON text.
fn with(body: &Value, field: &str, value: Option<&str>) -> String {
    let mut body = body.clone();
    let object = body.as_object_mut().unwrap();
    object.remove(field);
    let Some(value) = value else { return body.to_string() };
    let rest = body.to_string();
    let rest = rest.strip_prefix('{').unwrap();
    let comma = if rest == "}" { "" } else { "," };
    format!("{{\"{field}\":{value}{comma}{rest}")
}

/// A DJ with a balance, and a request to the DJ.
fn cast(server: &Server) -> (Person, Person, i64) {
    let (dj, other) = (server.dj(), server.dj());
    dj.topup("100");
    other.topup("100");
    let request = other.request_song(&dj);
    (dj, other, request)
}

fn send(client: &Client, dj: &Person, form: &Form, body: &str) -> crate::harness::Answer {
    let call = client.call(form.method, form.path).text(body);
    let open = ROUTES.iter().any(|route| route.path == form.path && !route.private);
    if open { call.send() } else { call.bearer(&dj.token).send() }
}

fn every_field_of_every_body_is_validated(store: Store) {
    let server = Server::start(store);
    let (dj, other, request) = cast(&server);
    let client = server.client();
    let before = (dj.snapshot(), other.snapshot());
    for form in forms(other.id, request) {
        for (field, kind, need) in &form.fields {
            for wrong in kind.refuses() {
                // A nullable field may be empty too: both clear it.
                if *need == Need::Nullable && wrong.trim_matches(['"', ' ']).is_empty() {
                    continue;
                }
                send(&client, &dj, &form, &with(&form.body, field, Some(&wrong))).invalid(&[field]);
            }
            if *need == Need::Required {
                send(&client, &dj, &form, &with(&form.body, field, None)).invalid(&[field]);
            }
            if *need != Need::Nullable && *kind != Kind::Boolean && *field != "fee" {
                send(&client, &dj, &form, &with(&form.body, field, Some("null"))).invalid(&[field]);
            }
        }
        for body in ["[]", "[{}]", "\"x\"", "1", "null", "true"] {
            send(&client, &dj, &form, body).refused(422, "validation_failed");
        }
    }
    assert_eq!((dj.snapshot(), other.snapshot()), before);
}

/// Every review, reversal, suspension and resolution requires a reason that can be stored.
fn every_reason_of_an_operator_is_validated(store: Store) {
    let (server, operator) = Server::with_operator(store, &[("payouts.webhook_secrets", NEW)]);
    let guest = server.payer("10");
    let (withdrawal, topup) = (guest.withdrawal("1"), guest.topup("1"));
    let unknown = "00000000-0000-0000-0000-000000000001";
    Message::payout("payout.failed", unknown).send(&server).refused(404, "not_found");
    let messages = operator.ids("/operator/provider-messages?resolved=0", "id");
    let before = guest.snapshot();
    for path in [
        format!("/operator/withdrawals/{withdrawal}/approve"),
        format!("/operator/topups/{topup}/chargeback"),
        format!("/operator/users/{}/suspend", guest.id),
        format!("/operator/provider-messages/{}/resolve", messages[0]),
    ] {
        let send = |body: &str| operator.call("POST", &path).text(body).send();
        for wrong in Kind::Text(255).refuses().iter().map(String::as_str).chain(["null"]) {
            send(&format!(r#"{{"reason":{wrong}}}"#)).invalid(&["reason"]);
        }
        send("{}").invalid(&["reason"]);
        for body in ["[]", "[{}]", "\"x\"", "1", "null", "true"] {
            send(body).refused(422, "validation_failed");
        }
    }
    assert_eq!(guest.snapshot(), before);
    assert_eq!(operator.ids("/operator/provider-messages?resolved=0", "id"), messages);
}

fn all_invalid_fields_are_named_at_once(store: Store) {
    let server = Server::start(store);
    let (dj, other, request) = cast(&server);
    for form in forms(other.id, request) {
        let required: Vec<&str> = form
            .fields
            .iter()
            .filter(|(_, _, need)| *need == Need::Required)
            .map(|(field, ..)| *field)
            .collect();
        if form.fields.len() > 1 && !required.is_empty() {
            send(&server.client(), &dj, &form, "{}").invalid(&required);
        }
        let wrong = form.fields.iter().map(|(field, ..)| ((*field).to_owned(), json!([])));
        let body = Value::Object(wrong.collect()).to_string();
        let fields: Vec<&str> = form.fields.iter().map(|(field, ..)| *field).collect();
        if !body.contains("itude") {
            send(&server.client(), &dj, &form, &body).invalid(&fields);
        }
    }
}

fn validation_messages_are_the_expected_ones(store: Store) {
    let server = Server::start(store);
    let (client, guest) = (server.client(), server.payer("100"));
    let check = |path: &str, body: &str, field: &str, sentence: &str| {
        let answer = client.call("POST", path).bearer(&guest.token).text(body).send();
        let errors = answer.refused(422, "validation_failed")["errors"].clone();
        assert_eq!(errors[field], json!([sentence]), "{answer}");
    };
    let withdrawal = "/withdrawal/crypto";
    check(withdrawal, "{}", "amount", "The amount field is required.");
    check(withdrawal, "{}", "wallet_address", "The wallet address field is required.");
    check(withdrawal, r#"{"amount": null}"#, "amount", "The amount field is required.");
    check(withdrawal, r#"{"amount": 0.99}"#, "amount", "The amount field must be at least 1.");
    check(withdrawal, r#"{"amount": "5"}"#, "amount", "The amount field must be a number.");
    check(withdrawal, r#"{"currency": 5}"#, "currency", "The currency field must be a string.");
    let long = format!(r#"{{"network": "{}"}}"#, "x".repeat(256));
    check(withdrawal, &long, "network", "The network field must not be greater than 255 characters.");
    check("/music/requests", r#"{"dj_id": "x"}"#, "dj_id", "The dj id field must be an integer.");
    check(
        "/music/requests",
        r#"{"artist_type": "x"}"#,
        "artist_type",
        "The selected artist type is invalid.",
    );
    check(
        "/music/requests",
        r#"{"music_url": "x"}"#,
        "music_url",
        "The music url field must be an http or https link.",
    );
    let register = "/auth/register";
    check(register, r#"{"email": "x"}"#, "email", "The email field must be a valid email address.");
    check(register, r#"{"password": "x"}"#, "password", "The password field must be at least 8 characters.");
    let taken = json!({"name": "Ada", "email": guest.email, "password": "12345678"}).to_string();
    check(register, &taken, "email", "The email has already been taken.");
}

fn coordinates_are_set_together(store: Store) {
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

fn unknown_fields_are_ignored_and_read_only_ones_refused(store: Store) {
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

fn artist_types_have_several_spellings(store: Store) {
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
