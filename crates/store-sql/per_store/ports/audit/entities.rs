//! Every request, withdrawal, top-up, tip and adjustment with its trace: its entries, postings and operations.

use std::collections::HashMap;

use cuepoint_domain::audit::Trace;
use cuepoint_domain::gig::Gig;
use cuepoint_domain::operation::Entity;
use cuepoint_domain::tip::Tip;
use cuepoint_store_sql::Rowed;
use cuepoint_store_sql::rows::{
    StoredEntry, StoredGig, StoredOperation, StoredPosting, StoredRequest, StoredTip, StoredTopup,
    StoredWithdrawal,
};
use cuepoint_store_sql::schema::{
    gigs, ledger_entries, music_requests, operations, postings, tips, topups, withdrawals,
};
use cuepoint_store_sql::sql_types::ColumnId;
use cuepoint_store_sql::table::Numbered;
use diesel::prelude::*;
use uuid::Uuid;

use super::{End, Showing, after, patiently, read, readable};
use crate::dialect::{RunQueryDsl, is_adjustment};

/// The maximum number of entities in memory.
const ENTITIES: i64 = 400;

/// Presents the entities of one table by id.
macro_rules! show_table {
    ($showing:expr, $table:ident, $row:ident, $name:literal, $entity:expr) => {{
        let (mut last, mut size) = (i64::MIN, ENTITIES);
        loop {
            let query = $table::table.filter($table::id.gt(last)).order($table::id).limit(size);
            let query = query.select($row::as_select());
            let loaded = patiently(async { Ok(query.load::<$row>($showing.connection).await?) }).await;
            let row = || after($name, last);
            let Some(rows) = readable(loaded, &mut size, row)? else { continue };
            let Some(newest) = rows.last() else { break };
            last = newest.id;
            let mut entities = Vec::with_capacity(rows.len());
            for row in rows {
                let name = format!(concat!($name, " {}"), row.id);
                entities.push(read(name, $entity(row, $showing.currency))?);
            }
            $showing.traced(entities).await?;
        }
    }};
}

