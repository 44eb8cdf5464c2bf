//! Routes outside the contract: health, metrics and the document; and other origins.

use serde_json::Value;

use crate::harness::{Answer, Call, ROUTES, Server, Store, eventually};

on_one_store!(
    health_checks_succeed_on_a_running_server,
    metrics_count_requests_and_commits,
    access_lines_show_client_user_and_path_without_secrets,
    the_openapi_document_describes_every_route,
    the_documentation_loads_nothing_from_other_hosts,
    the_documentation_is_compressed_and_not_sent_again_if_unchanged,
    only_configured_origins_are_allowed,
    fifty_concurrent_withdrawals_never_overdraw_a_wallet,
);

fn health_checks_succeed_on_a_running_server(store: Store) {
    let server = Server::start(store);
    for path in ["/health/live", "/health/ready"] {
        let answer = server.client().outside("GET", path).send();
        assert_eq!(answer.status, 200, "{answer}");
        assert!(answer.header("x-request-id").is_some(), "{answer}");
    }
}

/// The metric samples of a server, one per line.
pub(crate) fn metrics(server: &Server) -> Vec<String> {
    let answer = server.client().outside("GET", "/metrics").send();
    assert_eq!(answer.status, 200, "{answer}");
    assert!(answer.header("content-type").unwrap().starts_with("text/plain"), "{answer}");
    answer.text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
}

/// The value of the only sample whose line contains all of these.
pub(crate) fn sample(lines: &[String], parts: &[&str]) -> u64 {
    let found: Vec<&String> =
        lines.iter().filter(|line| parts.iter().all(|part| line.contains(part))).collect();
    assert_eq!(found.len(), 1, "{parts:?}: {found:?} in\n{}", lines.join("\n"));
    found[0].rsplit_once(' ').unwrap().1.parse().unwrap()
}

fn metrics_count_requests_and_commits(store: Store) {
    let server = Server::start(store);
    let guest = server.payer("20");
    for _ in 0..3 {
        assert_eq!(guest.withdraw("1").status, 201);
    }
    for withdrawal in guest.get("/withdrawals").data(200)["data"].as_array().unwrap() {
        guest.get(&format!("/withdrawals/{}", withdrawal["id"])).data(200);
    }
    guest.get("/nothing").refused(404, "not_found");
    let lines = metrics(&server);
    let count = |parts: &[&str]| sample(&lines, parts);
    assert_eq!(
        count(&["http_requests_total{", "method=\"POST\"", "/withdrawal/crypto", "status=\"201\""]),
        3
    );
    assert_eq!(count(&["http_request_duration_seconds_count{", "method=\"POST\"", "/withdrawal/crypto"]), 3);
    // Routes are labelled with their template, so that ids create no new series.
    assert_eq!(count(&["http_requests_total{", "/withdrawals/{id}", "status=\"200\""]), 3);
    assert!(!lines.iter().any(|line| line.contains("/withdrawals/1") || line.contains("/nothing")));
    // Present before the first loss.
    assert_eq!(count(&["cuepoint_log_lines_lost_total"]), 0);
    if store != Store::Memory {
        // A top-up and three withdrawals, each committed alone.
        assert_eq!(count(&["cuepoint_commits_total"]), 4);
        assert_eq!(count(&["cuepoint_group_size_sum"]), 4);
    }
}

/// The access line of a request that a proxy passes on for this client.
fn access_line(server: &Server, client: &str, call: Call, id: &str) -> String {
    call.header("x-forwarded-for", client).header("x-request-id", id).send();
    let (mark, answered) = (format!("request_id=\"{id}\""), " answered ");
    eventually("the request is logged", || {
        let log = server.log();
        let found = log.lines().find(|line| line.contains(&mark) && line.contains(answered));
        found.map(|line| line.split_once(answered).unwrap().1.to_owned())
    })
}

