//! An export contains all data that the database stores about an account: every column of every row that
//! mentions it, except those listed here with the reason for their omission.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::harness::{Database, PASSWORD, Person, Server, Store, operator_keys, song};

on_durable_stores!(every_column_about_a_user_is_exported_or_deliberately_excluded);

/// A table, and its rows that mention an account; `{id}` stands for the account id, and `[profile.user]` for
/// the text of this field of a receipt.
struct Table {
    name: &'static str,
    /// The rows that belong to the account: an export shows every column of them, except those in `LEFT_OUT`.
    own: &'static str,
    /// Rows that mention the account and are omitted, with the reason.
    named: &'static [(&'static str, &'static str)],
}

/// A table whose rows mention only the account that they belong to.
const fn table(name: &'static str, own: &'static str) -> Table {
    Table { name, own, named: &[] }
}

/// Every table that mentions accounts. A new table requires a line here or in `MENTION_NOBODY`, and a new
/// column requires a value in `life` or `more`, or a line in `LEFT_OUT`.
const TABLES: &[Table] = &[
    table("users", "id = {id}"),
    table("wallets", "user_id = {id}"),
    table("music_requests", "{id} IN (requester_id, dj_id)"),
    Table {
        name: "withdrawals",
        own: "user_id = {id}",
        named: &[(
            "{id} IN (approved_by, second_approved_by)",
            "it is the payout of somebody else, whom the operator's approval is about",
        )],
    },
    Table {
        name: "topups",
        own: "user_id = {id}",
        named: &[("settled_by = {id}", "it is about the money of somebody else")],
    },
    Table {
        name: "operations",
        own: "([profile] IS NOT NULL OR reason IS NOT NULL) AND '{id}' IN ([profile.user.id], \
            [withdrawal.withdrawal.user_id], [request.requester_id], [topup.user_id], \
            [adjustment.adjustment.user_id])",
        named: &[
            (
                "reason IS NULL AND [profile] IS NULL",
                "shown as what it made: a request, a withdrawal, a top-up, an entry",
            ),
            ("[request] IS NOT NULL", "it is about the guest; a DJ's entry shows the reason"),
            (
                "'{id}' IN (CAST(actor_user_id AS text), [withdrawal.withdrawal.approved_by], \
                    [withdrawal.withdrawal.second_approved_by])",
                "what an operator did is about somebody else, in whose export it is",
            ),
        ],
    },
    table("idempotency_keys", "operation_id IN (SELECT id FROM operations WHERE actor_user_id = {id})"),
    table("ledger_entries", "wallet_id = {id}"),
    table("postings", "operation_id IN (SELECT operation_id FROM ledger_entries WHERE wallet_id = {id})"),
    table("sessions", "user_id = {id}"),
    table("refresh_tokens", "session_id IN (SELECT id FROM sessions WHERE user_id = {id})"),
    table("login_networks", "user_id = {id}"),
    table("challenges", "user_id = {id}"),
    table("blocks", "{id} IN (dj_id, guest_id)"),
    Table {
        name: "security_events",
        own: "user_id = {id}",
        named: &[("actor_id = {id}", "what an operator did is about somebody else, in whose export it is")],
    },
    Table {
        name: "provider_messages",
        own: "source = 'topups' AND row_id IN (SELECT id FROM topups WHERE user_id = {id}) \
            OR source = 'payouts' AND row_id IN (SELECT id FROM withdrawals WHERE user_id = {id})",
        named: &[("resolved_by = {id}", "it is about the money of somebody else")],
    },
    table("webhook_endpoints", "owner_id = {id}"),
    table("webhook_deliveries", "endpoint_id IN (SELECT id FROM webhook_endpoints WHERE owner_id = {id})"),
    table("webhook_attempts", "endpoint_id IN (SELECT id FROM webhook_endpoints WHERE owner_id = {id})"),
];

/// Tables that mention no account, with their contents.
const MENTION_NOBODY: &[(&str, &str)] = &[
    ("__diesel_schema_migrations", "which migrations were applied"),
    ("bootstrap_operator", "that the first operator was created"),
    ("deployment", "what all servers of the deployment share"),
    ("ids", "the next ids of rows"),
    ("position_gaps", "positions without an operation"),
    ("phone_codes", "numbers and networks of codes by phone as check sums, without the person"),
];

