//! The security log.

use std::iter::once;

use async_trait::async_trait;
use cuepoint_domain::ids::UserId;
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::ports::{SecurityLog, Unavailable};
use cuepoint_domain::security_log::{EventFilter, SecurityEvent};
use cuepoint_store_sql::rows::StoredEvent;
use cuepoint_store_sql::schema::security_events::{self, table};
use cuepoint_store_sql::table::Numbered;
use diesel::helper_types::IntoBoxed;
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use crate::PostgresStore;
use crate::reads::{Counted, LastIdFirst, columns, limits, paged};
use crate::writer::Insert;

fn filtered(filter: EventFilter) -> IntoBoxed<'static, table, Pg> {
    let mut query = table.into_boxed();
    if let Some(user) = filter.user {
        query = query.filter(security_events::user_id.eq(user.get()));
    }
    if let Some(kind) = filter.kind {
        query = query.filter(security_events::kind.eq(kind.name()));
    }
    query
}

#[async_trait]
impl SecurityLog for PostgresStore {
    async fn append(&self, event: &SecurityEvent) -> Result<(), Unavailable> {
        let row = StoredEvent::of(event);
        let added = self
            .database
            .write(async |connection| {
                once(row.clone()).collect::<Insert<StoredEvent>>().execute(connection).await?;
                Ok(())
            })
            .await;
        // Logged here, since the event itself has happened and its request succeeds despite this failure.
        added.inspect_err(|error| {
            let (kind, user) = (event.kind.name(), event.user.map(UserId::get));
            tracing::error!(%error, kind, user, "an event is missing from the security log");
        })?;
        Ok(())
    }

    async fn events(
        &self,
        filter: EventFilter,
        asked: PageRequest,
    ) -> Result<Rows<(i64, SecurityEvent)>, Unavailable> {
        let (limit, offset) = limits(asked);
        let counted: Counted<Numbered<StoredEvent>> = self
            .database
            .read(async |connection| {
                let page = filtered(filter)
                    .order(security_events::id.desc())
                    .limit(limit)
                    .offset(offset)
                    .select(columns::<Numbered<StoredEvent>>());
                paged!(connection, filtered(filter).count(), page, LastIdFirst, offset)
            })
            .await?;
        counted.page(Numbered::<StoredEvent>::event).map_err(Unavailable::new)
    }
}
