//! The keys that encrypt the secrets of webhook endpoints: their rotation, their loss, and the roll-out of the version
//! that introduces them.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use cuepoint_adapters::security::keys::KeysInForce;
use cuepoint_adapters::security::random::RandomSecrets;
use cuepoint_adapters::security::sealing::Sealing;
use cuepoint_domain::ids::WebhookEndpointId;
use cuepoint_domain::operation::feature_level::FeatureLevel;
use cuepoint_domain::timestamp::Timestamp;
use secrecy::SecretString;
use serde_json::{Value, json};

use crate::accounts::email_change::verify;
use crate::accounts::keys::KeyFolder;
use crate::events::webhook_deliveries::{Hook, LOOPBACK, is_verified};
use crate::harness::{
    Database, PASSWORD, Person, SHARED_KEY, Server, Store, WEBHOOK_URL, eventually, run, within,
};

on_one_store!(
    a_start_fails_without_a_webhook_key_that_is_in_use,
    an_endpoint_with_a_lost_secret_is_disabled_until_the_secret_is_rotated,
    repeating_an_endpoint_creation_fails_until_a_lost_secret_is_rotated,
    webhook_secrets_do_not_depend_on_the_signing_keys,
    a_secret_moved_to_another_endpoint_cannot_be_decrypted,
);

const FILE: &str = "webhooks.key_file";
const TEXT: &str = "webhooks.keys";
const FIRST: (&str, &str) = (TEXT, "first:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=");
const SECOND: (&str, &str) = (TEXT, "second:HwECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=");
const WITHOUT: &[&str] = &["serve", "--without-webhook-keys"];
/// Every server checks the secrets each minute.
const CHECKED: Duration = Duration::from_secs(90);

/// The encrypted secrets of all endpoints.
fn sealed(database: &Database) -> Vec<String> {
    let rows = database.rows("SELECT secrets FROM webhook_endpoints ORDER BY id");
    rows.into_iter().map(|row| row[0].clone().unwrap()).collect()
}

/// Waits until all secrets are encrypted by the key with this beginning.
fn resealed(database: &Database, beginning: &str) {
    within(CHECKED, "the secrets are encrypted anew", || {
        sealed(database).iter().all(|secret| secret.starts_with(beginning)).then_some(())
    });
}

/// The same endpoint, by another server.
fn moved(hook: &Hook, server: &Server) -> Hook {
    hook.of(&server.client().login(&hook.owner.email))
}

fn a_start_fails_without_a_webhook_key_that_is_in_use(store: Store) {
    let database = Arc::new(Database::of(store));
    let server = Server::on(&database, &[LOOPBACK, FIRST]);
    let guest = server.guest();
    let hooks = [Hook::member(&guest), Hook::member(&guest)];
    drop(server);
    let (status, said) = database.run(&["serve"], &[SECOND]);
    assert!(!status.success(), "{said}");
    let refusal = said.trim().lines().last().unwrap();
    for part in [FILE, "2 webhook endpoints", " first ", "--without-webhook-keys"] {
        assert!(refusal.contains(part), "{part}: {refusal}");
    }
    let other = (TEXT, SECOND.1.replace("second", "first"));
    let (status, said) = database.run(&["serve"], &[(other.0, &other.1)]);
    assert!(!status.success() && said.contains("missing or different"), "another key of this id: {said}");

    let both = format!("{}\n{}", SECOND.1, FIRST.1);
    let server = Server::on(&database, &[LOOPBACK, (TEXT, &both)]);
    server.client().login(&guest.email).topup("1");
    for hook in &hooks {
        assert!(is_verified(&hook.secret, &hook.calls(1)[0]));
    }
    resealed(&database, "webhook/second:");
    drop(server);
    drop(Server::on(&database, &[SECOND]));
}

fn an_endpoint_with_a_lost_secret_is_disabled_until_the_secret_is_rotated(store: Store) {
    let database = Arc::new(Database::of(store));
    let server = Server::on(&database, &[LOOPBACK, FIRST, ("notifier.email", "log")]);
    let guest = server.guest();
    verify(&server, &guest);
    let (hook, paused) = (Hook::member(&guest), Hook::member(&guest));
    guest.patch(&paused.path, &json!({"paused": true})).data(200);
    drop(server);

    let settings = [LOOPBACK, SECOND, ("notifier.email", "log")];
    let server = Server::running(&database, WITHOUT, &settings);
    let (hook, paused) = (moved(&hook, &server), moved(&paused, &server));
    for hook in [&hook, &paused] {
        assert_eq!(hook.becomes("disabled")["disabled_reason"], "secret_lost");
    }
    let told = |server: &Server| {
        let messages = server.messages(&guest.email);
        messages.into_iter().filter(|message| message.contains("its secret was lost")).count()
    };
    eventually("its owner is told about both", || (told(&server) == 2).then_some(()));
    let log = server.log();
    assert_eq!(log.matches("no key decrypts their secrets").count(), 1, "{log}");
    hook.owner.topup("1");
    for settings in [json!({"paused": false}), json!({"paused": true})] {
        hook.owner.patch(&hook.path, &settings).refused(409, "secret_lost");
    }
    drop(server);

    // The decision is not needed again.
    let server = Server::on(&database, &settings);
    let hook = moved(&hook, &server);
    let data = hook.owner.post(&format!("{}/rotate", hook.path), &json!({"password": PASSWORD})).data(200);
    assert_eq!(data["webhook_endpoint"]["status"], "paused");
    assert!(hook.receiver.received().is_empty(), "nothing is sent unsigned");
    hook.enable();
    let call = &hook.calls(1)[0];
    assert!(is_verified(data["secret"].as_str().unwrap(), call) && !is_verified(&hook.secret, call));
    assert_eq!(told(&server), 0, "only once");
}

