//! The tables accept a sum only as the text of an integer of minor units.

use cuepoint_store_sql_tests::dialect::written;
use cuepoint_store_sql_tests::schema::rows::{ENTRY, POSTING, SOUND};
use cuepoint_store_sqlite::testing::TestDirectory;
use diesel::connection::SimpleConnection;

use crate::suite::literal;

/// Forms of a sum other than the canonical integer of minor units.
const UNCANONICAL: &[&str] =
    &["", "-", "-0", "00", "01", "+1", "1.5", "1e3", " 1", "1 ", "1-", "--1", "NaN", "1_0"];

#[test]
fn only_canonical_sums_are_accepted() {
    let directory = TestDirectory::create();
    let mut connection = directory.migrated();
    for (before, row) in SOUND {
        connection.batch_execute(&written(&format!("{before}{row}"), literal)).unwrap();
    }
    let long = "9".repeat(30);
    for text in UNCANONICAL.iter().copied().chain([long.as_str()]) {
        for (sql, constraint) in [
            (format!("UPDATE wallets SET held = '{text}' WHERE user_id = 2"), "wallets_held_check"),
            (format!("UPDATE withdrawals SET amount = '{text}' WHERE id = 1"), "withdrawals_amount_check"),
            (format!("{POSTING} ({{id 1}}, 'outside_topups', '{text}', {{now}})"), "postings_amount_check"),
            (
                format!(
                    "{ENTRY} (2, 2, {{id 2}}, 'topup', 'topup', 1, '{text}', 0, 0, 1, 0, 0, {{now}}, {{link}}, {{link}})"
                ),
                "ledger_entries_available_change_check",
            ),
        ] {
            let sql = written(&sql, literal);
            let error = connection.batch_execute(&sql).expect_err(&sql).to_string();
            assert!(error.contains(constraint), "{sql}: {error}");
        }
    }
    let most = "9".repeat(20);
    for text in ["0", "7", "10", most.as_str()] {
        connection.batch_execute(&format!("UPDATE wallets SET held = '{text}' WHERE user_id = 2")).unwrap();
    }
}