/// All rows of an account.
const ALL: &str = "true";
/// Rows about actions of others.
const BY_OTHERS: &str = "actor_id <> user_id";

/// Columns that an export omits, for which of the account's rows, and why.
const LEFT_OUT: &[(&str, &str, &str)] = &[
    ("users.password_hash", ALL, "a secret"),
    ("users.email_folded", ALL, "the address in lower case"),
    ("users.rating_stars", ALL, "the rating is their mean"),
    ("users.suspended_at", ALL, "who is suspended takes nothing out"),
    ("users.erased_at", ALL, "who was erased takes nothing out"),
    ("users.erasure_pending", ALL, "who was erased takes nothing out"),
    ("wallets.head", ALL, "a check sum of the newest entry"),
    (
        "music_requests.expires_at",
        ALL,
        "a time limit that follows from the other times and the service's terms",
    ),
    ("music_requests.commission", ALL, "what the service kept; the DJ's entry has the rest"),
    ("withdrawals.attempts", ALL, "how often the service called the provider"),
    ("withdrawals.retry_at", ALL, "when the service calls the provider again"),
    ("withdrawals.approved_by", ALL, "which operator it was"),
    ("withdrawals.second_approved_by", ALL, "which operator it was"),
    ("topups.attempts", ALL, "how often the service called the provider"),
    ("topups.order_at", ALL, "when the service calls the provider again"),
    ("topups.suspense_operation", ALL, "the money of somebody who was erased, who takes nothing out"),
    ("topups.suspense_at", ALL, "the money of somebody who was erased, who takes nothing out"),
    ("topups.settled_operation", ALL, "the money of somebody who was erased, who takes nothing out"),
    ("topups.settled_at", ALL, "the money of somebody who was erased, who takes nothing out"),
    ("topups.settled_by", ALL, "the money of somebody who was erased, who takes nothing out"),
    ("topups.settled_reason", ALL, "the money of somebody who was erased, who takes nothing out"),
    ("operations.actor_user_id", "actor_user_id <> {id}", "which operator it was"),
    ("operations.receipt", ALL, "shown as the profile and the reference"),
    ("operations.posting_rules", ALL, "by which rules the service booked it"),
    ("operations.position", ALL, "its number in the order of all operations"),
    ("operations.owner_id", ALL, "the account of what it made, which is shown"),
    ("operations.dj_id", ALL, "the DJ of the request, which is shown"),
    ("idempotency_keys.scope", ALL, "a check sum"),
    ("idempotency_keys.fingerprint", ALL, "a check sum"),
    ("idempotency_keys.operation_id", ALL, "a number of the service for what the call made"),
    ("idempotency_keys.at", ALL, "when the call made what is shown with its own time"),
    ("ledger_entries.operation_id", ALL, "a number of the service for what moved the money"),
    ("ledger_entries.held_change", ALL, "the difference of what was held"),
    ("ledger_entries.owed_change", ALL, "the difference of what was owed"),
    ("ledger_entries.previous", ALL, "a check sum"),
    ("ledger_entries.hash", ALL, "a check sum"),
    ("postings.id", ALL, "a number of the service's own side of a change"),
    ("postings.operation_id", ALL, "a number of the service's own side of a change"),
    ("postings.account", ALL, "an account of the service"),
    ("postings.amount", ALL, "what the service's own account has of it"),
    ("postings.at", ALL, "when the wallet changed, too"),
    ("refresh_tokens.hash", ALL, "a secret"),
    ("refresh_tokens.issued_at", ALL, "the session shows the last one"),
    ("refresh_tokens.expires_at", ALL, "the session shows the last one"),
    ("refresh_tokens.used_at", ALL, "the session shows the last one"),
    ("login_networks.id", ALL, "a number of the service"),
    ("ledger_entries.kind", ALL, "a kind may have another name outside: refund_taken"),
    ("challenges.id", ALL, "a number of the service"),
    ("challenges.hash", ALL, "a secret"),
    ("challenges.target", ALL, "the folded address; the export has it as it was written"),
    ("security_events.actor_id", BY_OTHERS, "which operator it was"),
    ("security_events.session_id", BY_OTHERS, "where the operator was logged in"),
    ("security_events.address", BY_OTHERS, "from where the operator called"),
    ("security_events.agent", BY_OTHERS, "with what the operator called"),
    ("provider_messages.resolved_by", ALL, "which operator it was"),
    ("webhook_endpoints.secrets", ALL, "a secret"),
    ("webhook_endpoints.url_session_id", ALL, "the security event of the change names the session"),
    ("webhook_endpoints.creation_key", ALL, "a check sum of the idempotency key"),
    ("webhook_endpoints.creation_body", ALL, "a check sum of the settings"),
    ("webhook_endpoints.lease", ALL, "which server delivers"),
    ("webhook_endpoints.leased_until", ALL, "which server delivers"),
    ("webhook_endpoints.attempts", ALL, "the number of attempts"),
    ("webhook_deliveries.endpoint_id", ALL, "they repeat events, which are exported with their objects"),
    ("webhook_deliveries.position", ALL, "they repeat events, which are exported with their objects"),
    ("webhook_deliveries.attempts", ALL, "they repeat events, which are exported with their objects"),
    ("webhook_deliveries.next_at", ALL, "they repeat events, which are exported with their objects"),
    ("webhook_deliveries.failed_at", ALL, "they repeat events, which are exported with their objects"),
    ("webhook_attempts.endpoint_id", ALL, "they repeat events, which are exported with their objects"),
    ("webhook_attempts.number", ALL, "they repeat events, which are exported with their objects"),
    ("webhook_attempts.position", ALL, "they repeat events, which are exported with their objects"),
    ("webhook_attempts.event_type", ALL, "they repeat events, which are exported with their objects"),
    ("webhook_attempts.attempt", ALL, "they repeat events, which are exported with their objects"),
    ("webhook_attempts.status", ALL, "they repeat events, which are exported with their objects"),
    ("webhook_attempts.error", ALL, "they repeat events, which are exported with their objects"),
    ("webhook_attempts.milliseconds", ALL, "they repeat events, which are exported with their objects"),
    ("webhook_attempts.answer", ALL, "they repeat events, which are exported with their objects"),
    ("webhook_attempts.at", ALL, "they repeat events, which are exported with their objects"),
];

