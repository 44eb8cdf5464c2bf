//! Rows of a newer version after its rollback: shown as they are, and never acted on.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::harness::{
    Answer, Database, Message, Person, Provider, Reply, Server, TOPUPS, eventually, keys, operator_keys,
    payout_keys,
};

const OPERATOR: &str = "operator@example.com";

/// Removes the constraints that exclude names of later versions, as their migrations do.
const NEWER: &str = "
    SET session_replication_role = replica;
    DO $$
    DECLARE rule record;
    BEGIN
        FOR rule IN
            SELECT conname, conrelid::regclass AS relation FROM pg_constraint
            WHERE contype = 'c' AND contypid = 0 AND connamespace = 'public'::regnamespace
        LOOP
            EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', rule.relation, rule.conname);
        END LOOP;
    END $$;";

/// A server whose providers send messages, an operator, and a guest with one object of each kind.
struct Scene {
    database: Arc<Database>,
    server: Server,
    _payouts: Provider,
    operator: Person,
    dj: Person,
    guest: Person,
    request: i64,
    withdrawal: i64,
    topup: i64,
}

impl Scene {
    fn new() -> Self {
        let database = Arc::new(Database::postgres());
        let payouts = Provider::new(Reply::Says(200, String::new()));
        let settings = [&operator_keys(OPERATOR)[..], &TOPUPS, &payout_keys(&payouts, "1")].concat();
        let server = Server::on(&database, &settings);
        let operator = server.client().login(OPERATOR);
        let (dj, guest) = (server.dj(), server.guest());
        let adjustment = json!({"user_id": guest.id, "amount": 300, "reason": "a beginning"});
        assert_eq!(operator.post("/operator/adjustments", &adjustment).status, 201);
        let (request, withdrawal, topup) =
            (guest.request_song(&dj), guest.withdrawal("150"), guest.topup("5"));
        Self { database, server, _payouts: payouts, operator, dj, guest, request, withdrawal, topup }
    }

    /// Executes the statements of a newer version.
    fn write(&self, statements: &str) {
        self.database.rows(&format!("{NEWER} {statements}"));
    }
}

#[track_caller]
fn is_stuck(answer: &Answer, status: &str) {
    let body = answer.refused(409, "invalid_transition");
    assert_eq!((&body["current"], &body["allowed"]), (&json!(status), &json!([])), "{answer}");
}

#[test]
fn unknown_statuses_are_shown_and_never_changed() {
    let scene = Scene::new();
    let Scene { server, operator, dj, guest, request, withdrawal, topup, .. } = &scene;
    let reference = guest.topup_reference(*topup);
    // The operator who adjusted the guest's balance may not review the withdrawal.
    let judge = operator.new_operator(server);
    scene.write(
        "UPDATE music_requests SET status = 'queued', expires_at = now() - interval '1 hour';
         UPDATE withdrawals SET status = 'frozen', retry_at = now() - interval '1 hour';
         UPDATE topups SET status = 'on_hold';",
    );
    let money = guest.wallet();
    let shown = |path: &str| guest.get(path).data(200)["data"][0]["status"].clone();
    assert_eq!(shown("/music/user/requests"), "queued");
    assert_eq!(dj.get("/music/dj/requests").data(200)["data"][0]["status"], "queued");
    assert_eq!(shown("/withdrawals"), "frozen");
    assert_eq!(operator.get("/operator/withdrawals").data(200)["data"][0]["status"], "frozen");
    assert_eq!(shown("/wallet/topups"), "on_hold");

    for verdict in ["accepted", "rejected", "played"] {
        is_stuck(&dj.answer(*request, verdict), "queued");
    }
    is_stuck(&guest.cancel(*request), "queued");
    let refund = format!("/operator/music/requests/{request}/refund");
    is_stuck(&operator.post(&refund, &json!({"reason": "x"})), "queued");
    is_stuck(&guest.call("POST", &format!("/withdrawals/{withdrawal}/cancel")).send(), "frozen");
    for step in ["approve", "reject", "process", "broadcast", "complete", "fail", "review"] {
        let path = format!("/operator/withdrawals/{withdrawal}/{step}");
        is_stuck(&judge.post(&path, &json!({"reason": "x", "txid": "f00d"})), "frozen");
    }
    // The provider has to resend it once the newer version is back.
    for kind in ["topup.confirmed", "topup.failed"] {
        Message::topup(kind, &reference).send(server).refused(409, "conflict");
    }
    let of_row = scene.database.rows("SELECT reference::text FROM withdrawals")[0][0].clone().unwrap();
    for kind in ["payout.broadcast", "payout.completed", "payout.failed"] {
        Message::payout(kind, &of_row).send(server).refused(409, "conflict");
    }
    assert_eq!(guest.wallet(), money);

    let export = guest.get("/user/export").data(200);
    assert_eq!(export["requests_made"][0]["status"], "queued");
    assert_eq!(export["withdrawals"][0]["status"], "frozen");
    assert_eq!(export["topups"][0]["status"], "on_hold");
}

