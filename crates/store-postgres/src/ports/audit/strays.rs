//! Entries and postings without their entity: searched only if some are known to exist.

use cuepoint_domain::entity_ref::EntityKind;
use cuepoint_domain::operation::PlanKind;
use cuepoint_store_sql::rows::{StoredEntry, StoredPosting};
use cuepoint_store_sql::table::Numbered;
use diesel::OptionalExtension;
use diesel::sql_types::Text;
use diesel_async::RunQueryDsl;

use super::{End, Showing, patiently, read};
use crate::statement::{Columns, statement};

statement! {
    /// The first entry without an entity.
    StrayEntry("stray_entry.sql") [
        music_request: Text as &'static str,
        withdrawal: Text as &'static str,
        topup: Text as &'static str,
        tip: Text as &'static str,
        adjustment: Text as &'static str,
        adjusts: Text as &'static str,
    ] -> Columns<StoredEntry>
}

statement! {
    /// The first posting without an entity.
    StrayPosting("stray_posting.sql") [] -> Columns<Numbered<StoredPosting>>
}

impl Showing<'_> {
    /// Presents the first entry and the first posting without an entity.
    pub(super) async fn strays(&mut self) -> Result<(), End> {
        let query = StrayEntry {
            music_request: EntityKind::MusicRequest.name(),
            withdrawal: EntityKind::Withdrawal.name(),
            topup: EntityKind::Topup.name(),
            tip: EntityKind::Tip.name(),
            adjustment: EntityKind::Adjustment.name(),
            adjusts: PlanKind::Adjust.name(),
        };
        let entry: Option<StoredEntry> =
            patiently(async { Ok(query.get_result(self.connection).await.optional()?) }).await?;
        if let Some(row) = entry {
            self.auditor.stray_entry(&read("a stray entry", row.entry(self.currency))?);
        }
        let posting: Option<Numbered<StoredPosting>> =
            patiently(async { Ok(StrayPosting {}.get_result(self.connection).await.optional()?) }).await?;
        if let Some(row) = posting {
            self.auditor.stray_posting(&read("a stray posting", row.posting(self.currency))?);
        }
        Ok(())
    }
}