/// Attack API8: reading the codes of gigs in the log.
fn access_lines_show_client_user_and_path_without_secrets(store: Store) {
    let server = Server::configured(store, &[("server.trusted_proxies", "127.0.0.1")]);
    let (guest, client) = (server.guest(), server.client());
    let user = format!(" user={}", guest.id);
    let long = format!("/{}", "x".repeat(300));
    let cut = format!("/{}…", "x".repeat(199));
    for (id, (call, user, method, route, path, status)) in [
        (
            guest.call("GET", "/withdrawals/17?q=hidden"),
            user.as_str(),
            "GET",
            "/api/v1/withdrawals/{id}",
            Some("/api/v1/withdrawals/17"),
            404,
        ),
        (
            guest.call("GET", "/withdrawals/hidden"),
            user.as_str(),
            "GET",
            "/api/v1/withdrawals/{id}",
            Some("/api/v1/withdrawals/{id}"),
            404,
        ),
        (
            client.call("GET", "/boards/hidden"),
            "",
            "GET",
            "/api/v1/boards/{code}",
            Some("/api/v1/boards/{code}"),
            404,
        ),
        (
            client.call("GET", "/withdrawal/options"),
            "",
            "GET",
            "/api/v1/withdrawals/options",
            Some("/api/v1/withdrawal/options"),
            401,
        ),
        (client.outside("GET", "/.env?q=hidden"), "", "GET", "unknown", Some("/.env"), 404),
        (client.outside("GET", &long), "", "GET", "unknown", Some(cut.as_str()), 404),
    ]
    .into_iter()
    .enumerate()
    {
        let line = access_line(&server, "203.0.113.9", call, &format!("id-{id}"));
        let path = path.map(|path| format!(" path={path:?}")).unwrap_or_default();
        let expected = format!(
            "request_id=\"id-{id}\" client=203.0.113.9{user} method={method:?} route={route:?}{path} status={status} \
             duration_ms="
        );
        let duration = line.strip_prefix(&expected).unwrap_or_else(|| panic!("{line}\n{expected}"));
        assert!(duration.contains('.') && duration.parse::<f64>().unwrap() > 0.0, "{line}");
    }
    // The router is not asked for the path of a preflight, which would contain the code.
    let preflight = client.call("OPTIONS", "/boards/hidden").header("origin", "https://app.example.com");
    let preflight = preflight.header("access-control-request-method", "GET");
    let line = access_line(&server, "203.0.113.9", preflight, "preflight");
    assert!(line.contains(" method=\"OPTIONS\"") && !line.contains("hidden"), "{line}");
    assert!(!server.log().contains("hidden"), "{}", server.log());
}

/// The document, as JSON.
fn description(server: &Server) -> (Answer, Value) {
    let answer = server.client().outside("GET", "/openapi.json").send();
    assert_eq!(answer.status, 200, "{answer}");
    assert!(answer.header("content-type").unwrap().starts_with("application/json"), "{answer}");
    let json = answer.json();
    (answer, json)
}

fn the_openapi_document_describes_every_route(store: Store) {
    let server = Server::start(store);
    let (_, description) = description(&server);
    assert!(description["openapi"].as_str().unwrap().starts_with("3."));
    for route in ROUTES.iter() {
        let path = &description["paths"][format!("/api/v1{}", route.path)];
        let path = if path.is_null() { &description["paths"][route.path] } else { path };
        let operation = &path[route.method.to_lowercase()];
        assert!(operation.is_object(), "{} {} is not described", route.method, route.path);
        let responses = operation["responses"].as_object().unwrap();
        assert!(responses.keys().any(|status| status.starts_with('2')), "{} {}", route.method, route.path);
        let wants_proof =
            route.private || route.signed || matches!(route.path, "/auth/login" | "/auth/refresh" | "/djs");
        assert_eq!(responses.contains_key("401"), wants_proof, "{} {}", route.method, route.path);
    }
}

fn the_documentation_loads_nothing_from_other_hosts(store: Store) {
    let server = Server::start(store);
    let client = server.client();
    let root = client.outside("GET", "/docs").send();
    if root.status != 200 {
        assert!(matches!(root.status, 301 | 302 | 303 | 307 | 308), "{root}");
        assert!(root.header("location").unwrap().ends_with("/docs/"), "{root}");
    }
    let page = client.outside("GET", "/docs/").send();
    assert_eq!(page.status, 200, "{page}");
    assert!(page.header("content-type").unwrap().starts_with("text/html"), "{page}");
    let assets: Vec<&str> = ["src=\"", "href=\""]
        .iter()
        .flat_map(|attribute| page.text.split(attribute).skip(1))
        .map(|rest| rest.split('"').next().unwrap())
        .collect();
    assert!(assets.len() > 2, "{page}");
    for asset in assets {
        assert!(!asset.contains("//"), "{asset} is elsewhere");
        let path = format!("/docs/{}", asset.trim_start_matches("./").trim_start_matches("/docs/"));
        let answer = client.outside("GET", &path).send();
        assert_eq!(answer.status, 200, "{path}");
    }
    let settings = client.outside("GET", "/docs/swagger-initializer.js").send();
    assert_eq!(settings.status, 200, "{settings}");
    assert!(!settings.text.contains("http://") && !settings.text.contains("https://"), "{settings}");
    assert!(settings.text.contains("openapi.json"), "{settings}");
}

