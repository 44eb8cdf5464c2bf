//! Operators and withdrawals of all users: every transition, its money, its authorization, and its record.

use serde_json::{Value, json};

use crate::harness::{Answer, Person, ROUTES, Server, Store, WITHDRAWAL, keys, line};

on_one_store!(
    every_transition_of_a_withdrawal,
    operator_routes_require_the_operator_role,
    an_operator_cannot_judge_their_own_withdrawal,
    each_action_on_a_withdrawal_requires_a_reason,
    a_completed_payout_requires_a_transaction_id,
    withdrawals_are_paginated_and_filtered_by_status,
    a_key_replays_an_action_of_an_operator,
    a_rejected_withdrawal_gives_the_money_back_once,
    two_racing_cancels_release_once,
    racing_cancel_and_process_have_one_winner,
    racing_complete_and_fail_settle_once,
);

on_durable_stores!(each_action_is_stored_with_its_actor_time_and_reason);

const EVERY_STATUS: [&str; 9] = [
    "pending",
    "approved",
    "processing",
    "broadcast",
    "completed",
    "cancelled",
    "rejected",
    "failed",
    "needs_review",
];

/// The actions of operators and the owner, and the resulting status.
const ACTS: [(&str, &str); 8] = [
    ("approve", "approved"),
    ("reject", "rejected"),
    ("process", "processing"),
    ("broadcast", "broadcast"),
    ("complete", "completed"),
    ("fail", "failed"),
    ("review", "needs_review"),
    ("cancel", "cancelled"),
];

/// The allowed transitions of a withdrawal: the second table of part 5 of the contract.
fn onward(from: &str) -> &'static [&'static str] {
    match from {
        "pending" => &["approved", "rejected", "cancelled"],
        "approved" => &["processing", "rejected", "cancelled"],
        "processing" => &["broadcast", "failed", "needs_review"],
        "broadcast" => &["completed", "needs_review"],
        "needs_review" => &["broadcast", "completed", "failed"],
        _ => &[],
    }
}

