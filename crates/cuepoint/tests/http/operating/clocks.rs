//! A server with a wrong clock: it damages nothing visible to other servers, and reports the problem.

use std::fs;
use std::sync::Arc;

use serde_json::json;
use tempfile::TempDir;

use crate::harness::{Database, Server, eventually, operator_keys, run};

/// The environment variable that shifts the clock of a server.
const SHIFT: &str = "CUEPOINT_CLOCK_SHIFT_FILE";
const FORTY_DAYS: i64 = 40 * 86_400;

/// A clock set by a test; its file is deleted on drop.
struct MachineClock(TempDir);

impl MachineClock {
    fn ahead(seconds: i64) -> Self {
        let clock = Self(TempDir::with_prefix("cuepoint-clock-").unwrap());
        clock.set(seconds);
        clock
    }

    fn set(&self, seconds: i64) {
        let beside = self.0.path().join("new");
        fs::write(&beside, seconds.to_string()).unwrap();
        fs::rename(&beside, self.file()).unwrap();
    }

    fn file(&self) -> String {
        self.0.path().join("clock").to_str().unwrap().to_owned()
    }
}

#[test]
fn a_server_with_a_wrong_clock_does_not_start() {
    let database = Arc::new(Database::postgres());
    for (seconds, told) in [(FORTY_DAYS, "ahead of"), (-FORTY_DAYS, "behind"), (60, "ahead of")] {
        let clock = MachineClock::ahead(seconds);
        let (status, said) = run(&["serve"], Some(database.url()), &[(SHIFT, &clock.file())]);
        assert!(!status.success(), "{seconds}: {said}");
        assert!(said.contains("clock") && said.contains(told), "{seconds}: {said}");
    }
    let clock = MachineClock::ahead(20);
    drop(Server::on(&database, &[(SHIFT, &clock.file())]));
}

#[test]
fn a_wrong_clock_affects_no_other_server() {
    let database = Arc::new(Database::postgres());
    let keys = operator_keys("op@example.com");
    let well = Server::on(&database, &keys);
    let (guest, dj) = (well.payer("50"), well.dj());
    let request = guest.request_song(&dj);
    let keyed = || guest.call("POST", "/wallet/topups").key("k").text(r#"{"amount": 5}"#).send();
    let first = keyed();
    assert_eq!(first.status, 201, "{first}");
    let ended = guest.at(&well.client());
    ended.call("POST", "/auth/logout-everywhere").send().data(200);
    let guest = guest.at(&well.client());
    let keyed = || guest.call("POST", "/wallet/topups").key("k").text(r#"{"amount": 5}"#).send();

    let clock = MachineClock::ahead(0);
    let wrong = Server::on(&database, &[&keys[..], &[(SHIFT, &clock.file())]].concat());
    let there = guest.at(&wrong.client());
    for seconds in [FORTY_DAYS, -FORTY_DAYS] {
        clock.set(seconds);
        eventually("it is not ready", || {
            (wrong.client().outside("GET", "/health/ready").send().status == 503).then_some(())
        });
        let ready = || wrong.client().outside("GET", "/health/ready");
        assert_eq!(ready().send().refused(503, "unavailable")["message"], "Not ready: clock.");
        // The client is not known to be in access.metrics_networks.
        let elsewhere = ready().header("x-forwarded-for", "127.0.0.1").send().refused(503, "unavailable");
        assert!(!elsewhere.to_string().contains("clock"), "{elsewhere}");
        let told = if seconds > 0 { "s ahead of the database's" } else { "s behind the database's" };
        eventually("the log says why", || wrong.log().contains(told).then_some(()));
        // Reads of the caller's own data continue; commands do not.
        there.get("/wallet").data(200);
        let refused = there.call("POST", "/wallet/topups").text(r#"{"amount": 7}"#).send();
        refused.refused(503, "unavailable");
        assert_eq!(refused.header("retry-after"), Some("5"));

        assert_eq!(guest.get(&format!("/music/requests/{request}")).data(200)["status"], "pending");
        assert_eq!(keyed().text, first.text, "the key was purged");
        ended.get("/wallet").refused(401, "session_ended");
        well.client().post("/auth/refresh", &json!({"refresh_token": guest.refresh_token}));
        assert_eq!(guest.wallet(), ("50.00".into(), "5.00".into()));
        clock.set(0);
        eventually("it is ready again", || {
            (wrong.client().outside("GET", "/health/ready").send().status == 200).then_some(())
        });
    }
    let done = there.call("POST", "/wallet/topups").text(r#"{"amount": 7}"#).send();
    assert_eq!(done.status, 201, "{done}");
    assert_eq!(guest.wallet(), ("57.00".into(), "5.00".into()));
}
