//! Calls through the whole application, on the in-memory store.

mod paths;

use std::sync::Arc;

use actix_web::http::header::HeaderMap;
use actix_web::http::{Method, StatusCode};
use actix_web::test::{self, TestRequest};
use cuepoint_store_memory::MemoryStore;
use serde_json::{Value, json};

use crate::composition;
use crate::config::Layers;
use crate::web_application::WebApplication;
use cuepoint_adapters::clock::SystemClock;
use cuepoint_adapters::security::random::RandomSecrets;

const URL: &str = "http://cuepoint.test";

fn api(keys: &[(&str, &str)]) -> WebApplication {
    let settings = Layers::test(keys).settings().unwrap();
    let keys = composition::keys(&settings, RandomSecrets::new().unwrap(), &SystemClock).unwrap();
    let store = Arc::new(MemoryStore::new());
    let providers = composition::check(&settings, RandomSecrets::new().unwrap()).unwrap();
    let composed =
        composition::compose(&settings, keys, providers, store, Arc::default(), URL.to_owned()).unwrap();
    WebApplication::new(&settings, composed.api, composed.pages)
}

struct Answered {
    status: StatusCode,
    headers: HeaderMap,
    body: Value,
    text: String,
}

impl Answered {
    fn code(&self) -> &str {
        self.body["code"].as_str().unwrap_or("")
    }

    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

async fn send(app: &WebApplication, request: TestRequest) -> Answered {
    let service = test::init_service(app.clone().build()).await;
    let request = request.peer_addr("127.0.0.1:4000".parse().unwrap());
    let response = test::call_service(&service, request.to_request()).await;
    let (status, headers) = (response.status(), response.headers().clone());
    let text = String::from_utf8(test::read_body(response).await.to_vec()).unwrap();
    assert!(headers.contains_key("x-request-id"), "{text}");
    let body = serde_json::from_str(&text).unwrap_or(Value::Null);
    if status.is_client_error() || status.is_server_error() {
        assert_eq!(body["status"], "error", "{text}");
        assert_eq!(body["request_id"], headers.get("x-request-id").unwrap().to_str().unwrap());
        let challenged = headers.contains_key("www-authenticate");
        assert_eq!(challenged, status == StatusCode::UNAUTHORIZED, "{text}");
    }
    Answered { status, headers, body, text }
}

fn call(method: &Method, path: &str, token: &str) -> TestRequest {
    let request = TestRequest::default().method(method.clone()).uri(&format!("/api/v1{path}"));
    if token.is_empty() {
        request
    } else {
        request.insert_header(("authorization", format!("Bearer {token}")))
    }
}

fn with(request: TestRequest, body: &str) -> TestRequest {
    request.insert_header(("content-type", "application/json")).set_payload(body.to_owned())
}

async fn get(app: &WebApplication, path: &str, token: &str) -> Answered {
    send(app, call(&Method::GET, path, token)).await
}

async fn post(app: &WebApplication, path: &str, token: &str, body: &str) -> Answered {
    send(app, with(call(&Method::POST, path, token), body)).await
}

async fn patch(app: &WebApplication, path: &str, token: &str, body: &str) -> Answered {
    send(app, with(call(&Method::PATCH, path, token), body)).await
}

async fn registered(app: &WebApplication, name: &str, is_dj: bool) -> String {
    let body = json!({
        "name": name, "email": format!("{name}@example.com"), "password": "secret-secret", "is_dj": is_dj
    });
    let answer = post(app, "/auth/register", "", &body.to_string()).await;
    assert_eq!(answer.status, StatusCode::CREATED, "{}", answer.text);
    answer.body["data"]["access_token"].as_str().unwrap().to_owned()
}

/// A DJ (user 1) who accepts requests for 10, and a guest (user 2) who has 50.
async fn party(app: &WebApplication) -> (String, String) {
    let (dj, guest) = (registered(app, "dj", true).await, registered(app, "guest", false).await);
    let change = r#"{"online":1,"fee_popular_song":10,"fee_upcoming_artist":5.5}"#;
    assert_eq!(patch(app, "/user/personal-info", &dj, change).await.status, StatusCode::OK);
    let topup = post(app, "/wallet/topups", &guest, r#"{"amount":50}"#).await;
    assert_eq!(topup.status, StatusCode::CREATED, "{}", topup.text);
    assert_eq!(topup.header("location"), format!("{URL}/api/v1/wallet/topups/1"));
    (dj, guest)
}

const SONG: &str = r#"{"dj_id":1,"song_title":"Blue Monday","artist_name":"New Order","artist_type":"popular",
    "music_url":"https://example.com/x"}"#;

#[actix_web::test]
async fn checks_run_in_the_documented_order() {
    let app = api(&[]);
    let (dj, guest) = party(&app).await;
    assert_eq!(post(&app, "/music/requests", &guest, SONG).await.status, StatusCode::CREATED);
    let used =
        call(&Method::PATCH, "/music/requests-update/1", &guest).insert_header(("idempotency-key", "used"));
    assert_eq!(send(&app, with(used, r#"{"status":"x"}"#)).await.code(), "not_your_request");
    let kept =
        call(&Method::PATCH, "/music/requests-update/1", &dj).insert_header(("idempotency-key", "used"));
    assert_eq!(send(&app, with(kept, r#"{"status":"rejected"}"#)).await.status, StatusCode::OK);

    let large = format!("{{\"status\":\"{}\"", "x".repeat(70_000));
    let (wrong_method, none, broken) = (Method::DELETE, String::new(), "broken".to_owned());
    let (html, json) = ("text/html", "application/json");
    let (long, used) = ("k".repeat(256), "used".to_owned());
    // Each row repairs the error of the row above, and is refused for the next one.
    for (method, token, accept, key, kind, body, id, code) in [
        (&wrong_method, &none, html, &long, html, large.as_str(), "9", "method_not_allowed"),
        (&Method::PATCH, &none, html, &long, html, large.as_str(), "9", "unauthenticated"),
        (&Method::PATCH, &broken, html, &long, html, large.as_str(), "9", "invalid_token"),
        (&Method::PATCH, &dj, html, &long, html, large.as_str(), "9", "not_acceptable"),
        (&Method::PATCH, &dj, json, &long, html, large.as_str(), "9", "bad_request"),
        (&Method::PATCH, &dj, json, &used, html, large.as_str(), "9", "payload_too_large"),
        (&Method::PATCH, &dj, json, &used, html, "{", "1", "unsupported_media_type"),
        (&Method::PATCH, &dj, json, &used, json, "{", "1", "malformed_json"),
        (&Method::PATCH, &dj, json, &used, json, "{}", "1", "idempotency_key_reused"),
        (&Method::PATCH, &guest, json, &used, json, "{}", "9", "not_found"),
        (&Method::PATCH, &guest, json, &used, json, "{}", "1", "not_your_request"),
    ] {
        let request = call(method, &format!("/music/requests-update/{id}"), token)
            .insert_header(("accept", accept))
            .insert_header(("idempotency-key", key.as_str()))
            .insert_header(("content-type", kind))
            .set_payload(body.to_owned());
        let answer = send(&app, request).await;
        assert_eq!(answer.code(), code, "{}", answer.text);
    }
    assert_eq!(patch(&app, "/music/requests-update/1", &dj, "{}").await.code(), "validation_failed");
    let late = patch(&app, "/music/requests-update/1", &dj, r#"{"status":"played"}"#).await;
    assert_eq!((late.code(), late.status), ("invalid_transition", StatusCode::CONFLICT));
    assert_eq!((&late.body["current"], &late.body["allowed"]), (&json!("rejected"), &json!([])));
}

#[actix_web::test]
async fn a_played_request_earns_the_dj_a_fee_that_can_be_withdrawn() {
    let app = api(&[]);
    let (dj, guest) = party(&app).await;
    let opened = post(&app, "/music/requests", &guest, SONG).await;
    assert_eq!(opened.status, StatusCode::CREATED, "{}", opened.text);
    assert_eq!(opened.header("location"), format!("{URL}/api/v1/music/requests/1"));
    assert!(opened.text.contains(r#""fee":10.00,"status":"pending""#), "{}", opened.text);
    let wallet = get(&app, "/wallet", &guest).await;
    let amounts = r#""available":40.00,"held":10.00,"owed":0.00,"clearing":0.00,"clears_at":null}"#;
    assert!(wallet.text.contains(amounts), "{}", wallet.text);
    for status in ["accepted", "accepted", "played"] {
        let body = json!({ "status": status }).to_string();
        let moved = patch(&app, "/music/requests-update/1", &dj, &body).await;
        assert_eq!(moved.body["data"]["status"], status, "{}", moved.text);
    }
    let withdrawal = r#"{"amount":4.5,"wallet_address":"bc1q","currency":"BTC","network":"bitcoin"}"#;
    let withdrawn = post(&app, "/withdrawal/crypto", &dj, withdrawal).await;
    assert_eq!(withdrawn.status, StatusCode::CREATED, "{}", withdrawn.text);
    assert_eq!(withdrawn.header("location"), format!("{URL}/api/v1/withdrawals/1"));
    assert!(withdrawn.body.get("message").is_none() && withdrawn.body["data"]["message"].is_string());
    assert!(withdrawn.text.contains(r#""new_balance":5.50"#), "{}", withdrawn.text);
    let listed = get(&app, "/withdrawals?per_page=1", &dj).await;
    assert_eq!(listed.body["data"]["data"][0]["status"], "pending", "{}", listed.text);
    assert_eq!(listed.body["data"]["last_page_url"], format!("{URL}/api/v1/withdrawals?per_page=1&page=1"));
    let cancelled = send(&app, call(&Method::POST, "/withdrawals/1/cancel", &dj)).await;
    assert_eq!(cancelled.body["data"]["status"], "cancelled", "{}", cancelled.text);
    let entries = get(&app, "/wallet/entries", &dj).await;
    let kinds: Vec<_> =
        entries.body["data"]["data"].as_array().unwrap().iter().map(|it| &it["kind"]).collect();
    assert_eq!(kinds, ["release", "hold", "earning"]);
    let too_much = withdrawal.replace("4.5", "10.01");
    let refused = post(&app, "/withdrawal/crypto", &dj, &too_much).await;
    assert_eq!((refused.status, refused.code()), (StatusCode::UNPROCESSABLE_ENTITY, "insufficient_funds"));
    assert!(refused.body["errors"]["amount"].is_array());
}

#[actix_web::test]
async fn an_idempotency_key_replays_the_first_answer() {
    let app = api(&[]);
    let (_, guest) = party(&app).await;
    let keyed = |body: &str| {
        with(call(&Method::POST, "/wallet/topups", &guest).insert_header(("idempotency-key", "k1")), body)
    };
    let first = send(&app, keyed(r#"{"amount":1}"#)).await;
    assert_eq!((first.status, first.header("idempotency-replayed")), (StatusCode::CREATED, ""));
    let again = send(&app, keyed(r#"{"amount":1}"#)).await;
    assert_eq!((again.status, again.header("idempotency-replayed")), (StatusCode::CREATED, "true"));
    assert_eq!((&again.text, again.header("location")), (&first.text, first.header("location")));
    let other = send(&app, keyed(r#"{"amount":1.0}"#)).await;
    assert_eq!((other.status, other.code()), (StatusCode::UNPROCESSABLE_ENTITY, "idempotency_key_reused"));
    let profile = get(&app, "/user/personal-info", &guest).await;
    assert!(profile.text.contains(r#""wallet_balance":51.00"#), "{}", profile.text);
}

#[actix_web::test]
async fn topups_are_refused_as_not_configured_without_a_provider() {
    let app = api(&[("topups.provider", "none")]);
    let guest = registered(&app, "guest", false).await;
    let refused = post(&app, "/wallet/topups", &guest, r#"{"amount":1}"#).await;
    assert_eq!((refused.status, refused.code()), (StatusCode::NOT_IMPLEMENTED, "not_configured"));
    assert_eq!(refused.body["message"], "This deployment does not accept top-ups.");
    assert_eq!(refused.header("retry-after"), "", "another attempt fails as well");
}

#[actix_web::test]
async fn a_stranger_finds_no_objects_of_other_users() {
    let app = api(&[]);
    let (_, guest) = party(&app).await;
    assert_eq!(post(&app, "/music/requests", &guest, SONG).await.status, StatusCode::CREATED);
    let stranger = registered(&app, "stranger", true).await;
    for path in [
        "/music/requests/1",
        "/music/requests/2",
        "/music/requests/0",
        "/music/requests/-1",
        "/music/requests/01",
        "/music/requests/+1",
        "/music/requests/1.0",
        "/music/requests/x",
        "/music/requests/9223372036854775808",
        "/wallet/topups/1",
        "/withdrawals/1",
        "/djs/2",
        "/djs/99",
        "/nowhere",
        "/wallet/",
        "",
    ] {
        let answer = get(&app, path, &stranger).await;
        assert_eq!((answer.status, answer.code()), (StatusCode::NOT_FOUND, "not_found"), "{path}");
    }
    assert_eq!(get(&app, "/music/requests/1", &guest).await.status, StatusCode::OK);
    let cancel = call(&Method::POST, "/music/requests/1/cancel", &guest);
    assert_eq!(send(&app, cancel).await.body["data"]["status"], "cancelled");
    let again = post(&app, "/music/requests/1/cancel", &guest, "{}").await;
    assert_eq!(again.body["data"]["status"], "cancelled");
}

#[actix_web::test]
async fn dj_fields_sent_by_guests_are_refused_before_validation() {
    let app = api(&[]);
    let (dj, guest) = party(&app).await;
    for body in [r#"{"online":1}"#, r#"{"fee_popular_song":"x","name":5}"#] {
        assert_eq!(patch(&app, "/user/personal-info", &guest, body).await.code(), "dj_only", "{body}");
    }
    assert_eq!(get(&app, "/music/dj/requests?status=bogus", &guest).await.code(), "dj_only");
    assert_eq!(get(&app, "/music/dj/requests?status=bogus", &dj).await.code(), "validation_failed");
    let half = patch(&app, "/user/personal-info", &guest, r#"{"latitude":52.5}"#).await;
    assert_eq!(
        half.body["errors"],
        json!({"longitude": ["The longitude field is required when latitude is present."]})
    );
    let whole =
        patch(&app, "/user/personal-info", &guest, r#"{"latitude":52.5,"longitude":13,"city":"B"}"#).await;
    assert_eq!(whole.body["data"]["user"]["longitude"], 13.0, "{}", whole.text);
    let cleared = patch(&app, "/user/personal-info", &guest, r#"{"city":null}"#).await;
    assert_eq!(cleared.body["data"]["user"]["city"], Value::Null);
}

#[actix_web::test]
async fn answers_to_unsupported_methods_list_the_allowed_methods() {
    let app = api(&[]);
    for (path, allow) in [
        ("/wallet", "GET, HEAD"),
        ("/user/personal-info", "GET, HEAD, PATCH"),
        ("/wallet/topups", "GET, HEAD, POST"),
        ("/auth/login", "POST"),
    ] {
        for method in [Method::DELETE, Method::OPTIONS, Method::from_bytes(b"BREW").unwrap()] {
            let answer = send(&app, call(&method, path, "")).await;
            assert_eq!(answer.status, StatusCode::METHOD_NOT_ALLOWED, "{method} {path}");
            assert_eq!(answer.header("allow"), allow, "{method} {path}");
        }
    }
    let head = send(&app, TestRequest::default().method(Method::HEAD).uri("/health/live")).await;
    assert_eq!(head.status, StatusCode::OK);
}

#[actix_web::test]
async fn valid_request_ids_of_clients_are_kept() {
    let app = api(&[]);
    let long = "x".repeat(129);
    for (id, kept) in [("my.request_id-1", true), ("", false), ("a b", false), (long.as_str(), false)] {
        let request = TestRequest::get().uri("/health/live").insert_header(("x-request-id", id));
        assert_eq!(send(&app, request).await.header("x-request-id") == id, kept, "{id}");
    }
}

#[actix_web::test]
async fn metrics_contain_no_text_from_clients() {
    let app = api(&[]);
    get(&app, "/invented/path-7391", "").await;
    get(&app, "/djs/7391", "").await;
    send(&app, call(&Method::from_bytes(b"INVENTED").unwrap(), "/wallet", "")).await;
    let metrics = send(&app, TestRequest::get().uri("/metrics")).await.text;
    assert!(metrics.contains(r#"route="/api/v1/djs/{id}",status="401""#), "{metrics}");
    assert!(metrics.contains(r#"route="unknown",status="404""#), "{metrics}");
    assert!(metrics.contains("http_request_duration_seconds"), "{metrics}");
    // Values may be any number; a series is named by the text before the last blank.
    let series = metrics.lines().filter_map(|line| line.rsplit_once(' ')).map(|(series, _)| series);
    for name in series {
        assert!(!name.contains("7391") && !name.contains("INVENTED"), "{name}");
    }
}

#[actix_web::test]
async fn cors_allows_only_configured_origins() {
    let request = || {
        TestRequest::default()
            .method(Method::OPTIONS)
            .uri("/api/v1/wallet")
            .insert_header(("origin", "https://app.example.com"))
            .insert_header(("access-control-request-method", "GET"))
            .insert_header(("access-control-request-headers", "authorization,idempotency-key"))
    };
    let closed = send(&api(&[]), request()).await;
    assert_eq!(closed.status, StatusCode::METHOD_NOT_ALLOWED);
    assert_eq!(closed.header("access-control-allow-origin"), "");

    let open = api(&[("cors.allowed_origins", "https://app.example.com")]);
    let preflight = send(&open, request()).await;
    assert_eq!(preflight.status, StatusCode::OK);
    assert_eq!(preflight.header("access-control-allow-origin"), "https://app.example.com");
    let called =
        TestRequest::get().uri("/api/v1/wallet").insert_header(("origin", "https://app.example.com"));
    let exposed = send(&open, called).await;
    for name in [
        "x-request-id",
        "location",
        "idempotency-replayed",
        "retry-after",
        "x-ratelimit-limit",
        "x-ratelimit-reset",
        "x-ratelimit-resource",
    ] {
        let names = exposed.header("access-control-expose-headers").to_lowercase();
        assert!(names.contains(name), "{name} in {names}");
    }
    let elsewhere = TestRequest::get().uri("/health/live").insert_header(("origin", "https://evil.example"));
    assert_eq!(send(&open, elsewhere).await.header("access-control-allow-origin"), "");
}