/// Accounts, one of which has rows in every table, with a value in every nullable column.
struct Life {
    dj: Person,
    others: [Person; 2],
    operators: [Person; 2],
}

fn life(server: &Server, operators: [Person; 2]) -> Life {
    let [operator, second] = &operators;
    let (dj, other, guest) = (server.dj_at("5.25", "10.75"), server.dj(), server.payer("50"));
    let profile = json!({
        "name": "Zenobia", "phone": "+49301234567", "city": "Palmyra", "state": "Homs", "country": "Syria",
        "latitude": 34.5501, "longitude": 38.2701, "radius": 17.5
    });
    dj.patch("/user/personal-info", &json!({"city": "Emesa"})).data(200);
    dj.call("PATCH", "/user/personal-info").json(&profile).key("k").send().data(200);
    dj.topup("73.21");
    let made = dj.ask(&other);
    for status in ["played", "refunded"] {
        let received = guest.post("/music/requests", &song(dj.id)).data(201)["id"].as_i64().unwrap();
        dj.answer(received, "played").data(200);
        if status == "refunded" {
            let path = format!("/operator/music/requests/{received}/refund");
            operator.post(&path, &json!({"reason": "the song was cut short"})).data(200);
        }
    }
    other.answer(made, "accepted").data(200);
    let withdrawal = dj.withdrawal("11.37");
    let path = format!("/operator/withdrawals/{withdrawal}");
    second.post(&format!("{path}/approve"), &json!({"reason": "checked as well"})).data(200);
    for act in ["approve", "process", "broadcast", "complete"] {
        let body = json!({"reason": format!("we {act} it"), "txid": "f00dfeed"});
        operator.post(&format!("{path}/{act}"), &body).data(200);
    }
    let correction = json!({"user_id": dj.id, "amount": 3.33, "reason": "a song was charged twice"});
    operator.post("/operator/adjustments", &correction).data(201);
    dj.call("PUT", &format!("/music/dj/blocks/{}", guest.id)).send().data(200);
    other.call("PUT", &format!("/music/dj/blocks/{}", dj.id)).send().data(200);
    for address in ["email", "email", "phone"] {
        dj.call("POST", &format!("/auth/{address}/code")).send().data(200);
    }
    for act in ["suspend", "restore"] {
        let path = format!("/operator/users/{}/{act}", dj.id);
        operator.post(&path, &json!({"reason": format!("as a test: {act}")})).data(200);
    }
    let dj = server.client().login(&dj.email);
    let refreshed =
        server.client().post("/auth/refresh", &json!({"refresh_token": dj.refresh_token})).data(200);
    let dj = Person::signed_in(&server.client(), &refreshed);
    let wrong = json!({"email": dj.email, "password": "not the password"});
    server.client().post("/auth/login", &wrong).refused(401, "invalid_credentials");
    Life { dj, others: [other, guest], operators }
}

