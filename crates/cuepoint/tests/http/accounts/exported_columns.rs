//! An export contains all data that the database stores about a user: every column of every row that
//! mentions the user, except columns with a declared reason for their omission.

use std::collections::BTreeSet;
use std::sync::Arc;

use cuepoint_store_sql::schema::TABLES;
use cuepoint_store_sql::table::{Mentions, Omission, Table};
use serde_json::{Value, json};

use crate::harness::{Database, PASSWORD, Person, Server, Store, operator_keys, song};

on_durable_stores!(every_user_column_is_exported_or_explicitly_excluded);

/// Tables that are not in every store, with their contents. They mention no user.
const OF_SOME_STORES: &[(&str, &str)] = &[
    ("__diesel_schema_migrations", "which migrations were applied"),
    ("deployment", "what all servers of the deployment share"),
    ("ids", "the next ids of rows"),
];

/// The declaration of a table; `None` for one that is not in every store. A new column requires a value in `life` or
/// `more`, or a reason for its omission in its declaration.
fn declaration(name: &str) -> Option<&'static Table> {
    let declared = TABLES.iter().find(|table| table.name == name);
    let is_known = declared.is_some() || OF_SOME_STORES.iter().any(|(known, _)| *known == name);
    assert!(is_known, "{name} is new: does it mention people?");
    declared
}

/// Users: the DJ has rows in every table, with a value in every nullable column.
struct Users {
    dj: Person,
    others: [Person; 2],
    operators: [Person; 2],
}

/// Creates the users through the API.
fn users_with_every_row(server: &Server, operators: [Person; 2]) -> Users {
    let [operator, second] = &operators;
    let (dj, other, guest) = (server.dj_at("5.25", "10.75"), server.dj(), server.payer("50"));
    let profile = json!({
        "name": "Zenobia", "phone": "+49301234567", "city": "Palmyra", "state": "Homs", "country": "Syria",
        "latitude": 34.5501, "longitude": 38.2701, "radius": 17.5
    });
    dj.patch("/user/personal-info", &json!({"city": "Emesa"})).data(200);
    dj.call("PATCH", "/user/personal-info").json(&profile).key("k").send().data(200);
    dj.topup("73.21");
    let made = dj.request_song(&other);
    for status in ["played", "refunded"] {
        let received = guest.post("/music/requests", &song(dj.id)).data(201)["id"].as_i64().unwrap();
        dj.answer(received, "played").data(200);
        if status == "refunded" {
            let path = format!("/operator/music/requests/{received}/refund");
            operator.post(&path, &json!({"reason": "the song was cut short"})).data(200);
        }
    }
    other.answer(made, "accepted").data(200);
    let rated = dj.request_song(&other);
    other.answer(rated, "played").data(200);
    dj.post(&format!("/music/requests/{rated}/rating"), &json!({"stars": 4})).data(200);
    let details = json!({
        "title": "Zenobia's night", "venue": "Temple of Bel", "city": "Palmyra", "latitude": 34.5477, "longitude": 38.2741,
        "message": "No slow songs", "max_open_per_guest": 77, "fee_popular_song": 10.75
    });
    let gig = dj.post("/gigs", &details).data(201)["gig"]["id"].clone();
    dj.post(&format!("/gigs/{gig}/end"), &json!({})).data(200);
    let code = dj.get(&format!("/gigs/{gig}")).data(200)["gig"]["code"].as_str().unwrap().to_owned();
    guest.post(&format!("/boards/{code}/tips"), &json!({"amount": 4.44})).data(201);
    dj.patch("/user/personal-info", &json!({"online": 1})).data(200);
    let gig = other.gig();
    let mut dedicated = song(other.id);
    dedicated["message"] = json!("for Odaenathus");
    dj.post("/music/requests", &dedicated).data(201);
    other.post(&format!("/gigs/{gig}/end"), &json!({})).data(200);
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
    let token = json!({"name": "Palmyra's display", "scopes": ["gigs:read"], "password": PASSWORD});
    dj.post("/auth/tokens", &token).data(201);
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
    Users { dj, others: [other, guest], operators }
}

