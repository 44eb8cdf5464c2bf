//! The connection pool, and database access with a deadline for everything but plans.

use std::sync::Arc;
use std::time::Duration;

use deadpool::Runtime;
use deadpool::managed::{self, Metrics, Object, Pool, RecycleError, RecycleResult, Timeouts};
use diesel::ConnectionError;
use diesel_async::AsyncPgConnection;
use diesel_async::pooled_connection::PoolableConnection;
use tokio::runtime::Handle;
use tokio::time::timeout;

use crate::connect::cluster::{AdmittedConnection, Cluster};
use crate::connect::connection::Connector;
use crate::connect::failure::DatabaseFailure;
use crate::connect::per_thread::PerThread;
use crate::connect::shared_connection::SharedConnection;
use crate::connect::work::{Extent, Work};
use crate::telemetry;

/// Deadline of a database operation.
const DEADLINE: Duration = Duration::from_secs(4);
/// Time limit of the first attempt of a repeatable transaction; the rest of [`DEADLINE`] is for its
/// repetition.
const FIRST_ATTEMPT: Duration = Duration::from_secs(2);
/// Time limit for getting a connection.
const WAIT_FOR_CONNECTION: Duration = Duration::from_millis(2_500);

/// Awaits a result within [`DEADLINE`].
pub(crate) async fn within<T>(
    work: impl Future<Output = Result<T, DatabaseFailure>>,
) -> Result<T, DatabaseFailure> {
    timeout(DEADLINE, work).await.unwrap_or(Err(DatabaseFailure::Deadline))
}

/// A pooled connection guard. The connection is closed unless it is given back, so that a cancelled statement
/// cannot affect its next user.
pub(crate) struct PooledConnection(Option<Object<ConnectionManager>>);

impl PooledConnection {
    /// The connection itself.
    pub(crate) fn connection(&mut self) -> Result<&mut AsyncPgConnection, DatabaseFailure> {
        self.0.as_deref_mut().map(|opened| &mut **opened).ok_or(DatabaseFailure::Deadline)
    }

    /// Returns the idle connection to the pool.
    pub(crate) fn give_back(mut self) {
        self.0 = None;
    }

    /// Returns the connection to the pool, unless the result casts doubt on it.
    fn returned_after<T>(self, done: Result<T, DatabaseFailure>) -> Result<T, DatabaseFailure> {
        if done.as_ref().err().is_none_or(DatabaseFailure::keeps_connection) {
            self.give_back();
        }
        done
    }
}

impl Drop for PooledConnection {
    fn drop(&mut self) {
        if let Some(object) = self.0.take() {
            drop(Object::take(object));
        }
    }
}

/// Opens the connections of the pool, and decides which of them may be reused.
#[derive(Clone)]
pub(crate) struct ConnectionManager {
    connector: Connector,
    runtime: Handle,
}

impl managed::Manager for ConnectionManager {
    type Type = AdmittedConnection;
    type Error = ConnectionError;

    /// On the runtime of the pool: a connection opened on a web worker's runtime would end with it.
    async fn create(&self) -> Result<AdmittedConnection, ConnectionError> {
        let connector = self.connector.clone();
        let opened = self.runtime.spawn(async move { connector.open().await }).await;
        opened.map_err(|error| ConnectionError::BadConnection(error.to_string()))?
    }

    async fn recycle(&self, opened: &mut AdmittedConnection, _: &Metrics) -> RecycleResult<ConnectionError> {
        if !opened.is_current(self.connector.cluster()) || opened.is_broken() {
            return Err(RecycleError::message("the connection is unusable"));
        }
        opened.renew_plans().await.map_err(|error| RecycleError::message(error.to_string()))
    }
}

/// The connections for everything but plans: a pool, and one connection for each single-threaded runtime.
#[derive(Clone)]
pub(crate) struct Database {
    pool: Pool<ConnectionManager>,
    connector: Connector,
    own: Arc<PerThread<SharedConnection>>,
}

impl Database {
    /// Creates a pool of at most `size` connections on the current runtime, each opened when first needed.
    pub(crate) fn new(connector: Connector, size: u32) -> anyhow::Result<Self> {
        let manager = ConnectionManager { connector: connector.clone(), runtime: Handle::try_current()? };
        let pool = Pool::builder(manager)
            .max_size(usize::try_from(size.max(1))?)
            .runtime(Runtime::Tokio1)
            .timeouts(Timeouts {
                wait: Some(WAIT_FOR_CONNECTION),
                create: Some(WAIT_FOR_CONNECTION),
                recycle: Some(WAIT_FOR_CONNECTION),
            })
            .build()?;
        Ok(Self { pool, connector, own: Arc::default() })
    }

    /// The state of the cluster behind every connection.
    pub(crate) fn cluster(&self) -> &Cluster {
        self.connector.cluster()
    }

    /// Opens a connection outside the pool, for one task.
    pub(crate) async fn open_beside(&self) -> Result<AdmittedConnection, DatabaseFailure> {
        Ok(managed::Manager::create(self.pool.manager()).await?)
    }

    /// Connects to every host of the URL in the background: if another one was promoted while the current
    /// primary is still alive, this begins a new generation of connections.
    pub(crate) fn look_for_newer_primary(&self) {
        let connector = self.connector.clone();
        self.pool.manager().runtime.spawn(async move { connector.survey().await });
    }

