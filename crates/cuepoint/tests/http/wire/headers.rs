//! The headers of every answer, and the cross-origin policy for browsers.

use serde_json::json;

use crate::harness::{Answer, Call, Server, Store, exchange};

const ORIGIN: &str = "https://app.example.com";

/// Answers of every kind: successes and failures of handlers, of the checks before them, and of the router.
fn every_kind(server: &Server) -> Vec<Answer> {
    let (guest, client) = (server.guest(), server.client());
    [
        guest.call("GET", "/wallet"),
        guest.call("POST", "/wallet/topups").text(r#"{"amount": 1}"#),
        guest.call("POST", "/wallet/topups").text("{"),
        guest.call("POST", "/wallet/topups").text(&"x".repeat(70_000)),
        guest.call("GET", "/wallet").header("accept", "text/html"),
        client.call("GET", "/wallet"),
        client.call("POST", "/auth/login").json(&json!({"email": "a", "password": "b"})),
        client.call("GET", "/nothing"),
        client.call("PUT", "/wallet"),
        client.outside("GET", "/nothing"),
        client.outside("GET", "/health/ready"),
        client.outside("GET", "/metrics"),
    ]
    .map(Call::send)
    .to_vec()
}

/// Attack API8: a browser that executes or caches a response.
#[test]
fn responses_carry_the_security_headers() {
    let server = Server::start(Store::Memory);
    for answer in every_kind(&server) {
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("cache-control", "no-store"),
            ("referrer-policy", "no-referrer"),
            ("content-security-policy", "default-src 'none'; frame-ancestors 'none'"),
        ] {
            assert_eq!(answer.header(name), Some(value), "{name}: {answer}");
        }
        assert_eq!(answer.headers.get_all("cache-control").iter().count(), 1, "{answer}");
        // The implementation of the service is not disclosed.
        for name in ["server", "x-powered-by", "strict-transport-security"] {
            assert_eq!(answer.header(name), None, "{answer}");
        }
    }
}

#[test]
fn answers_say_for_how_long_the_host_is_reached_over_https_alone() {
    for seconds in ["31536000", "0"] {
        let server = Server::configured(Store::Memory, &[("server.hsts_seconds", seconds)]);
        let value = format!("max-age={seconds}");
        for answer in every_kind(&server) {
            assert_eq!(answer.header("strict-transport-security"), Some(value.as_str()), "{answer}");
        }
    }
}

#[test]
fn the_documentation_has_a_restrictive_content_security_policy() {
    let server = Server::start(Store::Memory);
    for path in ["/docs", "/docs/", "/docs/swagger-ui.css", "/openapi.json"] {
        let answer = server.client().outside("GET", path).send();
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'; script-src 'self'; "), "{policy}");
        assert!(policy.ends_with("frame-ancestors 'none'") && !policy.contains("unsafe-eval"), "{policy}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    }
    // Inline scripts would be blocked.
    for path in ["/docs", "/docs/"] {
        let page = server.client().outside("GET", path).send().text;
        let mut scripts = 0;
        for script in page.split("<script").skip(1) {
            let (tag, rest) = script.split_once('>').unwrap();
            assert!(tag.contains("src=\"") && rest.trim_start().starts_with("</script>"), "{script}");
            scripts += 1;
        }
        assert!(scripts >= 2 && !page.contains("javascript:") && !page.contains("onload="), "{page}");
    }
}

fn preflight(server: &Server, origin: &str, method: &str, headers: &str) -> Answer {
    let call = server.client().call("OPTIONS", "/wallet").header("origin", origin);
    let call = call.header("access-control-request-method", method);
    call.header("access-control-request-headers", headers).send()
}

#[test]
fn allowed_origins_may_use_every_method_but_not_cors_credentials() {
    let server = Server::configured(Store::Memory, &[("cors.allowed_origins", ORIGIN)]);
    let guest = server.guest();
    for method in ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] {
        let answer =
            preflight(&server, ORIGIN, method, "authorization,content-type,idempotency-key,x-request-id");
        assert_eq!(answer.status, 200, "{answer}");
        assert_eq!(answer.header("access-control-allow-origin"), Some(ORIGIN));
        assert!(answer.header("access-control-allow-methods").unwrap().contains(method), "{answer}");
        assert_eq!(answer.header("access-control-max-age"), Some("3600"));
        assert_eq!(answer.header("access-control-allow-credentials"), None);
        assert!(answer.header("vary").unwrap().contains("Origin"), "{answer}");
    }
    let called = guest.call("GET", "/wallet").header("origin", ORIGIN).send();
    called.data(200);
    assert_eq!(called.header("access-control-allow-origin"), Some(ORIGIN));
    assert_eq!(called.header("access-control-allow-credentials"), None);
    // A shared cache must not serve one origin's answer to another.
    for answer in
        [called, guest.get("/wallet"), guest.call("GET", "/wallet").header("origin", "https://x").send()]
    {
        assert!(answer.header("vary").is_some_and(|vary| vary.contains("Origin")), "{answer}");
    }
}

/// Attack API8: calling the API from a foreign web page.
#[test]
fn other_origins_get_no_cors_headers() {
    let server = Server::configured(Store::Memory, &[("cors.allowed_origins", ORIGIN)]);
    let silent = |answer: &Answer| {
        for name in answer.headers.keys() {
            assert!(!name.as_str().starts_with("access-control-allow"), "{name}: {answer}");
        }
    };
    for origin in [
        "https://evil.example",
        "http://app.example.com",
        "https://app.example.com:8443",
        "https://app.example.com.evil.example",
        "null",
    ] {
        let answer = preflight(&server, origin, "GET", "authorization");
        assert!(answer.status >= 400, "{answer}");
        silent(&answer);
        silent(&server.client().call("GET", "/wallet").header("origin", origin).send());
    }
    // The listed origins get no more for methods and headers that no route takes.
    for (method, headers) in [("TRACE", "authorization"), ("GET", "x-forwarded-for")] {
        let answer = preflight(&server, ORIGIN, method, headers);
        assert!(answer.status >= 400, "{answer}");
    }
    silent(&preflight(&Server::start(Store::Memory), ORIGIN, "GET", "authorization"));
}

#[test]
fn an_invalid_request_id_is_not_repeated_in_the_answer() {
    let server = Server::start(Store::Memory);
    for id in ["a%0d%0aSet-Cookie: x", "a b", "<script>", "ä"] {
        let request = format!(
            "GET /health/live HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Request-Id: {id}\r\n\r\n"
        );
        let answer = exchange(&server.client().address, request.as_bytes());
        assert!(answer.starts_with("HTTP/1.1 200 ") && !answer.contains(id), "{answer}");
    }
}
