//! Reads that travel together: those that come while a statement is under way wait for it, and the next one asks for all of
//! them.
//!
//! A statement begins after everything that it answers was asked for, so that nobody is told what was true before.

use std::collections::HashMap;
use std::marker::PhantomData;

use cuepoint_domain::ports::Unavailable;
use diesel_async::AsyncPgConnection;
use tokio::sync::{mpsc, oneshot};

use crate::connect::failure::DatabaseFailure;
use crate::connect::pool::{Database, within};

/// Reads that wait at most; whoever comes then waits outside.
const QUEUE: usize = 1_024;

/// What is asked together with others of its kind.
pub(crate) trait Question: Sized + Send + Sync + 'static {
    /// What is answered to it.
    type Answer: Send + 'static;
    /// How many are answered at once at most.
    const AT_ONCE: usize;

    /// The answers to all of these, in their order.
    fn answer(
        questions: &[Self],
        connection: &AsyncPgConnection,
    ) -> impl Future<Output = Result<Vec<Self::Answer>, DatabaseFailure>> + Send;
}

/// A row that is found by its id.
pub(crate) trait Row: Clone + Send + Sync + 'static {
    /// The table that it is in.
    const TABLE: &'static str;

    /// The rows with these ids, in no order; ids that no row has are left out.
    fn load(
        connection: &AsyncPgConnection,
        ids: &[i64],
    ) -> impl Future<Output = Result<Vec<Self>, DatabaseFailure>> + Send;

    /// Its id.
    fn id(&self) -> i64;
}

/// The question for the row with this id.
pub(crate) struct ById<R>(i64, PhantomData<R>);

impl<R: Row> Question for ById<R> {
    type Answer = Option<R>;
    const AT_ONCE: usize = 64;

    async fn answer(
        questions: &[Self],
        connection: &AsyncPgConnection,
    ) -> Result<Vec<Self::Answer>, DatabaseFailure> {
        let mut ids: Vec<i64> = questions.iter().map(|Self(id, _)| *id).collect();
        ids.sort_unstable();
        ids.dedup();
        let rows = R::load(connection, &ids).await?;
        let rows: HashMap<i64, R> = rows.into_iter().map(|row| (row.id(), row)).collect();
        Ok(questions.iter().map(|Self(id, _)| rows.get(id).cloned()).collect())
    }
}

/// A question, and who waits for the answer.
type Waiting<Q> = (Q, oneshot::Sender<Result<<Q as Question>::Answer, Unavailable>>);

/// The way to the answers of one kind of question.
pub(crate) struct Together<Q: Question>(mpsc::Sender<Waiting<Q>>);

impl<Q: Question> Together<Q> {
    /// Reads on the present runtime, for as long as this is kept.
    pub(crate) fn start(database: Database) -> Self {
        let (queue, waiting) = mpsc::channel(QUEUE);
        tokio::spawn(run(waiting, database));
        Self(queue)
    }

    /// The answer to a question.
    pub(crate) async fn ask(&self, question: Q) -> Result<Q::Answer, Unavailable> {
        let (caller, answer) = oneshot::channel();
        let asked = async {
            self.0.send((question, caller)).await.map_err(|_| DatabaseFailure::Deadline)?;
            answer.await.map_err(|_| DatabaseFailure::Deadline)
        };
        within(asked).await?
    }
}

impl<R: Row> Together<ById<R>> {
    /// The row with this id.
    pub(crate) async fn find(&self, id: i64) -> Result<Option<R>, Unavailable> {
        self.ask(ById(id, PhantomData)).await
    }
}

async fn run<Q: Question>(mut waiting: mpsc::Receiver<Waiting<Q>>, database: Database) {
    let mut next = Vec::new();
    while waiting.recv_many(&mut next, Q::AT_ONCE).await > 0 {
        // A task of its own, so that one that fails altogether ends no later one.
        let answered = tokio::spawn(answer(std::mem::take(&mut next), database.clone())).await;
        if let Err(error) = answered {
            tracing::error!(%error, "reads have failed");
        }
    }
}

/// Answers all of these; who went away meanwhile misses the answer, and nothing else.
async fn answer<Q: Question>(asked: Vec<Waiting<Q>>, database: Database) {
    let (questions, callers): (Vec<Q>, Vec<_>) = asked.into_iter().unzip();
    match database.read(async |connection| Q::answer(&questions, connection).await).await {
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
