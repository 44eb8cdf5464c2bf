//! The names that the sources in `store-sql/per_store` use, for PostgreSQL. The SQLite store has the same names.

use cuepoint_domain::operation::PlanKind;
use cuepoint_domain::operation::feature_level::FeatureLevel;
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::ports::Unavailable;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::challenge::Purpose;
use cuepoint_store_sql::Lock;
use cuepoint_store_sql::schema::{bootstrap_operator, challenges, operations, provider_messages, users};
use cuepoint_store_sql::sql_types::ColumnTime;
use cuepoint_store_sql::table::ArrayRow;
use diesel::QueryResult;
use diesel::dsl::{Eq, IsNotNull, IsNull, Nullable, now as clock};
use diesel::expression_methods::{ExpressionMethods as _, NullableExpressionMethods as _};
use diesel::result::DatabaseErrorInformation;
use time::OffsetDateTime;

use crate::SqlStore;
use crate::connect::work::{Extent, Work};
use crate::reads::least;
use crate::tables::advisory_locks::{FIRST_OPERATOR, PHONE_CODES, TARGETS, hashtext, pg_advisory_xact_lock};
use crate::writer::Insert;

pub(crate) use crate::connect::failure::DatabaseFailure as StoreFailure;
pub(crate) use crate::reads::{columns, greatest as later_of, page};
pub(crate) use crate::tables::positions::newest_position;
pub(crate) use diesel::pg::Pg as Database;
pub(crate) use diesel_async::{AsyncPgConnection as Connection, RunQueryDsl};

/// A connection that only reads; other reads may use it at the same time.
pub(crate) type Reading<'c> = &'c Connection;

impl SqlStore {
    /// The features that the database permits.
    pub(crate) fn feature_level(&self) -> FeatureLevel {
        self.database.cluster().feature_level()
    }

    /// Reads.
    pub(crate) async fn read<Input, T, F>(&self, input: Input, run: F) -> Result<T, Unavailable>
    where
        Input: Clone + Send + Sync,
        T: Send,
        for<'c> F: Work<Reading<'c>, Input, T, Fut: Send> + Send + Sync,
    {
        Ok(self.database.read(input, run).await?)
    }

    /// Reads for a background job, without delaying reads of requests.
    pub(crate) async fn read_aside<Input, T, F>(&self, input: Input, run: F) -> Result<T, Unavailable>
    where
        Input: Clone + Send + Sync,
        T: Send,
        for<'c> F: Work<Reading<'c>, Input, T, Fut: Send> + Send + Sync,
    {
        Ok(self.database.read_by_pool(input, run).await?)
    }

    /// Reads a page of an export.
    pub(crate) async fn read_export_page<Input, T, F>(&self, input: Input, run: F) -> Result<T, Unavailable>
    where
        Input: Clone + Send + Sync,
        T: Send,
        for<'c> F: Work<Reading<'c>, Input, T, Fut: Send> + Send + Sync,
    {
        self.read(input, run).await
    }

    /// Reads a page of a list.
    pub(crate) async fn list<Input, T, F>(
        &self,
        _asked: PageRequest,
        input: Input,
        run: F,
    ) -> Result<Rows<T>, Unavailable>
    where
        Input: Clone + Send + Sync,
        T: Send,
        for<'c> F: Work<Reading<'c>, Input, Rows<T>, Fut: Send> + Send + Sync,
    {
        self.read(input, run).await
    }

    /// Runs one statement that writes.
    pub(crate) async fn write<Input, T, F>(&self, input: Input, run: F) -> Result<T, Unavailable>
    where
        Input: Clone + Send + Sync,
        T: Send,
        for<'c> F: Work<&'c mut Connection, Input, T, Fut: Send> + Send + Sync,
    {
        Ok(self.database.write(Extent::Statement, input, run).await?)
    }

    /// Runs statements that may safely run twice; this store runs them once.
    pub(crate) async fn write_repeatable<Input, T, F>(&self, input: Input, run: F) -> Result<T, Unavailable>
    where
        Input: Clone + Send + Sync,
        T: Send,
        for<'c> F: Work<&'c mut Connection, Input, T, Fut: Send> + Send + Sync,
    {
        self.write(input, run).await
    }

