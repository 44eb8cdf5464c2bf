//! Refusals by the web server before there is a request, in the same envelope as all failures.

use crate::harness::{Answer, Server, Store, answers, eventually, exchange};

const LIVE: &str = "GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n";

/// The answers to these bytes, after which the server closes.
fn said(server: &Server, request: &str) -> Vec<Answer> {
    answers(&exchange(&server.client().address, request.as_bytes()))
}

/// Checks that the answer is a failure envelope with the common headers, and the last on its connection.
#[track_caller]
fn is_refused(answer: &Answer, status: u16, code: &str) {
    answer.refused(status, code);
    for (name, value) in [
        ("connection", "close"),
        ("content-type", "application/json"),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("content-security-policy", "default-src 'none'; frame-ancestors 'none'"),
        ("cache-control", "no-store"),
    ] {
        assert_eq!(answer.header(name), Some(value), "{answer}");
    }
    assert!(answer.header("date").is_some_and(|date| date.ends_with(" GMT")), "{answer}");
}

#[test]
fn a_malformed_request_head_is_refused_with_json() {
    let server = Server::start(Store::Memory);
    let login = "POST /api/v1/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n";
    for request in [
        "no request at all\r\n\r\n".to_owned(),
        "\u{16}\u{3}\u{1}\0\u{a5}\u{1}\0".repeat(50),
        "GET /health/live HTTP/3.7\r\n\r\n".to_owned(),
        "GET /health/live HTTP/1.1\r\nHost: x\r\nno header\r\n\r\n".to_owned(),
        "HEADS /health/live HTTP/1.1\r\nHo st: x\r\n\r\n".to_owned(),
        format!("GET /{} HTTP/1.1\r\nHost: x\r\n\r\n", "a".repeat(70_000)),
        format!("{login}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{{}}x"),
        format!("{login}Transfer-Encoding: gzip, chunked, x\r\n\r\n"),
    ] {
        let answers = said(&server, &request);
        assert_eq!(answers.len(), 1, "{request:?}");
        is_refused(&answers[0], 400, "bad_request");
    }
}

#[test]
fn a_large_request_head_is_refused_with_json() {
    let server = Server::start(Store::Memory);
    let many: String = (0..1_000).map(|number| format!("X-{number}: a\r\n")).collect();
    for headers in [many, format!("X-A: {}", "a".repeat(200_000)), format!("X-A: {}", "a".repeat(1_000_000))]
    {
        let answers = said(&server, &format!("GET /health/live HTTP/1.1\r\nHost: x\r\n{headers}\r\n\r\n"));
        assert_eq!(answers.len(), 1);
        is_refused(&answers[0], 431, "head_too_large");
    }
}

#[test]
fn a_slow_request_head_is_refused_with_json() {
    let server = Server::configured(Store::Memory, &[("server.head_timeout_seconds", "1")]);
    for beginning in ["", "G", "GET /health/live HTTP/1.1\r\nHost: x\r\nX-Request-Id: mine\r\n"] {
        let answers = said(&server, beginning);
        assert_eq!(answers.len(), 1, "{beginning:?}");
        is_refused(&answers[0], 408, "request_timeout");
    }
}

#[test]
fn pipelined_responses_before_a_refusal_are_complete() {
    let server = Server::start(Store::Memory);
    let answers =
        said(&server, &format!("{LIVE}{LIVE}GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\nGET\r\n\r\n"));
    let statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
    assert_eq!(statuses, [200, 200, 200, 400]);
    assert_eq!(answers[2].json()["info"]["title"], "Cuepoint");
    is_refused(&answers[3], 400, "bad_request");
}

#[test]
fn refusals_are_counted_and_have_distinct_request_ids() {
    let server = Server::start(Store::Memory);
    let ids: Vec<_> = (0..2)
        .flat_map(|_| said(&server, "GET / HTTP/1.1\r\nX-Request-Id: mine\r\nno header\r\n\r\n"))
        .map(|answer| answer.header("x-request-id").unwrap().to_owned())
        .collect();
    assert!(ids[0] != ids[1] && !ids.contains(&"mine".to_owned()), "{ids:?}");
    let metrics = server.client().outside("GET", "/metrics").send().text;
    let line = "http_requests_total{method=\"OTHER\",route=\"unknown\",status=\"400\"} 2";
    assert!(metrics.contains(line), "{metrics}");
    for id in ids {
        eventually("the refusal's line in the log", || server.log().contains(&id).then_some(()));
    }
}
