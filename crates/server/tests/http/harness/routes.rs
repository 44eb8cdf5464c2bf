//! Every route of the contract, with a body that it takes.

use serde_json::{Value, json};

/// A route of the contract.
pub(crate) struct Route {
    pub(crate) method: &'static str,
    /// Its path; `{id}` stands for a number.
    pub(crate) path: &'static str,
    /// Whether it wants a token.
    pub(crate) private: bool,
    /// A body that it takes, where it takes one.
    body: Option<&'static str>,
}

impl Route {
    /// Its path with this number.
    pub(crate) fn at(&self, id: impl std::fmt::Display) -> String {
        self.path.replace("{id}", &id.to_string())
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
    Route { method, path, private: false, body: Some(body) }
}

const fn read(path: &'static str) -> Route {
    Route { method: "GET", path, private: true, body: None }
}

const fn write(method: &'static str, path: &'static str, body: &'static str) -> Route {
    Route { method, path, private: true, body: Some(body) }
}

/// Every route under the base address.
pub(crate) const ROUTES: &[Route] = &[
    open("POST", "/auth/register", r#"{"name": "Eve", "email": "eve@example.com", "password": "12345678"}"#),
    open("POST", "/auth/login", r#"{"email": "eve@example.com", "password": "12345678"}"#),
    open("POST", "/auth/refresh", r#"{"refresh_token": "x"}"#),
    open("POST", "/auth/logout", r#"{"refresh_token": "x"}"#),
    read("/user/personal-info"),
    write("PATCH", "/user/personal-info", r#"{"city": "Berlin"}"#),
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
    read("/withdrawals"),
    read("/withdrawals/{id}"),
    write("POST", "/withdrawals/{id}/cancel", "{}"),
];
