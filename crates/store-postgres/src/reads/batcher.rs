//! Read batching: reads that arrive while a statement is running wait for it, and the next statement answers
//! all of them.
//!
//! A statement begins after all of its reads were requested, so that none returns stale data.

use std::collections::HashMap;
use std::marker::PhantomData;

use cuepoint_domain::ports::Unavailable;
use diesel_async::AsyncPgConnection;
use tokio::sync::{mpsc, oneshot};

use crate::connect::failure::DatabaseFailure;
use crate::connect::pool::{Database, within};

/// The maximum number of waiting reads; further ones wait for a place in the queue.
const QUEUE: usize = 1_024;

/// A read that is batched with others of its kind.
pub(crate) trait BatchedRead: Sized + Send + Sync + 'static {
    /// Its result.
    type Answer: Send + 'static;
    /// The maximum number of reads in a batch.
    const MAX_BATCH: usize;

    /// Answers these reads, in their order.
    fn answer(
        reads: &[Self],
        connection: &AsyncPgConnection,
    ) -> impl Future<Output = Result<Vec<Self::Answer>, DatabaseFailure>> + Send;
}

/// A row that is read by its id.
pub(crate) trait Row: Clone + Send + Sync + 'static {
    /// Loads the rows with these ids, in no particular order; missing ids are left out.
    fn load(
        connection: &AsyncPgConnection,
        ids: &[i64],
    ) -> impl Future<Output = Result<Vec<Self>, DatabaseFailure>> + Send;

    /// Its id.
    fn id(&self) -> i64;
}

/// The read of the row with this id.
pub(crate) struct ReadById<R>(i64, PhantomData<R>);

impl<R: Row> BatchedRead for ReadById<R> {
    type Answer = Option<R>;
    const MAX_BATCH: usize = 64;

    async fn answer(
        reads: &[Self],
        connection: &AsyncPgConnection,
    ) -> Result<Vec<Self::Answer>, DatabaseFailure> {
        let mut ids: Vec<i64> = reads.iter().map(|Self(id, _)| *id).collect();
        ids.sort_unstable();
        ids.dedup();
        let rows = R::load(connection, &ids).await?;
        let rows: HashMap<i64, R> = rows.into_iter().map(|row| (row.id(), row)).collect();
        Ok(reads.iter().map(|Self(id, _)| rows.get(id).cloned()).collect())
    }
}

/// A read and the channel of its result.
type Waiting<Q> = (Q, oneshot::Sender<Result<<Q as BatchedRead>::Answer, Unavailable>>);

/// A batcher of one kind of read.
pub(crate) struct ReadBatcher<Q: BatchedRead>(mpsc::Sender<Waiting<Q>>);

impl<Q: BatchedRead> ReadBatcher<Q> {
    /// Starts a batcher on the current runtime; it runs until this handle is dropped.
    pub(crate) fn start(database: Database) -> Self {
        let (queue, waiting) = mpsc::channel(QUEUE);
        tokio::spawn(run(waiting, database));
        Self(queue)
    }

    /// Returns the result of a read.
    pub(crate) async fn read(&self, read: Q) -> Result<Q::Answer, Unavailable> {
        let (caller, answer) = oneshot::channel();
        let asked = async {
            self.0.send((read, caller)).await.map_err(|_| DatabaseFailure::Deadline)?;
            answer.await.map_err(|_| DatabaseFailure::Deadline)
        };
        within(asked).await?
    }
}

impl<R: Row> ReadBatcher<ReadById<R>> {
    /// Returns the row with this id.
    pub(crate) async fn find(&self, id: i64) -> Result<Option<R>, Unavailable> {
        self.read(ReadById(id, PhantomData)).await
    }
}

async fn run<Q: BatchedRead>(mut waiting: mpsc::Receiver<Waiting<Q>>, database: Database) {
    let mut next = Vec::new();
    while waiting.recv_many(&mut next, Q::MAX_BATCH).await > 0 {
        // In a task of its own, so that a panic does not affect later batches.
        let answered = tokio::spawn(batch(std::mem::take(&mut next), database.clone())).await;
        if let Err(error) = answered {
            tracing::error!(%error, "a batch of reads failed");
        }
    }
}

/// Answers a batch. On the heap, since the runtime moves the future of a task several times.
fn batch<Q: BatchedRead>(
    asked: Vec<Waiting<Q>>,
    database: Database,
) -> impl Future<Output = ()> + Send + 'static {
    Box::pin(answer(asked, database))
}

/// Answers a batch; a cancelled read misses its result, and affects no other.
async fn answer<Q: BatchedRead>(asked: Vec<Waiting<Q>>, database: Database) {
    let (reads, callers): (Vec<Q>, Vec<_>) = asked.into_iter().unzip();
    match database.read((), async |connection, ()| Q::answer(&reads, connection).await).await {
        Ok(answers) => callers.into_iter().zip(answers).for_each(|(caller, answer)| {
            let _ = caller.send(Ok(answer));
        }),
        Err(failure) => {
            let failure = failure.to_string();
            callers.into_iter().for_each(|caller| {
                let _ = caller.send(Err(Unavailable::new(failure.clone())));
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connect::connection::Connector;
    use crate::reads::request_lists::RequestList;

    #[tokio::test]
    async fn the_future_of_combined_reads_takes_at_most_64_bytes() {
        let connector = Connector::new("postgres://localhost/never_connected").unwrap();
        let database = Database::new(connector, 1).unwrap();
        let size = size_of_val(&batch::<RequestList>(Vec::new(), database));
        assert!(size <= 64, "{size} bytes");
    }
}
