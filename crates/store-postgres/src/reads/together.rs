//! Reads of one row by its id, which travel together: those that come while a statement is under way wait for it, and
//! the next one asks for all of them.
//!
//! A statement begins after everything that it answers was asked for, so that nobody is told what was true before.

use std::collections::HashMap;

use cuepoint_domain::ports::Unavailable;
use diesel_async::AsyncPgConnection;
use tokio::sync::{mpsc, oneshot};

use crate::database::{Database, Failure, within};

/// Rows that one statement reads at most.
const TOGETHER: usize = 64;
/// Reads that wait at most; whoever comes then waits outside.
const QUEUE: usize = 1_024;

/// A row that is found by its id.
pub(crate) trait Row: Clone + Send + Sync + 'static {
    /// The rows with these ids, in no order; ids that no row has are left out.
    fn load(
        connection: &AsyncPgConnection,
        ids: &[i64],
    ) -> impl Future<Output = Result<Vec<Self>, Failure>> + Send;

    /// Its id.
    fn id(&self) -> i64;
}

/// A row that is wanted, and who waits for it.
struct Wanted<R> {
    id: i64,
    caller: oneshot::Sender<Result<Option<R>, Unavailable>>,
}

/// The way to the rows of one kind.
pub(crate) struct Together<R>(mpsc::Sender<Wanted<R>>);

impl<R: Row> Together<R> {
    /// Reads on the present runtime, for as long as this is kept.
    pub(crate) fn start(database: Database) -> Self {
        let (queue, waiting) = mpsc::channel(QUEUE);
        tokio::spawn(run(waiting, database));
        Self(queue)
    }

    /// The row with this id.
    pub(crate) async fn find(&self, id: i64) -> Result<Option<R>, Unavailable> {
        let (caller, answer) = oneshot::channel();
        let asked = async {
            self.0.send(Wanted { id, caller }).await.map_err(|_| Failure::Deadline)?;
            answer.await.map_err(|_| Failure::Deadline)
        };
        within(asked).await?
    }
}

async fn run<R: Row>(mut waiting: mpsc::Receiver<Wanted<R>>, database: Database) {
    let mut wanted = Vec::with_capacity(TOGETHER);
    while waiting.recv_many(&mut wanted, TOGETHER).await > 0 {
        let mut ids: Vec<i64> = wanted.iter().map(|wanted| wanted.id).collect();
        ids.sort_unstable();
        ids.dedup();
        match database.read(async |connection| R::load(connection, &ids).await).await {
            Ok(rows) => hand_out(rows, wanted.drain(..)),
            Err(failure) => {
                let failure = failure.to_string();
                for Wanted { caller, .. } in wanted.drain(..) {
                    let _ = caller.send(Err(Unavailable::new(failure.clone())));
                }
            }
        }
    }
}

/// Gives each caller the row that they want; who went away meanwhile misses it, and nothing else.
fn hand_out<R: Row>(rows: Vec<R>, wanted: impl Iterator<Item = Wanted<R>>) {
    let rows: HashMap<i64, R> = rows.into_iter().map(|row| (row.id(), row)).collect();
    for Wanted { id, caller } in wanted {
        let _ = caller.send(Ok(rows.get(&id).cloned()));
    }
}
