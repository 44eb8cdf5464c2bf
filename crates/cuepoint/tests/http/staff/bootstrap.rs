//! The first operator: created once, and not recreated after a demotion, an erasure, or the loss of the
//! address.

use std::sync::Arc;

use serde_json::json;

use crate::harness::{Database, PASSWORD, Person, Server, Store, eventually, operator_keys};

on_durable_stores!(a_demoted_first_operator_is_not_promoted_again);
on_one_store!(
    an_erased_first_operator_is_not_recreated,
    a_registered_user_does_not_become_the_first_operator,
    changing_the_configured_email_address_creates_no_further_operator,
    a_server_warns_at_its_start_only_if_no_operator_is_active,
);

const EMAIL: &str = "operator@example.com";

/// Whether the start of this server warned that nobody is an active operator.
fn warned(server: &Server) -> bool {
    let log = || server.log();
    let started = eventually("the start is logged", || {
        // Logged after all warnings.
        Some(log()).filter(|log| log.contains("API documentation at"))
    });
    started.contains("there is no active operator")
}

fn a_server_warns_at_its_start_only_if_no_operator_is_active(store: Store) {
    let database = Arc::new(Database::of(store));
    assert!(warned(&Server::on(&database, &[])));
    let server = start(&database);
    assert!(!warned(&server), "it was created at this start");
    let (first, second) = operators(&server);
    second.give_role(&first, "member");
    drop(server);
    let server = Server::on(&database, &[]);
    assert!(!warned(&server), "another one is active");
}

/// A server with a configured first operator.
fn start(database: &Arc<Database>) -> Server {
    Server::on(database, &operator_keys(EMAIL))
}

/// The first operator, and a second one.
fn operators(server: &Server) -> (Person, Person) {
    let (first, second) = (server.client().login(EMAIL), server.guest());
    first.give_role(&second, "operator");
    (first, second)
}

/// The addresses of all operators, as shown to one of them.
fn addresses(operator: &Person) -> Vec<String> {
    let page = operator.get("/operator/users?per_page=100").data(200);
    let rows = page["data"].as_array().unwrap().iter();
    let operators = rows.filter(|row| row["role"] == "operator");
    operators.map(|row| row["email"].as_str().unwrap().to_owned()).collect()
}

/// Attack API5: becoming an operator again after a dismissal.
fn a_demoted_first_operator_is_not_promoted_again(store: Store) {
    let database = Arc::new(Database::of(store));
    let server = start(&database);
    let (first, second) = operators(&server);
    second.give_role(&first, "member");
    drop(server);
    let server = start(&database);
    let first = server.client().login(EMAIL);
    first.get("/operator/users").refused(403, "insufficient_scope");
    assert_eq!(addresses(&second.at(&server.client())), [second.email]);
}

/// Attack API5: becoming an operator by registering the address of an erased first operator.
fn an_erased_first_operator_is_not_recreated(store: Store) {
    let database = Arc::new(Database::of(store));
    let server = start(&database);
    let (first, second) = operators(&server);
    first.call("DELETE", "/user").json(&json!({"password": PASSWORD})).send().data(200);
    drop(server);
    let server = start(&database);
    let login = server.client().post("/auth/login", &json!({"email": EMAIL, "password": PASSWORD}));
    login.refused(401, "invalid_credentials");
    let body = json!({"name": "Eve", "email": EMAIL, "password": PASSWORD});
    server.client().post("/auth/register", &body).data(201);
    drop(server);
    let server = start(&database);
    let eve = server.client().login(EMAIL);
    eve.get("/operator/users").refused(403, "insufficient_scope");
    assert_eq!(addresses(&second.at(&server.client())), [second.email]);
}

fn a_registered_user_does_not_become_the_first_operator(store: Store) {
    let database = Arc::new(Database::of(store));
    let server = Server::on(&database, &[]);
    let body = json!({"name": "Eve", "email": "Operator@example.com", "password": "her own horse"});
    server.client().post("/auth/register", &body).data(201);
    drop(server);
    let server = start(&database);
    let eve = server.client().post("/auth/login", &json!({"email": EMAIL, "password": "her own horse"}));
    let eve = Person::signed_in(&server.client(), &eve.data(200));
    eve.get("/operator/users").refused(403, "insufficient_scope");
    let said = "no operator was created, because bootstrap.operator_email belongs to an account";
    eventually("the log says so", || server.log().contains(said).then_some(()));
    drop(server);
    // Another configured address creates another operator.
    let other = Server::on(&database, &operator_keys("other@example.com"));
    assert_eq!(addresses(&other.client().login("other@example.com")), ["other@example.com"]);
}

/// Attack API5: becoming an operator through another configured address.
fn changing_the_configured_email_address_creates_no_further_operator(store: Store) {
    let database = Arc::new(Database::of(store));
    let server = start(&database);
    let (first, second) = operators(&server);
    drop(server);
    let nobody = || {
        let server = Server::on(&database, &operator_keys("other@example.com"));
        let login = json!({"email": "other@example.com", "password": PASSWORD});
        server.client().post("/auth/login", &login).refused(401, "invalid_credentials");
        let said = "bootstrap.operator_email is ignored, because the first operator was already created";
        eventually("the log says so", || server.log().contains(said).then_some(()));
        server
    };
    let server = nobody();
    let suspend = format!("/operator/users/{}/suspend", first.id);
    second.at(&server.client()).post(&suspend, &json!({"reason": "lost laptop"})).data(200);
    drop(server);
    let server = nobody();
    let login = json!({"email": EMAIL, "password": PASSWORD});
    server.client().post("/auth/login", &login).refused(403, "account_suspended");
    drop(server);
    // The first operator's own address restores no role either.
    let server = start(&database);
    server.client().post("/auth/login", &login).refused(403, "account_suspended");
}

#[test]
fn concurrently_started_servers_create_one_operator() {
    let database = Arc::new(Database::postgres());
    let emails = ["one@example.com", "two@example.com", "three@example.com"];
    let servers: Vec<Server> = std::thread::scope(|scope| {
        let database = &database;
        let starts = emails.map(|email| scope.spawn(move || Server::on(database, &operator_keys(email))));
        starts.into_iter().map(|start| start.join().unwrap()).collect()
    });
    let logins = emails.map(|email| {
        servers[0].client().post("/auth/login", &json!({"email": email, "password": PASSWORD})).status
    });
    assert_eq!(logins.iter().filter(|status| **status == 200).count(), 1, "{logins:?}");
}
