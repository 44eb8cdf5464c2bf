//! The security log.

use async_trait::async_trait;
use cuepoint_domain::ids::UserId;
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::ports::{SecurityLog, Unavailable};
use cuepoint_domain::security_log::{EventFilter, SecurityEvent};
use cuepoint_store_sql::rows::StoredEvent;
use cuepoint_store_sql::schema::security_events::{self, table};
use cuepoint_store_sql::table::Numbered;
use diesel::helper_types::IntoBoxed;
use diesel::prelude::*;
use diesel::sqlite::Sqlite;

use super::lists::page;
use crate::SqliteStore;
use crate::statements::Insert;
use crate::writer::Repetition;

fn filtered(filter: EventFilter) -> IntoBoxed<'static, table, Sqlite> {
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
impl SecurityLog for SqliteStore {
    async fn append(&self, event: &SecurityEvent) -> Result<(), Unavailable> {
        let row = StoredEvent::of(event);
        let add = move |connection: &mut SqliteConnection| {
            Insert(&row).execute(connection)?;
            Ok(())
        };
        let added = self.writer.change(Repetition::Once, add).await;
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
        let page = move |connection: &mut SqliteConnection| {
            page!(
                connection,
                asked,
                filtered(filter),
                security_events::id.desc(),
                Numbered<StoredEvent>,
                |row| row.event()
            )
        };
        self.readers.list(asked, page).await
    }
}
