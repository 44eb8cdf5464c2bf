//! The proof that plans can be committed: a commit under their table locks.

use super::write;
use cuepoint_store_sql::LockedTable;

/// Returns a write without rows, under the table locks of the plans' statements: it is logged and replicated
/// like every other, so that its commit proves that plans can be committed.
pub(super) fn statement() -> String {
    let mut tables: Vec<&str> = LockedTable::in_lock_order().map(|table| table.name).collect();
    for table in write::TABLES {
        if !tables.contains(table) {
            tables.push(table);
        }
    }
    format!(
        "LOCK TABLE {} IN ROW EXCLUSIVE MODE; SELECT pg_logical_emit_message(true, 'cuepoint', '')",
        tables.join(", ")
    )
}
