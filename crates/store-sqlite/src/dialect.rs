//! The names that the sources in `store-sql/per_store` use, for SQLite. The PostgreSQL store has the same names.
//!
//! SQLite runs a statement on the calling thread, so every future of these sources is ready when it is first polled. Their
//! comments about row locks concern PostgreSQL alone.

use std::future::{Ready, ready};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use cuepoint_domain::operation::PlanKind;
use cuepoint_domain::operation::feature_level::FeatureLevel;
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::ports::Unavailable;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::challenge::Purpose;
use cuepoint_store_sql::Lock;
use cuepoint_store_sql::schema::{bootstrap_operator, users};
use cuepoint_store_sql::sql_types::{ColumnTime, UtcTime};
use cuepoint_store_sql::table::BoundRow;
use diesel::dsl::{Eq, Limit, sql};
use diesel::expression::SqlLiteral;
use diesel::query_dsl::methods::{ExecuteDsl, LimitDsl, LoadQuery};
use diesel::result::DatabaseErrorInformation;
use diesel::sql_types::Bool;
use diesel::{ExpressionMethods, QueryResult, Selectable};

use crate::SqlStore;
use crate::statements::RowInsert;
use crate::tables::operations;
use crate::writer::Repetition;

pub(crate) use crate::connect::failure::SqliteFailure as StoreFailure;
pub(crate) use diesel::SqliteConnection as Connection;
pub(crate) use diesel::sqlite::Sqlite as Database;

/// A connection that only reads.
pub(crate) type Reading<'c> = &'c mut Connection;

diesel::define_sql_function! {
    /// The later of two times.
    #[sql_name = "max"]
    fn later_of(one: UtcTime, other: UtcTime) -> UtcTime;
}

/// The methods of asynchronous statements, for a connection that never waits.
pub(crate) trait RunQueryDsl: diesel::RunQueryDsl<Connection> + Sized {
    /// Executes the statement, and returns the number of rows that it changed.
    fn execute(self, connection: &mut Connection) -> Ready<QueryResult<usize>>
    where
        Self: ExecuteDsl<Connection>,
    {
        ready(diesel::RunQueryDsl::execute(self, connection))
    }

    /// Loads every row.
    fn load<'q, Row>(self, connection: &mut Connection) -> Ready<QueryResult<Vec<Row>>>
    where
        Self: LoadQuery<'q, Connection, Row>,
    {
        ready(diesel::RunQueryDsl::load(self, connection))
    }

    /// Loads the only row.
    fn get_result<'q, Row>(self, connection: &mut Connection) -> Ready<QueryResult<Row>>
    where
        Self: LoadQuery<'q, Connection, Row>,
    {
        ready(diesel::RunQueryDsl::get_result(self, connection))
    }

    /// Loads the first row.
    fn first<'q, Row>(self, connection: &mut Connection) -> Ready<QueryResult<Row>>
    where
        Self: LimitDsl,
        Limit<Self>: LoadQuery<'q, Connection, Row>,
    {
        ready(diesel::RunQueryDsl::first(self, connection))
    }
}

impl<T: diesel::RunQueryDsl<Connection>> RunQueryDsl for T {}

/// The result of work that never waits.
pub(crate) fn at_once<T>(work: impl Future<Output = Result<T, StoreFailure>>) -> Result<T, StoreFailure> {
    match pin!(work).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(done) => done,
        Poll::Pending => Err(StoreFailure::Interrupted),
    }
}

impl SqlStore {
    /// The features that the database permits: its only server raises the level at its start.
    pub(crate) const fn feature_level(&self) -> FeatureLevel {
        FeatureLevel::NEWEST
    }

    /// Reads.
    pub(crate) fn read<Input, T>(
        &self,
        input: Input,
        run: impl AsyncFnOnce(&mut Connection, Input) -> Result<T, StoreFailure>,
    ) -> Ready<Result<T, Unavailable>> {
        ready(self.readers.read(|connection| at_once(run(connection, input))))
    }

    /// Reads for a background job, without delaying reads of requests.
    pub(crate) async fn read_aside<Input: Send + 'static, T: Send + 'static>(
        &self,
        input: Input,
        run: impl AsyncFnOnce(&mut Connection, Input) -> Result<T, StoreFailure> + Send + 'static,
    ) -> Result<T, Unavailable> {
        self.readers.read_elsewhere(move |connection| at_once(run(connection, input))).await
    }

    /// Reads a page of an export, on a thread of its own.
    pub(crate) async fn read_export_page<Input: Send + 'static, T: Send + 'static>(
        &self,
        input: Input,
        run: impl AsyncFnOnce(&mut Connection, Input) -> Result<T, StoreFailure> + Send + 'static,
    ) -> Result<T, Unavailable> {
        self.readers.page_on_own_thread(move |connection| at_once(run(connection, input))).await
    }

    /// Reads a page of a list.
    pub(crate) async fn list<Input: Send + 'static, T: Send + 'static>(
        &self,
        asked: PageRequest,
        input: Input,
        run: impl AsyncFnOnce(&mut Connection, Input) -> Result<Rows<T>, StoreFailure> + Send + 'static,
    ) -> Result<Rows<T>, Unavailable> {
        self.readers.list(asked, move |connection| at_once(run(connection, input))).await
    }

    /// Runs one statement that writes.
    pub(crate) async fn write<Input: Clone + Send + 'static, T: Send + 'static>(
        &self,
        input: Input,
        run: impl AsyncFn(&mut Connection, Input) -> Result<T, StoreFailure> + Send + 'static,
    ) -> Result<T, Unavailable> {
        Ok(self.transact(input, run).await?)
    }