/// The actions that lead from a new withdrawal to a status.
fn way_to(status: &str) -> &'static [&'static str] {
    match status {
        "approved" => &["approve"],
        "processing" => &["approve", "process"],
        "broadcast" => &["approve", "process", "broadcast"],
        "completed" => &["approve", "process", "broadcast", "complete"],
        "cancelled" => &["cancel"],
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

fn every_transition_of_a_withdrawal(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    for from in EVERY_STATUS {
        for (act, to) in ACTS {
            let case = Case::at(&server, &operator, from);
            case.stands(from);
            let before = case.shown();
            let answer = case.go(act);
            if from == to {
                assert_eq!(
                    as_its_owner_sees_it(&answer.data(200)),
                    as_its_owner_sees_it(&before),
                    "{answer}"
                );
                case.stands(from);
            } else if onward(from).contains(&to) {
                let moved = answer.data(200);
                assert_eq!(as_its_owner_sees_it(&moved), as_its_owner_sees_it(&case.shown()), "{answer}");
                case.stands(to);
                let sent = matches!(to, "broadcast" | "completed") || from == "broadcast";
                assert_eq!(moved["txid"], if sent { json!("ab12") } else { Value::Null }, "{answer}");
            } else {
                let body = answer.refused(409, "invalid_transition");
                // The owner can only cancel, and operators can do everything else.
                let is_of_caller = |status: &&&str| (**status == "cancelled") == (act == "cancel");
                let allowed: Vec<_> = onward(from).iter().filter(is_of_caller).collect();
                assert_eq!((&body["current"], &body["allowed"]), (&json!(from), &json!(allowed)), "{act}");
                case.stands(from);
            }
        }
    }
}

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

fn an_operator_cannot_judge_their_own_withdrawal(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    operator.topup("20");
    let withdrawal = operator.withdrawal("12.50");
    for act in ["approve", "reject", "fail"] {
        // Ownership is checked before the body is read.
        for body in [body(act), json!({})] {
            operator.post(&path(withdrawal, act), &body).refused(403, "own_account");
        }
    }
    assert_eq!(operator.get(&format!("/withdrawals/{withdrawal}")).data(200)["status"], "pending");
    assert_eq!(operator.wallet(), ("7.50".into(), "12.50".into()));
    let second = server.guest();
    operator.give_role(&second, "operator");
    second.post(&path(withdrawal, "approve"), &body("approve")).data(200);
    second.post(&path(withdrawal, "reject"), &body("reject")).data(200);
    assert_eq!(operator.wallet(), ("20.00".into(), "0.00".into()));
}

fn each_action_on_a_withdrawal_requires_a_reason(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let case = Case::new(&server, &operator);
    let before = case.guest.snapshot();
    for (act, _) in ACTS.iter().filter(|(act, _)| *act != "cancel") {
        let mut missing = vec!["reason"];
        missing.extend((*act == "broadcast").then_some("txid"));
        operator.post(&path(case.id, act), &json!({})).invalid(&missing);
        for reason in [json!(""), json!("  "), Value::Null, json!(5), json!("x".repeat(256)), json!("a\u{7}")]
        {
            let mut body = body(act);
            body["reason"] = reason;
            operator.post(&path(case.id, act), &body).invalid(&["reason"]);
        }
    }
    assert_eq!(case.guest.snapshot(), before);
}

fn a_completed_payout_requires_a_transaction_id(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let why = json!({"reason": "seen"});
    let reviewed = Case::at(&server, &operator, "needs_review");
    operator.post(&path(reviewed.id, "complete"), &why).invalid(&["txid"]);
    operator.post(&path(reviewed.id, "broadcast"), &why).invalid(&["txid"]);
    for txid in [json!(7), json!("x".repeat(256))] {
        let body = json!({"reason": "seen", "txid": txid});
        operator.post(&path(reviewed.id, "complete"), &body).invalid(&["txid"]);
    }
    reviewed.stands("needs_review");
    let sent = Case::at(&server, &operator, "broadcast");
    let another = json!({"reason": "seen", "txid": "cd34"});
    for act in ["broadcast", "complete"] {
        operator.post(&path(sent.id, act), &another).refused(409, "invalid_transition");
    }
    sent.stands("broadcast");
    assert_eq!(operator.post(&path(sent.id, "complete"), &why).data(200)["txid"], "ab12");
    operator.post(&path(sent.id, "complete"), &another).refused(409, "invalid_transition");
    assert_eq!(operator.post(&path(sent.id, "complete"), &why).data(200)["txid"], "ab12");
    sent.stands("completed");
    let resent = Case::at(&server, &operator, "broadcast");
    resent.go("review").data(200);
    assert_eq!(operator.post(&path(resent.id, "complete"), &another).data(200)["txid"], "cd34");
    resent.stands("completed");
}

fn withdrawals_are_paginated_and_filtered_by_status(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let mut newest_first: Vec<(i64, &str)> = EVERY_STATUS
        .iter()
        .chain(&["pending", "approved"])
        .map(|status| (Case::at(&server, &operator, status).id, *status))
        .collect();
    newest_first.reverse();
    let shown = |query: &str| -> Vec<i64> {
        let page = operator.get(&format!("/operator/withdrawals{query}")).data(200);
        page["data"].as_array().unwrap().iter().map(|row| row["id"].as_i64().unwrap()).collect()
    };
    assert_eq!(shown(""), newest_first.iter().map(|(id, _)| *id).collect::<Vec<_>>());
    for status in EVERY_STATUS {
        let with_it = newest_first.iter().filter(|(_, it)| *it == status).map(|(id, _)| *id);
        assert_eq!(shown(&format!("?status={status}")), with_it.collect::<Vec<_>>(), "{status}");
    }
    let page = operator.get("/operator/withdrawals?status=pending&per_page=1&page=2").data(200);
    assert_eq!((&page["total"], &page["last_page"]), (&json!(2), &json!(2)));
    assert_eq!(page["data"][0]["id"], newest_first.last().unwrap().0);
    let address = format!("{}/operator/withdrawals", server.client().base());
    assert_eq!(page["first_page_url"], format!("{address}?status=pending&per_page=1&page=1"));
    let facts = [
        "approval_names",
        "approvals_needed",
        "login_changed_at",
        "owed",
        "sum_24h",
        "user_name",
        "waiting_for",
    ];
    let mut expected =
        [&WITHDRAWAL[..], &["amount_currency", "approvals", "reference", "status", "txid"], &facts].concat();
    expected.sort_unstable();
    assert_eq!(keys(&page["data"][0]), expected);
    operator.get("/operator/withdrawals?status=nonsense").invalid(&["status"]);
}

fn a_key_replays_an_action_of_an_operator(store: Store) {
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

/// Sends all calls concurrently.
fn at_once(calls: Vec<crate::harness::Call>) -> Vec<Answer> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = calls.into_iter().map(|call| scope.spawn(|| call.send())).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

impl Case<'_> {
    fn call(&self, act: &str) -> crate::harness::Call {
        if act == "cancel" {
            self.guest.call("POST", &format!("/withdrawals/{}/cancel", self.id))
        } else {
            self.operator.call("POST", &path(self.id, act)).json(&body(act))
        }
    }

    /// Races two mutually exclusive actions, and returns the resulting status.
    fn race(&self, acts: [&str; 2]) -> String {
        let calls = acts.iter().cycle().take(8).map(|act| self.call(act)).collect();
        let answers = at_once(calls);
        let last = self.shown()["status"].as_str().unwrap().to_owned();
        for (act, answer) in acts.iter().cycle().zip(&answers) {
            let (_, to) = ACTS.iter().find(|(one, _)| one == act).unwrap();
            if *to == last {
                assert_eq!(answer.data(200)["status"], last, "{answer}");
            } else {
                answer.refused(409, "invalid_transition");
            }
        }
        last
    }
}

fn a_rejected_withdrawal_gives_the_money_back_once(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    for from in ["pending", "approved"] {
        let case = Case::at(&server, &operator, from);
        for answer in at_once((0..8).map(|_| case.call("reject")).collect()) {
            assert_eq!(answer.data(200)["status"], "rejected", "{answer}");
        }
        case.go("reject").data(200);
        case.go("cancel").refused(409, "invalid_transition");
        case.stands("rejected");
    }
}

fn two_racing_cancels_release_once(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    for _ in 0..5 {
        let case = Case::new(&server, &operator);
        for answer in at_once(vec![case.call("cancel"), case.call("cancel")]) {
            assert_eq!(answer.data(200)["status"], "cancelled", "{answer}");
        }
        case.stands("cancelled");
    }
}

fn racing_cancel_and_process_have_one_winner(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    for _ in 0..5 {
        let case = Case::at(&server, &operator, "approved");
        let last = case.race(["cancel", "process"]);
        assert!(["cancelled", "processing"].contains(&last.as_str()), "{last}");
        case.stands(&last);
    }
}

fn racing_complete_and_fail_settle_once(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    for _ in 0..5 {
        let case = Case::at(&server, &operator, "needs_review");
        let last = case.race(["complete", "fail"]);
        assert!(["completed", "failed"].contains(&last.as_str()), "{last}");
        case.stands(&last);
    }
}

/// The actor, time and reason of each action, as operators read them in SQL.
fn each_action_is_stored_with_its_actor_time_and_reason(store: Store) {
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