/// Writes data that calls cannot produce, or only with a provider.
fn more(database: &Database, id: i64, operator: i64) {
    let now = database.sql("now()", "unixepoch() * 1000000");
    let bytes = database.sql("decode(repeat('01', 32), 'hex')", "zeroblob(32)");
    let restored = database.sql("decode(repeat('77', 32), 'hex')", "randomblob(32)");
    let statements = format!(
        "UPDATE users SET rating_stars = 13, rating_count = 4, played = 17, login_changed_at = {now} WHERE id = {id}; \
         UPDATE topups SET payment_url = 'https://pay.example/x' WHERE user_id = {id}; \
         INSERT INTO security_events (kind, user_id, detail, at) VALUES ('code_refused', {id}, 'a detail', {now}); \
         INSERT INTO provider_messages (source, webhook_id, kind, reason_code, reference, stated_id, row_id, amount, \
             currency, txid, received_at, resolved_at, resolved_by, resolution) \
         SELECT 'topups', 'msg_77', 'topup.failed', 'status_contradiction', 'ref-77', 770077, id, '73.22', 'EUR', \
             'tx77', {now}, {now}, {operator}, 'found out' FROM topups WHERE user_id = {id}; \
         INSERT INTO webhook_endpoints (owner_id, feed, url, types, description, state, disabled_at, disabled_reason, \
             secrets, cursor, replay_after, replay_until, failing_since, created_at, url_session_id, creation_key, \
             creation_body) \
         VALUES ({id}, 'own', 'https://hook.example/77', 'topup.created', 'a note', 'disabled', {now}, 'gone', \
             'sealed', 76, 74, 75, {now}, {now}, 770079, {bytes}, {bytes}); \
         INSERT INTO challenges (user_id, purpose, target, address, hash, issued_at, attempts) \
         VALUES ({id}, 'email_restore', 'zenobia@example.org', 'Zenobia@example.org', {restored}, {now}, 0)"
    );
    database.execute(&statements);
}

/// A condition for the rows of an account, in the SQL of a database.
fn condition(database: &Database, text: &str, id: &str) -> String {
    let mut parts = text.split('[');
    let mut condition = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (field, rest) = part.split_once(']').unwrap();
        let json = format!("receipt #>> '{{{}}}'", field.replace('.', ","));
        let text = format!("CAST(json_extract(receipt, '$.{field}') AS TEXT)");
        condition.push_str(database.sql(&json, &text));
        condition.push_str(rest);
    }
    condition.replace("{id}", id)
}

/// Every string, number and boolean of a document, as text.
fn scalars(value: &Value, into: &mut BTreeSet<String>) {
    match value {
        Value::Null => {}
        Value::Bool(truth) => drop(into.insert(truth.to_string())),
        Value::Number(number) => {
            let text = number.to_string();
            into.insert(text.strip_suffix(".0").map_or(text.clone(), str::to_owned));
        }
        Value::String(text) => drop(into.insert(text.clone())),
        Value::Array(values) => values.iter().for_each(|value| scalars(value, into)),
        Value::Object(values) => values.values().for_each(|value| scalars(value, into)),
    }
}

