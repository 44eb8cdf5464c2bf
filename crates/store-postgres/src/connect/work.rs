//! Work on connections, as async closures with futures that may move between threads, which a bound on `AsyncFn`
//! cannot express yet.

use diesel::result::Error as QueryError;
use diesel_async::{AsyncConnection, AsyncPgConnection, TransactionManager};

use crate::connect::failure::DatabaseFailure;

/// Work on a connection with an input, which it may consume.
pub(crate) trait Work<Connection, Input, Done>:
    AsyncFn(Connection, Input) -> Result<Done, DatabaseFailure>
    + Fn(Connection, Input) -> <Self as Work<Connection, Input, Done>>::Fut
{
    /// The closure's future.
    type Fut: Future<Output = Result<Done, DatabaseFailure>>;
}

impl<F, Connection, Input, Fut, Done> Work<Connection, Input, Done> for F
where
    F: AsyncFn(Connection, Input) -> Result<Done, DatabaseFailure> + Fn(Connection, Input) -> Fut,
    Fut: Future<Output = Result<Done, DatabaseFailure>>,
{
    type Fut = Fut;
}

/// The extent of work that writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Extent {
    Statement,
    Transaction,
    /// A transaction that is repeated on a new connection if its outcome is unknown: the connection was cut, or no reply
    /// came in time. The repetition recognizes the commit of the first run.
    RepeatableTransaction,
}

/// The driver's manager of transactions.
type Manager = <AsyncPgConnection as AsyncConnection>::TransactionManager;

impl Extent {
    /// Runs work in this extent.
    pub(crate) async fn run<Input, T, F>(
        self,
        connection: &mut AsyncPgConnection,
        input: Input,
        run: &F,
    ) -> Result<T, DatabaseFailure>
    where
        Input: Send,
        T: Send,
        for<'c> F: Work<&'c mut AsyncPgConnection, Input, T, Fut: Send> + Sync,
    {
        if self == Self::Statement {
            return run(connection, input).await;
        }
        // The same steps as the driver's `transaction`, whose `Send` bound the compiler cannot prove here.
        Manager::begin_transaction(connection).await?;
        match run(connection, input).await {
            Ok(done) => {
                Manager::commit_transaction(connection).await?;
                Ok(done)
            }
            Err(failure) => match Manager::rollback_transaction(connection).await {
                Ok(()) | Err(QueryError::BrokenTransactionManager) => Err(failure),
                Err(rollback) => Err(rollback.into()),
            },
        }
    }
}