    /// Closes idle connections if a failure shows that they are unusable too.
    fn learn_from(&self, failure: &DatabaseFailure) {
        if failure.is_read_only() {
            self.cluster().renew_connections();
        }
        if failure.is_read_only() || failure.ended_connection() {
            self.pool.retain(|_, _| false);
        }
    }

    /// Runs a read on a connection, and retries it on a fresh one if the connection failed.
    ///
    /// A thread with a runtime of its own reads over its own shared connection; other threads use one of the
    /// pool.
    pub(crate) async fn read<Input, T, F>(&self, input: Input, run: F) -> Result<T, DatabaseFailure>
    where
        Input: Clone + Send + Sync,
        T: Send,
        for<'c> F: Work<&'c AsyncPgConnection, Input, T, Fut: Send> + Sync,
    {
        let own = self.own.here(|| SharedConnection::new(self.connector.planning_once()));
        let own = own.filter(|_| !self.pool.is_closed());
        self.read_over(own.as_deref(), input, run).await
    }

    /// Reads over a connection of the pool, on any thread.
    pub(crate) async fn read_by_pool<Input, T, F>(&self, input: Input, run: F) -> Result<T, DatabaseFailure>
    where
        Input: Clone + Send + Sync,
        T: Send,
        for<'c> F: Work<&'c AsyncPgConnection, Input, T, Fut: Send> + Sync,
    {
        self.read_over(None, input, run).await
    }

    async fn read_over<Input, T, F>(
        &self,
        own: Option<&SharedConnection>,
        input: Input,
        run: F,
    ) -> Result<T, DatabaseFailure>
    where
        Input: Clone + Send + Sync,
        T: Send,
        for<'c> F: Work<&'c AsyncPgConnection, Input, T, Fut: Send> + Sync,
    {
        let attempts = async {
            match self.read_once(own, input.clone(), &run).await {
                Err(failure) if failure.doubts_connection() => {
                    // The cause may have ended idle connections as well.
                    self.learn_from(&failure);
                    self.read_once(own, input, &run).await
                }
                done => done,
            }
        };
        within(attempts).await
    }

    async fn read_once<Input, T, F>(
        &self,
        own: Option<&SharedConnection>,
        input: Input,
        run: &F,
    ) -> Result<T, DatabaseFailure>
    where
        Input: Clone + Send + Sync,
        T: Send,
        for<'c> F: Work<&'c AsyncPgConnection, Input, T, Fut: Send> + Sync,
    {
        let Some(own) = own else {
            let mut pooled = self.lend().await?;
            let done = run(pooled.connection()?, input).await;
            return pooled.returned_after(done);
        };
        let used = own.get().await?;
        let connection = used.connection();
        let done = async {
            connection.renew_plans().await?;
            run(connection, input).await
        };
        let done = done.await;
        used.done(done.as_ref().is_err_and(|failure| !failure.keeps_connection()));
        done
    }

    /// Runs work of an extent on a connection.
    pub(crate) async fn write<Input, T, F>(
        &self,
        extent: Extent,
        input: Input,
        run: F,
    ) -> Result<T, DatabaseFailure>
    where
        Input: Clone + Send + Sync,
        T: Send,
        for<'c> F: Work<&'c mut AsyncPgConnection, Input, T, Fut: Send> + Sync,
    {
        let attempts = async {
            if extent != Extent::RepeatableTransaction {
                return self.write_once(extent, None, input, &run).await;
            }
            match self.write_once(extent, Some(FIRST_ATTEMPT), input.clone(), &run).await {
                Err(failure) if failure.ended_connection() => {
                    self.write_once(extent, None, input, &run).await
                }
                done => done,
            }
        };
        within(attempts).await
    }

    async fn write_once<Input, T, F>(
        &self,
        extent: Extent,
        limit: Option<Duration>,
        input: Input,
        run: &F,
    ) -> Result<T, DatabaseFailure>
    where
        Input: Clone + Send + Sync,
        T: Send,
        for<'c> F: Work<&'c mut AsyncPgConnection, Input, T, Fut: Send> + Sync,
    {
        let mut pooled = self.lend().await?;
        let work = extent.run(pooled.connection()?, input, run);
        let done = match limit {
            Some(limit) => timeout(limit, work).await.unwrap_or(Err(DatabaseFailure::Deadline)),
            None => work.await,
        };
        pooled.returned_after(done).inspect_err(|failure| self.learn_from(failure))
    }

    /// Gets a connection from the pool.
    pub(crate) async fn lend(&self) -> Result<PooledConnection, DatabaseFailure> {
        let object = self.pool.get().await?;
        self.report_sizes();
        Ok(PooledConnection(Some(object)))
    }

    /// Reports the numbers of open connections and of those in use.
    pub(crate) fn report_sizes(&self) {
        let status = self.pool.status();
        telemetry::gauge(telemetry::POOL_CONNECTIONS, status.size);
        telemetry::gauge(telemetry::POOL_IN_USE, status.size.saturating_sub(status.available));
    }

    /// Closes every connection and refuses further requests for one.
    pub(crate) fn close(&self) {
        self.pool.close();
        self.own.all().iter().for_each(|own| own.close());
    }
}
