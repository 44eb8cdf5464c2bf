//! A database that was prepared for servers after a restore.

use std::path::PathBuf;

use async_trait::async_trait;
use cuepoint_domain::audit::Auditor;
use cuepoint_domain::ids::WebhookEndpointId;
use cuepoint_domain::money::Currency;
use cuepoint_domain::ports::{Audit, BackendError, OpenTransfers, PreparedData, Unavailable};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::webhook::{DisabledReason, SealedSecret};
use cuepoint_domain::withdrawal::WithdrawalStatus;
use cuepoint_store_sql::rows::{StoredTopup, StoredWithdrawal, current_secret, known};
use cuepoint_store_sql::schema::{operations, topups, webhook_endpoints, withdrawals};
use diesel::prelude::*;
use diesel_async::{RunQueryDsl, SimpleAsyncConnection};

use crate::connect::connection::Connector;
use crate::{PostgresOptions, PostgresStore};

/// The prepared database, which servers can use from its preparation on.
pub(super) struct PreparedDatabase {
    pub(super) options: PostgresOptions,
    /// The currency of all sums.
    pub(super) currency: Currency,
}

#[async_trait]
impl Audit for PreparedDatabase {
    async fn show(&self, auditor: &mut Auditor) -> Result<(), Unavailable> {
        let options = PostgresOptions { migrate_on_start: false, ..self.options.clone() };
        let opened = PostgresStore::open(options, self.currency.clone()).await;
        let store = opened.map_err(|error| Unavailable::new(format!("{error:#}")))?;
        let shown = store.show(auditor).await;
        store.close().await;
        shown
    }
}

#[async_trait]
impl PreparedData for PreparedDatabase {
    async fn open_transfers(&self) -> Result<OpenTransfers, BackendError> {
        Ok(open_transfers(&self.options, &self.currency).await?)
    }

    async fn endpoint_secrets(&self) -> Result<Vec<(WebhookEndpointId, SealedSecret)>, BackendError> {
        Ok(endpoint_secrets(&self.options).await?)
    }

    async fn accept(self: Box<Self>) -> Result<(), BackendError> {
        Ok(())
    }

    async fn reject(self: Box<Self>) -> Result<Option<PathBuf>, BackendError> {
        Ok(None)
    }
}

/// Reads the open transfers of the backup: withdrawals and payments that may have progressed without the
/// database.
///
/// # Errors
/// When the database cannot be reached or a row cannot be read. No error repeats the URL.
async fn open_transfers(options: &PostgresOptions, currency: &Currency) -> anyhow::Result<OpenTransfers> {
    let connection = &mut Connector::new(&options.url)?.for_restore().connect().await?;
    connection.batch_execute("SET statement_timeout = 0").await?;
    let sending = OpenTransfers::WITHDRAWALS.map(WithdrawalStatus::name);
    let withdrawals: Vec<StoredWithdrawal> = withdrawals::table
        .filter(withdrawals::status.eq_any(sending))
        .order(withdrawals::id)
        .select(StoredWithdrawal::as_select())
        .load(connection)
        .await?;
    let topups: Vec<StoredTopup> = topups::table
        .filter(topups::status.eq(OpenTransfers::TOPUPS.name()))
        .order(topups::id)
        .select(StoredTopup::as_select())
        .load(connection)
        .await?;
    // Operation ids begin with the time.
    let newest: Option<Timestamp> = operations::table
        .order(operations::id.desc())
        .select(operations::at)
        .first(connection)
        .await
        .optional()?;
    Ok(OpenTransfers {
        newest_operation: newest,
        withdrawals: withdrawals.into_iter().map(|row| row.withdrawal(currency)).collect::<Result<_, _>>()?,
        topups: topups.into_iter().map(|row| row.topup(currency)).collect::<Result<_, _>>()?,
    })
}

/// Reads the secrets of the endpoints that were not disabled for a lost secret.
///
/// # Errors
/// When the database cannot be reached or a row cannot be read. No error repeats the URL.
async fn endpoint_secrets(
    options: &PostgresOptions,
) -> anyhow::Result<Vec<(WebhookEndpointId, SealedSecret)>> {
    let connection = &mut Connector::new(&options.url)?.for_restore().connect().await?;
    connection.batch_execute("SET statement_timeout = 0").await?;
    let lost = DisabledReason::SecretLost.name();
    let rows: Vec<(i64, String)> = webhook_endpoints::table
        .filter(webhook_endpoints::disabled_reason.is_distinct_from(lost))
        .order(webhook_endpoints::id)
        .select((webhook_endpoints::id, webhook_endpoints::secrets))
        .load(connection)
        .await?;
    let secret = |(id, secrets): (i64, String)| {
        Ok((known("webhook_endpoints.id", WebhookEndpointId::new(id))?, current_secret(&secrets)?))
    };
    rows.into_iter().map(secret).collect()
}
