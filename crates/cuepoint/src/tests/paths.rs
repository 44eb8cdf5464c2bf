//! Which operation answers a path, however the path is written.

use actix_web::http::Method;
use actix_web::test::TestRequest;
use cuepoint_api::operations;

use super::{Answered, URL, api, call, party, post, send, with};
use crate::web_application::WebApplication;

async fn sent(app: &WebApplication, method: &str, path: &str) -> Answered {
    send(app, TestRequest::default().method(method.parse().unwrap()).uri(path)).await
}

/// A method without an operation, so that the answer and the metrics name what was found.
const NO_METHOD: &str = "BREW";

/// The label of the route in the metrics of such a request.
fn label(route: &str) -> String {
    format!(r#"method="OTHER",route="{route}",status="405""#)
}

#[actix_web::test]
async fn every_route_is_reached_by_its_method_on_all_its_paths() {
    let app = api(&[]);
    let operations = operations::all();
    for operation in &operations {
        for path in operation.aliases.iter().chain([&operation.path]) {
            let at_one = path.replace("{id}", "1");
            let answer = sent(&app, operation.method.as_str(), &at_one).await;
            // No DJ has the code, and there is no nonce.
            let is_found = path.contains("{code}") || operation.id == "getEcho" || answer.status != 404;
            assert!(is_found && answer.status != 405, "{path}: {}", answer.text);
            let allowed = sent(&app, NO_METHOD, &at_one).await;
            let mut methods = allowed.header("allow").split(", ");
            assert!(methods.any(|method| method == operation.method), "{path}: {}", allowed.text);
        }
    }
    let metrics = sent(&app, "GET", "/metrics").await.text;
    for operation in &operations {
        assert!(metrics.contains(&label(operation.path)), "{}", operation.path);
        for alias in operation.aliases {
            assert!(!metrics.contains(&label(alias)), "{alias}");
        }
    }
}

#[actix_web::test]
async fn any_text_without_a_slash_is_routed_as_an_id() {
    let app = api(&[]);
    let (nines, long) = ("9".repeat(40), "x".repeat(5_000));
    for id in [
        "1", "0017", "+5", "-1", "1.0", "abc", "{id}", ".", "..", "*", "%31", "%2F", "a%2Fb", "%252F", "%0A",
        "%00", "%FF", "%C3%A9", "%", "%zz", "options", "me;a=1", &nines, &long,
    ] {
        for (method, path) in [
            ("GET", format!("/api/v1/djs/{id}")),
            ("GET", format!("/api/v1/djs/{id}?a=/b/c")),
            ("POST", format!("/api/v1/withdrawals/{id}/cancel")),
            ("GET", format!("http://cuepoint.test/api/v1/operator/webhook-endpoints/{id}/attempts")),
        ] {
            assert_eq!(sent(&app, method, &path).await.status, 401, "{method} {path}");
        }
        let path = format!("/api/v1/webhook-endpoints/{id}");
        let refused = sent(&app, "PUT", &path).await;
        assert_eq!((refused.status.as_u16(), refused.header("allow")), (405, "DELETE, GET, HEAD, PATCH"));
    }
}

#[actix_web::test]
async fn a_path_must_match_a_route_in_every_segment() {
    let app = api(&[]);
    let deep = "/a".repeat(30_000);
    for path in [
        "//",
        "*",
        "/api",
        "/api/v1",
        "/API/V1/wallet",
        "/api/v1/Wallet",
        "/api/v1/walle",
        "/api/v1/wallets",
        "/api/v1/wallet/",
        "/api/v1/wallet//",
        "//api/v1/wallet",
        "/api//v1/wallet",
        "/api%2Fv1/wallet",
        "/api/v1/wallet%2F",
        "/api/v1/wallet%20",
        "/api/v1/djs/",
        "/api/v1/djs//",
        "/api/v1/djs//1",
        "/api/v1//djs/1",
        "/api/v1/djs/1/",
        "/api/v1/djs/1/2",
        "/api/v1/djs/./1/..",
        "/api/v1/djs1",
        "/api/v1/withdrawals//cancel",
        "/api/v1/withdrawals/1/cancel/",
        "/api/v1/withdrawals/1/2/cancel",
        "/api/v1/withdrawals/1/cancelled",
        "/api/v1/{id}",
        "/metrics/",
        "/docsx",
        "/doc",
        "/openapi.json/",
        &deep,
    ] {
        for method in ["GET", "POST", NO_METHOD] {
            let answer = sent(&app, method, path).await;
            assert_eq!((answer.status.as_u16(), answer.code()), (404, "not_found"), "{method} {path}");
        }
    }
    for path in
        ["/api/v1/%77allet", "/%61pi/v1/wallet", "/api/v1/wallet?a=/", "http://elsewhere/api/v1/wallet"]
    {
        assert_eq!(sent(&app, "GET", path).await.status, 401, "{path}");
    }
}

#[actix_web::test]
async fn a_literal_segment_takes_precedence_over_an_id() {
    let app = api(&[]);
    for (method, path, status, allow) in [
        ("GET", "/withdrawals/options", 401, ""),
        ("POST", "/withdrawals/options", 405, "GET, HEAD"),
        ("GET", "/withdrawal/options", 401, ""),
        ("POST", "/withdrawal/options", 405, "GET, HEAD"),
        ("POST", "/withdrawals/options/cancel", 401, ""),
        ("GET", "/withdrawals/options/cancel", 405, "POST"),
        ("GET", "/withdrawals/options/", 404, ""),
        ("GET", "/events/stream", 401, ""),
        ("GET", "/events/other", 404, ""),
    ] {
        let answer = sent(&app, method, &format!("/api/v1{path}")).await;
        assert_eq!((answer.status.as_u16(), answer.header("allow")), (status, allow), "{method} {path}");
    }
}

#[actix_web::test]
async fn documentation_files_are_served_directly_under_the_docs_path() {
    let app = api(&[]);
    for (method, path, status) in [
        ("GET", "/docs", 200),
        ("GET", "/docs/swagger-ui.css", 200),
        ("HEAD", "/docs/swagger-ui.css", 200),
        ("GET", "/docs/swagger-ui%2Ecss", 200),
        ("GET", "/docs/", 200),
        ("GET", "/docs//swagger-ui.css", 404),
        ("GET", "/docs/swagger-ui.css/", 404),
        ("GET", "/docs/a/b%2Fc", 404),
        ("POST", "/docs", 405),
        ("POST", "/docs/", 405),
        ("POST", "/docs/a/b//c/", 405),
    ] {
        let answer = sent(&app, method, path).await;
        assert_eq!(answer.status.as_u16(), status, "{method} {path}");
        assert_eq!(answer.header("allow"), if status == 405 { "GET, HEAD" } else { "" }, "{method} {path}");
    }
    sent(&app, NO_METHOD, "/docs/any").await;
    let metrics = sent(&app, "GET", "/metrics").await.text;
    assert!(metrics.contains(&label("/docs/{file:.*}")), "{metrics}");
}

#[actix_web::test]
async fn an_idempotency_key_covers_percent_encoded_spellings_of_its_path() {
    let app = api(&[]);
    let (_, guest) = party(&app).await;
    let keyed = |path: &str| {
        with(call(&Method::POST, path, &guest).insert_header(("idempotency-key", "k")), r#"{"amount":1}"#)
    };
    let first = send(&app, keyed("/wallet/topups")).await;
    let again = send(&app, keyed("/wallet/%74op%75ps")).await;
    assert_eq!((again.header("idempotency-replayed"), &again.text), ("true", &first.text));
}

#[actix_web::test]
async fn a_percent_encoded_id_in_a_path_is_decoded() {
    let app = api(&[]);
    let (_, guest) = party(&app).await;
    let endpoint = r#"{"url":"https://example.com/hook","password":"secret-secret"}"#;
    let created = post(&app, "/webhook-endpoints", &guest, endpoint).await;
    assert_eq!(created.status, 201, "{}", created.text);
    let path = "/webhook-endpoints/%31/attempts?per_page=1";
    let listed = send(&app, call(&Method::GET, path, &guest)).await;
    let first_page = format!("{URL}/api/v1/webhook-endpoints/1/attempts?per_page=1&page=1");
    assert_eq!(listed.body["data"]["first_page_url"], first_page, "{}", listed.text);
}
