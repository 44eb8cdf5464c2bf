//! The proof that plans can be committed: a commit under their table locks.

use std::collections::BTreeSet;

use cuepoint_store_sql::LockedTable;

use super::write;

/// Returns a write without rows, under the table locks of the plans' statements: it is logged and replicated
/// like every other, so that its commit proves that plans can be committed.
pub(super) fn statement() -> String {
    let locked: Vec<&str> = LockedTable::in_lock_order().map(LockedTable::name).collect();
    let written = write::TABLES.iter().filter(|table| !locked.contains(table)).collect::<BTreeSet<_>>();
    let tables: Vec<&str> = locked.iter().chain(written).copied().collect();
    format!(
        "LOCK TABLE {} IN ROW EXCLUSIVE MODE; SELECT pg_logical_emit_message(true, 'cuepoint', '')",
        tables.join(", ")
    )
}
