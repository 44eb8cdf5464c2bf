//! Entries and postings without their entity: searched only if some are known to exist.

use cuepoint_domain::entity_ref::EntityKind;
use cuepoint_domain::operation::PlanKind;
use cuepoint_store_sql::rows::{StoredEntry, StoredPosting};
use cuepoint_store_sql::schema::{ledger_entries, postings};
use cuepoint_store_sql::table::Numbered;
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::Bool;

use super::{End, Showing, read};
use crate::dialect::RunQueryDsl;

/// The condition of a posting of an operation that has no entries and concerns no money in suspense.
const STRAY_POSTING: &str = "NOT EXISTS (SELECT 1 FROM ledger_entries AS entry \
        WHERE entry.operation_id = postings.operation_id) \
    AND NOT EXISTS (SELECT 1 FROM topups WHERE suspense_operation = postings.operation_id) \
    AND NOT EXISTS (SELECT 1 FROM topups WHERE settled_operation = postings.operation_id)";

/// The condition of an entry without its entity.
fn stray_entry() -> String {
    let tables = EntityKind::posted().filter_map(|kind| Some((kind.table()?, kind)));
    let mut conditions: Vec<String> = Vec::new();
    for (table, kind) in tables {
        conditions.push(format!(
            "NOT EXISTS (SELECT 1 FROM {table} AS entity WHERE ledger_entries.reference_kind = '{}' \
             AND entity.id = ledger_entries.reference_id)",
            kind.name()
        ));
    }
    conditions.push(format!(
        "NOT EXISTS (SELECT 1 FROM operations AS operation WHERE ledger_entries.reference_kind = '{}' \
         AND operation.kind = '{}' AND operation.id = ledger_entries.operation_id)",
        EntityKind::Adjustment.name(),
        PlanKind::Adjust.name()
    ));
    conditions.join(" AND ")
}

impl Showing<'_> {
    /// Presents the first entry and the first posting without an entity.
    pub(super) async fn strays(&mut self) -> Result<(), End> {
        let entry: Option<StoredEntry> = ledger_entries::table
            .filter(sql::<Bool>(&stray_entry()))
            .order((ledger_entries::wallet_id, ledger_entries::seq))
            .select(StoredEntry::as_select())
            .first(self.connection)
            .await
            .optional()?;
        if let Some(row) = entry {
            self.auditor.stray_entry(&read("a stray entry", row.entry(self.currency))?);
        }
        let posting: Option<Numbered<StoredPosting>> = postings::table
            .filter(sql::<Bool>(STRAY_POSTING))
            .order(postings::id)
            .select(Numbered::<StoredPosting>::as_select())
            .first(self.connection)
            .await
            .optional()?;
        if let Some(row) = posting {
            self.auditor.stray_posting(&read("a stray posting", row.posting(self.currency))?);
        }
        Ok(())
    }
}