/// The columns of every table, each as table, column and type of PostgreSQL. The columns of SQLite have the
/// same names, and types that say less.
fn columns(database: &Database) -> Vec<[String; 3]> {
    let types = match database.store() {
        Store::Postgres => None,
        _ => Some(Database::postgres()),
    };
    let kinds = "SELECT table_name, column_name, data_type FROM information_schema.columns \
        WHERE table_schema = 'public' ORDER BY table_name, ordinal_position";
    let text =
        |row: Vec<Option<String>>| <[String; 3]>::try_from(row.into_iter().flatten().collect::<Vec<_>>());
    let kinds = types.as_ref().unwrap_or(database).rows(kinds).into_iter().map(|row| text(row).unwrap());
    let kinds: Vec<[String; 3]> = kinds.collect();
    if types.is_none() {
        return kinds;
    }
    let own = "SELECT tables.name, columns.name, columns.type FROM sqlite_schema AS tables, \
        pragma_table_info(tables.name) AS columns \
        WHERE tables.type = 'table' AND tables.name NOT LIKE 'sqlite_%' ORDER BY 1, columns.cid";
    let known = |[table, column, kind]: [String; 3]| {
        let same = kinds.iter().find(|known| known[0] == table && known[1] == column);
        [table, column, same.map_or(kind, |known| known[2].clone())]
    };
    database.rows(own).into_iter().map(|row| known(text(row).unwrap())).collect()
}

