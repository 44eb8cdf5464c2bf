//! Entries and postings that came with no thing: looked for only where some are known to be there.

use cuepoint_domain::ledger::{EntityKind, PlanKind};
use diesel::dsl::{exists, not};
use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use super::{End, Showing, patiently, read};
use crate::rows::{EntryRow, PostingRow};
use crate::schema::{ledger_entries, music_requests, operations, postings, topups, withdrawals};

impl Showing<'_> {
    /// Shows the first entry and the first posting that belong to nothing.
    pub(super) async fn strays(&mut self) -> Result<(), End> {
        use ledger_entries::{operation_id, reference_id, reference_kind};
        let request = music_requests::table.filter(
            reference_kind.eq(EntityKind::MusicRequest.name()).and(music_requests::id.eq(reference_id)),
        );
        let withdrawal = withdrawals::table
            .filter(reference_kind.eq(EntityKind::Withdrawal.name()).and(withdrawals::id.eq(reference_id)));
        let topup = topups::table
            .filter(reference_kind.eq(EntityKind::Topup.name()).and(topups::id.eq(reference_id)));
        let adjusts = operations::kind.eq(PlanKind::Adjust.name()).and(operations::id.eq(operation_id));
        let adjustment =
            operations::table.filter(reference_kind.eq(EntityKind::Adjustment.name()).and(adjusts));
        let query = ledger_entries::table
            .filter(not(exists(request)).and(not(exists(withdrawal))))
            .filter(not(exists(topup)).and(not(exists(adjustment))))
            .order((ledger_entries::wallet_id, ledger_entries::seq))
            .select(EntryRow::as_select());
        let entry: Option<EntryRow> =
            patiently(async { Ok(query.first(self.connection).await.optional()?) }).await?;
        if let Some(row) = entry {
            self.auditor.stray_entry(&read("a stray entry", row.entry(self.currency))?);
        }
        let entries = ledger_entries::table.filter(operation_id.eq(postings::operation_id));
        let arrived = topups::table.filter(topups::suspense_operation.eq(postings::operation_id.nullable()));
        let settled = topups::table.filter(topups::settled_operation.eq(postings::operation_id.nullable()));
        let query = postings::table
            .filter(not(exists(entries)).and(not(exists(arrived))).and(not(exists(settled))))
            .order(postings::id)
            .select(PostingRow::as_select());
        let posting: Option<PostingRow> =
            patiently(async { Ok(query.first(self.connection).await.optional()?) }).await?;
        if let Some(row) = posting {
            self.auditor.stray_posting(&read("a stray posting", row.posting(self.currency))?);
        }
        Ok(())
    }
}