    /// Runs statements that may safely run twice, and repeats them if their outcome is unknown.
    pub(crate) async fn write_repeatable<Input: Clone + Send + 'static, T: Send + 'static>(
        &self,
        input: Input,
        run: impl AsyncFn(&mut Connection, Input) -> Result<T, StoreFailure> + Send + 'static,
    ) -> Result<T, Unavailable> {
        Ok(self.transact_repeatable(input, run).await?)
    }

    /// Runs a transaction.
    pub(crate) async fn transact<Input: Clone + Send + 'static, T: Send + 'static>(
        &self,
        input: Input,
        run: impl AsyncFn(&mut Connection, Input) -> Result<T, StoreFailure> + Send + 'static,
    ) -> Result<T, StoreFailure> {
        let work = move |connection: &mut Connection| at_once(run(connection, input.clone()));
        self.writer.change(Repetition::Once, work).await
    }

    /// Runs a transaction, and repeats it if its outcome is unknown. The repetition recognizes the commit of the first run.
    pub(crate) async fn transact_repeatable<Input: Clone + Send + 'static, T: Send + 'static>(
        &self,
        input: Input,
        run: impl AsyncFn(&mut Connection, Input) -> Result<T, StoreFailure> + Send + 'static,
    ) -> Result<T, StoreFailure> {
        let work = move |connection: &mut Connection| at_once(run(connection, input.clone()));
        self.writer.change(Repetition::Repeatable, work).await
    }
}

/// Reads a page, given a list and the order of its rows as expressions that can be evaluated twice.
macro_rules! page {
    (
        $connection:ident, $asked:expr, $list:expr, $order:expr => $order_type:ident,
        $columns:expr => $row:ty, $value:expr
    ) => {{
        let (limit, offset) = (i64::from($asked.size()), $asked.offset().unwrap_or(i64::MAX));
        let total: i64 = $list.count().get_result(&mut $connection).await?;
        let page = $list.order($order).limit(limit).offset(offset).select($columns);
        let rows: Vec<$row> = page.load(&mut $connection).await?;
        let rows = rows.into_iter().map($value).collect::<Result<_, _>>()?;
        Ok(cuepoint_domain::page::Rows { rows, total: u64::try_from(total).unwrap_or_default() })
    }};
}

/// The rows that a query selects; only one transaction writes at a time, so none needs a lock.
macro_rules! locked {
    (free $query:expr) => {
        $query
    };
    (only $lock:ident, $ids:expr, $connection:expr) => {
        let _ = (&$connection, $ids);
    };
    ($lock:ident, $query:expr $(, $order:expr)?) => {
        $query
    };
}
pub(crate) use {locked, page};

/// Does nothing: only one transaction writes at a time.
pub(crate) fn lock_beside(_: &mut Connection, _: Lock<'_>) -> Ready<QueryResult<()>> {
    ready(Ok(()))
}

/// Records when the first operator was registered.
pub(crate) async fn record_first_operator(connection: &mut Connection, at: Timestamp) -> QueryResult<()> {
    let once = (bootstrap_operator::singleton.eq(true), bootstrap_operator::made_at.eq(ColumnTime(at)));
    diesel::insert_into(bootstrap_operator::table).values(once).execute(connection).await.map(drop)
}

/// The condition of DJs: an equality, so that an index finds them.
pub(crate) fn is_dj() -> Eq<users::is_dj, bool> {
    users::is_dj.eq(true)
}

/// The columns of a row.
pub(crate) fn columns<Row: Selectable<Database>>() -> Row::SelectExpression {
    Row::construct_selection()
}

/// The condition of challenges with a purpose: a literal, since a partial index serves only statements that contain
/// its condition.
pub(crate) fn is_for(purpose: Purpose) -> SqlLiteral<Bool> {
    sql(&format!("challenges.purpose = '{}'", purpose.name()))
}

/// The condition of resolved provider messages: a range comparison with the first expression of the index, since after
/// an equality SQLite would sort the rows.
pub(crate) fn is_resolved() -> SqlLiteral<Bool> {
    sql("(resolved_at IS NULL) < 1")
}

/// The condition of provider messages that are not resolved, in the form of [`is_resolved`].
pub(crate) fn is_unresolved() -> SqlLiteral<Bool> {
    sql("(resolved_at IS NULL) > 0")
}

/// The condition of operations that adjust a wallet: a literal, since the partial index is used only if the statement
/// contains its condition.
pub(crate) fn is_adjustment() -> SqlLiteral<Bool> {
    sql(&format!("operations.kind = '{}'", PlanKind::Adjust.name()))
}

/// The latest time of due work.
pub(crate) const fn due_by(now: Timestamp) -> ColumnTime {
    ColumnTime(now)
}

/// Whether a unique violation concerns the e-mail addresses of users.
pub(crate) fn is_of_one_owner(violation: &dyn DatabaseErrorInformation) -> bool {
    violation.message().contains("users.email_folded")
}

/// Adds rows, each by a statement.
pub(crate) fn insert<Row: BoundRow>(
    connection: &mut Connection,
    rows: impl IntoIterator<Item = Row>,
) -> Ready<QueryResult<()>> {
    let add = |row: Row| diesel::RunQueryDsl::execute(RowInsert(&row), connection).map(drop);
    ready(rows.into_iter().try_for_each(add))
}

/// The newest position; 0 if there is none.
pub(crate) fn newest_position(connection: Reading<'_>) -> Ready<QueryResult<i64>> {
    ready(operations::newest_position(connection))
}

/// A connection of a transaction, to read.
pub(crate) const fn reading(connection: &mut Connection) -> Reading<'_> {
    connection
}

/// Rows per batch: few enough that no batch occupies the writer for long.
pub(crate) const BATCH: i64 = 500;