/// The values of a column in these rows, in the format of an export.
fn values(database: &Database, table: &str, column: &str, kind: &str, rows: &str) -> BTreeSet<String> {
    let postgres = match kind {
        "timestamp with time zone" => {
            format!(r#"to_char({column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')"#)
        }
        "numeric" => format!("trim_scale({column})::text"),
        "bytea" => format!("encode({column}, 'hex')"),
        _ => format!("{column}::text"),
    };
    let sqlite = match kind {
        "timestamp with time zone" => format!(
            "strftime('%Y-%m-%dT%H:%M:%S', {column} / 1000000, 'unixepoch') || format('.%06dZ', {column} % 1000000)"
        ),
        "bytea" | "uuid" => format!("lower(hex({column}))"),
        "boolean" => format!("iif({column}, 'true', 'false')"),
        _ => column.to_owned(),
    };
    let shown = database.sql(&postgres, &sqlite);
    let statement = format!("SELECT DISTINCT {shown} FROM {table} WHERE ({rows}) AND {column} IS NOT NULL");
    let values = database.rows(&statement).into_iter().flatten().flatten();
    let exported = |value: String| match (column, kind, value.as_str()) {
        // Exported as a number.
        ("online", _, "true") => "1".to_owned(),
        ("online", _, "false") => "0".to_owned(),
        (_, "numeric", cents) if database.store() == Store::Sqlite => decimal(cents),
        (_, "uuid", digits) if database.store() == Store::Sqlite => {
            let part = |range: std::ops::Range<usize>| &digits[range];
            [part(0..8), part(8..12), part(12..16), part(16..20), part(20..32)].join("-")
        }
        _ => value,
    };
    values.map(exported).collect()
}

/// Cents as a decimal number, without zeros at its end.
fn decimal(cents: &str) -> String {
    let (sign, digits) = cents.strip_prefix('-').map_or(("", cents), |digits| ("-", digits));
    let digits = format!("{digits:0>3}");
    let (whole, rest) = digits.split_at(digits.len() - 2);
    format!("{sign}{whole}.{rest}").trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Values that the export omits without a line in `LEFT_OUT`, and lines in `LEFT_OUT` without effect.
fn unexplained_columns(database: &Database, id: &str, exported: &BTreeSet<String>) -> Vec<String> {
    let mut named: BTreeSet<&str> = LEFT_OUT.iter().map(|(column, ..)| *column).collect();
    let mut unexplained = Vec::new();
    for [table, column, kind] in columns(database) {
        if MENTION_NOBODY.iter().any(|(nobody, _)| *nobody == table) {
            continue;
        }
        let Some(Table { own, .. }) = TABLES.iter().find(|known| known.name == table) else {
            panic!("{table} is new: does it mention people?");
        };
        let name = format!("{table}.{column}");
        named.remove(name.as_str());
        let left_out =
            LEFT_OUT.iter().find(|(left_out, ..)| *left_out == name).map_or("false", |(_, rows, _)| rows);
        let rows = condition(database, &format!("({own}) AND ({left_out}) IS NOT TRUE"), id);
        let values = values(database, &table, &column, &kind, &rows);
        if values.is_empty() && left_out != ALL {
            unexplained.push(format!("{name}: the test gives it no value"));
        }
        unexplained.extend(values.difference(exported).map(|value| format!("{name}: {value}")));
    }
    unexplained.extend(named.into_iter().map(|column| format!("{column}: it is gone")));
    unexplained
}

/// Rows with a text unique to this account that `TABLES` does not cover.
fn unexplained_rows(database: &Database, id: &str, text: &str) -> Vec<String> {
    let mut tables: Vec<String> = columns(database).into_iter().map(|[table, ..]| table).collect();
    tables.dedup();
    let rows = tables.into_iter().flat_map(|name| {
        let table = TABLES.iter().find(|table| table.name == name);
        let known = table.into_iter().flat_map(|table| {
            table.named.iter().map(|(rows, _)| *rows).chain([table.own]).map(|rows| format!("({rows})"))
        });
        let known: Vec<String> = known.chain(["false".to_owned()]).collect();
        let known = condition(database, &known.join(" OR "), id);
        let (row, contains) = database.row_and_contains(&name, text);
        let unknown = format!("SELECT {row} FROM {name} WHERE {contains} AND ({known}) IS NOT TRUE");
        database.rows(&unknown).into_iter().flatten().flatten().map(move |row| format!("{name}: {row}"))
    });
    rows.collect()
}

fn every_column_about_a_user_is_exported_or_deliberately_excluded(store: Store) {
    let database = Arc::new(Database::of(store));
    // The first start creates the database.
    drop(Server::on(&database, &[]));
    // No other value looks like an account id.
    database.execute(database.sql(
        "SELECT setval('user_ids', 770077000000)",
        "UPDATE ids SET next = 770077000000 WHERE kind = 'users'",
    ));
    let operator = operator_keys("zabdas@example.com");
    let server =
        Server::on(&database, &[&operator[..], &[("withdrawals.second_approval_above", "1")]].concat());
    let operator = server.client().login("zabdas@example.com");
    let second = operator.employ(&server);
    let Life { dj, others, operators } = life(&server, [operator, second]);
    more(&database, dj.id, operators[0].id);
    let document = dj.get("/user/export").data(200);

    let mut exported = BTreeSet::new();
    scalars(&document, &mut exported);
    let unexplained = unexplained_columns(&database, &dj.id.to_string(), &exported);
    assert_eq!(unexplained, [""; 0], "neither exported nor left out for a reason, of {document}");
    for person in [&dj, &operators[0], &operators[1]] {
        let id = person.id.to_string();
        for text in [&id, &person.email] {
            assert_eq!(unexplained_rows(&database, &id, text), [""; 0], "rows that mention a person");
        }
    }

    let profiles = document["operations"].as_array().unwrap().iter().map(|note| &note["profile"]["city"]);
    assert!(profiles.clone().any(|city| city == "Emesa") && profiles.clone().any(|city| city == "Palmyra"));
    let mut reasons = document["wallet_entries"].as_array().unwrap().iter().map(|entry| &entry["reason"]);
    assert!(reasons.any(|reason| reason == "the song was cut short"), "{document}");
    // It contains no more than the ids of other accounts, and not even those of operators.
    let document = document.to_string();
    let operators = operators.iter().flat_map(|operator| [operator.id.to_string(), operator.email.clone()]);
    let others = others.iter().map(|other| other.email.clone());
    for secret in ["argon2", PASSWORD].map(str::to_owned).into_iter().chain(operators).chain(others) {
        assert!(!document.contains(&secret), "{secret}: {document}");
    }
}