/// Writes the rows that no API call creates without a provider.
fn insert_other_rows(database: &Database, id: i64, operator: i64) {
    let now = database.sql("now()", "unixepoch() * 1000000");
    let bytes = database.sql("decode(repeat('01', 32), 'hex')", "zeroblob(32)");
    let restored = database.sql("decode(repeat('77', 32), 'hex')", "randomblob(32)");
    let statements = format!(
        "UPDATE users SET rating_stars = 13, rating_count = 4, played = 17, login_changed_at = {now} WHERE id = {id}; \
         UPDATE topups SET payment_url = 'https://pay.example/x', page_code = 'Z7TW3M' WHERE user_id = {id}; \
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

/// A condition for the rows of a user, in the SQL of a database.
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

/// Values that the export omits without a declared reason, and declared omissions without effect.
fn unexplained_columns(database: &Database, id: &str, exported: &BTreeSet<String>) -> Vec<String> {
    let omitted = TABLES.iter().flat_map(|table| {
        let omitted = table.columns.iter().filter(|column| column.omission.is_some());
        omitted.map(|column| format!("{}.{}", table.name, column.name))
    });
    let mut omitted: BTreeSet<String> = omitted.collect();
    let mut unexplained = Vec::new();
    for [table, column, kind] in columns(database) {
        let Some(Table { columns, mentions: Mentions::Users { own, .. }, .. }) = declaration(&table) else {
            continue;
        };
        let name = format!("{table}.{column}");
        omitted.remove(&name);
        let omission = columns.iter().find(|declared| declared.name == column).and_then(|one| one.omission);
        let left_out = omission.map_or("false", |omission| omission.rows);
        let rows = condition(database, &format!("({own}) AND ({left_out}) IS NOT TRUE"), id);
        let values = values(database, &table, &column, &kind, &rows);
        if values.is_empty() && left_out != Omission::ALL {
            unexplained.push(format!("{name}: the test gives it no value"));
        }
        unexplained.extend(values.difference(exported).map(|value| format!("{name}: {value}")));
    }
    unexplained.extend(omitted.into_iter().map(|column| format!("{column}: it is gone")));
    unexplained
}

/// Rows with a text unique to this user that no declaration covers.
fn unexplained_rows(database: &Database, id: &str, text: &str) -> Vec<String> {
    let mut tables: Vec<String> = columns(database).into_iter().map(|[table, ..]| table).collect();
    tables.dedup();
    let rows = tables.into_iter().flat_map(|name| {
        let known = match declaration(&name).map(|table| table.mentions) {
            Some(Mentions::Users { own, omitted }) => {
                omitted.iter().map(|(rows, _)| *rows).chain([own]).map(|rows| format!("({rows})")).collect()
            }
            Some(Mentions::Nobody(_)) | None => Vec::new(),
        };
        let known: Vec<String> = known.into_iter().chain(["false".to_owned()]).collect();
        let known = condition(database, &known.join(" OR "), id);
        let (row, contains) = database.row_and_contains(&name, text);
        let unknown = format!("SELECT {row} FROM {name} WHERE {contains} AND ({known}) IS NOT TRUE");
        database.rows(&unknown).into_iter().flatten().flatten().map(move |row| format!("{name}: {row}"))
    });
    rows.collect()
}

/// Attack API3: reading secrets in an export.
fn every_user_column_is_exported_or_explicitly_excluded(store: Store) {
    let database = Arc::new(Database::of(store));
    // The first start creates the database.
    drop(Server::on(&database, &[]));
    // No other value looks like a user id.
    database.execute(database.sql(
        "SELECT setval('user_ids', 770077000000)",
        "UPDATE ids SET next = 770077000000 WHERE kind = 'users'",
    ));
    let operator = operator_keys("zabdas@example.com");
    let server =
        Server::on(&database, &[&operator[..], &[("withdrawals.second_approval_above", "1")]].concat());
    let operator = server.client().login("zabdas@example.com");
    let second = operator.new_operator(&server);
    let Users { dj, others, operators } = users_with_every_row(&server, [operator, second]);
    insert_other_rows(&database, dj.id, operators[0].id);
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
    // It contains no more than the ids of other users, and no ids of operators.
    let document = document.to_string();
    let operators = operators.iter().flat_map(|operator| [operator.id.to_string(), operator.email.clone()]);
    let others = others.iter().map(|other| other.email.clone());
    for secret in ["argon2", PASSWORD].map(str::to_owned).into_iter().chain(operators).chain(others) {
        assert!(!document.contains(&secret), "{secret}: {document}");
    }
}
