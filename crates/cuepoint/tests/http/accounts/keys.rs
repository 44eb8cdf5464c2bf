//! Signing keys of access tokens: rotation at run time, publication to third parties, and secrecy otherwise.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::{Answer, Client, Database, Person, Server, Store, eventually, keys, run};

on_one_store!(
    a_signing_key_rotation_keeps_sessions_valid,
    third_parties_can_verify_es256_tokens,
    hs256_keys_are_not_published,
    signing_keys_can_be_set_in_an_environment_variable,
    an_unusable_key_file_leaves_the_previous_keys_in_force,
);

pub(crate) const FILE: &str = "auth.signing_key_file";
const VARIABLE: &str = "auth.signing_keys";
const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

/// A folder for a key file, deleted on drop.
pub(crate) struct KeyFolder(TempDir);

impl KeyFolder {
    pub(crate) fn new() -> Self {
        Self(TempDir::with_prefix("cuepoint-key-folder-").unwrap())
    }

    pub(crate) fn path(&self) -> String {
        self.0.path().join("keys").to_str().unwrap().to_owned()
    }

    /// Rotates by the command, and returns its output.
    pub(crate) fn rotate(&self, options: &[&str]) -> String {
        let arguments = [&["keys", "rotate"], options].concat();
        let (status, said) = run(&arguments, None, &[(FILE, &self.path())]);
        assert!(status.success(), "{said}");
        self.assert_no_key_in(&said);
        said
    }

    /// Checks that a text contains no key of the file.
    fn assert_no_key_in(&self, said: &str) {
        let text = fs::read_to_string(self.path()).unwrap();
        for line in text.lines().filter_map(|line| line.split_whitespace().next()) {
            let key = line.rsplit(':').next().unwrap();
            assert!(key.len() > 40 && !said.contains(&key[..12]), "{said}");
        }
    }
}

/// The header of a token.
fn header(token: &str) -> Value {
    let header = token.split('.').next().unwrap();
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(header).unwrap()).unwrap()
}

pub(crate) fn kid(token: &str) -> String {
    header(token)["kid"].as_str().unwrap().to_owned()
}

/// One server, or two with a PostgreSQL database to share.
fn servers(store: Store, keys: &[(&str, &str)]) -> Vec<Server> {
    match store {
        Store::Memory => vec![Server::configured(store, keys)],
        Store::Sqlite | Store::Postgres => Server::as_many_as_may(&Arc::new(Database::of(store)), keys),
    }
}

/// Logs in on every server and presents each token to every server; returns the keys that signed the tokens.
fn logins(servers: &[Server], email: &str) -> Vec<String> {
    let people: Vec<Person> = servers.iter().map(|server| server.client().login(email)).collect();
    for person in &people {
        accepted(servers, person);
    }
    people.iter().map(|person| kid(&person.token)).collect()
}

fn accepted(servers: &[Server], person: &Person) {
    for server in servers {
        person.at(&server.client()).get("/wallet").data(200);
    }
}

fn a_signing_key_rotation_keeps_sessions_valid(store: Store) {
    let folder = KeyFolder::new();
    assert!(folder.rotate(&[]).contains(" hs256 signs from 2"));
    let servers = servers(store, &[(FILE, &folder.path())]);
    let guest = servers[0].guest();
    let before = kid(&guest.token);
    // Every server reads its key file every five seconds.
    let said = folder.rotate(&["--signs-in", "12", "--algorithm", "es256"]);
    let after = said.split(' ').next().unwrap();
    assert!(said.contains(&format!("{before} hs256 verifies until ")), "{said}");
    assert_eq!(logins(&servers, &guest.email), vec![before.clone(); servers.len()]);
    eventually("the new key signs", || {
        accepted(&servers, &guest);
        logins(&servers, &guest.email).iter().all(|kid| kid == after).then_some(())
    });
    accepted(&servers, &guest);
    for server in &servers {
        folder.assert_no_key_in(&server.log());
    }
    let mode = fs::metadata(folder.path()).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);
}

fn shown(client: &Client) -> (Answer, Vec<Value>) {
    let answer = client.outside("GET", "/.well-known/jwks.json").send();
    assert_eq!(answer.status, 200, "{answer}");
    assert!(answer.header("content-type").unwrap().starts_with("application/json"), "{answer}");
    let cached = answer.header("cache-control").unwrap();
    let age: u32 = cached.strip_prefix("public, max-age=").unwrap().parse().unwrap();
    assert!(age <= 30, "{cached}");
    assert_eq!(keys(&answer.json()), ["keys"]);
    let shown = answer.json()["keys"].as_array().unwrap().clone();
    (answer, shown)
}

