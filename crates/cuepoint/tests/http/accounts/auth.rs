//! Registration, login, access tokens and rotation of refresh tokens.

use std::io::Write;
use std::thread;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tempfile::NamedTempFile;

use crate::harness::{Answer, Client, PASSWORD, Person, Server, Store};

on_one_store!(
    email_addresses_are_unique_in_any_letter_case,
    a_failed_login_does_not_reveal_whether_the_user_exists,
    each_refresh_token_is_exchanged_for_a_new_one,
    logout_ends_the_session,
    a_refresh_token_expires,
    an_access_token_expires,
    a_tampered_token_is_refused,
    every_claim_is_required,
    a_token_of_another_deployment_is_refused,
);

fn refresh(client: &Client, token: &str) -> Answer {
    client.post("/auth/refresh", &json!({"refresh_token": token}))
}

/// Exchanges a valid refresh token, and returns the next one.
fn refreshed(client: &Client, person: &Person, token: &str) -> Person {
    let next = Person::signed_in(client, &refresh(client, token).data(200));
    assert_eq!(next.id, person.id);
    assert_ne!(next.refresh_token, token);
    next
}

fn email_addresses_are_unique_in_any_letter_case(store: Store) {
    let server = Server::start(store);
    let client = server.client();
    let register = |email: &str, password: &str| {
        client.post("/auth/register", &json!({"name": "Ada", "email": email, "password": password}))
    };
    assert_eq!(register("Ada@Example.com", PASSWORD).data(201)["user"]["email"], "Ada@Example.com");
    for email in ["Ada@Example.com", "ada@example.com", "ADA@EXAMPLE.COM", " ada@example.com "] {
        register(email, "another horse").invalid(&["email"]);
        client.login(email);
    }
    // Of concurrent registrations, one succeeds.
    let answers: Vec<u16> = thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|number| {
                let email = if number % 2 == 0 { "grace@example.com" } else { "Grace@Example.com" };
                scope.spawn(move || register(email, &format!("horse number {number}")).status)
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(answers.iter().filter(|status| **status == 201).count(), 1, "{answers:?}");
    assert_eq!(answers.iter().filter(|status| **status == 422).count(), 7, "{answers:?}");
}

/// Attack API2: finding out by a login whether an address is known.
fn a_failed_login_does_not_reveal_whether_the_user_exists(store: Store) {
    let server = Server::start(store);
    let guest = server.guest();
    let login = |email: &str, password: &str| {
        let body = json!({"email": email, "password": password});
        let mut body = server.client().post("/auth/login", &body).refused(401, "invalid_credentials");
        body.as_object_mut().unwrap().remove("request_id");
        body
    };
    let wrong = login(&guest.email, "wrong horse");
    assert_eq!(login("nobody@example.com", "correct horse"), wrong);
    assert_eq!(login("no address", "correct horse"), wrong);
    assert_eq!(login(&guest.email, " correct horse"), wrong);
    assert_eq!(login(&guest.email, "x"), wrong);
    assert_eq!(login(&guest.email, &"x".repeat(10_000)), wrong);
}

fn each_refresh_token_is_exchanged_for_a_new_one(store: Store) {
    let server = Server::start(store);
    let (client, guest) = (server.client(), server.guest());
    let mut now = guest.clone();
    for _ in 0..3 {
        let next = refreshed(&client, &guest, &now.refresh_token);
        next.get("/wallet").data(200);
        now = next;
    }
    refresh(&client, "unknown").refused(401, "invalid_refresh_token");
    refresh(&client, &guest.token).refused(401, "invalid_refresh_token");
    // An unknown token ends no session.
    refreshed(&client, &guest, &now.refresh_token);
}

fn logout_ends_the_session(store: Store) {
    let server = Server::start(store);
    let (client, guest) = (server.client(), server.guest());
    let next = refreshed(&client, &guest, &guest.refresh_token);
    let elsewhere = client.login(&guest.email);
    let logout = |token: &str| client.post("/auth/logout", &json!({"refresh_token": token})).data(200);
    assert_eq!(logout("unknown"), json!({}));
    assert_eq!(logout(&next.refresh_token), json!({}));
    refresh(&client, &next.refresh_token).refused(401, "invalid_refresh_token");
    assert_eq!(logout(&next.refresh_token), json!({}));
    refreshed(&client, &guest, &elsewhere.refresh_token);
}

fn a_refresh_token_expires(store: Store) {
    let server = Server::configured(store, &[("auth.refresh_token_ttl_seconds", "1")]);
    let (client, guest) = (server.client(), server.guest());
    // Real time has to pass, since checking a token would use it up.
    thread::sleep(Duration::from_millis(1_001));
    refresh(&client, &guest.refresh_token).refused(401, "invalid_refresh_token");
    let again = client.login(&guest.email);
    refreshed(&client, &guest, &again.refresh_token);
}

/// Conversion of a token part from and to JSON.
mod part {
    use base64::Engine;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use serde_json::Value;

    pub(super) fn read(text: &str) -> Value {
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(text).unwrap()).unwrap()
    }

    pub(super) fn write(value: &Value) -> String {
        URL_SAFE_NO_PAD.encode(value.to_string())
    }
}

