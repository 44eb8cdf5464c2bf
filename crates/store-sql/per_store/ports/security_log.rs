//! The security log.

use std::iter::once;

use async_trait::async_trait;
use cuepoint_domain::ids::UserId;
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::ports::{SecurityLog, Unavailable};
use cuepoint_domain::security_log::{SecurityEvent, SecurityEventFilter};
use cuepoint_store_sql::rows::StoredSecurityEvent;
use cuepoint_store_sql::schema::security_events::{self, table};
use cuepoint_store_sql::table::Numbered;
use diesel::helper_types::IntoBoxed;
use diesel::prelude::*;

use crate::SqlStore;
use crate::dialect::{Database, RunQueryDsl, columns, insert, page};

fn filtered(filter: SecurityEventFilter) -> IntoBoxed<'static, table, Database> {
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
impl SecurityLog for SqlStore {
    async fn append(&self, event: &SecurityEvent) -> Result<(), Unavailable> {
        let row = StoredSecurityEvent::of(event);
        let added = self.write(row, async |connection, row| Ok(insert(connection, once(row)).await?)).await;
        // Logged here, since the event itself has happened and its request succeeds despite this failure.
        added.inspect_err(|Unavailable(error)| {
            let (kind, user) = (event.kind.name(), event.user.map(UserId::get));
            tracing::error!(%error, kind, user, "an event is missing from the security log");
        })
    }

    async fn events(
        &self,
        filter: SecurityEventFilter,
        asked: PageRequest,
    ) -> Result<Rows<(i64, SecurityEvent)>, Unavailable> {
        self.list(asked, (filter, asked), async |mut connection, (filter, asked)| {
            let columns = columns::<Numbered<StoredSecurityEvent>>();
            page!(
                connection, asked, filtered(filter), security_events::id.desc() => LastIdFirst,
                columns => Numbered<StoredSecurityEvent>, Numbered::<StoredSecurityEvent>::event
            )
        })
        .await
    }
}
