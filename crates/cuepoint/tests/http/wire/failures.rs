//! Failures for programs: a code for each thing to do, and the rule and limit of each problem of a field.

use serde_json::{Value, json};

use crate::harness::{Answer, Person, Server, Store, song};

on_one_store!(
    validation_errors_contain_the_rule_and_limit,
    a_refusal_says_who_may_do_the_action,
    ended_sessions_and_invalid_refresh_tokens_get_different_error_codes,
);

/// The fields, rules and limits of a failure.
fn details(answer: &Answer) -> Value {
    assert_eq!(answer.status, 422, "{answer}");
    answer.json()["details"].clone()
}

fn detail(field: &str, rule: &str, limit: Value) -> Value {
    json!([{"field": field, "rule": rule, "limit": limit}])
}

fn validation_errors_contain_the_rule_and_limit(store: Store) {
    let server = Server::configured(store, &[("withdrawals.max_amount", "15")]);
    let (guest, dj) = (server.payer("20"), server.dj());
    let request_song = |key: &str, value: Value| {
        let mut body = song(dj.id);
        body[key] = value;
        guest.post("/music/requests", &body)
    };
    for (key, value, rule, limit) in [
        ("song_title", Value::Null, "required", Value::Null),
        ("song_title", json!("x".repeat(256)), "max_length", json!(255)),
        ("artist_type", json!("famous"), "in", json!(["upcoming", "popular"])),
        ("music_url", json!("spotify:track:1"), "url", Value::Null),
        ("fee", json!(1), "min", json!(5.00)),
        ("fee", json!(10.005), "decimals", json!(2)),
        ("fee", json!(21), "available", Value::Null),
        ("dj_id", json!(999_999), "exists", Value::Null),
        ("dj_id", json!(guest.id), "not_yourself", Value::Null),
    ] {
        assert_eq!(details(&request_song(key, value)), detail(key, rule, limit));
    }
    let oneself = request_song("dj_id", json!(guest.id)).invalid(&["dj_id"]);
    assert_eq!(oneself, json!({"dj_id": ["You cannot send a request to yourself."]}));
    assert_eq!(details(&guest.withdraw("15.01")), detail("amount", "max", json!(15.00)));
    let place = json!({"latitude": 91, "longitude": 0});
    let placed = guest.patch("/user/personal-info", &place);
    assert_eq!(details(&placed), detail("latitude", "between", json!([-90, 90])));
    let half = guest.patch("/user/personal-info", &json!({"latitude": 1}));
    assert_eq!(details(&half), detail("longitude", "required_with", json!(["latitude"])));
    // Two problems of two fields, in the order of their messages.
    let wrong = guest.post("/auth/password", &json!({"current_password": 5, "password": "short"}));
    assert_eq!(
        details(&wrong),
        json!([
            {"field": "current_password", "rule": "string", "limit": null},
            {"field": "password", "rule": "min_length", "limit": 8}
        ])
    );
    let unknown = guest.get("/events?types=topup.created,topup.lost");
    assert_eq!(
        unknown.invalid(&["types"]),
        json!({"types": ["The types field has an unknown value: topup.lost."]})
    );
}

fn a_refusal_says_who_may_do_the_action(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let (guest, dj) = (server.payer("20"), server.dj());
    let request = guest.request_song(&dj);
    operator.topup("20");
    let own = operator.withdrawal("5");
    let why = json!({"reason": "x"});
    let auditor = server.guest();
    operator.give_role(&auditor, "auditor");
    let dj_fields = "Only DJs can set online, fee_upcoming_artist and fee_popular_song.";
    let own_account = "You cannot do this for your own account. Ask another operator.";
    let check = |person: &Person, method: &str, path: &str, body: &Value, code: &str, message: &str| {
        let refused = person.call(method, path).json(body).send().refused(403, code);
        assert_eq!(refused["message"], message, "{method} {path}");
    };
    let answer = format!("/music/requests-update/{request}");
    let accepted = json!({"status": "accepted"});
    check(&guest, "PATCH", "/user/personal-info", &json!({"online": 1}), "dj_only", dj_fields);
    check(
        &guest,
        "PUT",
        &format!("/music/dj/blocks/{}", dj.id),
        &json!({}),
        "dj_only",
        "Only DJs can do this.",
    );
    let by_dj = "Only the DJ of this request can answer it.";
    check(&guest, "PATCH", &answer, &accepted, "not_your_request", by_dj);
    let by_guest = "Only the guest who made this request can do this.";
    let cancel = format!("/music/requests/{request}/cancel");
    check(&dj, "POST", &cancel, &json!({}), "not_your_request", by_guest);
    let approve = format!("/operator/withdrawals/{own}/approve");
    check(&operator, "POST", &approve, &why, "own_account", own_account);
    let adjustment = json!({"user_id": operator.id, "amount": 1, "reason": "x"});
    check(&operator, "POST", "/operator/adjustments", &adjustment, "own_account", own_account);
    check(&auditor, "POST", &approve, &why, "insufficient_scope", "Only operators can do this.");
    let read = guest.get("/operator/withdrawals").refused(403, "insufficient_scope");
    assert_eq!(read["message"], "Only operators and auditors can do this.");
}

fn ended_sessions_and_invalid_refresh_tokens_get_different_error_codes(store: Store) {
    let server = Server::start(store);
    let guest = server.guest();
    let refresh = || server.client().post("/auth/refresh", &json!({"refresh_token": guest.refresh_token}));
    guest.post("/auth/logout", &json!({"refresh_token": guest.refresh_token})).data(200);
    let ended = guest.get("/wallet");
    ended.refused(401, "session_ended");
    let challenge = ended.header("www-authenticate").unwrap();
    assert!(challenge.contains(r#"error="invalid_token""#) && challenge.contains("ended"), "{challenge}");
    refresh().refused(401, "invalid_refresh_token");
    guest.call("GET", "/wallet").bearer("broken").send().refused(401, "invalid_token");
}
