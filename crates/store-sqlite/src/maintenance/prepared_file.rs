//! A database file under a temporary name, which no server uses.

use std::fs::{self, File};
use std::mem;
use std::path::{Path, PathBuf};
use std::thread;

use anyhow::{Context, anyhow, ensure};
use async_trait::async_trait;
use cuepoint_domain::audit::Auditor;
use cuepoint_domain::ids::WebhookEndpointId;
use cuepoint_domain::money::Currency;
use cuepoint_domain::ports::{Audit, BackendError, OpenTransfers, PreparedData, Unavailable};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::webhook::{DisabledReason, SealedSecret};
use cuepoint_domain::withdrawal::WithdrawalStatus;
use cuepoint_store_sql::rows::{Corrupt, StoredTopup, StoredWithdrawal, current_secret, known};
use cuepoint_store_sql::schema::{operations, topups, webhook_endpoints, withdrawals};
use diesel::prelude::*;
use tokio::sync::oneshot;

use crate::connect::connection::{Access, open};
use crate::connect::data_directory::{DataDirectory, INCONSISTENT, with_ending};
use crate::connect::failure::SqliteFailure;
use crate::connect::integrity::Check;
use crate::connect::part::{self, remove_with_companions};
use crate::connect::{in_use, last_backup};
use crate::ports::show_ledger;

/// A database file that is removed when it is dropped, unless it was accepted or rejected.
#[derive(Debug)]
pub(super) struct PreparedFile {
    /// The temporary path; `None` once the file has another one.
    temporary: Option<PathBuf>,
    /// The open file. Its lock tells other processes that the writer is alive.
    _lock: File,
    /// The path of the accepted file.
    path: PathBuf,
    currency: Currency,
    /// The directory of a restore, locked until the file is accepted.
    directory: Option<DataDirectory>,
    /// The data directory that was copied, in which an accepted backup is recorded, and the time of its data.
    copied: Option<(PathBuf, Timestamp)>,
}

impl PreparedFile {
    /// Creates an empty file under a temporary path beside `path`.
    ///
    /// # Errors
    /// When there is a file at `path`, another process writes the temporary one, or it cannot be created.
    pub(super) fn create(
        temporary: PathBuf,
        path: PathBuf,
        currency: &Currency,
        directory: Option<DataDirectory>,
    ) -> anyhow::Result<Self> {
        ensure_absent(&path)?;
        let lock = part::create(&temporary)?;
        let currency = currency.clone();
        Ok(Self { temporary: Some(temporary), _lock: lock, path, currency, directory, copied: None })
    }

    /// Records the file, once it is accepted, as a backup of a data directory that shows the data of this time.
    pub(super) fn record_in(&mut self, directory: PathBuf, at: Timestamp) {
        self.copied = Some((directory, at));
    }

    /// The temporary path.
    ///
    /// # Errors
    /// When the file has another one.
    pub(super) fn temporary(&self) -> anyhow::Result<&Path> {
        self.temporary.as_deref().context("the file has its final name")
    }

    /// Reads the file on a thread, so that the caller can be dropped in the meantime.
    async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut SqliteConnection, &Currency) -> Result<T, SqliteFailure> + Send + 'static,
    ) -> anyhow::Result<T> {
        let (path, currency) = (self.temporary()?.to_owned(), self.currency.clone());
        on_own_thread(move || {
            let mut connection = open(&path, Access::Archive)?;
            Ok(connection.transaction(|connection| work(connection, &currency))?)
        })
        .await
    }

    /// Gives the file another name, durably.
    fn rename(&mut self, path: &Path) -> anyhow::Result<()> {
        let temporary = self.temporary()?;
        let unwritten = || format!("{} cannot be written", path.display());
        // No connection to the file is open in this process, which would lose its locks.
        File::open(temporary).and_then(|file| file.sync_all()).with_context(unwritten)?;
        fs::rename(temporary, path).with_context(unwritten)?;
        self.temporary = None;
        let folder = path.parent().context("the path has no folder")?;
        File::open(folder).and_then(|folder| folder.sync_all()).with_context(|| {
            format!(
                "{} is complete, but a power failure could remove it: its folder cannot be synced",
                path.display()
            )
        })
    }
}

impl Drop for PreparedFile {
    fn drop(&mut self) {
        if let Some(path) = self.temporary.take()
            && let Err(error) = remove_with_companions(&path)
        {
            tracing::warn!(file = %path.display(), %error, "a temporary file cannot be removed");
        }
    }
}

#[async_trait]
impl Audit for PreparedFile {
    async fn show(&self, auditor: &mut Auditor) -> Result<(), Unavailable> {
        let mut taken = mem::take(auditor);
        let shown = self.read(move |connection, currency| {
            show_ledger(connection, currency, &mut taken, &|| true)?;
            Ok(taken)
        });
        *auditor = shown.await.map_err(|error| Unavailable::new(format!("{error:#}")))?;
        Ok(())
    }
}

