//! What the service shows without a token, and the paths of earlier versions.

use serde_json::{Value, json};

use crate::harness::{DJ, Message, NEW, Server, Store, TOPUPS, keys};

on_one_store!(
    settings_are_shown_without_a_token,
    online_djs_are_shown_without_a_token,
    deprecated_paths_behave_like_their_replacements,
);

fn settings_are_shown_without_a_token(store: Store) {
    let server = Server::configured(
        store,
        &[
            ("wallet.currency", "EUR"),
            ("wallet.scale", "3"),
            ("fees.commission_bps", "1500"),
            ("requests.pending_ttl_seconds", "60"),
            ("withdrawals.max_amount", "750"),
            ("tips.min_amount", "0.5"),
            ("tips.max_amount", "50"),
            ("withdrawals.auto_approve_below", "77"),
            ("withdrawals.second_approval_above", "88"),
            ("withdrawals.address_policy", "strict"),
            ("topups.provider", "none"),
            ("notifier.phone", "none"),
        ],
    );
    let answer = server.client().call("GET", "/settings").send();
    let settings = answer.data(200)["settings"].clone();
    let options = server.guest().get("/withdrawals/options").data(200);
    assert_eq!(
        settings,
        json!({
            "environment": "test", "clock_rate": 1,
            "currency": "EUR", "scale": 3, "commission_bps": 1500,
            "requests": {"pending_ttl_seconds": 60, "accepted_ttl_seconds": 3600},
            "amounts": {
                "topup": {"minimum": 0.001, "maximum": 1e12},
                "withdrawal": {"minimum": 1.0, "maximum": 750.0},
                "tip": {"minimum": 0.5, "maximum": 50.0},
                "fee": {"minimum": 0.0, "maximum": 1e12},
            },
            "withdrawals": options,
            "configured": {"topups": false, "email": true, "phone": false},
        })
    );
    assert_eq!(answer.raw("/data/settings/amounts/topup/minimum"), "0.001");
    for secret in ["77", "88", "approv", "per_minute"] {
        assert!(!answer.text.contains(secret), "{secret}: {}", answer.text);
    }
}

fn online_djs_are_shown_without_a_token(store: Store) {
    let server = Server::start(store);
    let (online, offline, guest) = (server.dj_at("5", "10"), server.dj(), server.guest());
    offline.patch("/user/personal-info", &json!({"online": 0})).data(200);
    let public = |query: &str| server.client().call("GET", &format!("/djs{query}")).send();
    let ids = |page: &Value| {
        let rows = page["data"].as_array().unwrap().iter();
        rows.map(|row| row["id"].as_i64().unwrap()).collect::<Vec<_>>()
    };
    for query in ["", "?online=1", "?online=1&page=1&per_page=5"] {
        let page = public(query).data(200);
        assert_eq!((ids(&page), &page["total"]), (vec![online.id], &json!(1)), "{query}");
    }
    let shown = public("").data(200)["data"][0].clone();
    assert_eq!(shown, guest.get("/djs?online=1").data(200)["data"][0]);
    assert_eq!(keys(&shown), DJ);
    assert_eq!(guest.ids("/djs", "id"), [offline.id, online.id]);
    public("?online=0").refused(401, "unauthenticated");
    public("?online=7").invalid(&["online"]);
    // A token that is presented counts.
    for token in ["", "x", &guest.refresh_token] {
        server.client().call("GET", "/djs").bearer(token).send().refused(401, "invalid_token");
    }
    server.client().call("GET", &format!("/djs/{}", online.id)).send().refused(401, "unauthenticated");
}

fn deprecated_paths_behave_like_their_replacements(store: Store) {
    let keys = [&TOPUPS[..], &[("payouts.webhook_secrets", NEW)]].concat();
    let server = Server::configured(store, &keys);
    let guest = server.guest();
    let options = guest.get("/withdrawals/options").data(200);
    assert_eq!(guest.get("/withdrawal/options").data(200), options);
    guest.get("/withdrawal/options?x=1").invalid(&["x"]);
    server.client().call("GET", "/withdrawal/options").send().refused(401, "unauthenticated");
    let wrong = guest.call("DELETE", "/withdrawal/options").send();
    wrong.refused(405, "method_not_allowed");
    for path in ["/webhooks/topups", "/providers/topups"] {
        let topup = guest.topup("5.00");
        let body = Message::topup("topup.confirmed", &guest.topup_reference(topup)).body;
        let message = Message { body, ..Message::new(path, &json!({})) };
        Message { body: message.body.replace("5.00", "6.00"), ..Message::new(path, &json!({})) }
            .by("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSx")
            .send(&server)
            .refused(401, "invalid_signature");
        message.accepted_by(&server);
        assert_eq!(guest.get(&format!("/wallet/topups/{topup}")).data(200)["topup"]["status"], "confirmed");
    }
    let body =
        json!({"type": "payout.failed", "data": {"reference": "00000000-0000-0000-0000-000000000001"}});
    for path in ["/webhooks/payouts", "/providers/payouts"] {
        Message::new(path, &body).send(&server).refused(404, "not_found");
        server.client().call("POST", path).send().refused(401, "unauthenticated");
    }
}
