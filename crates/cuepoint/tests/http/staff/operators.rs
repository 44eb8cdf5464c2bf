//! Operators and withdrawals of all users: each action, its refusals, its authorization, and its record.

use serde_json::{Value, json};

use crate::harness::{Answer, Person, ROUTES, Server, Store, WITHDRAWAL, WITHDRAWAL_FACTS, keys, line};

on_one_store!(
    each_action_on_a_withdrawal_updates_its_status_and_the_wallet,
    operator_routes_require_the_operator_role,
    a_withdrawal_cannot_be_completed_without_a_valid_transaction_id,
    withdrawals_are_paginated_and_filtered_by_status,
    a_repeated_operator_action_with_the_same_idempotency_key_is_replayed,
    operator_actions_are_recorded_with_actor_time_and_reason,
);

/// A status of a withdrawal, the action on it, and the resulting status.
const ACTS: [(&str, &str, &str); 8] = [
    ("pending", "approve", "approved"),
    ("pending", "reject", "rejected"),
    ("pending", "cancel", "cancelled"),
    ("approved", "process", "processing"),
    ("processing", "broadcast", "broadcast"),
    ("processing", "review", "needs_review"),
    ("processing", "fail", "failed"),
    ("broadcast", "complete", "completed"),
];

/// The actions that lead from a new withdrawal to a status.
fn way_to(status: &str) -> &'static [&'static str] {
    match status {
        "approved" => &["approve"],
        "processing" => &["approve", "process"],
        "broadcast" => &["approve", "process", "broadcast"],
        "completed" => &["approve", "process", "broadcast", "complete"],
        "rejected" => &["reject"],
        "failed" => &["approve", "process", "fail"],
        "needs_review" => &["approve", "process", "review"],
        _ => &[],
    }
}

fn body(act: &str) -> Value {
    match act {
        "broadcast" | "complete" => json!({"reason": "as agreed", "txid": "ab12"}),
        _ => json!({"reason": "as agreed"}),
    }
}

fn path(withdrawal: i64, act: &str) -> String {
    format!("/operator/withdrawals/{withdrawal}/{act}")
}

/// A guest's withdrawal on which an operator acts.
struct Case<'a> {
    operator: &'a Person,
    guest: Person,
    id: i64,
}

impl<'a> Case<'a> {
    /// A guest with 20.00 who withdraws 12.50.
    fn new(server: &Server, operator: &'a Person) -> Self {
        let guest = server.payer("20");
        let id = guest.withdrawal("12.50");
        Self { operator, guest, id }
    }

    fn at(server: &Server, operator: &'a Person, status: &str) -> Self {
        let case = Self::new(server, operator);
        for act in way_to(status) {
            case.go(act).data(200);
        }
        case
    }

    fn go(&self, act: &str) -> Answer {
        if act == "cancel" {
            self.guest.call("POST", &format!("/withdrawals/{}/cancel", self.id)).send()
        } else {
            self.operator.post(&path(self.id, act), &body(act))
        }
    }

    fn shown(&self) -> Value {
        self.guest.get(&format!("/withdrawals/{}", self.id)).data(200)
    }

    /// Checks that the wallet and its statement match a withdrawal with this status.
    #[track_caller]
    fn stands(&self, status: &str) {
        let (available, held, settled) = match status {
            "completed" => ("7.50", "0.00", Some("capture 0.00 7.50 0.00")),
            "cancelled" | "rejected" | "failed" => ("20.00", "0.00", Some("release 12.50 20.00 0.00")),
            _ => ("7.50", "12.50", None),
        };
        assert_eq!(self.shown()["status"], status);
        assert_eq!(self.guest.wallet(), (available.into(), held.into()), "{status}");
        let statement: Vec<String> = self.guest.entries().iter().skip(1).map(line).collect();
        let expected: Vec<String> = ["hold -12.50 7.50 12.50"]
            .into_iter()
            .chain(settled)
            .map(|entry| format!("{entry} withdrawal {}", self.id))
            .collect();
        assert_eq!(statement, expected, "{status}");
    }
}