fn repeating_an_endpoint_creation_fails_until_a_lost_secret_is_rotated(store: Store) {
    let database = Arc::new(Database::of(store));
    let server = Server::on(&database, &[FIRST, SHARED_KEY]);
    let guest = server.guest();
    let create = |person: &Person| {
        let body = json!({"url": WEBHOOK_URL, "password": PASSWORD});
        person.call("POST", "/webhook-endpoints").json(&body).key("once").send()
    };
    let created = create(&guest).data(201);
    drop(server);
    let server = Server::running(&database, WITHOUT, &[SECOND, SHARED_KEY]);
    let guest = server.client().login(&guest.email);
    let path = format!("/webhook-endpoints/{}", created["webhook_endpoint"]["id"]);
    eventually("the endpoint is disabled", || {
        let endpoint = guest.get(&path).data(200)["webhook_endpoint"].clone();
        (endpoint["disabled_reason"] == "secret_lost").then_some(())
    });
    create(&guest).refused(409, "secret_lost");
    let rotated = guest.post(&format!("{path}/rotate"), &json!({"password": PASSWORD})).data(200);
    assert_eq!(create(&guest).data(201)["secret"], rotated["secret"]);
}

#[test]
fn without_webhook_keys_disables_endpoints_only_in_the_first_check() {
    let database = Arc::new(Database::postgres());
    let server = Server::on(&database, &[LOOPBACK, FIRST]);
    let lost = Hook::member(&server.guest());
    drop(server);
    let declaring = Server::running(&database, WITHOUT, &[LOOPBACK, SECOND]);
    moved(&lost, &declaring).becomes("disabled");
    let other = Server::on(&database, &[LOOPBACK, FIRST]);
    let hook = Hook::member(&other.guest());
    let undecryptable = "cannot be decrypted by this server";
    within(CHECKED, "the next check", || declaring.log().contains(undecryptable).then_some(()));
    hook.owner.topup("1");
    assert!(is_verified(&hook.secret, &hook.calls(1)[0]), "the other server has the key");
    assert_eq!(hook.becomes("active")["disabled_reason"], Value::Null);
}

fn webhook_secrets_do_not_depend_on_the_signing_keys(store: Store) {
    let database = Arc::new(Database::of(store));
    let server = Server::on(&database, &[LOOPBACK, FIRST, SHARED_KEY]);
    let hook = Hook::member(&server.guest());
    drop(server);
    let other = (SHARED_KEY.0, "other:HwECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=");
    let server = Server::on(&database, &[LOOPBACK, FIRST, other]);
    server.client().login(&hook.owner.email).topup("1");
    assert!(is_verified(&hook.secret, &hook.calls(1)[0]));
}

fn a_secret_moved_to_another_endpoint_cannot_be_decrypted(store: Store) {
    let database = Arc::new(Database::of(store));
    let server = Server::on(&database, &[LOOPBACK, FIRST]);
    let (guest, thief) = (server.guest(), server.guest());
    let (_, hook) = (Hook::member(&guest), Hook::member(&thief));
    drop(server);
    database.execute(
        "UPDATE webhook_endpoints SET secrets = (SELECT secrets FROM webhook_endpoints ORDER BY id LIMIT 1) \
         WHERE id = (SELECT max(id) FROM webhook_endpoints)",
    );
    let (status, said) = database.run(&["serve"], &[FIRST]);
    assert!(!status.success() && said.contains("1 webhook endpoint needs"), "{said}");
    let server = Server::running(&database, WITHOUT, &[LOOPBACK, FIRST]);
    moved(&hook, &server).becomes("disabled");
}