/// Attack API2: a modified token, `alg: none`, a public key as an HMAC key, an unknown `kid` or `crit`.
fn a_tampered_token_is_refused(store: Store) {
    let server = Server::start(store);
    let (guest, other) = (server.guest(), server.guest());
    let parts: Vec<&str> = guest.token.split('.').collect();
    let [header, payload, signature] = parts[..] else { panic!("no JWT: {}", guest.token) };
    let refused = |token: String| {
        server.client().call("GET", "/wallet").bearer(&token).send().refused(401, "invalid_token");
    };
    let claims = part::read(payload);
    let mut names: Vec<&str> = claims.as_object().unwrap().keys().map(String::as_str).collect();
    names.sort_unstable();
    for name in ["aud", "exp", "iat", "iss", "jti", "nbf", "sub"] {
        assert!(names.contains(&name), "{claims}");
    }
    let stranger = part::read(other.token.split('.').nth(1).unwrap());
    for (claim, value) in [
        ("sub", stranger["sub"].clone()),
        ("exp", json!(4_000_000_000_u32)),
        ("exp", json!(i64::MAX)),
        ("exp", json!("never")),
        ("role", json!("operator")),
    ] {
        let mut changed = claims.clone();
        changed[claim] = value;
        refused(format!("{header}.{}.{signature}", part::write(&changed)));
    }
    for algorithm in ["none", "None", "HS384", "HS512", "RS256", "ES256", ""] {
        let mut changed = part::read(header);
        changed["alg"] = json!(algorithm);
        refused(format!("{}.{payload}.{signature}", part::write(&changed)));
        refused(format!("{}.{payload}.", part::write(&changed)));
    }
    for kid in [json!("nobody"), Value::Null, json!(5)] {
        let mut changed = part::read(header);
        changed["kid"] = kid;
        refused(format!("{}.{payload}.{signature}", part::write(&changed)));
    }
    refused(format!("{header}.{payload}"));
    refused(format!("{header}.{payload}.{signature}.x"));
    refused(format!("{header}..{signature}"));
    refused("..".into());
    guest.get("/wallet").data(200);
}

/// A key file with one key, deleted on drop.
struct KeyFile(NamedTempFile);

/// The key of the file: 32 bytes, in base64 and raw.
const KEY: (&str, [u8; 32]) = (
    "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
    [
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27,
        28, 29, 30, 31,
    ],
);

impl KeyFile {
    fn new() -> Self {
        // Readable by its owner alone, as the server demands.
        let mut file = NamedTempFile::with_prefix("cuepoint-keys-").unwrap();
        writeln!(file, "first:{}", KEY.0).unwrap();
        Self(file)
    }
}

