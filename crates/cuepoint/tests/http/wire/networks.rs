//! Restricted networks, and trust in forwarded addresses.

use crate::harness::{Answer, ROUTES, Server, Store, eventually};

/// The content of an answer without its request id.
fn said(answer: &Answer) -> (u16, serde_json::Value) {
    let mut body = answer.json();
    body["request_id"].take();
    (answer.status, body)
}

fn metrics(server: &Server, headers: &[(&str, &str)]) -> Answer {
    let call = server.client().outside("GET", "/metrics");
    headers.iter().fold(call, |call, (name, value)| call.header(name, value)).send()
}

#[test]
fn metrics_are_visible_only_to_the_local_host_by_default() {
    let server = Server::configured(Store::Memory, &[("server.trusted_proxies", "127.0.0.1")]);
    let nothing = said(&server.client().outside("GET", "/nothing").send());
    for (client, seen) in [
        ("127.0.0.1", true),
        ("::1", true),
        ("192.0.2.1", false),
        ("10.0.0.1", false),
        ("127.0.0.1, 192.0.2.1", false),
        ("192.0.2.1, 127.0.0.2", true),
        ("junk", false),
    ] {
        let answer = metrics(&server, &[("x-forwarded-for", client)]);
        assert_eq!(answer.status == 200, seen, "{client}: {answer}");
        if !seen {
            answer.refused(404, "not_found");
            assert_eq!(said(&answer), nothing);
        }
    }
    assert_eq!(metrics(&server, &[]).status, 200);
    // No method reveals whether the route exists.
    let post = server.client().outside("POST", "/metrics").header("x-forwarded-for", "192.0.2.1").send();
    post.refused(404, "not_found");
    server.client().outside("POST", "/metrics").send().refused(405, "method_not_allowed");
}

/// Attack API8: passing for a local client through a proxy that is not declared.
#[test]
fn a_client_behind_an_undeclared_proxy_is_not_treated_as_local() {
    let server = Server::start(Store::Memory);
    assert_eq!(metrics(&server, &[]).status, 200);
    for header in ["x-forwarded-for", "forwarded", "x-real-ip", "via"] {
        metrics(&server, &[(header, "127.0.0.1")]).refused(404, "not_found");
    }
    eventually("the log says so", || {
        server.log().contains("server.trusted_proxies does not name").then_some(())
    });
}

#[test]
fn metrics_are_visible_only_to_the_configured_networks() {
    let keys =
        [("server.trusted_proxies", "127.0.0.1"), ("access.metrics_networks", "10.1.0.0/16, 2001:db8::/32")];
    let server = Server::configured(Store::Memory, &keys);
    for (client, seen) in
        [("10.1.2.3", true), ("2001:db8::9", true), ("10.2.0.1", false), ("127.0.0.1", false)]
    {
        let answer = metrics(&server, &[("x-forwarded-for", client)]);
        assert_eq!(answer.status == 200, seen, "{client}: {answer}");
    }
    metrics(&server, &[]).refused(404, "not_found");
}

/// Attack API8: reaching staff routes from other networks.
#[test]
fn operator_routes_are_visible_only_to_the_configured_networks() {
    let keys = [("server.trusted_proxies", "127.0.0.1"), ("access.operator_networks", "10.0.0.0/8")];
    let (server, operator) = Server::with_operator(Store::Memory, &keys);
    let nothing = said(&server.client().call("GET", "/operator/nothing").send());
    let mut tried = 0;
    for route in ROUTES.iter().filter(|route| route.is_operators()) {
        let calls = [
            operator.call(route.method, &route.at(1)).header("x-forwarded-for", "192.0.2.1"),
            operator.call(route.method, &route.at(1)),
            // Neither the token nor the method is checked.
            server.client().call(route.method, &route.at(1)).header("x-forwarded-for", "192.0.2.1"),
            operator.call("DELETE", &route.at(1)).header("x-forwarded-for", "192.0.2.1"),
        ];
        for call in calls {
            let answer = call.send();
            answer.refused(404, "not_found");
            assert_eq!(said(&answer), nothing);
            tried += 1;
        }
    }
    assert!(tried > 4 * 8);
    let audit =
        |address: &str| operator.call("GET", "/operator/audit").header("x-forwarded-for", address).send();
    audit("10.20.30.40").data(200);
    audit("192.0.2.1, 10.20.30.40").data(200);
    audit("10.20.30.40, 192.0.2.1").refused(404, "not_found");
    // Routes other than the operators' are reachable from everywhere.
    operator.call("GET", "/wallet").header("x-forwarded-for", "192.0.2.1").send().data(200);
}

#[test]
fn operators_are_admitted_from_any_network_by_default() {
    let (server, operator) = Server::with_operator(Store::Memory, &[]);
    operator.get("/operator/audit").data(200);
    operator.call("GET", "/operator/audit").header("x-forwarded-for", "192.0.2.1").send().data(200);
    server.client().call("GET", "/operator/audit").send().refused(401, "unauthenticated");
}

#[test]
fn forwarded_addresses_from_untrusted_proxies_are_ignored() {
    let keys = [("rate_limits.enabled", "true"), ("rate_limits.guests_per_minute", "2")];
    let server = Server::configured(Store::Memory, &keys);
    let guest = |address: &str| {
        let call = server.client().call("POST", "/auth/guest").json(&serde_json::json!({}));
        call.header("x-forwarded-for", address).send()
    };
    guest("192.0.2.1").data(201);
    guest("192.0.2.2").data(201);
    guest("192.0.2.3").refused(429, "rate_limited");
}