#[test]
fn servers_adopt_rotated_webhook_keys() {
    let (folder, database) = (KeyFolder::new(), Arc::new(Database::postgres()));
    let path = folder.path();
    let settings = [LOOPBACK, SHARED_KEY, (TEXT, ""), (FILE, &path)];
    let rotate = |options: &[&str]| {
        let arguments = [&["keys", "rotate", "--webhooks"], options].concat();
        let (status, said) = run(&arguments, None, &[(FILE, &path)]);
        assert!(status.success(), "{said}");
        said
    };
    assert!(rotate(&[]).contains(" hs256 encrypts from 2"));
    let servers = [Server::on(&database, &settings), Server::on(&database, &settings)];
    let guest = servers[0].guest();
    let hooks = [Hook::member(&guest), Hook::member(&guest.at(&servers[1].client()))];
    let before = fs::read_to_string(&path).unwrap();
    let said = rotate(&["--signs-in", "12"]);
    assert!(said.contains("is kept, to decrypt"), "{said}");
    let new = said.split(' ').next().unwrap();
    resealed(&database, &format!("webhook/{new}:"));
    for server in &servers {
        let log = server.log();
        assert!(!log.contains("cannot be decrypted"), "{log}");
    }
    guest.topup("1");
    for hook in &hooks {
        assert!(is_verified(&hook.secret, &hook.calls(1)[0]));
    }
    // A server without the new key does not start.
    let old = KeyFolder::new();
    fs::copy(&path, old.path()).unwrap();
    fs::write(old.path(), &before).unwrap();
    let (status, refused) = database.run(&["serve"], &[SHARED_KEY, (TEXT, ""), (FILE, &old.path())]);
    assert!(!status.success() && refused.contains(new), "{refused}");
    // The old key is not needed any more.
    let after = fs::read_to_string(&path).unwrap();
    fs::write(old.path(), after.lines().next().unwrap()).unwrap();
    Server::on(&database, &[SHARED_KEY, (TEXT, ""), (FILE, &old.path())]);
}

#[test]
fn secrets_stay_sealed_with_the_signing_key_until_the_upgrade_is_finalized() {
    let database = Arc::new(Database::postgres());
    let settings = [LOOPBACK, FIRST, SHARED_KEY];
    drop(Server::on(&database, &settings));
    database.rows("UPDATE deployment SET feature_level = 1");
    let server = Server::on(&database, &settings);
    let guest = server.guest();
    let (hook, rotated) = (Hook::member(&guest), Hook::member(&guest));
    guest.post(&format!("{}/rotate", rotated.path), &json!({"password": PASSWORD})).data(200);
    assert!(sealed(&database).iter().all(|secret| secret.starts_with("shared:")));
    guest.topup("1");
    assert!(is_verified(&hook.secret, &hook.calls(1)[0]));

    let name = database.url().rsplit_once('/').unwrap().1;
    let (status, said) = run(&["finalize-upgrade", "--database-name", name], Some(database.url()), &[]);
    assert!(status.success(), "{said}");
    resealed(&database, "webhook/first:");
    guest.topup("2");
    assert!(is_verified(&hook.secret, &hook.calls(2)[1]));
    assert!(is_verified(&rotated.secret, &rotated.calls(2)[1]), "previous secrets are kept as well");
}

#[test]
fn a_start_on_sqlite_reencrypts_secrets_sealed_with_the_signing_key() {
    let database = Arc::new(Database::of(Store::Sqlite));
    let settings = [LOOPBACK, FIRST, SHARED_KEY];
    let server = Server::on(&database, &settings);
    let hook = Hook::member(&server.guest());
    drop(server);
    let earlier = sealed_by_signing_key(&hook);
    database.execute(&format!("UPDATE webhook_endpoints SET secrets = '{earlier}'"));
    let server = Server::on(&database, &settings);
    resealed(&database, "webhook/first:");
    server.client().login(&hook.owner.email).topup("1");
    assert!(is_verified(&hook.secret, &hook.calls(1)[0]));
}

/// The secret of an endpoint as servers before webhook keys stored it.
fn sealed_by_signing_key(hook: &Hook) -> String {
    let keys = |text: &str| KeysInForce::parse(&SecretString::from(text), Timestamp::EPOCH).unwrap();
    let random = RandomSecrets::new().unwrap();
    let level = Arc::new(|| FeatureLevel::Level1);
    let sealing = Sealing::new(random, keys(SHARED_KEY.1), keys(FIRST.1), level);
    let endpoint = WebhookEndpointId::new(1).unwrap();
    sealing.seal(endpoint, &hook.secret, Timestamp::EPOCH).unwrap().0
}

/// The name of the key file that a server creates.
const CREATED: &str = "webhook-keys";