/// The keys that only operators see, and those of the present.
const OPERATORS_KEYS: [&str; 9] = [
    "approval_names",
    "approvals",
    "approvals_needed",
    "login_changed_at",
    "owed",
    "reference",
    "sum_24h",
    "user_name",
    "waiting_for",
];

/// A withdrawal without what only operators see, and without present facts.
fn as_its_owner_sees_it(shown: &Value) -> Value {
    let mut shown = shown.clone();
    for key in OPERATORS_KEYS {
        shown.as_object_mut().unwrap().remove(key);
    }
    shown
}

/// The statuses that follow one another are a table of the domain.
fn each_action_on_a_withdrawal_updates_its_status_and_the_wallet(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    for (from, act, to) in ACTS {
        let case = Case::at(&server, &operator, from);
        let moved = case.go(act).data(200);
        let shown = case.shown();
        assert_eq!(as_its_owner_sees_it(&moved), as_its_owner_sees_it(&shown), "{act}");
        case.stands(to);
        let has_txid = ["broadcast", "completed"].contains(&to);
        assert_eq!(moved["txid"], if has_txid { json!("ab12") } else { Value::Null }, "{act}");
        assert_eq!(
            as_its_owner_sees_it(&case.go(act).data(200)),
            as_its_owner_sees_it(&shown),
            "{act} once more"
        );
        case.stands(to);
    }
    // The owner can only cancel, and operators can do everything else.
    let sent = Case::at(&server, &operator, "processing");
    for (act, allowed) in [("cancel", json!([])), ("approve", json!(["broadcast", "failed", "needs_review"]))]
    {
        let body = sent.go(act).refused(409, "invalid_transition");
        assert_eq!((&body["current"], &body["allowed"]), (&json!("processing"), &allowed), "{act}");
    }
    sent.stands("processing");
}

/// Attack API5: calling a staff route as a guest, DJ or auditor.
fn operator_routes_require_the_operator_role(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let (guest, dj) = (server.payer("20"), server.dj());
    let (request, withdrawal) = (guest.request_song(&dj), guest.withdrawal("1"));
    let before = (guest.snapshot(), dj.snapshot());
    let routes: Vec<_> = ROUTES.iter().filter(|route| route.is_operators()).collect();
    assert!(routes.len() > 9);
    for route in routes {
        for person in [&guest, &dj] {
            for id in [request, withdrawal, 999_999_999] {
                let call = person.call(route.method, &route.at(id)).header("accept", "text/html").text("{");
                call.send().refused(403, "insufficient_scope");
            }
            person.call(route.method, &route.at("junk")).send().refused(403, "insufficient_scope");
        }
        if route.has_id() {
            let call = operator.call(route.method, &route.at(999_999_999));
            let call = route.body(dj.id).map_or(call.clone(), |body| call.json(&body));
            call.send().refused(404, "not_found");
        }
    }
    assert_eq!((guest.snapshot(), dj.snapshot()), before);
}

fn a_withdrawal_cannot_be_completed_without_a_valid_transaction_id(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let why = json!({"reason": "seen"});
    let reviewed = Case::at(&server, &operator, "needs_review");
    operator.post(&path(reviewed.id, "complete"), &why).invalid(&["txid"]);
    for txid in [json!(7), json!("x".repeat(256))] {
        let body = json!({"reason": "seen", "txid": txid});
        operator.post(&path(reviewed.id, "complete"), &body).invalid(&["txid"]);
    }
    reviewed.stands("needs_review");
    let sent = Case::at(&server, &operator, "broadcast");
    let another = json!({"reason": "seen", "txid": "cd34"});
    operator.post(&path(sent.id, "complete"), &another).refused(409, "invalid_transition");
    sent.stands("broadcast");
    assert_eq!(operator.post(&path(sent.id, "complete"), &why).data(200)["txid"], "ab12");
    sent.stands("completed");
}