fn third_parties_can_verify_es256_tokens(store: Store) {
    let folder = KeyFolder::new();
    folder.rotate(&["--algorithm", "es256"]);
    let server = Server::configured(store, &[(FILE, &folder.path())]);
    let token = server.guest().token;
    let (answer, listed) = shown(&server.client());
    assert_eq!(listed.len(), 1, "{answer}");
    let key = &listed[0];
    assert_eq!(keys(key), ["alg", "crv", "kid", "kty", "use", "x", "y"], "{answer}");
    assert_eq!(header(&token), json!({"alg": "ES256", "typ": "JWT", "kid": key["kid"]}));
    assert_eq!(
        (&key["kty"], &key["crv"], &key["alg"], &key["use"]),
        (&json!("EC"), &json!("P-256"), &json!("ES256"), &json!("sig"))
    );
    let decoded = |text: &str| URL_SAFE_NO_PAD.decode(text).unwrap();
    let coordinate = |name: &str| decoded(key[name].as_str().unwrap());
    let point = [vec![4], coordinate("x"), coordinate("y")].concat();
    let (signed, signature) = token.rsplit_once('.').unwrap();
    let public = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point);
    public.verify(signed.as_bytes(), &decoded(signature)).unwrap();
    assert!(public.verify(format!("{signed}x").as_bytes(), &decoded(signature)).is_err());
    // A new key is published before it signs.
    let said = folder.rotate(&[]);
    let listed = eventually("the new key is listed", || {
        let (_, listed) = shown(&server.client());
        (listed.len() == 2).then_some(listed)
    });
    assert_eq!(listed[0]["kid"], said.split(' ').next().unwrap());
    assert_eq!(listed[1], *key);
    assert_eq!(kid(&server.guest().token), key["kid"].as_str().unwrap());
}

fn hs256_keys_are_not_published(store: Store) {
    let server = Server::start(store);
    assert_eq!(header(&server.guest().token)["alg"], "HS256");
    assert_eq!(shown(&server.client()).1, Vec::<Value>::new());
}

fn signing_keys_can_be_set_in_an_environment_variable(store: Store) {
    let text = format!("# the second verifies\nnew:{KEY}\nold:{KEY}\n");
    let server = Server::configured(store, &[(VARIABLE, &text)]);
    let guest = server.guest();
    assert_eq!(kid(&guest.token), "new");
    guest.get("/wallet").data(200);
    assert!(!server.log().contains(&KEY[..12]));
}

fn an_unusable_key_file_leaves_the_previous_keys_in_force(store: Store) {
    let folder = KeyFolder::new();
    folder.rotate(&[]);
    let server = Server::configured(store, &[(FILE, &folder.path())]);
    let guest = server.guest();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o644)).unwrap();
    eventually("it is told", || server.log().contains(FILE).then_some(()));
    guest.get("/wallet").data(200);
    server.client().login(&guest.email);
    // A different failure logs another line; the previous one was logged once.
    fs::set_permissions(folder.path(), Permissions::from_mode(0o600)).unwrap();
    fs::write(folder.path(), format!("{KEY}\n")).unwrap();
    eventually("it is told again", || server.log().contains("line 1").then_some(()));
    let log = server.log();
    assert_eq!(log.matches("its mode is 0644").count(), 1, "{log}");
    assert!(!log.contains(&KEY[..12]), "{log}");
    guest.get("/wallet").data(200);
    assert_eq!(kid(&server.client().login(&guest.email).token), kid(&guest.token));
}

#[test]
fn unusable_signing_keys_are_reported_on_one_line() {
    let folder = KeyFolder::new();
    folder.rotate(&[]);
    let (path, text) = (folder.path(), format!("a:{KEY}"));
    fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    let (file, variable) = ((FILE, path.as_str()), (VARIABLE, text.as_str()));
    for (arguments, keys, named) in [
        (&["serve"][..], &[file][..], FILE),
        (&["config", "check"], &[file], FILE),
        (&["keys", "rotate"], &[file], FILE),
        (&["serve"], &[file, variable], VARIABLE),
        (&["serve"], &[(VARIABLE, KEY)], VARIABLE),
        (&["serve"], &[(VARIABLE, "a:short")], VARIABLE),
        (&["keys", "rotate"], &[], FILE),
        (&["keys", "rotate"], &[variable], FILE),
        (&["keys", "rotate"], &[(FILE, "/nonexistent/keys")], FILE),
    ] {
        let (status, said) = run(arguments, None, keys);
        assert!(!status.success(), "{arguments:?}: {said}");
        assert!(said.contains(named), "{arguments:?} {named}: {said}");
        let refused = said.lines().filter(|line| !line.contains(" starting ")).count();
        assert_eq!(refused, 1, "{arguments:?}: {said}");
        assert!(!said.contains(&KEY[..12]), "{said}");
    }
    let (status, said) = run(&["config", "check"], None, &[variable]);
    assert!(status.success() && said.contains("auth.signing_keys = [REDACTED]"), "{said}");
    assert!(!said.contains(&KEY[..12]), "{said}");
}
