//! The behaviour while the revocation list cannot be read: normal for half a minute, then refusal of every
//! call that relies on it.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::harness::{Database, Proxy, Server, Store, Traffic, eventually, operator_keys};

const OPERATOR: &str = "op@example.com";

on_durable_stores!(an_outdated_revocation_list_makes_staff_routes_and_commands_unavailable);

/// Attack API2: a suspended operator at a server that cannot read the revocation list.
fn an_outdated_revocation_list_makes_staff_routes_and_commands_unavailable(store: Store) {
    if store == Store::Sqlite {
        outdated_in_a_file();
    } else {
        outdated_behind_a_proxy();
    }
}

fn outdated_behind_a_proxy() {
    let database = Arc::new(Database::postgres());
    let proxy = Proxy::start(database.server());
    let url = database.url_at(proxy.address());
    let server = Server::through(&database, &url, &operator_keys(OPERATOR));
    refused_while_the_list_is_outdated(
        &server,
        || {
            proxy.set(Traffic::Cut);
            let ready = server.client().outside("GET", "/health/ready").send();
            ready.refused(503, "unavailable");
        },
        || proxy.set(Traffic::Flows),
    );
}

/// Nothing keeps a process from reading a file but its contents.
fn outdated_in_a_file() {
    let database = Arc::new(Database::of(Store::Sqlite));
    let server = Server::on(&database, &operator_keys(OPERATOR));
    refused_while_the_list_is_outdated(
        &server,
        || database.execute("ALTER TABLE sessions RENAME TO moved"),
        || database.execute("ALTER TABLE moved RENAME TO sessions"),
    );
}

/// Makes the revocation list unreadable for more than half a minute.
fn refused_while_the_list_is_outdated(server: &Server, fail: impl FnOnce(), recover: impl FnOnce()) {
    let (operator, guest) = (server.client().login(OPERATOR), server.payer("10"));
    // Neither needs the database, so only the list decides.
    let staff = || operator.get("/operator/audit");
    let own = || guest.get("/withdrawals/options");
    eventually("the ledger was audited", || {
        (staff().data(200)["audit"]["status"] == "consistent").then_some(())
    });
    let cut = Instant::now();
    fail();
    staff().data(200);
    let refused = loop {
        let answer = staff();
        if answer.status != 200 {
            break answer;
        }
        assert!(cut.elapsed() < Duration::from_secs(35), "staff is let in by an outdated list");
        thread::sleep(Duration::from_millis(100));
    };
    assert!(cut.elapsed() > Duration::from_secs(25), "{:?}", cut.elapsed());
    refused.refused(503, "unavailable");
    assert_eq!(refused.header("retry-after"), Some("5"));
    let started = Instant::now();
    guest.call("POST", "/wallet/topups").text(r#"{"amount": 1}"#).send().refused(503, "unavailable");
    guest.delete("/auth/sessions/1").refused(503, "unavailable");
    assert!(started.elapsed() < Duration::from_secs(1), "they waited for the database");
    own().data(200);
    eventually("the log says why", || {
        server.log().contains("the revocation list is older than 30 s").then_some(())
    });

    recover();
    eventually("staff is let in again", || (staff().status == 200).then_some(()));
    guest.topup("1");
    let token = json!({"refresh_token": guest.refresh_token});
    server.client().post("/auth/refresh", &token).data(200);
}