fn withdrawals_are_paginated_and_filtered_by_status(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let [older, approved, newer] =
        ["pending", "approved", "pending"].map(|status| Case::at(&server, &operator, status).id);
    assert_eq!(operator.ids("/operator/withdrawals", "id"), [newer, approved, older]);
    assert_eq!(operator.ids("/operator/withdrawals?status=approved", "id"), [approved]);
    assert_eq!(operator.ids("/operator/withdrawals?status=completed", "id"), [0; 0]);
    let page = operator.get("/operator/withdrawals?status=pending&per_page=1&page=2").data(200);
    assert_eq!((&page["total"], &page["last_page"]), (&json!(2), &json!(2)));
    assert_eq!(page["data"][0]["id"], older);
    let address = format!("{}/operator/withdrawals", server.client().base());
    assert_eq!(page["first_page_url"], format!("{address}?status=pending&per_page=1&page=1"));
    let mut expected = [
        &WITHDRAWAL[..],
        &["amount_currency", "approvals", "reference", "status", "txid"],
        &WITHDRAWAL_FACTS,
    ]
    .concat();
    expected.sort_unstable();
    assert_eq!(keys(&page["data"][0]), expected);
    operator.get("/operator/withdrawals?status=nonsense").invalid(&["status"]);
}

fn a_repeated_operator_action_with_the_same_idempotency_key_is_replayed(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let case = Case::new(&server, &operator);
    let call = |act: &str| operator.call("POST", &path(case.id, act)).key("once").json(&body(act));
    let acts = ["approve", "process", "review", "broadcast", "complete"];
    let first: Vec<Answer> = acts.iter().map(|act| call(act).send()).collect();
    for (act, first) in acts.iter().zip(&first) {
        assert_eq!((first.status, first.header("idempotency-replayed")), (200, None), "{first}");
        let again = call(act).send();
        assert_eq!(again.header("idempotency-replayed"), Some("true"), "{again}");
        assert_eq!((again.status, &again.text), (200, &first.text));
        call(act).json(&json!({"reason": "another"})).send().refused(422, "idempotency_key_reused");
    }
    case.stands("completed");
}

/// The actor, time and reason of each action, as operators read them in SQL.
fn operator_actions_are_recorded_with_actor_time_and_reason(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let database = server.database().unwrap();
    let dj = server.dj();
    let guest = server.payer("20");
    let request = guest.request_song(&dj);
    dj.answer(request, "played").data(200);
    let mut expected = Vec::new();
    let mut act = |kind: &str, path: &str, mut body: Value| {
        let reason = format!("reason {}", expected.len());
        body["reason"] = json!(reason);
        let answer = operator.post(path, &body);
        assert!([200, 201].contains(&answer.status), "{answer}");
        let data = &answer.json()["data"];
        let at = ["/updated_at", "/adjustment/created_at"].iter().find_map(|key| data.pointer(key)).unwrap();
        let at = at.as_str().unwrap().to_owned();
        expected.push([kind.to_owned(), operator.id.to_string(), reason, at].map(Some).to_vec());
    };
    for way in ["completed", "rejected", "failed", "needs_review"] {
        let withdrawal = guest.withdrawal("1");
        for step in way_to(way) {
            let kind = if *step == "approve" { "approve_withdrawal" } else { "move_withdrawal" };
            act(kind, &path(withdrawal, step), body(step));
        }
    }
    act("move_request", &format!("/operator/music/requests/{request}/refund"), json!({}));
    act("adjust", "/operator/adjustments", json!({"user_id": guest.id, "amount": -0.5}));
    let time = database.sql(
        r#"to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')"#,
        "strftime('%Y-%m-%dT%H:%M:%S', at / 1000000, 'unixepoch') || format('.%06dZ', at % 1000000)",
    );
    let operator = operator.id;
    let kept = database.rows(&format!(
        "SELECT kind, actor_user_id, reason, {time} FROM operations WHERE actor_user_id = {operator} ORDER BY at"
    ));
    assert_eq!(kept, expected);
}