#[test]
fn restoring_sqlite_without_the_webhook_keys_requires_an_explicit_option() {
    let database = Arc::new(Database::of(Store::Sqlite));
    let server = Server::on(&database, &[LOOPBACK]);
    let hook = Hook::member(&server.guest());
    let folder = KeyFolder::new();
    let file = folder.path();
    let (status, said) = database.run(&["backup", &file], &[]);
    assert!(status.success() && said.contains(CREATED), "the keys to keep are named: {said}");
    drop(server);

    let restored = Arc::new(Database::of(Store::Sqlite));
    let (status, said) = restored.run(&["restore", &file], &[]);
    let refusal = "1 webhook endpoint needs the key ";
    assert!(!status.success() && said.contains(refusal) && said.contains("--without-webhook-keys"), "{said}");
    assert!(!restored.file().exists());
    fs::create_dir_all(restored.directory()).unwrap();
    fs::copy(database.directory().join(CREATED), restored.directory().join(CREATED)).unwrap();
    let (status, said) = restored.run(&["restore", &file], &[]);
    assert!(status.success() && !said.contains("the key "), "{said}");
    let server = Server::on(&restored, &[LOOPBACK]);
    server.client().login(&hook.owner.email).topup("1");
    assert!(is_verified(&hook.secret, &hook.calls(1)[0]));

    let restored = Arc::new(Database::of(Store::Sqlite));
    let (status, said) = restored.run(&["restore", &file, "--without-webhook-keys"], &[]);
    assert!(status.success() && said.contains(refusal), "{said}");
    let (status, said) = restored.run(&["serve"], &[]);
    assert!(!status.success() && said.contains(refusal), "{said}");
    let server = Server::running(&restored, WITHOUT, &[LOOPBACK]);
    assert_eq!(moved(&hook, &server).becomes("disabled")["disabled_reason"], "secret_lost");
}

#[test]
fn restoring_postgres_without_webhook_keys_must_be_requested_explicitly() {
    let database = Arc::new(Database::postgres());
    let server = Server::on(&database, &[LOOPBACK, FIRST]);
    let hook = Hook::member(&server.guest());
    drop(server);
    let restored = Arc::new(database.copy());
    let name = restored.url().rsplit_once('/').unwrap().1;
    let signing = KeyFolder::new();
    signing.rotate(&[]);
    let restore = |keys: (&str, &str), options: &[&str]| {
        let arguments = [&["restore", "--database-name", name], options].concat();
        restored.run(&arguments, &[keys, ("auth.signing_key_file", &signing.path())])
    };
    let before = fs::read_to_string(signing.path()).unwrap();
    let (status, said) = restore(SECOND, &[]);
    assert!(!status.success() && said.contains("the key first of webhooks.key_file"), "{said}");
    // A server could use the database all the same.
    let after = fs::read_to_string(signing.path()).unwrap();
    assert!(before.lines().all(|key| !after.contains(key)), "the previous signing keys are gone");
    assert!(restore(SECOND, &["--without-webhook-keys"]).0.success());
    let (status, said) = restore(FIRST, &[]);
    assert!(status.success() && !said.contains("the key "), "{said}");
    let server = Server::on(&restored, &[LOOPBACK, FIRST]);
    server.client().login(&hook.owner.email).topup("1");
    assert!(is_verified(&hook.secret, &hook.calls(1)[0]));
}

#[test]
fn backup_on_postgres_is_refused_and_names_the_webhook_key_file_to_keep() {
    let database = Database::postgres();
    let (status, said) =
        database.run(&["backup", "/nonexistent/backup"], &[(TEXT, ""), (FILE, "/keys/of-hooks")]);
    assert!(!status.success() && said.contains("pg_dump") && said.contains("keep /keys/of-hooks"), "{said}");
}

#[test]
fn copying_storage_without_webhook_keys_must_be_requested_explicitly() {
    let (from, to) = (Arc::new(Database::of(Store::Sqlite)), Arc::new(Database::postgres()));
    let server = Server::on(&from, &[LOOPBACK]);
    let hook = Hook::member(&server.guest());
    drop(server);
    let copy = |options: &[&str], keys: &[(&str, &str)]| {
        from.run(&[&["storage", "copy", "--to", to.url()], options].concat(), keys)
    };
    let (status, said) = copy(&[], &[SECOND]);
    assert!(!status.success() && said.contains("1 webhook endpoint needs the key"), "{said}");
    let (status, said) = copy(&["--without-webhook-keys", "--dry-run"], &[SECOND]);
    assert!(status.success() && said.contains("1 webhook endpoint needs the key"), "{said}");
    let (status, said) = copy(&[], &[]);
    assert!(status.success() && !said.contains("the key "), "{said}");
    let (status, said) = to.run(&["serve"], &[SECOND]);
    assert!(!status.success() && said.contains(FILE), "{said}");
    let file = from.directory().join(CREATED);
    let server = Server::on(&to, &[LOOPBACK, (TEXT, ""), (FILE, file.to_str().unwrap())]);
    server.client().login(&hook.owner.email).topup("1");
    assert!(is_verified(&hook.secret, &hook.calls(1)[0]));
}