    /// Runs a transaction.
    pub(crate) async fn transact<Input, T, F>(&self, input: Input, run: F) -> Result<T, StoreFailure>
    where
        Input: Clone + Send + Sync,
        T: Send,
        for<'c> F: Work<&'c mut Connection, Input, T, Fut: Send> + Send + Sync,
    {
        self.database.write(Extent::Transaction, input, run).await
    }

    /// Runs a transaction, and repeats it if its outcome is unknown. The repetition recognizes the commit of the first run.
    pub(crate) async fn transact_repeatable<Input, T, F>(
        &self,
        input: Input,
        run: F,
    ) -> Result<T, StoreFailure>
    where
        Input: Clone + Send + Sync,
        T: Send,
        for<'c> F: Work<&'c mut Connection, Input, T, Fut: Send> + Send + Sync,
    {
        self.database.write(Extent::RepeatableTransaction, input, run).await
    }
}

/// The rows that a query selects, locked until the end of the transaction; several are locked in an order, to avoid
/// deadlocks.
///
/// With `only`, rows are locked whose ids the query selects, and nothing else is done. With `free`, rows that another
/// transaction has locked are left out.
macro_rules! locked {
    (free $query:expr) => {
        $query.for_update().skip_locked()
    };
    (only $lock:ident, $ids:expr, $connection:expr) => {
        let _: Vec<i64> = $ids.$lock().load($connection).await?;
    };
    ($lock:ident, $query:expr) => {
        $query.$lock()
    };
    ($lock:ident, $query:expr, $order:expr) => {
        $query.order($order).$lock()
    };
}
pub(crate) use locked;

/// Takes a lock that belongs to no row, until the end of the transaction.
pub(crate) async fn lock_beside(connection: &mut Connection, lock: Lock<'_>) -> QueryResult<()> {
    let taken = match lock {
        Lock::Target(target) => {
            diesel::select(pg_advisory_xact_lock(TARGETS, hashtext(target))).execute(connection).await
        }
        Lock::PhoneCodes => diesel::select(pg_advisory_xact_lock(PHONE_CODES, 0)).execute(connection).await,
        Lock::FirstOperator => {
            diesel::select(pg_advisory_xact_lock(FIRST_OPERATOR, 0)).execute(connection).await
        }
    };
    taken.map(drop)
}

/// Records when the first operator was registered.
pub(crate) async fn record_first_operator(connection: &mut Connection, at: Timestamp) -> QueryResult<()> {
    let once = bootstrap_operator::made_at.eq(ColumnTime(at));
    diesel::insert_into(bootstrap_operator::table).values(once).execute(connection).await.map(drop)
}

/// The condition of DJs.
pub(crate) const fn is_dj() -> users::is_dj {
    users::is_dj
}

/// The condition of challenges with a purpose.
pub(crate) fn is_for(purpose: Purpose) -> Eq<challenges::purpose, &'static str> {
    challenges::purpose.eq(purpose.name())
}

/// The condition of provider messages that are resolved.
pub(crate) fn is_resolved() -> IsNotNull<provider_messages::resolved_at> {
    provider_messages::resolved_at.is_not_null()
}

/// The condition of provider messages that are not resolved.
pub(crate) fn is_unresolved() -> IsNull<provider_messages::resolved_at> {
    provider_messages::resolved_at.is_null()
}

/// The condition of operations that adjust a wallet.
pub(crate) fn is_adjustment() -> Eq<operations::kind, &'static str> {
    operations::kind.eq(PlanKind::Adjust.name())
}

/// The latest time of due work: `now`, or the time of the database if that is earlier.
pub(crate) fn due_by(now: Timestamp) -> Nullable<least<OffsetDateTime, clock>> {
    least(now.to_utc(), clock).nullable()
}

/// Whether a unique violation concerns the e-mail addresses of users.
pub(crate) fn is_of_one_owner(violation: &dyn DatabaseErrorInformation) -> bool {
    violation.constraint_name() == Some("users_email_folded_key")
}

/// Adds rows by one statement.
pub(crate) async fn insert<Row: ArrayRow>(
    connection: &mut Connection,
    rows: impl IntoIterator<Item = Row>,
) -> QueryResult<()> {
    rows.into_iter().collect::<Insert<Row>>().execute(connection).await.map(drop)
}

/// A connection of a transaction, to read.
pub(crate) fn reading(connection: &mut Connection) -> Reading<'_> {
    connection
}

/// Rows per batch, so that none takes long.
pub(crate) const BATCH: i64 = 1_000;