fn the_documentation_is_compressed_and_not_sent_again_if_unchanged(store: Store) {
    let server = Server::start(store);
    let get = |path: &str, header: (&str, &str)| {
        let answer = server.client().outside("GET", path).header(header.0, header.1).send();
        assert_eq!(
            answer.header("vary").map(|vary| vary.contains("Accept-Encoding")),
            Some(true),
            "{answer}"
        );
        assert_eq!(answer.header("cache-control"), Some("no-cache"), "{path}");
        assert!(answer.header("content-security-policy").is_some(), "{path}");
        answer
    };
    let length = |answer: &Answer| answer.header("content-length").unwrap().parse::<usize>().unwrap();
    for path in ["/docs", "/docs/", "/docs/swagger-ui-bundle.js", "/docs/swagger-ui.css", "/openapi.json"] {
        let plain = get(path, ("accept-encoding", "identity"));
        let compressed = get(path, ("accept-encoding", "gzip"));
        assert_eq!((plain.status, compressed.status), (200, 200), "{path}");
        let encodings =
            [&plain, &compressed].map(|answer| answer.header("content-encoding").map(str::to_owned));
        assert_eq!(encodings, [None, Some("gzip".to_owned())], "{path}");
        assert!(length(&compressed) < length(&plain), "{path}");
        let tag = plain.header("etag").unwrap();
        assert_eq!(compressed.header("etag"), Some(tag), "{path}");
        let known = get(path, ("if-none-match", tag));
        assert_eq!((known.status, known.text.as_str()), (304, ""), "{path}");
    }
}

fn only_configured_origins_are_allowed(store: Store) {
    let origins = [("cors.allowed_origins", "https://app.example.com,http://localhost:3000")];
    let server = Server::configured(store, &origins);
    let guest = server.guest();
    let allowed = |answer: &Answer| answer.header("access-control-allow-origin").map(str::to_owned);
    for origin in ["https://app.example.com", "http://localhost:3000"] {
        let answer = guest.call("GET", "/wallet").header("origin", origin).send();
        answer.data(200);
        assert_eq!(allowed(&answer).as_deref(), Some(origin));
        let asks = server
            .client()
            .call("OPTIONS", "/wallet/topups")
            .header("origin", origin)
            .header("access-control-request-method", "POST")
            .header("access-control-request-headers", "authorization,content-type,idempotency-key")
            .send();
        assert!(matches!(asks.status, 200 | 204), "{asks}");
        assert_eq!(allowed(&asks).as_deref(), Some(origin), "{asks}");
        assert!(asks.header("access-control-allow-methods").unwrap().contains("POST"));
        let headers = asks.header("access-control-allow-headers").unwrap().to_lowercase();
        for name in ["authorization", "content-type", "idempotency-key"] {
            assert!(headers.contains(name), "{headers}");
        }
        let failure = server.client().call("GET", "/wallet").header("origin", origin).send();
        failure.refused(401, "unauthenticated");
        assert_eq!(allowed(&failure).as_deref(), Some(origin));
    }
    for origin in ["https://evil.example.com", "https://app.example.com.evil.com", "null"] {
        let answer = guest.call("GET", "/wallet").header("origin", origin).send();
        assert_eq!(allowed(&answer), None, "{answer}");
    }
    let silent = Server::start(store);
    let answer = silent.guest().call("GET", "/wallet").header("origin", "https://app.example.com").send();
    assert_eq!(allowed(&answer), None, "{answer}");
}

fn fifty_concurrent_withdrawals_never_overdraw_a_wallet(store: Store) {
    let server = Server::start(store);
    let guest = server.payer("200");
    let answers: Vec<Answer> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..50).map(|_| scope.spawn(|| guest.withdraw("10"))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let (done, refused): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.status == 201);
    assert_eq!((done.len(), refused.len()), (20, 30));
    for answer in refused {
        answer.refused(422, "insufficient_funds");
    }
    assert_eq!(guest.wallet(), ("0.00".into(), "200.00".into()));
    // Each of the twenty saw a different balance.
    let mut seen: Vec<String> = done.iter().map(|answer| answer.raw("/data/new_balance")).collect();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), 20);
}