impl Showing<'_> {
    /// Presents the entities of each kind by id.
    pub(super) async fn entities(&mut self) -> Result<(), End> {
        show_table!(self, music_requests, StoredRequest, "music request", |row: StoredRequest, currency| row
            .request(currency)
            .map(Entity::MusicRequest));
        show_table!(self, withdrawals, StoredWithdrawal, "withdrawal", |row: StoredWithdrawal, currency| row
            .withdrawal(currency)
            .map(Entity::Withdrawal));
        show_table!(self, topups, StoredTopup, "top-up", |row: StoredTopup, currency| row
            .topup(currency)
            .map(Entity::Topup));
        show_table!(self, tips, StoredTip, "tip", |row, currency| Tip::of_row(row, currency)
            .map(Entity::Tip));
        self.adjustments().await?;
        self.gigs().await
    }

    /// Presents the gigs with open requests.
    async fn gigs(&mut self) -> Result<(), End> {
        let ids = self.auditor.gigs_with_open_requests();
        for ids in ids.chunks(usize::try_from(ENTITIES).unwrap_or(1)) {
            let ids: Vec<i64> = ids.iter().map(|id| id.get()).collect();
            let query = gigs::table.filter(gigs::id.eq_any(&ids)).select(StoredGig::as_select());
            let rows = patiently(async { Ok(query.load::<StoredGig>(self.connection).await?) }).await?;
            for row in rows {
                let name = format!("gig {}", row.id);
                self.auditor.gig(&read(name, Gig::of_row(row, self.currency))?);
            }
        }
        Ok(())
    }

    /// Presents the adjustments recorded by operations, by the operation's id.
    async fn adjustments(&mut self) -> Result<(), End> {
        let (mut last, mut size) = (Uuid::nil(), ENTITIES);
        loop {
            let query = operations::table
                .filter(is_adjustment().and(operations::id.gt(ColumnId(last))))
                .order(operations::id)
                .limit(size)
                .select(StoredOperation::as_select());
            let loaded = patiently(async { Ok(query.load::<StoredOperation>(self.connection).await?) }).await;
            let row = || format!("the first adjustment after operation {}", last.simple());
            let Some(rows) = readable(loaded, &mut size, row)? else { continue };
            let Some(newest) = rows.last() else { return Ok(()) };
            last = newest.id;
            let mut entities = Vec::with_capacity(rows.len());
            for row in rows {
                let name = format!("operation {}", row.id.simple());
                match read(&name, row.receipt(self.currency))?.outcome.entity {
                    Entity::Adjustment(adjustment) => entities.push(Entity::Adjustment(adjustment)),
                    _ => return Err(End::Unreadable(format!("{name} adjusts, but recorded no adjustment"))),
                }
            }
            self.traced(entities).await?;
        }
    }

    /// Presents entities of one kind with their traces.
    async fn traced(&mut self, entities: Vec<Entity>) -> Result<(), End> {
        self.ensure_wanted()?;
        let mut traces = self.traces(&entities).await?;
        for entity in entities {
            let trace = traces.remove(&entity.reference().id()).unwrap_or_default();
            self.auditor.entity(&entity, &trace);
        }
        Ok(())
    }

    /// The traces of entities of one kind, by id.
    async fn traces(&mut self, entities: &[Entity]) -> Result<HashMap<i64, Trace>, End> {
        let Some(kind) = entities.first().map(|entity| entity.reference().kind_name()) else {
            return Ok(HashMap::new());
        };
        let mut traces: HashMap<i64, Trace> = HashMap::new();
        let mut about: HashMap<Uuid, i64> = HashMap::new();
        let ids: Vec<i64> = entities.iter().map(|entity| entity.reference().id()).collect();
        let query = ledger_entries::table
            .filter(ledger_entries::reference_kind.eq(kind).and(ledger_entries::reference_id.eq_any(&ids)))
            .select(StoredEntry::as_select());
        let rows = patiently(async { Ok(query.load::<StoredEntry>(self.connection).await?) }).await?;
        for row in rows {
            about.insert(row.operation_id, row.reference_id);
            let (id, name) = (row.reference_id, format!("entry {} of wallet {}", row.seq, row.wallet_id));
            traces.entry(id).or_default().entries.push(read(name, row.entry(self.currency))?);
        }
        for entity in entities {
            let outside = entity.operations_without_entries().map(|operation| Uuid::from_u128(operation.0));
            about.extend(outside.map(|operation| (operation, entity.reference().id())));
        }
        let named: Vec<ColumnId> = about.keys().map(ColumnId::from).collect();
        let query = postings::table
            .filter(postings::operation_id.eq_any(&named))
            .select(Numbered::<StoredPosting>::as_select());
        let rows =
            patiently(async { Ok(query.load::<Numbered<StoredPosting>>(self.connection).await?) }).await?;
        for row in rows {
            let posting = read(format!("posting {}", row.id), row.posting(self.currency))?;
            let id = about.get(&Uuid::from_u128(posting.operation.0)).copied().unwrap_or_default();
            traces.entry(id).or_default().postings.push(posting);
        }
        let query =
            operations::table.filter(operations::id.eq_any(&named)).select(StoredOperation::as_select());
        let mut single = 1;
        let loaded = patiently(async { Ok(query.load::<StoredOperation>(self.connection).await?) }).await;
        let number = |entity: Option<&Entity>| entity.map_or(0, |entity| entity.reference().id());
        let row =
            || format!("an operation on {kind} {} to {}", number(entities.first()), number(entities.last()));
        for row in readable(loaded, &mut single, row)?.unwrap_or_default() {
            let id = about.get(&row.id).copied().unwrap_or_default();
            let name = format!("operation {}", row.id.simple());
            traces.entry(id).or_default().receipts.push(read(name, row.receipt(self.currency))?);
        }
        if matches!(entities.first(), Some(Entity::Withdrawal(_))) {
            self.moves(ids, &mut traces).await?;
        }
        Ok(traces)
    }
}