#[async_trait]
impl PreparedData for PreparedFile {
    async fn open_transfers(&self) -> Result<OpenTransfers, BackendError> {
        Ok(self.read(open_transfers).await?)
    }

    async fn endpoint_secrets(&self) -> Result<Vec<(WebhookEndpointId, SealedSecret)>, BackendError> {
        Ok(self.read(|connection, _| endpoint_secrets(connection)).await?)
    }

    async fn accept(mut self: Box<Self>) -> Result<(), BackendError> {
        let path = self.path.clone();
        ensure_absent(&path)?;
        if let Some(directory) = &self.directory {
            // First, because a failure would otherwise be reported although servers can use the database.
            in_use::record(directory.path())?;
            last_backup::forget(directory.path()).context("the time of the last backup cannot be removed")?;
        }
        self.rename(&path)?;
        if let Some((directory, at)) = &self.copied
            && let Err(error) = last_backup::record(directory, *at)
        {
            // The backup is complete; only its time is not recorded.
            tracing::warn!("the backup is not recorded: {error:#}");
        }
        Ok(())
    }

    async fn reject(mut self: Box<Self>) -> Result<Option<PathBuf>, BackendError> {
        let path = with_ending(&self.path, INCONSISTENT);
        self.rename(&path)?;
        Ok(Some(path))
    }
}

/// Runs work on a thread of its own. Unlike a thread of the runtime, it does not keep an interrupted process
/// from ending.
pub(super) async fn on_own_thread<T: Send + 'static>(
    work: impl FnOnce() -> anyhow::Result<T> + Send + 'static,
) -> anyhow::Result<T> {
    let (caller, done) = oneshot::channel();
    let run = move || drop(caller.send(work()));
    thread::Builder::new().spawn(run).context("a thread cannot be started")?;
    done.await.map_err(|_| anyhow!("the work ended early"))?
}

/// Checks the structure of a database file that no server uses.
///
/// # Errors
/// When it is damaged or cannot be read.
pub(super) fn check(path: &Path) -> anyhow::Result<()> {
    let found = open(path, Access::Archive)
        .and_then(|mut connection| Ok(Check::Quick.run(&mut connection)?))
        .context("it is damaged")?;
    found.map_or(Ok(()), |defect| Err(anyhow!("it is damaged: {defect}")))
}

/// Refuses a path at which there is a file.
fn ensure_absent(path: &Path) -> anyhow::Result<()> {
    // A dangling link counts, since a rename would replace it.
    ensure!(fs::symlink_metadata(path).is_err(), "{} already exists", path.display());
    Ok(())
}

/// Reads the newest operation and the transfers that may have progressed without the database.
fn open_transfers(
    connection: &mut SqliteConnection,
    currency: &Currency,
) -> Result<OpenTransfers, SqliteFailure> {
    let sending = OpenTransfers::WITHDRAWALS.map(WithdrawalStatus::name);
    let withdrawals: Vec<StoredWithdrawal> = withdrawals::table
        .filter(withdrawals::status.eq_any(sending))
        .order(withdrawals::id)
        .select(StoredWithdrawal::as_select())
        .load(connection)?;
    let topups: Vec<StoredTopup> = topups::table
        .filter(topups::status.eq(OpenTransfers::TOPUPS.name()))
        .order(topups::id)
        .select(StoredTopup::as_select())
        .load(connection)?;
    // Operation ids begin with the time.
    let newest: Option<Timestamp> =
        operations::table.order(operations::id.desc()).select(operations::at).first(connection).optional()?;
    Ok(OpenTransfers {
        newest_operation: newest,
        withdrawals: withdrawals
            .into_iter()
            .map(|row| row.withdrawal(currency))
            .collect::<Result<_, Corrupt>>()?,
        topups: topups.into_iter().map(|row| row.topup(currency)).collect::<Result<_, Corrupt>>()?,
    })
}

/// Reads the secrets of the endpoints that were not disabled for a lost secret.
fn endpoint_secrets(
    connection: &mut SqliteConnection,
) -> Result<Vec<(WebhookEndpointId, SealedSecret)>, SqliteFailure> {
    let lost = DisabledReason::SecretLost.name();
    let rows: Vec<(i64, String)> = webhook_endpoints::table
        .filter(webhook_endpoints::disabled_reason.is_null().or(webhook_endpoints::disabled_reason.ne(lost)))
        .order(webhook_endpoints::id)
        .select((webhook_endpoints::id, webhook_endpoints::secrets))
        .load(connection)?;
    let secret = |(id, secrets): (i64, String)| {
        Ok((known("webhook_endpoints.id", WebhookEndpointId::new(id))?, current_secret(&secrets)?))
    };
    Ok(rows.into_iter().map(secret).collect::<Result<_, Corrupt>>()?)
}