#[test]
fn withdrawals_with_unknown_statuses_do_not_block_the_payouts_behind_them() {
    let scene = Scene::new();
    // More than one batch of leases, all due, and ahead of the withdrawal to be sent.
    scene.write(
        "UPDATE withdrawals SET status = 'frozen', retry_at = now() - interval '1 hour';
         INSERT INTO withdrawals (id, user_id, amount, wallet_address, currency, network, status, retry_at,
             created_at, updated_at)
         SELECT 1000 + n, user_id, amount, wallet_address, currency, network, status, retry_at, created_at, updated_at
         FROM withdrawals, generate_series(1, 40) AS n;",
    );
    let sent = scene.guest.withdrawal("5");
    eventually("the withdrawal behind them is sent", || {
        let status = scene.guest.get(&format!("/withdrawals/{sent}")).data(200)["status"].clone();
        (status != "approved").then_some(())
    });
}

#[test]
fn an_unknown_role_counts_as_member() {
    let scene = Scene::new();
    let Scene { server, operator, guest, .. } = &scene;
    scene.write(&format!("UPDATE users SET role = 'treasurer', standing_at = now() WHERE id = {}", guest.id));
    let treasurer = server.client().login(&guest.email);
    treasurer.get("/user/personal-info").data(200);
    treasurer.get("/operator/users").refused(403, "insufficient_scope");
    treasurer.patch("/user/personal-info", &json!({"city": "Bergen"})).data(200);
    let found = operator.get(&format!("/operator/users?email={}", guest.email)).data(200);
    assert_eq!(found["data"][0]["role"], "treasurer");
    let role = scene.database.rows(&format!("SELECT role FROM users WHERE id = {}", guest.id));
    assert_eq!(role[0][0].as_deref(), Some("treasurer"), "another change keeps the role");
    // An operator can still assign another role.
    operator.give_role(guest, "member");
}

#[test]
fn unknown_kinds_of_security_events_and_entries_are_shown() {
    let scene = Scene::new();
    let Scene { operator, guest, .. } = &scene;
    scene.write(&format!(
        "INSERT INTO security_events (kind, user_id, at) VALUES ('passkey_added', {}, now());
         UPDATE ledger_entries SET kind = 'bonus', reference_kind = 'campaign' WHERE seq = 1;",
        guest.id
    ));
    let event = operator.get("/operator/security-log").data(200)["data"][0].clone();
    assert_eq!((&event["kind"], &event["user_id"]), (&json!("passkey_added"), &json!(guest.id)));
    let export = guest.get("/user/export").data(200);
    let kinds: Vec<&Value> =
        export["security_events"].as_array().unwrap().iter().map(|event| &event["kind"]).collect();
    assert!(kinds.contains(&&json!("passkey_added")), "{kinds:?}");
    let entry = guest.entries()[0].clone();
    assert_eq!((&entry["kind"], &entry["reference"]["type"]), (&json!("bonus"), &json!("campaign")));
    assert_eq!(keys(&entry["reference"]), ["id", "type"]);
    assert!(export["wallet_entries"].to_string().contains("\"bonus\""), "{export}");
}