/// A token with this header and these claims, signed with the key of the file.
fn signed(header: &Value, claims: &Map<String, Value>) -> String {
    use biscuit::jwa::SignatureAlgorithm;
    use biscuit::jws::{Header, RegisteredHeader, Secret};
    let registered = RegisteredHeader {
        algorithm: SignatureAlgorithm::HS256,
        key_id: header["kid"].as_str().map(str::to_owned),
        media_type: header["typ"].as_str().map(str::to_owned),
        ..RegisteredHeader::default()
    };
    let claims =
        biscuit::ClaimsSet { registered: biscuit::RegisteredClaims::default(), private: claims.clone() };
    let token =
        biscuit::JWT::new_decoded(Header::<biscuit::Empty>::from_registered_header(registered), claims);
    token.into_encoded(&Secret::Bytes(KEY.1.to_vec())).unwrap().unwrap_encoded().to_string()
}

/// A server with a known key, so that any token can be forged.
struct Forge {
    server: Server,
    header: Value,
    /// The claims of a valid token.
    claims: Map<String, Value>,
    /// Dropped after the server.
    _keys: KeyFile,
}

impl Forge {
    fn new(store: Store, keys: &[(&str, &str)]) -> Self {
        let file = KeyFile::new();
        let mut keys = keys.to_vec();
        keys.push(("auth.signing_key_file", file.0.path().to_str().unwrap()));
        let server = Server::configured(store, &keys);
        let token = server.guest().token;
        let parts: Vec<&str> = token.split('.').collect();
        let claims = part::read(parts[1]).as_object().unwrap().clone();
        Self { header: part::read(parts[0]), claims, server, _keys: file }
    }

    fn wallet(&self, claims: &Map<String, Value>) -> Answer {
        let token = signed(&self.header, claims);
        self.server.client().call("GET", "/wallet").bearer(&token).send()
    }

    /// The answer to a valid token with one claim changed or removed.
    fn with(&self, claim: &str, value: Option<Value>) -> Answer {
        let mut claims = self.claims.clone();
        match value {
            Some(value) => claims.insert(claim.to_owned(), value),
            None => claims.remove(claim),
        };
        self.wallet(&claims)
    }
}

/// Attack API2: a signed token without one of its claims.
fn every_claim_is_required(store: Store) {
    let forge = Forge::new(store, &[]);
    forge.wallet(&forge.claims).data(200);
    for claim in ["exp", "iat", "iss", "aud", "sub", "jti", "nbf", "sid"] {
        forge.with(claim, None).refused(401, "invalid_token");
        forge.with(claim, Some(Value::Null)).refused(401, "invalid_token");
    }
    for (claim, value) in [
        ("iss", json!("somebody")),
        ("aud", json!("somebody")),
        ("sub", json!("nobody")),
        ("sub", json!("0")),
        ("exp", json!("never")),
        ("exp", json!(i64::MAX)),
    ] {
        forge.with(claim, Some(value)).refused(401, "invalid_token");
    }
    let of_nobody = forge.with("sub", Some(json!("9223372036854775807")));
    of_nobody.refused(401, "session_ended");
}

fn an_access_token_expires(store: Store) {
    let forge = Forge::new(store, &[("auth.access_token_ttl_seconds", "1")]);
    let second = |claim: &str| forge.claims[claim].as_i64().unwrap();
    assert_eq!(second("exp") - second("iat"), 1);
    let guest = forge.server.guest();
    let again =
        forge.server.client().post("/auth/login", &json!({"email": guest.email, "password": PASSWORD}));
    assert_eq!(again.data(200)["expires_in"], 1);
    // The leeway is at most 30 seconds.
    let now = second("iat");
    for (claim, value, code) in [
        ("exp", now - 31, "token_expired"),
        ("exp", now - 86_400, "token_expired"),
        ("exp", -1, "token_expired"),
        ("nbf", now + 600, "invalid_token"),
    ] {
        forge.with(claim, Some(json!(value))).refused(401, code);
    }
    forge.with("exp", Some(json!(now + 600))).data(200);
}

fn a_token_of_another_deployment_is_refused(store: Store) {
    let (here, there) = (Server::start(store), Server::start(store));
    let (guest, stranger) = (here.guest(), there.guest());
    guest.get("/wallet").data(200);
    here.client().call("GET", "/wallet").bearer(&stranger.token).send().refused(401, "invalid_token");
}
