//! Every route of the contract, with a body that it takes.

use serde_json::{Value, json};

/// A route of the contract.
pub(crate) struct Route {
    pub(crate) method: &'static str,
    /// Its path; `{id}` stands for a number.
    pub(crate) path: &'static str,
    /// Whether it wants a token.
    pub(crate) private: bool,
    /// Whether it wants a provider's signature.
    pub(crate) signed: bool,
    /// A body that it takes, where it takes one.
    body: Option<&'static str>,
}

impl Route {
    /// Its path with this number.
    pub(crate) fn at(&self, id: impl std::fmt::Display) -> String {
        self.path.replace("{id}", &id.to_string())
    }

    /// Whether only operators may call it.
    pub(crate) fn is_operators(&self) -> bool {
        self.path.starts_with("/operator/")
    }

    /// Whether it takes a body, and does not do without one.
    pub(crate) fn wants_body(&self) -> bool {
        self.body.is_some() && !self.path.ends_with("/cancel")
    }

    pub(crate) fn has_id(&self) -> bool {
        self.path.contains("{id}")
    }

    /// A body that it takes; `DJ` in it stands for a DJ's id.
    pub(crate) fn body(&self, dj: i64) -> Option<Value> {
        let mut body: Value = serde_json::from_str(self.body?).unwrap();
        if body.get("dj_id").is_some() {
            body["dj_id"] = json!(dj);
        }
        Some(body)
    }
}

const fn open(method: &'static str, path: &'static str, body: &'static str) -> Route {
    Route { method, path, private: false, signed: false, body: Some(body) }
}

const fn read(path: &'static str) -> Route {
    Route { method: "GET", path, private: true, signed: false, body: None }
}

/// A change that takes no body.
const fn bare(method: &'static str, path: &'static str) -> Route {
    Route { method, path, private: true, signed: false, body: None }
}

const fn write(method: &'static str, path: &'static str, body: &'static str) -> Route {
    Route { method, path, private: true, signed: false, body: Some(body) }
}

const fn signed(path: &'static str, body: &'static str) -> Route {
    Route { signed: true, ..open("POST", path, body) }
}

/// Takes no body, or an empty one.
const fn act(method: &'static str, path: &'static str) -> Route {
    Route { method, path, private: true, signed: false, body: None }
}

/// The body of most that operators do.
const REASON: &str = r#"{"reason": "as agreed"}"#;

/// Every route under the base address.
pub(crate) const ROUTES: &[Route] = &[
    open("POST", "/auth/register", r#"{"name": "Eve", "email": "eve@example.com", "password": "12345678"}"#),
    open("POST", "/auth/login", r#"{"email": "eve@example.com", "password": "12345678"}"#),
    open("POST", "/auth/refresh", r#"{"refresh_token": "x"}"#),
    open("POST", "/auth/logout", r#"{"refresh_token": "x"}"#),
    read("/auth/sessions"),
    act("DELETE", "/auth/sessions/{id}"),
    act("POST", "/auth/logout-everywhere"),
    write("POST", "/auth/password", r#"{"current_password": "12345678", "password": "87654321"}"#),
    open("POST", "/auth/password/forgot", r#"{"email": "eve@example.com"}"#),
    open("POST", "/auth/password/reset", r#"{"token": "x", "password": "12345678"}"#),
    act("POST", "/auth/email/code"),
    write("POST", "/auth/email/verify", r#"{"code": "123456"}"#),
    act("POST", "/auth/phone/code"),
    write("POST", "/auth/phone/verify", r#"{"code": "123456"}"#),
    read("/user/personal-info"),
    write("PATCH", "/user/personal-info", r#"{"city": "Berlin"}"#),
    read("/user/export"),
    // A wrong password, so that who tries every route stays who they are.
    write("DELETE", "/user", r#"{"password": "wrong horse"}"#),
    write(
        "POST",
        "/music/requests",
        r#"{"dj_id": 1, "song_title": "Blue Monday", "artist_name": "New Order", "artist_type": "upcoming",
            "music_url": "https://example.com/x"}"#,
    ),
    read("/music/requests/{id}"),
    write("POST", "/music/requests/{id}/cancel", "{}"),
    write("PATCH", "/music/requests-update/{id}", r#"{"status": "accepted"}"#),
    read("/music/user/requests"),
    read("/music/dj/requests"),
    read("/music/dj/blocks"),
    bare("PUT", "/music/dj/blocks/{id}"),
    bare("DELETE", "/music/dj/blocks/{id}"),
    read("/djs"),
    read("/djs/{id}"),
    read("/wallet"),
    read("/wallet/entries"),
    write("POST", "/wallet/topups", r#"{"amount": 1}"#),
    read("/wallet/topups"),
    read("/wallet/topups/{id}"),
    write(
        "POST",
        "/withdrawal/crypto",
        r#"{"amount": 1, "wallet_address": "bc1q", "currency": "BTC", "network": "bitcoin"}"#,
    ),
    read("/withdrawal/options"),
    read("/withdrawals"),
    read("/withdrawals/{id}"),
    write("POST", "/withdrawals/{id}/cancel", "{}"),
    signed("/webhooks/topups", r#"{"type": "topup.confirmed", "data": {"id": 1}}"#),
    signed("/webhooks/payouts", r#"{"type": "payout.failed", "data": {"id": 1}}"#),
    read("/operator/withdrawals"),
    write("POST", "/operator/withdrawals/{id}/approve", REASON),
    write("POST", "/operator/withdrawals/{id}/reject", REASON),
    write("POST", "/operator/withdrawals/{id}/process", REASON),
    write("POST", "/operator/withdrawals/{id}/broadcast", r#"{"reason": "as agreed", "txid": "ab12"}"#),
    write("POST", "/operator/withdrawals/{id}/complete", r#"{"reason": "as agreed", "txid": "ab12"}"#),
    write("POST", "/operator/withdrawals/{id}/fail", REASON),
    write("POST", "/operator/withdrawals/{id}/review", REASON),
    write("POST", "/operator/music/requests/{id}/refund", REASON),
    write("POST", "/operator/adjustments", r#"{"user_id": 1, "amount": 1, "reason": "as agreed"}"#),
    read("/operator/topups"),
    read("/operator/topups/{id}"),
    write("POST", "/operator/topups/{id}/reverse", REASON),
    read("/operator/suspense"),
    write("POST", "/operator/suspense/{id}/settle", REASON),
    read("/operator/audit"),
    read("/operator/users"),
    read("/operator/users/{id}"),
    write("POST", "/operator/users/{id}/suspend", REASON),
    write("POST", "/operator/users/{id}/restore", REASON),
    write("POST", "/operator/users/{id}/role", r#"{"role": "auditor", "reason": "as agreed"}"#),
    read("/operator/security-log"),
    read("/operator/provider-messages"),
    write("POST", "/operator/provider-messages/{id}/resolve", REASON),
];
