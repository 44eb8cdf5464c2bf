//! The tables refuse rows that no rule allows, from any client.

mod gigs;
mod money;
pub mod rows;
mod users;
mod webhooks;

use crate::SqlFixture;
use crate::dialect::written;

use gigs::GIGS;
use money::MONEY;
use rows::{EVENT, SOUND};
use users::USERS;
use webhooks::WEBHOOKS;

/// A row that violates one rule: the beginning of a statement, the rest of the statement, and the rule. A rule is the
/// name of a constraint. For a unique constraint, a colon and its columns follow, because not every database names it.
pub type Violation = (&'static str, &'static str, &'static str);

/// The rule of append-only tables.
pub const APPEND_ONLY: &str = "append-only";

/// Changes of the row about the deployment, which an open store has.
const DEPLOYMENT: &[Violation] = &[
    ("", "UPDATE deployment SET currency = 'usd'", "deployment_currency_check"),
    ("", "UPDATE deployment SET scale = 9", "deployment_scale_check"),
    (
        "",
        "UPDATE deployment SET copy_state = 'x', copy_id = {new id}, copy_target = 'x'",
        "deployment_copy_state_check",
    ),
    (
        "",
        "UPDATE deployment SET copy_state = 'moved', copy_id = {new id}, copy_target = ''",
        "deployment_copy_target_check",
    ),
    ("", "UPDATE deployment SET copy_state = 'moving', copy_id = {new id}", "deployment_copy_is_identified"),
    ("", "UPDATE deployment SET copy_state = 'moving', copy_target = 'x'", "deployment_copy_is_identified"),
    ("", "UPDATE deployment SET copy_target = 'x'", "deployment_copy_is_identified"),
    ("", "INSERT INTO deployment SELECT * FROM deployment", "deployment_pkey: deployment.singleton"),
];

/// Changes of append-only rows.
const CHANGES: &[Violation] = &[
    ("", "UPDATE ledger_entries SET available_change = 11", APPEND_ONLY),
    ("", "DELETE FROM ledger_entries", APPEND_ONLY),
    ("", "UPDATE postings SET amount = 11", APPEND_ONLY),
    ("", "DELETE FROM postings", APPEND_ONLY),
    ("", "UPDATE security_events SET detail = NULL", APPEND_ONLY),
    ("", "DELETE FROM security_events", APPEND_ONLY),
    ("", "UPDATE provider_messages SET resolution = 'r' WHERE resolved_at IS NOT NULL", APPEND_ONLY),
    ("", "DELETE FROM provider_messages", APPEND_ONLY),
];

/// The constraints of the tables, each by a row that violates it.
pub async fn every_table_refuses_invalid_rows(database: &dyn SqlFixture) {
    for (before, row) in SOUND {
        database.execute(&format!("{before}{row}")).await;
    }
    for (before, row, rule) in
        [USERS, GIGS, MONEY, WEBHOOKS, DEPLOYMENT, CHANGES, database.own_violations()].concat()
    {
        let template = format!("{before}{row}");
        let refusal = database.try_execute(&written(&template, database.dialect())).await;
        let refusal = refusal.expect_err(&template);
        assert!(database.names(&refusal, rule), "{template}: {refusal}, not {rule}");
    }
    database
        .execute(&format!("{EVENT} ('logged_in', 2, 1, NULL, NULL, {{now}} - {{interval 366 day}})"))
        .await;
    database.execute("DELETE FROM security_events WHERE at < {now} - {interval 365 day}").await;
    assert_eq!(
        database.count("SELECT count(*) FROM security_events").await,
        1,
        "older events can be deleted"
    );
}
